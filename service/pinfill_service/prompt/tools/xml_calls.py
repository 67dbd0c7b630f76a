"""Calls as Qwen's coder models write them:

    <function=NAME>
    <parameter=KEY>
    VALUE
    </parameter>
    </function>

Values have no quotes, so the tool's schema says what they are.
"""

from __future__ import annotations

from pinfill_service.prompt.canonical import dump
from pinfill_service.prompt.tools.json_calls import take_name
from pinfill_service.prompt.tools.json_copy import escaped
from pinfill_service.prompt.tools.offered import OfferedTools
from pinfill_service.prompt.tools.tape import Machine, NotACallError, Tape, Writer, one_of, spaces, until

FUNCTION = "<function="
_PARAMETER, _END_OF_FUNCTION = "<parameter=", "</function>"
_ENDS_OF_VALUE = ("\n</parameter>", "</parameter>")
_MAX_KEY = 256


def xml_call(tape: Tape, offered: OfferedTools) -> Machine[None]:
    """A call after its FUNCTION was taken. Raises NotACallError; what came out before stays."""
    name = yield from take_name(tape, offered, ">")
    yield
    write = tape.begin_call(name)
    keys: set[str] = set()
    while True:
        yield from spaces(tape)
        if (yield from one_of(tape, (_PARAMETER, _END_OF_FUNCTION))) == _END_OF_FUNCTION:
            break
        key = yield from _key(tape)
        if key in keys:
            raise NotACallError
        write(f"{', ' if keys else '{'}{dump(key)}: ")
        keys.add(key)
        yield from _value(tape, write, None if offered.is_text(name, key) else (offered, name, key))
    write("}" if keys else "{}")
    tape.end_call()


def _key(tape: Tape) -> Machine[str]:
    key = ""
    while tape.char and tape.char not in ">\n" and len(key) < _MAX_KEY:
        key += tape.char
        yield
    if tape.char != ">" or not key:
        raise NotACallError
    yield
    if tape.char == "\n":
        yield
    return key


def _value(tape: Tape, write: Writer, typed: tuple[OfferedTools, str, str] | None) -> Machine[None]:
    """Takes a value up to its closing tag: text as it comes, what has to be converted as a whole."""
    taken: list[str] = []
    if typed is None:
        write('"')
        ended = yield from until(tape, _ENDS_OF_VALUE, lambda text: write(escaped(text)))
    else:
        ended = yield from until(tape, _ENDS_OF_VALUE, taken.append)
    if not ended:
        raise NotACallError
    if typed is None:
        write('"')
    else:
        offered, tool, parameter = typed
        write(offered.value(tool, parameter, "".join(taken)))
