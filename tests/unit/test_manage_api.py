"""The management API: pins and their use as models, the history, entries, settings, and what is refused."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.api import learned_costs, recording
from pinfill_service.api.schemas import manage
from pinfill_service.engine.errors import EngineError
from tests.support.asgi import Exchange
from tests.support.client import AUTH, KEY, app_with, client_for
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply, fake_entry_id
from tests.support.managed import V1, Managed, managed
from tests.support.models import llama_text

RUBRIC = "Grade the answer from 1 to 5 and say why."
LOWER = {name.lower(): value for name, value in AUTH.items()}
TOKENIZER = llama_text().tokenizer


def prompt_of(service: Managed) -> list[int]:
    return list(service.engine.requests[-1].prompt)


def tool(name: str, description: str = "A tool.") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {}}}


# -- pins --------------------------------------------------------------------------------------------------------------


async def test_a_pin_from_start_to_end(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        source = {"path": "/home/me/rubric.md", "size": 41, "mtime": 1.5, "sha256": "a" * 64}
        pin = await service.pin("rubric", text=RUBRIC, sources=[source], auto_refresh=True)
        assert (pin["state"], pin["kind"], pin["on_disk"], pin["use_as"]) == ("warm", "text", True, "fake-model@rubric")
        assert pin["memory_bytes"] == pin["disk_bytes"] == pin["tokens"] * 1024
        assert [source["path"] for source in pin["sources"]] == ["/home/me/rubric.md"] and pin["auto_refresh"]
        assert (await service.get("/pins"))["pins"] == [pin]
        assert (await service.get("/pins/rubric/content"))["text"] == RUBRIC

        changed = await service.ask("PATCH", "/pins/rubric", name="grading", auto_refresh=False, stale="it changed")
        assert (changed["name"], changed["state"], changed["reason"]) == ("grading", "stale", "it changed")
        assert (await service.ask("PATCH", "/pins/grading", stale=""))["state"] == "warm"
        after = len(service.events.seen)
        await service.ask("POST", "/pins/grading/refresh", text="Another rubric.")
        await service.events.wait("pin.state", after=after, name="grading", state="warm")
        assert (await service.get("/pins/grading/content"))["text"] == "Another rubric."

        gone = await service.ask("DELETE", "/pins/grading")
        assert gone["name"] == "grading" and gone["tokens"] > 0
        await service.events.wait("pin.state", name="grading", state=None)
        assert (await service.get("/pins"))["pins"] == []


async def test_what_a_pin_costs_is_said_once_it_was_measured_at_its_depth(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        assert (await service.pin("rubric", text=RUBRIC))["prefill_seconds"] is None
        service.engine.cost.measured(0, 512, 5.12)
        service.engine.cost.measured(4096, 512, 512.0)
        pin = await service.get("/pins/rubric")
        assert pin["prefill_seconds"] == pytest.approx(pin["tokens"] * 0.01)
        gone = await service.ask("DELETE", "/pins/rubric")
        assert gone["prefill_seconds"] == pin["prefill_seconds"]


async def test_what_prefill_costs_is_known_after_a_restart(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        service.engine.cost.measured(0, 512, 5.12)
    async with managed(tmp_path) as service:
        pin = await service.get("/pins/rubric")
        assert pin["prefill_seconds"] == pytest.approx(pin["tokens"] * 0.01)


async def test_what_prefill_costs_is_written_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_costs, "EVERY_SECONDS", 0.0)
    async with managed(tmp_path) as service:
        service.engine.cost.measured(0, 512, 5.12)
        await service.chat("Hello")
        await service.events.wait("request.finished")
        end = time.monotonic() + LIMIT_SECONDS
        while not learned_rows(tmp_path):
            assert time.monotonic() < end
            await asyncio.sleep(0.01)
        assert learned_rows(tmp_path) == [(service.engine.model.fingerprint, "", 0, 0.01)]


def learned_rows(home: Path) -> list[tuple[object, ...]]:
    """What a killed service would leave."""
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as connection:
        return connection.execute(
            "SELECT fingerprint, runtime, bucket, seconds_per_token FROM prefill_costs"
        ).fetchall()


async def test_pins_come_back_after_a_restart(tmp_path: Path) -> None:
    files: set[tuple[int, ...]] = set()
    async with managed(tmp_path, FakeEngine(Reply([5]), files=files)) as service:
        await service.pin("rubric", text=RUBRIC)
        await service.pin("other", text="Another one.")
        await service.ask("PATCH", "/pins/other", position=0)
    async with managed(tmp_path, FakeEngine(Reply([5]), files=files)) as service:
        await service.events.wait("pin.state", name="rubric", state="cold")
        pins = (await service.get("/pins"))["pins"]
        assert [(pin["name"], pin["state"]) for pin in pins] == [("other", "warm"), ("rubric", "warm")]
        assert not service.engine.requests


async def test_a_pin_of_another_model_is_rebuilt(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
    other = FakeEngine(Reply([5]), name="other-model", fingerprint="e" * 64)
    async with managed(tmp_path, other) as service:
        pin = await service.events.wait("pin.state", name="rubric", state="stale")
        assert "made for fake-model" in pin["reason"]
        assert (await service.get("/pins/rubric"))["use_as"] is None
        after = len(service.events.seen)
        await service.ask("POST", "/pins/rubric/rebuild")
        await service.events.wait("pin.state", after=after, name="rubric", state="warm")
        assert (await service.get("/pins/rubric"))["use_as"] == "other-model@rubric"


async def test_what_cannot_be_pinned_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        assert await service.error("POST", "/pins", 409, name="rubric", text="x") == (
            "pin_exists",
            "There is a pin rubric already. Choose another name, refresh it, or unpin it first.",
        )
        code, message = await service.error("POST", "/pins", 400, name="long", text="word " * 600)
        assert code == "context_length_exceeded" and "512 tokens" in message
        service.engine.prefixes.memory_budget = 2048
        code, message = await service.error("POST", "/pins", 507, name="big", text="word " * 60)
        assert code == "budget_exceeded" and "memory_budget_mib" in message
        code, message = await service.error("GET", "/pins/nothing", 404)
        assert (code, message) == ("pin_not_found", "There is no pin 'nothing'. The pins are: rubric.")
        service.engine.prefixes.memory_budget = 1 << 30
        for name in ("a@b", "a/b", " ", "ü", ".."):
            assert (await service.error("POST", "/pins", 400, name=name, text="x"))[0] == "invalid_pin_name"
        for body in ({}, {"text": "a", "raw_text": "b"}, {"text": "a", "entry_id": "b"}, {"text": ""}):
            assert (await service.error("POST", "/pins", 400, name="two", **body))[0] == "invalid_value"
        assert (await service.error("POST", "/pins", 404, name="x", request_id="req_0"))[0] == "request_not_found"
        assert (await service.error("POST", "/pins", 404, name="x", entry_id="entry-0"))[0] == "entry_not_found"


async def test_verify(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        report = await service.ask("POST", "/pins/rubric/verify", tokens=3)
        assert (report["greedy_equal"], report["largest_difference"], report["tokens_compared"]) == (True, 0.0, 3)
        assert (await service.get("/pins/rubric"))["verified"]["greedy_equal"] is True
        assert (await service.ask("POST", "/pins/rubric/verify"))["tokens_compared"] == 3


async def test_a_verification_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        gate = Gate()
        service.engine.script = Reply([5, 6, 7], at=((1, gate),))
        exchange = Exchange(service.app, "POST", f"{V1}/pins/rubric/verify", None, LOWER)
        task = asyncio.create_task(exchange.run())
        await asyncio.to_thread(gate.reached.wait, LIMIT_SECONDS)
        exchange.leave()
        await task
        assert exchange.received()[0] == 499
        service.engine.script, before = Reply([5]), len(service.engine.requests)
        assert (await service.get("/pins/rubric"))["verified"] is None
        async with asyncio.timeout(LIMIT_SECONDS):  # the engine is free for the next one
            assert (await service.ask("POST", "/pins/rubric/verify"))["greedy_equal"]
        uses = [request.use_cache for request in service.engine.requests[before - 1 :]]
        assert uses == [True, True, False], "the cold run was never begun"


# -- virtual models ----------------------------------------------------------------------------------------------------


async def test_a_virtual_model_is_the_text_inline(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        pin = await service.pin("rubric", text=RUBRIC)
        pinned = prompt_of(service)
        for own in ([], [{"role": "system", "content": "Be brief."}]):
            messages = [*own, {"role": "user", "content": "The answer is 4."}]
            await service.chat(model="fake-model@rubric", messages=messages)
            virtual = prompt_of(service)
            await service.chat(messages=[{"role": "system", "content": RUBRIC}, *messages])
            assert prompt_of(service) == virtual
            shared = pinned if not own else TOKENIZER.encode(f"<|im_start|>system\n{RUBRIC}")[:-1]
            assert virtual[: len(shared)] == shared
        models = (await service.get("/v1/models"))["data"]
        assert [model["id"] for model in models] == ["fake-model", "fake-model@rubric"]
        meta = models[1]["meta"]
        assert (meta["pin"], meta["tokens"], meta["state"]) == ("rubric", pin["tokens"], "warm")
        assert await service.get("/v1/models/fake-model@rubric") == models[1]


async def test_a_change_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        for name in ("one", "two"):
            await service.pin(name, text=f"The rubric {name}.")
        before = await service.get("/pins")
        for name, status in (("one", 409), ("no name!", 400)):
            change = {"name": name, "position": 0, "auto_refresh": True, "stale": "it changed"}
            await service.error("PATCH", "/pins/two", status, **change)
            assert await service.get("/pins") == before


async def test_tools_of_pin_and_request_are_joined(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        messages = [{"role": "system", "content": RUBRIC}]
        await service.pin("agent", messages=messages, tools=[tool("read"), tool("write")])
        own = [tool("write", "Another description."), tool("search")]
        await service.chat("x", model="fake-model@agent", tools=own)
        detail = (await service.get("/requests?limit=1"))["requests"][0]
        await service.events.wait("request.finished", id=detail["id"])
        found = service.application.recorder.recent.get(detail["id"])
        assert found is not None and found.chat is not None
        assert list(found.chat.tools) == [tool("read"), tool("write"), tool("search")]


async def test_a_longer_pin_keeps_its_place_before_a_system_message(tmp_path: Path) -> None:
    pinned = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "D"},
        {"role": "assistant", "content": "R"},
    ]
    async with managed(tmp_path) as service:
        await service.pin("talk", messages=pinned)
        prefix = prompt_of(service)
        await service.chat(
            model="m@talk", messages=[{"role": "system", "content": "Brief."}, {"role": "user", "content": "x"}]
        )
        shared = TOKENIZER.decode(prefix)
        assert shared.endswith("<|im_start|>user\n")
        common = TOKENIZER.encode(shared.removesuffix("user\n"))
        assert prompt_of(service)[: len(common)] == common


async def test_completions_continue_a_pin(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("story", raw_text="Once upon a time")
        await service.ask("POST", "/v1/completions", model="fake-model@story", prompt=" there was a fox.")
        assert prompt_of(service) == TOKENIZER.encode_prompt("Once upon a time there was a fox.")
        ids = TOKENIZER.encode(" there was")
        await service.ask("POST", "/v1/completions", model="fake-model@story", prompt=ids)
        assert prompt_of(service) == [*TOKENIZER.encode_prompt("Once upon a time"), *ids]
        response = await service.chat(model="fake-model@story")
        assert response.status_code == 400 and "continues" in response.json()["error"]["message"]


async def test_an_unknown_pin_is_a_404_that_names_those_there_are(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        answers = [
            await service.chat(model="fake-model@rubrik"),
            await service.http.post("/v1/completions", json={"model": "fake-model@rubrik", "prompt": "x"}),
            await service.http.get("/v1/models/fake-model@rubrik"),
        ]
        for answer in answers:
            assert answer.status_code == 404
            error = answer.json()["error"]
            assert error["code"] == "model_not_found" and "The pins are: rubric." in error["message"]


# -- requests ----------------------------------------------------------------------------------------------------------


async def test_every_request_is_recorded(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        before = time.time()
        answer = await service.chat("How?", model="m@rubric", agent="claude-cli/1.0.1 (external, cli)")
        request_id = answer.headers["x-request-id"]
        event = await service.events.wait("request.finished", id=request_id)
        usage = answer.json()["usage"]
        assert (event["route"], event["client"], event["model"]) == ("/v1/chat/completions", "claude-cli", "fake-model")
        assert event["pin"] == "rubric" and before <= event["at"] <= time.time()
        assert event["prompt_tokens"] == usage["prompt_tokens"] == event["cached_tokens"] + event["processed_tokens"]
        assert (event["cached_tokens"], event["generated_tokens"], event["finish_reason"]) == (3, 3, "stop")
        assert (event["prefill_seconds"], event["decode_seconds"], event["ttft_seconds"]) == (0.5, 0.25, 0.5)
        assert event["finding"]["explanation"]
        names = [name for name, data in service.events.seen if data.get("id") == request_id]
        assert names[0] == "request.started" and "request.progress" in names and names[-1] == "request.finished"
        (listed,) = [each for each in (await service.get("/requests"))["requests"] if each["id"] == request_id]
        assert {**listed, "finding": None} == {**event, "finding": None}
        detail = await service.get(f"/requests/{request_id}")
        assert detail["text"].endswith("How?<|im_end|>\n<|im_start|>assistant\n")
        assert [segment["label"] for segment in detail["segments"]] == [
            "system",
            "message 2 (user)",
            "generation prompt",
        ]
        assert sum(segment["tokens"] for segment in detail["segments"]) == detail["prompt_tokens"]
        pin = await service.get("/pins/rubric")
        assert pin["hits"] == 1 and pin["last_used"] == pytest.approx(event["at"])


@pytest.mark.parametrize(
    ("stream", "error", "end"),
    [(False, None, b'"finish_reason":"stop"'), (True, None, b'"finish_reason":"stop"'), (True, "broken", b"broken")],
)
async def test_whoever_has_an_answer_finds_its_request(
    tmp_path: Path, stream: bool, error: str | None, end: bytes
) -> None:
    """The answer is held where it ends, and so is the thread that writes records down."""
    async with managed(tmp_path) as service:
        service.engine.script = Reply([5, 6], cached=3, error=EngineError(error) if error else None)
        held = threading.Event()
        service.application.recorder._worker.submit(held.wait, LIMIT_SECONDS)
        body = {"messages": [{"role": "user", "content": "x"}], "stream": stream}
        exchange = Exchange(service.app, "POST", "/v1/chat/completions", body, LOWER)
        exchange.messages = asyncio.Queue(maxsize=1)
        answering = asyncio.create_task(exchange.run())
        while end not in (await asyncio.wait_for(exchange.messages.get(), 20)).get("body", b""):
            pass
        looking = [asyncio.create_task(service.get(path)) for path in ("/requests", "/savings")]
        done, _ = await asyncio.wait(looking, timeout=0.1)
        assert not done
        held.set()
        requests, savings = await asyncio.gather(*looking)
        assert [each["error"] for each in requests["requests"]] == ["engine_error" if error else None]
        assert savings["total"]["requests"] == 1
        exchange.leave()
        while not answering.done():
            await asyncio.sleep(0)
            if not exchange.messages.empty():
                exchange.messages.get_nowait()
        await answering


async def test_a_record_that_waits_for_the_engine_holds_up_no_look_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "SETTLING_SECONDS", 0.0)
    async with managed(tmp_path) as service:
        held = threading.Event()
        service.application.recorder._worker.submit(held.wait, LIMIT_SECONDS)
        await service.chat("x")
        assert (await service.get("/requests"))["requests"] == []
        held.set()


async def test_who_hears_that_a_request_has_ended_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with managed(tmp_path) as service:
        kept, recorder = service.application.kept, service.application.recorder
        assert kept is not None
        found = []

        def publish(name: str, event: Any) -> None:
            if name == "request.finished":
                found.append([each.id for each in kept.requests(10, None).requests] == [event.id])

        monkeypatch.setattr(recorder, "_publish", publish)
        await service.chat("x")
        await recorder.settled()
        assert found == [True]


async def test_a_request_that_goes_on_from_a_pin_is_no_puzzle(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        pin = await service.pin("rubric", text=RUBRIC)
        service.engine.script = lambda request: Reply([5], cached=pin["tokens"])(request)
        answer = await service.chat("x", model="m@rubric")
        event = await service.events.wait("request.finished", id=answer.headers["x-request-id"])
        assert (event["finding"]["kind"], event["finding"]["position_tokens"]) == ("continues", pin["tokens"])


async def test_a_finding_shows_both_texts(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        known = service.engine.prefixes.known
        service.engine.script = lambda request: Reply([5], cached=known(request.prompt))(request)
        for clock in ("10:40", "10:41"):
            system = {
                "role": "system",
                "content": f"You help. The current time is {clock}. Be kind. " + "More words. " * 20,
            }
            answer = await service.chat(messages=[system, {"role": "user", "content": "Hi"}])
            await service.events.wait("request.finished", id=answer.headers["x-request-id"])
        detail = await service.get(f"/requests/{answer.headers['x-request-id']}")
        finding = detail["finding"]
        assert (finding["kind"], finding["segment"]) == ("clock", "system")
        assert "10:40" in finding["before"] and "10:41" in finding["after"] and finding["suggestion"]
        assert "10:40" in detail["compared_text"] and "10:41" in detail["text"]


async def test_pages_of_requests(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        ids = []
        for number in range(5):
            answer = await service.chat(f"question {number}")
            ids.append(answer.headers["x-request-id"])
            await service.events.wait("request.finished", id=ids[-1])
        first = await service.get("/requests?limit=3")
        second = await service.get(f"/requests?limit=3&before={first['before']}")
        listed = [request["id"] for page in (first, second) for request in page["requests"]]
        assert listed == ids[::-1] and second["before"] is None


async def test_requests_that_fail_or_are_left_are_recorded_as_that(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        service.engine.script = Reply([5, 6], error=EngineError("broken"))
        answer = await service.chat("x")
        assert answer.status_code == 500
        event = await service.events.wait("request.finished", id=answer.headers["x-request-id"])
        assert (event["error"], event["finish_reason"]) == ("engine_error", None)
        gate = Gate()
        service.engine.script = Reply([5, 6, 7], cached=3, at=((1, gate),))
        after = len(service.events.seen)
        body = {"messages": [{"role": "user", "content": "x"}], "stream": True}
        exchange = Exchange(service.app, "POST", "/v1/chat/completions", body, LOWER)
        task = asyncio.create_task(exchange.run())
        await asyncio.to_thread(gate.reached.wait, 20)
        exchange.leave()
        await task
        event = await service.events.wait("request.finished", after=after)
        assert (event["error"], event["finish_reason"], event["cached_tokens"]) == (None, "cancelled", 3)


async def test_no_text_reaches_the_disk_without_history(tmp_path: Path) -> None:
    marker = "xylophone-zanzibar"
    for history in (False, True):
        home = tmp_path / str(history)
        async with managed(home, history=history) as service:
            for _ in range(2):
                answer = await service.chat(f"{marker} {'and more words ' * 10}")
                await service.events.wait("request.finished", id=answer.headers["x-request-id"])
            await service.get("/requests")
        data = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
        assert data and (marker.encode() in data) is history


async def test_savings(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        for model in ("m@rubric", "m"):
            answer = await service.chat("x", model=model)
            await service.events.wait("request.finished", id=answer.headers["x-request-id"])
        savings = await service.get("/savings?days=7")
        assert (savings["days"], savings["total"]["requests"], savings["total"]["cached_tokens"]) == (7, 2, 6)
        assert {part["pin"]: part["requests"] for part in savings["by_pin"]} == {"rubric": 1, None: 1}
        assert sum(part["requests"] for part in savings["by_day"]) == 2
        await service.error("GET", "/savings?days=0", 400)


# -- pinning what was asked --------------------------------------------------------------------------------------------


async def test_a_request_is_pinned_up_to_a_segment(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": RUBRIC},
        {"role": "user", "content": "A long document."},
        {"role": "assistant", "content": "I have read it."},
        {"role": "user", "content": "Grade it."},
    ]
    async with managed(tmp_path) as service:
        answer = await service.chat(messages=messages, tools=[tool("read")])
        request_id = answer.headers["x-request-id"]
        whole = prompt_of(service)
        await service.events.wait("request.finished", id=request_id)
        system = await service.pin("system", request_id=request_id, up_to="system")
        content = await service.get("/pins/system/content")
        assert content["messages"] == messages[:1] and content["tools"] == [tool("read")]
        assert system["kind"] == "messages"
        await service.pin("document", request_id=request_id, up_to="message 3 (assistant)")
        assert (await service.get("/pins/document/content"))["messages"] == messages[:3]
        pinned = prompt_of(service)
        assert whole[: len(pinned)] == pinned
        await service.pin("all", request_id=request_id)
        assert (await service.get("/pins/all/content"))["messages"] == messages
        code, message = await service.error("POST", "/pins", 400, name="x", request_id=request_id, up_to="message 9")
        assert code == "invalid_value" and "There are: system, tools, message 2 (user)" in message


async def test_an_entry_is_pinned(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        messages = [{"role": "system", "content": RUBRIC}, {"role": "user", "content": "x"}]
        answer = await service.chat(messages=messages)
        await service.events.wait("request.finished", id=answer.headers["x-request-id"])
        entry_id = fake_entry_id(prompt_of(service))
        await service.pin("entry", entry_id=entry_id)
        assert (await service.get("/pins/entry/content"))["messages"] == messages
        alone = TOKENIZER.encode("a text nobody remembers")
        service.engine.prefixes.cached.add(tuple(alone))
        await service.pin("raw", entry_id=fake_entry_id(alone))
        assert prompt_of(service) == alone
        assert (await service.get("/pins/raw/content"))["text"] == "a text nobody remembers"


# -- entries -----------------------------------------------------------------------------------------------------------


async def test_entries_are_listed_and_evicted(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        answer = await service.chat("hello", agent="goose/2.0")
        await service.events.wait("request.finished", id=answer.headers["x-request-id"])
        entries = (await service.get("/entries"))["entries"]
        by_pin = {entry["pin"]: entry for entry in entries}
        assert by_pin["rubric"]["pinned"] and "Grade the answer" in by_pin["rubric"]["begins"]
        free = by_pin[None]
        assert (free["client"], free["pinned"], free["begins"]) == ("goose", False, "user hello assistant")
        code, message = await service.error("DELETE", f"/entries/{by_pin['rubric']['id']}", 409)
        assert code == "entry_protected" and "unpin" in message
        assert await service.ask("DELETE", f"/entries/{free['id']}") == {"entries": 1}
        await service.events.wait("entry.evicted", id=free["id"], entries=1)
        assert (await service.error("DELETE", f"/entries/{free['id']}", 404))[0] == "entry_not_found"
        await service.chat("hello again")
        assert await service.ask("POST", "/entries/evict-unpinned") == {"entries": 1}
        assert [entry["pin"] for entry in (await service.get("/entries"))["entries"]] == ["rubric"]


# -- settings and status -----------------------------------------------------------------------------------------------


async def test_settings_change_now_and_for_good(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('# my notes\nmodel = "mine"\nmemory_budget_mib = 100 # enough\n')
    async with managed(tmp_path) as service:
        shown = await service.get("/settings")
        assert KEY not in str(shown) and "api_key" not in shown["values"]
        assert set(shown["changeable"]) | set(shown["needs_restart"]) == set(shown["values"])
        changed = await service.ask("PATCH", "/settings", memory_budget_mib=64, disk_budget_mib=32, history=True)
        assert (changed["values"]["memory_budget_mib"], changed["values"]["history"]) == (64, True)
        assert (service.engine.prefixes.memory_budget, service.engine.prefixes.disk_budget) == (64 << 20, 32 << 20)
        assert file.read_text() == (
            '# my notes\nmodel = "mine"\nmemory_budget_mib = 64 # enough\ndisk_budget_mib = 32\nhistory = true\n'
        )
        code, message = await service.error("PATCH", "/settings", 400, port=1)
        assert code == "invalid_value" and message.startswith("port needs a restart")
        assert (await service.error("PATCH", "/settings", 400, api_key="x"))[1].startswith("api_key needs a restart")
        assert (await service.error("PATCH", "/settings", 400, nonsense=1))[1] == "nonsense is no setting."
        await service.error("PATCH", "/settings", 400, memory_budget_mib=-1)
        file.write_text("= broken")
        assert (await service.error("PATCH", "/settings", 409, history=False))[0] == "settings_not_written"
        assert (await service.get("/settings"))["values"]["history"] is True


async def test_sessions_are_kept_only_while_that_is_on(tmp_path: Path) -> None:
    files: set[tuple[int, ...]] = set()
    question = "tell me " * 40
    async with managed(tmp_path, FakeEngine(Reply([5]), files=files), keep_sessions=False) as service:
        await service.chat(question)
    assert not files
    async with managed(tmp_path, FakeEngine(Reply([5]), files=files), keep_sessions=True) as service:
        await service.chat(question)
        prompt = prompt_of(service)
    assert files == {tuple(prompt)}
    async with managed(tmp_path, FakeEngine(Reply([5]), files=files), keep_sessions=True) as service:
        await service.ask("PATCH", "/settings", keep_sessions=False)
    assert not files


async def test_status(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("rubric", text=RUBRIC)
        status = await service.get("/status")
        assert (status["model"]["name"], status["model_state"], status["api_version"]) == ("fake-model", "loaded", 1)
        assert status["pins"] == {"warm": 1} and status["problems"] == []
        assert status["memory"]["budget_bytes"] == status["memory"]["free_bytes"] == 1 << 30
        assert status["disk"]["used_bytes"] > 0
        service.engine.prefixes.set_aside.append("abc cannot be used.")
        problems = (await service.get("/status"))["problems"]
        assert problems == [{"kind": "file_set_aside", "message": "abc cannot be used.", "missing_model": None}]


# -- the API as a whole ------------------------------------------------------------------------------------------------


async def test_everything_needs_the_key(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        paths = (await service.http.get("/openapi.json")).json()["paths"]
        routes = [(method, path) for path, methods in paths.items() if path.startswith(V1) for method in methods]
        assert len(routes) > 20
        for method, path in routes:
            answer = await service.http.request(method, path, headers={"Authorization": "Bearer wrong"})
            assert answer.status_code == 401, (method, path)


async def test_the_description_is_complete(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        document = (await service.http.get("/openapi.json")).json()
        operations = [
            (path, method, operation)
            for path, methods in document["paths"].items()
            if path.startswith(V1)
            for method, operation in methods.items()
        ]
        for path, method, operation in operations:
            success = (
                operation["responses"].get("200") or operation["responses"].get("201") or operation["responses"]["202"]
            )
            if path != f"{V1}/events":
                assert "$ref" in success["content"]["application/json"]["schema"], (path, method)
            assert operation["description"] and "422" not in operation["responses"]
        listed = {
            line.split("|")[1].split("?")[0].strip()
            for line in (manage.__doc__ or "").splitlines()
            if line.startswith("| ")
        }
        served = {f"{method.upper()} {path.removeprefix(V1 + '/')}" for path, method, _ in operations}
        normal = {name.replace("{entry_id}", "{id}").replace("{request_id}", "{id}") for name in served}
        assert normal == listed - {"route"}


async def test_events_over_http(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        exchange = Exchange(service.app, "GET", f"{V1}/events", headers=LOWER)
        task = asyncio.create_task(exchange.run())
        start = await asyncio.wait_for(exchange.messages.get(), 20)
        assert (b"content-type", b"text/event-stream; charset=utf-8") in start["headers"]
        first = await asyncio.wait_for(exchange.messages.get(), 20)
        assert first["body"] == b"retry: 1000\n\n"
        await service.ask("POST", "/pins", 201, name="rubric", text=RUBRIC)
        body = (await asyncio.wait_for(exchange.messages.get(), 20))["body"].decode()
        assert "event: pin.state\n" in body and '"name":"rubric"' in body
        exchange.leave()
        await task


async def test_a_service_for_one_command_keeps_nothing() -> None:
    engine = FakeEngine(Reply([5]))
    async with client_for(app_with(engine)) as http:
        assert (await http.get(f"{V1}/status")).json()["pins"] == {}
        answer = await http.post(f"{V1}/pins", json={"name": "a", "text": "b"})
        assert answer.status_code == 409 and answer.json()["error"]["code"] == "nothing_kept"
        assert (await http.post(f"{V1}/models/x/load")).json()["error"]["code"] == "model_fixed"
        missing = await http.post("/v1/completions", json={"model": "m@pin", "prompt": "x"})
        assert missing.status_code == 404
        assert (await http.get(f"{V1}/savings")).json()["total"]["requests"] == 0
    engine.close()


async def test_only_what_was_evicted_is_said_to_be_evicted(tmp_path: Path) -> None:
    question = "Tell me about the river, " * 8

    said: list[str] = []

    async def kind(service: Managed, **body: Any) -> str:
        answer = await service.chat(question, **body)
        finished = await service.events.wait("request.finished", id=answer.headers["x-request-id"])
        said.append(finished["finding"]["explanation"])
        return str(finished["finding"]["kind"])

    async with managed(tmp_path) as service:
        prefixes = service.engine.prefixes
        assert await kind(service) == "not_remembered"
        assert await kind(service, cache_salt="mine") == "namespace"
        prefixes.forget([(7, 8, 9)])
        assert await kind(service) == "not_kept", "something else was evicted"
        event = await service.events.wait("entry.evicted", entries=1)
        assert event["id"] == fake_entry_id((7, 8, 9))
        prefixes.forget([tuple(prompt_of(service))], salt="mine")
        assert await kind(service) == "not_kept", "it was evicted for another salt"
        assert await kind(service, cache_salt="mine") == "evicted"
        assert "were in the cache until they were evicted at" in said[-1]
        prefixes.forget([tuple(prompt_of(service)), (7, 8, 9)])
        assert await kind(service) == "evicted"
        await service.events.wait("entry.evicted", id=None, entries=2)
