"""/pinfill/v1/status: the service as a whole."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter

from fastapi import APIRouter

from pinfill_service import __version__
from pinfill_service.api.context import Application, ApplicationDep
from pinfill_service.api.schemas.manage import (
    API_VERSION,
    Activity,
    DiskUse,
    LoadedModel,
    MemoryUse,
    Problem,
    Status,
)
from pinfill_service.engine.interface import DiskState, EngineStats, ModelInfo

_SHORT_OF_MEMORY = (
    "The system is short of memory, so less than the budget is cached until there is more. Close other programs, or "
    "give cached prefixes less (Settings in the window, memory_budget_mib in settings.toml)."
)

router = APIRouter(prefix="/pinfill/v1", tags=["status"])


@router.get("/status")
async def status(application: ApplicationDep) -> Status:
    """What runs, what it holds, and what is wrong."""
    return await asyncio.to_thread(_status, application)


def _status(application: Application) -> Status:
    loaded, kept, now = application.models.current, application.kept, time.time()
    stats = loaded.engine.stats() if loaded is not None else None
    problems = [] if kept is None else kept.problems()
    disk: DiskState | None = None
    try:
        disk = loaded.engine.prefixes.disk() if loaded is not None else None
    except OSError as error:
        problems.append(
            Problem(kind="disk", message=f"The folder of cached prefixes cannot be read: {error.strerror}.")
        )
    if disk is not None:
        problems += [Problem(kind="file_set_aside", message=sentence) for sentence in disk.set_aside]
    if stats is not None and stats.short_of_memory:
        problems.append(Problem(kind="memory", message=_SHORT_OF_MEMORY))
    problem = application.models.problem
    if problem is not None:
        problems.append(Problem(kind="model", message=problem.message, missing_model=problem.missing))
    return Status(
        version=__version__,
        api_version=API_VERSION,
        pid=os.getpid(),
        started=application.started,
        uptime_seconds=max(0.0, now - application.started),
        model=_model(loaded.engine.model) if loaded is not None else None,
        model_state=application.models.state,
        activity=_activity(stats) if stats is not None else None,
        memory=_memory(stats) if stats is not None else None,
        disk=DiskUse(
            used_bytes=disk.used_bytes if disk is not None else 0,
            budget_bytes=disk.budget_bytes if disk is not None else 0,
        ),
        pins=dict(Counter(pin.state for pin in kept.pins.all())) if kept is not None else {},
        saved_seconds_today=kept.savings(1).total.saved_seconds if kept is not None else 0.0,
        problems=problems,
    )


def _model(info: ModelInfo) -> LoadedModel:
    return LoadedModel(
        name=info.name,
        fingerprint=info.fingerprint,
        context_length=info.context_length,
        vocab_size=info.vocab_size,
        kv_bytes_per_token=info.kv_bytes_per_token,
        provider=info.provider,
        provider_note=info.provider_note,
    )


def _activity(stats: EngineStats) -> Activity:
    return Activity(
        running=stats.running,
        waiting=stats.waiting,
        slots=stats.slots,
        entries=stats.entries,
        prompt_tokens_cached=stats.prompt_tokens_cached_total,
        prompt_tokens_processed=stats.prompt_tokens_processed_total,
        generated_tokens=stats.generated_tokens_total,
        prefill_tokens_per_second=_rate(stats.prompt_tokens_processed_total, stats.prefill_seconds_total),
        decode_tokens_per_second=_rate(stats.generated_tokens_total, stats.decode_seconds_total),
        saved_seconds=stats.saved_seconds_total,
        evictions=stats.evictions_total,
    )


def _memory(stats: EngineStats) -> MemoryUse:
    return MemoryUse(
        pinned_bytes=stats.protected_bytes,
        cached_bytes=stats.evictable_bytes,
        used_bytes=stats.total_bytes,
        free_bytes=max(0, stats.budget_bytes - stats.protected_bytes - stats.evictable_bytes),
        budget_bytes=stats.budget_bytes,
    )


def _rate(count: int, seconds: float) -> float | None:
    return count / seconds if seconds else None
