"""A reply reader with a language of its own, so that tests write down the parts of an answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pinfill_service.api.chat import PreparedChat, prepare_chat
from pinfill_service.api.context import Service
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reasoning, Words

_SWITCH = re.compile(r"<(?:(think|say|end)|call ([\w.-]+))>")


class ScriptedReader:
    """`<think>`, `<say>`, `<call NAME>` and `<end>` (of a call) say what the text after them is: at first words."""

    markers: Collection[str] = ()

    def __init__(self) -> None:
        self._held = ""
        self._kind = "say"
        self._calls = 0

    def push(self, text: str) -> Sequence[Part]:
        self._held += text
        parts: list[Part] = []
        while found := _SWITCH.search(self._held):
            parts += self._text(self._held[: found.start()])
            self._held = self._held[found.end() :]
            if found[2]:
                parts.append(CallBegins(self._calls, f"call_{self._calls}", found[2]))
                self._calls += 1
            elif found[1] == "end":
                parts.append(CallEnds(self._calls - 1))
            self._kind = found[1] or "call"
        certain = self._held.find("<") if "<" in self._held else len(self._held)
        parts += self._text(self._held[:certain])
        self._held = self._held[certain:]
        return parts

    def flush(self) -> Sequence[Part]:
        held, self._held = self._held, ""
        return self._text(held)

    def _text(self, text: str) -> list[Part]:
        if not text or self._kind == "end":
            return []
        if self._kind == "call":
            return [CallArguments(self._calls - 1, text)]
        return [Reasoning(text) if self._kind == "think" else Words(text)]


def use_scripted_reader(monkeypatch: pytest.MonkeyPatch, *modules: Any) -> list[ChatRequest]:
    """Has the routes of these modules read answers so. The list gets every conversation they prepare."""
    seen: list[ChatRequest] = []

    async def scripted(service: Service, chat: ChatRequest, model: str | None) -> PreparedChat:
        seen.append(chat)
        plain = replace(chat, format=None, tool_choice=ChatRequest(()).tool_choice)
        prepared = await prepare_chat(service, plain, model)
        return replace(prepared, plan=replace(prepared.plan, reader=ScriptedReader))

    for module in modules:
        monkeypatch.setattr(module, "prepare_chat", scripted)
    return seen
