"""The model folders tests read. Their weights are random, their tokenizers real."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pinfill_service.prompt.text_model import TextModel, load_text_model

MODELS = Path(__file__).parents[1] / "fixtures" / "models"
LLAMA = MODELS / "oga-llama-fp32"


@cache
def llama_text() -> TextModel:
    """The text side of the small llama."""
    return load_text_model(LLAMA)


def ids(text: str) -> list[int]:
    """The token ids of a text for that model."""
    return llama_text().tokenizer.encode(text)
