"""Whether two schemas exclude each other: then `oneOf` of them is `anyOf`, which a grammar can say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llguidance import LLMatcher, LLTokenizer

_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})
_MAX_STEPS = 60_000  # each takes some microseconds
_MAX_DEPTH = 12
_TEXT_KEYWORDS = {"type", "pattern", "minLength", "maxLength"}


class Apartness:
    """Compares checked schemas. `resolve` leads from a reference to its schema; all comparisons share one budget."""

    def __init__(self, resolve: Callable[[str], Any]) -> None:
        self._resolve = resolve
        self._steps, self._depth = _MAX_STEPS, 0
        self._bytes: LLTokenizer | None = None

    def apart(self, one: Any, other: Any, types: frozenset[str] = _TYPES) -> bool:
        """Whether no value of these types is valid for both. False when that cannot be seen."""
        self._steps -= 1
        if self._steps < 0 or self._depth >= _MAX_DEPTH:
            return False
        self._depth += 1
        try:
            return self._apart(self._target(one), self._target(other), types)
        finally:
            self._depth -= 1

    def _apart(self, one: Any, other: Any, types: frozenset[str]) -> bool:
        if isinstance(one, bool) or isinstance(other, bool):
            return one is False or other is False
        both = types & types_of(one) & types_of(other)
        if not both or self._branches_apart(one, other, both) or self._branches_apart(other, one, both):
            return True
        if self._values_apart(one, other) or self._values_apart(other, one):
            return True
        return both == {"object"} and self._objects_apart(one, other)

    def _target(self, schema: Any) -> Any:
        while isinstance(schema, Mapping) and set(schema) == {"$ref"} and self._steps > 0:
            self._steps -= 1
            schema = self._resolve(schema["$ref"])
        return schema

    def _branches_apart(self, one: Mapping[str, Any], other: Mapping[str, Any], types: frozenset[str]) -> bool:
        for key in ("anyOf", "oneOf"):
            if key in one and all(self.apart(branch, other, types) for branch in one[key]):
                return True
        parts = [*one.get("allOf", ()), *([{"$ref": one["$ref"]}] if "$ref" in one else [])]
        return any(self.apart(part, other, types) for part in parts)

    def _values_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        mine, others = _values(one), _values(other)
        if mine is None:
            return False
        self._steps -= len(mine) + len(others or ())
        if others is not None:
            return {_text(value) for value in mine}.isdisjoint({_text(value) for value in others})
        plain = set(other) <= _TEXT_KEYWORDS and other.get("type") == "string"
        return plain and all(not self._matches(value, other) for value in mine if isinstance(value, str))

    def _matches(self, value: str, schema: Mapping[str, Any]) -> bool:
        """Whether a string is valid for a schema of nothing but text keywords; True when that cannot be said."""
        self._steps -= 100
        if self._steps < 0 or not value.isprintable() or '"' in value or "\\" in value:  # spelt in several ways
            return True
        self._bytes = self._bytes or LLTokenizer("byte")
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema))
        matcher = LLMatcher(self._bytes, grammar, log_level=0)
        tokens = self._bytes.tokenize_str(json.dumps(value, ensure_ascii=False))
        return matcher.is_error() or (matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())

    def _objects_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        names = {name for name in (*_required(one), *_required(other)) if isinstance(name, str)}
        return any(self.apart(_property(one, name), _property(other, name)) for name in names)


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that values of a schema can have; integers are numbers."""
    stated = schema.get("type")
    if stated is not None:
        names = stated if isinstance(stated, list) else [stated]
        return frozenset("number" if name == "integer" else name for name in names if isinstance(name, str))
    values = _values(schema)
    return _TYPES if values is None else frozenset(map(_type, values))


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _values(schema: Mapping[str, Any]) -> list[Any] | None:
    """The only values that can be valid, when the schema lists them."""
    if "const" in schema:
        return [schema["const"]]
    found: list[Any] | None = schema.get("enum")
    return found


def _text(value: Any) -> str:
    """Equal for values that JSON Schema calls equal."""
    return json.dumps(_canonical(value), sort_keys=True)


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _canonical(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_canonical(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _required(schema: Mapping[str, Any]) -> Iterable[Any]:
    required = schema.get("required")
    return required if isinstance(required, list) else ()


def _property(schema: Mapping[str, Any], name: str) -> Any:
    """What the schema says about a property, as far as it lists it."""
    properties = schema.get("properties", {})
    if name in properties:
        return properties[name]
    return True if "patternProperties" in schema else schema.get("additionalProperties", True)
