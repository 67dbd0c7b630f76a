"""Continue: a model in its `config.yaml`."""

from __future__ import annotations

from pinfill_service.agents.agent import Endpoint


class Continue:
    """Implements Agent."""

    name = "continue"
    title = "Continue"

    def settings_text(self, endpoint: Endpoint) -> str:
        return f"""~/.continue/config.yaml, under models:

models:
  - name: "Pinfill"
    provider: openai
    model: "{endpoint.model}"
    apiBase: "{endpoint.v1}"
    apiKey: "{endpoint.secret}"
    roles: [chat, edit, apply]
    defaultCompletionOptions:
      contextLength: {endpoint.context_length}
      maxTokens: {endpoint.output_tokens}
"""
