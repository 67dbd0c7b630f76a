"""TOML, edited by tomlkit, which keeps comments and layout."""

from __future__ import annotations

import tomllib
from collections.abc import MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from pinfill_service.agents.editors.editor import EditError, Path


class TomlEditor:
    """Implements Editor."""

    def read(self, text: str, path: Path) -> str | None:
        parent = _find(_parse(text), path[:-1])
        value = None if parent is None else parent.get(path[-1])
        return None if value is None or _is_table(value) else tomlkit.item(value).as_string()

    def write(self, text: str, path: Path, source: str) -> str:
        document = _parse(text)
        parent: MutableMapping[str, Any] = document
        for number, key in enumerate(path[:-1]):
            if key not in parent:
                parent[key] = tomlkit.table(is_super_table=number < len(path) - 2)
            parent = parent[key]
            if not isinstance(parent, MutableMapping):
                raise EditError(f"has {'.'.join(path[: number + 1])} as something else than a table")
        if _is_table(parent.get(path[-1])):
            raise EditError(f"has {'.'.join(path)} as a table")
        parent[path[-1]] = tomlkit.value(source)
        return _checked(text, tomlkit.dumps(document), path, tomllib.loads(f"x = {source}")["x"])

    def remove(self, text: str, path: Path) -> str:
        document = _parse(text)
        parent = _find(document, path[:-1])
        if parent is None or path[-1] not in parent:
            return text
        del parent[path[-1]]
        return _checked(text, tomlkit.dumps(document), path, None)

    def keys(self, text: str, path: Path) -> list[str] | None:
        found = _find(_parse(text), path)
        return None if found is None else list(found)

    def dump(self, value: object) -> str:
        return tomlkit.item(value).as_string()

    def load(self, source: str) -> Any:
        return tomllib.loads(f"x = {source}")["x"]


def _is_table(value: object) -> bool:
    return isinstance(value, MutableMapping | AoT)


def _parse(text: str) -> tomlkit.TOMLDocument:
    try:
        tomllib.loads(text)
        document = tomlkit.parse(text)
    except (ValueError, TOMLKitError, RecursionError) as error:
        raise EditError(f"is not TOML ({error})") from error
    if tomlkit.dumps(document) != text:
        raise EditError("cannot be edited without changing other parts of it")
    return document


def _find(document: tomlkit.TOMLDocument, path: Path) -> MutableMapping[str, Any] | None:
    found: Any = document
    for key in path:
        found = found.get(key)
        if not isinstance(found, MutableMapping):
            return None
    mapping: MutableMapping[str, Any] = found
    return mapping


def _checked(before: str, after: str, path: Path, value: object) -> str:
    """The edited text, once another parser has found that nothing but the one value changed. None: it was removed.

    Tables that only the name of another table made go with that one.
    """
    expected: dict[str, Any] = tomllib.loads(before)
    branches = [expected]
    for key in path[:-1]:
        branches.append(branches[-1].setdefault(key, {}))
    if value is None:
        del branches[-1][path[-1]]
    else:
        branches[-1][path[-1]] = value
    try:
        found = tomllib.loads(after)
    except ValueError:
        found = {}
    for length in range(len(path) - 1, 0, -1):
        if not branches[length] and _keys(found, path[:length]) is None:
            del branches[length - 1][path[length - 1]]
    if found != expected:
        raise EditError(f"is written in a way that does not let {'.'.join(path)} be changed")
    return after


def _keys(tree: Any, path: Path) -> list[str] | None:
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return list(tree) if isinstance(tree, dict) else None
