"""The real coding agents, as they come from npm, started by `pinfill launch` or connected by `pinfill connect`.

Each of them has a first turn, goes on, begins another conversation and uses a tool: it ends well, asks nothing twice,
and from its second turn on only what is new is prefilled, never more than llama-server does. A scripted model reuses
prefixes as the real one would; with PINFILL_TEST_AGENTS=1 the real one runs too, which takes minutes.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pinfill_service.commands.local_service import load_model
from pinfill_service.engine.loading import load_engine
from pinfill_service.models.gguf_import import convert_gguf
from pinfill_service.prompt.text_model import load_text_model
from pinfill_service.settings import Settings
from tests.support.agent_engines import ASKS_FOR_TOOL, FOUND, BriefEngine, scripted_engine
from tests.support.agent_scenarios import SCENARIOS, Scenario
from tests.support.agent_workplace import NOTES, Turn, Workplace, workplace
from tests.support.client import KEY, settings
from tests.support.default_model import default_model
from tests.support.fake_engine import Gate
from tests.support.gemma import gemma_gguf
from tests.support.tiny_agent_model import write_agent_model

TURN_SECONDS = 90  # a scripted turn takes a few
REAL_TURN_SECONDS = 400
CONTEXT = 65_536
NEW_SHARE = 0.05  # of the first turn's prompt, that a later turn may process
SETTINGS = (".json", ".jsonc", ".yaml", ".toml")
ATTRIBUTION = "CLAUDE_CODE_ATTRIBUTION_HEADER"
RESTART_SHARE = 0.03  # of a prompt, that may be processed although the service was started again


def check_turns(place: Workplace) -> int:
    """A first turn, the next and a new session: each asks once, and those process only what is new. Returns the first
    one's tokens.
    """
    first = show("first", place.launch(*place.scenario.first, "hi"))
    following = show("following", place.launch(*place.scenario.later, "cool"))
    new = show("new", place.launch(*place.scenario.first, "bonjour"))
    assert all(len(turn.main) == 1 for turn in (first, following, new))
    bar, prompt = place.scenario.bar, int(first.main[0]["prompt_tokens"])
    assert following.main[0]["processed_tokens"] <= min(bar.following, NEW_SHARE * prompt)
    assert new.main[0]["processed_tokens"] <= bar.new
    if bar.side is not None:
        assert 0 < max(each["processed_tokens"] for each in following.side) <= bar.side
    return prompt


def show(name: str, turn: Turn) -> Turn:
    """Prints the numbers: pytest -rP shows them."""
    numbers = ("prompt_tokens", "cached_tokens", "processed_tokens", "prefill_seconds")
    for kind, requests in (("", turn.main), (" beside", turn.side)):
        for request in requests:
            print(name + kind, *(f"{number} {request[number]}" for number in numbers))
    return turn


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path: it is in every prompt, and counts."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as made:  # agents leave helpers that still write
        yield Path(made)


each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@each_scenario
def test_turns_of_a_real_agent(folder: Path, scenario: Scenario) -> None:
    text = load_text_model(default_model())
    engine = scripted_engine(text, scenario.call.text(folder / NOTES), context_length=CONTEXT)
    with workplace(folder, scenario, text, engine, TURN_SECONDS) as place:
        prompt = check_turns(place)
        tool = place.launch(*scenario.later, ASKS_FOR_TOOL)
        assert len(tool.main) == 2, "one that is answered by a call, one with what the tool told"
        assert all(each["processed_tokens"] < NEW_SHARE * prompt for each in tool.main)
        assert any(FOUND in text.tokenizer.decode(request.prompt) for request in engine.requests), "the tool was used"


@each_scenario
def test_a_connected_agent_finds_the_service_by_itself(folder: Path, scenario: Scenario) -> None:
    text = load_text_model(default_model())
    engine = scripted_engine(text, scenario.call.text(folder / NOTES), context_length=CONTEXT)
    with workplace(folder, scenario, text, engine, TURN_SECONDS) as place:
        place.pinfill("connect", scenario.name, "--yes")
        turn = place.run(*scenario.first, "hi")
        assert len(turn.main) == 1 and turn.main[0]["model"] == "scripted"
        place.pinfill("connect", scenario.name, "--undo", "--yes")
        assert not [path for path in place.user.rglob("*") if path.suffix in SETTINGS and KEY in path.read_text()]
        assert all((place.user / name).exists() for name in scenario.files)


def test_claude_code_as_it_comes_begins_a_session_with_what_is_cached(folder: Path) -> None:
    """Without the switch that takes its billing header away, which differs from conversation to conversation."""
    text, scenario = load_text_model(default_model()), SCENARIOS["claude"]
    engine = scripted_engine(text, "", context_length=CONTEXT)
    with workplace(folder, scenario, text, engine, TURN_SECONDS) as place:
        place.pinfill("connect", "claude", "--yes")
        drop_setting(place.user / ".claude" / "settings.json", "env", ATTRIBUTION)
        place.run(*scenario.first, "hi")
        following = show("following", place.run(*scenario.later, "cool"))
        new = show("new", place.run(*scenario.first, "bonjour"))
        assert following.main[0]["processed_tokens"] <= scenario.bar.following
        assert new.main[0]["processed_tokens"] <= scenario.bar.new


def drop_setting(file: Path, *path: str) -> None:
    values = json.loads(file.read_text())
    *parents, name = path
    del reduce(getitem, parents, values)[name]
    file.write_text(json.dumps(values))


def test_qwen_code_is_shown_events_while_it_waits(folder: Path) -> None:
    """Not only bytes: it gives up on a stream without events, after minutes unless it is told another number."""
    patience, gate = 5.0, Gate()
    scenario = replace(SCENARIOS["qwen"], environment={"QWEN_STREAM_IDLE_TIMEOUT_MS": str(round(1000 * patience))})
    text = load_text_model(default_model())
    engine = scripted_engine(text, "", context_length=CONTEXT, prefill_gate=gate)

    def prefill_for_longer() -> None:
        if gate.reached.wait(TURN_SECONDS):
            time.sleep(1.5 * patience)
        gate.open()

    prefill = threading.Thread(target=prefill_for_longer)
    with workplace(folder, scenario, text, engine, TURN_SECONDS) as place:
        place.pinfill("connect", "qwen", "--yes")
        drop_setting(place.user / ".qwen" / "settings.json", "model", "generationConfig", "streamIdleTimeoutMs")
        prefill.start()
        turn = place.run(*scenario.first, "hi")
        prefill.join()
        assert len(turn.main) == 1 and not engine.cancelled


@pytest.mark.parametrize("kept", ["pin", "session"])
def test_claude_code_goes_on_after_a_restart(
    kept: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a pin of what its prompts begin with, or because the prompts of a session are kept."""
    model, scenario = write_agent_model(tmp_path), SCENARIOS["claude"]
    text = load_text_model(model)
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))

    @contextmanager
    def started() -> Iterator[Workplace]:
        flags = {"keep_sessions": kept == "session", "disk_budget_mib": 64, "memory_budget_mib": 256}
        engine = BriefEngine(load_engine(model, "tiny-agent", settings(**flags)), tokens=16)
        with workplace(folder, scenario, text, engine, TURN_SECONDS, home=tmp_path / "home", **flags) as place:
            yield place

    with started() as place:
        (first,) = show("first", place.launch(*scenario.first, "hi")).main
        if kept == "pin":
            place.pin_beginning(first)
    with started() as place:
        (request,) = show("after the restart", place.launch(*scenario.later, "cool")).main
        assert request["processed_tokens"] < RESTART_SHARE * request["prompt_tokens"]


@pytest.mark.skipif(os.environ.get("PINFILL_TEST_AGENTS") != "1", reason="minutes: PINFILL_TEST_AGENTS=1 runs it")
@pytest.mark.parametrize("name", SCENARIOS)
def test_turns_on_a_real_model(folder: Path, tmp_path: Path, name: str) -> None:
    """The default model where its 8,192 tokens are enough, Gemma for the others: opencode would summarise forever."""
    model = default_model() if name == "goose" else tmp_path / "gemma"
    if not model.exists():
        model.mkdir()
        convert_gguf(gemma_gguf(), model)
    engine, text = load_model(Settings.from_flags(model=str(model), slots=4, memory_budget_mib=2048, disk_budget_mib=0))
    with workplace(folder, SCENARIOS[name], text, BriefEngine(engine, tokens=16), REAL_TURN_SECONDS) as place:
        check_turns(place)
