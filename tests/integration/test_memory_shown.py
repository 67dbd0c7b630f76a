"""What the status says cached KV takes is what it adds to the process: memory measured from outside."""

from __future__ import annotations

import mmap
import random
import time
from pathlib import Path

import psutil
import pytest

from pinfill_service.models.gguf_import import convert_gguf
from tests.support.service_process import LIMIT_SECONDS, ServiceProcess, service_process
from tests.support.tiny_gguf import TinyLlama

TOKENS, SLOTS = 600, 2
_NOISE = 4 << 20  # what Python, onnxruntime and malloc keep differs by 1 to 3 MB from look to look


class Watched:
    """A service and the memory it had when nothing was cached."""

    def __init__(self, service: ServiceProcess) -> None:
        self.service, self._process = service, psutil.Process(service.pid)
        self._base = 0

    @property
    def shown(self) -> int:
        return int(self.service.get("status")["memory"]["used_bytes"])

    def is_empty(self) -> None:
        """Waits until nothing is cached any more: a pin is given up soon, not at once."""
        end = time.monotonic() + LIMIT_SECONDS
        while self.shown:
            assert time.monotonic() < end, f"{self.shown:,} bytes are still shown"
            self.service.send("POST", "entries/evict-unpinned")
        self._base = self._process.memory_info().rss

    def agrees(self, at_least: int) -> None:
        """Waits until nothing is under way that would explain a difference."""
        end = time.monotonic() + LIMIT_SECONDS / 4
        while abs((grown := self._process.memory_info().rss - self._base) - (shown := self.shown)) > (
            0.05 * shown + _NOISE
        ):
            assert time.monotonic() < end, f"{shown:,} bytes are shown, and the process has grown by {grown:,}"
            time.sleep(0.1)
        assert shown >= at_least


def prompts(seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(10, 250) for _ in range(TOKENS)] for _ in range(SLOTS)]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """One that computes little and has much KV: 32 KiB a token."""
    folder = tmp_path / "model"
    folder.mkdir()
    tiny = TinyLlama(layers=4, heads=16, kv_heads=16, head_size=64, context=1024)
    convert_gguf(tiny.write(tmp_path / "m.gguf"), folder)
    return folder


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="this system keeps what a slot touched")
def test_the_sum_shown_is_what_the_process_holds(tmp_path: Path, model: Path) -> None:
    with service_process(tmp_path, model, slots=SLOTS) as service:
        watched = Watched(service)
        size = TOKENS * service.get("status")["model"]["kv_bytes_per_token"]
        for seed in (1, 4):  # the first time everything grows to the size that it keeps
            watched.is_empty()
            for number in range(2):
                for prompt in prompts(seed + number):
                    service.complete(prompt)
                if seed == 4:
                    watched.agrees((number + 1) * SLOTS * size)  # in slots, then in stored pages too
            assert service.pin("rubric", raw_text="a" * TOKENS)["on_disk"]
            if seed == 4:
                watched.agrees(2 * SLOTS * size + size // 2)
                service.send("POST", "entries/evict-unpinned")
                watched.agrees(size // 2)
            else:
                service.send("DELETE", "pins/rubric")
    with service_process(tmp_path, model, slots=SLOTS) as service:
        watched = Watched(service)
        service.wait("pins/rubric", lambda pin: pin["state"] == "warm")
        held = watched.shown
        before = psutil.Process(service.pid).memory_info().rss
        service.send("DELETE", "pins/rubric")
        watched.is_empty()
        freed = before - psutil.Process(service.pid).memory_info().rss
        assert held > size // 2 and abs(freed - held) <= 0.05 * held + _NOISE, "the file that was read is held, too"
