"""Models over the management API: another one takes over while requests run, and nobody loses an answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinfill_service.api import model_host
from pinfill_service.application import close, create_app
from pinfill_service.loaded_model import ModelProblem
from pinfill_service.models.download import DownloadError
from pinfill_service.models.library import ModelLibrary
from tests.support.client import assert_error, client_for, settings
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply
from tests.support.managed import V1, FakeLoader, managed
from tests.support.tiny_gguf import TinyLlama


@pytest.fixture
def other() -> Iterator[FakeEngine]:
    engine = FakeEngine(Reply([8, 9], cached=0), name="other-model", fingerprint="e" * 64)
    yield engine
    engine.close()


async def reached(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.reached.wait, LIMIT_SECONDS)


async def test_another_model_takes_over_when_running_requests_have_ended(tmp_path: Path, other: FakeEngine) -> None:
    gate = Gate()
    engine = FakeEngine(Reply([5, 6, 7], cached=3, at=((1, gate),)))
    async with managed(tmp_path, engine, FakeLoader(other)) as service:
        running = asyncio.create_task(service.chat("a"))
        await reached(gate)
        loading = asyncio.create_task(service.ask("POST", "/models/other-model/load"))
        await service.events.wait("model.state", name="fake-model", state="draining")
        waiting = asyncio.create_task(service.chat("b"))
        await asyncio.wait({waiting}, timeout=0.05)
        assert not waiting.done() and not loading.done() and not engine.closed
        gate.open()
        first, second = (await running).json(), (await waiting).json()
        assert (first["model"], first["usage"]["completion_tokens"]) == ("fake-model", 3)
        assert (second["model"], second["usage"]["completion_tokens"]) == ("other-model", 2)
        assert await loading == {"name": "other-model", "state": "loaded"}
        assert engine.closed and not other.closed
        assert (await service.get("/status"))["model"]["name"] == "other-model"
        assert [model["id"] for model in (await service.get("/v1/models"))["data"]] == ["other-model"]
    assert other.closed


async def test_a_service_without_a_model_says_why_until_one_is_loaded(tmp_path: Path, other: FakeEngine) -> None:
    problem = ModelProblem("It is not here.", "not-there")
    app = create_app(settings(), None, None, home=tmp_path, loader=FakeLoader(other), problem=problem)
    chat = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}
    try:
        async with client_for(app) as http:
            status = (await http.get(f"{V1}/status")).json()
            assert (status["model"], status["model_state"]) == (None, "unloaded")
            assert status["problems"] == [{"kind": "model", "message": "It is not here.", "missing_model": "not-there"}]
            assert (await http.get(f"{V1}/pins")).json() == {"pins": []}
            assert_error(await http.post("/v1/chat/completions", json=chat), 503, code="no_model")
            assert (await http.post(f"{V1}/models/other-model/load")).status_code == 200
            assert (await http.post("/v1/chat/completions", json=chat)).json()["model"] == "other-model"
            assert (await http.get(f"{V1}/status")).json()["problems"] == []
    finally:
        await asyncio.to_thread(close, app.state.application)
    assert other.closed


async def test_a_streamed_answer_is_drained_too(tmp_path: Path, other: FakeEngine) -> None:
    gate = Gate()
    engine = FakeEngine(Reply([5, 6, 7], cached=3, at=((2, gate),)))
    async with managed(tmp_path, engine, FakeLoader(other)) as service:
        running = asyncio.create_task(service.chat("a", stream=True))
        await reached(gate)
        loading = asyncio.create_task(service.ask("POST", "/models/other-model/load"))
        await service.events.wait("model.state", name="fake-model", state="draining")
        gate.open()
        assert (await running).text.endswith("data: [DONE]\n\n")
        await loading
        assert not engine.cancelled


async def test_many_requests_while_models_change(tmp_path: Path) -> None:
    """Every one is answered by one of the models, whole."""
    engines = [FakeEngine(Reply([5, 6]), name=f"model-{n}", fingerprint=str(n) * 64) for n in range(3)]
    loader = FakeLoader(*engines)
    async with managed(tmp_path, FakeEngine(Reply([5, 6])), loader) as service:
        answers = [asyncio.create_task(service.chat(f"question {n}")) for n in range(10)]
        for n in range(3):
            loading = asyncio.create_task(service.ask("POST", f"/models/model-{n}/load"))
            answers += [asyncio.create_task(service.chat(f"question {n}")) for n in range(10)]
            await loading
        found = [(await answer).json() for answer in answers]
        assert {answer["usage"]["completion_tokens"] for answer in found} == {2}
        assert {answer["model"] for answer in found} <= {"fake-model", "model-0", "model-1", "model-2"}
        assert [engine.closed for engine in engines] == [True, True, False]


async def test_a_model_that_cannot_be_loaded_leaves_the_old_one(tmp_path: Path, other: FakeEngine) -> None:
    loader = FakeLoader(other)
    loader.error = MemoryError("not enough memory for its slots")
    async with managed(tmp_path, loader=loader) as service:
        code, message = await service.error("POST", "/models/other-model/load", 409)
        assert (
            code == "model_not_loaded" and message == "other-model could not be loaded: not enough memory for its slots"
        )
        await service.events.wait("model.state", name="other-model", state="failed", code=code)
        assert (await service.chat("x")).json()["model"] == "fake-model"
        status = await service.get("/status")
        assert status["model_state"] == "loaded"
        assert [(problem["kind"], problem["missing_model"]) for problem in status["problems"]] == [("model", None)]
        assert (await service.error("POST", "/models/nothing/load", 404))[0] == "model_not_found"
        assert (await service.get("/status"))["problems"][0]["missing_model"] == "nothing"
        loader.error = None
        await service.ask("POST", "/models/other-model/load")
        assert (await service.get("/status"))["problems"] == []


async def test_the_loaded_model_is_not_loaded_twice(tmp_path: Path) -> None:
    engine = FakeEngine(Reply([5]))
    async with managed(tmp_path, engine, FakeLoader(engine)) as service:
        assert await service.ask("POST", "/models/fake-model/load") == {"name": "fake-model", "state": "loaded"}
        assert not engine.closed and not [event for event in service.events.seen if event[0] == "model.state"]


async def test_one_change_at_a_time(tmp_path: Path, other: FakeEngine) -> None:
    gate = Gate()
    engine = FakeEngine(Reply([5, 6], at=((0, gate),)))
    async with managed(tmp_path, engine, FakeLoader(other)) as service:
        running = asyncio.create_task(service.chat("a"))
        await reached(gate)
        loading = asyncio.create_task(service.ask("POST", "/models/other-model/load"))
        await service.events.wait("model.state", state="draining")
        assert (await service.error("POST", "/models/other-model/load", 409))[0] == "model_busy"
        assert (await service.error("POST", "/models/unload", 409))[0] == "model_busy"
        gate.open()
        await asyncio.gather(running, loading)


async def test_requests_that_do_not_end_keep_their_model(
    tmp_path: Path, other: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_host, "DRAIN_SECONDS", 0.05)
    monkeypatch.setattr(model_host, "WAIT_SECONDS", 0.01)
    gate = Gate()
    engine = FakeEngine(Reply([5, 6], at=((0, gate),)))
    async with managed(tmp_path, engine, FakeLoader(other)) as service:
        running = asyncio.create_task(service.chat("a"))
        await reached(gate)
        loading = asyncio.create_task(service.ask("POST", "/models/other-model/load", 503))
        await service.events.wait("model.state", state="draining")
        impatient = await service.chat("b")
        assert impatient.status_code == 503 and impatient.headers["retry-after"] == "5"
        assert "still running" in (await loading)["error"]["message"]
        assert other.closed
        gate.open()
        assert (await running).json()["model"] == "fake-model"
        assert (await service.chat("c")).json()["model"] == "fake-model"


async def test_unloading(tmp_path: Path, other: FakeEngine) -> None:
    engine = FakeEngine(Reply([5]))
    async with managed(tmp_path, engine, FakeLoader(other)) as service:
        await service.pin("rubric", text="A rubric.")
        assert await service.ask("POST", "/models/unload") == {"name": None, "state": "unloaded"}
        assert engine.closed
        answer = await service.chat("x")
        assert answer.status_code == 503 and answer.json()["error"]["code"] == "no_model"
        status = await service.get("/status")
        assert (status["model"], status["memory"], status["model_state"]) == (None, None, "unloaded")
        assert [pin["state"] for pin in (await service.get("/pins"))["pins"]] == ["cold"]
        await service.error("POST", "/pins", 503, name="x", text="y")
        await service.ask("POST", "/models/other-model/load")
        assert (await service.chat("x")).json()["model"] == "other-model"
        await service.events.wait("pin.state", name="rubric", state="stale")


async def test_models_are_listed_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "mine"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"x" * 10)
    async with managed(tmp_path) as service:
        models = {model["name"]: model for model in (await service.get("/models"))["models"]}
        assert models["smollm2-135m"]["in_catalogue"] and not models["smollm2-135m"]["installed"]
        assert (models["mine"]["installed"], models["mine"]["in_catalogue"], models["mine"]["bytes"]) == (
            True,
            False,
            10,
        )
        assert await service.ask("DELETE", "/models/mine") == {"name": "mine", "state": "removed"}
        assert not folder.exists()
        assert (await service.error("DELETE", "/models/mine", 404))[0] == "model_not_found"
        assert (await service.error("DELETE", "/models/fake-model", 409))[0] == "model_loaded"


async def test_pulling_tells_how_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome: list[Exception | None] = [None, DownloadError("The index has no smollm2-135m."), ValueError("it broke")]

    def pull(self: ModelLibrary, name: str, progress: object = None) -> None:
        assert callable(progress)
        progress("download", 0, 100)
        progress("download", 100, 100)
        error = outcome.pop(0)
        if error is not None:
            raise error

    monkeypatch.setattr(ModelLibrary, "pull", pull)
    async with managed(tmp_path) as service:
        assert await service.ask("POST", "/models/smollm2-135m/pull", 202) == {
            "name": "smollm2-135m",
            "state": "pulling",
        }
        await service.events.wait("model.progress", name="smollm2-135m", stage="download", done=100, total=100)
        await service.events.wait("model.state", name="smollm2-135m", state="pulled")
        await service.ask("POST", "/models/smollm2-135m/pull", 202)
        failed = await service.events.wait("model.state", name="smollm2-135m", state="failed")
        assert (failed["message"], failed["code"]) == ("The index has no smollm2-135m.", "download_failed")
        await service.ask("POST", "/models/smollm2-135m/pull", 202)
        unforeseen = await service.events.wait("model.state", name="smollm2-135m", code="pull_failed")
        assert unforeseen["message"] == "smollm2-135m could not be fetched: it broke"
        assert (await service.error("POST", "/models/nothing/pull", 404))[0] == "model_not_found"


async def test_a_pull_is_stopped_when_it_next_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    ended: list[str] = []

    def pull(self: ModelLibrary, name: str, progress: object = None) -> None:
        assert callable(progress)
        try:
            progress("download", 0, 100)
            gate.wait(threading.Event())
            progress("download", 1, 100)
            ended.append("went on")
        finally:
            ended.append("cleaned up")

    monkeypatch.setattr(ModelLibrary, "pull", pull)
    async with managed(tmp_path) as service:
        assert (await service.error("DELETE", "/models/smollm2-135m/pull", 404))[0] == "model_not_found"
        await service.ask("POST", "/models/smollm2-135m/pull", 202)
        await reached(gate)
        await service.ask("DELETE", "/models/smollm2-135m/pull", 202)
        gate.open()
        await service.events.wait("model.state", name="smollm2-135m", state="pull_stopped")
        assert ended == ["cleaned up"]
        assert not any(model["pulling"] for model in (await service.get("/models"))["models"])
        after = len(service.events.seen)
        await service.ask("POST", "/models/smollm2-135m/pull", 202)  # the wish to stop is not remembered
        await service.events.wait("model.state", after=after, name="smollm2-135m", state="pulled")
        assert ended == ["cleaned up", "went on", "cleaned up"]


async def test_a_pull_ends_with_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()
    ended: list[str] = []

    def pull(self: ModelLibrary, name: str, progress: object = None) -> None:
        assert callable(progress)
        begun.set()
        try:
            while True:
                progress("download", 0, 100)
                begun.wait(0)
        finally:
            ended.append("cleaned up")

    monkeypatch.setattr(ModelLibrary, "pull", pull)
    async with managed(tmp_path) as service:
        await service.ask("POST", "/models/smollm2-135m/pull", 202)
        assert await asyncio.to_thread(begun.wait, 60)
    assert ended == ["cleaned up"]


async def test_what_a_context_costs_is_listed_for_models_that_are_here(tmp_path: Path) -> None:
    library = ModelLibrary(tmp_path)
    model = TinyLlama(context=512)
    library.import_model(model.write(tmp_path / "tiny.gguf"), "tiny")
    async with managed(tmp_path) as service:
        listed = {entry["name"]: entry for entry in (await service.get("/models"))["models"]}
        per_token = model.layers * 2 * model.kv_heads * model.head_size * 4  # K and V, in float32
        assert (listed["tiny"]["context_length"], listed["tiny"]["kv_bytes_per_token"]) == (512, per_token)
        assert listed["smollm2-135m"]["kv_bytes_per_token"] is None
        library.remove("tiny")
        library.import_model(TinyLlama(context=256).write(tmp_path / "other.gguf"), "tiny")
        listed = {entry["name"]: entry for entry in (await service.get("/models"))["models"]}
        assert listed["tiny"]["context_length"] == 256
