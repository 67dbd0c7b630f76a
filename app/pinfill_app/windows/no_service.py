"""What pages say while there is no service to show."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pinfill_app.service_state import ServiceState
from pinfill_app.widgets.empty_state import Choice
from pinfill_app.windows.page import Context
from pinfill_app.wording import state_word


def why_no_service(context: Context, promise: str) -> tuple[str, Choice] | tuple[str] | None:
    """Words and a button, if one helps; None when the service answers. `promise`: what is shown when it does."""
    tr, supervisor = QCoreApplication.translate, context.supervisor
    state = state_word(supervisor.state)
    if supervisor.state in (ServiceState.STOPPED, ServiceState.FAILED):
        words = tr("no service", "The service is not running ({}). {}").format(state, promise)
        return words, (tr("no service", "&Start the service"), supervisor.start)
    if not supervisor.state.answers:
        return (tr("no service", "The service is {}. {}").format(state, promise),)
    if context.store.status is None:
        return (tr("no service", "Asking the service."),)
    return None
