"""An answer as the machines that read it see it: one character at a time, with what may have to be given back."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Sequence
from itertools import groupby
from typing import TypeVar

from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reasoning, Words

Result = TypeVar("Result")
Writer = Callable[[str], None]

# A machine looks at `tape.char`; `yield` takes that character and waits for the next one. Since characters arrive one
# by one, what comes out cannot depend on how the text was split.
Machine = Generator[None, None, Result]

SPACES = " \t\r\n"


class NotACallError(Exception):
    """The text is not, or no longer, what a machine reads. The character at hand was not taken."""


class Tape:
    """`char` is the character at hand, empty at the end of the text. Between `hold` and `release` what is taken is
    held, so that it can be given back when it turns out to be words.
    """

    def __init__(self) -> None:
        self.char = ""
        self._holds = False
        self._held: list[str] = []
        self._parts: list[Part] = []
        self.calls = 0  # begun so far

    def show(self, char: str) -> None:
        """The next character; the one at hand was taken."""
        if self._holds:
            self._held.append(self.char)
        self.char = char

    def hold(self) -> None:
        self._holds = True
        self._held.clear()

    def release(self) -> None:
        """What was taken is part of something known: it will not be given back."""
        self._holds = False
        self._held.clear()

    def give_back(self) -> str:
        """What was taken since `hold`, as it turned out to be something else."""
        text = "".join(self._held)
        self.release()
        return text

    def words(self, text: str) -> None:
        self._parts.append(Words(text))

    def reasoning(self, text: str) -> None:
        self._parts.append(Reasoning(text))

    def begin_call(self, name: str) -> Writer:
        """Begins the next call, and returns how its arguments are written."""
        self.release()
        index = self.calls
        self.calls += 1
        self._parts.append(CallBegins(index, f"call_{uuid.uuid4().hex[:24]}", name))
        return lambda text: self._parts.append(CallArguments(index, text))

    def end_call(self) -> None:
        """The arguments are complete. What follows may belong to the call or not, so it is held."""
        self._parts.append(CallEnds(self.calls - 1))
        self.hold()

    def drain(self) -> list[Part]:
        """The parts since the last time, neighbours of one kind in one piece."""
        parts, self._parts = self._parts, []
        joined: list[Part] = []
        for kind, group in groupby(parts, key=type):
            same = list(group)
            if kind in (Words, Reasoning, CallArguments):
                text = "".join(part.text for part in same if isinstance(part, Words | Reasoning | CallArguments))
                joined += [_with_text(same[0], text)] if text else []
            else:
                joined += same
        return joined


def _with_text(part: Part, text: str) -> Part:
    match part:
        case CallArguments(index, _):
            return CallArguments(index, text)
        case Reasoning():
            return Reasoning(text)
    return Words(text)


def spaces(tape: Tape) -> Machine[str]:
    """Takes white space, and returns it."""
    taken = ""
    while tape.char and tape.char in SPACES:
        taken += tape.char
        yield
    return taken


def literal(tape: Tape, text: str) -> Machine[None]:
    """Takes exactly this text. Raises NotACallError."""
    for char in text:
        if tape.char != char:
            raise NotACallError
        yield


def one_of(tape: Tape, texts: Sequence[str]) -> Machine[str]:
    """Takes characters as long as one of these texts goes on with them, and returns the text they are.

    Raises NotACallError when they are none.
    """
    taken = ""
    while tape.char and any(text.startswith(taken + tape.char) for text in texts):
        taken += tape.char
        yield
    if taken not in texts:
        raise NotACallError
    return taken


def until(tape: Tape, ends: Sequence[str], write: Writer) -> Machine[bool]:
    """Writes what comes before the first of `ends`, and takes that end too. False: the text ended before."""
    held = ""
    while tape.char:
        held += tape.char
        while held and not any(end.startswith(held) for end in ends):
            write(held[0])
            held = held[1:]
        yield
        if held in ends:
            return True
    write(held)
    return False
