"""Tools of a pin, in the forms of all APIs: they are those of the API's own requests, or refused with their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinfill_service.api.anthropic_request import chat_request
from pinfill_service.api.responses_tools import offered_tools
from pinfill_service.api.schemas.anthropic import MessagesRequest
from pinfill_service.prompt.tools.definitions import DefinitionError, in_one_form
from tests.support.managed import managed

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
READ = {"name": "read", "description": "Reads a file.", "parameters": SCHEMA}
SYSTEM = [{"role": "system", "content": "Be brief."}]
CHAT = [{"type": "function", "function": READ}, {"type": "function", "function": {"name": "stop"}}]
RESPONSES = [
    {"type": "function", "strict": False, **READ},
    {"type": "web_search"},
    {"type": "function", "name": "stop", "strict": True, "defer_loading": True},
    {"type": "custom", "name": "patch", "format": {"type": "text"}},
    {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": name} for name in ("read", "list")]},
]
ANTHROPIC = [
    {"name": "read", "description": "Reads a file.", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    {"type": "custom", "name": "stop", "input_schema": {"type": "object"}, "defer_loading": True},
    {"type": "web_search_20250305", "name": "web_search"},
]


def test_a_mark_for_the_cache_is_left_out() -> None:
    assert in_one_form([{**CHAT[0], "cache_control": {"type": "ephemeral"}}, CHAT[1]]) == tuple(CHAT)


def test_they_are_those_of_the_api_s_own_requests() -> None:
    assert in_one_form(CHAT) == tuple(CHAT)
    assert in_one_form(RESPONSES) == offered_tools(RESPONSES).tools
    assert [each["function"]["name"] for each in in_one_form(RESPONSES)] == ["read", "stop", "files__read", "list"]
    body = MessagesRequest.model_validate({"messages": [{"role": "user", "content": "x"}], "tools": ANTHROPIC})
    assert in_one_form(ANTHROPIC) == chat_request(body, {}).tools


NO_TOOLS: list[tuple[dict[str, Any], str]] = [
    ({}, "tools.1.name"),
    ({"type": "function"}, "tools.1.name"),
    ({"type": "function", "function": "read"}, "tools.1.function"),
    ({"type": "function", "function": {"name": 'a">'}}, "tools.1.function.name"),
    ({"type": "function", "name": "read"}, "tools.1.name"),
    ({"type": "function", "name": "list", "parameters": [1]}, "tools.1.parameters"),
    ({"type": "function", "function": {"name": "list", "parameters": [1]}}, "tools.1.function.parameters"),
    ({"name": "list", "input_schema": "none"}, "tools.1.input_schema"),
    ({"name": 5, "input_schema": {}}, "tools.1.name"),
    ({"type": 5}, "tools.1.type"),
    ({"type": "namespace", "name": "files"}, "tools.1"),
    ({"type": "namespace", "name": "files", "tools": [{"type": "function", "name": ""}]}, "tools.1.tools.0.name"),
    ({"type": "namespace", "name": "files", "tools": [{"type": "function", "name": [1]}]}, "tools.1.tools.0.name"),
    ({"type": "namespace", "name": "a b", "tools": [{"type": "function", "name": "read"}]}, "tools.1.tools.0.name"),
]


@pytest.mark.parametrize(("bad", "where"), NO_TOOLS)
def test_what_is_no_tool_is_told_with_its_place(bad: dict[str, Any], where: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        in_one_form([CHAT[0], bad])
    assert refused.value.where == where and str(refused.value).startswith(f"{where}: ")


async def test_a_pin_has_no_tools_that_its_requests_would_be_refused_for(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        for bad, where in NO_TOOLS:
            for content in ({"messages": SYSTEM}, {"text": "Be brief."}):
                body = {"name": "agent", **content, "tools": [CHAT[0], bad]}
                error = (await service.ask("POST", "/pins", 400, **body))["error"]
                assert (error["code"], error["param"]) == ("invalid_value", where)
                assert error["message"].startswith(f"{where}: ")
        assert (await service.get("/pins"))["pins"] == []
        for name, tools in (("chat", CHAT), ("responses", RESPONSES), ("anthropic", ANTHROPIC)):
            await service.pin(name, messages=SYSTEM, tools=tools)
            assert (await service.get(f"/pins/{name}/content"))["tools"] == list(in_one_form(tools))
            answered = await service.chat("x", model=f"fake-model@{name}", tools=[CHAT[0]])
            assert answered.status_code == 200, answered.text
        error = (await service.ask("POST", "/pins/chat/refresh", 400, messages=SYSTEM, tools=[{"name": ""}]))["error"]
        assert error["param"] == "tools.0.name"


async def test_tools_without_a_conversation_are_refused(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        await service.pin("agent", messages=SYSTEM)
        for path, body in (("/pins", {"name": "raw", "raw_text": "Once"}), ("/pins/agent/refresh", {})):
            _, message = await service.error("POST", path, 400, tools=CHAT, **body)
            assert "tools go with text, messages or body" in message


async def test_a_request_is_told_the_place_among_its_own_tools(tmp_path: Path) -> None:
    async with managed(tmp_path, rules={"tools-by-name": True}) as service:
        await service.pin("agent", messages=SYSTEM, tools=CHAT)
        own = [{"type": "function", "function": {"name": "z"}}, {"type": "function", "function": {"name": ""}}]
        refused = await service.chat("x", model="fake-model@agent", tools=own)
        assert refused.json()["error"]["param"] == "tools.1.function.name"
        assert (await service.chat("x", model="fake-model@agent", tool_choice="required")).status_code == 200
