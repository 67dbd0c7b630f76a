"""Words for states, the same in the tray and in the window."""

from __future__ import annotations

import signal

from PySide6.QtCore import QCoreApplication

from pinfill_app.service_process import Ended
from pinfill_app.service_state import ServiceState
from pinfill_service.api.schemas.manage import PinState


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


def pin_word(state: PinState) -> str:
    """warm, prefilling, ..."""
    tr = QCoreApplication.translate
    words: dict[PinState, str] = {
        "queued": tr("states", "queued"),
        "prefilling": tr("states", "prefilling"),
        "warm": tr("states", "warm"),
        "cold": tr("states", "cold"),
        "stale": tr("states", "stale"),
        "failed": tr("states", "failed"),
    }
    return words[state]


def provider_word(provider: str) -> str:
    """CPU instead of CPUExecutionProvider."""
    return provider.removesuffix("ExecutionProvider")


def how_it_ended(ended: Ended) -> str:
    """Why the service is gone, with the last lines it wrote."""
    tr = QCoreApplication.translate
    if ended.crashed:
        how = tr("states", "It crashed ({}).").format(_signal_name(ended.code))
    else:
        how = tr("states", "It ended with exit code {}.").format(ended.code)
    return "\n".join((how, *ended.last_lines))


def _signal_name(code: int) -> str:
    try:
        return signal.Signals(code).name
    except ValueError:  # Windows tells the number of an exception
        return str(code)
