"""Everything about a model that concerns text: its tokenizer, its chat template, the tokens at which an answer ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pinfill_service.prompt.canonical import NestingError
from pinfill_service.prompt.chat import ChatRequest, Message
from pinfill_service.prompt.grammar import Grammars, GrammarSpec, JsonReply, Tool, ToolCalls
from pinfill_service.prompt.grammar.spec import MAX_CALLS
from pinfill_service.prompt.segments import Segment, ToolsPlace, label_segments
from pinfill_service.prompt.stable.deferred import as_rendered
from pinfill_service.prompt.stable.replies import ReplyMemory
from pinfill_service.prompt.template import ChatTemplate, TemplateError, load_template, read_json, special_tokens
from pinfill_service.prompt.tokenizer import Encoded, Piece, TextTokenizer
from pinfill_service.prompt.tools.call_style import tags
from pinfill_service.prompt.tools.formats import tool_format
from pinfill_service.prompt.tools.going_on import without_seams
from pinfill_service.prompt.tools.history import shown
from pinfill_service.prompt.tools.offered import offered_tools
from pinfill_service.prompt.tools.reader import END_OF_THINK, THINK, AnswerReader

# Ends of turn that configurations forget: some name only the end of a document.
_ENDS_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|endoftext|>")


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A rendered conversation: its text, token ids and labelled stretches (in order, covering every token).

    `pieces` lead from tokens to characters of the text. `reasons`: it ends inside a block of reasoning.
    """

    text: str
    ids: list[int]
    segments: tuple[Segment, ...]
    pieces: tuple[Piece, ...] = ()
    reasons: bool = False


@dataclass(frozen=True, slots=True)
class TextModel:
    """The text side of a model folder, and the replies it generated. Thread-safe."""

    tokenizer: TextTokenizer
    template: ChatTemplate
    stop_ids: frozenset[int]
    replies: ReplyMemory = field(default_factory=ReplyMemory)
    grammars: Grammars = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grammars", Grammars(self.tokenizer, self.stop_ids))

    def chat_prompt(self, request: ChatRequest, *, echoes: bool = False) -> ChatPrompt:
        """Renders and encodes a conversation. Special tokens come from the template; a BOS that the model wants and the
        template leaves out is added. A block of reasoning that the template opens is closed where the answer's form is
        given from its first character on.

        `echoes`: replies in it have the tokens they were generated as, where those are known. Without, which is what
        pins need, the ids follow from the conversation alone. Raises TemplateError.
        """
        messages, tools = as_rendered(request.messages, request.tools)
        text = self._render(request, messages, tools)
        reasons = text.rstrip().endswith(THINK)
        if reasons and request.constrained:
            text, reasons = f"{text.rstrip()}\n\n{END_OF_THINK}\n\n", False
        encoded = self.tokenizer.encode_prompt_pieces(text)
        if echoes:
            encoded = self.replies.spliced(self.tokenizer.vocabulary, request.options.salt, encoded)
        place = _place_of_tools(self.tokenizer, text, encoded, tools)
        segments = label_segments(text, encoded, messages, self.stop_ids, place)
        return ChatPrompt(text, encoded.ids, segments, encoded.pieces, reasons)

    def reply_reader(self, request: ChatRequest, prompt: ChatPrompt) -> AnswerReader:
        """What reads an answer to the request; a new one for every answer."""
        offered = offered_tools(request.callable_tools)
        wrappers = tags(tool_format(self.template).style)
        return AnswerReader(offered, reasons=prompt.reasons, single=not request.tool_choice.parallel, wrappers=wrappers)

    def reply_form(self, request: ChatRequest) -> GrammarSpec | None:
        """What the answer has to look like; None: anything. Calls are in the form the template shows them in."""
        if not request.must_call:
            return None if request.format is None else JsonReply(request.format.schema)
        shown_as = tool_format(self.template)
        functions = [tool["function"] for tool in request.callable_tools]
        tools = tuple(Tool(function["name"], function.get("parameters") or None) for function in functions)
        several = request.tool_choice.parallel and request.tool_choice.name is None and not shown_as.one_call
        return ToolCalls(tools, shown_as.style, MAX_CALLS if several else 1)

    def _render(self, request: ChatRequest, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> str:
        try:
            format = tool_format(self.template)
            conversation = shown(format, messages, tools)
        except NestingError as error:
            raise TemplateError(str(error)) from error
        text = self.template.render(
            conversation.messages,
            tools=conversation.tools,
            continue_final_message=request.continue_final_message,
            options=request.template_options,
        )
        return without_seams(text, format.between)

    def remember_reply(self, request: ChatRequest, prompt: ChatPrompt, reply: Sequence[int]) -> None:
        """From now on prompts in which the reply's text stands behind this one have its tokens."""
        self.replies.add(self.tokenizer.vocabulary, request.options.salt, prompt.ids, reply)


def load_text_model(folder: Path) -> TextModel:
    """The text side of a model folder. Raises TokenizerError or TemplateError."""
    tokenizer = TextTokenizer.load(folder)
    template = load_template(folder)
    tool_format(template)  # remembered, so that no request has to wait for it
    return TextModel(tokenizer, template, _stop_ids(folder, tokenizer))


def _place_of_tools(
    tokenizer: TextTokenizer, text: str, encoded: Encoded, tools: Sequence[Mapping[str, Any]]
) -> ToolsPlace | None:
    names = offered_tools(tools).properties
    return ToolsPlace(next(iter(names)), partial(tokenizer.token_at, text, encoded)) if names else None


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
