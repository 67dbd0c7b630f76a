"""KV memory whose "KV" is the token ids themselves, so that a test can see whether the right thing was copied."""

from __future__ import annotations

from collections.abc import Sequence


class FakePool:
    """Counts bytes of stored spans."""

    bytes_free = 0

    def __init__(self) -> None:
        self.bytes_used = 0

    def trim(self, size: int) -> None:
        """It has no free pages."""


class FakeFile:
    """Says of spans whether what they hold is damaged."""

    def __init__(self) -> None:
        self.sound = True


class FakeSpan:
    """Stored tokens."""

    def __init__(
        self, pool: FakePool, tokens: Sequence[int], bytes_per_token: int, file: FakeFile | None = None
    ) -> None:
        self._pool, self.tokens, self._bytes_per_token = pool, list(tokens), bytes_per_token
        self.file = file or FakeFile()
        self.live = True

    def is_sound(self) -> bool:
        assert self.live
        return self.file.sound

    def share(self) -> FakeSpan:
        assert self.live
        self._pool.bytes_used += len(self.tokens) * self._bytes_per_token
        return FakeSpan(self._pool, self.tokens, self._bytes_per_token, self.file)

    def split(self, count: int) -> tuple[FakeSpan, FakeSpan]:
        assert self.live and 0 < count < len(self.tokens)
        self.live = False
        parts = self.tokens[:count], self.tokens[count:]
        left, right = (FakeSpan(self._pool, part, self._bytes_per_token, self.file) for part in parts)
        return left, right

    def free(self) -> None:
        assert self.live, "freed twice, or after a split"
        self.live = False
        self._pool.bytes_used -= len(self.tokens) * self._bytes_per_token


class FakeKv:
    """Implements `prefix_cache.KvStore`. `write` stands for what the graph does."""

    def __init__(self, slots: int, max_length: int, bytes_per_token: int = 4, state_bytes: int = 0) -> None:
        self.count, self.max_length, self.bytes_per_token = slots, max_length, bytes_per_token
        self.state_bytes = state_bytes
        self.state: list[list[int] | None] = [[] for _ in range(slots)]  # the tokens it is the state of; None: unknown
        self.pool = FakePool()
        self.content: list[list[int]] = [[] for _ in range(slots)]
        self._touched = [0] * slots
        self.copied = 0

    @property
    def has_state(self) -> bool:
        return self.state_bytes > 0

    @property
    def resident_bytes(self) -> int:
        return sum(self._touched) * self.bytes_per_token

    def length(self, slot: int) -> int:
        return len(self.content[slot])

    def touched(self, slot: int) -> int:
        return self._touched[slot]

    def run(self, slot: int, tokens: Sequence[int]) -> None:
        """What the graph does: appends KV, going on from the slot's state."""
        assert not self.has_state or self.state[slot] == self.content[slot], "ran on the state of other tokens"
        self.write(slot, tokens)
        self.state[slot] = list(self.content[slot])

    def checkpoint(self, slot: int) -> list[int]:
        assert self.state[slot] == self.content[slot]
        return list(self.content[slot])

    def restore(self, slot: int, checkpoint: list[int]) -> None:
        assert self.content[slot][: len(checkpoint)] == checkpoint, "the state of a prefix that is not there"
        self.truncate(slot, len(checkpoint))
        self.state[slot] = list(checkpoint)

    def write(self, slot: int, tokens: Sequence[int]) -> None:
        """Appends KV without looking at state, as copies do."""
        self.content[slot] += [int(token) for token in tokens]
        assert len(self.content[slot]) <= self.max_length
        self._touched[slot] = max(self._touched[slot], len(self.content[slot]))

    def truncate(self, slot: int, length: int) -> None:
        assert 0 <= length <= len(self.content[slot])
        if length < len(self.content[slot]):
            del self.content[slot][length:]
            self.state[slot] = None
        if length == 0:
            self.state[slot] = []

    def fork(self, source: int, target: int, start: int, end: int) -> None:
        assert len(self.content[target]) == start and end <= len(self.content[source])
        self.copied += end - start
        self.write(target, self.content[source][start:end])

    def export(self, slot: int, start: int, end: int) -> FakeSpan:
        assert 0 <= start < end <= len(self.content[slot])
        self.copied += end - start
        self.pool.bytes_used += (end - start) * self.bytes_per_token
        return FakeSpan(self.pool, self.content[slot][start:end], self.bytes_per_token)

    def load(self, span: FakeSpan, slot: int, limit: int | None = None) -> None:
        assert span.live and span.is_sound(), "damaged KV reached a slot"
        self.copied += len(span.tokens[:limit])
        self.write(slot, span.tokens[:limit])

    def discard_dead(self, slot: int) -> None:
        self._touched[slot] = len(self.content[slot])
