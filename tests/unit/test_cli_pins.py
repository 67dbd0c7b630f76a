"""Commands that ask the running service: what they send, what they print, and how they tell what is wrong."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import keyring
import keyring.backends.fail
import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from pinfill_service import __version__, cli
from pinfill_service.api.schemas import manage
from pinfill_service.commands.remote import NOT_RUNNING, show_ago, show_left, show_seconds, show_size, show_time
from tests.support.command_line import CommandLine, assert_told

KEY = "the-key"
LIMIT_SECONDS = 20.0
SHA = "0" * 64
COMMANDS = ("pin", "pins", "unpin", "evict", "entries", "doctor", "status", "savings")
PIN_COMMANDS = ("rename", "move", "refresh", "rebuild", "verify", "show")


# -- what the service answers ------------------------------------------------------------------------------------------


def pin(**changes: Any) -> manage.Pin:
    fields: dict[str, Any] = {
        "name": "rubric",
        "kind": "text",
        "state": "warm",
        "reason": None,
        "position": 0,
        "model": "smollm2-135m",
        "use_as": "smollm2-135m@rubric",
        "tokens": 1880,
        "shared_tokens": 310,
        "done": 1880,
        "total": 1880,
        "seconds_left": None,
        "memory_bytes": 86_630_400,
        "disk_bytes": 86_630_400,
        "on_disk": True,
        "auto_refresh": False,
        "sources": [],
        "created": 1.7e9,
        "hits": 214,
        "saved_seconds": 4_680.0,
        "saved_seconds_today": 482.0,
        "last_used": None,
        "prefill_seconds": 6.2,
        "verified": None,
    }
    return manage.Pin(**fields | changes)


def entry(entry_id: str, **changes: Any) -> manage.Entry:
    fields: dict[str, Any] = {
        "id": entry_id,
        "begins": "You are a helpful coder",
        "tokens": 640,
        "shared_tokens": 0,
        "memory_bytes": 29_491_200,
        "disk_bytes": 0,
        "in_memory": True,
        "pinned": False,
        "pin": None,
        "in_use": False,
        "hits": 3,
        "saves_seconds": 1.4,
        "idle_seconds": 310.0,
        "client": "goose",
    }
    return manage.Entry(**fields | changes)


CLOCK = manage.Finding(
    kind="clock",
    position_tokens=210,
    segment="system",
    before="The current time is 10:40.\nYou are",
    after="The current time is 10:41.\nYou are",
    explanation="A clock changed.",
    suggestion="Move the date or time to the last message, or leave it out.",
)


def request(request_id: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": request_id,
        "at": 1.7e9,
        "route": "/v1/chat/completions",
        "client": "goose",
        "model": "smollm2-135m",
        "pin": None,
        "prompt_tokens": 4510,
        "cached_tokens": 210,
        "processed_tokens": 4300,
        "generated_tokens": 12,
        "queue_seconds": 0.0,
        "prefill_seconds": 8.0,
        "decode_seconds": 0.5,
        "ttft_seconds": 8.1,
        "saved_seconds": 0.4,
        "finish_reason": "stop",
        "error": None,
        "miss_reason": "the prompt differs at token 210",
        "finding": CLOCK.model_dump(),
    }
    return fields | changes


def detail(request_id: str, **changes: Any) -> manage.RequestDetail:
    parts = [{"label": "system", "tokens": 2000}, {"label": "message 1 (user)", "tokens": 2510}]
    rest = {"segments": parts, "text": None, "compared_with": None, "compared_text": None, "can_be_pinned": True}
    return manage.RequestDetail(**request(request_id, **rest) | changes)


def status(**changes: Any) -> manage.Status:
    fields: dict[str, Any] = {
        "version": __version__,
        "api_version": manage.API_VERSION,
        "pid": 4711,
        "started": 1.7e9,
        "uptime_seconds": 482.0,
        "model": {
            "name": "smollm2-135m",
            "fingerprint": "f" * 16,
            "context_length": 8192,
            "vocab_size": 49152,
            "kv_bytes_per_token": 46080,
            "provider": "CPUExecutionProvider",
            "provider_note": "no NPU was found",
        },
        "model_state": "loaded",
        "activity": {
            "running": 1,
            "waiting": 2,
            "slots": 8,
            "entries": 3,
            "prompt_tokens_cached": 9000,
            "prompt_tokens_processed": 1000,
            "generated_tokens": 50,
            "prefill_tokens_per_second": 612.3,
            "decode_tokens_per_second": None,
            "saved_seconds": 90.0,
            "evictions": 0,
        },
        "memory": {
            "pinned_bytes": 412_000_000,
            "cached_bytes": 230_000_000,
            "used_bytes": 642_000_000,
            "free_bytes": 1_358_000_000,
            "budget_bytes": 2_000_000_000,
        },
        "disk": {"used_bytes": 412_000_000, "budget_bytes": 16_000_000_000},
        "pins": {"warm": 3, "stale": 1},
        "saved_seconds_today": 1260.0,
        "problems": [],
    }
    return manage.Status(**fields | changes)


def progress(done: int, seconds_left: float | None) -> tuple[str, BaseModel]:
    return "pin.progress", manage.PinProgressEvent(name="rubric", done=done, total=1880, seconds_left=seconds_left)


def state(value: Any, name: str = "rubric", **changes: Any) -> tuple[str, BaseModel]:
    return "pin.state", manage.PinStateEvent(name=name, state=value, reason=None, **changes)


# -- the service -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refusal:
    """An answer other than success, in OpenAI's envelope."""

    status: int
    message: str
    code: str | None = None

    @property
    def body(self) -> bytes:
        error = {"message": self.message, "type": "invalid_request_error", "param": None, "code": self.code}
        return json.dumps({"error": error}).encode()


