"""Requests of real coding agents, in the order they were sent: each is answered, and only what is new is prefilled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from pinfill_service.application import create_app
from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.engine.events import Event, Started, Token
from pinfill_service.engine.interface import GenerationRequest
from pinfill_service.engine.loading import load_engine
from pinfill_service.engine.scheduler import OnnxEngine
from pinfill_service.loaded_model import LoadedModel
from pinfill_service.pins.content import common_length
from pinfill_service.prompt.stable.rules import BILLING_HEADER
from pinfill_service.prompt.text_model import load_text_model
from tests.support.client import client_for, settings
from tests.support.tiny_agent_model import write_agent_model

REQUESTS = Path(__file__).parents[1] / "fixtures" / "agents"
LENGTH_KEYS = {"/v1/messages": "max_tokens", "/v1/responses": "max_output_tokens"}

ON = 1.0
# What each request goes on from, None for the first of its kind: the number of an earlier one, and ON where all of that
# is in it but the last few tokens; otherwise it begins the same, and the share of its own tokens says how far.
Base = tuple[int, float] | None
EXPECTED: dict[str, tuple[Base, ...]] = {
    "claude-code-sessions": (None, (0, 0.95), (1, ON)),
    "claude-code-tool-search": (None, (0, ON), (1, ON)),
    "claude-code-tool-turn": (None, (0, ON), (1, ON)),
    "codex-tool-turn": (None, (0, ON)),
    "goose-tool-turn": (None, None, (1, ON)),
    "opencode-turns": (None, None, (0, 0.99), (1, 0.99)),
    "qwen-code-turns": (None, None, (0, 0.99), (1, 0.94)),  # its notes quote the answer, and that was another one
}
BUDGET_MIB = 256
GENERATION_PROMPT = 8  # tokens at a prompt's end that are another thing once its reply is there, at most


@dataclass
class Evaluated:
    """A prompt as the engine got it, how much of it was cached, and what was written behind it."""

    ids: list[int]
    cached: int = -1
    reply: list[int] = field(default_factory=list)


class WatchedEngine:
    """The engine, and what it was asked."""

    def __init__(self, engine: OnnxEngine) -> None:
        self._engine = engine
        self.seen: list[Evaluated] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def first_with(self, ids: list[int]) -> Evaluated:
        """What became of a prompt when it was new."""
        return next(each for each in self.seen if each.ids == ids)

    def submit(self, request: GenerationRequest, on_event: Callable[[Event], None]) -> int:
        evaluated = Evaluated(list(request.prompt))
        self.seen.append(evaluated)

        def watch(event: Event) -> None:
            if isinstance(event, Started):
                evaluated.cached = event.cached_tokens
            elif isinstance(event, Token):
                evaluated.reply.append(event.token_id)
            on_event(event)

        return self._engine.submit(request, watch)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    folder = write_agent_model(tmp_path_factory.mktemp("models"))
    engine = load_engine(folder, "tiny-agent", settings(disk_budget_mib=0, memory_budget_mib=BUDGET_MIB))
    yield LoadedModel(engine, load_text_model(folder))
    engine.close()


@pytest.fixture
async def service(model: LoadedModel) -> AsyncIterator[tuple[httpx.AsyncClient, WatchedEngine]]:
    """A service on a cold cache."""
    assert isinstance(model.engine, OnnxEngine)
    model.engine.prefixes.evict_unpinned().result()
    watched = WatchedEngine(model.engine)
    async with client_for(create_app(settings(), watched, model.text)) as http:
        yield http, watched


def fixture(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (REQUESTS / f"{name}.jsonl").read_text("utf-8").splitlines()]


async def send(http: httpx.AsyncClient, sent: dict[str, Any]) -> httpx.Response:
    """A request as it was sent, but for how much it wants to have written."""
    path = sent["path"].partition("?")[0]
    body = sent["body"] | {LENGTH_KEYS.get(path, "max_tokens"): 3}
    response = await http.request(sent["method"], sent["path"], json=body, headers=sent["headers"])
    assert response.status_code == 200, response.text
    return response


def check(seen: list[Evaluated], base: Base) -> None:
    """The last prompt reused all it shares with an earlier one, which is what it should share."""
    last, earlier = seen[-1], seen[:-1]
    shared = max((common_length(last.ids, other.ids) for other in earlier), default=0)
    assert last.cached >= 0.99 * min(shared, len(last.ids) - 2)
    if base is None:
        return
    number, share = base
    before = seen[number].ids
    if share == ON:
        assert common_length(last.ids, before) >= len(before) - GENERATION_PROMPT
        assert last.cached >= 0.99 * len(before)
    else:
        assert last.cached >= share * len(last.ids)


@pytest.mark.parametrize("name", EXPECTED)
async def test_only_what_is_new_is_prefilled(name: str, service: tuple[httpx.AsyncClient, WatchedEngine]) -> None:
    http, engine = service
    requests = fixture(name)
    assert len(requests) == len(EXPECTED[name])
    for sent, base in zip(requests, EXPECTED[name], strict=True):
        response = await send(http, sent)
        assert "error" not in response.text[:50]
        check(engine.seen, base)


# -- what changes between sessions -------------------------------------------------------------------------------------


def other_session(sent: dict[str, Any]) -> dict[str, Any]:
    """The first request of another session: another version in the billing header, another question."""
    changed = json.loads(json.dumps(sent))
    system, messages = changed["body"]["system"], changed["body"]["messages"]
    assert "cc_version=2.1.332.18b;" in system[0]["text"]
    system[0]["text"] = system[0]["text"].replace("18b", "c0d") + " cch=1f2e3;"
    messages[0]["content"][-1]["text"] = "something else entirely"
    return changed


async def test_a_new_session_of_claude_code_goes_on_from_the_last_one(
    service: tuple[httpx.AsyncClient, WatchedEngine],
) -> None:
    http, engine = service
    first = fixture("claude-code-sessions")[0]
    await send(http, first)
    await send(http, other_session(first))
    assert engine.seen[1].cached >= 0.97 * len(engine.seen[1].ids)


async def test_with_the_rule_off_the_header_costs_all_of_it(
    model: LoadedModel, service: tuple[httpx.AsyncClient, WatchedEngine]
) -> None:
    _, engine = service
    app = create_app(settings(rules={BILLING_HEADER: False}), engine, model.text)
    first = fixture("claude-code-sessions")[0]
    async with client_for(app) as http:
        await send(http, first)
        await send(http, other_session(first))
    assert engine.seen[1].cached < 0.05 * len(engine.seen[1].ids)


class GivenTimes(PrefillCost):
    """Measures what the test says that a token takes behind others, whatever else this machine does."""

    def __init__(self, seconds: Callable[[int], float]) -> None:
        super().__init__()
        self._seconds = seconds

    def measured(self, start: int, count: int, seconds: float) -> None:
        super().measured(start, count, count * self._seconds(start))


LOADS: dict[str, Callable[[int], float]] = {
    "even": lambda depth: 0.001,
    "as attention grows": lambda depth: 0.001 + depth * 1e-6,
    "busy while short prompts ran": lambda depth: 1 / (1000 + depth),
}


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(("name", "main", "sides"), [("qwen-code-turns", 0, [1]), ("opencode-turns", 1, [0])])
async def test_side_calls_leave_the_main_prefix_where_memory_is_short(
    name: str,
    main: int,
    sides: list[int],
    load: str,
    model: LoadedModel,
    service: tuple[httpx.AsyncClient, WatchedEngine],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Room for the main prompt and a tenth of it: titles before it, notes after it, then it comes again."""
    http, engine = service
    cost = GivenTimes(LOADS[load])
    monkeypatch.setattr(engine._worker._machine, "cost", cost)
    monkeypatch.setattr(engine._worker.cache, "_cost", cost)
    requests, prefixes = fixture(name), model.engine.prefixes
    await send(http, requests[main])
    tokens = len(engine.seen[0].ids)
    prefixes.set_budgets(int(1.1 * tokens) * model.engine.model.kv_bytes_per_token, 0).result()
    try:
        prefixes.evict_unpinned().result()
        for number in (*sides, main, *sides, main):
            await send(http, requests[number])
        assert engine.seen[-1].ids == engine.seen[0].ids
        assert engine.seen[-1].cached >= 0.99 * tokens
        assert engine.stats().evictions_total > 0
    finally:
        prefixes.set_budgets(BUDGET_MIB << 20, 0).result()


