"""Words for states, the same in the tray and in the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from pinfill_app.service_state import ServiceState


def state_word(state: ServiceState) -> str:
    """ready, loading the model, ..."""
    tr = QCoreApplication.translate
    return {
        ServiceState.STOPPED: tr("states", "stopped"),
        ServiceState.STARTING: tr("states", "starting"),
        ServiceState.LOADING: tr("states", "loading the model"),
        ServiceState.READY: tr("states", "ready"),
        ServiceState.BUSY: tr("states", "busy"),
        ServiceState.RESTARTING: tr("states", "restarting"),
        ServiceState.FAILED: tr("states", "failed"),
    }[state]
