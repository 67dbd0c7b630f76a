"""How the real coding agents are told something, first and later, and what llama-server processes for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support.agent_engines import ToolCall


@dataclass(frozen=True)
class Bar:
    """The most tokens that requests of an agent's may process: what llama-server processes, with Gemma 270M.

    `following` goes on with a conversation, `new` begins another one. `side`, where it was measured: asks beside a
    conversation that goes on what to remember of it.
    """

    following: int
    new: int
    side: int | None = None


@dataclass(frozen=True)
class Scenario:
    """One agent: how it is told something, first and later, and how its model calls a tool that reads the notes.

    `files` are settings of the user's that keep it quiet and let it use tools, below the user's folder.
    """

    name: str
    route: str
    first: tuple[str, ...]
    later: tuple[str, ...]
    call: ToolCall
    bar: Bar
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


SCENARIOS = {
    "claude": Scenario(
        "claude",
        "/v1/messages",
        ("-p",),
        ("-p", "-c"),
        ToolCall("Read", "file_path", "{path}"),
        Bar(32, 360),  # its new session: 3 % of its prompt, all of which llama-server processes
        {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1"},
    ),
    "goose": Scenario(
        "goose",
        "/v1/chat/completions",
        ("run", "-t"),
        ("run", "-r", "-t"),
        ToolCall("shell", "command", "cat {path}"),
        Bar(151, 93),
        {"GOOSE_DISABLE_KEYRING": "1", "GOOSE_MODE": "auto"},
        {".config/goose/config.yaml": "GOOSE_TELEMETRY_ENABLED: false\n"},
    ),
    "codex": Scenario(
        "codex",
        "/v1/responses",
        ("exec", "--skip-git-repo-check"),
        ("exec", "resume", "--skip-git-repo-check", "--last"),
        ToolCall("exec_command", "cmd", "cat {path}"),
        Bar(32, 17),
        files={
            ".codex/config.toml": 'check_for_update_on_startup = false\nsandbox_mode = "danger-full-access"\n'
            "\n[analytics]\nenabled = false\n"
        },
    ),
    "opencode": Scenario(
        "opencode",
        "/v1/chat/completions",
        ("run",),
        ("run", "-c"),
        ToolCall("read", "filePath", "{path}"),
        Bar(32, 27),
        {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
        {".config/opencode/opencode.json": json.dumps({"permission": {"*": "allow"}})},
    ),
    "qwen": Scenario(
        "qwen",
        "/v1/chat/completions",
        ("-p",),
        ("-c", "-p"),
        ToolCall("read_file", "file_path", "{path}"),
        Bar(595, 595, side=3_185),
        files={
            ".qwen/settings.json": json.dumps(
                {"privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True}}
            )
        },
    ),
}
