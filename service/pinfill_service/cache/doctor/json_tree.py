"""Comparing JSON values, however deep they are, and finding JSON in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_OPENING = re.compile(r'\{\s*["}]|\[\s*\{')
# A failed attempt reads on to where it fails; prompts with this many of them are not worth the time.
_MAX_FAILURES = 50
_DECODER = json.JSONDecoder()


class _Missing:
    """What stands for a key or an item that only the other value has."""

    def __repr__(self) -> str:
        return "(nothing)"


MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class Path:
    """Where in a value: a chain of keys and indices, the innermost first."""

    parent: Path | None
    key: str | int

    @property
    def keys(self) -> list[str | int]:
        """The outermost first."""
        keys: list[str | int] = []
        step: Path | None = self
        while step is not None:
            keys.append(step.key)
            step = step.parent
        return keys[::-1]

    def __str__(self) -> str:
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Difference:
    """The values at a path that are not equal; MISSING for none."""

    path: Path | None
    before: Any
    after: Any


def first_difference(before: Any, after: Any, path: Path | None = None) -> Difference | None:
    """The first difference in the order in which `before` is written. The order of keys does not count."""
    for at, a, b in _pairs(before, after, path):
        if not _equal_here(a, b):
            return Difference(at, a, b)
    return None


def reorderings(before: Any, after: Any, path: Path | None = None) -> Iterator[Path | None]:
    """Where the keys of two otherwise equal values are in another order."""
    for at, a, b in _pairs(before, after, path):
        if isinstance(a, Mapping) and isinstance(b, Mapping) and list(a) != list(b):
            yield at


def _pairs(before: Any, after: Any, path: Path | None) -> Iterator[tuple[Path | None, Any, Any]]:
    """Both values at every path, parents first. A loop, because a body can be deeper than Python may recurse."""
    waiting: list[tuple[Path | None, Any, Any]] = [(path, before, after)]
    while waiting:
        at, a, b = waiting.pop()
        yield at, a, b
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            keys = [*a, *(key for key in b if key not in a)]
            waiting += [(Path(at, str(key)), a.get(key, MISSING), b.get(key, MISSING)) for key in reversed(keys)]
        elif isinstance(a, list) and isinstance(b, list):
            for index in reversed(range(max(len(a), len(b)))):
                old, new = (side[index] if index < len(side) else MISSING for side in (a, b))
                waiting.append((Path(at, index), old, new))


def _equal_here(a: Any, b: Any) -> bool:
    """Whether two values are equal, leaving what containers hold to whoever looks into them."""
    for container in (Mapping, list):
        if isinstance(a, container) or isinstance(b, container):
            return isinstance(a, container) and isinstance(b, container)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b) or (a != a and b != b)


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object, or list of objects, that stands in a text from `start` to `end`."""

    start: int
    end: int
    value: Any


def json_in(text: str, start: int, end: int) -> list[Found]:
    """The outermost objects, and lists of objects, in a stretch of a text, in order. What is not JSON is skipped."""
    stretch = text[start:end]
    found: list[Found] = []
    at = failures = 0
    while failures < _MAX_FAILURES and (opening := _OPENING.search(stretch, at)):
        at = opening.start()
        try:
            value, stop = _DECODER.raw_decode(stretch, at)
        except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or nested too deeply
            failures, at = failures + 1, at + 1
        else:
            found.append(Found(start + at, start + stop, value))
            at = stop
    return found
