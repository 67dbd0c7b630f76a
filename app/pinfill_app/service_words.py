"""How the service stands, in words, and what follows if it stays silent."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pinfill_app import units
from pinfill_app.supervisor import Supervisor
from pinfill_app.wording import state_word


def service_words(supervisor: Supervisor) -> str:
    """ready; busy; does not answer, restart by 10:42:07 AM"""
    tr = QCoreApplication.translate
    if not supervisor.is_silent:
        return state_word(supervisor.state)
    if not supervisor.is_owner:
        return tr("states", "does not answer")
    return tr("states", "does not answer, restart by {}").format(units.clock_with_seconds(supervisor.given_up_at))


def silence_words(supervisor: Supervisor) -> str:
    """The same as sentences."""
    tr = QCoreApplication.translate
    words = tr("states", "The service does not answer.")
    if not supervisor.is_owner:
        return words
    then = tr("states", "If that goes on, it is restarted by {}.")
    return f"{words} {then.format(units.clock_with_seconds(supervisor.given_up_at))}"
