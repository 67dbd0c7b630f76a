"""The service is killed while pins are prefilled and written: afterwards every pin is whole, or is made whole again."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.models import LLAMA
from tests.support.service_process import ServiceProcess, service_process
from tests.support.words import WORDS

ROUNDS, PINS = 3, 4


def text_of(name: str) -> str:
    """Pins of one round begin alike, so that their files build on each other."""
    shared, own = random.Random(name[0]), random.Random(name)
    return " ".join([*shared.choices(WORDS, k=40), *own.choices(WORDS, k=40)])


def answer(service: ServiceProcess, pin: str, **options: Any) -> tuple[str, int]:
    """(text, cached tokens) of a request that goes on from a pin."""
    messages = [{"role": "user", "content": "Go on."}]
    body = {"model": f"m@{pin}", "messages": messages, "max_tokens": 4, "temperature": 0} | options
    found = service.http.post("/v1/chat/completions", json=body).json()
    return found["choices"][0]["message"]["content"], found["usage"]["prompt_tokens_details"]["cached_tokens"]


@pytest.mark.skipif(os.name == "nt", reason="uses kill -9")
def test_every_pin_survives(tmp_path: Path) -> None:
    rng, names = random.Random(11), list[str]()
    for number in range(ROUNDS):
        with service_process(tmp_path, LLAMA, chunk_tokens=16, threads=1) as service:
            for pin in range(PINS):
                names.append(f"{number}-{pin}")
                service.send("POST", "pins", name=names[-1], text=text_of(names[-1]))
            enough = len(names) - rng.randrange(1, PINS + 1)
            service.wait("status", lambda status, enough=enough: status["pins"].get("warm", 0) >= enough)  # type: ignore[misc]
            os.kill(service.pid, signal.SIGKILL)
    with service_process(tmp_path, LLAMA, chunk_tokens=16) as service:
        service.wait("status", lambda status: sum(map(status["pins"].get, ("warm", "cold"), (0, 0))) == len(names))
        listed = service.get("pins")["pins"]
        assert [pin["name"] for pin in listed] == names, "a pin that was answered for is gone"
        for pin in listed:
            assert pin["on_disk"] and pin["reason"] is None, pin
            text, cached = answer(service, pin["name"])
            assert cached == pin["tokens"] and text == answer(service, pin["name"], cache_prompt=False)[0]
        assert service.get("status")["problems"] == []
    assert not list(tmp_path.glob("kv/*/*.damaged")), "a file under its own name was not whole"
    assert not list(tmp_path.glob("kv/*/*.unfinished"))
