"""One JSON value, copied as it arrives.

What comes out, joined, is valid JSON. Mistakes with one possible meaning are repaired on the way: raw control
characters in strings, escapes JSON does not know (`\\d`, `\\'`), commas before a closing bracket, Python's True, False
and None. Everything else that is no JSON ends the copy with NotACallError.
"""

from __future__ import annotations

import json
import re

from pinfill_service.prompt.canonical import MAX_DEPTH
from pinfill_service.prompt.tools.tape import Machine, NotACallError, Tape, Writer, literal, spaces

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NAMES = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_BARE = frozenset("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_HEX = frozenset("0123456789abcdefABCDEF")
_MAX_BARE = 400  # characters of a number; a double needs at most 309 digits before the point
_CLOSING = {"{": "}", "[": "]"}


def escaped(text: str) -> str:
    """The text as it stands in a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def copy_value(tape: Tape, write: Writer) -> Machine[None]:
    """Takes the value that begins here, of any kind, and writes it. Raises NotACallError."""
    closing: list[str] = []
    while True:
        if tape.char and tape.char in _CLOSING:
            if (yield from _copy_opening(tape, write, closing)):
                continue
        elif tape.char == '"':
            yield from copy_string(tape, write)
        else:
            yield from _copy_bare(tape, write)
        while closing:
            if (yield from _copy_following(tape, write, closing)):
                break
        else:
            return


def copy_string(tape: Tape, write: Writer) -> Machine[None]:
    """Takes a string with its quotes and writes it. Raises NotACallError."""
    if tape.char != '"':
        raise NotACallError
    write('"')
    yield
    while tape.char != '"':
        if not tape.char:
            raise NotACallError
        if tape.char == "\\":
            yield
            yield from _copy_escape(tape, write)
        else:
            write(tape.char if tape.char >= " " else escaped(tape.char))
            yield
    write('"')
    yield


def _copy_escape(tape: Tape, write: Writer) -> Machine[None]:
    """What follows a backslash. An escape that JSON does not know is taken for the characters it is made of."""
    if tape.char == "u":
        digits = ""
        yield
        while len(digits) < 4 and tape.char and tape.char in _HEX:
            digits += tape.char
            yield
        write(f"\\u{digits}" if len(digits) == 4 else f"\\\\u{digits}")
    elif tape.char and tape.char in '"\\/bfnrt':
        write(f"\\{tape.char}")
        yield
    elif tape.char != "'":
        write("\\\\")


def _copy_opening(tape: Tape, write: Writer, closing: list[str]) -> Machine[bool]:
    """Takes an opening bracket and, in an object, the first key. True: a value is due; False: there is none."""
    if len(closing) == MAX_DEPTH:
        raise NotACallError
    closing.append(_CLOSING[tape.char])
    write(tape.char)
    yield
    write((yield from spaces(tape)))
    if tape.char == closing[-1]:
        return False
    if closing[-1] == "}":
        yield from _copy_key(tape, write)
    return True


def _copy_following(tape: Tape, write: Writer, closing: list[str]) -> Machine[bool]:
    """Takes what follows a value: a comma (True: another value is due) or the closing bracket."""
    write((yield from spaces(tape)))
    if tape.char == ",":
        yield
        gap = yield from spaces(tape)
        if tape.char != closing[-1]:
            write("," + gap)
            if closing[-1] == "}":
                yield from _copy_key(tape, write)
            return True
    if not tape.char or tape.char != closing[-1]:
        raise NotACallError
    write(closing.pop())
    yield
    return False


def _copy_key(tape: Tape, write: Writer) -> Machine[None]:
    yield from copy_string(tape, write)
    write((yield from spaces(tape)))
    yield from literal(tape, ":")
    write(":")
    write((yield from spaces(tape)))


def _copy_bare(tape: Tape, write: Writer) -> Machine[None]:
    """A number or a name. Written when it is complete: only then it is known to be one."""
    bare = ""
    while tape.char and tape.char in _BARE and len(bare) < _MAX_BARE:
        bare += tape.char
        yield
    if _NUMBER.fullmatch(bare):
        write(bare)
    elif bare in _NAMES:
        write(_NAMES[bare])
    else:
        raise NotACallError
