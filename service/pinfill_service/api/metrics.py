"""`/metrics`: the engine's counters for Prometheus, read when asked."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response

from pinfill_service.api.context import ServiceDep
from pinfill_service.engine.interface import Engine

router = APIRouter()

_GAUGES = {
    "running": "Sequences being generated",
    "waiting": "Requests in the queue",
    "slots": "Sequences that can run at once",
    "entries": "Cached prefixes",
    "cached_tokens": "Tokens whose KV is cached",
    "total_bytes": "Bytes of cached KV",
    "protected_bytes": "Bytes of KV that is pinned or in use",
    "evictable_bytes": "Bytes of KV that may be evicted",
    "unused_bytes": "Bytes that held KV and wait for the next",
    "budget_bytes": "Bytes of KV that may be kept",
}
_COUNTERS = {
    "prompt_tokens_cached_total": "Prompt tokens whose KV was reused",
    "prompt_tokens_processed_total": "Prompt tokens that were evaluated",
    "generated_tokens_total": "Generated tokens",
    "prefill_seconds_total": "Seconds of prefill",
    "decode_seconds_total": "Seconds of decode",
    "saved_seconds_total": "Seconds of prefill saved by reuse",
    "evictions_total": "Evicted prefixes",
    "mismatches_total": "Recorded and real KV length disagreed; each was turned into a miss",
}


class EngineCollector(Collector):
    """One consistent look at the engine for each scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        stats, model = self._engine.stats(), self._engine.model
        yield InfoMetricFamily("pinfill_model", "The loaded model", {"name": model.name, "provider": model.provider})
        for name, text in _GAUGES.items():
            yield GaugeMetricFamily(f"pinfill_{name}", text, getattr(stats, name))
        for name, text in _COUNTERS.items():
            yield CounterMetricFamily(f"pinfill_{name}", text, getattr(stats, name))


@router.get("/metrics", response_class=Response)
async def metrics(service: ServiceDep) -> Response:
    """The engine's counters in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(EngineCollector(service.engine))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
