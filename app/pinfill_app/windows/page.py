"""What a page of the window is, and what it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from pinfill_app.client import Client
from pinfill_app.commands import Commands
from pinfill_app.found_models import FoundModels
from pinfill_app.settings import AppSettings
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_app.updates import Updates


class ShowPage(Protocol):
    """Brings the window to the front with a page, which gets the hints."""

    def __call__(self, name: str, /, **hints: Any) -> None: ...


class Tell(Protocol):
    """Tells people something that has happened, beside the tray or in the window."""

    def __call__(self, title: str, text: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Context:
    """What pages work with: they render the store, ask the client for changes, and read the settings. `commands` is for
    what reads documents: pinning files, refreshing what was pinned from them. `found`: models of other
    programs.
    """

    client: Client
    store: Store
    supervisor: Supervisor
    settings: AppSettings
    show_page: ShowPage
    tell: Tell
    commands: Commands
    found: FoundModels
    updates: Updates


class Page(QWidget):
    """One page. Subclasses set both names and `title`, and connect to the store's signals; they are listed in
    windows/pages.py.
    """

    NAME: ClassVar[str]  # for show_page
    ICON: ClassVar[str]  # of resources/icons

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setAccessibleName(self.title())

    @classmethod
    def title(cls) -> str:
        """What people read, translated."""
        raise NotImplementedError

    def on_key(self, key: QKeySequence.StandardKey, act: Callable[[], object]) -> None:
        """A key of this page: it counts while the page is shown, wherever in the window the focus is."""
        QShortcut(QKeySequence(key), self).activated.connect(act)

    def shown(self, **hints: Any) -> None:
        """The page was chosen. `hints` are what show_page was called with; a page ignores those it does not know."""
