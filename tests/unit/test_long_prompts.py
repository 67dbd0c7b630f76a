"""Long prompts, whatever makes them long, are encoded on another thread than the one that streams answers."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.api.chat import OFF_LOOP_CHARACTERS
from pinfill_service.prompt.tokenizer import TextTokenizer
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.managed import Managed, managed

LONG = "word " * (OFF_LOOP_CHARACTERS // 5 + 1)
USER = {"role": "user", "content": "hello"}
TOOL = {"type": "function", "function": {"name": "read", "description": LONG}}
CALL = {"id": "1", "type": "function", "function": {"name": "write", "arguments": {"text": LONG}}}
CALLED = [USER, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "1", "content": "ok"}]
CHAT, COMPLETIONS, GENERATE = "/v1/chat/completions", "/v1/completions", "/api/generate"
LONG_ONES: list[tuple[str, dict[str, Any]]] = [
    (CHAT, {"messages": [{**USER, "content": LONG}]}),
    (CHAT, {"messages": [USER], "tools": [TOOL]}),
    (CHAT, {"messages": CALLED}),
    (COMPLETIONS, {"prompt": LONG}),
    (COMPLETIONS, {"prompt": "hello", "model": "m@long"}),
    (GENERATE, {"prompt": "hello", "model": "m@long", "raw": True, "stream": False}),
]


@pytest.fixture
def encoded_on(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The threads on which prompts were encoded."""
    threads: set[int] = set()
    encode = TextTokenizer.encode_prompt_pieces

    def watched(tokenizer: TextTokenizer, text: str) -> Any:
        threads.add(threading.get_ident())
        return encode(tokenizer, text)

    monkeypatch.setattr(TextTokenizer, "encode_prompt_pieces", watched)
    return threads


async def ask(service: Managed, path: str, body: dict[str, Any]) -> None:
    response = await service.http.post(path, json=body)
    assert response.status_code == 200, response.text


async def test_what_is_long_leaves_the_event_loop_alone(tmp_path: Path, encoded_on: set[int]) -> None:
    async with managed(tmp_path, FakeEngine(Reply([5]), context_length=1 << 17)) as service:
        await service.pin("long", raw_text=LONG)
        for path, body in LONG_ONES:
            encoded_on.clear()
            await ask(service, path, body)
            assert encoded_on and threading.get_ident() not in encoded_on, (path, list(body))
        encoded_on.clear()
        await ask(service, CHAT, {"messages": [USER]})
        assert encoded_on == {threading.get_ident()}
