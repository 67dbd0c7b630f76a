"""The service as a unit of this user's systemd: where that is wanted, the application waits for it instead of starting
one of its own, which would take the folder, and the unit would fail.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from pinfill_app.own_folder import folder_is_chosen

UNIT = "pinfill.service"
COMMAND = f"systemctl --user status {UNIT.removesuffix('.service')}"  # for people
ANSWER_SECONDS = 5.0
_RUNS = ("active", "activating", "reloading")
_ENABLED = ("enabled", "enabled-runtime")


class UserUnit:
    """Asks systemctl, which blocks."""

    def __init__(self, systemctl: str) -> None:
        self._systemctl = systemctl

    @classmethod
    def find(cls) -> UserUnit | None:
        """None where there is no systemd, or where the unit works on another folder than this application."""
        program = shutil.which("systemctl") if sys.platform == "linux" and not folder_is_chosen() else None
        return None if program is None else cls(program)

    def wake(self) -> bool:
        """Whether a service can be expected of it: it runs, or it is enabled and told to start.

        Raises subprocess.SubprocessError and OSError.
        """
        if self._state("is-active") in _RUNS:
            return True
        if self._state("is-enabled") not in _ENABLED:
            return False
        self._run("start", "--no-block").check_returncode()
        return True

    def _state(self, question: str) -> str:
        """A word, whatever the exit code; empty where this user has no manager."""
        return self._run(question).stdout.strip()

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [self._systemctl, "--user", *words, UNIT]
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )
