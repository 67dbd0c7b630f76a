"""The page of the log: what the service has said, as it says it, and the self-test."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from pinfill_app import units
from pinfill_app.background import in_background
from pinfill_app.log_tail import Level, LogLine, Place, read_on
from pinfill_app.models.log_lines import LogFilter, LogLines
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.tray_actions import copy
from pinfill_app.widgets.empty_state import EmptyState
from pinfill_app.widgets.form import choice_box
from pinfill_app.widgets.heading import heading
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context, Page
from pinfill_app.windows.self_test_dialog import SelfTestDialog
from pinfill_service.settings import home

MILLISECONDS = 1_000  # between two looks at the file
SEARCH_CHARACTERS = 24


class LogPage(Page):
    """Reads only while it is shown. New lines are followed as long as the last one is in sight."""

    NAME = "log"
    ICON = "log"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._place: Place | None = None
        self._is_reading = False
        self.lines = LogLines(self)
        self.filter = LogFilter(self.lines, self)
        self.notices = Notices()
        self.search = QLineEdit(placeholderText=self.tr("Search"), clearButtonEnabled=True)
        self.level = choice_box(
            [
                (Level.DEBUG.name, self.tr("All lines")),
                (Level.WARNING.name, self.tr("Warnings and errors")),
                (Level.ERROR.name, self.tr("Errors")),
            ],
            lambda _: self._find(),
        )
        self.copy_button = self._button(self.tr("&Copy"), self.copy)
        self.folder_button = self._button(self.tr("Open &folder"), self._open_folder)
        self.test_button = self._button(self.tr("Self-&test..."), self.self_test)
        self.view = self._make_view()
        self.empty = EmptyState()
        self._stack = QStackedWidget()
        self._lay_out()
        self._timer = QTimer(self, interval=MILLISECONDS)
        self._timer.timeout.connect(self._read)
        self.search.textChanged.connect(self._find)
        context.supervisor.state_changed.connect(self._render)
        for key, act in (
            (QKeySequence.StandardKey.Find, self.search.setFocus),
            (QKeySequence.StandardKey.Copy, self.copy),
        ):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)

    @classmethod
    def title(cls) -> str:
        return QCoreApplication.translate("LogPage", "Log")

    def shown(self, **hints: Any) -> None:
        """`self_test`: runs it."""
        self.view.setFocus()
        if hints.get("self_test"):
            self.self_test()

    def copy(self) -> None:
        """The selected lines, or all that are shown."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        chosen = rows or range(self.filter.rowCount())
        text = "\n".join(self.filter.index(row, 0).data() for row in chosen)
        if text:
            copy(f"{text}\n")
            words = self.tr("1 line copied.") if len(chosen) == 1 else self.tr("{} lines copied.")
            self.notices.withdraw("log")
            self.notices.show_notice("log", Notice(words.format(units.number(len(chosen)))))

    def self_test(self) -> None:
        """Opens its dialog, which begins at once."""
        SelfTestDialog(self).open()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self._read()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    # -- reading ---------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        if not self._is_reading:
            self._is_reading = True
            in_background(self, partial(read_on, home(), self._place), self._on_read)

    def _on_read(self, outcome: tuple[list[LogLine], Place | None] | Exception) -> None:
        self._is_reading = False
        if isinstance(outcome, Exception):
            self.notices.show_notice("log", Notice(self._why_not(outcome), Weight.FAILURE))
            return
        lines, self._place = outcome
        bar = self.view.verticalScrollBar()
        follow = bar.value() >= bar.maximum()
        self.lines.add(lines)
        self._render()
        if lines and follow:
            self.view.scrollToBottom()

    def _why_not(self, error: Exception) -> str:
        return self.tr("The log in {} cannot be read: {}.").format(home(), error)

    def _find(self) -> None:
        self.filter.look_for(self.search.text().strip(), Level[self.level.currentData()])
        self._render()
        self.view.scrollToBottom()

    def _render(self) -> None:
        has_lines = self.filter.rowCount() > 0
        self.copy_button.setEnabled(has_lines)
        if self.lines.rowCount():
            self.empty.tell(self.tr("No line is like that."), (self.tr("Show &all lines"), self._show_all))
        elif self.context.supervisor.state.answers and not self.context.supervisor.is_owner:
            self.empty.tell(self.tr("The service was not started here, so its log is where it was started."))
        else:
            self.empty.tell(self.tr("The service has said nothing yet."))
        self._stack.setCurrentWidget(self.view if has_lines else self.empty)

    def _show_all(self) -> None:
        self.level.setCurrentIndex(0)
        self.search.clear()
        self._find()

    def _open_folder(self) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(home()))):
            words = self.tr("There is no file manager to show {} with.").format(home())
            self.notices.show_notice("log", Notice(words, Weight.FAILURE))

    # -- layout ----------------------------------------------------------------------------------------------------

    def _make_view(self) -> QListView:
        view = QListView()
        view.setModel(self.filter)
        view.setAccessibleName(self.title())
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setUniformItemSizes(True)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font().pointSizeF())
        view.setFont(font)
        return view

    def _button(self, text: str, act: Any) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: act())
        return button

    def _lay_out(self) -> None:
        self.search.setAccessibleName(self.tr("Search the log"))
        self.search.setFixedWidth(SEARCH_CHARACTERS * self.fontMetrics().averageCharWidth())
        self.level.setAccessibleName(self.tr("Which lines"))
        head = QHBoxLayout()
        head.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        head.setSpacing(GRID)
        head.addWidget(heading(self.title()))
        head.addStretch(1)
        for widget in (self.search, self.level, self.copy_button, self.folder_button, self.test_button):
            head.addWidget(widget)
        self._stack.addWidget(self.view)
        self._stack.addWidget(self.empty)
        body = QHBoxLayout()
        body.setContentsMargins(MARGIN, 0, MARGIN, MARGIN)
        body.addWidget(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.notices)
        layout.addLayout(body, 1)
