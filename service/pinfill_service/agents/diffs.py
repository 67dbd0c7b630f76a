"""Changes of a file for showing to people."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

from pinfill_service.agents.agent import MASK
from pinfill_service.agents.config_file import Content

_NAMED = re.compile(
    r"""((?:key|token|secret|password|authorization)["']?\s*[:=]\s*)("(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^\s,}]+)""", re.I
)
_SHORT = 8  # what is shorter with its quotes is no secret: an empty text, true, a number


def diff(path: Path, before: Content, after: Content, secrets: Sequence[str]) -> str:
    """A unified diff, "" when nothing changes. Masked are `secrets` and whatever is named like one."""
    if before.data == after.data:
        return ""
    a, b = ("/dev/null" if content.data is None else str(path) for content in (before, after))
    old, new = ((content.data or b"").decode(errors="replace").splitlines() for content in (before, after))
    lines = difflib.unified_diff(old, new, a, b, lineterm="")
    return "".join(f"{_masked(line, secrets)}\n" for line in lines)


def _masked(line: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        line = line.replace(secret, MASK)
    return _NAMED.sub(_mask_value, line)


def _mask_value(found: re.Match[str]) -> str:
    value = found[2]
    if len(value) < _SHORT or MASK in value:
        return found[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{found[1]}{quote}{MASK}{quote}"
