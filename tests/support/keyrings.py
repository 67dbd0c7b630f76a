"""Keyrings that forget everything with the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class MemoryKeyring(KeyringBackend):
    """Holds passwords by (service, user)."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self, kept: dict[tuple[str, str], str] | None = None) -> None:
        super().__init__()
        self.kept = {} if kept is None else kept

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class PlaintextKeyring(MemoryKeyring):
    """Named as the backend of keyrings.alt that writes a plain file."""


class LockedKeyring(MemoryKeyring):
    """One that nobody unlocked when it asked."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("dismissed")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("dismissed")


class TalkativeKeyring(MemoryKeyring):
    """Does not work, and says what it was given."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("no D-Bus")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"cannot store {password!r}")


class AskedKeyring(MemoryKeyring):
    """Counts how often it is asked."""

    asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        return super().get_password(service, username)


K = TypeVar("K", bound=KeyringBackend)


@contextmanager
def used(backend: K) -> Iterator[K]:
    """The system's keyring is this one for a while."""
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield backend
    finally:
        keyring.set_keyring(before)


@contextmanager
def untouched() -> Iterator[None]:
    """No keyring is asked meanwhile."""
    with used(AskedKeyring()) as backend:
        yield
        assert backend.asked == 0
