"""JSON values in one form, so that equal ones render to equal text whatever a client made of them on the way.

Clients re-serialise what they echo: compact or spaced, 1.0 as 1, 1e3 as 1000. The order of keys is kept: it is the one
the model was shown or wrote itself, and the clients measured keep it too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 64  # of objects and arrays in each other; real schemas and arguments stay below 20
_EXACT = 1 << 53  # up to here every whole number is its own double


class NestingError(ValueError):
    """JSON is nested deeper than MAX_DEPTH; the message is one sentence."""

    def __init__(self) -> None:
        super().__init__(f"JSON may be nested {MAX_DEPTH} levels deep, not more.")


def canonical(value: Any, depth: int = MAX_DEPTH) -> Any:
    """The value with whole numbers as integers, and null for what is no number (as JavaScript writes it).

    Raises NestingError.
    """
    if isinstance(value, Mapping | list | tuple):
        if depth == 0:
            raise NestingError
        if isinstance(value, Mapping):
            return {str(key): canonical(item, depth - 1) for key, item in value.items()}
        return [canonical(item, depth - 1) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) <= _EXACT else value
    return value


def dump(value: Any) -> str:
    """JSON as templates write it with `tojson`, which is how models see it in training."""
    return json.dumps(value, ensure_ascii=False)


def canonical_object(text: str) -> dict[str, Any] | None:
    """The JSON object a text holds; None when it holds something else. Raises NestingError."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise NestingError from None
    except ValueError:
        return None
    return canonical(value) if isinstance(value, dict) else None
