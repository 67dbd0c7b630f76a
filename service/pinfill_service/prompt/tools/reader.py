"""Tells reasoning, words and tool calls apart while a model writes, whichever of the known formats it uses.

Recognised, for tools the request offers and only for those:

- `<tool_call>` or another wrapper the model's template uses, around JSON (Hermes, Qwen) or `<function=` (Qwen's coders)
- `<function=NAME>` by itself
- `<|python_tag|>` in front of JSON, or JSON at the beginning of a line: an object or an array of them, also in a fence,
  several separated by `;` or `,` (Llama 3)
- `[TOOL_CALLS]` in front of an array, or of `NAME[ARGS]{...}` (Mistral)

A call that turns out to be none is words, from its first character on. One that breaks off in its arguments has come
out by then: it stays without an end, and what follows is words. `json_copy` says which mistakes are repaired. White
space around calls is dropped. Reasoning is what stands between `<think>` and `</think>` at the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pinfill_service.prompt.reply import Part, Reasoning, Words
from pinfill_service.prompt.tools.json_calls import json_arguments, json_array, json_calls, json_object, take_name
from pinfill_service.prompt.tools.offered import OfferedTools
from pinfill_service.prompt.tools.tape import (
    SPACES,
    Machine,
    NotACallError,
    Tape,
    Writer,
    literal,
    one_of,
    spaces,
    until,
)
from pinfill_service.prompt.tools.xml_calls import FUNCTION, xml_call

THINK, END_OF_THINK = "<think>", "</think>"
TOOL_CALLS, PYTHON_TAG, ARGS, _CALL_ID = "[TOOL_CALLS]", "<|python_tag|>", "[ARGS]", "[CALL_ID]"
_FENCE = "```"
_FENCES = (_FENCE, "```json", "```tool_call", "```tool_code")

# What opens a call, and what may close it.
_WRAPPERS = {"<tool_call>": "</tool_call>", "<|tool_call|>": "<|/tool_call|>", PYTHON_TAG: "", TOOL_CALLS: ""}
_END_OF_TOOL_CALL = _WRAPPERS["<tool_call>"]
_SEPARATORS = ";,"


class AnswerReader:
    """Reads one answer. `reasons`: the prompt ends inside a block of reasoning. `single`: only the first call counts.
    `wrappers`: what else may stand in front of a call, and behind it.
    """

    def __init__(
        self,
        offered: OfferedTools,
        *,
        reasons: bool = False,
        single: bool = False,
        wrappers: Mapping[str, str] | None = None,
    ) -> None:
        self._offered, self._reasons, self._single = offered, reasons, single
        self._wrappers = {**_WRAPPERS, **(wrappers or {})} if offered else {}
        tags = {*self._wrappers, *self._wrappers.values(), ARGS, _CALL_ID} if offered else set()
        self.markers = frozenset({THINK, END_OF_THINK, *tags} - {""})
        self._tape = Tape()
        self._space = ""  # what is dropped when a call follows
        self._first = True  # nothing but white space so far
        self._fresh = True  # nothing but white space so far on this line
        self._closing: str | None = None  # after a call: what may close it, empty for nothing
        self._machine = self._answer()
        next(self._machine)

    def push(self, text: str) -> Sequence[Part]:
        for char in text:
            self._tape.show(char)
            next(self._machine)
        return self._drain()

    def flush(self) -> Sequence[Part]:
        self._tape.show("")
        next(self._machine, None)
        return self._drain()

    def _drain(self) -> Sequence[Part]:
        parts = self._tape.drain()
        if not self._single:
            return parts
        return [part for part in parts if isinstance(part, Words | Reasoning) or part.index == 0]

    def _answer(self) -> Machine[None]:
        yield
        if self._reasons:
            yield from self._reasoning()
        while self._tape.char:
            char = self._tape.char
            if self._may_be_dropped(char):
                self._space += char
                self._fresh = self._fresh or char == "\n"
                yield
            elif self._opens_something(char):
                yield from self._try()
            else:
                self._say(char)
                yield
        if self._closing is None:
            self._say("")

    def _may_be_dropped(self, char: str) -> bool:
        if char in SPACES:
            return self._first or bool(self._offered)
        return self._closing is not None and char in _SEPARATORS

    def _opens_something(self, char: str) -> bool:
        return any(marker[0] == char for marker in self._possible())

    def _possible(self) -> list[str]:
        """The markers that mean something at this place."""
        markers = [THINK] if self._first else []
        if self._closing:
            markers.append(self._closing)
        if self._offered:
            markers += [*self._wrappers, FUNCTION]
            if self._fresh or self._closing is not None:
                markers += [*_FENCES, "[", "{"]
        return markers

    def _try(self) -> Machine[None]:
        """What a marker opens; words, if that is nothing."""
        tape, calls, marker = self._tape, self._tape.calls, ""
        tape.hold()
        try:
            marker = yield from one_of(tape, self._possible())
            if marker == THINK:
                yield from self._reasoning()
            elif marker == self._closing:
                self._space = ""
            else:
                yield from self._calls(marker)
            tape.release()
        except NotACallError:
            pass
        if tape.calls > calls:
            self._space, self._first, self._fresh = "", False, True
            self._closing = self._closing_of(marker)
        words = tape.give_back()
        if words.strip():
            self._say(words)
        else:
            self._space += words

    def _closing_of(self, marker: str) -> str:
        if marker in _FENCES:
            return _FENCE
        return self._closing or "" if marker in ("[", "{") else self._wrappers.get(marker, _END_OF_TOOL_CALL)

    def _calls(self, marker: str) -> Machine[None]:
        tape, offered = self._tape, self._offered
        if marker == FUNCTION:
            yield from xml_call(tape, offered)
        elif marker == "{":
            yield from json_object(tape, offered, strict=True)
        elif marker == "[":
            yield from json_array(tape, offered, strict=True)
        else:
            yield from spaces(tape)
            if tape.char in ("{", "["):
                yield from json_calls(tape, offered, strict=marker in _FENCES)
            elif marker == TOOL_CALLS:
                yield from self._named_call()
            else:
                yield from literal(tape, FUNCTION)
                yield from xml_call(tape, offered)

    def _named_call(self) -> Machine[None]:
        """Mistral's newer form, in which the arguments follow the name."""
        tape = self._tape
        name = yield from take_name(tape, self._offered, "[{")
        if tape.char == "[" and (yield from one_of(tape, (ARGS, _CALL_ID))) == _CALL_ID:
            yield from until(tape, (ARGS,), lambda text: None)
        yield from json_arguments(tape, name)

    def _reasoning(self) -> Machine[None]:
        """Takes a block of reasoning after its beginning, and white space after it."""
        thoughts = _Trimmed(self._tape.reasoning)
        self._tape.release()
        yield from until(self._tape, (END_OF_THINK,), thoughts.write)
        yield from spaces(self._tape)
        self._space, self._first = "", False

    def _say(self, text: str) -> None:
        said = self._space + text
        line = said.rpartition("\n")[2]
        self._fresh = not line.strip() and (self._fresh or "\n" in said)
        self._first = self._first and not said.strip()
        self._space, self._closing = "", None
        self._tape.words(said)


class _Trimmed:
    """Writes a text without the white space around it."""

    def __init__(self, write: Writer) -> None:
        self._write = write
        self._space: str | None = None  # None: nothing was written yet

    def write(self, text: str) -> None:
        if not text.isspace():
            self._write((self._space or "") + text)
            self._space = ""
        elif self._space is not None:
            self._space += text
