"""What a tokenizer is made of, as in tokenizer.json, without its vocabulary: writing that out takes seconds."""

from __future__ import annotations

import json
from typing import Any

from tokenizers import Tokenizer


def tokenizer_state(tokenizer: Tokenizer) -> dict[str, Any]:
    """`added_tokens` (with ids), `normalizer`, `pre_tokenizer`, `decoder`, and `type` and `dropout` of the `model`."""
    parts = {name: getattr(tokenizer, name) for name in ("normalizer", "pre_tokenizer", "decoder")}
    return {
        "added_tokens": [
            {
                "id": token_id,
                "content": token.content,
                **{name: getattr(token, name) for name in ("special", "normalized", "lstrip", "rstrip", "single_word")},
            }
            for token_id, token in sorted(tokenizer.get_added_tokens_decoder().items())
        ],
        **{name: None if part is None else json.loads(part.__getstate__()) for name, part in parts.items()},
        "model": {"type": type(tokenizer.model).__name__, "dropout": getattr(tokenizer.model, "dropout", None)},
    }
