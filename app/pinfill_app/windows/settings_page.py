"""The page of settings: what is changed counts at once, or says that it needs a restart and offers it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from pinfill_app.background import in_background
from pinfill_app.failure import Failure
from pinfill_app.service_settings import NextStart, keep, next_start
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.heading import heading
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context, Page
from pinfill_app.windows.self_test_dialog import SelfTestDialog
from pinfill_app.windows.settings_application import ApplicationSection, KeySection
from pinfill_app.windows.settings_hub import HubSection
from pinfill_app.windows.settings_service import MemorySection, ModelSection, NetworkSection, RulesSection
from pinfill_service.api.schemas.manage import SettingsChange, SettingsView

WAIT_MILLISECONDS = 600  # a number may be on its way to another one
WIDEST = 100  # characters


class SettingsPage(Page):
    """What the service can change while it runs is asked of it; everything else is written for its next start."""

    NAME = "settings"
    ICON = "settings"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._view: SettingsView | None = None
        self._start: NextStart | None = None
        self._pending: dict[str, Any] = {}
        self._waiting: list[str] = []  # for a restart, in words
        self._timer = QTimer(self, singleShot=True, interval=WAIT_MILLISECONDS)
        self._timer.timeout.connect(self.send)
        self.notices = Notices()
        self.application = ApplicationSection(context, self._tell_restart, self._tell_failure)
        self.memory = MemorySection(self._change)
        self.model = ModelSection(self._change)
        self.network = NetworkSection(self._change)
        self.key = KeySection(context)
        self.hub = HubSection(context, self.notices)
        self.rules = RulesSection(self._change)
        self._service = (self.memory, self.model, self.network)
        self.test_button = QPushButton(self.tr("Self-test..."))
        self.test_button.setAutoDefault(False)
        self.test_button.clicked.connect(lambda: SelfTestDialog(self).open())
        self._lay_out()
        context.supervisor.connected.connect(self._on_connected)
        context.supervisor.state_changed.connect(self._render)

    @classmethod
    def title(cls) -> str:
        return QCoreApplication.translate("SettingsPage", "Settings")

    def shown(self, **hints: Any) -> None:
        self.application.render_settings()
        self.hub.look()
        self._load()

    def send(self) -> None:
        """Makes the changes that were collected."""
        self._timer.stop()
        changes, self._pending = self._pending, {}
        changeable = self._view.changeable if self._view is not None else ()
        now = {name: value for name, value in changes.items() if name in changeable and self._answers}
        later = {name: value for name, value in changes.items() if name not in now}
        if now:
            self.context.client.patch(SettingsView, "settings", body=SettingsChange(**now), done=self._on_view)
        if later:
            in_background(self, partial(keep, later), partial(self._on_kept, later))

    @property
    def _answers(self) -> bool:
        return self.context.supervisor.state.answers

    # -- loading ---------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        in_background(self, next_start, self._on_start)
        if self._answers:
            self.context.client.get(SettingsView, "settings", done=self._on_view)

    def _on_connected(self) -> None:
        self._waiting.clear()
        self.notices.withdraw("restart")
        if self.isVisible():
            self._load()

    def _on_start(self, start: NextStart | Exception) -> None:
        if isinstance(start, Exception):
            words = self.tr("The settings cannot be read, so they are not shown. Mend settings.toml: {}")
            self.notices.show_notice("file", Notice(words.format(start), Weight.FAILURE))
            return
        self.notices.withdraw("file")
        self._start = start
        self._render()

    def _on_view(self, view: SettingsView | Failure) -> None:
        if isinstance(view, Failure):
            self._tell_failure(view.message)
        else:
            self._view = view
            self.notices.withdraw("failure")
        self._render()  # what was refused is shown as it is

    def _render(self) -> None:
        self.key.render_key()
        for section in self._service:
            section.setEnabled(self._start is not None)
        view = self._view if self._answers else None
        self.rules.show_rules(view.rules if view is not None else ())
        if self._start is None or self._pending:
            return
        values = dict(self._start.values)
        if view is not None:
            values |= {name: view.values[name] for name in view.changeable if name in values}
        for section in self._service:
            section.show_values(values, self._start)

    # -- changing --------------------------------------------------------------------------------------------------

    def _change(self, changes: Mapping[str, Any]) -> None:
        rules = {**self._pending.get("rules", {}), **changes.get("rules", {})}
        self._pending |= {**changes, **({"rules": rules} if rules else {})}
        self._timer.start()

    def _on_kept(self, changes: Mapping[str, Any], start: NextStart | Exception) -> None:
        if isinstance(start, Exception):
            self._tell_failure(str(start))
            return
        self.notices.withdraw("failure")
        self._start = start
        self._render()
        for name in changes:
            self._tell_restart(self._word(name))

    def _word(self, name: str) -> str:
        """What people call a setting."""
        words = {
            "context_length": self.tr("context length"),
            "threads": self.tr("threads"),
            "port": self.tr("port"),
            "host": self.tr("network"),
            "allowed_hosts": self.tr("network"),
        }
        return words.get(name, name)

    def _tell_restart(self, what: str) -> None:
        if not self._answers:
            return
        self._waiting += [what] if what not in self._waiting else []
        words = self.tr("Changed, and counts from the service's next start: {}. A restart ends requests under way.")
        self.notices.withdraw("restart")
        restart = (self.tr("&Restart service"), self.context.supervisor.restart)
        self.notices.show_notice("restart", Notice(words.format(", ".join(self._waiting)), action=restart))

    def _tell_failure(self, words: str) -> None:
        self.notices.withdraw("failure")
        self.notices.show_notice("failure", Notice(words, Weight.FAILURE))

    def _lay_out(self) -> None:
        inside = QWidget()
        inside.setMaximumWidth(WIDEST * self.fontMetrics().averageCharWidth())
        sections = QVBoxLayout(inside)
        sections.setContentsMargins(MARGIN, 0, MARGIN, MARGIN)
        sections.setSpacing(3 * GRID)
        for section in (self.application, self.memory, self.model, self.network, self.key, self.hub, self.rules):
            sections.addWidget(section)
        sections.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inside)
        head = QHBoxLayout()
        head.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        head.addWidget(heading(self.title()), 1)
        head.addWidget(self.test_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.notices)
        layout.addWidget(area, 1)
