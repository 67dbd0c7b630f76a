"""The model that was loaded last is the one that the service has at its next start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from pinfill_app.background import in_background
from pinfill_app.service_settings import keep, next_start
from pinfill_app.state import Store
from pinfill_service.api.schemas.manage import ModelStateEvent


class ModelChoice(QObject):
    """Writes it into settings.toml, unless the environment decides. `tell` takes a title and a text."""

    def __init__(self, store: Store, tell: Callable[[str, str], None]) -> None:
        super().__init__(store)
        self._tell = tell
        store.model_state_changed.connect(self._on_state)

    def _on_state(self, event: ModelStateEvent) -> None:
        if event.state == "loaded" and event.name is not None:
            in_background(self, partial(_remember, event.name), partial(self._on_kept, event.name))

    def _on_kept(self, name: str, outcome: Exception | None) -> None:
        if outcome is not None:
            self._tell(self.tr("{} is loaded, but not at the next start").format(name), str(outcome))


def _remember(name: str) -> None:
    start = next_start()
    if "model" not in start.fixed and start.values["model"] != name:
        keep({"model": name})
