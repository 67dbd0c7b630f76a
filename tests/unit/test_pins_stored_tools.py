"""Pins of earlier versions, whose tools were kept in the form they came in: they are read in the form of requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinfill_service.cache.ledger import Ledger
from pinfill_service.pins.content import conversation, pinned_prefix
from pinfill_service.pins.pin import PinState
from pinfill_service.prompt.tools.definitions import in_one_form
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.ledger import stored_pin
from tests.support.managed import Managed, managed
from tests.support.models import llama_text

SYSTEM = [{"role": "system", "content": "Be brief."}]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
RESPONSES = [{"type": "function", "name": "read", "parameters": SCHEMA, "strict": False}, {"type": "web_search"}]
ANTHROPIC = [{"name": "read", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}]
NONE = [{"type": "function", "name": 'a">'}]


def keep(home: Path, tools: list[dict[str, Any]]) -> None:
    """Writes a pin as earlier versions did."""
    ledger = Ledger.open(home, history=False)
    content = {"kind": "messages", "messages": SYSTEM, "tools": tools}
    ledger.pins.add_pin(stored_pin("agent", model="fake-model", content=content))
    ledger.close()


def engine(*files: tuple[int, ...]) -> FakeEngine:
    return FakeEngine(Reply([5]), files=set(files))


async def settled(service: Managed, state: PinState) -> dict[str, Any]:
    event = await service.events.wait("pin.state", name="agent", state=state)
    assert isinstance(event, dict)
    return event


@pytest.mark.parametrize("tools", [RESPONSES, ANTHROPIC])
async def test_a_pin_with_flat_tools_is_stale_until_it_is_refreshed(
    tmp_path: Path, tools: list[dict[str, Any]]
) -> None:
    keep(tmp_path, tools)
    for _ in range(2):  # it is still stale after a restart
        async with managed(tmp_path, engine()) as service:
            assert (await settled(service, "stale"))["reason"].endswith("Refresh it.")
            assert (await service.get("/pins/agent/content"))["tools"] == list(in_one_form(tools))
            assert (await service.chat("x", model="fake-model@agent")).status_code == 200
    async with managed(tmp_path, engine()) as service:
        await settled(service, "stale")
        await service.ask("POST", "/pins/agent/refresh")
        await settled(service, "warm")
    async with managed(tmp_path, engine()) as service:
        await settled(service, "warm")


async def test_one_whose_tokens_are_the_same_stays_warm(tmp_path: Path) -> None:
    ids = pinned_prefix(conversation(SYSTEM, in_one_form(ANTHROPIC)), llama_text()).token_ids
    keep(tmp_path, ANTHROPIC)
    async with managed(tmp_path, engine(tuple(ids))) as service:
        await settled(service, "cold")
        assert not service.engine.requests
    async with managed(tmp_path, engine()) as service:
        await settled(service, "warm")  # lost, and prefilled again by itself, like any other pin


async def test_tools_that_no_request_could_have_fail_the_pin_with_the_reason(tmp_path: Path) -> None:
    keep(tmp_path, NONE)
    async with managed(tmp_path, engine()) as service:
        pin = await service.get("/pins/agent")
        assert pin["state"] == "failed" and pin["reason"].startswith("Its tools cannot be offered to a model: tools.0")
        response = await service.chat("x", model="fake-model@agent")
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (400, "invalid_pin")
        assert error["message"] == f"The pin agent cannot be used. {pin['reason']}"
        assert await service.error("POST", "/pins/agent/refresh", 400) == ("invalid_pin", pin["reason"])
        await service.ask("POST", "/pins/agent/refresh", messages=SYSTEM, tools=RESPONSES)
        await settled(service, "warm")
