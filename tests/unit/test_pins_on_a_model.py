"""Pins on a real engine: the same tokens, the same logits, across restarts, changes and damage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from pinfill_service.application import close, create_app
from pinfill_service.engine.loading import load_engine
from pinfill_service.pins import keeper
from tests.support.client import client_for, settings
from tests.support.managed import Managed, Stream
from tests.support.models import MODELS, llama_text

MODEL = "oga-llama-fp32"
RUBRIC = "Grade the answer. " + "Give one point for each fact that is right. " * 3


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path))
    yield tmp_path


@asynccontextmanager
async def service(home: Path, **flags: object) -> AsyncIterator[Managed]:
    chosen = settings(slots=2, chunk_tokens=32, **flags)
    engine = load_engine(MODELS / MODEL, MODEL, chosen)
    app = create_app(chosen, engine, llama_text(), home=home)
    events = await Stream(app.state.application.hub).opened()
    try:
        async with client_for(app) as http:
            yield Managed(app, engine, http, events)  # type: ignore[arg-type]
    finally:
        close(app.state.application)
        await events.close()


async def ask(running: Managed, **body: object) -> tuple[int, int, str]:
    """(tokens of the prompt, of them cached, answer)."""
    response = await running.chat("The answer is 4.", max_tokens=4, temperature=0, **body)
    assert response.status_code == 200, response.text
    answer = response.json()
    usage = answer["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return usage["prompt_tokens"], cached, answer["choices"][0]["message"]["content"]


async def test_a_pin_serves_virtual_and_inline_requests_before_and_after_a_restart(home: Path) -> None:
    inline = [{"role": "system", "content": RUBRIC}, {"role": "user", "content": "The answer is 4."}]
    async with service(home) as running:
        pin = await running.pin("rubric", text=RUBRIC)
        assert pin["on_disk"] and pin["memory_bytes"] > 0
        cold = await ask(running, messages=inline, cache_prompt=False)
        assert (await ask(running, model="m@rubric"))[1] >= pin["tokens"]
    async with service(home) as running:
        await running.events.wait("pin.state", name="rubric", state="cold")
        await running.events.wait("pin.state", name="rubric", state="warm")  # before anybody asks for it
        warm = await ask(running, model="m@rubric")
        assert warm[1] == pin["tokens"] and (warm[0], warm[2]) == (cold[0], cold[2])
        again = await ask(running, messages=inline)
        assert again[1] >= pin["tokens"] and again[2] == cold[2]
        assert (await running.get("/pins/rubric"))["hits"] == 3
        assert not [name for name, _ in running.events.seen if name == "pin.progress"], "nothing was prefilled for it"


async def test_refresh_reuses_everything_up_to_the_first_change(home: Path) -> None:
    async with service(home) as running:
        pin = await running.pin("rubric", text=RUBRIC)
        after = len(running.events.seen)
        await running.ask("POST", "/pins/rubric/refresh", text=f"{RUBRIC}Be kind.")
        await running.events.wait("pin.state", after=after, name="rubric", state="warm")
        (first, *_) = [data for name, data in running.events.seen[after:] if name == "pin.progress"]
        assert pin["tokens"] - 12 < first["done"] < pin["tokens"], "all but the end of the message was there"
        entries = (await running.get("/entries"))["entries"]
        assert [entry["pin"] for entry in entries if entry["pinned"]] == ["rubric"], "the old content is not held"


async def test_verify_finds_no_difference(home: Path) -> None:
    async with service(home) as running:
        await running.pin("rubric", text=RUBRIC)
        report = await running.ask("POST", "/pins/rubric/verify", tokens=8)
        assert report["greedy_equal"] and report["largest_difference"] == 0.0 and report["tokens_compared"] == 8
        assert report["cached_tokens"] > 0.8 * report["prompt_tokens"]


@pytest.mark.parametrize("where", [0.01, 0.5, 0.99])
async def test_a_damaged_file_is_told_and_the_pin_comes_back(
    where: float, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_LOOK_SECONDS", 0.02)
    async with service(home) as running:
        await running.pin("rubric", text=RUBRIC)
        cold = await ask(running, model="m@rubric", cache_prompt=False)
    (path,) = home.glob("kv/*/*.safetensors")
    data = bytearray(path.read_bytes())
    data[int(len(data) * where)] ^= 64
    path.write_bytes(data)
    async with service(home) as running:
        queued = await running.events.wait("pin.state", name="rubric", state="queued")
        assert queued["reason"]
        await running.events.wait("pin.state", name="rubric", state="warm")
        assert (await ask(running, model="m@rubric"))[2] == cold[2]
        pin = await running.get("/pins/rubric")
        assert pin["on_disk"] and pin["state"] == "warm"
        problems = (await running.get("/status"))["problems"]
        assert [problem["kind"] for problem in problems] == ["file_set_aside"]
        entries = (await running.get("/entries"))["entries"]
        assert [entry["pin"] for entry in entries if entry["pinned"]] == ["rubric"]
        await running.ask("DELETE", "/pins/rubric")
        running.application.pins.detach()  # returns when everything before it is done
        assert not list(home.glob("kv/*/*.safetensors")), "it was held once, not twice"


async def test_unpinned_prompts_reach_the_disk_only_when_the_user_wants_that(home: Path) -> None:
    marker = "zanzibar xylophone"
    question = f"{marker} " * 12

    async def run(*, keep: bool) -> int:
        async with service(home, keep_sessions=keep) as running:
            assert (await running.chat(question, max_tokens=1)).status_code == 200
            shown = await running.events.wait("request.finished")
            return int(shown["cached_tokens"])

    def written() -> bool:
        ids = np.array(llama_text().tokenizer.encode(f"{marker} {marker} {marker}")[2:-2], "<i4")
        data = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
        return ids.tobytes() in data or marker.encode() in data

    assert await run(keep=False) == 0 and not written()
    assert await run(keep=True) == 0 and written()
    assert await run(keep=True) > 100, "the session goes on"
    await run(keep=False)
    assert not written(), "what was kept before is deleted"


async def test_a_damaged_list_of_pins_deletes_no_files(home: Path) -> None:
    """The ledger is begun anew and may be short of pins: their KV must wait for them."""
    async with service(home) as running:
        await running.pin("rubric", text=RUBRIC)
    (path,) = home.glob("kv/*/*.safetensors")
    (home / "ledger.sqlite3").write_bytes(b"not a database at all" * 100)
    for journal in home.glob("ledger.sqlite3-*"):
        journal.unlink()
    async with service(home) as running:
        await running.pin("another", text="Pins are taken up one after the other: what was there comes first.")
        assert path.exists(), "the only copy of a pin's KV was deleted"
        problems = (await running.get("/status"))["problems"]
        assert ["ledger was damaged" in problem["message"] for problem in problems] == [True]


async def test_a_disk_budget_counts_at_once(home: Path) -> None:
    async with service(home, disk_budget_mib=0) as running:
        pin = await running.pin("rubric", text=RUBRIC)
        assert not pin["on_disk"] and not list(home.glob("kv/*")), "nothing is kept on disk"
        await running.ask("PATCH", "/settings", disk_budget_mib=64)
        running.application.pins.detach()  # returns when everything before it is done
        assert len(list(home.glob("kv/*/*.safetensors"))) == 1
        await running.ask("PATCH", "/settings", disk_budget_mib=0)
        running.application.pins.attach(running.application.models.current)  # type: ignore[arg-type]
        assert not (await running.pin("another", text="Another rubric."))["on_disk"]
        assert (await running.get("/status"))["disk"] == {"used_bytes": 0, "budget_bytes": 0}
    async with service(home, disk_budget_mib=64) as running:
        await running.events.wait("pin.state", name="rubric", state="cold")
        assert (await ask(running, model="m@rubric"))[1] == pin["tokens"]
