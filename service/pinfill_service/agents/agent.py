"""What Pinfill knows about a coding agent, and what it tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

MASK = "********"
NO_KEY = "none-is-asked-for"  # agents want a key, whether or not the service does
LONGEST_OUTPUT = 32_000
WAIT_MS = 3_600_000  # a cold prefill on a slow machine is no reason to give up

Scalar = str | int | bool
Value = Scalar | Sequence[Mapping[str, Scalar]]
Environ = Mapping[str, str]


class AgentError(Exception):
    """An agent cannot be started or connected. The message is one sentence for the user and says what to do next;
    `code` is stable.
    """

    code = "agent_error"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The service an agent is pointed at. `url` has no path; `context_length` is in tokens."""

    url: str
    key: str | None = field(repr=False)
    model: str
    context_length: int

    @property
    def v1(self) -> str:
        """What OpenAI clients take for a base URL."""
        return f"{self.url}/v1"

    @property
    def secret(self) -> str:
        """What to send as the key."""
        return self.key or NO_KEY

    @property
    def output_tokens(self) -> int:
        """The room to leave for one answer: an eighth of the context. The rest is for the conversation."""
        return max(256, min(self.context_length // 8, LONGEST_OUTPUT))

    def masked(self) -> Endpoint:
        """The same for showing to people."""
        return replace(self, key=MASK) if self.key else self


class Format(StrEnum):
    """How a configuration file is written. JSON may hold comments and trailing commas."""

    json = "json"
    toml = "toml"
    yaml = "yaml"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """Values that an agent's own file is to hold, by their path of keys. The rest of the file is somebody else's."""

    path: Path
    format: Format
    values: Mapping[tuple[str, ...], Value] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent for one run.

    `arguments` go before the user's own and hold no key, for others may read them. `unset` are variables that lead
    elsewhere. `files` are temporary, readable by the user alone: the text of each by the word that stands for
    its path in `arguments` and in the values of `environment`.
    """

    environment: Mapping[str, str] = field(repr=False)
    arguments: Sequence[str] = ()
    unset: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict, repr=False)


@runtime_checkable
class Agent(Protocol):
    """A coding agent that can be told by hand where Pinfill is."""

    name: str
    title: str

    def settings_text(self, endpoint: Endpoint) -> str:
        """The settings to paste, and where."""


@runtime_checkable
class LocalAgent(Agent, Protocol):
    """An agent that Pinfill can start, and whose configuration it can write.

    `program` is what it is called on PATH. `first_prompt_tokens` is about what it sends before the user says anything.
    """

    program: str
    install_hint: str
    first_prompt_tokens: int

    def launch(self, endpoint: Endpoint) -> Launch:
        """Raises AgentError."""

    def files(self, endpoint: Endpoint, environ: Environ) -> Sequence[ConfigFile]:
        """What its own configuration is to hold. Raises AgentError."""


def home_folder(environ: Environ) -> Path:
    """The user's folder, in the environment that the agent will have."""
    found = environ.get("HOME") or environ.get("USERPROFILE")
    return Path(found) if found else Path.home()


def config_folder(environ: Environ) -> Path:
    """Where programs that follow the XDG directories keep their settings."""
    found = environ.get("XDG_CONFIG_HOME", "")
    return Path(found) if Path(found).is_absolute() else home_folder(environ) / ".config"
