"""A book of pins that lasts as long as the test."""

from __future__ import annotations

from collections.abc import Sequence

from pinfill_service.pins.book import StoredPin


class MemoryBook:
    """Implements PinBook."""

    def __init__(self) -> None:
        self._pins: list[StoredPin] = []

    def pins(self) -> list[StoredPin]:
        return list(self._pins)

    def add_pin(self, pin: StoredPin) -> None:
        self._pins.append(pin)

    def update_pin(self, name: str, pin: StoredPin) -> None:
        self._pins = [pin if old.name == name else old for old in self._pins]

    def remove_pin(self, name: str) -> None:
        self._pins = [pin for pin in self._pins if pin.name != name]

    def order_pins(self, names: Sequence[str]) -> None:
        self._pins.sort(key=lambda pin: list(names).index(pin.name))
