"""What the cache says it holds is what the process holds: real KV memory under a session that only writes it."""

from __future__ import annotations

import gc
import mmap
import tracemalloc

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

from pinfill_service.engine.interface import GenerationRequest, Sampling
from pinfill_service.engine.kv import KvSlots, KvTensor
from pinfill_service.engine.pages import FREE_BYTES
from pinfill_service.engine.sampler import Sampler
from pinfill_service.engine.sequence import Sequence
from pinfill_service.engine.worker import Worker
from tests.support.fake_session import VOCABULARY, Listener
from tests.support.models import MODELS
from tests.support.real_engine import LIMIT_SECONDS, engine

MIB = 1 << 20
CONTEXT, SLOTS = 1000, 4
TENSORS = [KvTensor(f"past.{i}", f"present.{i}", 4, 64, np.dtype(np.float32)) for i in range(16)]  # 16 KiB a token


class WritingSession:
    """Fills KV with the tokens' ids and always names token 1."""

    rope_switch = None
    final_from = 0

    def __init__(self, kv: KvSlots) -> None:
        self.kv = kv

    def groups(self, running: list[int]) -> list[tuple[int, int]]:
        return [(slot, slot + 1) for slot in running]

    def use_long_rope(self, slot: int, long: bool) -> None:
        """It has no RoPE."""

    def prefill(self, slot: int, ids: NDArray[np.int64], logits: int) -> NDArray[np.float32]:
        start = self.kv.length(slot)
        for _, array in self.kv.tensors():
            array[slot, :, start : start + len(ids)] = ids[:, None]
        self.kv.appended(slot, len(ids))
        return np.eye(VOCABULARY, dtype=np.float32)[[1]]

    def decode(self, first: int, last: int, ids: list[int | None]) -> NDArray[np.float32]:
        for slot, token in zip(range(first, last), ids, strict=True):
            if token is not None:
                self.prefill(slot, np.array([token], np.int64), 1)
        return np.eye(VOCABULARY, dtype=np.float32)[[1] * (last - first)]


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="this system keeps what a slot touched")
def test_hundreds_of_unique_prompts_stay_within_the_budget_of_real_memory() -> None:
    budget = 64 * MIB
    kv = KvSlots(TENSORS, SLOTS, CONTEXT)
    worker = Worker(
        WritingSession(kv), kv, context_length=CONTEXT, budget_bytes=budget, chunk_tokens=256, clock=lambda: 0.0
    )
    process = psutil.Process()
    gc.collect()
    base = process.memory_info().rss
    highest = 0
    for number in range(200):
        prompt = np.full(600, number % VOCABULARY, np.int32)
        prompt[:2] = number % 90, number // 90
        listener = Listener()
        request = GenerationRequest(prompt.tolist(), 2, Sampling(temperature=0))
        sampler = Sampler(request.sampling, prompt, VOCABULARY)
        worker.add(Sequence(number + 1, request, listener, prompt, sampler, 0.0))
        while worker.has_work:
            worker.turn()
        highest = max(highest, process.memory_info().rss - base)
        assert worker.cache.held_bytes <= budget
    in_use = 600 * kv.bytes_per_token
    assert highest <= budget + in_use + FREE_BYTES + 16 * MIB
    worker.cache.evict_all()
    assert process.memory_info().rss - base <= FREE_BYTES + 16 * MIB


def test_a_graph_that_returns_its_kv_holds_it_twice_and_says_so() -> None:
    def returned() -> int:
        domain = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
        return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([domain]).traces)

    tracemalloc.start()
    try:
        with engine(MODELS / "optimum-llama-fp32", slots=2, chunk_tokens=64) as client:
            before, per_token = returned(), client.engine.model.kv_bytes_per_token
            client.ask([3 + i % 400 for i in range(300)], 1)
            client.ask([5 + i % 300 for i in range(200)], 1)
            slots, twice = 500 * per_token, 200 * per_token  # of the one that ran last
            assert client.engine.stats().total_bytes == slots + twice
            assert 0 <= returned() - before - twice < twice / 10
            client.engine.prefixes.evict_unpinned().result(LIMIT_SECONDS)
            assert client.engine.stats().total_bytes == 0 and returned() - before < twice / 10
    finally:
        tracemalloc.stop()
