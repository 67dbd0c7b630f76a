"""Finds the part of a schema that the compiler cannot take: its messages do not name places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from pinfill_service.prompt.grammar.errors import SchemaError
from pinfill_service.prompt.grammar.lark import Document

_MAX_TRIES = 300
_LONGEST_REASON = 200
_TOO_COMPLEX = "it is too complex; make it smaller."


def failing_place(documents: Sequence[Document], message: str, compile_error: Callable[[str], str]) -> SchemaError:
    """The error that names the innermost subschema that fails alone for the same reason as the whole.

    `compile_error` returns a grammar's error, empty for none.
    """
    if len(documents) == 1 and _reason(message) == _TOO_COMPLEX:
        return SchemaError("", _TOO_COMPLEX, documents[0].tool)
    for document in documents:
        if reason := _reason(compile_error(f"start: {document.json()}\n")):
            return SchemaError(_innermost(document, reason, compile_error), reason, document.tool)
    return SchemaError("", _reason(message))


def _innermost(document: Document, reason: str, compile_error: Callable[[str], str]) -> str:
    place = ""
    if reason == _TOO_COMPLEX:  # to compile it again and again would take long
        return place
    for inner in islice(document.schema.places, 1, _MAX_TRIES):
        if inner.startswith(f"{place}/") and _reason(compile_error(f"start: {document.json(inner)}\n")) == reason:
            place = inner
    return place


def _reason(message: str) -> str:
    """The compiler's message as one sentence; empty for none. It names keywords and values of the schema only."""
    if not message:
        return ""
    if "NoExtension" in message:
        return "nothing can be valid for it."
    if "panic" in message or "too big" in message or "too large" in message or "limit" in message:
        return _TOO_COMPLEX
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    named = [line for line in lines if line.startswith("error: ")]
    first = (named[-1] if named else lines[0]).removeprefix("error: ")
    reason = first.rsplit("failed to compile JSON schema: ", 1)[-1]
    return f"{reason[:_LONGEST_REASON].rstrip('.')}."
