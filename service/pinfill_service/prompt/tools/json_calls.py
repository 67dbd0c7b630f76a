"""Calls written as JSON: `{"name": ..., "arguments": {...}}`, alone or several in an array.

`parameters` is Llama's word for `arguments`. The keys may come in either order, and others such as `id` and `type` may
be there as well. Arguments may be a string that holds the object, or null for none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pinfill_service.prompt.canonical import NestingError, canonical_object, dump
from pinfill_service.prompt.tools.json_copy import copy_value
from pinfill_service.prompt.tools.offered import OfferedTools
from pinfill_service.prompt.tools.tape import Machine, NotACallError, Tape, Writer, literal, spaces

_ARGUMENTS = ("arguments", "parameters")
_KEYS = ("name", *_ARGUMENTS, "id", "type")
_MAX_HELD = 1 << 16  # characters of arguments that stand in front of the name


@dataclass(slots=True)
class _Call:
    """What has been read of one call: `done` when it has come out."""

    name: str | None = None
    arguments: str | None = None
    done: bool = False


def json_calls(tape: Tape, offered: OfferedTools, *, strict: bool) -> Machine[None]:
    """Takes an object, or an array of them. Raises NotACallError; calls that were complete before stay.

    `strict`: nothing has said yet that this is a call. So it is one only if it has arguments, and no key that calls do
    not have.
    """
    if tape.char == "[":
        yield
        yield from json_array(tape, offered, strict=strict)
    else:
        yield from literal(tape, "{")
        yield from json_object(tape, offered, strict=strict)


def json_array(tape: Tape, offered: OfferedTools, *, strict: bool) -> Machine[None]:
    """Takes an array after its bracket."""
    while True:
        yield from spaces(tape)
        yield from literal(tape, "{")
        yield from json_object(tape, offered, strict=strict)
        yield from spaces(tape)
        if tape.char != ",":
            break
        yield
    yield from literal(tape, "]")


def json_object(tape: Tape, offered: OfferedTools, *, strict: bool) -> Machine[None]:
    """Takes an object after its brace."""
    call = _Call()
    while True:
        yield from spaces(tape)
        key = yield from _key(tape, strict)
        if key == "name" and call.name is None:
            yield from literal(tape, '"')
            call.name = yield from take_name(tape, offered, '"')
            yield
        elif key in _ARGUMENTS and call.arguments is None:
            yield from _arguments(tape, call)
        else:
            yield from copy_value(tape, _ignore)
        _come_out(tape, call)
        yield from spaces(tape)
        if tape.char != ",":
            break
        yield
    if tape.char != "}":
        raise NotACallError
    if not strict and call.arguments is None:
        call.arguments = "{}"
        _come_out(tape, call)
    if not call.done:
        raise NotACallError
    yield
    tape.hold()


def json_arguments(tape: Tape, name: str) -> Machine[None]:
    """A call to `name` whose arguments, an object, begin here. Raises NotACallError."""
    if tape.char != "{":
        raise NotACallError
    yield from copy_value(tape, tape.begin_call(name))
    tape.end_call()


def take_name(tape: Tape, offered: OfferedTools, ends: str) -> Machine[str]:
    """Takes the name of an offered tool, which one of `ends` follows. Raises NotACallError."""
    name = ""
    while tape.char and tape.char not in ends:
        name += tape.char
        if not offered.may_become_one(name):
            raise NotACallError
        yield
    if name not in offered or not tape.char:
        raise NotACallError
    return name


def _key(tape: Tape, strict: bool) -> Machine[str]:
    """Takes a key and the colon."""
    key = ""
    yield from literal(tape, '"')
    while tape.char != '"':
        key += tape.char
        if not tape.char or tape.char == "\\" or (strict and not any(known.startswith(key) for known in _KEYS)):
            raise NotACallError
        yield
    if strict and key not in _KEYS:
        raise NotACallError
    yield
    yield from spaces(tape)
    yield from literal(tape, ":")
    yield from spaces(tape)
    return key


def _arguments(tape: Tape, call: _Call) -> Machine[None]:
    """Takes arguments: as they come when the name is known, else as a whole."""
    if tape.char == "{" and call.name is not None:
        yield from json_arguments(tape, call.name)
        call.arguments, call.done = "", True
        return
    taken: list[str] = []
    yield from copy_value(tape, _limited(taken))
    call.arguments = _as_object("".join(taken))


def _as_object(text: str) -> str:
    """Arguments as the JSON text of an object, also when they are null, or a string that holds it."""
    if text.startswith("{"):
        return text
    value = json.loads(text)
    try:
        found = canonical_object(value) if isinstance(value, str) else {} if value is None else None
    except NestingError:
        found = None
    if found is None:
        raise NotACallError
    return dump(found)


def _come_out(tape: Tape, call: _Call) -> None:
    """A call whose name and arguments are both known."""
    if not call.done and call.name is not None and call.arguments is not None:
        tape.begin_call(call.name)(call.arguments)
        tape.end_call()
        call.done = True


def _limited(taken: list[str]) -> Writer:
    length = 0

    def write(text: str) -> None:
        nonlocal length
        length += len(text)
        if length > _MAX_HELD:
            raise NotACallError
        taken.append(text)

    return write


def _ignore(text: str) -> None:
    pass
