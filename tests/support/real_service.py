"""`pinfill serve` on a tiny model, as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pinfill_service
from pinfill_service.models.library import ModelLibrary
from tests.support.tiny_gguf import TinyLlama

KEY = "a-key-for-tests"
MODEL = "tiny"


@contextmanager
def real_service(home: Path) -> Iterator[str]:
    """Its address, `http://127.0.0.1:PORT`, once it answers."""
    ModelLibrary(home).import_model(TinyLlama(context=512).write(home / "tiny.gguf"), MODEL)
    paths = [str(Path(pinfill_service.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PINFILL_HOME": str(home),
        "PINFILL_API_KEY": KEY,
    }
    command = [sys.executable, "-m", "pinfill_service.cli", "serve", "--port", "0", "--model", MODEL]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            found = next(filter(None, (re.search(r"(http://127\.0\.0\.1:\d+)/v1", line) for line in lines)))
            for line in lines:  # the introduction ends with the key, when the service listens
                if line.startswith("API key"):
                    break
            yield found[1]
        finally:
            process.kill()
