"""Aider: environment variables, and a file that announces the context window."""

from __future__ import annotations

import json

from pinfill_service.agents.agent import Endpoint


class Aider:
    """Implements Agent."""

    name = "aider"
    title = "Aider"

    def settings_text(self, endpoint: Endpoint) -> str:
        limits = {
            f"openai/{endpoint.model}": {
                "max_input_tokens": endpoint.context_length,
                "max_output_tokens": endpoint.output_tokens,
                "litellm_provider": "openai",
                "mode": "chat",
            }
        }
        return f"""~/.aider.conf.yml

model: "openai/{endpoint.model}"
openai-api-base: "{endpoint.v1}"
openai-api-key: "{endpoint.secret}"

~/.aider.model.metadata.json

{json.dumps(limits, indent=2)}
"""
