"""What can be done with models: pull, stop that, import, load, unload, remove. Notices tell how it went."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pydantic import BaseModel
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMessageBox, QWidget

from pinfill_app import units
from pinfill_app.failure import Failure
from pinfill_app.failure_words import failure_words
from pinfill_app.icons import set_icon
from pinfill_app.models.model_row import ModelRow, Work
from pinfill_app.refresher import Part
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context
from pinfill_service.api.schemas.manage import ModelStateEvent, ModelTask


class ModelActions(QObject):
    """Actions for the row that is shown; those that make no sense for it are invisible. `changed` follows a change of
    `stopping`; `import_asked` carries a found model.
    """

    changed = Signal()
    import_asked = Signal(object)

    def __init__(self, context: Context, notices: Notices, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._notices, self._window = context, notices, window
        self._row: ModelRow | None = None
        self.stopping: set[str] = set()  # pulls that were asked to stop
        self.is_importing = False  # anything: one is imported at a time
        self.pull = self._action(self.tr("&Pull"), "download", lambda: self._on_name(self.pull_model))
        self.stop = self._action(self.tr("&Stop"), "stop", lambda: self._on_name(self.stop_pull))
        self.take_in = self._action(self.tr("&Import"), "download", self._ask_import)
        self.load = self._action(self.tr("&Load"), "play", lambda: self._on_name(self.load_model))
        self.unload = self._action(self.tr("&Unload"), "stop", self._unload)
        self.remove = self._action(self.tr("&Remove..."), "evict", self.ask_remove)
        self.remove.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        self.remove.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        context.store.model_state_changed.connect(self._on_state)
        self.show_row(None)

    @property
    def all(self) -> tuple[QAction, ...]:
        return self.pull, self.stop, self.take_in, self.load, self.unload, self.remove

    def show_row(self, row: ModelRow | None) -> None:
        """The actions are about this one from now on."""
        self._row = row
        entry, work = (row.entry, row.work) if row is not None else (None, Work.NOTHING)
        idle = work is Work.NOTHING
        can_pull = entry is not None and entry.in_catalogue and (not entry.installed or entry.outdated is not None)
        self.pull.setText(self.tr("&Pull again") if entry is not None and entry.installed else self.tr("&Pull"))
        self.pull.setVisible(can_pull and idle)
        self.stop.setVisible(work in (Work.PULLING, Work.STOPPING))
        self.stop.setEnabled(work is Work.PULLING)
        found = row.found if row is not None else None
        self.take_in.setVisible(found is not None and found.can_be_imported)
        self.take_in.setEnabled(not self.is_importing)
        self.take_in.setToolTip(self.tr("Another one is being imported.") if self.is_importing and idle else "")
        self.load.setVisible(entry is not None and entry.installed and not entry.loaded)
        self.load.setEnabled(idle)
        self.unload.setVisible(entry is not None and entry.loaded)
        self.unload.setToolTip(self.tr("Frees its memory; requests are refused until a model is loaded."))
        self.remove.setVisible(entry is not None and entry.installed)
        self.remove.setEnabled(entry is not None and not entry.loaded and idle)
        loaded = entry is not None and entry.loaded
        self.remove.setToolTip(self.tr("Unload it first, or load another one.") if loaded else "")

    def do_first(self) -> None:
        """What Enter does: the first thing that can be done and loses nothing."""
        for action in (self.load, self.pull, self.take_in):
            if action.isVisible() and action.isEnabled():
                action.trigger()
                return

    # -- each of them ----------------------------------------------------------------------------------------------

    def pull_model(self, name: str) -> None:
        self._notices.withdraw(name)
        self._context.client.post(ModelTask, "models", name, "pull", done=partial(self._on_answer, name))

    def stop_pull(self, name: str) -> None:
        self.stopping.add(name)
        self._context.client.delete(ModelTask, "models", name, "pull", done=partial(self._on_answer, name))
        self.changed.emit()

    def _ask_import(self) -> None:
        if self._row is not None and self._row.found is not None:
            self.import_asked.emit(self._row.found)

    def load_model(self, name: str) -> None:
        self._notices.withdraw(name)
        done = partial(self._on_answer, name)
        self._context.client.post(ModelTask, "models", name, "load", done=done, seconds=None)

    def _unload(self) -> None:
        name = self._row.name if self._row is not None else ""
        done = partial(self._on_answer, name)
        self._context.client.post(ModelTask, "models", "unload", done=done, seconds=None)

    def ask_remove(self) -> None:
        row = self._row
        if row is None:
            return
        question = self.tr("Remove {}? {} are deleted from this computer.").format(
            row.name, units.size(row.entry.bytes)
        )
        again = self.tr("It can be pulled again.") if row.entry.in_catalogue else ""
        kept = self.tr("The file or folder it was imported from stays.") if not row.entry.in_catalogue else ""
        box = QMessageBox(
            QMessageBox.Icon.Question, "Pinfill", question, QMessageBox.StandardButton.Cancel, self._window
        )
        box.setInformativeText(again or kept)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        yes = box.addButton(self.tr("&Remove"), QMessageBox.ButtonRole.AcceptRole)
        yes.clicked.connect(partial(self.remove_model, row.name))
        box.open()

    def remove_model(self, name: str, _checked: bool = False) -> None:
        self._notices.withdraw(name)
        self._context.client.delete(ModelTask, "models", name, done=partial(self._on_answer, name))

    # -- how it went -----------------------------------------------------------------------------------------------

    def _on_answer(self, name: str, answer: BaseModel | Failure) -> None:
        if isinstance(answer, Failure):
            self.stopping.discard(name)
            self._notices.show_notice(name, Notice(answer.message, Weight.FAILURE))
            self.changed.emit()
        self._context.store.reload(Part.STATUS, Part.MODELS)

    def _on_state(self, event: ModelStateEvent) -> None:
        name = event.name
        if name is None:
            return
        if event.state != "pulling":
            self.stopping.discard(name)
        pull_again = self.tr("&Pull again"), partial(self.pull_model, name)
        match event.state:
            case "failed":
                is_here = any(entry.name == name and entry.installed for entry in self._context.store.models)
                action = None if is_here else pull_again
                words = failure_words(event.code, event.message or "")
                self._notices.show_notice(name, Notice(words, Weight.FAILURE, action))
            case "pull_stopped":
                words = self.tr("Pulling {} was stopped. The next pull goes on where that is possible.").format(name)
                self._notices.show_notice(name, Notice(words, action=pull_again))
            case "pulled":
                self.offer_to_load(name)
            case "loaded" | "removed":
                self._notices.withdraw(name)

    def offer_to_load(self, name: str) -> None:
        """A model has come."""
        load = self.tr("&Load"), partial(self.load_model, name)
        self._notices.show_notice(name, Notice(self.tr("{} is on this computer.").format(name), action=load))

    def _on_name(self, act: Callable[[str], None]) -> None:
        if self._row is not None:
            act(self._row.name)

    def _action(self, text: str, icon: str, act: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        set_icon(action, icon)
        action.triggered.connect(lambda: act())
        self._window.addAction(action)
        return action
