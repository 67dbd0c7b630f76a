"""Pins from the first prefill to the last: states, restarts, other models, refreshing, budgets, damage."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pinfill_service.cache.prefill_cost import PrefillCost
from pinfill_service.engine.errors import EngineError
from pinfill_service.engine.events import Token, TokenLogprob
from pinfill_service.engine.interface import GenerationRequest
from pinfill_service.loaded_model import LoadedModel
from pinfill_service.pins import keeper
from pinfill_service.pins.content import conversation, pinned_prefix, raw_text, system_text
from pinfill_service.pins.errors import (
    PinBudgetError,
    PinContentError,
    PinExistsError,
    PinStateError,
    PinTooLongError,
    UnknownPinError,
)
from pinfill_service.pins.manager import PinManager
from pinfill_service.pins.pin import Pin, distinct_tokens
from tests.support.events import Events
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Gate, Reply, Step
from tests.support.memory_book import MemoryBook
from tests.support.models import llama_text

RUBRIC = system_text("Grade the answer from 1 to 5 and say why.")
TOKENS = pinned_prefix(RUBRIC, llama_text()).token_ids


class House:
    """A manager on a fake engine, which can be closed and opened again on the same book and files."""

    def __init__(self, kv_home: Path) -> None:
        self.book, self.files, self.kv_home = MemoryBook(), set[tuple[int, ...]](), kv_home
        self.engines: list[FakeEngine] = []
        self.keeps_sessions = False
        self.open()

    def open(self, *, attach: bool = True, **engine: object) -> None:
        self.events = Events()
        self.pins = PinManager(
            self.book, self.events.publish, kv_home=self.kv_home, keeps_sessions=lambda: self.keeps_sessions
        )
        if attach:
            self.load(**engine)

    def load(self, script: object = Reply([5, 6], chunk=16), **flags: object) -> None:
        flags.setdefault("files", self.files)
        self.engine = FakeEngine(script, **flags)  # type: ignore[arg-type]
        self.engines.append(self.engine)
        self.pins.attach(LoadedModel(self.engine, llama_text()))

    def restart(self, **engine: object) -> None:
        self.pins.close()
        self.engine.close()
        self.open(**engine)

    def warm(self, name: str, *, after: int = 0) -> None:
        self.events.wait("pin.state", lambda event: (event.name, event.state) == (name, "warm"), after=after)

    def held(self) -> dict[tuple[int, ...], int]:
        return {ids: count for ids, count in self.engine.prefixes.pins.items() if count}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.pins.close()
    for engine in house.engines:
        engine.close()


def test_a_pin_is_prefilled_in_the_background_and_saved(house: House) -> None:
    first = house.pins.create("rubric", RUBRIC)
    assert (first.state, first.tokens, first.position) == ("queued", len(TOKENS), 0) or first.state == "prefilling"
    house.warm("rubric")
    (request,) = house.engine.requests
    assert (list(request.prompt), request.max_tokens, request.background, request.pin) == (TOKENS, 0, True, True)
    assert house.events.states("rubric") == ["queued", "prefilling", "warm"]
    progress = house.events.of("pin.progress")
    assert (progress[0].done, progress[-1].done, progress[-1].total) == (0, len(TOKENS), len(TOKENS))
    assert house.held() == {tuple(TOKENS): 1} and house.files == {tuple(TOKENS)}
    status = house.pins.get("rubric")
    assert (status.state, status.on_disk, status.done) == ("warm", True, len(TOKENS))
    assert [(line.name, line.state) for line in house.book.pins()] == [("rubric", "warm")]


def test_a_pin_that_is_warm_is_in_memory_before_the_engine_is_asked(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    (status,) = house.pins.all(ask_engine=False)
    assert status.in_memory


def test_what_is_left_of_a_prefill_is_what_the_rest_costs_at_the_speed_so_far() -> None:
    cost = PrefillCost()
    pin = Pin("a", RUBRIC, (), False, 0.0, "m", "f", 2048, state="prefilling", prefilling_since=100.0)
    assert pin.seconds_left(101.0, None) is None and pin.seconds_left(101.0, cost) is None
    cost.measured(0, 1024, 10.0)
    cost.measured(1024, 1024, 30.0)
    assert pin.seconds_left(100.0, cost) == pytest.approx(40)
    pin.already_there = pin.done = 512
    assert pin.seconds_left(100.0, cost) == pytest.approx(35), "what was cached costs nothing"
    pin.done = 1024
    assert pin.seconds_left(110.0, cost) == pytest.approx(60), "twice as slow as it was measured"
    assert pin.seconds_left(110.0, None) == pytest.approx(20)


def test_pinned_tokens_are_what_every_request_begins_with() -> None:
    text = llama_text()
    for content in (
        RUBRIC,
        conversation([{"role": "system", "content": "S"}, {"role": "user", "content": "A document."}]),
        conversation([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]),
    ):
        prefix = pinned_prefix(content, text)
        assert prefix.example[: len(prefix.token_ids)] == prefix.token_ids
        assert len(prefix.example) > len(prefix.token_ids)
    after_user = pinned_prefix(conversation([{"role": "user", "content": "A document."}]), text)
    assert after_user.text.endswith("A document.<|im_end|>\n<|im_start|>")
    assert pinned_prefix(RUBRIC, text).text.endswith("say why.<|im_end|>\n<|im_start|>user\n")
    assert pinned_prefix(raw_text("Once upon a time"), text).token_ids == text.tokenizer.encode_prompt(
        "Once upon a time"
    )
    with pytest.raises(PinContentError):
        pinned_prefix(raw_text(""), text)


def test_a_pin_survives_a_restart(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    house.restart()
    house.events.wait("pin.state", lambda event: event.state == "cold")
    assert house.pins.get("rubric").state == "warm", "the fake keeps everything in memory"
    assert house.held() == {tuple(TOKENS): 1} and not house.engine.requests


def test_a_pin_that_is_not_on_disk_is_prefilled_again_after_a_restart(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    house.files.clear()
    house.restart()
    event = house.events.wait("pin.state", lambda event: event.state == "queued")
    assert event.reason == "Not all of it was on disk."
    house.warm("rubric")
    assert len(house.engine.requests) == 1 and house.held() == {tuple(TOKENS): 1}


def test_files_that_no_pin_needs_are_deleted_at_the_start(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    left = (9, 8, 7)
    house.files.add(left)
    house.keeps_sessions = True
    house.restart()
    house.events.wait("pin.state", lambda event: event.state == "cold")
    house.pins.detach()
    assert left in house.files
    house.keeps_sessions = False
    house.restart()
    house.events.wait("pin.state", lambda event: event.state == "cold")
    house.pins.detach()  # returns when everything before it is done
    assert house.files == {tuple(TOKENS)}


def test_a_pin_of_another_model_is_stale_and_rebuilt_in_one_step(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    old_files = house.kv_home / ("f" * 16)
    old_files.mkdir()
    house.pins.detach()
    house.load(name="other-model", fingerprint="e" * 64, files=set())
    event = house.events.wait("pin.state", lambda event: event.state == "stale")
    assert event.reason == "It was made for fake-model, and other-model is loaded. Refresh it."
    after = len(house.events.seen)
    house.pins.refresh("rubric")
    house.warm("rubric", after=after)
    status = house.pins.get("rubric")
    assert (status.model, status.state, status.reason) == ("other-model", "warm", None)
    assert house.held() == {tuple(TOKENS): 1}
    assert not old_files.exists(), "nothing needs the other model's files any more"


def test_a_model_that_changed_under_its_name_makes_its_pins_stale(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    house.restart(fingerprint="e" * 64, files=set())
    event = house.events.wait("pin.state", lambda event: event.state == "stale")
    assert event.reason == "It was made for fake-model, which has changed since. Refresh it."


def test_the_model_that_comes_back_finds_its_pins(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    house.pins.detach()
    assert house.pins.get("rubric").state == "cold"
    house.load(name="other-model", fingerprint="e" * 64, files=set())
    house.events.wait("pin.state", lambda event: event.state == "stale")
    house.pins.detach()
    after = len(house.events.seen)
    house.load()
    house.events.wait("pin.state", lambda event: event.state == "cold", after=after)
    assert house.held() == {tuple(TOKENS): 1} and not house.engine.requests


def test_refresh_prefills_the_new_content_and_then_lets_the_old_one_go(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    gate = Gate()
    house.engine.script = Reply([], chunk=8, prefill_gate=gate)
    after = len(house.events.seen)
    changed = system_text("Grade the answer from 1 to 5 and say nothing.")
    house.pins.refresh("rubric", changed)
    assert gate.reached.wait(20)
    assert house.held() == {tuple(TOKENS): 1}, "the old content serves until the new one is there"
    gate.open()
    house.warm("rubric", after=after)
    new = pinned_prefix(changed, llama_text()).token_ids
    house.pins.detach()
    assert house.held() == {tuple(new): 1} and house.files == {tuple(new)}
    assert house.book.pins()[0].content["messages"] == list(changed.messages)


def test_refresh_with_the_same_content_holds_it_once(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    after = len(house.events.seen)
    house.pins.mark_stale("rubric", "rubric.md changed")
    assert house.pins.get("rubric").state == "stale"
    house.pins.refresh("rubric")
    house.warm("rubric", after=after)
    house.pins.detach()
    assert house.held() == {tuple(TOKENS): 1} and house.files == {tuple(TOKENS)}


def test_a_changed_source_is_told_until_the_refresh_restarts_included(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    house.pins.mark_stale("rubric", "rubric.md changed")
    house.restart()
    event = house.events.wait("pin.state", lambda event: event.state == "stale")
    assert event.reason == "rubric.md changed"
    assert house.held() == {tuple(TOKENS): 1}, "what was pinned stays usable"


def test_a_source_that_is_again_what_was_pinned(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    house.pins.mark_fresh("rubric")
    house.pins.mark_stale("rubric", "rubric.md changed")
    house.pins.mark_fresh("rubric")
    assert house.events.states("rubric")[-2:] == ["stale", "warm"] and house.pins.get("rubric").reason is None
    house.pins.mark_stale("rubric", "rubric.md changed")
    house.restart()
    house.events.wait("pin.state", lambda event: event.state == "stale")
    house.pins.mark_fresh("rubric")
    assert house.pins.get("rubric").state == "warm"
    house.restart()
    house.events.wait("pin.state", lambda event: event.state == "cold")
    assert len(house.engines) == 3 and not house.engine.requests, "nothing was prefilled for it"


def test_a_pin_of_another_model_stays_stale_when_its_source_comes_back(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    house.pins.mark_stale("rubric", "rubric.md changed")
    house.pins.detach()
    house.load(name="other-model", fingerprint="e" * 64, files=set())
    event = house.events.wait("pin.state", lambda event: "Refresh" in (event.reason or ""))
    house.pins.mark_fresh("rubric")
    status = house.pins.get("rubric")
    assert (status.state, status.reason) == ("stale", event.reason)


def test_a_content_that_changes_while_it_is_prefilled(house: House) -> None:
    gate = Gate()
    house.engine.script = Reply([], chunk=8, prefill_gate=gate)
    house.pins.create("rubric", RUBRIC)
    assert gate.reached.wait(20)
    house.engine.script = Reply([], chunk=8)
    changed = system_text("Something else entirely.")
    house.pins.refresh("rubric", changed)
    house.warm("rubric")
    assert house.held() == {tuple(pinned_prefix(changed, llama_text()).token_ids): 1}
    assert house.engine.cancelled


def test_unpinning_gives_up_the_files_also_during_the_prefill(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    assert house.pins.delete("rubric").tokens == len(TOKENS)
    gate = Gate()
    house.engine.script = Reply([], chunk=8, prefill_gate=gate)
    house.pins.create("again", RUBRIC)
    assert gate.reached.wait(20)
    house.pins.delete("again")
    house.pins.detach()
    assert not house.held() and not house.files and not house.book.pins() and not house.pins.names
    with pytest.raises(UnknownPinError, match="Nothing is pinned yet"):
        house.pins.get("again")


def test_pins_wait_for_their_turn_in_the_users_order(house: House) -> None:
    gate = Gate()
    house.engine.script = Reply([], chunk=8, prefill_gate=gate)
    contents = {name: system_text(f"Document {name} is a long one.") for name in ("a", "b", "c")}
    for name, content in contents.items():
        house.pins.create(name, content)
    assert gate.reached.wait(20)
    house.pins.move("c", 0)
    assert [status.name for status in house.pins.all()] == ["c", "a", "b"]
    gate.open()
    for name in contents:
        house.warm(name)
    prompts = [list(request.prompt) for request in house.engine.requests]
    assert prompts == [pinned_prefix(contents[name], llama_text()).token_ids for name in ("a", "c", "b")]
    assert [line.name for line in house.book.pins()] == ["c", "a", "b"]


def test_names(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.pins.create("other", system_text("Another one."))
    with pytest.raises(PinExistsError, match="There is a pin rubric already"):
        house.pins.create("rubric", RUBRIC)
    with pytest.raises(PinExistsError):
        house.pins.rename("other", "rubric")
    house.pins.rename("other", "handbook")
    event = house.events.wait("pin.state", lambda event: event.renamed_from == "other")
    assert event.name == "handbook" and house.pins.names == ["rubric", "handbook"]
    with pytest.raises(UnknownPinError, match="The pins are: rubric, handbook"):
        house.pins.refresh("other")


def test_a_pin_beyond_the_context_is_refused_with_the_numbers(house: House) -> None:
    long = system_text("word " * 600)
    count = len(pinned_prefix(long, llama_text()).token_ids)
    with pytest.raises(PinTooLongError, match=f"{count:,} tokens.* context is 512 tokens, of which 16"):
        house.pins.create("long", long)
    assert not house.pins.names and not house.engine.requests


def test_a_pin_beyond_a_budget_is_refused_with_the_numbers(house: House) -> None:
    house.engine.prefixes.memory_budget = len(TOKENS) * 1024 - 1
    with pytest.raises(PinBudgetError, match=f"{len(TOKENS)} tokens need .* of memory, .* memory_budget_mib in"):
        house.pins.create("rubric", RUBRIC)
    house.engine.prefixes.memory_budget = 1 << 30
    house.engine.prefixes.disk_budget = len(TOKENS) * 1024
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    with pytest.raises(PinBudgetError, match=r"more on disk; .* or give pins more disk .Settings in the window, disk_"):
        house.pins.create("other", system_text("Something that begins otherwise."))
    house.pins.create("same", RUBRIC)  # shares every token
    house.engine.prefixes.memory_budget, house.engine.prefixes.disk_budget = len(TOKENS) * 1024, 0
    with pytest.raises(PinBudgetError, match=r"more in memory; the other pins hold .* cached prefixes more memory"):
        house.pins.create("other", system_text("Something that begins otherwise."))


def test_what_pins_share_counts_once() -> None:
    assert distinct_tokens([[1, 2, 3], [1, 2, 4], [1, 2, 3], [5]]) == 5
    assert distinct_tokens([]) == 0


def test_a_full_disk_is_told_and_the_pin_stays_in_memory(house: House) -> None:
    house.engine.prefixes.disk_problem = OSError("the disk is full")
    house.pins.create("rubric", RUBRIC)
    event = house.events.wait("disk.problem")
    assert "the disk is full" in event.message
    status = house.pins.get("rubric")
    assert (status.state, status.on_disk) == ("warm", False) and status.reason is not None


def test_unpinned_files_make_room_for_a_pin(house: House) -> None:
    left = (9, 8, 7)
    house.engine.prefixes.cached.add(left)
    house.files.add(left)
    problem = OSError("the files' budget is used up")
    house.engine.prefixes.disk_problem = problem
    evict = house.engine.prefixes.evict

    def evict_and_make_room(entry_id: str) -> object:
        house.engine.prefixes.disk_problem = None
        return evict(entry_id)

    house.engine.prefixes.evict = evict_and_make_room  # type: ignore[method-assign,assignment]
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    assert house.pins.get("rubric").on_disk and house.files == {tuple(TOKENS)}


def test_an_engine_that_fails_fails_the_pin_and_no_other(house: House) -> None:
    failing = True

    def script(request: object) -> Iterator[object]:
        return Reply([5], error=EngineError("The model could not be run.") if failing else None)(request)  # type: ignore[arg-type]

    house.engine.script = script  # type: ignore[assignment]
    house.pins.create("rubric", RUBRIC)
    event = house.events.wait("pin.state", lambda event: event.state == "failed")
    assert event.reason == "The model could not be run."
    failing = False
    house.pins.create("other", system_text("Another one."))
    house.warm("other")
    house.pins.refresh("rubric")
    house.warm("rubric")


def test_damage_is_found_told_and_prefilled_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.pins.create("rubric", RUBRIC)
    house.pins.create("sound", system_text("This one's file is sound."))
    house.warm("rubric")
    house.warm("sound")
    house.engine.script = lambda request: Reply([], cached=house.engine.prefixes.known(request.prompt))(request)
    monkeypatch.setattr(keeper, "_LOOK_SECONDS", 0.01)
    after = len(house.events.seen)
    house.engine.prefixes.damage(TOKENS, "abc.safetensors cannot be used: its checksum is wrong.")
    event = house.events.wait("pin.state", lambda event: event.state == "queued", after=after)
    assert (event.name, event.reason) == ("rubric", "abc.safetensors cannot be used: its checksum is wrong.")
    house.warm("rubric", after=after)
    assert house.held()[tuple(TOKENS)] == 1 and tuple(TOKENS) in house.files
    assert house.events.wait("disk.problem").message.startswith("abc.safetensors")
    assert "sound" not in {event.name for name, event in house.events.seen[after:] if name == "pin.state"}


def test_verify(house: House) -> None:
    with pytest.raises(UnknownPinError):
        house.pins.verification("rubric", 4)
    gate = Gate()
    house.engine.script = Reply([], chunk=8, prefill_gate=gate)
    house.pins.create("rubric", RUBRIC)
    with pytest.raises(PinStateError, match="can be verified once it is warm"):
        house.pins.verification("rubric", 4)
    gate.open()
    house.warm("rubric")
    house.engine.script = Reply([5, 6, 7, 8], cached=10)
    result = house.pins.verification("rubric", 4).run()
    assert result is not None
    assert (result.tokens_compared, result.greedy_equal, result.largest_difference) == (4, True, 0.0)
    cached, cold = house.engine.requests[-2:]
    assert (cached.use_cache, cold.use_cache, list(cached.prompt)) == (True, False, list(cold.prompt))
    assert list(cold.prompt[: len(TOKENS)]) == TOKENS and cold.sampling.temperature == 0
    assert house.pins.get("rubric").verified == result
    house.restart()
    assert house.pins.get("rubric").verified == result
    house.events.wait("pin.state", lambda event: event.state == "cold")
    house.pins.refresh("rubric", system_text("Another rubric."))
    house.restart()
    assert house.pins.get("rubric").verified is None, "it was about another content"


@pytest.mark.parametrize("cold", [False, True])
def test_a_verification_that_is_stopped_says_nothing(house: House, cold: bool) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    gate = Gate()

    def script(request: GenerationRequest) -> Iterator[Step]:
        held = request.use_cache is not cold
        return Reply([5, 6, 7], at=((1, gate),) if held else ())(request)

    house.engine.script = script
    verification = house.pins.verification("rubric", 3)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(verification.run)
        assert gate.reached.wait(LIMIT_SECONDS)
        verification.stop()
        gate.open()
        assert running.result(LIMIT_SECONDS) is None
    assert house.pins.get("rubric").verified is None
    never = house.pins.verification("rubric", 3)
    never.stop()
    assert never.run() is None


def test_a_pin_that_could_not_be_saved_is_saved_once_there_is_room(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.engine.prefixes.disk_problem = OSError(28, "No space left on device")
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")
    reason = house.pins.get("rubric").reason
    assert reason is not None and reason.startswith("It is in memory, but not on disk: No space left on device.")
    house.engine.prefixes.disk_problem = None
    after = len(house.events.seen)
    house.pins.disk_changed()
    assert house.events.wait("pin.state", after=after).reason is None
    assert house.files == {tuple(TOKENS)} and house.pins.get("rubric").on_disk


def test_saving_is_tried_again_now_and_then(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(keeper, "_SAVE_AGAIN_SECONDS", 0.0)
    house.engine.prefixes.disk_problem = OSError(30, "Read-only file system")
    house.pins.create("rubric", RUBRIC)
    event = house.events.wait("pin.state", lambda event: event.state == "warm")
    assert "Read-only file system" in event.reason
    house.engine.prefixes.disk_problem = None
    house.events.wait("pin.state", lambda event: (event.state, event.reason) == ("warm", None))
    assert house.files == {tuple(TOKENS)}


def test_verify_tells_a_difference(house: House) -> None:
    house.pins.create("rubric", RUBRIC)
    house.warm("rubric")

    def script(request: object) -> Iterator[object]:
        cold = not request.use_cache  # type: ignore[attr-defined]
        for event in Reply([5, 6, 7])(request):  # type: ignore[arg-type]
            if isinstance(event, Token) and event.token_id == 6:
                event = Token(9, TokenLogprob(9, -0.25, ((9, -0.25), (6, -0.5)))) if cold else event
            yield event

    house.engine.script = script  # type: ignore[assignment]
    result = house.pins.verification("rubric", 3).run()
    assert result is not None
    assert (result.tokens_compared, result.greedy_equal) == (2, False)
    assert result.largest_difference > 0.4


def test_without_a_model_nothing_can_be_pinned(tmp_path: Path) -> None:
    manager = PinManager(MemoryBook(), Events().publish, kv_home=tmp_path)
    with pytest.raises(PinStateError, match="Load a model first"):
        manager.create("rubric", RUBRIC)
    manager.close()
