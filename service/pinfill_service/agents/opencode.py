"""opencode: a provider of its own in `opencode.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pinfill_service.agents.agent import ConfigFile, Endpoint, Environ, Format, Launch, Value, config_folder
from pinfill_service.agents.settings_text import text_of_files, tree_of

PROVIDER = "pinfill"
KEY_VARIABLE = "PINFILL_API_KEY"


class OpenCode:
    """Implements LocalAgent."""

    name = "opencode"
    title = "opencode"
    program = "opencode"
    install_hint = "npm install -g opencode-ai"
    first_prompt_tokens = 7_100

    def launch(self, endpoint: Endpoint) -> Launch:
        settings = tree_of(_values(endpoint, f"{{env:{KEY_VARIABLE}}}"))
        return Launch({KEY_VARIABLE: endpoint.secret, "OPENCODE_CONFIG_CONTENT": json.dumps(settings)})

    def files(self, endpoint: Endpoint, environ: Environ) -> Sequence[ConfigFile]:
        return [ConfigFile(_path(environ), Format.json, _values(endpoint, endpoint.secret))]

    def settings_text(self, endpoint: Endpoint) -> str:
        return text_of_files(self.files(endpoint, {"HOME": "~"}))


def _path(environ: Environ) -> Path:
    """The file that is there; of two, the one that opencode reads last."""
    folder = config_folder(environ) / "opencode"
    with_comments = folder / "opencode.jsonc"
    return with_comments if with_comments.exists() else folder / "opencode.json"


def _values(endpoint: Endpoint, key: str) -> dict[tuple[str, ...], Value]:
    provider = ("provider", PROVIDER)
    model = (*provider, "models", endpoint.model)
    return {
        ("model",): f"{PROVIDER}/{endpoint.model}",
        ("small_model",): f"{PROVIDER}/{endpoint.model}",
        (*provider, "npm"): "@ai-sdk/openai-compatible",
        (*provider, "name"): "Pinfill",
        (*provider, "options", "baseURL"): endpoint.v1,
        (*provider, "options", "apiKey"): key,
        (*provider, "options", "timeout"): False,
        (*provider, "options", "headerTimeout"): False,
        (*model, "name"): endpoint.model,
        (*model, "limit", "context"): endpoint.context_length,
        (*model, "limit", "output"): endpoint.output_tokens,
    }
