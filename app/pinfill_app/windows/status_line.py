"""The window's status bar: what runs, where, how fast, and how much memory it holds."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStatusBar, QWidget

from pinfill_app import units
from pinfill_app.failure_words import provider_words
from pinfill_app.service_words import service_words
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_app.theme import GRID
from pinfill_app.widgets.elided_label import ElidedLabel
from pinfill_app.wording import provider_word


class StatusLine(QStatusBar):
    """Rendered from the supervisor and the store."""

    def __init__(self, store: Store, supervisor: Supervisor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store, self._supervisor = store, supervisor
        self.setSizeGripEnabled(False)
        self.setContentsMargins(GRID, 0, GRID, 0)
        self._model = ElidedLabel(align=Qt.AlignmentFlag.AlignRight)  # people choose how long its name is
        self._state, self._provider, self._speed, self._memory = (QLabel() for _ in range(4))
        self.addWidget(self._state)
        for label in (self._model, self._provider, self._speed, self._memory):
            self.addPermanentWidget(label)
        store.status_changed.connect(self._render)
        supervisor.state_changed.connect(self._render)
        self._render()

    def _render(self) -> None:
        status = self._store.status
        missing = self.tr("no model is loaded") if status is not None and status.model is None else ""
        self._state.setText(" - ".join(filter(None, (service_words(self._supervisor), missing))))
        model, activity, memory = (status.model, status.activity, status.memory) if status else (None, None, None)
        speed = activity.decode_tokens_per_second if activity else None
        self._model.show_text(model.name if model else "")
        self._show(
            self._provider, provider_word(model.provider) if model else "", provider_words(model) if model else ""
        )
        self._show(self._speed, units.rate(speed) if speed else "")
        sizes = (units.size(memory.used_bytes), units.size(memory.budget_bytes)) if memory else None
        used = self.tr("{} of {}").format(*sizes) if sizes else ""
        self._show(self._memory, used, self.tr("Memory for cached prefixes"))

    @staticmethod
    def _show(label: QLabel, text: str, tip: str = "") -> None:
        label.setText(text)
        label.setToolTip(tip)
        label.setVisible(bool(text))
