"""The pages of the window, in the order of its navigation; the first one is its home."""

from __future__ import annotations

from pinfill_app.windows.activity import ActivityPage
from pinfill_app.windows.agents_page import AgentsPage
from pinfill_app.windows.log_page import LogPage
from pinfill_app.windows.models_page import ModelsPage
from pinfill_app.windows.page import Page
from pinfill_app.windows.prefixes import PrefixesPage
from pinfill_app.windows.savings import SavingsPage
from pinfill_app.windows.settings_page import SettingsPage

PAGES: tuple[type[Page], ...] = (
    PrefixesPage,
    ActivityPage,
    SavingsPage,
    ModelsPage,
    AgentsPage,
    SettingsPage,
    LogPage,
)
