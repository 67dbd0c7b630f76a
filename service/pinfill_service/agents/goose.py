"""Goose: a provider of its own in `custom_providers`, which holds the key, and `config.yaml` that chooses it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pinfill_service.agents.agent import (
    WAIT_MS,
    ConfigFile,
    Endpoint,
    Environ,
    Format,
    Launch,
    Value,
    config_folder,
)
from pinfill_service.agents.settings_text import text_of_files

PROVIDER = "pinfill"
_ELSEWHERE = ("OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "OPENAI_CUSTOM_HEADERS")


class Goose:
    """Implements LocalAgent."""

    name = "goose"
    title = "Goose"
    program = "goose"
    install_hint = "see https://goose-docs.ai for its installer, or: npm install -g @aaif/goose"
    first_prompt_tokens = 4_500

    def launch(self, endpoint: Endpoint) -> Launch:
        environment = {
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": endpoint.model,
            "GOOSE_CONTEXT_LIMIT": str(endpoint.context_length),
            "OPENAI_HOST": endpoint.url,
            "OPENAI_BASE_PATH": "v1/chat/completions",
            "OPENAI_API_KEY": endpoint.secret,
            "OPENAI_TIMEOUT": str(WAIT_MS // 1000),
        }
        return Launch(environment, unset=_ELSEWHERE)

    def files(self, endpoint: Endpoint, environ: Environ) -> Sequence[ConfigFile]:
        folder = _folder(environ)
        provider: dict[tuple[str, ...], Value] = {
            ("name",): PROVIDER,
            ("engine",): "openai",
            ("display_name",): "Pinfill",
            ("description",): "The model that Pinfill runs on this machine",
            ("base_url",): f"{endpoint.v1}/chat/completions",
            ("headers", "Authorization"): f"Bearer {endpoint.secret}",
            ("api_key_env",): "",
            ("requires_auth",): False,  # the header does it
            ("models",): [{"name": endpoint.model, "context_limit": endpoint.context_length}],
            ("supports_streaming",): True,
            ("timeout_seconds",): WAIT_MS // 1000,
        }
        choice: dict[tuple[str, ...], Value] = {
            ("GOOSE_PROVIDER",): PROVIDER,
            ("GOOSE_MODEL",): endpoint.model,
            ("active_provider",): PROVIDER,  # what newer versions write and prefer
            ("providers", PROVIDER, "enabled"): True,
            ("providers", PROVIDER, "model"): endpoint.model,
        }
        return [
            ConfigFile(folder / "custom_providers" / f"{PROVIDER}.json", Format.json, provider),
            ConfigFile(folder / "config.yaml", Format.yaml, choice),
        ]

    def settings_text(self, endpoint: Endpoint) -> str:
        return text_of_files(self.files(endpoint, {"HOME": "~"}))


def _folder(environ: Environ) -> Path:
    if os.name == "nt" and "APPDATA" in environ:
        return Path(environ["APPDATA"]) / "Block" / "goose" / "config"
    return config_folder(environ) / "goose"
