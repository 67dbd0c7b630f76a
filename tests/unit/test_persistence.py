"""Prefixes survive a restart of the engine, to the bit, and whatever happened to their files is never an answer."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pinfill_service.engine.interface import GenerationRequest
from pinfill_service.engine.loading import load_engine
from pinfill_service.settings import Settings
from tests.support.models import MODELS
from tests.support.real_engine import GREEDY, LIMIT_SECONDS, Client, Reply

PROMPT = [3 + (i * 7) % 400 for i in range(120)]
MODELS_WITH_AND_WITHOUT_STATE = ("oga-llama-fp32", "oga-lfm2-fp32", "optimum-qwen3-fp32")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path))
    return tmp_path


@contextmanager
def running(model: str = "oga-llama-fp32", **flags: int) -> Iterator[Client]:
    engine = load_engine(MODELS / model, model, Settings.from_flags(slots=2, chunk_tokens=32, **flags))
    try:
        yield Client(engine)
    finally:
        engine.close()


def pin(client: Client, tokens: Sequence[int]) -> None:
    reply = Reply()
    client.engine.submit(GenerationRequest(tokens, 0, background=True, pin=True), reply)
    reply.wait()
    client.engine.prefixes.save(tokens).result(LIMIT_SECONDS)


def files(home: Path) -> list[Path]:
    return sorted(home.glob("kv/*/*.safetensors"))


@pytest.mark.parametrize("model", MODELS_WITH_AND_WITHOUT_STATE)
def test_a_pin_survives_a_restart_and_gives_the_cold_answer(model: str, home: Path) -> None:
    with running(model) as client:
        pin(client, PROMPT)
        cold = client.ask([*PROMPT, 5, 6, 7], 8, cached=False)
    assert len(files(home)) == 1
    with running(model) as client:
        state = client.engine.prefixes.state(PROMPT).result(LIMIT_SECONDS)
        assert (state.cached_tokens, state.in_memory, state.on_disk) == (120, False, True)
        reply = client.ask([*PROMPT, 5, 6, 7], 8)
        assert reply.cached == 120
        assert reply.scores == cold.scores


def test_pins_that_begin_alike_share_their_files(home: Path) -> None:
    sibling = [*PROMPT[:80], *range(400, 440)]
    with running() as client:
        pin(client, PROMPT)
        pin(client, sibling)
        sizes = [file.stat().st_size for file in files(home)]
        assert max(sizes) > 2 * min(sizes)
    with running() as client:
        assert client.ask([*sibling, 5, 6], 2).cached == 120
        assert client.ask([*PROMPT, 5, 6], 2).cached == 120


@pytest.mark.parametrize("sixteenth", range(16))
def test_a_damaged_file_is_prefilled_again_and_set_aside(sixteenth: int, home: Path) -> None:
    with running() as client:
        pin(client, PROMPT)
        cold = client.ask([*PROMPT, 5, 6, 7], 4, cached=False)
    (path,) = files(home)
    data = bytearray(path.read_bytes())
    data[len(data) * sixteenth // 16] ^= 64
    path.write_bytes(data)
    with running() as client:
        reply = client.ask([*PROMPT, 5, 6, 7], 4)
        assert reply.cached == 0 and reply.scores == cold.scores
    assert not files(home) and len(list(home.glob("kv/*/*.damaged"))) == 1


def test_unpinning_deletes_the_files(home: Path) -> None:
    with running() as client:
        pin(client, PROMPT)
        assert len(files(home)) == 1
        client.engine.prefixes.pin(PROMPT).result(LIMIT_SECONDS)
        client.engine.prefixes.unpin(PROMPT).result(LIMIT_SECONDS)
        assert len(files(home)) == 1, "it is pinned once more"
        client.engine.prefixes.unpin(PROMPT).result(LIMIT_SECONDS)
        assert not files(home)


def test_another_model_of_the_same_shape_uses_none_of_it(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    import shutil

    other = tmp_path_factory.mktemp("other") / "model"
    shutil.copytree(MODELS / "oga-llama-fp32", other)
    (other / "chat_template.jinja").write_text("{{ messages }}")
    with running() as client:
        pin(client, PROMPT)
    engine = load_engine(other, "other", Settings.from_flags(slots=2))
    try:
        assert Client(engine).ask([*PROMPT, 5, 6], 2).cached == 0
    finally:
        engine.close()
    assert len(files(home)) == 1


def test_a_full_disk_budget_is_told_and_the_pin_stays_in_memory(home: Path) -> None:
    with running(disk_budget_mib=1) as client:
        reply = Reply()
        long = [3 + i % 400 for i in range(500)]
        many = [[i, *long[1:]] for i in range(3, 40)]
        client.engine.submit(GenerationRequest(long, 0, GREEDY, pin=True), reply)
        reply.wait()
        failed = 0
        for prompt in many:
            client.ask(prompt, 1)
            failed += client.engine.prefixes.save(prompt).exception(LIMIT_SECONDS) is not None
        assert failed
        assert client.ask([*long, 5, 6], 1).cached == 500
    assert sum(file.stat().st_size for file in files(home)) <= 1 << 20


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_only_this_user_can_look_into_the_folders(home: Path) -> None:
    with running() as client:
        pin(client, PROMPT)
    (file,) = files(home)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent, home / "kv")] == [0o600, 0o700, 0o700]


def test_entries_say_what_is_there(home: Path) -> None:
    with running() as client:
        pin(client, PROMPT)
        client.ask([*PROMPT, 5, 6, 7], 1)
        entries = client.engine.prefixes.entries().result(LIMIT_SECONDS)
        by_length = {entry.tokens: entry for entry in entries}
        assert by_length[120].pinned and by_length[120].disk_bytes > 0
        assert not by_length[123].pinned and by_length[123].shared_tokens == 120
        assert client.engine.prefixes.evict(by_length[120].id).result(LIMIT_SECONDS) is False
        assert client.engine.prefixes.evict(by_length[123].id).result(LIMIT_SECONDS) is True
        assert [entry.tokens for entry in client.engine.prefixes.entries().result(LIMIT_SECONDS)] == [120]


def test_saving_after_the_end_is_refused_and_not_left_open(home: Path) -> None:
    with running() as client:
        client.ask(PROMPT, 1)
        client.engine.prefixes.close()
        error = client.engine.prefixes.save(PROMPT).exception(LIMIT_SECONDS)
        assert isinstance(error, OSError) and "shutting down" in str(error)
    assert not files(home)


def test_whatever_goes_wrong_while_a_file_is_written_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("pinfill_service.cache.kv_folder.write_kv_file", broken)
    with running() as client:
        client.ask(PROMPT, 1)
        error = client.engine.prefixes.save(PROMPT).exception(LIMIT_SECONDS)
        assert isinstance(error, OSError) and "a bug" in str(error)
        entries = client.engine.prefixes.entries().result(LIMIT_SECONDS)
        assert client.engine.prefixes.evict(entries[0].id).result(LIMIT_SECONDS)
        stats = client.engine.stats()
        assert stats.total_bytes == 0, "pages were not given back"


def test_a_very_short_context_can_be_loaded(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Too short to try whether rows depend on each other: the extra row of zeros stays."""
    from pinfill_service.models.gguf_import import convert_gguf
    from tests.support.tiny_gguf import TinyLlama

    folder = tmp_path_factory.mktemp("tiny")
    model = folder / "model"
    model.mkdir()
    convert_gguf(TinyLlama(context=13).write(folder / "m.gguf"), model)
    engine = load_engine(model, "tiny", Settings.from_flags(slots=2))
    try:
        assert len(Client(engine).ask([5, 6, 7], 4).tokens) == 4
    finally:
        engine.close()
