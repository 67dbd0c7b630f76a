"""The pages of the window, in the order of its navigation; the first one is its home."""

from __future__ import annotations

from pinfill_app.windows.agents_page import AgentsPage
from pinfill_app.windows.log_page import LogPage
from pinfill_app.windows.page import Page
from pinfill_app.windows.settings_page import SettingsPage

PAGES: tuple[type[Page], ...] = (AgentsPage, SettingsPage, LogPage)
