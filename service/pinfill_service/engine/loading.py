"""Puts a model folder, its slots and the engine thread together."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import psutil

from pinfill_service.engine.interface import ModelInfo
from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import fingerprint, read_layout
from pinfill_service.engine.scheduler import OnnxEngine
from pinfill_service.engine.session import DecoderSession
from pinfill_service.engine.worker import Worker
from pinfill_service.settings import Settings

log = logging.getLogger(__name__)


def load_engine(folder: Path, name: str, settings: Settings) -> OnnxEngine:
    """Loads a model folder and starts its engine. Raises LayoutError, RuntimeMissingError or KvMemoryError."""
    layout = read_layout(folder)
    context = min(layout.context_length, settings.context_length or layout.context_length)
    session = DecoderSession(layout, settings.threads)
    bytes_per_token = sum(tensor.bytes_per_token for tensor in session.tensors)
    kv = KvSlots(session.tensors, affordable_slots(settings.slots, context * bytes_per_token), context)
    session.attach(kv)
    model = ModelInfo(
        name=name,
        fingerprint=fingerprint(folder),
        context_length=context,
        vocab_size=layout.vocab_size,
        kv_bytes_per_token=bytes_per_token,
        provider="CPUExecutionProvider",
        provider_note="CPU: running on an NPU is not yet verified on hardware",
    )
    worker = Worker(
        session,
        kv,
        context_length=context,
        budget_bytes=settings.memory_budget_mib << 20,
        chunk_tokens=settings.chunk_tokens,
        clock=time.monotonic,
    )
    return OnnxEngine(model, worker, queue_limit=settings.queue_limit)


def affordable_slots(wanted: int, slot_bytes: int) -> int:
    """`wanted` slots, or as many as half of the machine's memory could hold if all were full; at least one."""
    affordable = max(1, int(psutil.virtual_memory().total // 2) // slot_bytes)
    if affordable < wanted:
        log.warning("%d slots instead of %d: each may need %d MiB", affordable, wanted, slot_bytes >> 20)
    return min(wanted, affordable)
