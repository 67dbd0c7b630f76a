"""Checks a JSON schema before it is compiled: what a grammar cannot hold a reply to is refused, with its place.

A reply under the grammar is valid under the schema, always; the grammar may be narrower (properties come in the order
of the schema, numbers that 64 bits cannot hold do not come up). Where that cannot be had, the schema is refused:

- Keywords: the sets below name what is compiled, what has no meaning for validation, and what is refused. Keywords that
  no draft of JSON Schema defines are annotations, as the specification says.
- `$ref` leads to a place in the same schema, as a JSON pointer (`#/$defs/x`); recursion is fine.
- `format` of strings is held to, and only those in FORMATS are known. Of other types it is an annotation (`int32`).
- `oneOf` only where its branches exclude each other visibly; `pattern` without look-around and back references.
- Names that a schema does not list may repeat in an object, so `minProperties` may ask for one of them at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from typing import Any
from urllib.parse import quote, unquote

from pinfill_service.prompt.grammar.apart import Apartness, types_of
from pinfill_service.prompt.grammar.errors import SchemaError
from pinfill_service.prompt.grammar.finite import first_endless, join
from pinfill_service.prompt.grammar.formats import FORMATS, PATTERNS
from pinfill_service.prompt.grammar.numbers import EXACT, add_bounds, check_literal, exact_bound, is_number, remainders

MAX_DEPTH = 48  # the compiler's own parser stops at 128 levels of JSON
MAX_LEVELS = 96  # of subschemas, references followed: the compiler's stack grows with them, and it does not look
MAX_VALUES = 10_000
MAX_TEXT = 200_000  # characters of all names and strings
MAX_MEMBERS = 500  # properties of an object, branches of a choice: the compiler's time grows with the square
MAX_PATTERNS = 24  # of names, in the whole schema: each may be compared with each
# The automaton of `multipleOf` has a state for every remainder, that of several of them one for each combination.
MAX_REMAINDERS = 20_000
_LARGEST_COUNT = 1 << 31

_SCHEMA = {"additionalItems", "additionalProperties"}
_SCHEMAS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_DEFINITIONS = {"$defs", "definitions"}
_NAMED_SCHEMAS = {*_DEFINITIONS, "patternProperties", "properties"}
_COUNTS = {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
_BOUNDS = {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"}
_COPIED = {"pattern", "type"}
REFUSED = {
    *("$dynamicRef", "$recursiveRef", "contains", "dependencies", "dependentRequired", "dependentSchemas", "disallow"),
    *("divisibleBy", "else", "extends", "if", "maxContains", "minContains", "not", "then", "unevaluatedItems"),
    "unevaluatedProperties",
}


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
    check.references_lead_somewhere()
    check.branches_exclude_each_other()
    check.levels(root, "", 0, set())
    if (endless := first_endless(check.places, check.target)) is not None:
        raise SchemaError(endless, "no finite value can be valid: it always refers to itself.")
    check.put_patterns_behind_references(root)
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
    places: dict[str, Any] = field(default_factory=dict)
    references: list[tuple[str, str]] = field(default_factory=list)
    multiples: set[Decimal] = field(default_factory=set)
    patterns: int = 0

    def schema(self, schema: Any, path: str) -> Any:
        """A subschema without its annotations."""
        if isinstance(schema, bool):
            self.places[path] = schema
            return schema
        if not isinstance(schema, Mapping):
            raise SchemaError(path, "a schema must be an object, true or false.")
        found: dict[str, Any] = {}
        self.places[path] = found
        for key, value in schema.items():
            if key in REFUSED:
                raise SchemaError(join(path, key), f'the keyword "{key}" is not supported.')
            if (taken := self._keyword(key, value, join(path, key), schema)) is not None:
                found |= taken
        add_bounds(found)
        return found

    def references_lead_somewhere(self) -> None:
        for path, target in self.references:
            if target not in self.places:
                raise SchemaError(path, f'"#{target}" is no schema in this schema.')

    def levels(self, schema: Any, path: str, level: int, seen: set[str]) -> None:
        """Goes through the schema as the compiler does, which follows every reference once, where it meets it first."""
        if level > MAX_LEVELS:
            raise SchemaError(path, f"it is nested deeper than {MAX_LEVELS} levels, references included.")
        if isinstance(schema, bool):
            return
        if "$ref" in schema and (target := self.target(schema["$ref"])) not in seen:
            seen.add(target)
            self.levels(self.places[target], target, level + 1, seen)
        for inner, part in _parts(schema, path):
            self.levels(part, inner, level + 1, seen)

    def put_patterns_behind_references(self, root: Any) -> None:
        """Subschemas of `patternProperties` move to the definitions.

        The compiler drops a pattern whose subschema nothing satisfies, and then allows names that match it; behind a
        reference it refuses what nothing satisfies.
        """
        found = [schema for schema in self.places.values() if isinstance(schema, Mapping)]
        hidden: dict[str, Any] = {}
        prefix = "pattern"
        while any(name.startswith(prefix) for name in (root.get("$defs", {}) if found else ())):
            prefix += "_"
        for schema in found:
            for pattern, part in schema.get("patternProperties", {}).items():
                name = f"{prefix} {len(hidden)}"
                hidden[name] = part
                schema["patternProperties"][pattern] = {"$ref": self.base + quote_pointer(join("/$defs", name))}
        if hidden:
            root["$defs"] = root.get("$defs", {}) | hidden

    def target(self, reference: str) -> str:
        """The pointer that a rewritten reference leads to."""
        return unquote(reference.removeprefix(self.base))

    def branches_exclude_each_other(self) -> None:
        """`oneOf` is compiled as `anyOf`, which is the same where no value is valid for two branches."""
        compare = Apartness(lambda reference: self.places[self.target(reference)])
        for path, schema in self.places.items():
            branches = schema.get("oneOf", ()) if isinstance(schema, Mapping) else ()
            for (first, one), (second, other) in combinations(enumerate(branches), 2):
                if not compare.apart(one, other, types_of(schema)):
                    raise SchemaError(f"{path}/oneOf", f"branches {first} and {second} may both be valid: use anyOf.")

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
            if key == "patternProperties":
                self.patterns += len(value)
                _check_members(self.patterns, path, MAX_PATTERNS)
            elif key == "properties":
                _check_members(len(value), path)
            return {key: {name: self.schema(part, join(path, name)) for name, part in value.items()}}
        if key in _COPIED:
            return {key: value}
        if key in _COUNTS:
            return self._count(key, value, path, schema)
        if key in _BOUNDS:
            return exact_bound(key, value, path, schema)
        special = _SPECIAL.get(key)
        return None if special is None else special(self, value, path, schema)

    def _list(self, value: Any, path: str) -> list[Any]:
        if not isinstance(value, list):
            raise SchemaError(path, "it must be an array.")
        _check_members(len(value), path)
        return [self.schema(part, f"{path}/{index}") for index, part in enumerate(value)]

    def _count(self, key: str, value: Any, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        if not is_number(value) or value < 0 or value != int(value):
            raise SchemaError(path, "it must be an integer that is not negative.")
        if key == "minProperties":
            return _min_properties(int(value), path, schema)
        if int(value) >= _LARGEST_COUNT and key.startswith("min"):
            raise SchemaError(path, "the number is more than a reply can hold.")
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
        if not is_number(value) or not 0 < value < EXACT:
            raise SchemaError(path, "it must be a number above 0.")
        self.multiples.add(Decimal(repr(value)))
        if remainders(self.multiples) > MAX_REMAINDERS:
            raise SchemaError(path, f"multiples of {value} take too many digits to follow.")
        return {"multipleOf": value}

    def _required(self, value: Any, path: str, _: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise SchemaError(path, "it must be an array of names.")
        return {"required": value}

    def _unique(self, value: Any, path: str, _: Mapping[str, Any]) -> None:
        if value is not False:
            raise SchemaError(path, "it is not supported: a grammar cannot compare items.")

    def _names(self, value: Any, path: str, _: Mapping[str, Any]) -> None:
        if value not in (True, {}, {"type": "string"}):
            raise SchemaError(path, "it is not supported; use patternProperties.")

    def _value(self, value: Any, path: str, _: Mapping[str, Any]) -> dict[str, Any]:
        check_literal(value, path)
        return {"const": value}

    def _values(self, value: Any, path: str, _: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(value, list) or not value:
            raise SchemaError(path, "it must be an array with at least one value.")
        _check_members(sum(isinstance(choice, list | Mapping) for choice in value), path)
        check_literal(value, path)
        return {"enum": value}


_SPECIAL: Mapping[str, Callable[[_Check, Any, str, Mapping[str, Any]], dict[str, Any] | None]] = {
    "$ref": _Check._reference,
    "const": _Check._value,
    "enum": _Check._values,
    "format": _Check._format,
    "multipleOf": _Check._multiple,
    "propertyNames": _Check._names,
    "required": _Check._required,
    "uniqueItems": _Check._unique,
}


def _parts(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """The subschemas of a checked schema, without definitions."""
    for key, value in schema.items():
        if key in _NAMED_SCHEMAS - _DEFINITIONS:
            yield from ((join(f"{path}/{key}", name), part) for name, part in value.items())
        elif key in _SCHEMAS or (key == "items" and isinstance(value, list)):
            yield from ((f"{path}/{key}/{index}", part) for index, part in enumerate(value))
        elif key in _SCHEMA or key == "items":
            yield f"{path}/{key}", value


def _check_members(count: int, path: str, limit: int = MAX_MEMBERS) -> None:
    if count > limit:
        raise SchemaError(path, f"it has {count} members, and {limit} are the limit.")


def _min_properties(least: int, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    required = schema.get("required")
    listed = len({name for name in required if isinstance(name, str)}) if isinstance(required, list) else 0
    if least > listed + 1:
        raise SchemaError(path, f"at most {listed + 1} can be asked for: names that are not required may repeat.")
    return None if least <= listed else {"minProperties": least}


def quote_pointer(pointer: str) -> str:
    """A JSON pointer as part of a URI fragment."""
    return quote(pointer, safe="/~", errors="surrogatepass")
