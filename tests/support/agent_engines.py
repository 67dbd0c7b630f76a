"""Engines for real coding agents: one that plays a model that calls a tool when asked to, one that is brief."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.engine.events import Event, Finished, Progress, Started, Timings, Token
from pinfill_service.engine.interface import Engine, EngineStats, GenerationRequest, ModelInfo, Prefixes
from pinfill_service.prompt.text_model import TextModel
from tests.support.fake_engine import FakeEngine, Gate, Step

ASKS_FOR_TOOL = "please look it up"
FOUND = "the answer is 4711"  # what the tool tells
SIDE_CALL_TOKENS = 1_500  # a title is asked for with less, a turn with more
REPLY = "All is well."


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call for the scripted model to make. `{path}` in the argument stands for the file that it is to read."""

    tool: str
    parameter: str
    argument: str

    def text(self, path: Path) -> str:
        """As Hermes and Qwen models write it."""
        call = {"name": self.tool, "arguments": {self.parameter: self.argument.format(path=path)}}
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


def scripted_engine(text: TextModel, call: str, *, context_length: int, prefill_gate: Gate | None = None) -> FakeEngine:
    """Reuses the longest prefix of all earlier prompts, as the real one would; makes the call once, when asked to.

    Prefill goes through `prefill_gate`, if there is one.
    """
    tokenizer, calls = text.tokenizer, [call]

    def play(request: GenerationRequest) -> Iterator[Step]:
        total = len(request.prompt)
        cached = min(engine.prefixes.known(request.prompt), total - 1)
        prompt = tokenizer.decode(request.prompt)
        asked = ASKS_FOR_TOOL in prompt and total > SIDE_CALL_TOKENS
        tokens = tokenizer.encode(calls.pop() if asked and calls else REPLY)
        yield Started(cached, total, "")
        if prefill_gate is not None:
            yield prefill_gate
        yield Progress(total, total)
        yield from (Token(token, None) for token in tokens)
        yield Finished("stop", Timings(cached, total - cached, 0.0, 0.0, len(tokens), 0.0))

    engine = FakeEngine(play, context_length=context_length, vocab_size=1 << 18, name="scripted")
    return engine


class BriefEngine:
    """Implements Engine: another one whose answers are cut after some tokens, and end as if the model had wanted it.

    `requests` are those of clients: what is prefilled for a pin is none of theirs.
    """

    def __init__(self, engine: Engine, tokens: int) -> None:
        self._engine, self._tokens = engine, tokens
        self.requests: list[GenerationRequest] = []

    @property
    def model(self) -> ModelInfo:
        return self._engine.model

    @property
    def prefixes(self) -> Prefixes:
        return self._engine.prefixes

    @property
    def cost(self) -> PrefillCost:
        return self._engine.cost

    def submit(self, request: GenerationRequest, on_event: Callable[[Event], None]) -> int:
        if not request.background:
            self.requests.append(request)

        def end_well(event: Event) -> None:
            is_cut = isinstance(event, Finished) and event.reason == "length"
            on_event(replace(event, reason="stop") if is_cut and isinstance(event, Finished) else event)

        return self._engine.submit(replace(request, max_tokens=min(request.max_tokens, self._tokens)), end_well)

    def cancel(self, request_id: int, *, keep_reply: bool = False) -> None:
        self._engine.cancel(request_id, keep_reply=keep_reply)

    def stats(self) -> EngineStats:
        return self._engine.stats()

    def close(self) -> None:
        self._engine.close()
