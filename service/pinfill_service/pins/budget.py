"""Whether a pin fits, said before anything is prefilled for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pinfill_service.engine.interface import DiskState, Engine
from pinfill_service.pins.errors import PinBudgetError, PinTooLongError
from pinfill_service.pins.pin import distinct_tokens

log = logging.getLogger(__name__)

ROOM_FOR_REQUESTS = 16  # tokens of the context that no pin may take
_MB = 1_000_000
_GIVE_MEMORY = "give cached prefixes more memory (Settings in the window, memory_budget_mib in settings.toml)"
_GIVE_DISK = "give pins more disk (Settings in the window, disk_budget_mib in settings.toml)"


def check_fits(engine: Engine, token_ids: Sequence[int], others: Sequence[Sequence[int]]) -> None:
    """Raises PinTooLongError, or PinBudgetError with the numbers, for a pin beside `others`.

    A pin must fit into memory by itself, to be used at all. All of them must fit on the disk together or, where nothing
    is kept on disk, into memory.
    """
    model, disk, memory = engine.model, _disk(engine), engine.stats().budget_bytes
    count = len(token_ids)
    if count > model.context_length - ROOM_FOR_REQUESTS:
        raise PinTooLongError(count, model.context_length, ROOM_FOR_REQUESTS)
    alone = count * model.kv_bytes_per_token
    if alone > memory:
        raise PinBudgetError(
            f"The pin's {count:,} tokens need {_size(alone)} of memory, and the budget for cached prefixes is "
            f"{_size(memory)}. Pin less, or {_GIVE_MEMORY}."
        )
    before = distinct_tokens(others) * model.kv_bytes_per_token
    together = distinct_tokens([*others, token_ids]) * model.kv_bytes_per_token
    limit, give = (memory, _GIVE_MEMORY) if disk is None else (disk.budget_bytes, _GIVE_DISK)
    if together > limit:
        where = "in memory" if disk is None else "on disk"
        raise PinBudgetError(
            f"The pin's {count:,} tokens need {_size(together - before)} more {where}; the other pins hold "
            f"{_size(before)} of a budget of {_size(limit)}. Unpin something, or {give}."
        )


def _disk(engine: Engine) -> DiskState | None:
    try:
        return engine.prefixes.disk()
    except OSError as error:
        log.warning("the folder of KV files cannot be read, so pins are kept in memory: %s", error)
        return None


def _size(count: int) -> str:
    """Bytes in megabytes, as people read them."""
    return f"{count / _MB:,.0f} MB" if count >= 10 * _MB else f"{count / _MB:,.1f} MB"
