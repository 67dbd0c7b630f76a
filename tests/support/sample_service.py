"""A service that has been used for a while, the same one every time: for screenshots."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from pinfill_app.models.found_model import FoundModel
from pinfill_service.api.schemas import manage
from tests.support import prefixes
from tests.support.pages import ScriptedClient, detail, found, request, status

NOW = 1_780_300_800.0  # 2026-06-01, 08:00 UTC
MEMORY, FREE_MEMORY, FREE_DISK = 16_800_000_000, 11_200_000_000, 212_000_000_000  # bytes of its machine
RUBRIC, HANDBOOK, TOOLS, OLD = "Grading rubric v3", "Employee handbook", "Claude Code tools", "Old handbook"
CLOCK = manage.Finding(
    kind="clock",
    position_tokens=210,
    segment="system",
    before="You are a helpful assistant.\nThe current time is 07:40. You are working in the folder",
    after="You are a helpful assistant.\nThe current time is 07:41. You are working in the folder",
    explanation='The prompt left the cached prefix at token 210, in "system": a clock changed.',
    suggestion="Move the date or time to the last message, or leave it out.",
    compared_with="r3",
)


def pin(name: str, tokens: int, **fields: Any) -> manage.Pin:
    """A warm pin, but for what is given."""
    slug = name.lower().replace(" ", "-")
    source = manage.SourceFile(path=f"/home/ada/documents/{slug}.md", size=4 * tokens, mtime=NOW - 9e5, sha256="0" * 64)
    known: dict[str, Any] = {
        "use_as": f"smollm2-135m@{slug}",
        "tokens": tokens,
        "done": tokens,
        "total": tokens,
        "memory_bytes": tokens * 46_080,
        "disk_bytes": tokens * 46_080,
        "sources": [source],
        "created": NOW - 9e5,
        "hits": 0,
        "saved_seconds": 0.0,
        "saved_seconds_today": 0.0,
        "last_used": None,
        "prefill_seconds": tokens / 620,
    }
    return prefixes.pin(name, **(known | fields))


def pins() -> tuple[manage.Pin, ...]:
    checked = manage.Verification(at=NOW - 5_400, greedy_equal=True, largest_difference=0.0)
    return (
        pin(
            RUBRIC, 1_880, shared_tokens=310, hits=214, saved_seconds=4_680.0, saved_seconds_today=482.0,
            last_used=NOW - 4, verified=checked,
        ),
        pin(HANDBOOK, 12_410, state="prefilling", done=5_957, memory_bytes=0, seconds_left=9.0, on_disk=False),
        pin(TOOLS, 11_882, hits=31, saved_seconds=7_560.0, saved_seconds_today=760.0, last_used=NOW - 130),
        pin(OLD, 9_204, state="stale", reason="old-handbook.md has changed", hits=12, saved_seconds=178.0),
    )  # fmt: skip


def entries() -> tuple[manage.Entry, ...]:
    begins = ("You are a helpful coding assistant", "Translate into plain English:", "Summarise the minutes below")
    return tuple(
        prefixes.entry(
            f"e{number}",
            words,
            tokens=640 * number,
            memory_bytes=640 * number * 46_080,
            hits=3 * number,
            saves_seconds=640 * number / 620,
            idle_seconds=300.0 * number,
            client="opencode",
        )
        for number, words in enumerate(begins, 1)
    )


def requests(now: float) -> tuple[manage.RequestSummary, ...]:
    """The latest ones before `now`, which is best a time of today: others are shown with their date."""
    slow = {"client": "goose", "prompt_tokens": 4_510, "cached_tokens": 210, "processed_tokens": 4_300}
    small = {"client": "openai-python", "prompt_tokens": 1_915, "cached_tokens": 1_880, "processed_tokens": 35}
    return (
        request("r6", at=now - 20),
        request("r5", at=now - 37, **slow, ttft_seconds=8.1, saved_seconds=0.3, finding=CLOCK),
        *(
            request(f"r{4 - n}", at=now - 60 - 9 * n, **small, pin=RUBRIC, ttft_seconds=0.09, saved_seconds=3.0)
            for n in range(4)
        ),
    )


def savings() -> manage.Savings:
    by_day, first = [], date(2026, 5, 26)
    for number, seconds in enumerate((610, 1_240, 980, 1_730, 420, 2_960, 1_242)):
        day = (first + timedelta(days=number)).isoformat()
        for name, share in ((RUBRIC, 0.35), (TOOLS, 0.5), (None, 0.15)):
            count = int(seconds * share / 9)
            by_day.append(
                manage.SavingsByDay(
                    day=day,
                    pin=name,
                    requests=count,
                    prompt_tokens=6_000 * count,
                    cached_tokens=5_700 * count,
                    saved_seconds=seconds * share,
                    prefill_seconds=0.4 * count,
                )
            )
    names = ("requests", "prompt_tokens", "cached_tokens", "saved_seconds", "prefill_seconds")

    def total(rows: list[manage.SavingsByDay]) -> dict[str, Any]:
        return {name: sum(getattr(row, name) for row in rows) for name in names}

    by_pin = [
        manage.SavingsByPin(pin=name, **total([row for row in by_day if row.pin == name]))
        for name in (RUBRIC, TOOLS, None)
    ]
    return manage.Savings(days=30, total=manage.SavingsPart(**total(by_day)), by_pin=by_pin, by_day=by_day)


def models() -> tuple[manage.ModelEntry, ...]:
    known = {"licence": "Apache-2.0", "in_catalogue": True, "pulling": False, "source": None, "outdated": None}
    here = {"installed": True, "loaded": True, "bytes": 180_000_000}
    away = {"installed": False, "loaded": False, "bytes": 1_056_000_000}
    first = {"name": "smollm2-135m", "title": "SmolLM2-135M-Instruct", "context_length": 8_192}
    other = {"name": "smollm2-1.7b", "title": "SmolLM2-1.7B-Instruct", "context_length": 8_192}
    return tuple(manage.ModelEntry.model_validate(known | values) for values in (first | here, other | away))


def found_models() -> tuple[FoundModel, ...]:
    """What other programs have on its machine."""
    notes = ("Ollama's own chat template is not taken over; the one in the GGUF file is used",)
    blob = f"/home/ada/.ollama/models/blobs/sha256-{'4f' * 32}"
    vision = "it is the vision part of another model, not a model of its own."
    return (
        found("ollama:llama3.2:1b", path=blob, bytes=1_321_000_000, quantisation="Q8_0", notes=notes),
        found("lmstudio:ada/Qwen3/Qwen3-0.6B-Q8_0.gguf", name="qwen3-0.6b", bytes=639_000_000, architecture="qwen3"),
        found("huggingface:org/gemma-3", name="mmproj-gemma-3", bytes=None, architecture=None, problem=vision),
    )


def settings() -> manage.SettingsView:
    """With the values of `next_start`."""
    rules = [
        manage.PromptRule(
            name="claude-billing-header",
            title="Claude Code's billing header is left out",
            description="Claude Code begins its system prompt with a line that is another one in every conversation.",
            default=True,
            on=True,
        ),
        manage.PromptRule(
            name="tools-by-name",
            title="Tools are sorted by name",
            description="For clients that send the same tools in changing order.",
            default=False,
            on=False,
        ),
    ]
    changeable = ["memory_budget_mib", "disk_budget_mib", "keep_sessions", "history", "rules"]
    return manage.SettingsView(values=dict(VALUES), changeable=changeable, needs_restart=[], rules=rules)


VALUES: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": 7463,
    "allowed_hosts": [],
    "no_key": False,
    "threads": 8,
    "context_length": None,
    "memory_budget_mib": 2_048,
    "disk_budget_mib": 8_192,
    "keep_sessions": False,
    "history": True,
    "rules": {},
}

LOG = """2026-06-01 07:58:02,114 INFO pinfill_service.commands.serve: Pinfill listens on http://127.0.0.1:7463
2026-06-01 07:58:02,790 INFO pinfill_service.engine.loading: smollm2-135m runs on the CPU: no NPU was found
2026-06-01 07:58:03,005 INFO pinfill_service.pins.keeper: 3 pins came back from disk
2026-06-01 07:58:41,512 WARNING pinfill_service.pins.watching: Old handbook is stale: old-handbook.md has changed
2026-06-01 07:59:23,870 ERROR pinfill_service.pins.keeper: a file of Old handbook is damaged and was set aside
2026-06-01 07:59:40,101 INFO pinfill_service.api.recording: 4,510 tokens, 210 of them cached, first word after 8.1 s
2026-06-01 07:59:59,350 INFO pinfill_service.api.recording: 12,452 tokens, 12,310 of them cached, first word after 0.4 s
"""


def busy_status() -> manage.Status:
    """A status that fits what is above."""
    activity = manage.Activity(
        running=1,
        waiting=0,
        slots=8,
        entries=3,
        prompt_tokens_cached=1_204_000,
        prompt_tokens_processed=61_000,
        generated_tokens=18_000,
        prefill_tokens_per_second=620.0,
        decode_tokens_per_second=84.0,
        saved_seconds=1_242.0,
        evictions=2,
    )
    counts = {"warm": 2, "prefilling": 1, "stale": 1}
    return status().model_copy(update={"activity": activity, "pins": counts, "saved_seconds_today": 1_242.0})


def everything(latest: tuple[manage.RequestSummary, ...]) -> dict[str, Any]:
    """What the store has of it, by the names of its attributes."""
    return {
        "status": busy_status(),
        "pins": pins(),
        "entries": entries(),
        "requests": latest,
        "savings": savings(),
        "models": models(),
    }


def answer(client: ScriptedClient, latest: tuple[manage.RequestSummary, ...]) -> None:
    """What the service says when pages ask it more."""
    client.answers["GET", "settings"] = settings()
    client.answers["GET", "status"] = busy_status()
    client.answers["GET", "pins"] = manage.Pins(pins=list(pins()))
    client.answers["GET", "entries"] = manage.Entries(entries=list(entries()))
    client.answers["GET", "models"] = manage.Models(models=list(models()))
    client.answers["GET", "savings"] = savings()
    client.answers["GET", "requests"] = manage.Requests(requests=list(latest), before=None)
    segments = {"system": 1_880, "tools": 2_300, "message 1 (user)": 320, "generation prompt": 10}
    for each in latest:
        client.answers["GET", "requests", each.id] = detail(each, segments)
