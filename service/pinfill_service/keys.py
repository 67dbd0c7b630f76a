"""The API key: where it comes from, and which bindings are allowed without one."""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from pinfill_service.settings import Settings, home

log = logging.getLogger(__name__)

KEYRING_SERVICE = "pinfill"
KEYRING_USER = "api-key"
KEY_FILE = "api-key"
KEY_BYTES = 32
_LONGEST_KEY = 1_000  # characters
_INSTEAD = "set PINFILL_API_KEY to a key of your own, or serve on loopback without one: pinfill serve --no-key."


class KeyringUnavailableError(Exception):
    """No key can be read or kept on this machine; the message says what to do instead."""

    code = "keyring_unavailable"


class UnsafeBindingError(Exception):
    """The service would be reachable from other machines without a key."""


class KeyPlace(Enum):
    """Where the key is kept; the value says it to people."""

    SETTINGS = "from PINFILL_API_KEY or settings.toml"
    KEYRING = "in the system keyring"
    FILE = "in a file, for this machine has no keyring"


@dataclass(frozen=True, slots=True)
class FoundKey:
    """The key clients must send, and where it is kept."""

    key: str = field(repr=False)
    place: KeyPlace


def find_key(settings: Settings) -> FoundKey:
    """The configured key, else the one in KEY_FILE, else the one in the system keyring, made on first use.

    A machine without a keyring gets a file that only its user can read. Where there is such a file it wins: a service
    that was started where no keyring could be reached must agree with those who can reach one. May wait for a person
    to unlock the keyring. Raises KeyringUnavailableError.
    """
    configured = (settings.api_key or "").strip()
    if configured:
        return FoundKey(configured, KeyPlace.SETTINGS)
    path = home() / KEY_FILE
    kept = _read_file(path)
    if kept is not None:
        return FoundKey(kept, KeyPlace.FILE)
    try:
        return FoundKey(_keyring_key(), KeyPlace.KEYRING)
    except KeyringLocked as error:  # it may hold the key already, and there must not be two
        raise KeyringUnavailableError(f"The system keyring is locked. Unlock it, or {_INSTEAD}") from error
    except Exception as error:  # backends let the errors of D-Bus and of other programs through
        made = _create_file(path)
        log.warning("the system keyring cannot be used (%s); the API key is kept in %s", error, path)
        return FoundKey(made, KeyPlace.FILE)


def load_or_create_key(settings: Settings) -> str:
    """The key alone. Raises KeyringUnavailableError."""
    return find_key(settings).key


def active_key(settings: Settings) -> str | None:
    """The key this service asks for; None when it serves without one. Raises as load_or_create_key does."""
    return None if settings.no_key else load_or_create_key(settings)


def check_binding(settings: Settings, key: str | None) -> None:
    """Raises UnsafeBindingError for an address beyond loopback without a key."""
    if key is None and not is_loopback(settings.host):
        raise UnsafeBindingError(
            f"Serving on {settings.host} without a key would let anyone on the network in. "
            "Set PINFILL_API_KEY, or bind to 127.0.0.1."
        )


def is_loopback(host: str) -> bool:
    """Whether a host name or address (IPv6 with or without brackets) always means this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def _keyring_key() -> str:
    """Raises whatever the backend raises; KeyringLocked also when nobody unlocked it."""
    backend = keyring.get_keyring()
    _refuse_plain_text(backend)
    key = backend.get_password(KEYRING_SERVICE, KEYRING_USER)
    if not key:
        key = secrets.token_urlsafe(KEY_BYTES)
        backend.set_password(KEYRING_SERVICE, KEYRING_USER, key)
        if backend.get_password(KEYRING_SERVICE, KEYRING_USER) != key:
            raise KeyringUnavailableError("The key store did not keep the key.")
    return key


def _refuse_plain_text(backend: KeyringBackend) -> None:
    for each in (backend, *getattr(backend, "backends", ())):
        if "plaintext" in type(each).__name__.lower():
            raise KeyringUnavailableError(f"{type(each).__name__} writes passwords to a plain file.")


def _read_file(path: Path) -> str | None:
    """The key in a file that is this user's own; None when there is none."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), encoding="utf-8") as file:
            state = os.fstat(file.fileno())
            key = file.read(_LONGEST_KEY + 1).strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KeyringUnavailableError(f"{path} cannot be read ({error.strerror}). Mend that, or {_INSTEAD}") from error
    except UnicodeDecodeError:
        key = ""
    if os.name == "posix" and (state.st_mode & 0o077 or state.st_uid != os.getuid()):
        raise KeyringUnavailableError(f"Others can read {path}. Delete it; Pinfill then makes a new key.")
    if not key or len(key) > _LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise KeyringUnavailableError(f"{path} holds no key. Delete it; Pinfill then makes a new one.")
    return key


def _create_file(path: Path) -> str:
    """A new key in a new file; the one of another process that made it in the meantime."""
    key = secrets.token_urlsafe(KEY_BYTES)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(key)
        try:
            os.link(unfinished, path)  # fails where there is one, and is never seen half written
        except FileExistsError:
            return _read_file(path) or key
        finally:
            unfinished.unlink()
    except OSError as error:
        raise KeyringUnavailableError(
            f"There is no keyring, and {path} cannot be written ({error.strerror}). Mend that, or {_INSTEAD}"
        ) from error
    return key
