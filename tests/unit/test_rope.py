"""RoPE tables: what rows computed from two small tables are worth at any position."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.models.rope import Rope, cos_sin, plain_divisors, step_tables

CONTEXT, STEP = 131_072, 256
LONG = plain_divisors(64, 10_000.0) * np.linspace(1, 60, 32)
ROPE = Rope(plain_divisors(64, 1_000_000.0), 1.19, LONG, 4096)
TABLES = tuple(table.astype(np.float32) for table in step_tables(ROPE, CONTEXT, STEP))


@settings(max_examples=200, deadline=None)
@given(position=st.integers(0, CONTEXT - 1), variant=st.sampled_from([0, 1]))
def test_a_row_from_two_tables_is_the_row_itself(position: int, variant: int) -> None:
    coarse, fine = position // STEP + variant * (CONTEXT // STEP), position % STEP + variant * STEP
    first, second, third, fourth = TABLES
    row = first[coarse] * second[fine] + third[coarse] * fourth[fine]
    cos, sin = cos_sin(ROPE.variants[variant], np.array([position]), ROPE.factor)
    np.testing.assert_allclose(row, np.concatenate([cos[0], sin[0]]), atol=3e-7)


@pytest.mark.parametrize("context", [1, 255, 256, 257])
def test_the_tables_cover_the_context(context: int) -> None:
    coarse, fine, *_ = step_tables(ROPE, context, STEP)
    assert len(coarse) == 2 * -(-context // STEP) and len(fine) == 2 * STEP
