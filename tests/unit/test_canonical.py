"""Equal JSON values are written alike, whatever wrote them before."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.prompt.canonical import MAX_DEPTH, NestingError, canonical, canonical_object, dump

SCALARS = st.none() | st.booleans() | st.integers(-(1 << 53), 1 << 53) | st.floats() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def as_javascript(value: Any) -> Any:
    """What JSON.stringify makes of a value: whole numbers have no point, and what is no number is null."""
    if isinstance(value, float):
        return None if not math.isfinite(value) else int(value) if value.is_integer() and abs(value) < 1e21 else value
    if isinstance(value, dict):
        return {key: as_javascript(item) for key, item in value.items()}
    return [as_javascript(item) for item in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 2]), st.booleans())
def test_what_a_client_re_serialises_is_the_same_text(
    value: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    once = canonical(value)
    echoed = json.dumps(as_javascript(value), indent=indent, ensure_ascii=ascii_only)
    found = canonical_object(echoed)
    if all(abs(number) <= 1 << 53 for number in _numbers(value)):
        assert found is not None and dump(found) == dump(once)
    assert dump(canonical(once)) == dump(once)


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [number for part in parts for number in _numbers(part)]
    return [value] if isinstance(value, float) and math.isfinite(value) else []


def test_the_order_of_keys_stays() -> None:
    assert dump(canonical({"b": 1.0, "a": [{"d": -0.0, "c": 1e3}]})) == '{"b": 1, "a": [{"d": 0, "c": 1000}]}'


@pytest.mark.parametrize("text", ["", "[1]", "1", "null", '"a"', "{", '{"a": }', "{'a': 1}"])
def test_what_is_no_object_is_none(text: str) -> None:
    assert canonical_object(text) is None


def test_depth_is_limited() -> None:
    def nested(depth: int) -> str:
        return '{"a":' * depth + "1" + "}" * depth

    assert canonical_object(nested(MAX_DEPTH)) is not None
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(NestingError):
            canonical_object(nested(depth))
