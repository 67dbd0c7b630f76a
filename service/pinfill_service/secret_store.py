"""A secret of this user: in the system keyring, or where there is none in a file that only the user can read."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

import keyring
import keyring.backends.fail
import keyring.backends.null
import keyring.errors
from keyring.backend import KeyringBackend

from pinfill_service.settings import home

log = logging.getLogger(__name__)

KEYRING_SERVICE = "pinfill"
LONGEST = 1_000  # characters


class SecretError(Exception):
    """A secret cannot be read, kept or forgotten. The message says why; what to do depends on which secret it is."""


class KeyringLockedError(SecretError):
    """Nobody unlocked the keyring, which may hold the secret."""


class KeyringUnusableError(SecretError):
    """The keyring does not work."""


class NoKeyringError(KeyringUnusableError):
    """There is no keyring that a secret could be in."""


class UnfitFileError(SecretError):
    """What is in the place of the file cannot be trusted or used; it has to be deleted."""


class SecretPlace(Enum):
    """Where a secret is."""

    KEYRING = auto()
    FILE = auto()


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret, and where it is."""

    value: str = field(repr=False)
    place: SecretPlace


@dataclass(frozen=True, slots=True)
class SecretStore:
    """The places of one secret: `name` is its user in the keyring and its file in the state folder.

    Where there is a file it wins: a service that was started where no keyring could be reached must agree with those
    who can reach one. What asks the keyring may wait for a person to unlock it. No message holds the secret.
    """

    name: str
    title: str

    @property
    def path(self) -> Path:
        return home() / self.name

    def find(self) -> FoundSecret | None:
        """Raises SecretError; NoKeyringError when there is no file and no keyring either."""
        return self.in_file() or self.in_keyring()

    def find_or_make(self, make: Callable[[], str]) -> FoundSecret:
        """The one that is kept, else one that `make` makes; all who ask at once get the same. Raises SecretError."""
        kept = self.in_file()
        if kept is not None:
            return kept
        made = make()
        try:
            kept = self.in_keyring()
            if kept is None:
                self._to_keyring(made)
                kept = FoundSecret(made, SecretPlace.KEYRING)
            return kept
        except KeyringUnusableError as error:
            trouble = str(error)
        found = FoundSecret(self._create_file(made), SecretPlace.FILE)
        log.warning("%s the %s is kept in %s", trouble, self.title, self.path)
        return found

    def keep(self, value: str) -> SecretPlace:
        """Puts `value` in place of what was kept. Raises SecretError."""
        try:
            self._to_keyring(value)
        except KeyringUnusableError:  # the place that is returned tells it
            self._replace_file(value)
            return SecretPlace.FILE
        self.forget_file()  # it would win
        return SecretPlace.KEYRING

    def forget(self) -> bool:
        """Whether there was one. Raises SecretError when what is in the keyring cannot be reached; the file is gone."""
        was_in_file = self.forget_file()
        try:
            return self.forget_keyring() or was_in_file
        except NoKeyringError:
            return was_in_file

    def in_keyring(self) -> FoundSecret | None:
        """Raises KeyringLockedError and KeyringUnusableError."""
        with _usable_keyring() as backend:
            value = backend.get_password(KEYRING_SERVICE, self.name)
        return FoundSecret(value, SecretPlace.KEYRING) if value else None

    def forget_keyring(self) -> bool:
        """Whether it was there. Raises as in_keyring does."""
        with _usable_keyring() as backend:
            if not backend.get_password(KEYRING_SERVICE, self.name):
                return False
            backend.delete_password(KEYRING_SERVICE, self.name)
        return True

    def in_file(self) -> FoundSecret | None:
        """The secret in a file that is this user's own; None when there is no file. Raises SecretError."""
        path = self.path
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), encoding="utf-8") as file:
                state = os.fstat(file.fileno())
                value = file.read(LONGEST + 1).strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SecretError(f"{path} cannot be read ({error.strerror}).") from error
        except UnicodeDecodeError:
            value = ""
        if os.name == "posix" and (state.st_mode & 0o077 or state.st_uid != os.getuid()):
            raise UnfitFileError(f"Others can read {path}.")
        if not value or len(value) > LONGEST or not (value.isascii() and value.isprintable()):
            raise UnfitFileError(f"{path} holds no {self.title}.")
        return FoundSecret(value, SecretPlace.FILE)

    def forget_file(self) -> bool:
        """Whether it was there. A link is deleted, not followed. Raises SecretError."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SecretError(f"{self.path} cannot be deleted ({error.strerror}).") from error
        return True

    def _to_keyring(self, value: str) -> None:
        """Raises KeyringLockedError and KeyringUnusableError."""
        with _usable_keyring(value) as backend:
            backend.set_password(KEYRING_SERVICE, self.name, value)
            if backend.get_password(KEYRING_SERVICE, self.name) != value:
                raise KeyringUnusableError(f"The system keyring did not keep the {self.title}.")

    def _create_file(self, value: str) -> str:
        """The value in a new file; that of another process that made one in the meantime. Raises SecretError."""
        with self._unfinished(value) as unfinished:
            try:
                os.link(unfinished, self.path)  # fails where there is one, and is never seen half written
            except FileExistsError:
                kept = self.in_file()
                return value if kept is None else kept.value
        return value

    def _replace_file(self, value: str) -> None:
        with self._unfinished(value) as unfinished:
            os.replace(unfinished, self.path)

    @contextmanager
    def _unfinished(self, value: str) -> Iterator[Path]:
        """A file of the user's own that holds the value, beside the final one. Raises SecretError for all OSErrors."""
        unfinished = self.path.with_name(f"{self.name}.{secrets.token_hex(4)}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(value)
                yield unfinished
            finally:
                unfinished.unlink(missing_ok=True)
        except OSError as error:
            raise SecretError(f"There is no keyring, and {self.path} cannot be written ({error.strerror}).") from error


def has_keyring() -> bool:
    """Whether a secret could be in a keyring. Nobody is asked for a password."""
    try:
        with _usable_keyring() as backend:
            return not isinstance(backend, (keyring.backends.fail.Keyring, keyring.backends.null.Keyring))
    except KeyringUnusableError:
        return False


@contextmanager
def _usable_keyring(secret: str = "") -> Iterator[KeyringBackend]:
    """The system's keyring. Backends let the errors of D-Bus and of other programs through: all become SecretErrors.

    Their own words are told without `secret`, and nothing is chained to them, for they may repeat what they were given.
    """
    try:
        backend = keyring.get_keyring()
        _refuse_plain_text(backend)
        yield backend
    except SecretError:
        raise
    except keyring.errors.KeyringLocked:
        raise KeyringLockedError("The system keyring is locked.") from None
    except Exception as error:
        words = (str(error) or type(error).__name__).rstrip(".")
        words = words.replace(secret, "...") if secret else words
        kind = NoKeyringError if isinstance(error, keyring.errors.NoKeyringError) else KeyringUnusableError
        raise kind(f"The system keyring cannot be used ({words}).") from None


def _refuse_plain_text(backend: KeyringBackend) -> None:
    for each in (backend, *getattr(backend, "backends", ())):
        if "plaintext" in type(each).__name__.lower():
            raise NoKeyringError(f"The keyring {type(each).__name__} writes passwords to a plain file.")
