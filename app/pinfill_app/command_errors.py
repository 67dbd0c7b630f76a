"""How commands of `pinfill` that run beside the application tell what went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from pinfill_app.failure import Failure
from pinfill_app.failure_words import refused

CHILD = {"PYTHONUTF8": "1", "PINFILL_ERROR_CODES": "1"}  # what a command finds in its environment beside our own

_SENTENCE, _CODE = "error: ", "error-code: "


def read_code(lines: Sequence[str]) -> str | None:
    """The stable code of an error among the lines that a command wrote; None where it has none."""
    return next((line.removeprefix(_CODE).strip() for line in reversed(lines) if line.startswith(_CODE)), None)


def read_sentence(lines: Sequence[str]) -> str | None:
    """The sentence with which the command line tells an expected error."""
    return next((line.removeprefix(_SENTENCE) for line in reversed(lines) if line.startswith(_SENTENCE)), None)


def failure_of(errors: str, otherwise: str) -> Failure:
    """What a command wrote before it failed; `otherwise` when that is nothing."""
    lines = errors.strip().splitlines()
    if not lines:
        return refused(otherwise)
    return refused(lines[-1].removeprefix(_SENTENCE), read_code(lines))
