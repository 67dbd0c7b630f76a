"""What the window tells of the service (failures, ports, versions, where the key is), and of newer versions."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from pinfill_app.failure_words import problem_words
from pinfill_app.service_state import ServiceState
from pinfill_app.service_words import silence_words
from pinfill_app.update_words import how_to_update, is_out
from pinfill_app.user_unit import COMMAND
from pinfill_app.windows.main_window import MainWindow
from pinfill_app.windows.notices import Notice, Weight
from pinfill_app.windows.page import Context
from pinfill_service import __version__
from pinfill_service.api.schemas.manage import ModelEntry
from pinfill_service.keys import KEY_FILE, KeyPlace


class WindowNotices(QObject):
    """Keeps the window's notices right."""

    def __init__(self, context: Context, window: MainWindow) -> None:
        super().__init__(window)
        self._context, self._notices = context, window.notices
        supervisor = context.supervisor
        supervisor.state_changed.connect(self._on_service_state)
        supervisor.connected.connect(self._on_connected)
        supervisor.port_changed.connect(self._on_port_changed)
        supervisor.other_version_found.connect(self._on_other_version)
        supervisor.unit_failed.connect(self._on_unit_failed)
        for changed in (context.store.status_changed, context.store.models_changed):
            changed.connect(self._on_status)
        context.updates.changed.connect(self._on_updates)

    def tell_no_tray(self) -> None:
        text = self.tr("This desktop has no tray. Pinfill runs while this window is open; closing it quits.")
        self._notices.show_notice("tray", Notice(text))

    def withdraw_no_tray(self) -> None:
        self._notices.withdraw("tray")

    def _on_service_state(self) -> None:
        supervisor = self._context.supervisor
        restart = (self.tr("Restart service"), supervisor.restart)
        match supervisor.state:
            case ServiceState.FAILED:
                text = self.tr("The service failed. {}").format(supervisor.message)
                notice = Notice(text, Weight.FAILURE, restart, can_close=False)
            case ServiceState.RESTARTING if supervisor.message:
                notice = Notice(self.tr("The service is started again. {}").format(supervisor.message))
            case ServiceState.STOPPED if supervisor.message:
                notice = Notice(supervisor.message, action=(self.tr("Start service"), supervisor.start))
            case _ if supervisor.is_silent:
                notice = Notice(silence_words(supervisor), Weight.FAILURE, restart, can_close=False)
            case _:
                self._notices.withdraw("service")
                return
        self._notices.show_notice("service", notice)

    def _on_connected(self) -> None:
        plan = self._context.supervisor.plan
        self._notices.withdraw("version")
        if not self._context.supervisor.is_owner:
            self._notices.withdraw("unit")
        if plan is None or plan.key_place is not KeyPlace.FILE:
            self._notices.withdraw("key")
            return
        text = self.tr("This machine has no keyring, so the API key is kept in {}, which only you can read.")
        self._notices.show_notice("key", Notice(text.format(plan.home / KEY_FILE)))

    def _on_port_changed(self, wanted: int, new: int, who: str) -> None:
        user = self.tr("another program ({})").format(who) if who else self.tr("another program")
        text = self.tr("Port {} is used by {}. Pinfill now listens on {}.").format(wanted, user, new)
        self._notices.show_notice("port", Notice(text))

    def _on_unit_failed(self) -> None:
        text = self.tr("The service that systemd should run did not start, so Pinfill runs one itself. See why: {}")
        self._notices.show_notice("unit", Notice(text.format(COMMAND)))

    def _on_other_version(self, version: str) -> None:
        found = (
            self.tr("The running service is Pinfill {}").format(version)
            if version
            else self.tr("The running service is another version of Pinfill")
        )
        text = self.tr("{}, this window is {}. Restart the service to have both the same.").format(found, __version__)
        action = (self.tr("Restart service"), self._context.supervisor.restart)
        self._notices.show_notice("version", Notice(text, action=action))

    def _on_status(self) -> None:
        store = self._context.store
        missing = self._missing_model()
        problems = [] if store.status is None else store.status.problems
        words = [problem_words(each.kind, each.message) for each in problems if each.kind != "model" or missing is None]
        if words:
            self._notices.show_notice("problems", Notice("\n".join(words), Weight.FAILURE))
        else:
            self._notices.withdraw("problems")
        if missing is None:
            self._notices.withdraw("model")
        else:
            text = self.tr("{} is not on this machine yet. Get it, or import a model.").format(missing.name)
            action = (self.tr("Models"), partial(self._context.show_page, "models", select=missing.name))
            self._notices.show_notice("model", Notice(text, action=action))

    def _missing_model(self) -> ModelEntry | None:
        """The one that the service should have loaded, if it only has to be fetched: that is no failure."""
        status = self._context.store.status
        names = {problem.missing_model for problem in status.problems} if status is not None else set()
        missing = (model for model in self._context.store.models if not (model.installed or model.pulling))
        return next((model for model in missing if model.name in names), None)

    def _on_updates(self) -> None:
        updates = self._context.updates
        if updates.newer is None:
            self._notices.withdraw("newer")
            return
        this = self.tr("This is {}; what you pinned and set stays.").format(__version__)
        text = " ".join(filter(None, (is_out(updates.newer), this, how_to_update(updates.newer))))
        page, skip = self.tr("Open the download page"), self.tr("Skip this version")
        notice = Notice(text, action=(page, self._open_page), other_action=(skip, updates.skip))
        self._notices.show_notice("newer", notice)

    def _open_page(self) -> None:
        self._context.updates.open_page(self._context.tell)
