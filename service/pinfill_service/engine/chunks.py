"""Where a prompt is cut: so that every way to cut it gives the same bits, and state is kept where it helps."""

from __future__ import annotations

from collections.abc import Iterable

from pinfill_service.cache.prefix_cache import MIN_EVALUATED

# Attention goes through a chunk in blocks of some multiple of this many tokens.
_ATTENTION_ROWS = 16


def chunk_length(start: int, remaining: int, size: int, final_from: int) -> int:
    """How many of the `remaining` tokens behind the first `start` are evaluated in one run, of `size` at most, or so.

    One row alone takes other kernels than many: no single token is left over, and attention, which goes through the
    chunk in blocks of a multiple of 16, is not left with one either. Nothing is cut before `final_from`, for models
    whose results depend on where a run ends while there are fewer tokens; their attention has no blocks.
    """
    count = min(max(size, final_from - start), remaining)
    if final_from:
        return count + (remaining - count == 1)
    while count > MIN_EVALUATED and (count % _ATTENTION_ROWS == 1 or remaining - count == 1):
        count -= 1
    return count


def checkpoints(end: int, cached: int, wanted: Iterable[int], final_from: int) -> tuple[int, ...]:
    """The lengths of a prompt of `end` tokens at which a model's state is kept: those `wanted`, and its end.

    The last one that the very same prompt could resume at is MIN_EVALUATED tokens before its end. Lengths that are
    cached, or too close to them for a run of their own, are left out.
    """
    first = max(cached + MIN_EVALUATED, final_from)
    lengths = {*wanted, end - MIN_EVALUATED}
    return (*sorted(length for length in lengths if first <= length < end - 1), end)
