"""The system is short of memory: what nobody pinned makes room, pins stay, requests are answered, and it passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from pinfill_service.cache import system_memory
from pinfill_service.engine import scheduler
from pinfill_service.engine.scheduler import OnnxEngine
from tests.support.fake_engine import LIMIT_SECONDS
from tests.support.managed import Managed
from tests.unit.test_pins_on_a_model import RUBRIC, ask, service

TOTAL = 16 << 30
RESERVE = TOTAL // 20


class System:
    """A machine on which other programs leave `room` bytes to what is cached, as psutil sees it."""

    def __init__(self) -> None:
        self.room = TOTAL // 2
        self.engine: OnnxEngine | None = None

    def virtual_memory(self) -> SimpleNamespace:
        held = 0 if self.engine is None else self.engine._worker.cache.held_bytes
        return SimpleNamespace(total=TOTAL, available=RESERVE + self.room - held)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> System:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path))
    system = System()
    monkeypatch.setattr(psutil, "virtual_memory", system.virtual_memory)
    monkeypatch.setattr(system_memory, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(scheduler, "_LOOK_SECONDS", 0.02)
    return system


async def until(running: Managed, wanted: Callable[[dict[str, int], set[str]], bool]) -> None:
    """Waits for a state of memory and the kinds of problems that are told."""
    end = time.monotonic() + LIMIT_SECONDS
    while True:
        status = await running.get("/status")
        if wanted(status["memory"], {problem["kind"] for problem in status["problems"]}):
            return
        assert time.monotonic() < end, (status["memory"], status["problems"], status["activity"])
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("disk_budget_mib", [0, 64])
async def test_unpinned_entries_shrink_pins_stay_and_it_recovers(
    system: System, tmp_path: Path, disk_budget_mib: int
) -> None:
    async with service(tmp_path, disk_budget_mib=disk_budget_mib, memory_budget_mib=64) as running:
        system.engine = running.engine  # type: ignore[assignment]
        pin = await running.pin("rubric", text=RUBRIC)
        cold = await ask(running, model="m@rubric", cache_prompt=False)
        questions = [[{"role": "user", "content": f"{number} " + "river stone " * 60}] for number in range(6)]
        for question in questions:
            await ask(running, messages=question)
        whole = (await running.get("/status"))["memory"]["used_bytes"]
        assert (await ask(running, messages=questions[0]))[1] > 100, "there is memory: it is cached"

        system.room = whole // 2  # nobody asks for anything: the engine looks by itself
        await until(running, lambda memory, kinds: memory["used_bytes"] <= whole // 2)
        assert (await ask(running, model="m@rubric"))[1] == pin["tokens"]

        system.room = -1
        await until(
            running, lambda memory, kinds: memory["used_bytes"] <= 1.4 * pin["memory_bytes"] and "memory" in kinds
        )
        entries = (await running.get("/entries"))["entries"]
        assert [entry["pin"] for entry in entries] == ["rubric"]
        assert (await running.get("/pins/rubric"))["state"] == ("cold" if disk_budget_mib else "warm")
        served = await ask(running, model="m@rubric")
        assert served[1:] == (pin["tokens"], cold[2]), "a request is answered as ever"
        assert (await ask(running, messages=questions[0]))[1] < 20, "what was given up is evaluated again"

        system.room = TOTAL // 2
        await until(running, lambda memory, kinds: "memory" not in kinds)
        await ask(running, messages=questions[0])
        assert (await ask(running, messages=questions[0]))[1] > 100