@dataclass(frozen=True)
class Asked:
    """A request that the service got."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


@dataclass
class Service:
    """Answers `METHOD path` with a model or bytes, with each of a list in turn (the last one stays), or refuses.

    The event stream sends `events` once the first request that changes something has been answered.
    """

    answers: dict[str, Any] = field(default_factory=lambda: {"GET status": status(), "GET events": None})
    events: list[tuple[str, BaseModel]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    changed: threading.Event = field(default_factory=threading.Event)
    key: str | None = KEY
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def bodies(self, method: str, path: str) -> list[Any]:
        return [each.body for each in self.asked if (each.method, each.path) == (method, path)]

    def answer(self, asked: Asked, authorization: str | None) -> Any:
        if asked.path != "/livez" and self.key is not None and authorization != f"Bearer {self.key}":
            return Refusal(401, "The API key is not the right one.", "invalid_api_key")
        if asked.path == "/livez":
            return b'{"status": "ok"}'
        self.asked.append(asked)
        found = self.answers.get(f"{asked.method} {asked.path}", Refusal(404, "There is nothing at this address."))
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


class Handler(BaseHTTPRequestHandler):
    service: Service

    def do(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        path = unquote(parts.path).removeprefix("/pinfill/v1/")
        answer = self.service.answer(Asked(self.command, path, query, body), self.headers["authorization"])
        with suppress(ConnectionError):  # a client that has seen enough of the events goes away
            if path == "events" and not isinstance(answer, Refusal):
                self._stream_events()
            else:
                self._send(answer)
        if self.command != "GET":
            self.service.changed.set()

    do_GET = do_POST = do_PATCH = do_DELETE = do

    def _send(self, answer: Any) -> None:
        refused = isinstance(answer, Refusal)
        self.send_response(answer.status if refused else 200)
        self.end_headers()
        self.wfile.write(
            answer if isinstance(answer, bytes) else answer.body if refused else answer.model_dump_json().encode()
        )

    def _stream_events(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"retry: 1000\n\n")
        self.service.changed.wait(LIMIT_SECONDS)
        for number, (name, event) in enumerate(self.service.events):
            self.wfile.write(f": keepalive\n\nid: run-{number}\nevent: {name}\n".encode())
            self.wfile.write(f"data: {event.model_dump_json()}\n\n".encode())

    def log_message(self, format: str, *values: Any) -> None:
        """Nothing is logged: stderr is the command's."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("PINFILL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PINFILL_API_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path / "home"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    scripted = Service()
    handler = type("Bound", (Handler,), {"service": scripted})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        scripted.port = server.server_address[1]
        monkeypatch.setenv("PINFILL_PORT", str(scripted.port))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield scripted
        scripted.changed.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def pinfill(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


class Typed(io.StringIO):
    """A person at a terminal who has typed something."""

    def isatty(self) -> bool:
        return True


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", Typed(text))


def pipe_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))


def line_of(text: str, word: str) -> str:
    """The line that begins with a word, its columns parted by one space."""
    return next(" ".join(line.split()) for line in text.splitlines() if line.strip().startswith(word))


# -- reaching the service ----------------------------------------------------------------------------------------------

ASKING = (
    ("status",),
    ("savings",),
    ("entries",),
    ("evict", "--unpinned", "--yes"),
    ("doctor",),
    ("doctor", "req_1"),
    ("pins",),
    ("pins", "show", "rubric"),
    ("pins", "refresh", "rubric"),
    ("unpin", "rubric", "--yes"),
    ("pin", "--text", "words"),
)


@pytest.mark.parametrize("command", [(name,) for name in COMMANDS] + [("pins", name) for name in PIN_COMMANDS])
def test_every_command_has_help(command: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(cli.app, [*command, "--help"])
    assert shown.exit_code == 0 and "Usage" in shown.output


@pytest.mark.parametrize("command", ASKING, ids=" ".join)
def test_without_a_service_the_next_step_is_told(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        monkeypatch.setenv("PINFILL_PORT", str(closed.getsockname()[1]))
    assert_told(pinfill(*command), NOT_RUNNING)


@pytest.mark.parametrize("command", ASKING, ids=" ".join)
def test_a_wrong_key_is_told(pinfill: CommandLine, service: Service, command: tuple[str, ...]) -> None:
    service.key = "another"
    assert_told(pinfill(*command), "wants another key", "PINFILL_API_KEY", service.url)
    assert not service.asked


@pytest.mark.parametrize("command", ASKING, ids=" ".join)
def test_a_service_of_another_version_is_told(pinfill: CommandLine, service: Service, command: tuple[str, ...]) -> None:
    service.answers["GET events"] = Refusal(404, "There is nothing at this address.")
    service.answers["GET status"] = b'{"version": "99.0", "all": "else differs"}'
    assert_told(pinfill(*command), "Pinfill 99.0", f"of Pinfill {__version__}", "pinfill serve")


@pytest.mark.parametrize("answer", [b"<html>hello</html>", b'"a text"', b'{"status": "ok"}', Refusal(404, "No.")])
def test_another_program_at_the_port_is_told(pinfill: CommandLine, service: Service, answer: Any) -> None:
    service.answers["GET status"] = answer
    for command in ("pins", "status"):
        assert_told(pinfill(command), service.url, "is not Pinfill", "pinfill serve --port")


@pytest.mark.parametrize("answer", [b'{"pins": 3}', b"[", b""])
def test_an_answer_that_is_not_understood_is_told(pinfill: CommandLine, service: Service, answer: bytes) -> None:
    service.answers["GET pins"] = answer
    assert_told(pinfill("pins"), "does not understand", "pinfill serve")


def test_a_refusal_is_told_in_the_services_words(pinfill: CommandLine, service: Service) -> None:
    words = "There is no pin 'rubrik'. The pins are: rubric, handbook."
    service.answers["GET pins/rubrik"] = Refusal(404, words, "pin_not_found")
    for command in (("pins", "show"), ("pins", "refresh"), ("unpin", "--yes")):
        assert_told(pinfill(*command, "rubrik"), words)


@pytest.mark.parametrize("name", ["", "a/b", "../status"])
def test_a_name_is_never_part_of_the_path(pinfill: CommandLine, service: Service, name: str) -> None:
    assert_told(pinfill("pins", "show", name), "cannot be a name")


def test_the_running_service_is_found_on_the_port_it_wrote_down(
    pinfill: CommandLine, service: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.answers["GET pins"] = manage.Pins(pins=[])
    monkeypatch.setenv("PINFILL_PORT", "1")
    home.mkdir()
    (home / "service.json").write_text(json.dumps({"pid": os.getpid(), "port": service.port}))
    assert pinfill("pins").code == 0
    (home / "service.json").write_text(json.dumps({"pid": 2**31 - 1, "port": service.port}))  # one that has died
    assert_told(pinfill("pins"), NOT_RUNNING)


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("PINFILL_API_KEY")
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    yield
    keyring.set_keyring(before)


@pytest.mark.usefixtures("no_keyring")
def test_without_a_key_a_service_without_one_can_be_asked(pinfill: CommandLine, service: Service, home: Path) -> None:
    home.write_text("not a folder")
    assert_told(pinfill("status"), "api-key", "PINFILL_API_KEY")
    service.key = None
    assert pinfill("status").code == 0


# -- numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.034, "0.03 s"),
        (-0.04, "-0.04 s"),
        (0.4, "0.4 s"),
        (4.12, "4.1 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (482, "8 min 2 s"),
        (3599.7, "1 h 0 min"),
        (11_530, "3 h 12 min"),
    ],
)
def test_seconds(seconds: float, shown: str) -> None:
    assert show_seconds(seconds) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (12, "12 bytes"),
        (340_000, "340 kB"),
        (999_999, "1.0 MB"),
        (4_600_000, "4.6 MB"),
        (9_960_000, "10 MB"),
        (86_630_400, "87 MB"),
        (999_700_000, "1.0 GB"),
        (1_400_000_000, "1.4 GB"),
        (16_000_000_000, "16 GB"),
    ],
)
def test_sizes(count: int, shown: str) -> None:
    assert show_size(count) == shown


