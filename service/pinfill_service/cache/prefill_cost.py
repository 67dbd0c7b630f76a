"""What prefill costs on this machine, learned from the chunks that are evaluated anyway."""

from __future__ import annotations

BUCKET_TOKENS = 1024
_WEIGHT = 0.3  # of a new measurement; old ones fade within some ten chunks
_GUESS = 0.002  # seconds a token, until something was measured
# Few tokens at a time run at another speed than a prompt; a chunk this short says nothing about prefill.
MIN_MEASURED_TOKENS = 32


class PrefillCost:
    """Seconds to prefill tokens at a depth. Depth matters: attention grows with what stands before."""

    def __init__(self) -> None:
        self._seconds_per_token: dict[int, float] = {}

    def measured(self, start: int, count: int, seconds: float) -> None:
        """`count` tokens behind the first `start` took `seconds`."""
        if count < MIN_MEASURED_TOKENS:
            return
        bucket = (start + count // 2) // BUCKET_TOKENS
        new = seconds / count
        old = self._seconds_per_token.get(bucket, new)
        self._seconds_per_token[bucket] = old + _WEIGHT * (new - old)

    def per_token(self, depth: int) -> float:
        """Seconds a token costs behind `depth` others: of the nearest depth that was measured."""
        if not self._seconds_per_token:
            return _GUESS
        bucket = depth // BUCKET_TOKENS
        return self._seconds_per_token[min(self._seconds_per_token, key=lambda known: (abs(known - bucket), known))]

    def seconds(self, start: int, end: int) -> float:
        """Seconds to prefill positions [start, end)."""
        total, position = 0.0, start
        while position < end:
            stop = min((position // BUCKET_TOKENS + 1) * BUCKET_TOKENS, end)
            total += (stop - position) * self.per_token(position)
            position = stop
        return total
