"""Request bodies of three APIs as pins: a pin holds what the same request to its own route is read as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.managed import Managed, managed

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
HEADER = "x-anthropic-billing-header: cc_version=2.1.0.f00; cc_entrypoint=cli;"
CHAT = {
    "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Look."}],
    "tools": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}],
}
RESPONSES = {
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path": "a"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "words"},
    ],
    "tools": [{"type": "function", "name": "read", "parameters": SCHEMA}, {"type": "web_search"}],
}
ANTHROPIC = {
    "system": [{"type": "text", "text": HEADER}, {"type": "text", "text": "Be brief."}],
    "messages": [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "words"}]},
    ],
    "tools": [{"name": "read", "input_schema": SCHEMA}],
}
ROUTES = [("/v1/chat/completions", CHAT), ("/v1/responses", RESPONSES), ("/v1/messages", ANTHROPIC)]
ANSWERED = {"role": "user", "content": "x"}


async def content(service: Managed, **fields: Any) -> dict[str, Any]:
    await service.pin("agent", **fields)
    found = await service.get("/pins/agent/content")
    await service.ask("DELETE", "/pins/agent")
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(("route", "body"), ROUTES)
async def test_a_body_is_pinned_as_its_own_route_reads_it(tmp_path: Path, route: str, body: dict[str, Any]) -> None:
    async with managed(tmp_path) as service:
        response = await service.http.post(route, json={"model": "fake-model", "max_tokens": 8, **body})
        assert response.status_code == 200, response.text
        (sent,) = (await service.get("/requests"))["requests"]
        wanted = await content(service, request_id=sent["id"])
        assert wanted["tools"] and "billing" not in str(wanted)
        assert await content(service, body={"temperature": "as warm as you like", **body}) == wanted


async def test_a_body_may_go_on_from_an_answer_of_the_service(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        first = (await service.http.post("/v1/responses", json={"input": "Hi"})).json()
        found = await content(service, body={"previous_response_id": first["id"], "input": "And then?"})
        assert [message["role"] for message in found["messages"]] == ["user", "assistant", "user"]


async def test_other_tools_take_the_place_of_the_body_s(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        other = [{"type": "function", "function": {"name": "write", "parameters": SCHEMA}}]
        for body in (CHAT, RESPONSES, ANTHROPIC):
            assert (await content(service, body=body, tools=other))["tools"] == other
            assert (await content(service, body=body, tools=[]))["tools"] == []


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"prompt": "x"}, "body"),
        ({"messages": "x"}, "messages"),
        ({"messages": [{"role": "nobody", "content": "x"}]}, "messages.0.role"),
        ({"messages": [ANSWERED], "tools": [{"type": "function", "name": ""}]}, "tools.0.name"),
        ({"messages": [ANSWERED], "tools": ["read"]}, "tools.0"),
        ({"system": "x", "messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages.0.content"),
        ({"system": 5, "messages": [ANSWERED]}, "system"),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": ""}]}, "input.0.call_id"),
        ({"input": 5}, "input"),
    ],
)
async def test_a_body_that_is_none_is_refused_with_the_place(tmp_path: Path, body: dict[str, Any], param: str) -> None:
    async with managed(tmp_path) as service:
        error = (await service.ask("POST", "/pins", 400, name="agent", body=body))["error"]
        assert error["code"] == "invalid_value" and error["param"].startswith(param), error
        assert (await service.get("/pins"))["pins"] == []
