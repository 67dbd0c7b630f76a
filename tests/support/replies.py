"""A reader of replies that finds in them what a test says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pinfill_service.api.chat import PreparedChat, prepare_chat
from pinfill_service.prompt.reply import Part, ReplyReader

Pieces = Sequence[Sequence[Part]]


class ScriptedReader:
    """Gives out one piece of the script for each piece of text, and what is left at the end."""

    markers: Collection[str] = ()

    def __init__(self, script: Pieces) -> None:
        self._script = list(script)

    def push(self, text: str) -> Sequence[Part]:
        return self._script.pop(0) if text and self._script else ()

    def flush(self) -> Sequence[Part]:
        left, self._script = self._script, []
        return [part for piece in left for part in piece]


def read_as(monkeypatch: pytest.MonkeyPatch, route: Any, script: Pieces) -> None:
    """Replies to the requests of a route, a module, are read as the script says."""
    reader: Callable[[], ReplyReader] = lambda: ScriptedReader(script)  # noqa: E731

    async def prepare(*args: Any) -> PreparedChat:
        prepared = await prepare_chat(*args)
        return replace(prepared, plan=replace(prepared.plan, reader=reader))

    monkeypatch.setattr(route, "prepare_chat", prepare)
