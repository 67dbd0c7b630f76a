"""How the service stands, as far as the application can tell."""

from __future__ import annotations

from enum import Enum, auto


class ServiceState(Enum):
    """One service, ours or another one that this application has found."""

    STOPPED = auto()  # there is none
    STARTING = auto()  # the process runs, and has not yet got as far as its model
    LOADING = auto()  # the model is being loaded
    READY = auto()
    BUSY = auto()  # it works for somebody
    RESTARTING = auto()  # it ended, and is started again after a wait
    FAILED = auto()  # it cannot be used until a person does something

    @property
    def answers(self) -> bool:
        """Whether requests can be sent to it."""
        return self in (ServiceState.READY, ServiceState.BUSY)
