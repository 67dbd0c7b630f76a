"""One service at a time on a state folder, and none is stopped by one that is dead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pinfill_service.commands import serve
from pinfill_service.commands.failures import explain
from pinfill_service.state_lock import HOLDER, LOCK, StateFolderBusyError, holder, state_lock

PROGRAM = """
import sys
from pathlib import Path
from pinfill_service.state_lock import state_lock
with state_lock(Path(sys.argv[1]), 7463):
    print("locked", flush=True)
    sys.stdin.read()
"""


def other_process(home: Path) -> subprocess.Popen[str]:
    """A process that holds the folder until its input ends."""
    paths = os.pathsep.join([str(Path(serve.__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(home)],
        env=dict(os.environ, PYTHONPATH=paths),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "locked\n"
    return process


def end(process: subprocess.Popen[str], *, kill: bool) -> None:
    if kill:
        process.kill()
    process.communicate(timeout=30)


def test_the_second_service_is_told_who_is_there(tmp_path: Path) -> None:
    process = other_process(tmp_path)
    try:
        with pytest.raises(StateFolderBusyError) as refused, state_lock(tmp_path, 7464):
            pass
        assert f"process {process.pid}, port 7463" in str(refused.value) and str(tmp_path) in str(refused.value)
        assert explain(refused.value) == str(refused.value)
    finally:
        end(process, kill=False)
    with state_lock(tmp_path, 7464):
        assert holder(tmp_path) == (os.getpid(), 7464)
    assert holder(tmp_path) is None and not (tmp_path / HOLDER).exists()


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    process = other_process(tmp_path)
    end(process, kill=True)
    assert holder(tmp_path) == (process.pid, 7463), "it could not tidy up"
    with state_lock(tmp_path, 7464):
        assert holder(tmp_path) == (os.getpid(), 7464)


def test_a_holder_that_cannot_be_read_is_still_a_holder(tmp_path: Path) -> None:
    process = other_process(tmp_path)
    try:
        for content in ("", "[]", json.dumps({"pid": "x"}), "{"):
            (tmp_path / HOLDER).write_text(content)
            with pytest.raises(StateFolderBusyError, match="Another Pinfill service"), state_lock(tmp_path, 1):
                pass
    finally:
        end(process, kill=False)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with state_lock(home, 7463):
        modes = [path.stat().st_mode & 0o777 for path in (home, home / LOCK, home / HOLDER)]
    assert modes == [0o700, 0o600, 0o600]