def test_times() -> None:
    assert [show_left(seconds) for seconds in (0.0, 8.2, 58.5, 481.6)] == [
        "0 s left",
        "9 s left",
        "59 s left",
        "8 min 2 s left",
    ]
    assert [show_ago(seconds) for seconds in (-1, 3, 125, 7300, 200_000)] == ["now", "now", "2 min", "2 h", "2 d"]
    noon = 1.7e9
    assert re.fullmatch(r"\d\d:\d\d:\d\d", show_time(noon, lambda: noon))
    assert re.fullmatch(r"2023-11-1\d \d\d:\d\d", show_time(noon, lambda: noon + 1e6))


# -- status and savings ------------------------------------------------------------------------------------------------


def test_status_tells_what_runs_where_and_why(pinfill: CommandLine, service: Service) -> None:
    shown = pinfill("status").out
    assert line_of(shown, "Pinfill") == f"Pinfill {__version__} at {service.url}/v1, process 4711"
    assert line_of(shown, "Running for") == "Running for 8 min 2 s"
    assert line_of(shown, "Model") == "Model smollm2-135m"
    assert line_of(shown, "Runs on") == "Runs on CPUExecutionProvider (no NPU was found)"
    assert line_of(shown, "Context") == "Context 8,192 tokens, 377 MB when full"
    assert line_of(shown, "Slots") == "Slots 1 of 8 in use, 2 waiting"
    assert line_of(shown, "Prompts") == "Prompts 9,000 of 10,000 tokens came from the cache (90%)"
    assert line_of(shown, "Speed") == "Speed prefill 612 tokens/s"
    assert line_of(shown, "Memory") == "Memory 412 MB pinned, 230 MB cached, 1.4 GB free of 2.0 GB"
    assert line_of(shown, "Disk") == "Disk 412 MB of 16 GB"
    assert line_of(shown, "Pins") == "Pins 3 warm, 1 stale"
    assert line_of(shown, "Saved today") == "Saved today 21 min 0 s of prefill"
    assert "Problem" not in shown


def test_status_tells_problems_and_what_is_not_there(pinfill: CommandLine, service: Service) -> None:
    problem = {"kind": "file_set_aside", "message": "a [red]file[/] was set aside"}
    nothing: dict[str, Any] = {"model": None, "activity": None, "memory": None, "pins": {}}
    no_disk = {"used_bytes": 0, "budget_bytes": 0}
    service.answers["GET status"] = status(model_state="failed", disk=no_disk, problems=[problem], **nothing)
    shown = pinfill("status").out
    assert line_of(shown, "Model") == "Model none (failed)"
    assert line_of(shown, "Disk") == "Disk nothing is kept on disk"
    assert line_of(shown, "Problem") == "Problem a [red]file[/] was set aside"
    assert "pinfill pin FILE" in line_of(shown, "Pins")
    assert "Slots" not in shown and "Memory" not in shown


def test_status_as_json(pinfill: CommandLine, service: Service) -> None:
    assert manage.Status.model_validate_json(pinfill("status", "--json").out) == status()


