"""What clients tell about how their requests belong together reaches the engine, and changes no prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinfill_service.api.session_hint import SESSION_HEADERS, lasting_session, session_hint
from pinfill_service.prompt.chat import ChatRequest, Hints
from tests.support.managed import Managed, managed

TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]


@pytest.mark.parametrize("header", SESSION_HEADERS)
def test_every_header_names_the_session_and_the_body_wins(header: str) -> None:
    sent = {header: "mine"}
    assert session_hint(sent) == session_hint(sent, "") == session_hint(sent, "  ") == "mine"
    assert session_hint(sent, "thread") == "thread"


def test_without_a_name_there_is_none_and_long_ones_are_cut() -> None:
    assert session_hint({}) == session_hint({"x-session-id": "  "}) == ""
    assert session_hint({"x-session-id": "s" * 5000}) == session_hint({}, "s" * 5000) == "s" * 256


def chat(*contents: str, tools: bool = True, session: str = "") -> ChatRequest:
    roles = ("system", "user", "assistant", "user")
    messages = tuple({"role": role, "content": text} for role, text in zip(roles, contents, strict=False))
    return ChatRequest(messages, tuple(TOOLS) if tools else (), hints=Hints(session))


def test_what_offers_no_tools_is_a_side_call() -> None:
    assert lasting_session(chat("s", "u", tools=False, session="mine")) == ""
    assert lasting_session(chat("s", "u", session="mine")) == "mine"


def test_a_session_without_a_name_is_told_by_its_beginning() -> None:
    first, later = chat("s", "u"), chat("s", "u", "a", "more")
    assert lasting_session(first) == lasting_session(later) != ""
    assert len({lasting_session(chat("s", "u")), lasting_session(chat("s", "v")), lasting_session(chat("t", "u"))}) == 3
    assert lasting_session(chat("\ud800", "u"))


async def asked(service: Managed, headers: dict[str, str] | None = None, **body: Any) -> tuple[str, list[int]]:
    sent = {"messages": [{"role": "user", "content": "hi"}], "tools": TOOLS, **body}
    response = await service.http.post("/v1/chat/completions", json=sent, headers=headers)
    assert response.status_code == 200, response.text
    engine = service.engine.requests[-1]
    return engine.session, list(engine.prompt)


async def test_the_hint_reaches_the_engine(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:
        unnamed, prompt = await asked(service)
        assert unnamed
        assert await asked(service, {"agent-session-id": "a"}) == ("a", prompt)
        assert await asked(service, {"agent-session-id": "a"}, prompt_cache_key="b") == ("b", prompt)
        assert (await asked(service, {"agent-session-id": "a"}, tools=None))[0] == ""


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {"max_tokens": 3, "tools": [{"name": "bash", "input_schema": {"type": "object"}}]}),
        ("/v1/responses", {"tools": [{"type": "function", "name": "bash", "parameters": {"type": "object"}}]}),
        ("/api/chat", {"model": "any", "tools": TOOLS}),
    ],
)
async def test_every_api_reads_the_headers(path: str, body: dict[str, Any], tmp_path: Path) -> None:
    said = "input" if path == "/v1/responses" else "messages"
    sent = {said: [{"role": "user", "content": "hi"}], "stream": False, **body}
    async with managed(tmp_path) as service:
        response = await service.http.post(path, json=sent, headers={"x-session-affinity": "mine"})
        assert response.status_code == 200, response.text
        assert service.engine.requests[-1].session == "mine"


async def test_every_message_ends_where_the_engine_may_go_on(tmp_path: Path) -> None:
    """Whatever message a client marks: for models with state, its end is a checkpoint."""
    said = ["be good", "what is it?", "it is so", "and now?"]
    roles = ["system", "user", "assistant", "user"]
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    async with managed(tmp_path) as service:
        await service.chat(messages=messages)
        sent = service.engine.requests[-1]
        text = service.application.models.current.text  # type: ignore[union-attr]
        for number in range(1, len(messages) + 1):
            end = len(
                text.tokenizer.encode_prompt(
                    "".join(
                        f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n"
                        for message in messages[:number]
                    )
                )
            )
            assert end in sent.boundaries
