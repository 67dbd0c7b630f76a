"""The tray: the icon, its tool tip, and the menu."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from pinfill_app import units
from pinfill_app.service_state import ServiceState
from pinfill_app.service_words import service_words
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_app.tray_icon import Look, Sign, tray_icon

_SIGNS = {
    ServiceState.STOPPED: Sign.STOPPED,
    ServiceState.STARTING: Sign.WAITING,
    ServiceState.LOADING: Sign.WAITING,
    ServiceState.READY: Sign.READY,
    ServiceState.BUSY: Sign.READY,
    ServiceState.RESTARTING: Sign.WAITING,
    ServiceState.FAILED: Sign.FAILED,
}


class Tray(QObject):
    """Rendered from the supervisor and the store. `clicked` follows a click that is not for the menu."""

    clicked = Signal()

    def __init__(self, store: Store, supervisor: Supervisor, menu: QMenu, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store, self._supervisor, self._menu = store, supervisor, menu
        self._icon = QSystemTrayIcon(self)
        self._icon.setContextMenu(menu)
        self._icon.activated.connect(self._on_activated)
        self._icon.messageClicked.connect(self.clicked)
        self._look: Look | None = None
        for changed in (store.status_changed, store.pins_changed, store.progress_changed, supervisor.state_changed):
            changed.connect(self._render)
        self._render()

    def show(self) -> None:
        self._icon.show()

    def hide(self) -> None:
        self._icon.hide()

    def end(self) -> None:
        """There is no tray any more. The menu is let go first: PySide would take its entries for gone, too."""
        self._icon.hide()
        self._icon.setContextMenu(None)  # type: ignore[arg-type]
        self.deleteLater()

    def show_message(self, title: str, text: str) -> None:
        self._icon.showMessage(title, text, QSystemTrayIcon.MessageIcon.NoIcon)

    @property
    def look(self) -> Look:
        """What the icon says now."""
        prefilled, status = self._store.running.prefilled, self._store.status
        sign = _SIGNS[self._supervisor.state]
        if sign is Sign.READY and status is not None and status.model is None:
            sign = Sign.WAITING  # for a model
        if sign is Sign.READY and self._supervisor.is_silent:
            sign = Sign.WAITING  # for an answer
        return Look(sign, None if prefilled is None else int(prefilled * 100))

    @property
    def tool_tip(self) -> str:
        """Pinfill - ready - 3 pins warm - 21 min saved today"""
        parts = ["Pinfill", service_words(self._supervisor)]
        status = self._store.status
        if self._supervisor.state.answers and status is not None and status.model is None:
            parts.append(self.tr("no model is loaded"))
        elif self._supervisor.state.answers and status is not None:
            warm = status.pins.get("warm", 0)
            parts.append(self.tr("1 pin warm") if warm == 1 else self.tr("{} pins warm").format(units.number(warm)))
            parts.append(self.tr("{} saved today").format(units.rough_duration(status.saved_seconds_today)))
        return " - ".join(parts)

    def _render(self) -> None:
        look = self.look
        if look != self._look:
            self._look = look
            self._icon.setIcon(tray_icon(look))
        if self._icon.toolTip() != self.tool_tip:
            self._icon.setToolTip(self.tool_tip)

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self.clicked.emit()
        elif reason is QSystemTrayIcon.ActivationReason.MiddleClick:
            self._menu.popup(QCursor.pos())
