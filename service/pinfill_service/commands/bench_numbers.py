"""From samples to numbers: metrics of one server, medians, and ratios between two."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pinfill_service.commands.bench_run import Samples
from pinfill_service.commands.client import Answer


@dataclass(frozen=True, slots=True)
class Metric:
    """A row of the result. `values` gives one number a round, None where a server does not tell."""

    name: str
    title: str
    unit: str
    values: Callable[[Samples], list[float | None]]
    statistic: Callable[[Sequence[float]], float] = statistics.median


def percentile_90(values: Sequence[float]) -> float:
    """The 90th percentile, interpolated between samples."""
    return values[0] if len(values) == 1 else statistics.quantiles(values, n=10, method="inclusive")[-1]


def decode_rate(answer: Answer) -> float | None:
    """Tokens a second after the first one; None for a single token."""
    seconds = answer.total_seconds - answer.ttft_seconds
    return (answer.generated_tokens - 1) / seconds if answer.generated_tokens > 1 and seconds > 0 else None


METRICS = (
    Metric(
        "cold_prefill_tokens_per_second",
        "cold prefill",
        "tok/s",
        lambda samples: [_ratio(a.processed_tokens, a.ttft_seconds) for a in samples.cold],
    ),
    Metric("cold_ttft_ms", "cold TTFT", "ms", lambda samples: [1000 * a.ttft_seconds for a in samples.cold]),
    Metric("warm_ttft_ms", "warm TTFT", "ms", lambda samples: [1000 * a.ttft_seconds for a in samples.warm]),
    Metric(
        "warm_ttft_p90_ms",
        "warm TTFT, 90th percentile",
        "ms",
        lambda samples: [1000 * a.ttft_seconds for a in samples.warm],
        percentile_90,
    ),
    Metric("warm_prefill_ms", "warm prefill, server's own", "ms", lambda samples: [a.prefill_ms for a in samples.warm]),
    Metric(
        "warm_ttft_over_prefill",
        "warm TTFT / server's own prefill",
        "x",
        lambda samples: [_ratio(1000 * a.ttft_seconds, a.prefill_ms) for a in samples.warm],
    ),
    Metric("warm_cached_tokens", "warm, cached", "tok", lambda samples: [a.cached_tokens for a in samples.warm]),
    Metric("warm_processed_tokens", "warm, processed", "tok", lambda s: [a.processed_tokens for a in s.warm]),
    Metric(
        "decode_tokens_per_second",
        "decode after the prefix",
        "tok/s",
        lambda samples: [decode_rate(a) for a in samples.decode],
    ),
    Metric(
        "requests_per_second",
        "throughput",
        "req/s",
        lambda samples: [_ratio(len(batch.answers), batch.seconds) for batch in samples.batches],
    ),
)


def summarise(samples: Samples) -> dict[str, float | None]:
    """Each metric's median (or percentile) over the rounds; None where a server does not tell."""
    return {metric.name: _statistic(metric, metric.values(samples)) for metric in METRICS}


def compare(ours: Samples, theirs: Samples) -> dict[str, float | None]:
    """Each metric's ratio ours / theirs: the median over the rounds, each against the other server's same round.

    A noisy stretch of time hits both servers of a round, so this is steadier than a ratio of medians. Percentiles are
    compared as they are.
    """
    ratios: dict[str, float | None] = {}
    for metric in METRICS:
        mine, other = metric.values(ours), metric.values(theirs)
        if metric.statistic is statistics.median:
            ratios[metric.name] = _statistic(metric, [_ratio(a, b) for a, b in zip(mine, other, strict=True)])
        else:
            ratios[metric.name] = _ratio(_statistic(metric, mine), _statistic(metric, other))
    return ratios


@dataclass(frozen=True, slots=True)
class Savings:
    """Seconds that reuse saved in the warm requests: as the ledger counts, and as the client's clock says."""

    requests: int
    ledger_seconds: float
    measured_seconds: float

    @property
    def ratio(self) -> float | None:
        """Ledger / measured; None where nothing was saved."""
        return _ratio(self.ledger_seconds, max(0.0, self.measured_seconds))


def savings(samples: Samples) -> Savings | None:
    """What each warm request took less than the median cold one, added up; None for a server that keeps no ledger."""
    if samples.ledger_seconds is None:
        return None
    cold = statistics.median(answer.ttft_seconds for answer in samples.cold)
    measured = sum(cold - answer.ttft_seconds for answer in samples.warm)
    return Savings(len(samples.warm), samples.ledger_seconds, measured)


def raw(samples: Samples) -> Mapping[str, list[float | None]]:
    """Each metric's numbers, round by round."""
    return {metric.name: metric.values(samples) for metric in METRICS}


def _statistic(metric: Metric, values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(metric.statistic(known)) if known else None


def _ratio(value: float | None, by: float | None) -> float | None:
    return value / by if value is not None and by else None
