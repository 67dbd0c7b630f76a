"""How much memory the system can spare for cached prefixes: what others need comes first."""

from __future__ import annotations

import psutil

# Of the machine's memory, this part stays free for programs that are about to need it.
_RESERVED_PART, _MOST_RESERVED = 1 / 20, 1 << 30


PLENTY = 1 << 62


def plenty() -> int:
    """For caches that need not care."""
    return PLENTY


def spare_bytes() -> int:
    """What is available beyond the reserve; negative: that much has to be given back."""
    memory = psutil.virtual_memory()
    return int(memory.available - min(memory.total * _RESERVED_PART, _MOST_RESERVED))
