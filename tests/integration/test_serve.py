"""`pinfill serve` as a process of its own: it says where it is, answers, and stops in order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import pinfill_service
from tests.support.models import LLAMA

LIMIT_SECONDS = 60
KEY = "a-key-that-is-never-shown"


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PINFILL_")}
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "PINFILL_HOME": str(tmp_path), "PINFILL_API_KEY": KEY}
    command = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", "--model", str(LLAMA)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, encoding="utf-8") as started:
        yield started
        started.kill()


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
