"""Pins as the management API shows them: what the manager knows, with what the ledger has added up."""

from __future__ import annotations

from pinfill_service.api.context import Application
from pinfill_service.api.schemas.manage import Pin, Verification
from pinfill_service.cache.ledger_records import PinUse
from pinfill_service.pins.pin import PinStatus


class PinViews:
    """One look at the pins. Asks the engine and the ledger: not for the event loop."""

    def __init__(self, application: Application) -> None:
        """Raises ApiError where nothing is kept."""
        self._manager, self._application = application.pins, application
        self._files = self._manager.kept_files()
        loaded = application.models.current
        self._model = loaded.engine.model if loaded is not None else None
        self._cost = loaded.engine.cost if loaded is not None else None

    def all(self) -> list[Pin]:
        assert self._application.kept is not None
        uses = self._application.kept.pin_uses()
        return [self._view(status, uses.get(status.name)) for status in self._manager.all()]

    def one(self, name: str) -> Pin:
        """Raises UnknownPinError."""
        assert self._application.kept is not None
        status = self._manager.get(name)
        return self._view(status, self._application.kept.pin_uses().get(status.name))

    def _view(self, status: PinStatus, use: PinUse | None) -> Pin:
        fits = self._model is not None and self._model.fingerprint == status.fingerprint
        memory, disk = self._sizes(status)
        verified = status.verified
        return Pin(
            name=status.name,
            kind=status.content.kind,
            state=status.state,
            reason=status.reason,
            position=status.position,
            model=status.model,
            use_as=f"{status.model}@{status.name}" if fits else None,
            tokens=status.tokens,
            shared_tokens=status.shared_tokens,
            done=status.done,
            total=status.tokens,
            seconds_left=status.seconds_left,
            memory_bytes=memory,
            disk_bytes=disk,
            on_disk=disk > 0,
            auto_refresh=status.auto_refresh,
            sources=list(status.sources),
            created=status.created,
            hits=use.hits if use is not None else 0,
            saved_seconds=use.saved_seconds if use is not None else 0.0,
            saved_seconds_today=use.saved_seconds_today if use is not None else 0.0,
            last_used=use.last_used if use is not None else None,
            prefill_seconds=self._cost.measured_seconds(0, status.tokens) if self._cost is not None and fits else None,
            verified=None
            if verified is None
            else Verification(
                at=verified.at,
                greedy_equal=verified.greedy_equal,
                largest_difference=verified.largest_difference,
            ),
        )

    def _sizes(self, status: PinStatus) -> tuple[int, int]:
        """(bytes in memory, bytes on disk)"""
        if self._model is None or self._model.fingerprint != status.fingerprint:
            return 0, self._files.bytes_of(status.fingerprint, status.digest, status.tokens)
        size = status.tokens * self._model.kv_bytes_per_token
        return size if status.in_memory else 0, size if status.on_disk else 0
