"""The stable code of an error that is told in a sentence, for programs that run our commands.

With PINFILL_ERROR_CODES set, the line "error-code: CODE" stands in front of "error: SENTENCE" where there is one. Codes
are those of the API; errors that only commands have are listed here.
"""

from __future__ import annotations

import os

from pydantic import ValidationError

from pinfill_service.engine.layout import LayoutError
from pinfill_service.engine.pages import KvMemoryError
from pinfill_service.engine.provider_choice import ProviderError
from pinfill_service.engine.providers import RuntimeMissingError
from pinfill_service.keys import UnsafeBindingError
from pinfill_service.models.gguf_file import GgufError
from pinfill_service.prompt.template import TemplateError
from pinfill_service.prompt.tokenizer import TokenizerError
from pinfill_service.state_lock import StateFolderBusyError
from pinfill_service.state_version import StateVersionError

VARIABLE = "PINFILL_ERROR_CODES"

CODES: dict[type[Exception], str] = {
    GgufError: "model_unusable",
    LayoutError: "model_unusable",
    TokenizerError: "model_unusable",
    TemplateError: "template_error",
    KvMemoryError: "out_of_memory",
    ProviderError: "provider_unusable",
    RuntimeMissingError: "runtime_missing",
    UnsafeBindingError: "unsafe_binding",
    StateFolderBusyError: "folder_busy",
    StateVersionError: "newer_state",
    ValidationError: "invalid_settings",
    OSError: "system_error",
}


def wanted() -> bool:
    """Whether whoever started this command reads codes."""
    return bool(os.environ.get(VARIABLE))


def code_of(error: Exception) -> str | None:
    """None for an error that has none."""
    own = getattr(error, "code", None)
    if isinstance(own, str):
        return own
    return next((code for kind, code in CODES.items() if isinstance(error, kind)), None)
