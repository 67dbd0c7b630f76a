"""The API key: where it comes from, and which bindings are allowed without one."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from enum import Enum

from pinfill_service.secret_store import KeyringLockedError, SecretError, SecretStore, UnfitFileError
from pinfill_service.settings import Settings

KEY_FILE = "api-key"
KEY_BYTES = 32
API_KEY = SecretStore(KEY_FILE, "API key")
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

    Where it is kept is SecretStore's business. May wait for a person to unlock the keyring. Raises
    KeyringUnavailableError.
    """
    configured = (settings.api_key or "").strip()
    if configured:
        return FoundKey(configured, KeyPlace.SETTINGS)
    try:
        found = API_KEY.find_or_make(lambda: secrets.token_urlsafe(KEY_BYTES))
    except SecretError as error:  # a locked keyring may hold the key already, and there must not be two
        raise KeyringUnavailableError(f"{error} {_next_step(error)}") from error
    return FoundKey(found.value, KeyPlace[found.place.name])


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


def _next_step(error: SecretError) -> str:
    if isinstance(error, UnfitFileError):
        return "Delete it; Pinfill then makes a new key."
    return f"{'Unlock it' if isinstance(error, KeyringLockedError) else 'Mend that'}, or {_INSTEAD}"
