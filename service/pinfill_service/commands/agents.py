"""What `pinfill launch` and `pinfill connect` have in common: the running service as agents see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfill_service.commands.console import CommandError, err
from pinfill_service.commands.remote import connect

if TYPE_CHECKING:
    from pinfill_service.agents.agent import Endpoint, LocalAgent


ROOM = 1.25  # of an agent's first prompt, that must fit beside one answer


def find_endpoint(model: str | None) -> Endpoint:
    """The running service, and the model to use there: the loaded one, or it with a pin in front.

    `model` is NAME or NAME@PIN. Raises CommandError.
    """
    from pinfill_service.agents.agent import Endpoint
    from pinfill_service.api.schemas.manage import Pin, Status
    from pinfill_service.keys import active_key
    from pinfill_service.settings import Settings

    with connect() as remote:
        loaded = remote.get(Status, "status").model
        if loaded is None:
            raise CommandError("The service has no model loaded. Start it with one: pinfill serve --model NAME")
        name, _, pin = (model or loaded.name).partition("@")
        if name != loaded.name:
            raise CommandError(
                f"The service runs {loaded.name}, not {name}. Stop it, and start it with: pinfill serve --model {name}"
            )
        if pin:
            remote.get(Pin, "pins", pin)
        key = active_key(Settings.from_flags()) if remote.needs_key else None
        return Endpoint(remote.url, key, f"{name}@{pin}" if pin else name, loaded.context_length)


def warn_of_small_context(agent: LocalAgent, endpoint: Endpoint) -> None:
    """Says so before the agent finds out: without room for a conversation it summarises again and again, or fails."""
    if endpoint.context_length - endpoint.output_tokens < agent.first_prompt_tokens * ROOM:
        err().print(
            f"{agent.title} begins with about {agent.first_prompt_tokens:,} tokens, and {endpoint.model} takes "
            f"{endpoint.context_length:,} in all: that leaves no room to work. Use a model with a longer context.",
            markup=False,
        )
