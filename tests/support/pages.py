"""Pages on a scripted service: what it has is put into the store, what it is asked is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from PySide6.QtCore import QLocale, QTimer
from pytestqt.qtbot import QtBot

from pinfill_app.client import Client
from pinfill_app.commands import Commands, Output
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.found_models import FoundModels
from pinfill_app.models.found_model import FoundModel
from pinfill_app.service_state import ServiceState
from pinfill_app.settings import AppSettings
from pinfill_app.state import Store
from pinfill_app.supervisor import Supervisor
from pinfill_app.windows.page import Context, Page
from pinfill_service.api.schemas import manage
from tests.support.updates import silent_updates

P = TypeVar("P", bound=Page)
Answer = BaseModel | Output | Failure


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, or one command (`method` "RUN")."""

    method: str
    path: tuple[str, ...]
    body: Mapping[str, Any] = field(default_factory=dict)


class NoCall:
    """A request that was answered already."""

    is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True


class NoCommand:
    """One that never ran, and can be stopped before it is heard of."""

    is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True


class ScriptedClient(Client):
    """Answers by (method, *path), where the last parts may be left out; what is not scripted is refused."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        self.answers: dict[tuple[str, ...], Answer | Callable[[Asked], Answer]] = {}
        self.connect_to("http://127.0.0.1:7463", "a-key")

    def ask(self, method: str, schema: type[Any], *path: str, done: Callable[[Any], None], **more: Any) -> Any:
        body, call = more.get("body"), NoCall()
        asked = Asked(method, path, {} if body is None else body.model_dump(exclude_unset=True))
        self.take(asked, lambda answer: None if call.is_aborted else done(answer))
        return call

    def take(self, asked: Asked, done: Callable[[Any], None]) -> None:
        """What it is answered is decided now, and told later."""
        self.asked.append(asked)
        answer = self._answer(asked)
        QTimer.singleShot(0, lambda: done(answer))

    def changes(self) -> list[tuple[str, ...]]:
        """All but looks: (method, *path)."""
        return [(asked.method, *asked.path) for asked in self.asked if asked.method != "GET"]

    def _answer(self, asked: Asked) -> Answer:
        words = (asked.method, *asked.path)
        for length in range(len(words), 0, -1):
            found = self.answers.get(words[:length])
            if found is not None:
                return found(asked) if callable(found) else found
        return Failure(FailureKind.REFUSED, f"Nothing is scripted for {asked}.")


class ScriptedFound(FoundModels):
    """Finds `there_is` at once, and no process is started; `looks` counts."""

    def __init__(self) -> None:
        super().__init__()
        self.there_is: tuple[FoundModel, ...] = ()
        self.looks = 0

    def look(self) -> None:
        self.has_looked = True
        self.looks += 1
        self.models = self.there_is
        self.changed.emit()


class ScriptedCommands(Commands):
    """Runs nothing: asks the script of the client."""

    def __init__(self, client: ScriptedClient) -> None:
        super().__init__(client)
        self._script = client

    def run(self, *arguments: str, done: Callable[[Output | Failure], None]) -> Any:
        command = NoCommand()
        self._script.take(Asked("RUN", arguments), lambda answer: None if command.is_stopped else done(answer))
        return command


def _no_plan() -> Any:
    raise AssertionError("no service is started in these tests")


class Shown(Generic[P]):
    """The page under test."""

    def __init__(self, kind: type[P], home: Path) -> None:
        self.client = ScriptedClient()
        self.store = Store(self.client)
        self.supervisor = Supervisor(_no_plan)
        self.supervisor.state = ServiceState.READY
        self.pages: list[tuple[str, dict[str, Any]]] = []
        self.found = ScriptedFound()
        self.told: list[tuple[str, str]] = []
        self.context = Context(
            self.client,
            self.store,
            self.supervisor,
            AppSettings(home),
            lambda name, /, **hints: self.pages.append((name, hints)),
            lambda title, text, /: self.told.append((title, text)),
            ScriptedCommands(self.client),
            self.found,
            silent_updates(home),
        )
        self.page = kind(self.context)

    def say(self, state: ServiceState) -> None:
        """The service is in another state now."""
        self.supervisor.state = state
        self.supervisor.state_changed.emit()

    def have(self, **parts: Any) -> None:
        """The service has these now: attributes of the store."""
        for name, value in parts.items():
            setattr(self.store, name, value)
            getattr(self.store, f"{name}_changed").emit()


@contextmanager
def shown(qtbot: QtBot, kind: type[P], home: Path) -> Iterator[Shown[P]]:
    """A page in a window, with a loaded model."""
    made = Shown(kind, home)
    qtbot.addWidget(made.page)
    made.have(status=status())
    made.page.resize(930, 620)
    made.page.show()
    made.page.shown()
    yield made


@contextmanager
def english() -> Iterator[None]:
    """Numbers as the English write them, whatever the machine's language is."""
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    yield
    QLocale.setDefault(before)


