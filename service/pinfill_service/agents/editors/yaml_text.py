"""YAML. PyYAML tells where values stand; the text between them is not touched."""

from __future__ import annotations

import json
from typing import Any

import yaml

from pinfill_service.agents.editors.editor import EditError, Path

_Pair = tuple[yaml.Node, yaml.Node]


class YamlEditor:
    """Implements Editor for plain keys. What is shared through an anchor or merged is refused, never changed."""

    def read(self, text: str, path: Path) -> str | None:
        node, rest = _reach(_compose(text), path)
        return None if node is None or rest else text[node.start_mark.index : node.end_mark.index]

    def write(self, text: str, path: Path, source: str) -> str:
        root = _compose(text)
        if root is None:
            text = text if text.endswith("\n") or not text else f"{text}\n"
            return _checked(f"{text}{_member(path, source)}\n", path, source)
        node, rest = _reach(root, path)
        assert node is not None
        if not rest:
            if isinstance(node, yaml.CollectionNode) or node.style in ("|", ">"):
                raise EditError(f"has {'.'.join(path)} as something that is not written on one line")
            start, end = node.start_mark.index, node.end_mark.index
            gap = "" if text[start - 1 : start].isspace() else " "
            return _checked(text[:start] + gap + source + text[end:], path, source)
        if not isinstance(node, yaml.MappingNode):
            raise EditError(f"has {'.'.join(path[: -len(rest)]) or 'its content'} as something else than a mapping")
        return _checked(_insert(text, root, node, _member(rest, source)), path, source)

    def remove(self, text: str, path: Path) -> str:
        parent, rest = _reach(_compose(text), path[:-1])
        if rest or not isinstance(parent, yaml.MappingNode):
            return text
        pairs = [(key, value) for key, value in parent.value if key.value == path[-1]]
        if not pairs:
            return text
        return _checked(_cut(text, parent, pairs[-1]), path, None)

    def keys(self, text: str, path: Path) -> list[str] | None:
        root = _compose(text)
        if root is None:
            return None if path else []
        node, rest = _reach(root, path)
        return [str(key.value) for key, _ in node.value] if not rest and isinstance(node, yaml.MappingNode) else None

    def dump(self, value: object) -> str:
        return json.dumps(value)

    def load(self, source: str) -> Any:
        try:
            return yaml.safe_load(source)
        except (yaml.YAMLError, RecursionError, ValueError):
            return source


def _compose(text: str) -> yaml.Node | None:
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", in line {mark.line + 1}" if mark is not None else ""
        raise EditError(f"is not YAML{where}") from error
    return root


def _reach(node: yaml.Node | None, path: Path) -> tuple[yaml.Node | None, Path]:
    """The deepest value on a path, and what is left of the path. Raises EditError where an alias would be followed."""
    for number, key in enumerate(path):
        pairs = [pair for pair in _pairs(node) if pair[0].value == key]
        if not pairs:
            return node, path[number:]
        name, node = pairs[-1]
        if node.start_mark.index < name.end_mark.index:
            raise EditError(f"shares {'.'.join(path[: number + 1])} through an anchor")
    return node, ()


def _pairs(node: yaml.Node | None) -> list[_Pair]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _member(keys: Path, source: str) -> str:
    """`key: value`, what lies below the first key in braces."""
    head, *deeper = keys
    inner = source
    for key in reversed(deeper):
        inner = f"{{{json.dumps(key) if not key.isidentifier() else key}: {inner}}}"
    return f"{head}: {inner}"


def _insert(text: str, root: yaml.Node, node: yaml.MappingNode, member: str) -> str:
    """At the end of the file for the outermost mapping, so that comments stay with what they are about."""
    start = node.start_mark.index
    if node.flow_style:
        return f"{text[: start + 1]}{member}{', ' if node.value else ''}{text[start + 1 :]}"
    first: yaml.Node = node.value[0][0]
    indent = " " * first.start_mark.column
    if node is root:
        return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{indent}{member}\n"
    at = first.start_mark.index
    return f"{text[:at]}{member}\n{indent}{text[at:]}"


def _cut(text: str, parent: yaml.MappingNode, pair: _Pair) -> str:
    """Removes one pair: its lines in a block, with one comma in braces."""
    start, end = pair[0].start_mark.index, pair[1].end_mark.index
    if not parent.flow_style:
        start = text.rfind("\n", 0, start) + 1
        newline = text.find("\n", max(end - 1, 0))
        return text[:start] + ("" if newline < 0 else text[newline + 1 :])
    behind = text[end:].lstrip()
    if behind.startswith(","):
        return text[:start] + behind[1:].lstrip()
    return text[:start].rstrip().removesuffix(",") + text[end:]


def _checked(text: str, path: Path, source: str | None) -> str:
    """The edited text, once parsing it has shown that the value is there, or gone."""
    node, rest = _reach(_compose(text), path)
    found = None if node is None or rest else text[node.start_mark.index : node.end_mark.index]
    if found != source:
        raise EditError(f"is written in a way that does not let {'.'.join(path)} be changed")
    return text
