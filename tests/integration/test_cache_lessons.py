"""What went wrong in other caches, with files and restarts, on real engines: none of it may happen here."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pinfill_service.engine.interface import GenerationRequest
from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.loading import load_engine
from pinfill_service.engine.pages import KvMemoryError
from pinfill_service.settings import Settings
from tests.support.models import LLAMA, MODELS
from tests.support.real_engine import LIMIT_SECONDS, Client, Reply

FIRST = [3 + (i * 7) % 400 for i in range(120)]
SECOND = [5 + (i * 11) % 400 for i in range(130)]
TAIL = [7, 8, 9]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path))
    return tmp_path


@contextmanager
def running(folder: Path = LLAMA, **flags: int) -> Iterator[Client]:
    engine = load_engine(folder, folder.name, Settings.from_flags(**{"slots": 2, "chunk_tokens": 32} | flags))
    try:
        yield Client(engine)
    finally:
        engine.close()


def pin(client: Client, tokens: list[int], boundaries: tuple[int, ...] = ()) -> None:
    reply = Reply()
    client.engine.submit(GenerationRequest(tokens, 0, pin=True, boundaries=boundaries), reply)
    reply.wait()
    client.engine.prefixes.save(tokens).result(LIMIT_SECONDS)


def cold(client: Client, prompt: list[int]) -> Reply:
    return client.ask(prompt, 3, cached=False)


def file_of(home: Path, tokens: list[int]) -> Path:
    """The file that holds just these tokens: of two pins that share nothing, the larger one has more of them."""
    by_size = sorted(home.glob("kv/*/*.safetensors"), key=lambda path: path.stat().st_size)
    return by_size[tokens is SECOND]


@pytest.mark.parametrize("what", [*range(16), "missing"])
def test_a_file_cut_off_or_missing_harms_no_other(what: int | str, home: Path) -> None:
    """llama.cpp #27068, #14434"""
    with running() as client:
        pin(client, FIRST)
        pin(client, SECOND)
        wanted = {prompt[0]: cold(client, [*prompt, *TAIL]) for prompt in (FIRST, SECOND)}
    path = file_of(home, FIRST)
    if isinstance(what, int):
        path.write_bytes(path.read_bytes()[: path.stat().st_size * what // 16])  # the first one is empty
    else:
        path.unlink()
    with running() as client:
        second = client.ask([*SECOND, *TAIL], 3)
        assert second.cached == len(SECOND) and second.scores == wanted[SECOND[0]].scores
        first = client.ask([*FIRST, *TAIL], 3)
        assert first.cached == 0 and first.scores == wanted[FIRST[0]].scores
        disk = client.engine.prefixes.disk()
        assert disk is not None and len(disk.set_aside) == (what != "missing")
        pin(client, FIRST)
    with running() as client:
        assert client.ask([*FIRST, *TAIL], 3).cached == len(FIRST)


def test_a_folder_without_files_is_an_empty_cache(home: Path) -> None:
    """llama.cpp #14434: restoring an empty slot crashed"""
    with running() as client:
        assert client.engine.prefixes.save(FIRST).exception(LIMIT_SECONDS) is not None, "nothing was there to save"
    for _ in range(2):
        with running() as client:
            assert client.engine.prefixes.entries().result(LIMIT_SECONDS) == []
    with running() as client:
        assert client.ask([*FIRST, *TAIL], 3).scores == cold(client, [*FIRST, *TAIL]).scores


def test_other_weights_under_the_same_name_use_nothing_of_before(home: Path, tmp_path: Path) -> None:
    """llama.cpp #26207, vLLM #30931"""
    folder = tmp_path / "models" / "mine"
    shutil.copytree(LLAMA, folder)
    with running(folder) as client:
        pin(client, FIRST)
        before = cold(client, [*FIRST, *TAIL])
    weights = max((path for path in folder.iterdir() if ".onnx" in path.name), key=lambda path: path.stat().st_size)
    data = bytearray(weights.read_bytes())
    half = len(data) // 2 & ~3
    for place in range(half, half + 4096, 4):  # the exponents' lowest bits: other numbers, and no wild ones
        data[place + 2] ^= 128
    weights.write_bytes(data)
    with running(folder) as client:
        reply = client.ask([*FIRST, *TAIL], 3)
        assert reply.cached == 0 and reply.scores == cold(client, [*FIRST, *TAIL]).scores
        assert reply.scores != before.scores, "the weights are others, or this shows nothing"


def test_after_a_restart_an_edited_tail_goes_on_from_the_last_checkpoint(home: Path) -> None:
    """llama.cpp #26004"""
    folder = MODELS / "oga-lfm2-fp32"
    with running(folder) as client:
        pin(client, FIRST, boundaries=(64, 96))
    with running(folder) as client:
        edited = [*FIRST[:100], 9, 8, 7, 6]
        reply = client.ask(edited, 3)
        assert 96 <= reply.cached <= 100 and reply.scores == cold(client, edited).scores


def test_a_short_live_slot_does_not_hide_a_longer_file(home: Path) -> None:
    """llama.cpp #28276"""
    with running() as client:
        pin(client, FIRST)
    with running(slots=1) as client:
        assert client.ask([*FIRST[:40], 9, 9], 1).cached == 40
        assert client.ask([*FIRST, *TAIL], 1).cached == len(FIRST)


def test_chats_that_take_turns_find_their_files_after_a_restart(home: Path) -> None:
    """llama.cpp #24143"""
    with running(slots=1) as client:
        pin(client, FIRST)
        pin(client, SECOND)
    with running(slots=1) as client:
        for prompt in (FIRST, SECOND, FIRST, SECOND):
            assert client.ask([*prompt, *TAIL], 1).cached >= len(prompt)


def test_what_could_not_be_written_back_is_gone_and_nothing_points_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """lucebox #371: an entry described a slot that had been overwritten"""

    def no_memory(*_: object) -> None:
        raise KvMemoryError("no memory")

    with running(slots=1, disk_budget_mib=0) as client:
        client.ask(FIRST, 1)
        monkeypatch.setattr(KvSlots, "export", no_memory)
        client.ask(SECOND, 1)
        monkeypatch.undo()
        tokens = [entry.tokens for entry in client.engine.prefixes.entries().result(LIMIT_SECONDS)]
        assert tokens == [len(SECOND)]
        again = client.ask([*FIRST, *TAIL], 3)
        assert again.cached == 0 and again.scores == cold(client, [*FIRST, *TAIL]).scores
        assert client.engine.stats().mismatches_total == 0


def test_a_cancelled_write_back_leaves_answers_as_they_are() -> None:
    """ik_llama #1929, lucebox #371: whoever is cancelled while slots are taken over changes nobody else's answer"""
    rng = random.Random(2)
    with running(slots=2, disk_budget_mib=0) as client:
        wanted = cold(client, [*FIRST, *TAIL])
        for _ in range(12):
            client.ask(FIRST, 1)
            other, reply = client.send([rng.randrange(3, 400) for _ in range(200)], 2)
            _, mine = client.send([*FIRST, *TAIL], 3)
            if rng.random() < 0.7:
                reply.progressed.wait(LIMIT_SECONDS)
            client.engine.cancel(other)
            assert mine.wait().scores == wanted.scores
            reply.wait()
        assert client.engine.stats().mismatches_total == 0
