"""Random lives of prompts against a naive model: nothing foreign is reused, nothing cached is lost sight of."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.cache.prefix_cache import MIN_EVALUATED, PrefixCache
from pinfill_service.cache.prefix_tree import common_prefix
from tests.support.cache_checks import check_books
from tests.support.fake_kv import FakeFile, FakeKv, FakePool, FakeSpan

SLOTS, CONTEXT = 3, 200
# Prompts made of few blocks share long prefixes and branch in the middle of blocks.
BLOCKS = [[block * 10 + i % 7 for i in range(length)] for block, length in enumerate((1, 2, 17, 40, 64))]
prompts = st.tuples(st.sampled_from(BLOCKS[2:]), st.lists(st.sampled_from(BLOCKS), max_size=3)).map(
    lambda parts: [token for block in (parts[0], *parts[1]) for token in block][:CONTEXT]
)


class CacheMachine(RuleBasedStateMachine):
    """Claims, chunks, replies, ends, failures, evictions and pins in any order."""

    running = Bundle("running")
    state_bytes = 0

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.kv = FakeKv(SLOTS, CONTEXT, state_bytes=self.state_bytes)
        self.budget = 400 * self.kv.bytes_per_token
        self.cache = PrefixCache(self.kv, self.budget, PrefillCost(), self.now)
        self.live: dict[int, tuple[list[int], int, bool]] = {}  # slot -> prompt, evaluated, shared
        self.pins: list[list[int]] = []
        self.disk = FakePool()
        self.files: list[FakeFile] = []

    def now(self) -> float:
        self.time += 1.0
        return self.time

    def naive_match(self, namespace: str, prompt: list[int]) -> int:
        """The longest prefix of `prompt` that any node's path has, found the slow way."""
        best = 0
        root = self.cache.tree._roots.get(namespace)
        for node in self.cache.tree.nodes():
            top = node.path()[0].parent
            if top is not root:
                continue
            path = [int(token) for above in node.path() for token in above.tokens]
            same = 0
            while same < min(len(path), len(prompt)) and path[same] == prompt[same]:
                same += 1
            best = max(best, same)
        return best

    def naive_checkpoint(self, namespace: str, prompt: list[int], limit: int) -> int:
        """The longest prefix of `prompt`, up to `limit` tokens, that any node keeps the state of."""
        root, best = self.cache.tree._roots.get(namespace), 0
        for node in self.cache.tree.nodes():
            known = node.checkpoint is not None and node.path()[0].parent is root
            if known and node.end <= limit and node.checkpoint == prompt[: node.end]:
                best = max(best, node.end)
        return best

    @precondition(lambda self: len(self.live) < SLOTS)
    @rule(
        target=running,
        prompt=prompts,
        namespace=st.sampled_from(["", "salt"]),
        keep=st.integers(0, 9),
        reuse=st.integers(0, 9),
    )
    def claim(self, prompt: list[int], namespace: str, keep: int, reuse: int) -> int:
        expected = max(0, min(self.naive_match(namespace, prompt), len(prompt) - MIN_EVALUATED))
        if self.state_bytes:
            expected = self.naive_checkpoint(namespace, prompt, expected)
        claim = self.cache.claim(namespace, np.array(prompt, np.int32), reuse=bool(reuse), keep=bool(keep))
        assert claim.slot not in self.live
        expected = expected if keep and reuse else 0
        if all(file.sound for file in self.files):
            assert claim.cached == expected, "cached prefix not found, or too much of it"
        else:
            assert claim.cached <= expected
            self.pins = [pin for pin in self.pins if self.naive_match("", pin) == len(pin)]
        assert self.kv.content[claim.slot] == prompt[: claim.cached]
        assert claim.cached <= max(0, len(prompt) - 1)
        self.live[claim.slot] = (prompt, claim.cached, bool(keep))
        return claim.slot

    @rule(slot=running, size=st.integers(2, 70), mark=st.booleans())
    def evaluate_chunk(self, slot: int, size: int, mark: bool) -> None:
        if slot in self.live:
            prompt, done, shared = self.live[slot]
            chunk = prompt[done : done + size]
            if chunk:
                self.kv.run(slot, chunk)
                self.cache.extend(slot, np.array(chunk, np.int32))
                if mark:
                    self.cache.mark(slot)
                self.live[slot] = (prompt, done + len(chunk), shared)

    @precondition(lambda self: len(self.live) < SLOTS)
    @rule(prompt=prompts, namespace=st.sampled_from(["", "", "salt"]), sizes=st.lists(st.integers(2, 70), max_size=6))
    def ask(self, prompt: list[int], namespace: str, sizes: list[int]) -> None:
        """A whole request: most of what is cached comes from such ones."""
        slot = self.claim(prompt, namespace, 1, 1)
        for size in (*sizes, CONTEXT):
            self.evaluate_chunk(slot, size, mark=size % 2 == 0)
        self.end(slot, count=2, finish=True, keep=True)

    @rule(slot=running, count=st.integers(1, 5), finish=st.booleans(), keep=st.booleans())
    def end(self, slot: int, count: int, finish: bool, keep: bool) -> None:
        """The request is cancelled, or its prompt is done and a reply was decoded behind it."""
        if slot not in self.live:
            return
        prompt, done, _ = self.live.pop(slot)
        if finish and done == len(prompt):
            for token in range(min(count, CONTEXT - done)):
                self.kv.run(slot, [token])
                self.cache.append_decoded(slot, token)
        if not keep:
            self.cache.drop_tail(slot)
        self.cache.release(slot)
        self.check_budget()

    @rule(slot=st.integers(0, SLOTS - 1))
    def settle(self, slot: int) -> None:
        reply = self.cache.unsettled(slot)
        if self.cache.is_idle(slot) and reply and self.cache.drop_tail(slot):
            self.kv.run(slot, reply)
            self.cache.extend(slot, np.array(reply, np.int32))
            self.cache.enforce_budget()

    @rule(slot=running)
    def fail(self, slot: int) -> None:
        """What only a failed slot held is gone, pinned or not."""
        if slot in self.live:
            del self.live[slot]
            self.cache.abandon(slot)
            assert self.kv.length(slot) == 0
            self.pins = [pin for pin in self.pins if self.naive_match("", pin) == len(pin)]

    @rule(prompt=prompts)
    def pin(self, prompt: list[int]) -> None:
        length = self.naive_match("", prompt)
        assert not self.cache.pin("", np.array([*prompt[:length], 999], np.int32))
        if length:
            assert self.cache.pin("", np.array(prompt[:length], np.int32))
            self.pins.append(prompt[:length])

    @rule(prompt=prompts, namespace=st.sampled_from(["", "salt"]))
    def save(self, prompt: list[int], namespace: str) -> None:
        """Writes a cached prefix to a file, as the store does: snapshot first, then the file's span."""
        tokens = np.array(prompt[: self.naive_match(namespace, prompt)], np.int32)
        if not len(tokens):
            return
        snapshot = self.cache.snapshot(namespace, tokens)
        if snapshot is None:
            return
        written = [token for span in snapshot.spans for token in span.tokens]
        assert written == tokens[snapshot.start :].tolist()
        for span in snapshot.spans:
            span.free()
        self.disk.bytes_used += len(written)
        self.files.append(FakeFile())
        assert self.cache.saved(snapshot, FakeSpan(self.disk, written, 1, self.files[-1]))

    @rule()
    def leave_memory(self) -> None:
        """Everything is saved and nothing stays in memory, as after a restart."""
        for leaf in list(self.cache.tree.leaves()):
            tokens = [int(token) for above in leaf.path() for token in above.tokens]
            root = leaf.path()[0].parent
            self.save(tokens, "" if root is self.cache.tree._roots.get("") else "salt")
        budget = self.budget // self.kv.bytes_per_token
        self.change_budget(0)
        self.change_budget(budget)

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        """From now on a file cannot be read; pins that only it holds are as good as gone."""
        data.draw(st.sampled_from(self.files)).sound = False

    @rule(prompt=prompts, namespace=st.sampled_from(["", "salt"]))
    def forget_files(self, prompt: list[int], namespace: str) -> None:
        self.cache.forget_files(namespace, np.array(prompt, np.int32))

    @precondition(lambda self: self.pins)
    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        tokens = self.pins.pop(data.draw(st.integers(0, len(self.pins) - 1)))
        self.cache.unpin("", np.array(tokens, np.int32))

    @invariant()
    def what_is_pinned_is_there(self) -> None:
        for tokens in self.pins:
            assert self.naive_match("", tokens) == len(tokens), "a pinned prefix is gone"
        pinned = [node for node in self.cache.tree.nodes() if node.pinned]
        assert sum(node.pinned for node in pinned) >= len(self.pins)
        assert self.pins or not pinned, "a pin was left behind"

    @rule(budget=st.sampled_from([0, 30, 150, 400, 10_000]))
    def change_budget(self, budget: int) -> None:
        self.budget = self.cache.budget_bytes = budget * self.kv.bytes_per_token
        self.cache.enforce_budget()
        self.check_budget()

    def check_budget(self) -> None:
        """What is cached fits, but for stored pages of prefixes that running requests stand on."""
        if self.cache.held_bytes > self.budget:
            assert (self.live or self.pins) and self.cache.stats().evictable_bytes == 0

    @rule()
    def evict_all(self) -> None:
        self.cache.evict_all()
        assert (self.cache.stats().evictable_bytes, self.cache.stats().unused_bytes) == (0, 0)
        ends = {slot.index: slot.node for slot in self.cache._slots if not slot.busy and slot.node is not None}
        for slot, end in ends.items():
            assert end.is_root or (end.is_protected and end.span is None and end.slots == {slot}), "a copy was left"

    @rule()
    def give_back_unused(self) -> None:
        before = self.cache.stats()
        self.cache.give_back_unused()
        after = self.cache.stats()
        assert (after.unused_bytes, after.total_bytes) == (0, before.total_bytes - before.unused_bytes)

    @invariant()
    def books_are_right(self) -> None:
        check_books(self.cache, self.kv, damaged_files=not all(file.sound for file in self.files))
        for slot, (prompt, done, _) in self.live.items():
            assert self.kv.content[slot] == prompt[:done], "a running prompt's KV was touched by others"

    def teardown(self) -> None:
        for slot in list(self.live):
            self.cache.release(slot)
        for tokens in self.pins:
            self.cache.unpin("", np.array(tokens, np.int32))
        assert all(node.references == 0 for node in self.cache.tree.nodes()), "a lock leaked"
        self.cache.evict_all()
        assert self.kv.pool.bytes_used == 0 and not list(self.cache.tree.nodes())
        assert not self.cache.tree._roots, "an empty namespace was left behind"


