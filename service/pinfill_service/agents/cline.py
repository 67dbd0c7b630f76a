"""Cline: fields of its settings page."""

from __future__ import annotations

from pinfill_service.agents.agent import Endpoint


class Cline:
    """Implements Agent."""

    name = "cline"
    title = "Cline"

    def settings_text(self, endpoint: Endpoint) -> str:
        return f"""Cline's settings, API Configuration:

API Provider         OpenAI Compatible
Base URL             {endpoint.v1}
API Key              {endpoint.secret}
Model ID             {endpoint.model}
Context Window Size  {endpoint.context_length}   (under Model Configuration)
Max Output Tokens    {endpoint.output_tokens}
"""
