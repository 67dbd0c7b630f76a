"""Everything about a model that concerns text: its tokenizer, its chat template, the tokens at which an answer ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.grammar import Grammars
from pinfill_service.prompt.segments import Segment, label_segments
from pinfill_service.prompt.template import ChatTemplate, load_template, read_json, special_tokens
from pinfill_service.prompt.tokenizer import Piece, TextTokenizer

# Ends of turn that configurations forget: some name only the end of a document.
_ENDS_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|endoftext|>")


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A rendered conversation: its text, token ids and labelled stretches (in order, covering every token).

    `pieces` lead from tokens to characters of the text.
    """

    text: str
    ids: list[int]
    segments: tuple[Segment, ...]
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class TextModel:
    """The text side of a model folder. Thread-safe."""

    tokenizer: TextTokenizer
    template: ChatTemplate
    stop_ids: frozenset[int]
    grammars: Grammars = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grammars", Grammars(self.tokenizer, self.stop_ids))

    def chat_prompt(self, request: ChatRequest) -> ChatPrompt:
        """Renders and encodes a conversation. Special tokens come from the template; a BOS that the model wants and the
        template leaves out is added.

        Raises TemplateError.
        """
        text = self.template.render(
            request.messages,
            tools=request.tools,
            continue_final_message=request.continue_final_message,
            options=request.template_options,
        )
        encoded = self.tokenizer.encode_prompt_pieces(text)
        segments = label_segments(text, encoded, request.messages, self.stop_ids)
        return ChatPrompt(text, encoded.ids, segments, encoded.pieces)


def load_text_model(folder: Path) -> TextModel:
    """The text side of a model folder. Raises TokenizerError or TemplateError."""
    tokenizer = TextTokenizer.load(folder)
    return TextModel(tokenizer, load_template(folder), _stop_ids(folder, tokenizer))


def _stop_ids(folder: Path, tokenizer: TextTokenizer) -> frozenset[int]:
    configs = [read_json(folder / name) for name in ("generation_config.json", "config.json", "genai_config.json")]
    found: set[int] = set()
    for config in configs:
        found |= _ids(config) | _ids(config.get("model"))
    names = (special_tokens(folder).get("eos_token"), *_ENDS_OF_TURN)
    ids = {tokenizer.token_id(name) for name in names if name is not None}
    return frozenset(found | {token_id for token_id in ids if token_id is not None})


def _ids(config: Any) -> set[int]:
    value = config.get("eos_token_id") if isinstance(config, Mapping) else None
    values = value if isinstance(value, list) else [value]
    return {item for item in values if isinstance(item, int) and not isinstance(item, bool)}
