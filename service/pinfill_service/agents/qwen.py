"""qwen-code. Its settings file names the model before the environment does; the command line comes before both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pinfill_service.agents.agent import WAIT_MS, ConfigFile, Endpoint, Environ, Format, Launch, Value, home_folder
from pinfill_service.agents.settings_text import text_of_files, tree_of


class QwenCode:
    """Implements LocalAgent."""

    name = "qwen"
    title = "qwen-code"
    program = "qwen"
    install_hint = "npm install -g @qwen-code/qwen-code (it needs Node 22)"
    first_prompt_tokens = 17_000

    def launch(self, endpoint: Endpoint) -> Launch:
        environment = {
            "OPENAI_BASE_URL": endpoint.v1,
            "OPENAI_API_KEY": endpoint.secret,
            "QWEN_CODE_SYSTEM_SETTINGS_PATH": "{settings}",  # the only ones that come before the user's
        }
        settings = json.dumps(tree_of(_limits(endpoint)), indent=2)
        arguments = ["--auth-type", "openai", "--model", endpoint.model]
        return Launch(environment, arguments, files={"{settings}": settings})

    def files(self, endpoint: Endpoint, environ: Environ) -> Sequence[ConfigFile]:
        folder = environ.get("QWEN_HOME") or home_folder(environ) / ".qwen"
        values: dict[tuple[str, ...], Value] = {
            ("security", "auth", "selectedType"): "openai",
            ("security", "auth", "baseUrl"): endpoint.v1,
            ("security", "auth", "apiKey"): endpoint.secret,
            ("model", "name"): endpoint.model,
        }
        return [ConfigFile(Path(folder) / "settings.json", Format.json, values | _limits(endpoint))]

    def settings_text(self, endpoint: Endpoint) -> str:
        return text_of_files(self.files(endpoint, {"HOME": "~"}))


def _limits(endpoint: Endpoint) -> dict[tuple[str, ...], Value]:
    return {
        ("model", "generationConfig", "contextWindowSize"): endpoint.context_length,
        ("model", "generationConfig", "timeout"): WAIT_MS,
        ("model", "generationConfig", "streamIdleTimeoutMs"): WAIT_MS,
        ("model", "generationConfig", "streamMaxLifetimeMs"): WAIT_MS,
        ("model", "generationConfig", "samplingParams", "max_tokens"): endpoint.output_tokens,
    }
