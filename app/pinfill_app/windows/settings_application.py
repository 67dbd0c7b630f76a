"""Settings of the application itself: how it looks, speaks and starts, and where the key is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QPushButton, QWidget

from pinfill_app.autostart import AutostartError, autostart, set_autostart
from pinfill_app.settings import LOG_LEVELS, AppSettings
from pinfill_app.supervisor import Supervisor
from pinfill_app.theme import Theme, use_theme
from pinfill_app.tray_actions import copy
from pinfill_app.widgets.form import Section, check_box, choice_box
from pinfill_app.windows.page import Context
from pinfill_app.windows.settings_updates import UpdatesRow
from pinfill_service.keys import KEY_FILE, KeyPlace


class ApplicationSection(Section):
    """`restart_needed` is called with the name of what counts from the service's next start on; `failed` with words."""

    def __init__(
        self,
        context: Context,
        restart_needed: Callable[[str], None],
        failed: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(QCoreApplication.translate("ApplicationSection", "This application"), parent)
        self._settings: AppSettings = context.settings
        self._restart_needed, self._failed = restart_needed, failed
        self.login = check_box(self.tr("Start with the &computer"), self._set_login)
        self.notifications = check_box(self.tr("&Tell me about pins and problems"), self._set_notifications)
        self.theme = choice_box(
            [
                (Theme.SYSTEM, self.tr("as the system")),
                (Theme.LIGHT, self.tr("light")),
                (Theme.DARK, self.tr("dark")),
            ],
            self._set_theme,
        )
        languages = [("", self.tr("as the system")), ("en", "English"), ("de", "Deutsch"), ("zh_CN", "简体中文")]
        self.language = choice_box(languages, self._set_language)
        words = (self.tr("errors"), self.tr("warnings"), self.tr("information"), self.tr("everything"))
        self.log_level = choice_box(list(zip(LOG_LEVELS, words, strict=True)), self._set_log_level)
        self.add("", self.login)
        self.add("", self.notifications)
        self.updates = UpdatesRow(context.updates, self)
        self.add(self.tr("Th&eme"), self.theme)
        self._language_note = self.add(self.tr("&Language"), self.language)
        self.add(self.tr("Lo&g"), self.log_level, self.tr("What the service writes into its log. Never prompts."))

    def render_settings(self) -> None:
        """What was chosen elsewhere, in the tray for example."""
        settings = self._settings
        self.login.setChecked(autostart().is_on())
        self.notifications.setChecked(settings.notifications)
        self.updates.render_updates()
        for box, value in (
            (self.theme, settings.theme.value),
            (self.language, settings.language),
            (self.log_level, settings.log_level),
        ):
            box.setCurrentIndex(box.findData(value))

    def _set_login(self, wanted: bool) -> None:
        try:
            set_autostart(wanted)
        except AutostartError as error:
            self._failed(self.tr("Starting with the computer could not be changed. {}").format(error))
        self.login.setChecked(autostart().is_on())

    def _set_notifications(self, wanted: bool) -> None:
        self._settings.notifications = wanted
        self._settings.save()

    def _set_theme(self, value: str) -> None:
        self._settings.theme = Theme(value)
        self._settings.save()
        use_theme(self._settings.theme)

    def _set_language(self, value: str) -> None:
        self._settings.language = value
        self._settings.save()
        self._language_note.setText(self.tr("Pinfill shows it from its next start."))

    def _set_log_level(self, value: str) -> None:
        self._settings.log_level = value
        self._settings.save()
        self._restart_needed(self.tr("the log"))


class KeySection(Section):
    """The API key: never shown, only copied."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("KeySection", "API key"), parent)
        self._client, self._supervisor = context.client, context.supervisor
        self.copy = QPushButton(self.tr("Copy &key"))
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(lambda: copy(self._client.key or ""))
        self.note = self.add("", self.copy)
        self.render_key()

    def render_key(self) -> None:
        """Where it is, as the last start found it."""
        self.copy.setEnabled(self._client.key is not None)
        self.note.setText(self._place(self._supervisor))

    def _place(self, supervisor: Supervisor) -> str:
        plan = supervisor.plan
        if plan is None:
            return self.tr("Programs send it with every request. It is made when the service first starts.")
        if plan.key is None:
            return self.tr("The service runs without a key (no_key in settings.toml): every program here may use it.")
        if plan.key_place is KeyPlace.FILE:
            words = self.tr("Programs send it with every request. This machine has no keyring, so it is kept in {}.")
            return words.format(plan.home / KEY_FILE)
        if plan.key_place is KeyPlace.KEYRING:
            return self.tr("Programs send it with every request. It is kept in the system keyring.")
        return self.tr("Programs send it with every request. It comes from PINFILL_API_KEY or settings.toml.")