CacheMachine.TestCase.settings = settings(max_examples=300, stateful_step_count=50, deadline=None)
TestCache = CacheMachine.TestCase


class StatefulCacheMachine(CacheMachine):
    """The same with a model that carries state: a sequence resumes only where a checkpoint was kept."""

    state_bytes = 8


StatefulCacheMachine.TestCase.settings = CacheMachine.TestCase.settings
TestStatefulCache = StatefulCacheMachine.TestCase


@settings(max_examples=150, deadline=None)
@given(st.lists(prompts, min_size=1, max_size=12))
def test_with_enough_memory_nothing_that_was_evaluated_is_prefilled_again(history: list[list[int]]) -> None:
    """Write-back keeps every token: with two slots, the n-th prompt still finds its longest prefix among all before."""
    kv = FakeKv(2, CONTEXT)
    cache = PrefixCache(kv, 10**9, PrefillCost(), lambda: 0.0)
    for number, prompt in enumerate(history):
        claim = cache.claim("", np.array(prompt, np.int32))
        best = max((common_prefix(np.array(prompt), np.array(old)) for old in history[:number]), default=0)
        assert claim.cached == max(0, min(best, len(prompt) - MIN_EVALUATED))
        rest = prompt[claim.cached :]
        kv.write(claim.slot, rest)
        cache.extend(claim.slot, np.array(rest, np.int32))
        cache.release(claim.slot)
        check_books(cache, kv)


@settings(max_examples=50, deadline=None)
@given(tail=st.integers(5, 60), count=st.integers(2, 10))
def test_only_what_would_be_lost_is_copied(tail: int, count: int) -> None:
    """One client, one long prefix, many payloads: a request costs a copy of the last payload, never of the prefix."""
    prefix = list(range(100))
    kv = FakeKv(4, CONTEXT)
    cache = PrefixCache(kv, 10**9, PrefillCost(), lambda: 0.0)
    for number in range(count):
        prompt = prefix + [1000 + number] * tail
        claim = cache.claim("", np.array(prompt, np.int32))
        kv.write(claim.slot, prompt[claim.cached :])
        cache.extend(claim.slot, np.array(prompt[claim.cached :], np.int32))
        cache.release(claim.slot)
    assert kv.copied == (count - 1) * tail
