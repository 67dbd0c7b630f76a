"""OpenAI's Codex: a provider of its own in `config.toml`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pinfill_service.agents.agent import WAIT_MS, ConfigFile, Endpoint, Environ, Format, Launch, Value, home_folder
from pinfill_service.agents.settings_text import text_of_files

CONNECTED, LAUNCHED = "pinfill", "pinfill_launch"  # two, for Codex would mix what both say about one
KEY_VARIABLE = "PINFILL_API_KEY"


class Codex:
    """Implements LocalAgent."""

    name = "codex"
    title = "Codex"
    program = "codex"
    install_hint = "npm install -g @openai/codex"
    first_prompt_tokens = 8_500

    def launch(self, endpoint: Endpoint) -> Launch:
        values = _values(endpoint, LAUNCHED) | {("model_providers", LAUNCHED, "env_key"): KEY_VARIABLE}
        arguments: list[str] = []
        for path, value in values.items():
            arguments += ["-c", f"{'.'.join(path)}={_toml(value)}"]
        return Launch({KEY_VARIABLE: endpoint.secret}, arguments)

    def files(self, endpoint: Endpoint, environ: Environ) -> Sequence[ConfigFile]:
        folder = environ.get("CODEX_HOME") or home_folder(environ) / ".codex"
        values = _values(endpoint, CONNECTED)
        values["model_providers", CONNECTED, "experimental_bearer_token"] = endpoint.secret
        return [ConfigFile(Path(folder) / "config.toml", Format.toml, values)]

    def settings_text(self, endpoint: Endpoint) -> str:
        return text_of_files(self.files(endpoint, {"HOME": "~"}))


def _values(endpoint: Endpoint, provider: str) -> dict[tuple[str, ...], Value]:
    return {
        ("model",): endpoint.model,
        ("model_provider",): provider,
        ("model_context_window",): endpoint.context_length,
        ("model_providers", provider, "name"): "Pinfill",
        ("model_providers", provider, "base_url"): endpoint.v1,
        ("model_providers", provider, "wire_api"): "responses",
        ("model_providers", provider, "stream_idle_timeout_ms"): WAIT_MS,
    }


def _toml(value: Value) -> str:
    """A value for the command line. Single quotes where they do: Windows' batch shims take double ones apart."""
    return f"'{value}'" if isinstance(value, str) and "'" not in value else json.dumps(value)
