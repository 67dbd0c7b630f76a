"""Numbers in schemas: only those that a double holds exactly reach the compiler, which computes with doubles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from pinfill_service.prompt.grammar.errors import SchemaError
from pinfill_service.prompt.grammar.finite import join

EXACT = 1 << 53
LARGEST_BOUND = float((1 << 63) - 1024)  # the largest double that is a signed 64-bit integer


def exact_bound(key: str, value: Any, path: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The bound as a number that a double holds exactly, moved inwards where it has to be."""
    exclusive, upper = key.startswith("exclusive"), key.lower().endswith("maximum")
    if exclusive and isinstance(value, bool):  # draft 4: a remark about the other keyword
        value = schema.get("maximum" if upper else "minimum") if value else None
        if value is None:
            return None
    if not is_number(value):
        raise SchemaError(path, "it must be a number.")
    inwards = -math.inf if upper else math.inf
    if abs(value) >= LARGEST_BOUND:
        if (value > 0) != upper:
            raise SchemaError(path, "the number is beyond those that are supported.")
        nearest = LARGEST_BOUND if upper else -LARGEST_BOUND
    else:
        nearest = float(value)
        beyond = nearest > value if upper else nearest < value
        if beyond or (exclusive and abs(value) > EXACT):
            nearest = math.nextafter(nearest, inwards)
    return {key: int(nearest) if nearest.is_integer() else nearest}


def add_bounds(schema: dict[str, Any]) -> None:
    """Numbers that programs can hold, also where the schema says nothing: no 400 digits and no exponent of 999."""
    types = schema.get("type")
    if {"integer", "number"}.isdisjoint(types if isinstance(types, list) else [str(types)]):
        return
    if "minimum" not in schema and "exclusiveMinimum" not in schema:
        schema["minimum"] = -int(LARGEST_BOUND)
    if "maximum" not in schema and "exclusiveMaximum" not in schema:
        schema["maximum"] = int(LARGEST_BOUND)


def check_literal(value: Any, path: str) -> None:
    """Raises SchemaError for a value with a number in it that would not come out as it is written."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            check_literal(part, join(path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            check_literal(part, f"{path}/{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise SchemaError(path, "it is no number that JSON has.")
    elif is_number(value) and abs(value) > EXACT:
        raise SchemaError(path, "the number is too large to be exact: write it as a string.")


def remainders(multiples: Iterable[Decimal]) -> int:
    """How many combinations of remainders there are when a number is divided by all of these, digit by digit."""
    numbers = list(multiples)
    finest = min(int(number.as_tuple().exponent) for number in numbers)
    return math.prod(int(number.scaleb(-finest)) for number in numbers)


def is_number(value: Any) -> bool:
    """Whether it is a number that JSON has."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
