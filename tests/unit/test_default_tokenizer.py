"""The default model's tokenizer gives llama.cpp's ids: `fixtures/tokens` was written by its llama-tokenize."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer

from tests.support.default_model import default_model

TOKENS = Path(__file__).parents[1] / "fixtures" / "tokens" / "smollm2.json"


def test_ids_equal_llama_cpps_on_code_scripts_emoji_and_whitespace() -> None:
    tokenizer = Tokenizer.from_file(str(default_model() / "tokenizer.json"))
    cases = json.loads(TOKENS.read_text())
    assert len(cases) > 100
    for case in cases:
        assert tokenizer.encode(case["text"], add_special_tokens=False).ids == case["ids"], case["text"]
        assert tokenizer.decode(case["ids"], skip_special_tokens=False) == case["text"]
