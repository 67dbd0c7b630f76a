"""What outlives the process: pins, what they saved, and the history of requests, in the ledger's words and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pinfill_service.api.learned_costs import LearnedCosts
from pinfill_service.api.schemas.manage import (
    Finding,
    Problem,
    RequestDetail,
    Requests,
    RequestSegment,
    RequestSummary,
    Savings,
    SavingsByDay,
    SavingsByPin,
    SavingsPart,
)
from pinfill_service.cache.doctor import PromptRecord
from pinfill_service.cache.ledger import Ledger
from pinfill_service.cache.ledger_records import PinUse, RequestRecord, Sums
from pinfill_service.engine.interface import Engine
from pinfill_service.loaded_model import LoadedModel
from pinfill_service.pins.content import PinnedPrefix
from pinfill_service.pins.manager import PinManager
from pinfill_service.pins.sessions import SessionKeeper
from pinfill_service.pins.shelf import Publish
from pinfill_service.settings import Settings


class Kept:
    """Follows the loaded model: its pins are kept warm, its sessions saved when it goes, its requests written down."""

    def __init__(self, home: Path, settings: Settings, publish: Publish) -> None:
        """Opens the ledger in `home`. Raises LedgerError for one of a newer version."""
        self._settings = settings
        self._ledger = Ledger.open(home, history=settings.history)
        self.pins = PinManager(self._ledger.pins, publish, kv_home=home / "kv", keeps_sessions=self._keeps_all_files)
        self._costs = LearnedCosts(self._ledger)
        self._loaded: LoadedModel | None = None
        self._sessions = SessionKeeper(self._engine, self._keeps_sessions)

    # -- the model -----------------------------------------------------------------------------------------------

    def attach(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        self._costs.tell(loaded.engine)
        self.pins.attach(loaded)

    def detach(self) -> None:
        self._loaded = None
        self._sessions.settle()
        self.pins.detach()

    def farewell(self, loaded: LoadedModel) -> None:
        self._sessions.keep(loaded.engine)
        self._costs.keep(loaded.engine)

    def close(self) -> None:
        """When the model is closed and nothing more is recorded."""
        self._sessions.close()
        self.pins.close()
        self._ledger.close()

    def _engine(self) -> Engine | None:
        loaded = self._loaded
        return None if loaded is None else loaded.engine

    def _keeps_sessions(self) -> bool:
        return self._settings.keep_sessions

    def _keeps_all_files(self) -> bool:
        """Whether files that no pin is known for stay: the list of pins may be short of some."""
        return self._keeps_sessions() or self._ledger.problem is not None or bool(self._ledger.set_aside)

    def settings_changed(self, settings: Settings, changes: Mapping[str, Any]) -> None:
        """Raises LedgerError when texts that are not wanted any more cannot be deleted."""
        self._settings = settings
        if "history" in changes:
            self._ledger.keep_history(settings.history)
        if "disk_budget_mib" in changes:
            self.pins.disk_changed()
        if changes.get("keep_sessions") is False and not self._keeps_all_files():
            self.pins.forget_unpinned_files()

    # -- requests ------------------------------------------------------------------------------------------------

    def pin_of(self, prompt: Sequence[int]) -> str | None:
        return self.pins.serving(prompt)

    def pinned(self) -> list[PinnedPrefix]:
        return self.pins.prefixes()

    def record(self, request: RequestSummary, prompt: PromptRecord) -> None:
        fields = request.model_dump(exclude={"processed_tokens"})
        self._ledger.record(
            RequestRecord(
                **fields,
                segments=[(segment.label, segment.end_token - segment.start_token) for segment in prompt.segments],
                prompt=prompt.text,
                reply=prompt.reply_text,
            )
        )
        engine = self._engine()
        if engine is not None:
            self._costs.keep_now_and_then(engine)

    def requests(self, limit: int, before: str | None) -> Requests:
        page = self._ledger.requests(limit, before)
        return Requests(requests=[_summary(record) for record in page.requests], before=page.before)

    def request(self, request_id: str) -> RequestDetail | None:
        """One that is written down; None when it is not, any more or at all."""
        record = self._ledger.request(request_id)
        if record is None:
            return None
        return RequestDetail(
            **_summary(record).model_dump(),
            segments=[RequestSegment(label=label, tokens=tokens) for label, tokens in record.segments],
            text=record.prompt,
            compared_with=None,
            compared_text=None,
            can_be_pinned=False,
        )

    # -- sums ----------------------------------------------------------------------------------------------------

    def savings(self, days: int) -> Savings:
        found = self._ledger.savings(days)
        return Savings(
            days=found.days,
            total=SavingsPart(**_sums(found.total)),
            by_pin=[SavingsByPin(pin=each.pin, **_sums(each.sums)) for each in found.by_pin],
            by_day=[SavingsByDay(day=each.day, pin=each.pin, **_sums(each.sums)) for each in found.by_day],
        )

    def pin_uses(self) -> Mapping[str, PinUse]:
        """By name, of the pins that were used."""
        return self._ledger.pin_uses()

    def problems(self) -> list[Problem]:
        """What keeps the ledger from being kept."""
        sentences = [*self._ledger.set_aside, *filter(None, [self._ledger.problem])]
        return [Problem(kind="history", message=sentence) for sentence in sentences]


def _sums(sums: Sums) -> dict[str, Any]:
    return {name: getattr(sums, name) for name in SavingsPart.model_fields}


def _summary(record: RequestRecord) -> RequestSummary:
    fields = {name: getattr(record, name) for name in RequestSummary.model_fields if name != "finding"}
    finding = None if record.finding is None else Finding.model_validate(record.finding)
    return RequestSummary(**fields, finding=finding)
