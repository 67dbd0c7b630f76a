"""Which processor this is: another one may run other kernels, whose sums differ in the last bit."""

from __future__ import annotations

import hashlib
import platform
import re
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")


def processor() -> str:
    """A name that is equal for processors of one model with the same features."""
    try:
        text = _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()}".strip()
    found = (re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE) for key in ("model name", "flags"))
    name, flags = (match[1] if match else "" for match in found)
    return f"{platform.machine()} {name or platform.processor()} {hashlib.sha256(flags.encode()).hexdigest()[:8]}"
