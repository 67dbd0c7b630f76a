"""Runs `pinfill` in this process, as the installed command would run."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from pinfill_service import cli


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


class CommandLine:
    """Calls `cli.main` with arguments; nothing is caught but the exit."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["pinfill", *map(str, arguments)])
        self._capsys.readouterr()
        code: object = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        assert isinstance(code, int)
        out, err = self._capsys.readouterr()
        return Outcome(code, out, err)


def assert_told(outcome: Outcome, *words: str) -> None:
    """Pins how every expected error looks: exit code 1, one `error:` on stderr, no traceback, nothing on stdout."""
    assert outcome.code == 1, outcome
    assert outcome.out == ""
    assert outcome.err.count("error: ") == 1 and "Traceback" not in outcome.err
    for word in words:
        assert word in outcome.err
