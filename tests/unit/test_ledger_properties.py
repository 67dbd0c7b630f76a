"""Random lives of a ledger against plain Python lists: whatever happened, it says the same after every step."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pinfill_service.cache.ledger import Ledger
from pinfill_service.cache.ledger_records import Limits, RequestRecord
from pinfill_service.pins.book import StoredPin
from pinfill_service.pins.errors import PinExistsError
from tests.support.ledger import DAY, NOW, record, stored_pin

LIMITS = Limits(requests=6, request_days=3, savings_days=5)
names = st.sampled_from(["a", "A", "b", "rubric", "x.y"])


@dataclass(eq=False)
class ModelPin:
    """A pin that is or was; `name` is its last one."""

    name: str
    pin: StoredPin


@dataclass
class Model:
    """What a ledger should say."""

    now: float = NOW
    history: bool = False
    pins: list[ModelPin] = field(default_factory=list)
    requests: list[tuple[RequestRecord, ModelPin | None]] = field(default_factory=list)
    days: list[tuple[date, RequestRecord, ModelPin | None]] = field(default_factory=list)

    def forget_old(self) -> None:
        self.requests = self.requests[-LIMITS.requests :]
        self.requests = [(sent, pin) for sent, pin in self.requests if sent.at >= self.now - LIMITS.request_days * DAY]
        first = self.today - timedelta(days=LIMITS.savings_days - 1)
        self.days = [row for row in self.days if row[0] >= first]

    def forget_texts(self) -> None:
        self.requests = [(without_texts(sent), pin) for sent, pin in self.requests]

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self.now).date()


def without_texts(sent: RequestRecord) -> RequestRecord:
    finding = None if sent.finding is None else {"kind": sent.finding["kind"]}
    return replace(sent, prompt=None, reply=None, finding=finding)


def name_of(pin: ModelPin | None) -> str | None:
    return None if pin is None else pin.name


class LedgerMachine(RuleBasedStateMachine):
    """Pins, requests, days going by, history on and off, restarts, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.model, self.count = Model(), 0
        self.open()

    def open(self) -> None:
        home, history = Path(self.folder.name), self.model.history
        self.ledger = Ledger.open(home, history=history, limits=LIMITS, clock=lambda: self.model.now)

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()

    def wrote(self, changed: bool = True) -> None:
        """What is too old is forgotten with the next thing that is written down."""
        self.ledger.flush()
        if changed:
            self.model.forget_old()

    def taken(self, name: str, but: ModelPin | None = None) -> bool:
        return any(pin.name.lower() == name.lower() for pin in self.model.pins if pin is not but)

    # -- pins ----------------------------------------------------------------------------------------------------

    @rule(name=names, text=st.text(max_size=30))
    def add(self, name: str, text: str) -> None:
        pin, taken = stored_pin(name, text, created=self.model.now), self.taken(name)
        try:
            self.ledger.pins.add_pin(pin)
            assert not taken
            self.model.pins.append(ModelPin(name, pin))
        except PinExistsError:
            assert taken
        self.wrote(changed=not taken)

    @precondition(lambda self: self.model.pins)
    @rule(data=st.data(), name=names, state=st.sampled_from(["warm", "failed"]), text=st.text(max_size=3))
    def change(self, data: st.DataObject, name: str, state: str, text: str) -> None:
        old = data.draw(st.sampled_from(self.model.pins), "pin")
        pin, taken = stored_pin(name, text, state=state, error=text or None), self.taken(name, old)
        changed = not taken and pin != old.pin
        try:
            self.ledger.pins.update_pin(old.name, pin)
            assert not taken
            old.name, old.pin = name, pin
        except PinExistsError:
            assert taken
        self.wrote(changed)

    @precondition(lambda self: self.model.pins)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        pin = data.draw(st.sampled_from(self.model.pins), "pin")
        self.ledger.pins.remove_pin(pin.name)
        self.model.pins.remove(pin)
        self.wrote()

    @precondition(lambda self: self.model.pins)
    @rule(data=st.data())
    def order(self, data: st.DataObject) -> None:
        first = data.draw(st.lists(st.sampled_from(self.model.pins), unique_by=id), "first")
        self.ledger.pins.order_pins([pin.name for pin in first])
        before = self.model.pins
        self.model.pins = [*first, *(pin for pin in before if pin not in first)]
        self.wrote(changed=self.model.pins != before)

    # -- requests ------------------------------------------------------------------------------------------------

    @rule(
        data=st.data(),
        ago=st.floats(0, 6, width=16),
        prompt=st.integers(0, 50),
        cached=st.integers(0, 50),
        saved=st.floats(0, 100, width=16),
        text=st.none() | st.text(max_size=20),
    )
    def request(
        self, data: st.DataObject, ago: float, prompt: int, cached: int, saved: float, text: str | None
    ) -> None:
        pin = data.draw(st.none() | st.sampled_from(self.model.pins) if self.model.pins else st.none(), "pin")
        self.count += 1
        sent = record(
            self.count,
            at=self.model.now - ago * DAY,
            pin=None if pin is None else pin.name,
            prompt_tokens=prompt,
            cached_tokens=min(cached, prompt),
            saved_seconds=saved,
            finding=None if text is None else {"kind": "edited", "before": text},
            prompt=text,
        )
        self.ledger.record(sent)
        self.model.requests.append((sent if self.model.history else without_texts(sent), pin))
        self.model.days.append((datetime.fromtimestamp(sent.at).date(), sent, pin))
        self.wrote()

    # -- everything else -----------------------------------------------------------------------------------------

    @rule(days=st.floats(0, 3, width=16))
    def time_goes_by(self, days: float) -> None:
        self.model.now += days * DAY

    @rule(on=st.booleans())
    def history(self, on: bool) -> None:
        self.ledger.keep_history(on)
        self.model.history = on
        if not on:
            self.model.forget_texts()

    @rule()
    def purge(self) -> None:
        self.ledger.purge_history()
        self.model.requests = []

    @rule(history=st.booleans())
    def restart(self, history: bool) -> None:
        self.ledger.close()
        self.model.history = history
        if not history:
            self.model.forget_texts()
        self.model.forget_old()
        self.open()

    # -- what it says --------------------------------------------------------------------------------------------

    @invariant()
    def pins_are_right(self) -> None:
        assert self.ledger.pins.pins() == [pin.pin for pin in self.model.pins]

    @invariant()
    def requests_are_right(self) -> None:
        expected = [replace(sent, pin=name_of(pin)) for sent, pin in reversed(self.model.requests)]
        assert list(self.ledger.requests(100).requests) == expected

    @invariant()
    def sums_are_right(self) -> None:
        for days in (2, LIMITS.savings_days):
            first = self.model.today - timedelta(days=days - 1)
            rows = [(day, sent, name_of(pin)) for day, sent, pin in self.model.days if day >= first]
            found = self.ledger.savings(days)
            saved: dict[tuple[str, str | None], float] = defaultdict(float)
            for day, sent, pin in rows:
                saved[day.isoformat(), pin] += sent.saved_seconds
            assert {(part.day, part.pin): part.sums.saved_seconds for part in found.by_day} == saved
            assert found.total.requests == len(rows) == sum(part.sums.requests for part in found.by_pin)
            assert found.total.cached_tokens == sum(sent.cached_tokens for _, sent, _ in rows)
            assert found.total.hits == sum(sent.cached_tokens > 0 for _, sent, _ in rows)

    @invariant()
    def uses_are_right(self) -> None:
        hits: dict[str, int] = {}
        for _, sent, pin in self.model.days:
            if pin in self.model.pins:
                assert pin is not None
                hits[pin.name] = hits.get(pin.name, 0) + (sent.cached_tokens > 0)
        assert {name: use.hits for name, use in self.ledger.pin_uses().items()} == hits

    @invariant()
    def all_is_well(self) -> None:
        assert self.ledger.problem is None and self.ledger.set_aside == ()


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
