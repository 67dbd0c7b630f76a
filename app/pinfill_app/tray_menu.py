"""The tray's menu, made anew from the state whenever it is about to be shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu

from pinfill_app import units
from pinfill_app.agents_menu import AgentsMenu
from pinfill_app.autostart import autostart
from pinfill_app.service_state import ServiceState
from pinfill_app.service_words import service_words
from pinfill_app.tray_actions import TrayActions
from pinfill_app.windows.page import Context
from pinfill_app.windows.prefixes_stop import can_stop
from pinfill_app.wording import pin_word, provider_word
from pinfill_service.api.schemas.manage import Pin, RequestSummary

MOST_PINS = 12
MOST_REQUESTS = 6
LONGEST_NAME = 40  # characters


class TrayMenu(QMenu):
    """The store and the supervisor of `context` as a menu. `open_window` and `quit_application` do what they say."""

    def __init__(
        self,
        context: Context,
        actions: TrayActions,
        open_window: Callable[[], None],
        quit_application: Callable[[], None],
    ) -> None:
        super().__init__()
        self._context, self._actions = context, actions
        self._open, self._quit = open_window, quit_application
        self._agents = AgentsMenu(context, self)
        self._pins: dict[str, QMenu] = {}  # by the pin's name
        self._state: QAction | None = None
        self.aboutToShow.connect(self.render_state)
        for changed in (context.store.progress_changed, context.store.pins_changed, context.supervisor.state_changed):
            changed.connect(self._update_texts)
        self.render_state()  # some desktops ask for the menu's content before they say that they show it

    def render_state(self) -> None:
        self.clear()
        self._pins.clear()
        for submenu in self.findChildren(QMenu):  # which `clear` leaves behind
            submenu.deleteLater()
        self._add_status()
        self._add_newer_version()
        if self._context.supervisor.state.answers:
            self.addSeparator()
            self._add_pins()
            self.addSeparator()
            self._add_pinning()
            self.addSeparator()
            self._agents.fill(self._submenu(self.tr("Connect agent")))
            self._entry(self.tr("Copy endpoint"), self._actions.copy_endpoint)
            key = self._entry(self.tr("Copy key"), self._actions.copy_key)
            key.setEnabled(self._context.client.key is not None)
            self._add_models()
        self.addSeparator()
        self.setDefaultAction(self._entry(self.tr("Open Pinfill"), self._open))
        login = self._entry(self.tr("Start with the computer"))
        login.setCheckable(True)
        login.setChecked(autostart().is_on())
        login.toggled.connect(self._actions.set_autostart)
        self._add_end()

    # -- parts -----------------------------------------------------------------------------------------------------

    def _add_status(self) -> None:
        supervisor, status = self._context.supervisor, self._context.store.status
        self._state = self._entry(self._about_service())
        self._state.setEnabled(False)
        model = status.model if status is not None and supervisor.state.answers else None
        if model is not None and status is not None:
            speed = status.activity.decode_tokens_per_second if status.activity is not None else None
            parts = [model.name, provider_word(model.provider), units.rate(speed) if speed else ""]
            self._entry(" - ".join(filter(None, parts))).setEnabled(False)
        elif supervisor.state.answers and status is not None:
            self._entry(self.tr("No model is loaded")).setEnabled(False)

    def _add_newer_version(self) -> None:
        updates = self._context.updates
        if updates.newer is not None:
            words = self.tr("Pinfill {} is out...").format(updates.newer.version)
            self._entry(words, partial(updates.open_page, self._context.tell))

    def _add_pins(self) -> None:
        pins = self._context.store.pins
        if not pins:
            self._entry(self.tr("Nothing pinned yet")).setEnabled(False)
        for pin in pins[:MOST_PINS]:
            self._add_pin(pin)
        if len(pins) > MOST_PINS:
            more = self.tr("{} more...").format(units.number(len(pins) - MOST_PINS))
            self._entry(more, partial(self._context.show_page, "prefixes"))

    def _add_pin(self, pin: Pin) -> None:
        self._pins[pin.name] = menu = self._submenu(self._title(pin))
        use = _add(menu, self.tr("Use (copy model name)"), partial(self._actions.use, pin))
        use.setEnabled(pin.use_as is not None)
        if can_stop(pin):
            _add(menu, self.tr("Stop prefilling"), partial(self._context.show_page, "prefixes", stop=pin.name))
        if self._actions.is_reading(pin):
            _add(menu, self.tr("Stop reading its files"), partial(self._actions.stop_reading, pin))
        else:
            _add(menu, self.tr("Refresh"), partial(self._actions.refresh, pin))
        _add(menu, self.tr("Verify"), partial(self._actions.verify, pin))
        _add(menu, self.tr("Unpin..."), partial(self._actions.unpin, pin))

    def _update_texts(self) -> None:
        """What an open menu shows goes on; which entries it has, and which one is chosen, stays as it is."""
        if self._state is not None:
            _retitle(self._state, self._about_service())
        for pin in self._context.store.pins:
            if pin.name in self._pins:
                _retitle(self._pins[pin.name].menuAction(), self._title(pin))

    def _about_service(self) -> str:
        return f"Pinfill: {service_words(self._context.supervisor)}"

    def _title(self, pin: Pin) -> str:
        return f"{_short(pin.name)} - {self._about(pin)}"

    def _about(self, pin: Pin) -> str:
        progress = self._context.store.running.pins.get(pin.name)
        if pin.state == "prefilling" and progress is not None and progress.total:
            return f"{pin_word(pin.state)} {units.percent(progress.done / progress.total)}"
        if not pin.saved_seconds_today:
            return pin_word(pin.state)
        saved = self.tr("{} saved today").format(units.rough_duration(pin.saved_seconds_today))
        return f"{pin_word(pin.state)}, {saved}"

    def _add_pinning(self) -> None:
        show_page = self._context.show_page
        self._entry(self.tr("Pin file..."), partial(show_page, "prefixes", pin_file=True))
        self._entry(self.tr("Pin clipboard..."), self._pin_clipboard)
        last = self._submenu(self.tr("Pin last request"))
        for request in self._context.store.requests[:MOST_REQUESTS]:
            _add(last, self._about_request(request), partial(show_page, "prefixes", pin_request=request.id))
        last.setEnabled(not last.isEmpty())
        unpinned = any(not entry.pinned and not entry.in_use for entry in self._context.store.entries)
        self._entry(self.tr("Evict unpinned..."), self._actions.evict_unpinned).setEnabled(unpinned)

    def _pin_clipboard(self) -> None:
        """Asked only now: another program has the text, and may take its time to hand it over."""
        text = QGuiApplication.clipboard().text()
        if text.strip():
            self._context.show_page("prefixes", pin_text=text)
        else:
            self._context.tell(self.tr("The clipboard holds no text"), self.tr("Copy what is to be pinned first."))

    def _about_request(self, request: RequestSummary) -> str:
        return f"{units.clock(request.at)} {_short(request.client)} - {units.tokens(request.prompt_tokens)}"

    def _add_models(self) -> None:
        menu = self._submenu(self.tr("Model"))
        for model in self._context.store.models:
            if model.installed:
                entry = _add(menu, model.name, partial(self._actions.load_model, model.name))
                entry.setCheckable(True)
                entry.setChecked(model.loaded)
        if not menu.isEmpty():
            menu.addSeparator()
        _add(menu, self.tr("Other models..."), partial(self._context.show_page, "models"))

    def _add_end(self) -> None:
        supervisor = self._context.supervisor
        if supervisor.state is ServiceState.STOPPED:
            self._entry(self.tr("Start service"), supervisor.start)
        else:
            self._entry(self.tr("Restart service"), supervisor.restart)
        self.addSeparator()
        left = supervisor.state.answers and not supervisor.is_owner
        self._entry(self.tr("Quit (the service keeps running)") if left else self.tr("Quit"), self._quit)

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _entry(self, text: str, act: Callable[[], object] | None = None) -> QAction:
        return _add(self, text, act)

    def _submenu(self, text: str) -> QMenu:
        menu = QMenu(_escaped(text), self)
        self.addMenu(menu)
        return menu


def _add(menu: QMenu, text: str, act: Callable[[], object] | None = None) -> QAction:
    entry = menu.addAction(_escaped(text))
    if act is not None:
        entry.triggered.connect(lambda: act())  # without the signal's `checked`
    return entry


def _retitle(entry: QAction, text: str) -> None:
    if entry.text() != _escaped(text):  # Qt would tell the desktop of it in any case
        entry.setText(_escaped(text))


def _escaped(text: str) -> str:
    """An ampersand would mark a key."""
    return text.replace("&", "&&")


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"
