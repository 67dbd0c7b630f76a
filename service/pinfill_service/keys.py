"""The API key: where it comes from, and which bindings are allowed without one."""

from __future__ import annotations

import ipaddress
import secrets

import keyring
from keyring.backend import KeyringBackend

from pinfill_service.settings import Settings

KEYRING_SERVICE = "pinfill"
KEYRING_USER = "api-key"
KEY_BYTES = 32


class KeyringUnavailableError(Exception):
    """There is no key store on this machine; the message says what to do instead."""


class UnsafeBindingError(Exception):
    """The service would be reachable from other machines without a key."""


def load_or_create_key(settings: Settings) -> str:
    """The key clients must send: the configured one, else the one in the system keyring, made on first use.

    Raises KeyringUnavailableError; the key is never written to a plain file.
    """
    configured = (settings.api_key or "").strip()
    return configured or _keyring_key()


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
    try:
        backend = keyring.get_keyring()
        _refuse_plain_text(backend)
        key = backend.get_password(KEYRING_SERVICE, KEYRING_USER)
        if not key:
            key = secrets.token_urlsafe(KEY_BYTES)
            backend.set_password(KEYRING_SERVICE, KEYRING_USER, key)
            if backend.get_password(KEYRING_SERVICE, KEYRING_USER) != key:
                raise KeyringUnavailableError("the key store did not keep the key")
    except Exception as error:  # backends let the errors of D-Bus and of other programs through
        raise KeyringUnavailableError(
            f"The system keyring cannot be used ({str(error) or type(error).__name__}). "
            "Set PINFILL_API_KEY to a key of your own, or serve on loopback without one: pinfill serve --no-key."
        ) from error
    return key


def _refuse_plain_text(backend: KeyringBackend) -> None:
    for each in (backend, *getattr(backend, "backends", ())):
        if "plaintext" in type(each).__name__.lower():
            raise KeyringUnavailableError(f"{type(each).__name__} writes passwords to a plain file")
