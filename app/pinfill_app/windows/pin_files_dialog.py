"""Pinning documents: which ones, in which order, under which name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from pinfill_app import units
from pinfill_app.background import in_background
from pinfill_app.failure_words import error_words, skipped_words
from pinfill_app.state import Store
from pinfill_app.theme import GRID
from pinfill_app.widgets.elided_label import ElidedLabel
from pinfill_app.windows.pin_dialog import ROW_HEIGHT, PinDialog
from pinfill_service.documents.document import DocumentError
from pinfill_service.documents.inventory import Inventory, take_inventory

LINES = 8
_SHOWN_FILES = 20  # of a folder, in its tool tip


@dataclass(frozen=True, slots=True)
class Given:
    """A file or folder that was given, with what is in it."""

    path: Path
    inventory: Inventory


@dataclass(frozen=True, slots=True)
class FilesToPin:
    """What the dialog was told."""

    name: str
    paths: tuple[Path, ...]
    auto_refresh: bool


class PinFilesDialog(PinDialog):
    """Files and folders, in the order in which they are put in front of a request. Only their names and sizes are
    looked at here.
    """

    def __init__(self, paths: Sequence[Path], store: Store, parent: QWidget) -> None:
        super().__init__(self.tr("Pin files"), store, parent)
        self._looking = 0
        self._errors: list[str] = []  # of what was added last
        self._list = QListWidget()
        self._list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.setMinimumHeight(LINES * self.fontMetrics().lineSpacing())
        self._list.currentRowChanged.connect(self._on_current)
        self._list.model().rowsMoved.connect(self._on_list)
        label = QLabel(self.tr("&Files, in this order"))
        label.setBuddy(self._list)
        self._sum, self._trouble = ElidedLabel(), ElidedLabel(Qt.TextElideMode.ElideMiddle)
        self._auto = QCheckBox(self.tr("&Refresh by itself when a file changes, while Pinfill runs"))
        beside = QHBoxLayout()
        beside.setSpacing(GRID)
        beside.addWidget(self._list, 1)
        beside.addLayout(self._make_buttons())
        self.body.addWidget(label)
        self.body.addLayout(beside, 1)
        self.body.addWidget(self._sum)
        self.body.addWidget(self._trouble)
        self.form.addRow("", self._auto)
        self._on_current()
        self.add(paths)

    @property
    def given(self) -> list[Given]:
        """In the order of the list."""
        items = (self._list.item(row) for row in range(self._list.count()))
        return [item.data(Qt.ItemDataRole.UserRole) for item in items]

    def wanted(self) -> FilesToPin:
        paths = tuple(given.path for given in self.given)
        return FilesToPin(self.name, paths, self._auto.isChecked())

    def fill(self, wanted: FilesToPin) -> None:
        """As it was told before."""
        self.set_name(wanted.name)
        self._auto.setChecked(wanted.auto_refresh)

    def add(self, paths: Sequence[Path]) -> None:
        """Puts files and folders at the end, once they were looked at. One that is there already stays where it is."""
        self._errors.clear()
        if paths:
            self._looking += 1
            in_background(self, partial(_look, paths), self._on_looked)
        self._on_list()

    def problem(self) -> str:
        if self._looking:
            return self.tr("Looking at the files.")
        if not self._list.count():
            return self.tr("Add the files to pin.")
        return (
            "" if any(given.inventory.files for given in self.given) else self.tr("There is no file with text in it.")
        )

    # -- the list --------------------------------------------------------------------------------------------------

    def _on_looked(self, outcome: list[Given | str] | Exception) -> None:
        self._looking -= 1
        for found in [error_words(outcome)] if isinstance(outcome, Exception) else outcome:
            if isinstance(found, str):
                self._errors.append(found)
            elif found.path not in [given.path for given in self.given]:
                self._append(found)
        self._on_list()

    def _append(self, found: Given) -> None:
        item = QListWidgetItem(self._words(found))
        item.setData(Qt.ItemDataRole.UserRole, found)
        item.setToolTip(self._tip(found))
        item.setSizeHint(QSize(0, round(self.fontMetrics().height() * ROW_HEIGHT)))
        self._list.addItem(item)
        self._list.setCurrentItem(item)

    def _on_list(self) -> None:
        given = self.given
        files = [file for each in given for file in each.inventory.files]
        skipped = sum(len(each.inventory.skipped) for each in given)
        words = f"{self._count(len(files))}, {units.size(sum(file.size for file in files))}" if files else ""
        if skipped:
            left_out = self.tr("{} left out: hidden, links, or no text").format(units.number(skipped))
            words = f"{words}. {left_out}" if words else left_out
        self._sum.show_text(words)
        self._trouble.show_text(" ".join(self._errors), "\n".join(self._errors))
        if given:
            self.suggest_name(given[0].path.stem)
        self._on_current()
        self.check()

    def _words(self, given: Given) -> str:
        inventory = given.inventory
        if not _is_folder(given):
            return f"{given.path.name} - {units.size(inventory.size)} - {given.path.parent}"
        count = self._count(len(inventory.files))
        return f"{given.path.name}/ - {count}, {units.size(inventory.size)} - {given.path.parent}"

    def _tip(self, given: Given) -> str:
        lines = [str(file.path) for file in given.inventory.files]
        lines += [f"{self.tr('left out')}: {entry.path} {skipped_words(entry)}" for entry in given.inventory.skipped]
        if len(lines) > _SHOWN_FILES:
            lines = [*lines[:_SHOWN_FILES], self.tr("and {} more").format(units.number(len(lines) - _SHOWN_FILES))]
        return "\n".join(lines)

    def _count(self, files: int) -> str:
        return self.tr("1 file") if files == 1 else self.tr("{} files").format(units.number(files))

    # -- buttons ---------------------------------------------------------------------------------------------------

    def _make_buttons(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(GRID)
        add = QPushButton(self.tr("&Add files..."))
        folder = QPushButton(self.tr("Add f&older..."))
        self._up, self._down = QPushButton(self.tr("Move &up")), QPushButton(self.tr("Move &down"))
        self._remove = QPushButton(self.tr("&Take out"))
        add.clicked.connect(lambda: self._choose(QFileDialog.FileMode.ExistingFiles))
        folder.clicked.connect(lambda: self._choose(QFileDialog.FileMode.Directory))
        self._up.clicked.connect(lambda: self._move(-1))
        self._down.clicked.connect(lambda: self._move(1))
        self._remove.clicked.connect(self._take_out)
        for button in (add, folder, self._up, self._down, self._remove):
            button.setAutoDefault(False)
            column.addWidget(button)
        column.addStretch(1)
        return column

    def _choose(self, mode: QFileDialog.FileMode) -> None:
        choose_files(self, mode, self.add)

    def _move(self, by: int) -> None:
        row = self._list.currentRow()
        self._list.insertItem(row + by, self._list.takeItem(row))
        self._list.setCurrentRow(row + by)
        self._on_list()

    def _take_out(self) -> None:
        self._list.takeItem(self._list.currentRow())
        self._errors.clear()
        self._on_list()

    def _on_current(self) -> None:
        row, count = self._list.currentRow(), self._list.count()
        self._up.setEnabled(row > 0)
        self._down.setEnabled(0 <= row < count - 1)
        self._remove.setEnabled(row >= 0)


def choose_files(parent: QWidget, mode: QFileDialog.FileMode, chosen: Callable[[list[Path]], None]) -> QFileDialog:
    """The system's dialog for files, which does not block. `chosen` gets a list of paths."""
    dialog = QFileDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(mode)
    dialog.filesSelected.connect(lambda names: chosen([Path(name) for name in names]))
    dialog.open()
    return dialog


def _look(paths: Sequence[Path]) -> list[Given | str]:
    """What is there, in the same order; a sentence for what cannot be looked at."""
    found: list[Given | str] = []
    for path in paths:
        try:
            found.append(Given(path.absolute(), take_inventory([path])))
        except DocumentError as error:
            found.append(error_words(error))
    return found


def _is_folder(given: Given) -> bool:
    return [file.path for file in given.inventory.files] != [given.path]
