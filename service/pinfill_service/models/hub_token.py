"""The token that gated and private repositories of Hugging Face ask for: where it is found, kept and forgotten."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from pinfill_service.models.catalog import ModelError
from pinfill_service.models.discovery_places import Machine
from pinfill_service.secret_store import (
    LONGEST,
    KeyringLockedError,
    NoKeyringError,
    SecretError,
    SecretStore,
    UnfitFileError,
)

HUB_TOKEN = SecretStore("hugging-face-token", "Hugging Face token")
VARIABLE = "HF_TOKEN"
OPT_OUT = "HF_HUB_DISABLE_IMPLICIT_TOKEN"
TOKENS_PAGE = "https://huggingface.co/settings/tokens"
SHORTEST = 8
_SHAPE = re.compile(rf"[A-Za-z0-9._~+/=-]{{{SHORTEST},{LONGEST}}}")  # what RFC 6750 lets stand behind "Bearer"
_YES = {"1", "ON", "YES", "TRUE"}  # as huggingface_hub reads its switches


class TokenError(ModelError):
    """The token cannot be read, kept or forgotten. The message says why and what to do, and never holds the token."""


class TokenPlace(Enum):
    """Where the token is from; the value says it to people."""

    VARIABLE = f"from {VARIABLE}"
    KEYRING = "in the system keyring"
    FILE = "in a file, for this machine has no keyring"
    LOGIN = "of 'hf auth login'"


@dataclass(frozen=True, slots=True)
class FoundToken:
    """A token, where it is from, and the file it is in."""

    value: str = field(repr=False)
    place: TokenPlace
    path: Path | None = None


def is_token(text: str) -> bool:
    """Whether it looks like one: SHORTEST to LONGEST letters, digits and -._~+/= without anything between them."""
    return _SHAPE.fullmatch(text) is not None


def find_token(*, ask_keyring: bool = True) -> FoundToken | None:
    """The token in HF_TOKEN, else the one that was saved here, else that of `hf auth login`.

    With HF_HUB_DISABLE_IMPLICIT_TOKEN only the one that was saved here, for it was given for this purpose. May wait for
    a person to unlock the keyring, unless that is not to be asked. Raises TokenError.
    """
    implicit = os.environ.get(OPT_OUT, "").upper() not in _YES
    found = _in_variable() if implicit else None
    found = found or _saved(ask_keyring)
    return found or (_of_login() if implicit else None)


def save_token(text: str) -> FoundToken:
    """Keeps a token in place of the one before. May wait as find_token does. Raises TokenError."""
    token = text.strip()
    if not is_token(token):
        raise TokenError(
            f"That is no token: a token has {SHORTEST} to {LONGEST:,} letters, digits and -._~+/= without spaces. "
            f"Copy it again from {TOKENS_PAGE}."
        )
    try:
        place = TokenPlace[HUB_TOKEN.keep(token).name]
    except SecretError as error:
        raise TokenError(_sentence(error, "save the token again")) from None
    return FoundToken(token, place, HUB_TOKEN.path if place is TokenPlace.FILE else None)


def forget_token() -> bool:
    """Deletes the token that was saved here, wherever it is; whether there was one. Raises TokenError."""
    try:
        return HUB_TOKEN.forget()
    except SecretError as error:
        raise TokenError(_sentence(error, "forget the token again, for there may be one")) from error


def _in_variable() -> FoundToken | None:
    value = os.environ.get(VARIABLE, "").strip()
    if value and not is_token(value):
        raise TokenError(f"{VARIABLE} is set, but not to a token. Set it to one from {TOKENS_PAGE}, or unset it.")
    return FoundToken(value, TokenPlace.VARIABLE) if value else None


def _saved(ask_keyring: bool) -> FoundToken | None:
    try:
        found = HUB_TOKEN.find() if ask_keyring else HUB_TOKEN.in_file()
    except NoKeyringError:  # then nothing was saved in one
        return None
    except SecretError as error:
        raise TokenError(_sentence(error, "try again")) from error
    if found is None:
        return None
    place = TokenPlace[found.place.name]
    return FoundToken(found.value, place, HUB_TOKEN.path if place is TokenPlace.FILE else None)


def _of_login() -> FoundToken | None:
    path = Machine().hugging_face_login()
    try:
        if not path.is_file():  # opening a pipe would wait
            return None
        with path.open(encoding="utf-8") as file:
            value = file.read(LONGEST + 2).strip()
    except OSError as error:
        raise TokenError(
            f"{path} cannot be read ({error.strerror}). Mend that, or run 'hf auth login' again."
        ) from error
    except UnicodeDecodeError:
        value = "?"
    if value and not is_token(value):
        raise TokenError(f"{path} holds no token. Run 'hf auth login' again, or delete it.")
    return FoundToken(value, TokenPlace.LOGIN, path) if value else None


def _sentence(error: SecretError, then: str) -> str:
    if isinstance(error, UnfitFileError):
        return f"{error} Delete it, then save the token again."
    return f"{error} {'Unlock it' if isinstance(error, KeyringLockedError) else 'Mend that'}, then {then}."
