"""What could not be done, as a value: callers show it, nobody has to catch it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class FailureKind(Enum):
    """Why it could not be done, for those who act on it."""

    UNREACHABLE = auto()  # nothing answers there
    TIMEOUT = auto()  # it took longer than it may
    KEY_REFUSED = auto()  # the service wants another key
    REFUSED = auto()  # the service said no, in its own words
    NOT_UNDERSTOOD = auto()  # the answer is not one that this version knows


@dataclass(frozen=True, slots=True)
class Failure:
    """`message` is for people: what happened, and what to do, in their language. `code` is the service's stable name
    for its reason, `said` its own words, in English.
    """

    kind: FailureKind
    message: str
    status: int | None = None
    code: str | None = None
    said: str | None = None