def status(model: str | None = "smollm2-135m", state: manage.ModelState | None = None) -> manage.Status:
    """Of a service with this model."""
    loaded, memory = None, None
    if model is not None:
        loaded = manage.LoadedModel(
            name=model,
            fingerprint="f" * 16,
            context_length=8192,
            vocab_size=49152,
            kv_bytes_per_token=46_080,
            provider="CPUExecutionProvider",
            provider_note="CPU: no NPU was found.",
        )
        memory = manage.MemoryUse(
            pinned_bytes=412_000_000,
            cached_bytes=230_000_000,
            used_bytes=642_000_000,
            free_bytes=1_358_000_000,
            budget_bytes=2_000_000_000,
        )
    return manage.Status(
        version="1.0",
        api_version=1,
        pid=1,
        started=1_700_000_000.0,
        uptime_seconds=500.0,
        model=loaded,
        model_state=state or ("loaded" if loaded is not None else "unloaded"),
        activity=None,
        memory=memory,
        disk=None,
        pins={},
        saved_seconds_today=482.0,
        problems=[],
    )


def found(model_id: str, **fields: Any) -> FoundModel:
    """A model of another program, which can be imported, but for what is given."""
    programs = {"lmstudio": "LM Studio", "ollama": "Ollama", "huggingface": "Hugging Face"}
    known: dict[str, Any] = {
        "program": programs[model_id.partition(":")[0]],
        "path": f"/home/ada/{model_id.partition(':')[2]}",
        "name": model_id.partition(":")[2].replace("/", "-").replace(":", "-").lower(),
        "bytes": 808_000_000,
        "architecture": "llama",
        "quantisation": "Q4_K_M",
        "notes": (),
        "problem": None,
    }
    return FoundModel(id=model_id, **(known | fields))


def request(request_id: str, **fields: Any) -> manage.RequestSummary:
    """A request of which nearly all was cached, but for what is given."""
    known: dict[str, Any] = {
        "at": 1_700_000_400.0,
        "route": "/v1/chat/completions",
        "client": "claude-code",
        "model": "smollm2-135m",
        "pin": None,
        "prompt_tokens": 12_452,
        "cached_tokens": 12_310,
        "processed_tokens": 142,
        "generated_tokens": 60,
        "queue_seconds": 0.0,
        "prefill_seconds": 0.3,
        "decode_seconds": 1.0,
        "ttft_seconds": 0.4,
        "saved_seconds": 8.1,
        "finish_reason": "stop",
        "error": None,
        "miss_reason": None,
        "finding": None,
    }
    return manage.RequestSummary(id=request_id, **(known | fields))


def detail(summary: manage.RequestSummary, segments: Mapping[str, int], *, remembered: bool = True) -> Any:
    """What is known of a request."""
    return manage.RequestDetail(
        **summary.model_dump(),
        segments=[manage.RequestSegment(label=label, tokens=tokens) for label, tokens in segments.items()],
        text="the prompt" if remembered else None,
        compared_with=None,
        compared_text=None,
        can_be_pinned=remembered,
    )
