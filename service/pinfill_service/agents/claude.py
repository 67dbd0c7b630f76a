"""Claude Code. It reads its settings file before the environment, so both ways of connecting go through settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pinfill_service.agents.agent import (
    WAIT_MS,
    AgentError,
    ConfigFile,
    Endpoint,
    Environ,
    Format,
    Launch,
    Value,
    home_folder,
)
from pinfill_service.agents.settings_text import text_of_files

_OWN_NAMES = "claude-"
_ELSEWHERE = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


class ClaudeCode:
    """Implements LocalAgent."""

    name = "claude"
    title = "Claude Code"
    program = "claude"
    install_hint = "npm install -g @anthropic-ai/claude-code"
    first_prompt_tokens = 12_000

    def launch(self, endpoint: Endpoint) -> Launch:
        settings = json.dumps({"env": _variables(endpoint)}, indent=2)
        return Launch({}, ["--settings", "{settings}"], _ELSEWHERE, {"{settings}": settings})

    def files(self, endpoint: Endpoint, environ: Environ) -> Sequence[ConfigFile]:
        folder = environ.get("CLAUDE_CONFIG_DIR") or home_folder(environ) / ".claude"
        values: dict[tuple[str, ...], Value] = {("env", name): value for name, value in _variables(endpoint).items()}
        return [ConfigFile(Path(folder) / "settings.json", Format.json, values)]

    def settings_text(self, endpoint: Endpoint) -> str:
        return text_of_files(self.files(endpoint, {"HOME": "~"}))


def _variables(endpoint: Endpoint) -> dict[str, str]:
    if endpoint.model.startswith(_OWN_NAMES):
        raise AgentError(
            f"Claude Code takes {endpoint.model} for a model of Anthropic's, because of how its name begins. "
            "Import it again under another name: pinfill models import PATH --name NAME"
        )
    return {
        "ANTHROPIC_BASE_URL": endpoint.url,
        "ANTHROPIC_AUTH_TOKEN": endpoint.secret,
        "ANTHROPIC_API_KEY": "",  # one from elsewhere would be sent along
        "ANTHROPIC_MODEL": endpoint.model,
        "ANTHROPIC_SMALL_FAST_MODEL": endpoint.model,
        "CLAUDE_CODE_SUBAGENT_MODEL": endpoint.model,
        "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",  # it differs from conversation to conversation, at the very beginning
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_CONTEXT_TOKENS": str(endpoint.context_length),
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(endpoint.output_tokens),
        "API_TIMEOUT_MS": str(WAIT_MS),
    }