async def test_what_the_model_wrote_is_not_prefilled_again(
    model: LoadedModel, service: tuple[httpx.AsyncClient, WatchedEngine]
) -> None:
    """Random weights write words in tokens that nothing encodes them in; sent back, they are those tokens again."""
    http, engine = service
    said: list[dict[str, str]] = []
    kept: list[int] = []
    for turn in range(4):
        said.append({"role": "user", "content": f"question {turn}, which is not short, to be sure"})
        answer, asked = await odd_answer(http, engine, model, said)
        assert asked.ids[: len(kept)] == kept
        said.append({"role": "assistant", "content": answer})
        kept = [*asked.ids, *asked.reply]
        await settled(engine, kept[:-1])  # nothing was evaluated behind the last token
    final = await odd_answer(http, engine, model, [*said, {"role": "user", "content": "thanks"}])
    assert engine.first_with(final[1].ids).cached >= len(kept) - 1
    assert final[1].ids != model.text.tokenizer.encode_prompt(model.text.tokenizer.decode(final[1].ids))


async def odd_answer(
    http: httpx.AsyncClient, engine: WatchedEngine, model: LoadedModel, said: list[dict[str, str]]
) -> tuple[str, Evaluated]:
    """An answer whose text is what its tokens say, and is encoded in other ones."""
    tokenizer = model.text.tokenizer
    for seed in range(40):
        body = {"messages": said, "max_tokens": 12, "seed": seed}
        answer = (await http.post("/v1/chat/completions", json=body)).json()["choices"][0]["message"]["content"]
        reply = engine.seen[-1].reply
        if tokenizer.decode(reply) == answer and "\ufffd" not in answer and tokenizer.encode(answer) != reply:
            return answer, engine.seen[-1]
    raise AssertionError("every answer is encoded as it was written")


async def settled(engine: WatchedEngine, tokens: list[int]) -> None:
    """Waits until a reply was evaluated again, as an idle engine does."""
    async with asyncio.timeout(20):
        while engine.prefixes.state(tokens).result().cached_tokens < len(tokens):
            await asyncio.sleep(0.01)
