"""Which errors are expected, and the sentence that tells each of them. Anything else is a bug and keeps its traceback.

Imported only once something has failed: the classes are spread over modules that take a while to import.
"""

from __future__ import annotations

import socket
import tomllib

from pydantic import ValidationError

from pinfill_service.agents.agent import AgentError
from pinfill_service.commands.console import CommandError
from pinfill_service.engine.errors import EngineError
from pinfill_service.engine.layout import LayoutError
from pinfill_service.engine.pages import KvMemoryError
from pinfill_service.engine.provider_choice import ProviderError
from pinfill_service.engine.providers import RuntimeMissingError
from pinfill_service.keys import KeyringUnavailableError, UnsafeBindingError
from pinfill_service.models.catalog import ModelError
from pinfill_service.models.gguf_file import GgufError
from pinfill_service.prompt.template import TemplateError
from pinfill_service.prompt.tokenizer import TokenizerError
from pinfill_service.resources import ResourceMissingError
from pinfill_service.secret_store import SecretError
from pinfill_service.state_lock import StateFolderBusyError
from pinfill_service.state_version import StateVersionError

_SPEAK_FOR_THEMSELVES = (
    CommandError,
    AgentError,
    ModelError,
    GgufError,
    KeyringUnavailableError,
    SecretError,
    UnsafeBindingError,
    RuntimeMissingError,
    LayoutError,
    ProviderError,
    KvMemoryError,
    EngineError,
    TokenizerError,
    TemplateError,
    ResourceMissingError,
    StateVersionError,
    StateFolderBusyError,
)


def explain(error: Exception) -> str | None:
    """What to tell the user; None for an error that nobody foresaw."""
    if isinstance(error, _SPEAK_FOR_THEMSELVES):
        return str(error) or type(error).__name__
    if isinstance(error, ValidationError) and error.title == "Settings":
        return _about_settings(error)
    if isinstance(error, tomllib.TOMLDecodeError):
        return f"The settings file is not TOML: {error}."
    if isinstance(error, socket.gaierror):
        return f"The host name cannot be resolved: {error.strerror}."
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror or error}."
    return None


def _about_settings(error: ValidationError) -> str:
    """The first setting at fault. Its value is left out: it may be a key."""
    first = error.errors(include_input=False, include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    what = first["msg"].removeprefix("Value error, ")  # pydantic's words for what our own checks say
    return f"The setting {name} is not valid: {what}. It comes from a flag, PINFILL_* or settings.toml."
