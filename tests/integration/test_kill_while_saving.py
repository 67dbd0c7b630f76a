"""The engine is killed again and again while it writes KV files: what is left is whole or not there, never wrong."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from pinfill_service.engine.loading import load_engine
from pinfill_service.settings import Settings
from tests.support.models import LLAMA
from tests.support.real_engine import LIMIT_SECONDS, Client

ROUNDS = 50
PINS = 6

# Saves prefixes one after another and says when it begins with each; it is killed in the middle of one.
SAVER = """
import sys
from pinfill_service.engine.interface import (GenerationRequest)
from tests.integration.test_kill_while_saving import PINS, engine, prompt
from tests.support.real_engine import LIMIT_SECONDS, Reply

running = engine()
print("ready", flush=True)
for number in range(PINS):
    reply = Reply()
    running.submit(GenerationRequest(prompt(int(sys.argv[1]), number), 0, pin=True), reply)
    reply.wait()
    saving = running.prefixes.save(prompt(int(sys.argv[1]), number))
    print("saving", number, flush=True)
    saving.result(LIMIT_SECONDS)
print("done", flush=True)
sys.stdin.read()
"""


def engine():  # type: ignore[no-untyped-def]
    return load_engine(LLAMA, "tested", Settings.from_flags(slots=2, threads=1))


def prompt(generation: int, number: int) -> list[int]:
    """Prompts of one generation begin alike, so that their files build on each other."""
    rng = random.Random(generation)
    shared = [rng.randrange(3, 500) for _ in range(150)]
    own = random.Random(1000 * generation + number)
    return [*shared[: 100 + 10 * (number % 3)], *(own.randrange(3, 500) for _ in range(200))]


def kill_after(line: str, generation: int) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([p for p in sys.path if p])}
    command = [sys.executable, "-c", SAVER, str(generation)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for said in process.stdout:
            if said.strip() == line:
                break
        process.kill()


@pytest.mark.skipif(os.name == "nt", reason="uses kill -9")
def test_fifty_kills_leave_only_whole_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path))
    rng = random.Random(7)
    for round_number in range(ROUNDS):
        generation = round_number // 5
        kill_after(rng.choice(["ready", *(f"saving {number}" for number in range(PINS)), "done"]), generation)
        if round_number % 5 == 4:
            check(generation)
    assert not list(tmp_path.glob("kv/*/*.damaged")), "a file under its own name was not whole"


def check(generation: int) -> None:
    """Every prefix is found in full or in part, and its answer is the cold one."""
    running = engine()
    try:
        client = Client(running)
        for number in range(PINS):
            question = [*prompt(generation, number), 7, 8, 9]
            reply = client.ask(question, 3)
            assert reply.scores == client.ask(question, 3, cached=False).scores
        assert not list(Path(os.environ["PINFILL_HOME"]).glob("kv/*/*.unfinished"))
        assert running.prefixes.entries().result(LIMIT_SECONDS)
    finally:
        running.close()
