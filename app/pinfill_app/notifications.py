"""Things a person should learn of while the window is closed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from pinfill_app import units
from pinfill_app.failure_words import failure_words, problem_words, reason_words
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_service.api.schemas.manage import ModelStateEvent, PinStateEvent

GATHER_MILLISECONDS = 300  # what comes that soon after another is told with it


class Notifications(QObject):
    """Tells of pins that are warm, stale or failed, of models, and of a service that failed; at most once each.

    `show` takes a title and a text. Nothing is told when the person has turned it off.
    """

    def __init__(
        self, store: Store, supervisor: Supervisor, settings: AppSettings, show: Callable[[str, str], None]
    ) -> None:
        super().__init__(store)
        self._store, self._supervisor, self._settings, self._show = store, supervisor, settings, show
        self._failed = ""
        self._prefilling: dict[str, None] = {}  # only these were worth waiting for
        self._troubles: dict[str, dict[str, str]] = {}  # reasons by name by state, not told yet
        self._gathering = QTimer(self, singleShot=True, interval=GATHER_MILLISECONDS)
        self._gathering.timeout.connect(self._tell_troubles)
        store.pin_state_changed.connect(self._on_pin_state)
        store.model_state_changed.connect(self._on_model_state)
        store.problem_reported.connect(self._on_problem)
        supervisor.state_changed.connect(self._on_service_state)

    def tell(self, title: str, text: str, /) -> None:
        """Shows it, unless notifications are turned off."""
        if self._settings.notifications:
            self._show(title, text)

    def _on_pin_state(self, event: PinStateEvent) -> None:
        was_prefilling = event.name in self._prefilling
        if event.state == "prefilling":
            self._prefilling[event.name] = None
            return
        self._prefilling.pop(event.name, None)
        if event.state == "warm" and was_prefilling:
            self.tell(self.tr("{} is warm").format(event.name), self._about(event.name))
        elif event.state in ("stale", "failed"):
            self._troubles.setdefault(event.state, {})[event.name] = reason_words(event.state, event.reason or "")
            self._gathering.start()

    def _tell_troubles(self) -> None:
        """Of many pins at once in one: another model makes all of them stale."""
        troubles, self._troubles = self._troubles, {}
        for state, reasons in troubles.items():
            first = next(iter(reasons))
            if len(reasons) == 1:
                title = self.tr("{} is stale") if state == "stale" else self.tr("{} failed")
                self.tell(title.format(first), reasons[first])
            else:
                title = self.tr("{} pins are stale") if state == "stale" else self.tr("{} pins failed")
                self.tell(title.format(units.number(len(reasons))), f"{first}: {reasons[first]}")

    def _about(self, name: str) -> str:
        pin = next((pin for pin in self._store.pins if pin.name == name), None)
        if pin is None or not pin.tokens:
            return self.tr("Requests that begin with it start at once.")
        return self.tr("{} start at once from now on.").format(units.tokens(pin.tokens))

    def _on_model_state(self, event: ModelStateEvent) -> None:
        if event.state == "failed":
            words = failure_words(event.code, event.message or "")
            self.tell(self.tr("{} failed").format(event.name or self.tr("The model")), words)
        elif event.state == "pulled":
            self.tell(self.tr("{} is here").format(event.name), self.tr("It can be loaded."))

    def _on_problem(self, message: str) -> None:
        self.tell(self.tr("Pinfill has a problem"), problem_words("disk", message))

    def _on_service_state(self) -> None:
        failed = self._supervisor.message if self._supervisor.state is ServiceState.FAILED else ""
        if failed and failed != self._failed:
            self.tell(self.tr("The service failed"), failed.split("\n", 1)[0])
        self._failed = failed
