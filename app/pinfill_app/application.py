"""The application: everything made once, and connected."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from pinfill_app.client import Client
from pinfill_app.commands import Commands
from pinfill_app.found_models import FoundModels
from pinfill_app.garbage import GarbageCollection
from pinfill_app.help_menu import HelpMenu
from pinfill_app.model_choice import ModelChoice
from pinfill_app.notifications import Notifications
from pinfill_app.plan import Plan, make_plan
from pinfill_app.settings import AppSettings
from pinfill_app.single_instance import SingleInstance
from pinfill_app.state import Store
from pinfill_app.supervision_limits import Limits
from pinfill_app.supervisor import Supervisor
from pinfill_app.theme import Theme, use_theme
from pinfill_app.translations import use_language
from pinfill_app.tray import Tray
from pinfill_app.tray_actions import TrayActions
from pinfill_app.tray_icon import Look, Sign, tray_icon
from pinfill_app.tray_menu import TrayMenu
from pinfill_app.tray_presence import TrayPresence
from pinfill_app.unix_signals import UnixSignals
from pinfill_app.update_words import is_out
from pinfill_app.updates import Updates
from pinfill_app.user_unit import UserUnit
from pinfill_app.window_notices import WindowNotices
from pinfill_app.windows.main_window import MainWindow
from pinfill_app.windows.page import Context, Page
from pinfill_app.windows.pages import PAGES
from pinfill_service.settings import home

TRAY_MILLISECONDS = 10_000  # at login the tray may come after us


class PinfillApplication(QObject):
    """Owns the store, the supervisor, the window and, where there is one, the tray."""

    def __init__(
        self,
        folder: Path,
        plan: Callable[[], Plan] | None = None,
        limits: Limits | None = None,
        pages: Sequence[type[Page]] = PAGES,
        make_updates: Callable[[AppSettings], Updates] = Updates,
    ) -> None:
        super().__init__()
        self.settings = AppSettings(folder)
        use_theme(self.settings.theme)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_scheme)
        self.client = Client(self)
        self.store = Store(self.client, self)
        make = plan or (lambda: make_plan(self.settings.log_level))
        self.supervisor = Supervisor(make, limits, self, UserUnit.find())
        self.notifications = Notifications(self.store, self.supervisor, self.settings, self._show_message)
        self._found = FoundModels(self)
        self.updates = make_updates(self.settings)
        self.updates.setParent(self)
        self._commands = Commands(self.client, self)
        context = Context(
            self.client,
            self.store,
            self.supervisor,
            self.settings,
            self._show_page,
            self.notifications.tell,
            self._commands,
            self._found,
            self.updates,
        )
        self.window = MainWindow(context, pages)
        self.window.closed.connect(self.quit)
        self._notices = WindowNotices(context, self.window)
        self.help = HelpMenu(context, self.window)
        self.window.menuBar().addMenu(self.help)
        self.menu = TrayMenu(context, TrayActions(context, self._confirm), self.window.bring_to_front, self.quit)
        self._model_choice = ModelChoice(self.store, self.notifications.tell)
        self.tray: Tray | None = None
        self.tray_presence = TrayPresence(self)
        self.tray_presence.changed.connect(self._on_tray_presence)
        self._tray_patience = QTimer(self, singleShot=True, interval=TRAY_MILLISECONDS)
        self._tray_patience.timeout.connect(self._do_without_tray)
        self._stands_in = False  # the window is minimised only because there is no tray
        self._quitting = False
        self.supervisor.connected.connect(self.store.follow)
        self.supervisor.disconnected.connect(self.store.leave)
        self.store.progress_changed.connect(self._on_progress)
        self.supervisor.state_changed.connect(lambda: self.store.set_stalled(self.supervisor.is_silent))
        self.supervisor.stopped.connect(self._on_stopped)
        self.updates.found.connect(self._on_newer_version)

    def start(self, *, minimised: bool) -> None:
        """Shows the tray, or the window where there is none, and gets the service running."""
        if not minimised:
            self.window.bring_to_front()
        self.tray_presence.start()
        if self.tray_presence.is_there:
            self._show_tray()
        elif minimised:
            self._tray_patience.start()
        else:
            self._do_without_tray()
        if not minimised and not self.settings.first_run_done:
            self.help.show_first_steps()
        self.supervisor.start()
        self.updates.start()

    def quit(self) -> None:
        """Ends the service if it is ours, then the application."""
        if self._quitting:
            return
        self._quitting = True
        self.tray_presence.stop()
        self._tray_patience.stop()
        if self.tray is not None:
            self.tray.hide()
        self.settings.geometry = self.window.saveGeometry()
        self._commands.stop_all()
        self.window.hide()  # tables keep their columns then
        self.settings.save()
        self._found.end_now()
        self.supervisor.stop()

    def _on_tray_presence(self) -> None:
        if self.tray_presence.is_there:
            self._show_tray()
        else:
            self._lose_tray()

    def _show_tray(self) -> None:
        """From now on the window can be closed."""
        self._tray_patience.stop()
        self.tray = Tray(self.store, self.supervisor, self.menu, self)
        self.tray.clicked.connect(self.window.bring_to_front)
        self.tray.show()
        self.window.hides_on_close = True
        self._notices.withdraw_no_tray()
        if self._stands_in and self.window.isMinimized():
            self.window.hide()
        self._stands_in = False

    def _lose_tray(self) -> None:
        if self.tray is not None:
            self.tray.end()
            self.tray = None
        self._do_without_tray()

    def _do_without_tray(self) -> None:
        """The window is the application. Whoever started this minimised, or closed the window, is not disturbed."""
        self.window.hides_on_close = False
        self._notices.tell_no_tray()
        if not self.window.isVisible():
            self._stands_in = True
            self.window.showMinimized()

    def _show_page(self, name: str, /, **hints: Any) -> None:
        self.window.show_page(name, **hints)

    def _show_message(self, title: str, text: str) -> None:
        if self.tray is not None:
            self.tray.show_message(title, text)
        else:
            self.window.statusBar().showMessage(f"{title}. {text}", 10_000)

    def _confirm(self, question: str, yes: str, act: Callable[[], object], /) -> None:
        self.window.bring_to_front()
        box = QMessageBox(
            QMessageBox.Icon.Question, "Pinfill", question, QMessageBox.StandardButton.Cancel, self.window
        )
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        button = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
        button.clicked.connect(lambda: act())
        box.open()

    def _on_progress(self) -> None:
        self.supervisor.set_busy(self.store.running.is_busy)

    def _on_newer_version(self) -> None:
        if self.updates.newer is not None:
            self.notifications.tell(is_out(self.updates.newer), self.tr("Open Pinfill to see where to get it."))

    def _on_scheme(self) -> None:
        """The system became light or dark."""
        if self.settings.theme is Theme.SYSTEM:
            use_theme(Theme.SYSTEM)

    def _on_stopped(self) -> None:
        if self._quitting:
            QApplication.quit()


def _refuse(words: str, minimised: bool) -> int:
    """Why it does not start, for whoever sees it: a start from a menu has no terminal."""
    print(f"error: {words}", file=sys.stderr)
    if not minimised:
        QMessageBox(QMessageBox.Icon.Critical, "Pinfill", words).exec()
    return 1


def run(*, minimised: bool) -> int:
    """The whole application; returns its exit code."""
    qt = QApplication(["pinfill"])
    use_language(qt, AppSettings(home()).language)
    qt.setApplicationName("Pinfill")
    qt.setDesktopFileName("pinfill")
    qt.setQuitOnLastWindowClosed(False)
    qt.setWindowIcon(tray_icon(Look(Sign.READY)))
    tr = QCoreApplication.translate
    try:
        instance = SingleInstance(home())
        is_first = instance.acquire()
    except OSError as error:
        words = tr("run", "Pinfill cannot start: {}. It needs a folder of yours on a disk with room.")
        return _refuse(words.format(error), minimised)
    if is_first:
        return _run_first(qt, instance, minimised)
    if instance.hail(show=not minimised):
        return 0
    return _refuse(tr("run", "Pinfill runs already, but does not answer. End it, and start it again."), minimised)


def _run_first(qt: QApplication, instance: SingleInstance, minimised: bool) -> int:
    garbage = GarbageCollection(qt)
    garbage.start()
    application = PinfillApplication(home())
    instance.raised.connect(application.window.bring_to_front)
    instance.quit_asked.connect(application.quit)
    qt.aboutToQuit.connect(application.supervisor.end_now)
    signals = UnixSignals(application.quit)
    application.start(minimised=minimised)
    code = qt.exec()
    garbage.stop()
    signals.deleteLater()
    instance.release()
    return code
