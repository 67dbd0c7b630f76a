"""Layers with a window, run over views of the KV that begin late: the same bits as over all of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.kv_io import InPlaceKv, window_step
from pinfill_service.engine.rows import level_row_groups
from pinfill_service.engine.session import DecoderSession
from pinfill_service.engine.window_size import counts_itself, without_itself
from tests.support.tiny_gguf import TinyGemma3
from tests.support.tiny_session import converted
from tests.support.tiny_variants import MIXED

IDS = np.random.default_rng(11).integers(3, 300, 1700)


def loaded(folder: Path, head_size: int, kv_heads: int = 2) -> tuple[DecoderSession, KvSlots]:
    tiny = TinyGemma3(layers=3, period=3, window=40, head_size=head_size, kv_heads=kv_heads, context=2048, types=MIXED)
    return converted(tiny, folder)


def run(session: DecoderSession, slot: int, cuts: list[int]) -> np.ndarray:
    start = 0
    for count in cuts:
        logits = session.prefill(slot, IDS[start : start + count], 1)
        start += count
    assert start == len(IDS)
    return logits[-1]


@pytest.mark.parametrize("head_size", [16, 32, 64])
def test_however_a_long_prompt_is_cut_its_views_give_the_same_bits(head_size: int, tmp_path: Path) -> None:
    session, kv = loaded(tmp_path, head_size)
    regular = run(session, 0, [*[512] * 3, 164])
    ragged = run(session, 1, [*[77] * 20, 160])
    assert np.array_equal(regular, ragged)
    kv.truncate(0, 1400)
    assert np.array_equal(regular, session.prefill(0, IDS[1400:], 1)[-1])


def test_the_views_do_begin_late(tmp_path: Path) -> None:
    session, kv = loaded(tmp_path, 64)
    run(session, 0, [*[512] * 3, 164])
    start = InPlaceKv(None, kv).window_start(0, 1)
    assert start % window_step(64) == 0
    assert 1700 - 40 - window_step(64) < start <= 1700 - 40 + 1


def test_what_lies_before_the_view_is_not_read(tmp_path: Path) -> None:
    """Whatever stands there, in windowed layers: not even NaN reaches a result."""
    session, kv = loaded(tmp_path, 64)
    run(session, 0, [*[512] * 3, 164])
    clean = session.decode(0, 1, [5])[0]
    kv.truncate(0, 1700)
    start = InPlaceKv(None, kv).window_start(0, 1)
    windowed = [array for tensor, array in kv.tensors() if tensor.window is not None]
    for array in windowed:
        array[0, :, :start] = np.nan
    assert len(windowed) == 4 and np.array_equal(clean, session.decode(0, 1, [5])[0])


def test_rows_of_different_length_share_a_view(tmp_path: Path) -> None:
    session, kv = loaded(tmp_path, 64)
    run(session, 0, [*[512] * 3, 164])
    session.prefill(1, IDS[:900], 1)
    alone = [session.decode(slot, slot + 1, [9])[0] for slot in (0, 1)]
    kv.truncate(0, 1700)
    kv.truncate(1, 900)
    together = session.decode(0, 2, [9, 9])
    assert np.array_equal(alone[0], together[0]) and np.array_equal(alone[1], together[1])


def test_steps_are_whole_blocks() -> None:
    assert [window_step(size) for size in (16, 32, 48, 64, 80, 96, 128, 256)] == [
        1024,
        512,
        256,
        256,
        128,
        128,
        128,
        128,
    ]


@pytest.mark.parametrize(
    ("lengths", "running", "groups"),
    [
        ([100, 100, 100], [0, 1, 2], [(0, 3)]),
        ([100, 5000, 5000], [0, 1, 2], [(0, 1), (1, 3)]),  # the long ones would read 4,900 tokens each for nothing
        ([100, 0, 100], [0, 2], [(0, 1), (2, 3)]),  # an empty slot between them has no window to look at
        ([100, 150, 100], [0, 1, 2], [(0, 3)]),
    ],
)
def test_rows_go_together_while_that_costs_less_than_the_weights(
    lengths: list[int], running: list[int], groups: list[tuple[int, int]]
) -> None:
    assert level_row_groups(running, lengths.__getitem__, weight_tokens=1000) == groups


def test_graphs_are_patched_for_runtimes_that_do_not_count_the_token_itself(tmp_path: Path) -> None:
    loaded(tmp_path, 64)
    patched = onnx.load_model_from_string(without_itself(tmp_path / "model" / "model.onnx"))
    attributes = [a.i for node in patched.graph.node for a in node.attribute if a.name == "local_window_size"]
    assert attributes == [39, 39]
    since = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    assert counts_itself() == (since >= (1, 24))
