"""Batches: every line gets exactly one record, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.commands.batch_files import BadLine, BatchFileError, OutputFile, Task, neighbours, read_tasks
from pinfill_service.commands.batch_run import ATTEMPTS, BatchRunner
from pinfill_service.commands.client import ServiceError
from pinfill_service.commands.local_service import RunningService, running
from pinfill_service.engine.errors import EngineBusyError
from tests.support.client import KEY, settings
from tests.support.command_line import CommandLine, assert_told
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.models import llama_text

ANSWER = "yes"


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(Reply(llama_text().tokenizer.encode(ANSWER), cached=1))


@pytest.fixture
def service(engine: FakeEngine) -> Iterator[RunningService]:
    with running(settings(port=0), engine, llama_text()) as running_service:
        yield running_service


@pytest.fixture
def pinfill(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.delenv("PINFILL_API_KEY", raising=False)
    return CommandLine(capsys, monkeypatch)


def chat(custom_id: str, text: str = "hi", **body: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    body = {"model": "any", "messages": messages, "max_tokens": 4, **body}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def completion(custom_id: str, prompt: str) -> dict[str, Any]:
    body = {"prompt": prompt, "max_tokens": 4}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/completions", "body": body}


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines), encoding="utf-8")
    return path


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_both_routes_answer_in_the_output_format(pinfill: CommandLine, service: RunningService, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", chat("a", stream=True), completion("b", "Once upon"))
    target = tmp_path / "out.jsonl"
    outcome = pinfill("batch", source, target, "--url", service.url, "--key", KEY)
    assert outcome.code == 0, outcome
    found = {record["custom_id"]: record for record in records(target)}
    assert set(found) == {"a", "b"}
    for record in found.values():
        assert list(record) == ["id", "custom_id", "response", "error"]
        assert record["id"].startswith("batch_req_") and record["error"] is None
        assert record["response"]["status_code"] == 200 and record["response"]["request_id"].startswith("req_")
    assert found["a"]["response"]["body"]["choices"][0]["message"]["content"] == ANSWER
    assert found["b"]["response"]["body"]["choices"][0]["text"] == ANSWER
    assert "2 answered" in outcome.err


def test_bad_lines_are_records_with_their_number_and_not_the_end(
    pinfill: CommandLine, service: RunningService, tmp_path: Path
) -> None:
    wrong_url = chat("u") | {"url": "/v1/embeddings"}
    lines = [
        "{",
        chat("a"),
        "[]",
        chat("a", "again"),
        wrong_url,
        chat("m") | {"method": "GET"},
        chat("b") | {"body": 1},
        "",
    ]
    source, target = write(tmp_path / "in.jsonl", *lines), tmp_path / "out.jsonl"
    assert pinfill("batch", source, target, "--url", service.url, "--key", KEY).code == 0
    errors = {r["error"]["line"]: (r["custom_id"], r["error"]["code"]) for r in records(target) if r["error"]}
    assert errors == {
        1: (None, "invalid_json"),
        3: (None, "invalid_line"),
        4: ("a", "duplicate_custom_id"),
        5: ("u", "invalid_url"),
        6: ("m", "invalid_method"),
        7: ("b", "invalid_body"),
    }
    answered = [record["custom_id"] for record in records(target) if record["response"]]
    assert answered == ["a"]
    assert all(f"line {r['error']['line']}: " in r["error"]["message"] for r in records(target) if r["error"])


def test_what_the_service_refuses_is_a_response(
    pinfill: CommandLine, service: RunningService, engine: FakeEngine, tmp_path: Path
) -> None:
    source, target = write(tmp_path / "in.jsonl", chat("a", temperature=-1), chat("b")), tmp_path / "out.jsonl"
    assert "1 refused" in pinfill("batch", source, target, "--url", service.url, "--key", KEY).err
    found = {record["custom_id"]: record["response"] for record in records(target)}
    assert found["a"]["status_code"] == 400 and found["a"]["body"]["error"]["param"] == "temperature"
    assert found["b"]["status_code"] == 200


def test_a_second_run_sends_only_what_is_missing(
    pinfill: CommandLine, service: RunningService, engine: FakeEngine, tmp_path: Path
) -> None:
    source, target = write(tmp_path / "in.jsonl", chat("a"), "{", chat("b"), chat("a")), tmp_path / "out.jsonl"
    arguments = ("batch", source, target, "--url", service.url, "--key", KEY)
    pinfill(*arguments)
    first = target.read_bytes()
    assert "4 were there" in pinfill(*arguments).err
    assert target.read_bytes() == first and len(engine.requests) == 2
    lines = first.splitlines(keepends=True)
    lost = next(line for line in lines if json.loads(line)["custom_id"] == "b")
    kept = [line for line in lines if line != lost]
    target.write_bytes(b"".join([*kept, lost[:40]]))  # the last record was written in part
    pinfill(*arguments)
    assert len(engine.requests) == 3
    assert target.read_bytes().startswith(b"".join(kept))
    assert sorted(str(r["custom_id"]) for r in records(target)) == ["None", "a", "a", "b"]


def test_a_duplicate_does_not_count_as_its_original(
    pinfill: CommandLine, service: RunningService, tmp_path: Path
) -> None:
    target = tmp_path / "out.jsonl"
    with OutputFile(target) as output:  # stopped after the error record, before the answer
        output.append(BadLine(2, "a", "duplicate_custom_id", "this custom_id was there before").record())
    source = write(tmp_path / "in.jsonl", chat("a"), chat("a"))
    pinfill("batch", source, target, "--url", service.url, "--key", KEY)
    assert [bool(record["response"]) for record in records(target)] == [False, True]


RECORD = b'{"id": "batch_req_1", "custom_id": "a", "response": {}, "error": null}'


@pytest.mark.parametrize("length", [1, 5, 18, len(RECORD) - 1])
def test_torn_last_record_is_cut_off(tmp_path: Path, length: int) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(RECORD + b"\n" + RECORD[:length])
    with OutputFile(path) as output:
        assert output.done_ids == {"a"}
    assert path.read_bytes() == RECORD + b"\n"


def test_whole_last_record_gets_the_end_of_its_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(RECORD)
    with OutputFile(path) as output:
        assert output.done_ids == {"a"}
    assert path.read_bytes() == RECORD + b"\n"


@pytest.mark.parametrize("content", [b"my diary", b"my diary\n", RECORD + b'\n{"a": 1}\n', b'{"custom_id": "a"}'])
def test_somebody_elses_file_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(content)
    with pytest.raises(BatchFileError):
        OutputFile(path)
    assert path.read_bytes() == content


def test_input_as_output_is_refused(pinfill: CommandLine, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", chat("a"))
    assert_told(pinfill("batch", source, source, "--url", "http://127.0.0.1:1"), "the same")
    assert len(records(source)) == 1


def test_equal_beginnings_become_neighbours_and_keep_their_order() -> None:
    lines = [chat("1", "long B"), chat("2", "long A"), completion("3", "x"), chat("4", "long B"), chat("5", "long A")]
    tasks = [Task(n, line["custom_id"], line["url"], line["body"]) for n, line in enumerate(lines, 1)]
    assert [task.custom_id for task in neighbours(tasks)] == ["2", "5", "1", "4", "3"]


def test_empty_lines_are_no_requests_but_count(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", "", chat("a"), "  ", chat("b"))
    assert [task.line for task in read_tasks(source)] == [2, 4]


async def test_a_busy_server_is_asked_again(service: RunningService, engine: FakeEngine) -> None:
    engine.refuse = EngineBusyError("full")
    pauses: list[float] = []
    taken: list[Mapping[str, Any]] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            engine.refuse = None

    line = chat("a")
    await BatchRunner(service.url, KEY, 1, taken.append, sleep=sleep).run([Task(1, "a", line["url"], line["body"])])
    assert pauses == [1.0, 1.0, 2.0, 4.0]  # never sooner than the server's Retry-After of one second
    assert [record["response"]["status_code"] for record in taken] == [200]


async def test_a_server_that_stays_busy_ends_the_run_but_loses_nothing(
    service: RunningService, engine: FakeEngine
) -> None:
    engine.refuse = EngineBusyError("full")
    pauses: list[float] = []
    taken: list[Mapping[str, Any]] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    line = chat("a")
    with pytest.raises(ServiceError, match="goes on from here"):
        await BatchRunner(service.url, KEY, 1, taken.append, sleep=sleep).run([Task(1, "a", line["url"], line["body"])])
    assert len(pauses) == ATTEMPTS - 1 and max(pauses) == 30.0
    assert not taken


async def test_a_stopped_run_leaves_a_file_to_go_on_from(service: RunningService, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *(chat(str(number)) for number in range(6)))
    tasks = [line for line in read_tasks(source) if isinstance(line, Task)]
    with OutputFile(tmp_path / "out.jsonl") as output:

        def take(record: Mapping[str, object]) -> None:
            output.append(record)
            if len(records(tmp_path / "out.jsonl")) == 3:
                run.cancel()

        run = asyncio.create_task(BatchRunner(service.url, KEY, 2, take).run(tasks))
        with pytest.raises(asyncio.CancelledError):
            await run
    with OutputFile(tmp_path / "out.jsonl") as output:
        missing = [task for task in tasks if not output.holds(task)]
        assert 0 < len(missing) < 6
        await BatchRunner(service.url, KEY, 2, output.append).run(missing)
    assert sorted(record["custom_id"] for record in records(tmp_path / "out.jsonl")) == list("012345")


def test_a_wrong_key_is_told_once_and_writes_no_records(
    pinfill: CommandLine, service: RunningService, tmp_path: Path
) -> None:
    source, target = write(tmp_path / "in.jsonl", *(chat(str(number)) for number in range(9))), tmp_path / "out.jsonl"
    outcome = pinfill("batch", source, target, "--url", service.url, "--key", "wrong")
    assert outcome.code == 1 and outcome.err.count("error: ") == 1 and "--key" in outcome.err
    assert target.read_bytes() == b""
