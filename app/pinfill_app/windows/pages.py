"""The pages of the window, in the order of its navigation; the first one is its home."""

from __future__ import annotations

from pinfill_app.windows.page import Page
from pinfill_app.windows.prefixes import PrefixesPage

PAGES: tuple[type[Page], ...] = (PrefixesPage,)
