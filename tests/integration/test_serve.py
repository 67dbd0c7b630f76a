"""`pinfill serve` as a process of its own: it says where it is, answers, and stops in order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import pinfill_service
from tests.support.models import LLAMA

LIMIT_SECONDS = 60
KEY = "a-key-that-is-never-shown"


@contextmanager
def serving(home: Path, *flags: str) -> Iterator[subprocess.Popen[str]]:
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PINFILL_")}
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "PINFILL_HOME": str(home), "PINFILL_API_KEY": KEY}
    command = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", *flags]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8") as started:
        yield started
        started.kill()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with serving(tmp_path, "--model", str(LLAMA)) as started:
        yield started


def test_ends_in_order_with_its_parent_and_serves_without_its_model(tmp_path: Path) -> None:
    with serving(tmp_path, "--exit-with-parent", "--or-without-model", "--model", "not-there") as started:
        assert started.stdout is not None
        address = re.search(r"http://[0-9.:]+", next(started.stdout))
        assert address is not None
        with httpx.Client(trust_env=False, timeout=LIMIT_SECONDS) as http:
            status = http.get(f"{address[0]}/pinfill/v1/status", headers={"x-api-key": KEY}).json()
        (problem,) = status["problems"]
        assert status["model"] is None and "pinfill models pull not-there" in problem["message"]
        assert problem["missing_model"] == "not-there"
        errors = started.communicate(timeout=LIMIT_SECONDS)[1]  # closes its standard input, as a dead parent's is
        assert started.returncode == 0 and "Traceback" not in errors, errors
    assert not (tmp_path / "service.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM that a process can catch")
def test_serves_until_it_is_told_to_stop(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    shown = ""
    for line in process.stdout:
        shown += line
        if line.startswith("API key"):
            break
    address = re.search(r"http://127\.0\.0\.1:(\d+)/v1", shown)
    assert address is not None and address[1] != "0", shown
    body = {"prompt": "words that no log may hold", "max_tokens": 2}
    with httpx.Client(trust_env=False, timeout=LIMIT_SECONDS) as http:
        assert http.post(f"{address[0]}/completions", json=body).status_code == 401
        answer = http.post(f"{address[0]}/completions", json=body, headers={"x-api-key": KEY})
    assert answer.json()["model"] == LLAMA.name
    process.send_signal(signal.SIGTERM)
    rest, errors = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0
    assert "pinfill key" in shown and KEY not in shown + rest
    assert errors == ""
