"""Numbers and their units, in this person's way of writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QLocale

from pinfill_app import units


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("show", "value", "expected"),
    [
        (units.tokens, 1_880, "1,880 tokens"),
        (units.tokens, 1, "1 token"),
        (units.size, 12, "12 bytes"),
        (units.size, 999_499, "999 kB"),
        (units.size, 999_500, "1.0 MB"),
        (units.size, 87_200_000, "87 MB"),
        (units.size, 1_400_000_000, "1.4 GB"),
        (units.duration, 0, "0 s"),
        (units.duration, 0.034, "0.03 s"),
        (units.duration, 0.4, "0.4 s"),
        (units.duration, 59.4, "59 s"),
        (units.duration, 482, "8 min 2 s"),
        (units.duration, 3_599.7, "1 h 0 min"),
        (units.duration, 11_530, "3 h 12 min"),
        (units.rough_duration, 1_260, "21 min"),
        (units.rough_duration, 4.12, "4.1 s"),
        (units.rough_duration, 3_599, "1 h 0 min"),
        (units.ago, 30, "now"),
        (units.ago, 120, "2 min"),
        (units.ago, 200_000, "2 d"),
        (units.rate, 620.4, "620 tokens/s"),
        (units.rate, 8.24, "8.2 tokens/s"),
        (units.percent, 0.999, "99 %"),
    ],
)
def test_numbers_have_their_units(show: Callable[[Any], str], value: float, expected: str) -> None:
    assert show(value) == expected


def test_numbers_are_written_as_the_locale_writes_them() -> None:
    QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
    assert units.tokens(1_880) == "1.880 tokens" and units.duration(0.4) == "0,4 s"
