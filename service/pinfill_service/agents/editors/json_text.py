"""JSON as editors of code read it: with comments and trailing commas, if they are there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from pinfill_service.agents.editors.editor import MAX_DEPTH, EditError, Path

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.\w]+")
_INDENT = "  "


@dataclass(slots=True)
class _Member:
    """A key with its value; `start` is where the key begins."""

    key: str
    start: int
    value: _Node


@dataclass(slots=True)
class _Node:
    """A value in the text, from `start` to before `end`. `members` is None unless it is an object."""

    start: int
    end: int = 0
    members: list[_Member] | None = None
    trailing_comma: bool = False


class JsonEditor:
    """Implements Editor with changes of the text that are as small as can be."""

    def read(self, text: str, path: Path) -> str | None:
        node = None if _is_empty(text) else _find(_parse(text), path)
        return None if node is None else text[node.start : node.end]

    def write(self, text: str, path: Path, source: str) -> str:
        if _is_empty(text):
            text = f"{text.rstrip()}\n{{}}\n".lstrip()
        node, rest = _reach(_parse(text), path)
        if not rest:
            return text[: node.start] + source + text[node.end :]
        if node.members is None:
            raise EditError(f"has {'.'.join(path[: -len(rest)]) or 'its content'} as something else than an object")
        return _insert(text, node, rest, source)

    def remove(self, text: str, path: Path) -> str:
        parent = None if _is_empty(text) else _find(_parse(text), path[:-1])
        members = [] if parent is None or parent.members is None else parent.members
        found = [number for number, member in enumerate(members) if member.key == path[-1]]
        for number in reversed(found):
            assert parent is not None
            text = _cut(text, parent, number)
            parent = _find(_parse(text), path[:-1])
        return text

    def keys(self, text: str, path: Path) -> list[str] | None:
        node = _find(_parse(text), path) if not _is_empty(text) else _Node(0, members=None if path else [])
        return None if node is None or node.members is None else [member.key for member in node.members]

    def dump(self, value: object) -> str:
        return json.dumps(value)

    def load(self, source: str) -> Any:
        try:
            return json.loads(source)
        except (ValueError, RecursionError):
            return source  # with comments in it: compared as it is written


def _parse(text: str) -> _Node:
    node, end = _value(text, _skip(text, 0), 0)
    if _skip(text, end) != len(text):
        raise EditError(f"has something behind its end, {_where(text, end)}")
    return node


def _value(text: str, at: int, depth: int) -> tuple[_Node, int]:
    if depth > MAX_DEPTH:
        raise EditError(f"is nested more than {MAX_DEPTH} deep")
    node = _Node(at)
    if text[at : at + 1] == "{":
        node.members = []
        node.end = _items(text, node, "}", depth)
    elif text[at : at + 1] == "[":
        node.end = _items(text, node, "]", depth)
    else:
        found = _STRING.match(text, at) or _WORD.match(text, at)
        if found is None:
            raise EditError(f"is not JSON, {_where(text, at)}")
        _check(text, found)
        node.end = found.end()
    return node, node.end


def _items(text: str, node: _Node, closing: str, depth: int) -> int:
    """Reads to behind the closing bracket, members into `node` if it is an object."""
    at = _skip(text, node.start + 1)
    while text[at : at + 1] != closing:
        start, key = at, ""
        if node.members is not None:
            key, at = _key(text, at)
        value, end = _value(text, at, depth + 1)
        if node.members is not None:
            node.members.append(_Member(key, start, value))
        at = _skip(text, end)
        node.trailing_comma = text[at : at + 1] == ","
        if node.trailing_comma:
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise EditError(f"is not JSON, {_where(text, at)}")
    return at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    colon = _skip(text, found.end()) if found else at
    if found is None or text[colon : colon + 1] != ":":
        raise EditError(f"is not JSON, {_where(text, at)}")
    return str(_check(text, found)), _skip(text, colon + 1)


def _check(text: str, found: re.Match[str]) -> Any:
    try:
        return json.loads(found[0])
    except ValueError as error:
        raise EditError(f"is not JSON, {_where(text, found.start())}") from error


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _where(text: str, at: int) -> str:
    return f"in line {text.count(chr(10), 0, at) + 1}"


def _find(node: _Node, path: Path) -> _Node | None:
    reached, rest = _reach(node, path)
    return None if rest else reached


def _reach(node: _Node, path: Path) -> tuple[_Node, Path]:
    """The deepest value on a path, and what is left of the path. Of equal keys the last one counts."""
    for number, key in enumerate(path):
        matching = [member.value for member in node.members or () if member.key == key]
        if not matching:
            return node, path[number:]
        node = matching[-1]
    return node, ()


def _insert(text: str, parent: _Node, keys: Path, source: str) -> str:
    """Adds a member at the end of an object: on a line of its own, unless the object stands on one line with others."""
    assert parent.members is not None
    members = parent.members
    inline = bool(members) and "\n" not in text[parent.start : members[0].start]
    own = _indent_at(text, parent.start)
    unit = _INDENT if not members or inline else _indent_at(text, members[0].start).removeprefix(own) or _INDENT
    member = _member(keys, source, own + unit, unit)
    if not members:
        inside = text[parent.start + 1 : parent.end - 1]
        return f"{text[: parent.start + 1]}{inside.rstrip()}\n{own}{unit}{member}\n{own}{text[parent.end - 1 :]}"
    last = members[-1].value.end
    close = len(text[: parent.end - 1].rstrip())  # behind the last comma or comment
    comma_here, comma_then = ("", ",") if parent.trailing_comma else (",", "")
    gap = " " if inline else f"\n{own}{unit}"
    return f"{text[:last]}{comma_here}{text[last:close]}{gap}{member}{comma_then}{text[close:]}"


def _member(keys: Path, source: str, indent: str, unit: str) -> str:
    key, *deeper = keys
    if not deeper:
        return f"{json.dumps(key)}: {source}"
    inner = _member(tuple(deeper), source, indent + unit, unit)
    return f"{json.dumps(key)}: {{\n{indent}{unit}{inner}\n{indent}}}"


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _cut(text: str, parent: _Node, number: int) -> str:
    """Removes one member with one comma; comments around it stay."""
    assert parent.members is not None
    member, end = parent.members[number], parent.members[number].value.end
    comma = _skip(text, end)
    if text[comma : comma + 1] == ",":
        behind = text[end:comma] + text[comma + 1 :]
        return text[: _gap_start(text, member.start, behind)] + behind
    before = text[: _gap_start(text, member.start, text[end:])]
    if number:  # the comma in front of the member would now be the last
        comma = _skip(text, parent.members[number - 1].value.end)
        before = before[:comma] + before[comma + 1 :]
    return before + text[end:]


def _gap_start(text: str, at: int, behind: str) -> int:
    """Where to cut in front of a key: with its line break, unless something else follows on the line."""
    start = len(text[:at].rstrip())
    stays = "\n" in text[start:at] and behind.lstrip(" \t")[:1] != "\n"
    return at if stays else start


def _is_empty(text: str) -> bool:
    return _skip(text, 0) == len(text)
