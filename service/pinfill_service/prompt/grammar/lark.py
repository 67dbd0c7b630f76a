"""Writes reply specifications in llguidance's variant of Lark."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pinfill_service.prompt.grammar.errors import SchemaError
from pinfill_service.prompt.grammar.schema import CheckedSchema, check_schema, quote_pointer
from pinfill_service.prompt.grammar.spec import MAX_CALLS, GrammarSpec, JsonReply, Tool, ToolCalls

_OPTIONS = {
    # At most once wherever JSON has whitespace: enough for compact and for indented JSON, too little to go round in.
    "whitespace_pattern": r" |\n {0,20}",
    "coerce_one_of": True,  # its branches have been found to exclude each other
}
_BASE = "#/$defs/0"
_OBJECT = {"type": "object"}
_NOT_IN_NAMES = re.compile(r'["\\<>\x00-\x1f\x7f\ud800-\udfff]')
_LONGEST_NAME = 256


@dataclass(frozen=True, slots=True)
class Document:
    """A schema of a specification; `tool`: whose parameters it is."""

    schema: CheckedSchema
    tool: str | None = None

    def json(self, place: str = "") -> str:
        """The non-terminal for JSON of the subschema at this pointer, by default of all of it."""
        root: dict[str, Any] = {"$defs": {"0": self.schema.root}, "$ref": _BASE + quote_pointer(place)}
        if self.tool is not None and not place:
            root |= _OBJECT
        text = json.dumps(root | {"x-guidance": _OPTIONS}, ensure_ascii=False)
        if not _is_text(text):
            raise SchemaError("", "it holds half a character (a lone surrogate).", self.tool)
        return f"%json {text}"


def reply_grammar(spec: GrammarSpec, special_tokens: Mapping[str, int]) -> tuple[str, tuple[Document, ...]]:
    """The grammar's text, and the schemas in it. `special_tokens`: ids by content. Raises SchemaError."""
    if isinstance(spec, JsonReply):
        document = Document(check_schema(_OBJECT if spec.schema is None else spec.schema, _BASE))
        return f"start: {document.json()}\n", (document,)
    return _call_grammar(spec, special_tokens)


def _call_grammar(spec: ToolCalls, special_tokens: Mapping[str, int]) -> tuple[str, tuple[Document, ...]]:
    if not spec.tools or not 1 <= spec.max_calls <= MAX_CALLS:
        raise ValueError(f"a reply of calls needs at least one tool and 1 to {MAX_CALLS} calls")
    wrapper = spec.wrapper
    documents = tuple(_parameters(tool) for tool in spec.tools)

    def text(literal: str) -> str:
        return " ".join(_literal(literal, special_tokens))

    more = f" ({text(wrapper.separator)} call){{0,{spec.max_calls - 1}}}" if spec.max_calls > 1 else ""
    start = f"start: {text(wrapper.opening)} call{more} {text(wrapper.closing)}"
    calls = (
        f"{text(f'{wrapper.begin}{tool.name}{wrapper.middle}')} {document.json()} {text(wrapper.end)}"
        for tool, document in zip(spec.tools, documents, strict=True)
    )
    return f"{start}\ncall: " + "\n  | ".join(calls) + "\n", documents


def _parameters(tool: Tool) -> Document:
    if not 0 < len(tool.name) <= _LONGEST_NAME or _NOT_IN_NAMES.search(tool.name):
        raise SchemaError("", "its name is empty, too long, or has quotes, brackets or control characters.", tool.name)
    try:
        return Document(check_schema(_OBJECT if tool.parameters is None else tool.parameters, _BASE), tool.name)
    except SchemaError as error:
        raise SchemaError(error.path, error.reason, tool.name) from error


def _literal(text: str, special_tokens: Mapping[str, int]) -> Iterator[str]:
    """`text` in parts: a special token is named by its id, the rest is a string."""
    names = sorted(special_tokens, key=len, reverse=True)
    pattern = "|".join(map(re.escape, names))
    for part in re.split(f"({pattern})", text) if names else [text]:
        if part:
            yield f"<[{special_tokens[part]}]>" if part in special_tokens else json.dumps(part, ensure_ascii=False)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
