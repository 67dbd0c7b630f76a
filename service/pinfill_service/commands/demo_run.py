"""What `pinfill demo` measures: ratings of short essays against one long rubric, without and with the cache."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinfill_service.commands.client import Answer, MeasuringClient
from pinfill_service.resources import resource

MAX_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Essay:
    """A short text to rate."""

    title: str
    text: str

    def question(self) -> str:
        return f"{self.title}\n\n{self.text}"


@dataclass(frozen=True, slots=True)
class Row:
    """One rating: with the cache, and (for the first few) without it."""

    number: int
    warm: Answer
    cold: Answer | None

    @property
    def equal(self) -> bool:
        """Whether both answers have the same text; true when there is only one."""
        return self.cold is None or self.cold.text == self.warm.text


@dataclass(frozen=True, slots=True)
class Totals:
    """Seconds over all ratings. With fewer cold requests than ratings, the cold ones are their mean, multiplied.

    `warm_ttft` is the median of the ratings that found the rubric in the cache: all but the first. `cold_ttft` is the
    median of the cold requests.
    """

    requests: int
    cold_requests: int
    cold_seconds: float
    warm_seconds: float
    saved_seconds: float
    cold_ttft: float
    warm_ttft: float
    equal: bool


def load_essays() -> list[Essay]:
    """The sample essays. Raises ResourceMissingError."""
    return [Essay(**each) for each in json.loads(resource("samples/essays.json").read_text(encoding="utf-8"))]


def load_rubric(client: MeasuringClient, tokens: int | None) -> str:
    """The sample rubric, cut or repeated to a number of tokens when one is given.

    Raises ResourceMissingError or ServiceError.
    """
    rubric = resource("samples/essay-rubric.md").read_text(encoding="utf-8").strip()
    if tokens is None:
        return rubric
    ids = client.tokenize(rubric + "\n\n")
    return client.detokenize((ids * (tokens // len(ids) + 1))[:tokens])


def rate(client: MeasuringClient, rubric: str, essays: Sequence[Essay], requests: int, cold: int) -> Iterator[Row]:
    """Asks for one rating after the other, the first `cold` of them also without the cache. Raises ServiceError."""
    for number in range(1, requests + 1):
        question = essays[(number - 1) % len(essays)].question()
        without = client.chat(rubric, question, max_tokens=MAX_TOKENS, cache_prompt=False) if number <= cold else None
        yield Row(number, client.chat(rubric, question, max_tokens=MAX_TOKENS, cache_prompt=True), without)


def saved_seconds(row: Row, cold_ttft: float) -> float:
    """What the cache saved in one rating: its own cold time to the first token, or the given one, less the warm."""
    return (row.cold.ttft_seconds if row.cold else cold_ttft) - row.warm.ttft_seconds


def cold_ttft(rows: Sequence[Row]) -> float:
    """The median time to the first token of the cold requests so far; there must be one."""
    return statistics.median(row.cold.ttft_seconds for row in rows if row.cold)


def total(rows: Sequence[Row]) -> Totals:
    """The sums. There must be a row with a cold answer."""
    cold = [row.cold for row in rows if row.cold]
    usual = cold_ttft(rows)
    return Totals(
        requests=len(rows),
        cold_requests=len(cold),
        cold_seconds=statistics.mean(answer.total_seconds for answer in cold) * len(rows),
        warm_seconds=sum(row.warm.total_seconds for row in rows),
        saved_seconds=sum(saved_seconds(row, usual) for row in rows[1:]),
        cold_ttft=usual,
        warm_ttft=statistics.median(row.warm.ttft_seconds for row in (rows[1:] or rows)),
        equal=all(row.equal for row in rows),
    )
