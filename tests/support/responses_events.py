"""The events of the Responses API as its official client's types see them."""

from __future__ import annotations

import json
from typing import Any

from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

_EVENT: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
_TERMINAL = ("response.completed", "response.incomplete", "response.failed")


def named_events(text: str) -> list[dict[str, Any]]:
    """The events of a stream, each of the type its `event` line says; comments are left out."""
    events = []
    for block in text.split("\n\n"):
        if not block or block.startswith(":"):
            continue
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    return events


def check_events(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Checks types, numbers and order of a complete stream; the answer it ends with, which is what its events told."""
    for event in events:
        _EVENT.validate_python(event)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert [event["type"] in _TERMINAL for event in events] == [False] * (len(events) - 1) + [True]
    final: dict[str, Any] = events[-1]["response"]
    assert final["output"] == told_items(events[2:-1])
    assert {event["response"]["id"] for event in (*events[:2], events[-1])} == {final["id"]}
    return check_response(final)


def told_items(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items that events tell of, put together from their pieces as clients do, and equal to how they end."""
    built: list[dict[str, Any]] = []
    ended: dict[int, dict[str, Any]] = {}
    for event in events:
        kind, at = event["type"].removeprefix("response."), event["output_index"]
        if kind == "output_item.added":
            assert at == len(built) and event["item"]["status"] == "in_progress"
            built.append(event["item"])
            continue
        assert at not in ended
        if kind == "output_item.done":
            assert built[at] | {"status": event["item"]["status"]} == event["item"]
            ended[at] = event["item"]
            continue
        assert event["item_id"] == built[at]["id"]
        _grow(built[at], kind, event)
    assert sorted(ended) == list(range(len(built)))
    return [ended[at] for at in sorted(ended)]


def _grow(item: dict[str, Any], kind: str, event: dict[str, Any]) -> None:
    """Applies an event that tells of a piece of an item."""
    if kind == "function_call_arguments.delta":
        item["arguments"] += event["delta"]
    elif kind == "function_call_arguments.done":
        assert item["arguments"] == event["arguments"]
    else:
        parts = item["summary" if "summary" in kind else "content"]
        index = event["summary_index" if "summary" in kind else "content_index"]
        if kind.endswith("part.added"):
            assert index == len(parts)
            parts.append(event["part"])
        elif kind.endswith("part.done"):
            assert parts[index] == event["part"]
        elif kind.endswith(".delta"):
            parts[index]["text"] += event["delta"]
        else:
            assert kind.endswith("text.done") and parts[index]["text"] == event["text"]


def check_response(response: dict[str, Any]) -> dict[str, Any]:
    """The answer, which the official client's type accepts and whose counts add up."""
    Response.model_validate(response)
    usage = response["usage"]
    if usage is not None:
        cached, written = (usage["input_tokens_details"][name] for name in ("cached_tokens", "cache_write_tokens"))
        assert cached + written == usage["input_tokens"]
        assert usage["input_tokens"] + usage["output_tokens"] == usage["total_tokens"]
    return response
