"""The upper edge of the page of prefixes: its title, the search, and the ways to pin something."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QWidget

from pinfill_app import units
from pinfill_app.state import Store
from pinfill_app.widgets.flow_layout import FlowLayout
from pinfill_app.widgets.heading import heading
from pinfill_app.widgets.primary_button import PrimaryButton
from pinfill_app.windows.prefixes_pinning import Pinning
from pinfill_app.windows.prefixes_view import PrefixView

MOST_REQUESTS = 10
SEARCH_CHARACTERS = 24
_LONGEST_CLIENT = 40  # characters


class PrefixBar(QWidget):
    """`evict_unpinned` is what its menu offers for all of the rows at once."""

    def __init__(
        self, title: str, store: Store, pinning: Pinning, view: PrefixView, evict_unpinned: Callable[[], None]
    ) -> None:
        super().__init__()
        self._store, self._pinning, self._view, self._evict_unpinned = store, pinning, view, evict_unpinned
        self.search = QLineEdit(placeholderText=self.tr("Search"), clearButtonEnabled=True)
        self.search.setAccessibleName(self.tr("Search prefixes"))
        self.search.setToolTip(QKeySequence(QKeySequence.StandardKey.Find).toString())
        self.search.setFixedWidth(SEARCH_CHARACTERS * self.fontMetrics().averageCharWidth())
        self.files = PrimaryButton(self.tr("Pin &file..."))
        self.files.setToolTip(QKeySequence(QKeySequence.StandardKey.Open).toString())
        self.files.clicked.connect(pinning.choose_files)
        self.text = QPushButton(self.tr("Pin &text..."))
        self.text.clicked.connect(lambda: pinning.text())
        self.more = QPushButton(self.tr("&More"))
        self.menu = QMenu(self)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.more.setMenu(self.menu)
        layout = FlowLayout(heading(title))
        layout.add_stretch()
        for widget in (self.search, self.files, self.text, self.more):
            layout.addWidget(widget)
        self.setLayout(layout)

    def requests_menu(self, menu: QMenu) -> QMenu:
        """The latest requests, to pin one of them."""
        for request in self._store.requests[:MOST_REQUESTS]:
            client = request.client[:_LONGEST_CLIENT].replace("&", "&&")
            words = f"{units.clock(request.at)} {client} - {units.tokens(request.prompt_tokens)}"
            menu.addAction(words, partial(self._pinning.request, request.id))
        menu.setEnabled(not menu.isEmpty())
        return menu

    def _fill_menu(self) -> None:
        menu = self.menu
        menu.clear()
        for submenu in menu.findChildren(QMenu):  # which `clear` leaves behind
            submenu.deleteLater()
        clipboard = menu.addAction(self.tr("Pin &clipboard..."), self._pinning.clipboard)
        data = QGuiApplication.clipboard().mimeData()
        clipboard.setEnabled(bool(data) and (data.hasText() or data.hasUrls()))
        menu.addMenu(self.requests_menu(QMenu(self.tr("Pin a recent &request"), menu)))
        menu.addSeparator()
        evict = menu.addAction(self.tr("&Evict all that is not pinned"), self._evict_unpinned)
        evict.setEnabled(any(not entry.pinned and not entry.in_use for entry in self._store.entries))
        menu.addSeparator()
        menu.addMenu(self._view.columns_menu(menu))
