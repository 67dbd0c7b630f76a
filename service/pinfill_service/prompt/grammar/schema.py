"""Checks a JSON schema before it is compiled: what a grammar cannot hold a reply to is refused, with its place.

A reply under the grammar is valid under the schema, always; the grammar may be narrower (properties come in the order
of the schema, numbers beyond 64 bits do not come up). Where that cannot be had, the schema is refused:

- Keywords: the sets below name what is compiled, what has no meaning for validation, and what is refused. Keywords that
  no draft of JSON Schema defines are annotations, as the specification says.
- `$ref` leads to a place in the same schema, as a JSON pointer (`#/$defs/x`); recursion is fine.
- `format` of strings is held to, and only those in FORMATS are known. Of other types it is an annotation (`int32`).
- `oneOf` only where its branches exclude each other visibly; `pattern` without look-around and back references.
- Names that a schema does not list may repeat in an object, so `minProperties` may ask for one of them at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote, unquote

from pinfill_service.prompt.grammar.formats import FORMATS, PATTERNS

MAX_DEPTH = 48  # the compiler's own parser stops at 128 levels of JSON
MAX_VALUES = 20_000
MAX_TEXT = 400_000  # characters of all names and strings
# The automaton of `multipleOf` has a state for every remainder, that of several of them one for each combination.
MAX_REMAINDERS = 20_000
_LARGEST_COUNT = 1 << 31
_LARGEST_BOUND = float((1 << 63) - 1024)  # the largest double that is a signed 64-bit integer
_EXACT = 1 << 53

_SCHEMA = {"additionalItems", "additionalProperties"}
_SCHEMAS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_NAMED_SCHEMAS = {"$defs", "definitions", "patternProperties", "properties"}
_COUNTS = {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
_BOUNDS = {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"}
_COPIED = {"pattern", "required", "type"}
REFUSED = {
    *("$dynamicRef", "$recursiveRef", "contains", "dependencies", "dependentRequired", "dependentSchemas", "disallow"),
    *("divisibleBy", "else", "extends", "if", "maxContains", "minContains", "not", "then", "unevaluatedItems"),
    "unevaluatedProperties",
}


class SchemaError(Exception):
    """A schema that replies cannot be held to. `path` is a JSON pointer into it; `tool`: whose parameters it is."""

    code = "unsupported_schema"

    def __init__(self, path: str, reason: str, tool: str | None = None) -> None:
        whose = "The schema" if tool is None else f'The parameters of the tool "{tool}"'
        where = f'at "{path}"' if path else "at its top"
        super().__init__(f"{whose} cannot be used: {where}, {reason}")
        self.path, self.reason, self.tool = path, reason, tool


@dataclass(frozen=True, slots=True)
class CheckedSchema:
    """A schema with nothing left in it but what is compiled, and the pointers of its subschemas, outer ones first."""

    root: Any
    places: tuple[str, ...]


def check_schema(schema: Any, base: str) -> CheckedSchema:
    """`schema` ready for the compiler, its `$ref`s rewritten for a document that holds it at the pointer `base`.

    Raises SchemaError.
    """
    _check_size(schema)
    check = _Check(base)
    root = check.schema(schema, "")
    check.resolve()
    return CheckedSchema(root, tuple(check.places))


def _check_size(schema: Any) -> None:
    values, text, open_values = 0, 0, [(schema, 0)]
    while open_values:
        value, depth = open_values.pop()
        values += 1
        if depth > MAX_DEPTH:
            raise SchemaError("", f"it is nested deeper than {MAX_DEPTH} levels.")
        parts: list[Any] = []
        if isinstance(value, Mapping):
            parts = [*value.keys(), *value.values()]
        elif isinstance(value, list):
            parts = value
        elif isinstance(value, str):
            text += len(value)
        open_values += [(part, depth + 1) for part in parts]
        if values + len(open_values) > 2 * MAX_VALUES or text > MAX_TEXT:
            raise SchemaError("", f"it is too large: {MAX_VALUES} values and {MAX_TEXT} characters are the limit.")


@dataclass(slots=True)
class _Check:
    base: str
    places: dict[str, None] = field(default_factory=dict)
    references: list[tuple[str, str]] = field(default_factory=list)
    multiples: set[Decimal] = field(default_factory=set)

    def schema(self, schema: Any, path: str) -> Any:
        """A subschema without its annotations."""
        if isinstance(schema, bool):
            self.places[path] = None
            return schema
        if not isinstance(schema, Mapping):
            raise SchemaError(path, "a schema must be an object, true or false.")
        self.places[path] = None
        found: dict[str, Any] = {}
        for key, value in schema.items():
            if key in REFUSED:
                raise SchemaError(_join(path, key), f'the keyword "{key}" is not supported.')
            if (taken := self._keyword(key, value, _join(path, key), schema)) is not None:
                found |= taken
        return found

    def resolve(self) -> None:
        """Raises SchemaError for a reference that leads to no subschema."""
        for path, target in self.references:
            if target not in self.places:
                raise SchemaError(path, f'"#{target}" is no schema in this schema.')

    def _keyword(self, key: str, value: Any, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a keyword becomes; None: nothing."""
        if key in _SCHEMA:
            return {key: self.schema(value, path)}
        if key == "items":
            return {key: self._list(value, path) if isinstance(value, list) else self.schema(value, path)}
        if key in _SCHEMAS:
            return {key: self._list(value, path)}
        if key in _NAMED_SCHEMAS:
            if not isinstance(value, Mapping):
                raise SchemaError(path, "it must be an object.")
            return {key: {name: self.schema(part, _join(path, name)) for name, part in value.items()}}
        if key in _COPIED:
            return {key: value}
        if key in _COUNTS:
            return self._count(key, value, path, schema)
        if key in _BOUNDS:
            return _bound(key, value, path, schema)
        special = _SPECIAL.get(key)
        return None if special is None else special(self, value, path, schema)

    def _list(self, value: Any, path: str) -> list[Any]:
        if not isinstance(value, list):
            raise SchemaError(path, "it must be an array.")
        return [self.schema(part, f"{path}/{index}") for index, part in enumerate(value)]

    def _count(self, key: str, value: Any, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        if not _is_number(value) or value < 0 or value != int(value):
            raise SchemaError(path, "it must be an integer that is not negative.")
        if key == "minProperties":
            return _min_properties(int(value), path, schema)
        if int(value) >= _LARGEST_COUNT and key.startswith("min"):
            raise SchemaError(path, f"{value} is more than a reply can hold.")
        return None if int(value) >= _LARGEST_COUNT else {key: int(value)}

    def _reference(self, value: Any, path: str, _: Mapping[str, Any]) -> dict[str, Any]:
        target = unquote(value[1:]) if isinstance(value, str) and (value == "#" or value.startswith("#/")) else None
        if target is None:
            raise SchemaError(path, 'only references into the same schema are supported, such as "#/$defs/name".')
        self.references.append((path, target))
        return {"$ref": self.base + quote_pointer(target)}

    def _format(self, value: Any, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        types = schema.get("type", "string")
        if "string" not in (types if isinstance(types, list) else [types]):
            return None
        if not isinstance(value, str) or value not in FORMATS:
            raise SchemaError(path, f"the format is not supported; these are: {', '.join(sorted(FORMATS))}.")
        if value not in PATTERNS:
            return {"format": value}
        if "pattern" in schema:
            raise SchemaError(path, f'the format "{value}" is not supported beside a pattern; leave one of them out.')
        return {"pattern": PATTERNS[value]}

    def _multiple(self, value: Any, path: str, _: Mapping[str, Any]) -> dict[str, Any]:
        if not _is_number(value) or not 0 < value < _EXACT:
            raise SchemaError(path, "it must be a number above 0.")
        self.multiples.add(Decimal(repr(value)))
        finest = min(int(number.as_tuple().exponent) for number in self.multiples)
        remainders = math.prod(int(number.scaleb(-finest)) for number in self.multiples)
        if remainders > MAX_REMAINDERS:
            raise SchemaError(path, f"multiples of {value} take too many digits to follow.")
        return {"multipleOf": value}

    def _unique(self, value: Any, path: str, _: Mapping[str, Any]) -> None:
        if value is not False:
            raise SchemaError(path, "it is not supported: a grammar cannot compare items.")

    def _names(self, value: Any, path: str, _: Mapping[str, Any]) -> None:
        if value not in (True, {}, {"type": "string"}):
            raise SchemaError(path, "it is not supported; use patternProperties.")

    def _value(self, value: Any, path: str, _: Mapping[str, Any]) -> dict[str, Any]:
        _check_literal(value, path)
        return {"const": value}

    def _values(self, value: Any, path: str, _: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(value, list) or not value:
            raise SchemaError(path, "it must be an array with at least one value.")
        _check_literal(value, path)
        return {"enum": value}


_SPECIAL: Mapping[str, Callable[[_Check, Any, str, Mapping[str, Any]], dict[str, Any] | None]] = {
    "$ref": _Check._reference,
    "const": _Check._value,
    "enum": _Check._values,
    "format": _Check._format,
    "multipleOf": _Check._multiple,
    "propertyNames": _Check._names,
    "uniqueItems": _Check._unique,
}


def _min_properties(least: int, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    required = schema.get("required")
    listed = len({name for name in required if isinstance(name, str)}) if isinstance(required, list) else 0
    if least > listed + 1:
        raise SchemaError(path, f"at most {listed + 1} can be asked for: names that are not required may repeat.")
    return None if least <= listed else {"minProperties": least}


def _bound(key: str, value: Any, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The bound as a number that a double holds exactly, moved inwards where it has to be."""
    exclusive, upper = key.startswith("exclusive"), key.lower().endswith("maximum")
    if exclusive and isinstance(value, bool):  # draft 4: a remark about the other keyword
        value = schema.get("maximum" if upper else "minimum") if value else None
        if value is None:
            return None
    if not _is_number(value):
        raise SchemaError(path, "it must be a number.")
    inwards = -math.inf if upper else math.inf
    if abs(value) >= _LARGEST_BOUND:
        if (value > 0) != upper:
            raise SchemaError(path, f"{value} is beyond the numbers that are supported.")
        nearest = math.copysign(_LARGEST_BOUND, value)
    else:
        nearest = float(value)
        beyond = nearest > value if upper else nearest < value
        if beyond or (exclusive and abs(value) > _EXACT):
            nearest = math.nextafter(nearest, inwards)
    return {key: int(nearest) if nearest.is_integer() else nearest}


def _check_literal(value: Any, path: str) -> None:
    if isinstance(value, Mapping):
        for name, part in value.items():
            _check_literal(part, _join(path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            _check_literal(part, f"{path}/{index}")
    elif (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and not (_is_number(value) and abs(value) <= _EXACT)
    ):
        raise SchemaError(path, f"{value} is beyond the numbers that are exact: write it as a string.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def quote_pointer(pointer: str) -> str:
    """A JSON pointer as part of a URI fragment."""
    return quote(pointer, safe="/~", errors="surrogatepass")


def _join(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
