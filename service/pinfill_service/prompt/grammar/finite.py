"""Finds subschemas that only endless values could satisfy: a reply inside one would never come to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pinfill_service.prompt.grammar.apart import types_of

_MAX_ROUNDS = 64  # one for each reference that is followed forwards


def first_endless(places: Mapping[str, Any], target_of: Callable[[str], str]) -> str | None:
    """The pointer of the outermost subschema without a finite value; None when there is none.

    `places`: checked subschemas by pointer; `target_of` leads from a reference to a pointer. What is not shown to be
    finite within a bounded number of rounds counts as endless.
    """
    finite: set[str] = set()
    waiting = list(places)[::-1]  # inner ones first
    for _ in range(_MAX_ROUNDS):
        left = []
        for place in waiting:
            if all(any(option in finite for option in options) for options in _needs(place, places[place], target_of)):
                finite.add(place)
            else:
                left.append(place)
        if not left or len(left) == len(waiting):
            break
        waiting = left
    return next((place for place in places if place not in finite), None)


def _needs(place: str, schema: Any, target_of: Callable[[str], str]) -> Iterator[list[str]]:
    """Sets of places: one of each must be finite for this one to be."""
    if isinstance(schema, bool):
        return
    if "$ref" in schema:
        yield [target_of(schema["$ref"])]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            yield [f"{place}/{key}/{index}" for index in range(len(schema[key]))]
    yield from ([f"{place}/allOf/{index}"] for index in range(len(schema.get("allOf", ()))))
    types = types_of(schema)
    if types == {"object"}:
        yield from _required_places(place, schema)
    if types == {"array"}:
        yield from _item_places(place, schema)


def _required_places(place: str, schema: Mapping[str, Any]) -> Iterator[list[str]]:
    for name in schema.get("required", ()):
        if name in schema.get("properties", {}):
            yield [join(f"{place}/properties", name)]
        elif "additionalProperties" in schema and "patternProperties" not in schema:
            yield [f"{place}/additionalProperties"]


def _item_places(place: str, schema: Mapping[str, Any]) -> Iterator[list[str]]:
    least = schema.get("minItems", 0)
    key = "items" if isinstance(schema.get("items"), list) else "prefixItems"
    rest = "additionalItems" if key == "items" else "items"
    listed = len(schema.get(key, ()))
    yield from ([f"{place}/{key}/{index}"] for index in range(min(least, listed)))
    if least > listed and rest in schema:
        yield [f"{place}/{rest}"]


def join(pointer: str, name: str) -> str:
    """The JSON pointer of a member."""
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
