"""Coding agents: finding them, starting them on Pinfill, writing Pinfill into their configuration. One file an agent.

Nothing heavy is imported here: the desktop application uses it too.
"""

from __future__ import annotations

from pinfill_service.agents.agent import Agent, AgentError, LocalAgent
from pinfill_service.agents.aider import Aider
from pinfill_service.agents.claude import ClaudeCode
from pinfill_service.agents.cline import Cline
from pinfill_service.agents.codex import Codex
from pinfill_service.agents.continue_dev import Continue
from pinfill_service.agents.goose import Goose
from pinfill_service.agents.opencode import OpenCode
from pinfill_service.agents.qwen import QwenCode
from pinfill_service.agents.zed import Zed

LOCAL_AGENTS: tuple[LocalAgent, ...] = (ClaudeCode(), Goose(), Codex(), OpenCode(), QwenCode())
AGENTS: tuple[Agent, ...] = (*LOCAL_AGENTS, Continue(), Cline(), Aider(), Zed())


def find_agent(name: str) -> Agent:
    """An agent by its name. Raises AgentError that lists the names."""
    found = next((agent for agent in AGENTS if agent.name == name), None)
    if found is None:
        raise AgentError(f"{name!r} is none of the agents: {', '.join(agent.name for agent in AGENTS)}.")
    return found


def find_local_agent(name: str) -> LocalAgent:
    """An agent that can be started and connected. Raises AgentError that says what can be done."""
    found = find_agent(name)
    if not isinstance(found, LocalAgent):
        names = ", ".join(agent.name for agent in LOCAL_AGENTS)
        raise AgentError(
            f"{found.title} keeps its settings to itself. Paste them: pinfill connect {name} --print "
            f"(what is done for you is {names})."
        )
    return found