def part(**values: float) -> dict[str, Any]:
    zero = {"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "saved_seconds": 0.0, "prefill_seconds": 0.0}
    return zero | values


SAVED = manage.Savings.model_validate(
    {
        "days": 7,
        "total": part(requests=12, prompt_tokens=20_000, cached_tokens=15_000, saved_seconds=482.0, prefill_seconds=9),
        "by_pin": [
            part(requests=2, prompt_tokens=4_000, saved_seconds=0.0) | {"pin": None},
            part(requests=10, prompt_tokens=16_000, cached_tokens=15_000, saved_seconds=482.0) | {"pin": "rubric"},
        ],
        "by_day": [
            part(requests=4, saved_seconds=82.0) | {"day": "2026-11-28", "pin": "rubric"},
            part(requests=6, saved_seconds=400.0) | {"day": "2026-11-29", "pin": "rubric"},
            part(requests=2, prompt_tokens=4_000) | {"day": "2026-11-29", "pin": None},
        ],
    }
)


def test_savings_in_all_by_pin_and_by_day(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET savings"] = SAVED
    shown = pinfill("savings").out
    assert shown.startswith("8 min 2 s of prefill saved in the last 7 days.\n12 requests; 15,000 of 20,000 prompt")
    assert line_of(shown, "rubric") == "rubric 10 16,000 15,000 8 min 2 s 0 s"
    assert line_of(shown, "(no pin)") == "(no pin) 2 4,000 0 0 s 0 s"
    assert line_of(shown, "2026-11-29") == "2026-11-29 8 4,000 0 6 min 40 s 0 s"
    assert shown.index("rubric") < shown.index("(no pin)") and shown.index("11-29") < shown.index("11-28")
    assert service.asked[-1].query == {"days": "7"}


def test_savings_for_programs(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET savings"] = SAVED
    assert manage.Savings.model_validate_json(pinfill("savings", "--json", "--days", 30).out) == SAVED
    assert service.asked[-1].query == {"days": "30"}
    rows = list(csv.DictReader(io.StringIO(pinfill("savings", "--csv").out)))
    assert [(row["day"], row["pin"], row["requests"], float(row["saved_seconds"])) for row in rows] == [
        ("2026-11-28", "rubric", "4", 82.0),
        ("2026-11-29", "rubric", "6", 400.0),
        ("2026-11-29", "", "2", 0.0),
    ]
    assert_told(pinfill("savings", "--csv", "--json"), "one of")


def test_savings_of_nothing_are_one_line_each(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET savings"] = manage.Savings(days=1, total=manage.SavingsPart(), by_pin=[], by_day=[])
    shown = pinfill("savings", "--days", 1).out.splitlines()
    assert shown[0] == "0 s of prefill saved today." and len(shown) == 2


# -- entries -----------------------------------------------------------------------------------------------------------

PINNED = entry("aa00000000000001", begins="[bold]Grade\x1b[31m this", pinned=True, pin="rubric", shared_tokens=310)
CACHED = entry("ab00000000000002")
ON_DISK = entry("cc00000000000003", in_memory=False, client=None, saves_seconds=2.0, idle_seconds=0.0)


@pytest.fixture
def cached(service: Service) -> Service:
    service.answers["GET entries"] = manage.Entries(entries=[PINNED, CACHED, ON_DISK])
    for each in (PINNED, CACHED, ON_DISK):
        service.answers[f"DELETE entries/{each.id}"] = manage.Evicted(entries=1)
    service.answers["POST entries/evict-unpinned"] = manage.Evicted(entries=2)
    return service


def test_entries_are_listed(pinfill: CommandLine, cached: Service) -> None:
    shown = pinfill("entries").out
    assert line_of(shown, CACHED.id[:8]) == f"{CACHED.id[:8]} You are a helpful coder 640 29 MB - 3 4.2 s 5 min goose"
    assert line_of(shown, ON_DISK.id[:8]) == f"{ON_DISK.id[:8]} You are a helpful coder 640 on disk - 3 6.0 s now -"
    assert line_of(shown, PINNED.id[:8]).endswith("640 29 MB 310 3 4.2 s 5 min pin rubric")
    assert "[bold]Grade" in shown and "\x1b" not in shown  # text of a prompt is neither markup nor a command
    listed = manage.Entries.model_validate_json(pinfill("entries", "--json").out)
    assert listed.entries == [PINNED, CACHED, ON_DISK]


def test_no_entries_say_what_to_do(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET entries"] = manage.Entries(entries=[])
    assert "pinfill pin FILE" in pinfill("entries").out
    assert "not pinned" in pinfill("evict", "--unpinned").err
    assert json.loads(pinfill("evict", "--unpinned", "--json").out) == {"entries": 0}


def test_evict_asks_and_says_what_it_costs(
    pinfill: CommandLine, cached: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "n\n")
    refused = pinfill("evict", CACHED.id)
    assert refused.code == 1 and "Evict 1 entry? Needs 1.4 s of prefill next time." in refused.err
    assert not cached.bodies("DELETE", f"entries/{CACHED.id}")
    type_in(monkeypatch, "y\n")
    done = pinfill("evict", "--unpinned")
    assert "Evict 2 entries? Needs 3.4 s of prefill next time." in done.err and "Evicted: 2 entries." in done.err
    assert len(cached.bodies("POST", "entries/evict-unpinned")) == 1


def test_evict_takes_beginnings_of_ids_each_once(pinfill: CommandLine, cached: Service) -> None:
    assert json.loads(pinfill("evict", "ab", "cc0", CACHED.id, "--yes", "--json").out) == {"entries": 2}
    gone = [asked.path for asked in cached.asked if asked.method == "DELETE"]
    assert gone == [f"entries/{CACHED.id}", f"entries/{ON_DISK.id}"]


def test_evict_refuses_before_anything_is_evicted(
    pinfill: CommandLine, cached: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = entry("dd00000000000004", in_use=True)
    cached.answers["GET entries"] = manage.Entries(entries=[PINNED, CACHED, used])
    for wanted, told in (
        (["a"], "2 entries begin with 'a'"),
        (["ab", "zz"], "There is no entry 'zz'"),
        (["ab", "aa"], "pinfill unpin rubric"),
        (["dd"], "is in use"),
        ([], "--unpinned"),
        (["ab", "--unpinned"], "--unpinned"),
    ):
        assert_told(pinfill("evict", *wanted, "--yes"), told)
    pipe_in(monkeypatch, b"")
    assert_told(pinfill("evict", "ab"), f"pinfill evict {CACHED.id} --yes")
    assert not any(asked.method in ("DELETE", "POST") for asked in cached.asked)


# -- pins --------------------------------------------------------------------------------------------------------------


def test_pins_are_listed(pinfill: CommandLine, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    half = {"memory_bytes": 0, "done": 902, "seconds_left": 9.0, "hits": 0, "saved_seconds": 0.0}
    listed = [
        pin(),
        pin(name="book", state="prefilling", **half, saved_seconds_today=0.0),
        pin(name="old", state="stale", reason="made for another", use_as=None, last_used=1.0),
        pin(name="broken", state="failed", use_as="smollm2-135m@broken"),
    ]
    service.answers["GET pins"] = manage.Pins(pins=listed)
    shown = pinfill("pins").out
    assert line_of(shown, "rubric") == "rubric warm 1,880 87 MB 214 8 min 2 s 1 h 18 min never smollm2-135m@rubric"
    assert line_of(shown, "book").startswith("book prefilling 48%, 9 s left 1,880 - 0 0 s 0 s")
    assert line_of(shown, "old").startswith("old stale (made for another) 1,880") and line_of(shown, "old").endswith(
        "-"
    )
    assert manage.Pins.model_validate_json(pinfill("pins", "--json").out).pins == listed
    monkeypatch.setenv("COLUMNS", "80")
    narrow = pinfill("pins").out
    assert line_of(narrow, "rubric") == "rubric warm 1,880 87 MB 214 8 min 2 s 1 h 18 min never"
    assert narrow.splitlines()[-1] == "Use one as the model: smollm2-135m@rubric, smollm2-135m@rubric"
    assert_told(pinfill("pins", "--json", "--watch"), "one of")


def test_no_pins_say_what_to_do(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET pins"] = manage.Pins(pins=[])
    assert "pinfill pin FILE" in pinfill("pins").out
    assert json.loads(pinfill("pins", "--json").out) == {"pins": []}


def test_rename_and_move(pinfill: CommandLine, service: Service) -> None:
    service.answers["PATCH pins/rubric"] = [
        pin(name="grading", use_as="smollm2-135m@grading"),
        pin(position=1),
        Refusal(409, "There is a pin taken already.", "pin_exists"),
    ]
    assert "smollm2-135m@grading" in pinfill("pins", "rename", "rubric", "grading").err
    assert "rubric is at place 2 now." in pinfill("pins", "move", "rubric", 2).err
    assert_told(pinfill("pins", "rename", "rubric", "taken"), "There is a pin taken already.")
    assert service.bodies("PATCH", "pins/rubric") == [{"name": "grading"}, {"position": 1}, {"name": "taken"}]
    assert_told(pinfill("pins", "rename", "rubric", "x" * 101), "name is not valid")


def test_show_tells_all_about_a_pin(pinfill: CommandLine, service: Service) -> None:
    source = manage.SourceFile(path="/tmp/rubric v3.md", size=7_200, mtime=1.7e9, sha256=SHA, text_sha256=None)
    checked = manage.Verification(at=1.7e9, greedy_equal=True, largest_difference=0.0)
    shown_pin = pin(sources=[source], auto_refresh=True, verified=checked)
    service.answers["GET pins/rubric"] = shown_pin
    shown = pinfill("pins", "show", "rubric").out
    assert line_of(shown, "Use as model") == "Use as model smollm2-135m@rubric"
    assert line_of(shown, "Tokens") == "Tokens 1,880, 310 of them shared with other pins"
    assert line_of(shown, "Size") == "Size 87 MB in memory, 87 MB on disk"
    assert line_of(shown, "Saved").startswith("Saved 1 h 18 min of prefill in 214 hits, 8 min 2 s of it today")
    assert line_of(shown, "Costs").startswith("Costs 6.2 s")
    assert line_of(shown, "File").startswith("File /tmp/rubric v3.md (7 kB, 2023-11-1")
    assert line_of(shown, "Verified").startswith("Verified equal to a cold run, 2023-11-1")
    assert manage.Pin.model_validate_json(pinfill("pins", "show", "rubric", "--json").out) == shown_pin
    service.answers["GET pins/rubric"] = pin(use_as=None, on_disk=False, hits=1, state="stale")
    shown = pinfill("pins", "show", "rubric").out
    assert line_of(shown, "Size").endswith("not on disk") and " in 1 hit, " in line_of(shown, "Saved")
    service.answers["GET pins/rubric"] = pin(use_as=None, on_disk=False)
    shown = pinfill("pins", "show", "rubric").out
    assert "pinfill pins refresh rubric" in line_of(shown, "Use as model")
    assert "a restart prefills it again" in line_of(shown, "Size")


def test_show_prints_what_was_pinned(pinfill: CommandLine, service: Service) -> None:
    talk = [{"role": "user", "content": "Hi"}]
    text = manage.PinText(kind="text", text="Grade [b]fairly[/b].\n")
    service.answers["GET pins/rubric/content"] = [text, text, manage.PinText(kind="messages", messages=talk)]
    assert pinfill("pins", "show", "rubric", "--text").out == "Grade [b]fairly[/b].\n\n"
    assert json.loads(pinfill("pins", "show", "rubric", "--text", "--json").out)["text"] == "Grade [b]fairly[/b].\n"
    assert json.loads(pinfill("pins", "show", "rubric", "--text").out) == {"messages": talk, "tools": []}


@pytest.mark.parametrize("equal", [True, False])
def test_verify_tells_whether_cached_equals_cold(pinfill: CommandLine, service: Service, equal: bool) -> None:
    report = manage.VerifyReport(
        name="rubric",
        tokens_compared=8,
        greedy_equal=equal,
        largest_difference=1.5e-6,
        prompt_tokens=1885,
        cached_tokens=1880,
        cold_seconds=6.2,
        cached_seconds=0.08,
    )
    service.answers["POST pins/rubric/verify"] = report
    done = pinfill("pins", "verify", "rubric", "--tokens", 8)
    assert done.code == (0 if equal else 1) and done.err == ""
    assert ("NOT equal to a cold run" in done.out) is not equal
    assert "1.5e-06" in done.out and "1,880 of 1,885 tokens" in done.out and "0.08 s instead of 6.2 s" in done.out
    for_programs = pinfill("pins", "verify", "rubric", "--json")
    assert for_programs.code == done.code
    assert manage.VerifyReport.model_validate_json(for_programs.out) == report
    assert service.bodies("POST", "pins/rubric/verify") == [{"tokens": 8}, {"tokens": 16}]


def test_unpin_asks_and_says_what_it_costs(
    pinfill: CommandLine, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.answers["GET pins/rubric"] = pin()
    service.answers["DELETE pins/rubric"] = manage.Unpinned(name="rubric", tokens=1880, prefill_seconds=6.2)
    pipe_in(monkeypatch, b"")
    assert_told(pinfill("unpin", "rubric"), "pinfill unpin rubric --yes")
    type_in(monkeypatch, "n\n")
    refused = pinfill("unpin", "rubric")
    assert refused.code == 1 and "Unpin rubric? Needs 6.2 s of prefill to get it back." in refused.err
    assert not service.bodies("DELETE", "pins/rubric")
    type_in(monkeypatch, "y\n")
    assert "rubric is not pinned any more." in pinfill("unpin", "rubric").err
    assert json.loads(pinfill("unpin", "rubric", "--yes", "--json").out)["tokens"] == 1880
    assert len(service.bodies("DELETE", "pins/rubric")) == 2


# -- making pins -------------------------------------------------------------------------------------------------------


@pytest.fixture
def pinning(service: Service) -> Service:
    """A service in which a pin called "rubric" is queued, prefilled and warm."""
    queued = pin(state="queued", done=0, memory_bytes=0)
    service.answers["POST pins"] = service.answers["POST pins/rubric/refresh"] = queued
    service.answers["POST pins/rubric/rebuild"] = queued
    service.answers["GET pins/rubric"] = [pin(state="prefilling", done=0), pin()]
    service.events = [
        state("warm", "another"),
        state("prefilling"),
        ("request.finished", manage.EntryEvictedEvent(id=None, entries=1)),
        progress(512, None),
        progress(1024, 1.4),
        state("warm"),
    ]
    return service


def test_a_text_is_pinned_and_waited_for(pinfill: CommandLine, pinning: Service) -> None:
    done = pinfill("pin", "--text", "Grade  Ünï-fairly,\nplease: all of it")
    assert done.code == 0
    assert pinning.bodies("POST", "pins") == [
        {
            "name": "grade-uni-fairly-please-all",
            "text": "Grade  Ünï-fairly,\nplease: all of it",
            "auto_refresh": False,
        }
    ]
    lines = done.out.splitlines()
    assert lines[0] == "rubric is warm: 1,880 tokens, 87 MB."
    assert lines[1] == "Use it as the model: smollm2-135m@rubric"
    assert lines[2].startswith(f"curl {pinning.url}/v1/chat/completions -H") and '"smollm2-135m@rubric"' in lines[2]
    assert "$(pinfill key)" in lines[2] and KEY not in done.out
    asked = [f"{each.method} {each.path}" for each in pinning.asked]
    assert asked.index("GET events") < asked.index("POST pins")  # nothing that happens can be missed
    assert asked[-2:] == ["GET pins/rubric"] * 2


def test_progress_is_shown_while_it_is_prefilled(
    pinfill: CommandLine, pinning: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("rich.progress.Progress.update", lambda _, task, **fields: shown.append(fields))
    pinfill("pin", "--text", "words", "--name", "rubric")
    assert [step for step in shown if "amount" in step] == [
        {"total": 1880, "completed": 512, "amount": "512 of 1,880 tokens"},
        {"total": 1880, "completed": 1024, "amount": "1,024 of 1,880 tokens, 2 s left"},
    ]
    assert [step["description"] for step in shown if "description" in step] == ["prefilling", "warm"]


def test_a_pin_as_json(pinfill: CommandLine, pinning: Service) -> None:
    assert manage.Pin.model_validate_json(pinfill("pin", "--text", "words", "--json").out) == pin()
    queued = manage.Pin.model_validate_json(pinfill("pin", "--text", "words", "--json", "--no-wait").out)
    assert queued.state == "queued"


def test_not_waiting_says_where_to_look(pinfill: CommandLine, pinning: Service) -> None:
    done = pinfill("pin", "--text", "words", "--no-wait")
    assert done.out.startswith("rubric is queued: 1,880 tokens.") and "pinfill pins" in done.err
    assert not pinning.bodies("GET", "events")


def test_what_goes_wrong_while_waiting_is_told(pinfill: CommandLine, pinning: Service) -> None:
    wait = ("pin", "--text", "words")
    pinning.events = [state("prefilling")]
    assert_told(pinfill(*wait), "service stopped before rubric was warm", "pinfill serve")
    pinning.events = [state(None)]
    assert_told(pinfill(*wait), "rubric was unpinned")
    pinning.events = [state("failed")]
    pinning.answers["GET pins/rubric"] = pin(state="failed", reason="The disk is full.")
    assert_told(pinfill(*wait), "The disk is full.", "pinfill pins refresh rubric")


def test_waiting_follows_a_new_name_and_lost_events(pinfill: CommandLine, pinning: Service) -> None:
    pinning.events = [("reset", manage.ResetEvent()), state("warm", "grading", renamed_from="rubric")]
    pinning.answers["GET pins/rubric"] = pin(state="prefilling")
    pinning.answers["GET pins/grading"] = pin(name="grading")
    assert pinfill("pin", "--text", "words").out.startswith("grading is warm")


def test_a_pin_that_is_refused_is_told_with_the_numbers(pinfill: CommandLine, pinning: Service) -> None:
    words = "The pin's 90,000 tokens need 4,147 MB of memory, and the budget for cached prefixes is 2,000 MB."
    pinning.answers["POST pins"] = Refusal(507, words, "budget_exceeded")
    assert_told(pinfill("pin", "--text", "words"), words)


def test_standard_input_and_raw_text(pinfill: CommandLine, pinning: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    pinning.answers["GET pins/rubric"] = pin(kind="raw")
    pipe_in(monkeypatch, "\ufeffOnce upon\r\na time".encode())
    done = pinfill("pin", "-", "--raw", "--name", "tale")
    assert pinning.bodies("POST", "pins") == [{"name": "tale", "raw_text": "Once upon\na time", "auto_refresh": False}]
    assert f"curl {pinning.url}/v1/completions" in done.out
    pipe_in(monkeypatch, b"\xff\xfe\xfa")
    assert_told(pinfill("pin", "-"), "UTF-8")
    pipe_in(monkeypatch, b" \n")
    assert_told(pinfill("pin", "-"), "no text")


def sources_of(body: Any, folder: Path) -> dict[str, tuple[int, str]]:
    """(size, SHA-256 of the file) of each source by its name in the folder."""
    return {str(Path(each["path"]).relative_to(folder)): (each["size"], each["sha256"]) for each in body["sources"]}


def test_files_are_read_here_and_named_in_the_pin(pinfill: CommandLine, pinning: Service, tmp_path: Path) -> None:
    (tmp_path / "Grading Rubric v3.md").write_bytes(b"# Rubric\r\nBe fair.")
    (tmp_path / "more.html").write_text("<html><p>And <b>kind</b>.</p><script>x()</script></html>")
    pinning.answers["GET pins/rubric"] = pin(auto_refresh=True)
    done = pinfill("pin", tmp_path / "Grading Rubric v3.md", "--auto-refresh")
    assert "watched while the app or 'pinfill pins --watch' runs" in done.err
    pinfill("pin", tmp_path / "more.html", tmp_path / "Grading Rubric v3.md", "--name", "both", "--raw")
    one, both = pinning.bodies("POST", "pins")
    assert (one["name"], one["text"], one["auto_refresh"]) == ("grading-rubric-v3", "# Rubric\nBe fair.", True)
    source = one["sources"][0]
    path = tmp_path / "Grading Rubric v3.md"
    assert (source["path"], source["size"]) == (str(path), 18)
    assert source["mtime"] == pytest.approx(path.stat().st_mtime, abs=1e-3)
    assert source["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert source["text_sha256"] == hashlib.sha256(one["text"].encode()).hexdigest()
    assert both["name"] == "both" and "text" not in both and "script" not in both["raw_text"]
    assert both["raw_text"].index("And") < both["raw_text"].index("Be fair.")
    assert list(sources_of(both, tmp_path)) == ["more.html", "Grading Rubric v3.md"]


def test_a_folder_is_shown_before_it_is_read(
    pinfill: CommandLine, pinning: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "The docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.txt").write_text("bee")
    (folder / "deep" / "a.txt").write_text("ay")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    pipe_in(monkeypatch, b"")
    assert_told(pinfill("pin", folder, "--name", "x y", "--raw"), f"pinfill pin '{folder}' --name 'x y' --raw --yes")
    type_in(monkeypatch, "n\n")
    refused = pinfill("pin", folder)
    assert refused.code == 1 and "Pin 2 files, 5 bytes?" in refused.err
    assert "b.txt, 3 bytes" in refused.err and "skipped: " in refused.err and "picture.png" in refused.err
    assert not pinning.bodies("POST", "pins")
    assert pinfill("pin", folder, "--yes").code == 0
    (body,) = pinning.bodies("POST", "pins")
    assert body["name"] == "the-docs" and "bee" in body["text"]
    assert list(sources_of(body, folder)) == ["b.txt", str(Path("deep", "a.txt"))]


def test_files_that_cannot_be_read_are_told(pinfill: CommandLine, service: Service, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "guessed.txt").write_bytes("caf\u00e9".encode("cp1252"))
    assert_told(pinfill("pin", tmp_path / "absent.txt"), "absent.txt")
    assert_told(pinfill("pin", tmp_path / "picture.png"), "picture.png", "picture (PNG)")
    assert_told(pinfill("pin", tmp_path / "empty.txt"), "no text")
    assert_told(pinfill("pin", tmp_path / "folder"), "no file with text")
    assert not service.bodies("POST", "pins")
    service.answers["POST pins"] = pin()
    assert "guessed.txt: The encoding is not marked" in pinfill("pin", tmp_path / "guessed.txt").err


def pinned_files(folder: Path, **changes: Any) -> manage.Pin:
    """A pin of two files, of which the second has another content by now."""
    sources = []
    for name, content in (("a.txt", b"as it was"), ("b.txt", b"as it was, too")):
        path = folder / name
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        stamp = path.stat().st_mtime
        sources.append(
            manage.SourceFile(path=str(path), size=len(content), mtime=stamp, sha256=digest, text_sha256=None)
        )
    (folder / "b.txt").write_bytes(b"another text")
    return pin(sources=sources, **changes)


def test_refresh_reads_the_files_again(pinfill: CommandLine, pinning: Service, tmp_path: Path) -> None:
    before = pinned_files(tmp_path)
    pinning.answers["GET pins/rubric"] = [before, pin(state="prefilling"), pin()]
    assert pinfill("pins", "refresh", "rubric").out.startswith("rubric is warm: 1,880 tokens")
    (body,) = pinning.bodies("POST", "pins/rubric/refresh")
    assert "as it was" in body["text"] and "another text" in body["text"] and "too" not in body["text"]
    assert sources_of(body, tmp_path)["a.txt"][1] == before.sources[0].sha256
    assert sources_of(body, tmp_path)["b.txt"] == (12, hashlib.sha256(b"another text").hexdigest())
    (tmp_path / "b.txt").unlink()
    pinning.answers["GET pins/rubric"] = before
    told = "To go on with what was pinned: pinfill pins rebuild rubric"
    assert_told(pinfill("pins", "refresh", "rubric"), "b.txt", "cannot be read", told)


def test_refresh_without_files_and_rebuild_send_no_content(pinfill: CommandLine, pinning: Service) -> None:
    pinning.answers["GET pins/rubric"] = pin()
    assert manage.Pin.model_validate_json(pinfill("pins", "refresh", "rubric", "--json").out) == pin()
    assert pinfill("pins", "rebuild", "rubric", "--no-wait").out.startswith("rubric is queued")
    pinning.answers["POST pins/rubric/rebuild"] = Refusal(409, "No model is loaded.", "pin_state")
    assert_told(pinfill("pins", "rebuild", "rubric"), "No model is loaded.")
    assert pinning.bodies("POST", "pins/rubric/refresh") == [{}]
    assert pinning.bodies("POST", "pins/rubric/rebuild") == [None, None]


@pytest.fixture
def watched(pinning: Service, tmp_path: Path) -> Service:
    """A service with a pin of files; its event stream ends once something was done about the pin."""
    pinning.answers["GET pins"] = manage.Pins(pins=[pinned_files(tmp_path, auto_refresh=True)])
    pinning.answers["GET pins/rubric"] = pinned_files(tmp_path, auto_refresh=True)
    pinning.answers["PATCH pins/rubric"] = pin(state="stale")
    pinning.events = [progress(1, None), state("queued"), state(None, "old"), ("reset", manage.ResetEvent())]
    return pinning


def test_watching_pins_changed_files_again(pinfill: CommandLine, watched: Service) -> None:
    done = pinfill("pins", "--watch")
    (body,) = watched.bodies("POST", "pins/rubric/refresh")
    assert "another text" in body["text"] and not watched.bodies("PATCH", "pins/rubric")
    lines = [line.partition(" ")[2] for line in done.out.splitlines()]
    assert {"rubric: b.txt changed", "rubric: queued", "old: unpinned"} <= set(lines)
    assert "rubric: prefilling" not in lines
    assert done.code == 1 and "The service stopped, and so did watching." in done.err
    assert len(watched.bodies("GET", "pins")) == 5  # for the table, at first, and after each event about the list


def test_watching_marks_other_pins_stale(pinfill: CommandLine, watched: Service, tmp_path: Path) -> None:
    watched.answers["GET pins/rubric"] = pinned_files(tmp_path, auto_refresh=False)
    pinfill("pins", "--watch")
    assert watched.bodies("PATCH", "pins/rubric") == [{"stale": "b.txt changed"}]
    assert not watched.bodies("POST", "pins/rubric/refresh")


def test_watching_says_when_files_are_again_what_was_pinned(
    pinfill: CommandLine, watched: Service, tmp_path: Path
) -> None:
    watched.answers["GET pins"] = manage.Pins(pins=[pinned_files(tmp_path, auto_refresh=True, state="stale")])
    (tmp_path / "b.txt").write_bytes(b"as it was, too")
    done = pinfill("pins", "--watch")
    assert watched.bodies("PATCH", "pins/rubric") == [{"stale": ""}]
    assert not watched.bodies("POST", "pins/rubric/refresh")
    assert "rubric: its files are again what was pinned" in done.out


def test_watching_says_why_changed_files_cannot_be_pinned(
    pinfill: CommandLine, watched: Service, tmp_path: Path
) -> None:
    (tmp_path / "b.txt").unlink()
    watched.answers["PATCH pins/rubric"] = Refusal(409, "Not now.", "pin_state")
    done = pinfill("pins", "--watch")
    (body,) = watched.bodies("PATCH", "pins/rubric")
    assert "b.txt" in body["stale"] and "cannot be read" in body["stale"]
    assert "rubric: Not now." in done.out and not watched.bodies("POST", "pins/rubric/refresh")


def test_messages_and_tools(pinfill: CommandLine, pinning: Service, tmp_path: Path) -> None:
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    (tmp_path / "talk.json").write_text(json.dumps(talk))
    body = {"model": "m", "messages": talk, "tools": tools}
    (tmp_path / "Body 1.json").write_text(json.dumps(body))
    (tmp_path / "tools.json").write_text(json.dumps(tools[:0]))
    pinfill("pin", "--messages", tmp_path / "talk.json")
    pinfill("pin", "--messages", tmp_path / "Body 1.json")
    pinfill("pin", "--messages", tmp_path / "Body 1.json", "--tools", tmp_path / "tools.json", "--name", "x")
    assert pinning.bodies("POST", "pins") == [
        {"name": "talk", "messages": talk, "auto_refresh": False},
        {"name": "body-1", "body": body, "auto_refresh": False},
        {"name": "x", "body": body, "tools": [], "auto_refresh": False},
    ]


def test_tools_that_are_none_are_told_as_the_service_says_it(
    pinfill: CommandLine, service: Service, tmp_path: Path
) -> None:
    told = "tools.0.name: a tool's name is made of 1 to 256 letters, digits and any of _ - . : /."
    service.answers["POST pins"] = Refusal(400, told, "invalid_value")
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "name": ""}]}
    (tmp_path / "body.json").write_text(json.dumps(body))
    assert_told(pinfill("pin", "--messages", tmp_path / "body.json", "--no-wait"), told)


def test_files_of_messages_that_are_none_are_told(pinfill: CommandLine, service: Service, tmp_path: Path) -> None:
    for content, told in (
        ("[", "is not JSON"),
        ('"words"', "neither a list of messages"),
        ('{"prompt": "x"}', "neither a list of messages"),
        ('{"messages": []}', "neither a list of messages"),
        ('{"messages": [{}], "tools": {}}', "no list of tools"),
        ('[{"role": "nobody"}]', "messages.0.role is not valid"),
    ):
        (tmp_path / "talk.json").write_text(content)
        assert_told(pinfill("pin", "--messages", tmp_path / "talk.json"), told)
    assert_told(pinfill("pin", "--messages", tmp_path / "absent.json"), "absent.json")
    assert not service.bodies("POST", "pins")


def test_requests_and_entries_are_pinned_by_id(pinfill: CommandLine, pinning: Service, cached: Service) -> None:
    pinfill("pin", "--request", "req_1", "--up-to", "system", "--name", "agent")
    pinfill("pin", "--entry", "aa0", "--name", "agent")
    assert_told(pinfill("pin", "--entry", "a", "--name", "agent"), f"{PINNED.id}, {CACHED.id}")
    assert pinning.bodies("POST", "pins") == [
        {"name": "agent", "request_id": "req_1", "up_to": "system", "auto_refresh": False},
        {"name": "agent", "entry_id": "aa00000000000001", "auto_refresh": False},
    ]
    assert_told(pinfill("pin", "--request", "req_1"), "--name NAME")
    assert_told(pinfill("pin", "--text", "???"), "--name NAME")


def test_options_that_do_not_go_together_are_told(pinfill: CommandLine, service: Service) -> None:
    for arguments, told in (
        ([], "Give one thing to pin"),
        (["a.txt", "--text", "words"], "Give one thing to pin"),
        (["--request", "1", "--entry", "2"], "Give one thing to pin"),
        (["--text", "words", "--up-to", "system"], "--up-to goes with --request only"),
        (["--entry", "1", "--raw"], "--raw goes with files or --text only"),
        (["--text", "words", "--auto-refresh"], "--auto-refresh goes with files only"),
        (["a.txt", "--tools", "t.json"], "--tools goes with --messages only"),
        (["-", "a.txt"], "cannot be mixed"),
        (["-", "--auto-refresh"], "cannot be mixed"),
    ):
        assert_told(pinfill("pin", *arguments), told)
    assert not service.asked


# -- doctor ------------------------------------------------------------------------------------------------------------

IDS = ("req_aaaa1111aaaa", "req_aaaa2222bbbb", "req_bbbb3333cccc")


@pytest.fixture
def asked_before(service: Service) -> Service:
    listed = [
        request(IDS[0]),
        request(IDS[1], client="claude-code", cached_tokens=12310, processed_tokens=142, ttft_seconds=0.4, finding=None)
        | {"miss_reason": None, "prompt_tokens": 12452},
        request(IDS[2], error="context_length_exceeded", finding=None, cached_tokens=0, processed_tokens=9),
    ]
    service.answers["GET requests"] = manage.Requests.model_validate({"requests": listed, "before": None})
    service.answers[f"GET requests/{IDS[0]}"] = detail(IDS[0])
    for start in ("req_bbbb", "req_aaaa", "nothing", IDS[2]):
        service.answers[f"GET requests/{start}"] = Refusal(404, f"There is no request {start}.", "request_not_found")
    return service


def test_the_last_requests_are_listed(pinfill: CommandLine, asked_before: Service) -> None:
    shown = pinfill("doctor", "--limit", 5).out
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert rows[0] == "cached new first word" and re.fullmatch(r"2023-11-1\d", rows[1])
    assert re.fullmatch(r"[\d:]{8} req_aaaa1111 goose █░{11} 210 4,300 8.1 s", rows[2])
    assert rows[3] == "left what was cached at token 210, in 'system': a clock changed"
    assert re.fullmatch(r"[\d:]{8} req_aaaa2222 claude-code █{11}░ 12,310 142 0.4 s", rows[4])
    assert re.fullmatch(r"[\d:]{8} req_bbbb3333 goose ░{12} 0 9 8.1 s", rows[5])
    assert rows[6:] == ["failed: context_length_exceeded"]
    assert max(map(len, shown.splitlines()[:3])) <= 80
    assert asked_before.asked[-1].query == {"limit": "5"}
    listed = manage.Requests.model_validate_json(pinfill("doctor", "--json").out)
    assert [each.id for each in listed.requests] == list(IDS)


def test_no_requests_yet(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET requests"] = manage.Requests(requests=[], before=None)
    assert pinfill("doctor").out == "No request is remembered yet.\n"


def test_one_request_in_detail(pinfill: CommandLine, asked_before: Service) -> None:
    done = pinfill("doctor", IDS[0])
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0].endswith(f"goose, smollm2-135m, /v1/chat/completions, {IDS[0]}")
    assert "210 cached 4,300 new first word after 8.1 s 0.4 s saved" in lines[1]
    assert lines[2:6] == [
        "It left what was cached at token 210, in 'system'.",
        "Why: A clock changed.",
        r"earlier: The current time is 10:40.\nYou are",
        r"now: The current time is 10:41.\nYou are",
    ]
    assert lines[6].startswith("What to do: Move the date")
    assert lines[-2:] == ["system 2,000 210", "message 1 (user) 2,510 0"]
    assert f"pinfill pin --request {IDS[0]}" in done.err
    assert manage.RequestDetail.model_validate_json(pinfill("doctor", IDS[0], "--json").out) == detail(IDS[0])


def test_a_request_by_the_beginning_of_its_id(pinfill: CommandLine, asked_before: Service) -> None:
    words = "All of it was cached.\x1b[2J"
    served = manage.Finding(kind="served", explanation=words)
    asked_before.answers[f"GET requests/{IDS[2]}"] = detail(IDS[2], segments=[], finding=served, error="x")
    shown = pinfill("doctor", "req_bbbb").out
    assert "Why: All of it was cached." in shown and "It failed: x" in shown and "\x1b" not in shown
    assert_told(pinfill("doctor", "req_aaaa"), "2 requests begin with")
    assert_told(pinfill("doctor", "nothing"), "There is no request nothing.", "'pinfill doctor'")


def body_file(folder: Path, name: str, system: str) -> Path:
    path = folder / name
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Hi"}]
    path.write_text(json.dumps({"model": "m", "messages": messages}), encoding="utf-8")
    return path


def test_two_bodies_are_compared_without_a_service(
    pinfill: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFILL_PORT", "1")
    first = body_file(tmp_path, "a.json", "You are a careful grader.\nThe time is 2026-11-30 10:40.")
    second = body_file(tmp_path, "b.json", "You are a careful grader.\nThe time is 2026-11-30 10:41.")
    found = json.loads(pinfill("doctor", first, second, "--json").out)
    assert found["kind"] == "clock" and found["path"] == "messages[0].content"
    assert "10:40" in found["before"] and "10:41" in found["after"]
    shown = pinfill("doctor", first, second).out
    assert "messages[0].content" in shown and "10:40" in shown and "10:41" in shown and "What to do: " in shown
    same = pinfill("doctor", first, first)
    assert same.code == 0 and same.out.startswith("Why: ")


def test_bodies_that_cannot_be_compared_are_told(pinfill: CommandLine, tmp_path: Path) -> None:
    good = body_file(tmp_path, "a.json", "x")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "broken.json").write_text("{")
    assert_told(pinfill("doctor", good, tmp_path / "list.json"), "list.json is no request body")
    assert_told(pinfill("doctor", good, tmp_path / "broken.json"), "broken.json is not JSON")
    assert_told(pinfill("doctor", good, tmp_path / "absent.json"), "absent.json")
    assert_told(pinfill("doctor", good), "pinfill doctor A.json B.json")
    assert_told(pinfill("doctor", good, good, good), "two files")


# -- rules -------------------------------------------------------------------------------------------------------------


def settings_view(**changes: bool) -> manage.SettingsView:
    rules = [
        manage.PromptRule(
            name=name, title=f"The {name}", description="It does.", default=True, on=changes.get(name, True)
        )
        for name in ("header", "dates")
    ]
    return manage.SettingsView(values={}, changeable=["rules"], needs_restart=[], rules=rules)


def test_rules_are_listed(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET settings"] = settings_view(dates=False)
    shown = pinfill("rules")
    assert shown.code == 0 and re.search(r"header +on +The header\. It does\.", shown.out)
    assert re.search(r"dates +off ", shown.out)
    listed = json.loads(pinfill("rules", "--json").out)
    assert [(rule["name"], rule["on"]) for rule in listed] == [("header", True), ("dates", False)]


@pytest.mark.parametrize(("word", "wanted"), [("on", True), ("off", False)])
def test_a_rule_is_switched(pinfill: CommandLine, service: Service, word: str, wanted: bool) -> None:
    service.answers |= {"GET settings": settings_view(), "PATCH settings": settings_view(header=wanted)}
    done = pinfill("rules", word, "header")
    assert (done.code, done.out) == (0, "") and f"The header: {word} from the next request on." in done.err
    assert service.bodies("PATCH", "settings") == [{"rules": {"header": wanted}}]


def test_a_rule_that_is_none_is_not_switched(pinfill: CommandLine, service: Service) -> None:
    service.answers["GET settings"] = settings_view()
    assert_told(pinfill("rules", "on", "nonsense"), "There is no rule 'nonsense', only header, dates.")
    assert not service.bodies("PATCH", "settings")
