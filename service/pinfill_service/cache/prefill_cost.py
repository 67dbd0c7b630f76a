"""What prefill costs on this machine, learned from the chunks that are evaluated anyway."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

BUCKET_TOKENS = 1024
# Of a new measurement, once there are ten; what else runs on the machine makes single ones differ by half.
_WEIGHT = 0.1
_GUESS = 0.002  # seconds a token, until something was measured
# Few tokens at a time take longer each than a prompt's (35 of them: half as long again). What is reused would have been
# evaluated in whole chunks, so shorter ones count only until a whole one was measured, and the shortest never.
MIN_MEASURED_TOKENS, _WHOLE_CHUNK = 32, 128
_REMEMBERED = 3  # measurements that what an earlier run learned counts as: the machine may be another one today


class PrefillCost:
    """Seconds to prefill tokens at a depth. Depth matters: attention grows with what stands before.

    Invariant: a token never costs less than one before it. Measurements say otherwise only while something else keeps
    the machine busy, and that must not make a prefix worth more than a longer one. Any thread may ask what is known,
    and add what an earlier run learned.
    """

    def __init__(self) -> None:
        self._seconds_per_token: dict[int, float] = {}
        self._measurements: Counter[int] = Counter()
        self._of_short_chunks: float | None = None
        self._curve: dict[int, float] = {}  # of the buckets; replaced, never changed
        self._changing = threading.Lock()

    def measured(self, start: int, count: int, seconds: float) -> None:
        """`count` tokens behind the first `start` took `seconds`."""
        if count < _WHOLE_CHUNK:
            if count >= MIN_MEASURED_TOKENS:
                self._of_short_chunks = seconds / count
            return
        bucket = (start + count // 2) // BUCKET_TOKENS
        new = seconds / count
        with self._changing:
            old = self._seconds_per_token.get(bucket, new)
            self._measurements[bucket] += 1
            self._seconds_per_token[bucket] = old + max(_WEIGHT, 1 / self._measurements[bucket]) * (new - old)
            self._curve = self._rising()

    @property
    def learned(self) -> dict[int, float]:
        """Seconds a token by depth in BUCKET_TOKENS, as measured."""
        with self._changing:
            return dict(self._seconds_per_token)

    def remember(self, learned: Mapping[int, float]) -> None:
        """What an earlier run learned stands in where nothing was measured yet, and gives way to measurements soon."""
        with self._changing:
            new = {bucket: seconds for bucket, seconds in learned.items() if bucket not in self._seconds_per_token}
            self._seconds_per_token |= new
            self._measurements.update(dict.fromkeys(new, _REMEMBERED))
            self._curve = self._rising()

    def per_token(self, depth: int) -> float:
        """Seconds a token costs behind `depth` others: of the nearest depth that was measured."""
        curve = self._curve
        if not curve:
            return _GUESS if self._of_short_chunks is None else self._of_short_chunks
        bucket = depth // BUCKET_TOKENS
        return curve[min(curve, key=lambda known: (abs(known - bucket), known))]

    def seconds(self, start: int, end: int) -> float:
        """Seconds to prefill positions [start, end)."""
        total, position = 0.0, start
        while position < end:
            stop = min((position // BUCKET_TOKENS + 1) * BUCKET_TOKENS, end)
            total += (stop - position) * self.per_token(position)
            position = stop
        return total

    def measured_seconds(self, start: int, end: int) -> float | None:
        """The same, to be told to people: None until anything was measured."""
        is_known = bool(self._curve) or self._of_short_chunks is not None
        return self.seconds(start, end) if is_known else None

    def _rising(self) -> dict[int, float]:
        """The curve nearest to what was measured that never falls (isotonic regression by pooling of neighbours)."""
        pools: list[tuple[list[int], float, float]] = []  # buckets, their weight, their mean
        for bucket in sorted(self._seconds_per_token):
            buckets, weight = [bucket], min(float(self._measurements[bucket]), 1 / _WEIGHT)
            mean = self._seconds_per_token[bucket]
            while pools and pools[-1][2] > mean:
                before, other, higher = pools.pop()
                buckets, mean = before + buckets, (weight * mean + other * higher) / (weight + other)
                weight += other
            pools.append((buckets, weight, mean))
        return {bucket: mean for buckets, _, mean in pools for bucket in buckets}
