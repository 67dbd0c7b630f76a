"""What can be done with the selected prefixes, as actions for buttons, menus and keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

from pinfill_app.icons import set_icon
from pinfill_app.models.prefix_row import Key, PrefixRow
from pinfill_app.windows.prefixes_pinning import Pinning
from pinfill_app.windows.prefixes_removal import Removals
from pinfill_app.windows.prefixes_view import PrefixView
from pinfill_app.windows.prefixes_work import PrefixWork
from pinfill_service.api.schemas.manage import Entry, Pin


class PrefixActions(QObject):
    """Each is enabled when it means something for what is selected in `view`, and acts on all of that."""

    def __init__(self, view: PrefixView, work: PrefixWork, pinning: Pinning, removals: Removals) -> None:
        super().__init__(view)
        self._view, self._work, self._pinning, self._removals = view, work, pinning, removals
        self._rows: Sequence[PrefixRow] = ()
        self.copy_model = self._action(self.tr("&Copy model name"), "copy", self._copy_model, "Ctrl+C")
        self.verify = self._action(self.tr("&Verify"), "verify", lambda: work.verify(self._pins), "Ctrl+Shift+V")
        self.refresh = self._action(self.tr("&Refresh"), "refresh", lambda: work.refresh(self._pins), "F5")
        self.rename = self._action(self.tr("Re&name"), "rename", view.rename, "F2")
        self.reveal = self._action(self.tr("Revea&l"), "folder", self._reveal)
        self.pin = self._action(self.tr("&Pin this..."), "pin", self._pin, "Ctrl+Return")
        self.remove = self._action(self.tr("&Unpin"), "evict", self._remove, "Del")
        self.undo = self._action(self.tr("Undo"), "", removals.undo, "Ctrl+Z")
        self.paste = self._action(self.tr("Pin clipboard..."), "text", pinning.clipboard, "Ctrl+V")
        self.auto_refresh = self._action(self.tr("Refresh by itself when a file changes"), "", lambda: None)
        self.auto_refresh.setCheckable(True)
        self.auto_refresh.triggered.connect(lambda on: work.set_auto_refresh(self._from_files, on))
        self.show_rows((), frozenset())

    def show_rows(self, rows: Sequence[PrefixRow], leaving: frozenset[Key]) -> None:
        """These are selected, and `leaving` is about to be given up."""
        self._rows = [row for row in rows if row.key not in leaving]
        pins, one = self._pins, len(self._rows) == 1
        evictable = [row for row in self._rows if row.is_evictable]
        self.copy_model.setEnabled(one and bool(pins) and pins[0].use_as is not None)
        self.verify.setEnabled(bool(pins) and all(pin.use_as is not None for pin in pins))
        self.refresh.setEnabled(bool(pins))
        self.rename.setEnabled(one and bool(pins))
        self.reveal.setEnabled(one and bool(self._from_files))
        self.pin.setEnabled(one and self._entry is not None)
        self.remove.setEnabled(bool(pins or evictable))
        both = self.tr("&Unpin and evict") if pins and evictable else self.tr("&Evict")
        self.remove.setText(self.tr("&Unpin") if pins and not evictable else both)
        self.undo.setEnabled(bool(leaving))
        self.auto_refresh.setEnabled(bool(self._from_files))
        self.auto_refresh.setChecked(bool(self._from_files) and all(pin.auto_refresh for pin in self._from_files))

    @property
    def for_menu(self) -> list[QAction]:
        """Those that mean something now."""
        everything = (
            *(self.copy_model, self.pin, self.verify, self.refresh, self.auto_refresh),
            *(self.rename, self.reveal, self.remove, self.undo),
        )
        return [action for action in everything if action.isEnabled()]

    @property
    def _pins(self) -> list[Pin]:
        return [row.pin for row in self._rows if row.pin is not None]

    @property
    def _from_files(self) -> list[Pin]:
        return [pin for pin in self._pins if pin.sources]

    @property
    def _entry(self) -> Entry | None:
        return self._rows[0].entry if self._rows else None

    def _copy_model(self) -> None:
        self._work.copy_model(self._pins[0])

    def _reveal(self) -> None:
        self._work.reveal(self._from_files[0].sources[0].path)

    def _pin(self) -> None:
        if self._entry is not None:
            self._pinning.entry(self._entry)

    def _remove(self) -> None:
        self._removals.start(self._rows)

    def _action(self, text: str, icon: str, act: Callable[[], object], shortcut: str = "") -> QAction:
        action = QAction(text, self)
        if icon:
            set_icon(action, icon)
        action.triggered.connect(lambda: act())  # without the signal's `checked`
        if shortcut:
            action.setShortcut(QKeySequence(shortcut))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._view.addAction(action)
        return action
