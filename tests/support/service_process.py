"""`pinfill serve` as a process of its own, asked over HTTP."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import pinfill_service

LIMIT_SECONDS = 60
KEY = "a-key-of-a-test"


@dataclass(frozen=True)
class ServiceProcess:
    """A running service."""

    pid: int
    http: httpx.Client

    def get(self, path: str) -> Any:
        """The JSON of a management route."""
        return self._json(self.http.get(f"/pinfill/v1/{path}"))

    def send(self, method: str, path: str, **body: Any) -> Any:
        """Asks a management route for something that must succeed."""
        return self._json(self.http.request(method, f"/pinfill/v1/{path}", json=body or None))

    def complete(self, prompt: object, **options: Any) -> Any:
        body = {"prompt": prompt, "max_tokens": 1, "temperature": 0} | options
        return self._json(self.http.post("/v1/completions", json=body))

    def pin(self, name: str, **content: Any) -> Any:
        """A pin, once it is warm or has failed."""
        self.send("POST", "pins", name=name, **content)
        return self.wait(f"pins/{name}", lambda pin: pin["state"] in ("warm", "failed"))

    def wait(self, path: str, wanted: Callable[[Any], bool]) -> Any:
        """What a management route answers as soon as it is what is wanted."""
        end = time.monotonic() + LIMIT_SECONDS
        while not wanted(found := self.get(path)):
            assert time.monotonic() < end, f"it never came to be: {found}"
            time.sleep(0.05)
        return found

    @staticmethod
    def _json(response: httpx.Response) -> Any:
        assert response.is_success, response.text
        return response.json()


@contextmanager
def service_process(home: Path, model: Path, **settings: object) -> Iterator[ServiceProcess]:
    """A service on a state folder, told to stop at the end."""
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PINFILL_")}
    environment |= {f"PINFILL_{name.upper()}": str(value) for name, value in settings.items()}
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "PINFILL_HOME": str(home), "PINFILL_API_KEY": KEY}
    command = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", "--model", str(model)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            client = {"headers": {"x-api-key": KEY}, "timeout": LIMIT_SECONDS, "trust_env": False}
            with httpx.Client(base_url=_address(process), **client) as http:  # type: ignore[arg-type]
                yield ServiceProcess(process.pid, http)
            process.terminate()
            process.communicate(timeout=LIMIT_SECONDS)
        finally:
            process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    shown = ""
    for line in process.stdout:
        shown += line
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found is not None:
            return found[0]
    raise AssertionError(f"the service did not start: {shown}")
