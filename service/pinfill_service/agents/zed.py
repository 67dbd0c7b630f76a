"""Zed: a provider in its `settings.json`; the key goes into the keyring through Zed's own settings page."""

from __future__ import annotations

import json

from pinfill_service.agents.agent import Endpoint


class Zed:
    """Implements Agent."""

    name = "zed"
    title = "Zed"

    def settings_text(self, endpoint: Endpoint) -> str:
        model = {
            "name": endpoint.model,
            "display_name": f"Pinfill {endpoint.model}",
            "max_tokens": endpoint.context_length,
            "max_output_tokens": endpoint.output_tokens,
            "capabilities": {"tools": True, "images": False, "parallel_tool_calls": True, "prompt_cache_key": True},
        }
        provider = {"api_url": endpoint.v1, "available_models": [model]}
        settings = {"language_models": {"openai_compatible": {"Pinfill": provider}}}
        return f"""~/.config/zed/settings.json

{json.dumps(settings, indent=2)}

The key goes into Zed's settings page (LLM Providers, Pinfill), or into the variable PINFILL_API_KEY when Zed starts:

{endpoint.secret}
"""
