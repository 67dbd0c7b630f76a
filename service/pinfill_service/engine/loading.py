"""Puts a model folder, its slots and the engine thread together."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil

from pinfill_service.cache.kv_file import Identity
from pinfill_service.cache.kv_folder import KvFolder
from pinfill_service.cache.system_memory import spare_bytes
from pinfill_service.engine.interface import ModelInfo
from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import GENAI_CONFIG, ModelLayout, fingerprint, read_layout
from pinfill_service.engine.layout_files import ModelFolder
from pinfill_service.engine.persistence import Persistence
from pinfill_service.engine.processor import processor
from pinfill_service.engine.provider_choice import ProviderChoice, choose_provider
from pinfill_service.engine.provider_folder import ryzenai_options
from pinfill_service.engine.provider_libraries import survey
from pinfill_service.engine.providers import load_onnxruntime
from pinfill_service.engine.scheduler import OnnxEngine
from pinfill_service.engine.session import DecoderSession
from pinfill_service.engine.worker import Worker
from pinfill_service.settings import Settings, home

log = logging.getLogger(__name__)

_INEXACT = "this model rounds each chunk of a prompt by its largest value: reuse could change an answer"


def load_engine(folder: Path, name: str, settings: Settings, dtype: str | None = None) -> OnnxEngine:
    """Loads a model folder and starts its engine. `dtype` chooses among a folder's graphs, see `read_layout`.

    Raises LayoutError, RuntimeMissingError, ProviderError or KvMemoryError.
    """
    layout = read_layout(folder, dtype=dtype)
    session = DecoderSession(layout, settings.threads, _choose_provider(layout, settings))
    context = _context_length(layout, settings)
    bytes_per_token = sum(tensor.bytes_per_token for tensor in session.tensors)
    slots = affordable_slots(settings.slots, context * bytes_per_token)
    kv = KvSlots(session.tensors, slots, context, session.states)
    session.attach(kv)
    session.save_rows()
    model = ModelInfo(
        name=name,
        fingerprint=fingerprint(folder),
        context_length=context,
        vocab_size=layout.vocab_size,
        kv_bytes_per_token=bytes_per_token,
        provider=session.report.provider,
        provider_note=session.report.sentence,
        runtime=f"{_runtime(session.report.provider)}, {settings.threads} threads",
    )
    worker = Worker(
        session,
        kv,
        context_length=context,
        budget_bytes=settings.memory_budget_mib << 20,
        chunk_tokens=settings.chunk_tokens,
        clock=time.monotonic,
        no_reuse=_INEXACT if layout.facts.scales_whole_chunks else None,
        spare_bytes=spare_bytes,
    )
    return OnnxEngine(
        model,
        worker,
        queue_limit=settings.queue_limit,
        open_files=partial(_open_files, worker, _identity(model, kv)),
        disk_budget_bytes=settings.disk_budget_mib << 20,
    )


def _open_files(worker: Worker, identity: Identity, call: Callable[[Callable[[], None]], None]) -> Persistence:
    """What keeps prefixes on disk, with everything restored that an earlier run kept. Raises OSError."""
    folder = KvFolder(home() / "kv" / identity.model[:16], identity)
    persistence = Persistence(worker.cache, worker.kv, folder, run_on_engine=call)
    count = persistence.restore()
    if count:
        log.info("%d files of cached prefixes found", count)
    return persistence


def _identity(model: ModelInfo, kv: KvSlots) -> Identity:
    return Identity(model.fingerprint, _runtime(model.provider), kv.layout)


def _runtime(provider: str) -> str:
    return f"onnxruntime {load_onnxruntime().__version__}, {provider}, {processor()}"


def _choose_provider(layout: ModelLayout, settings: Settings) -> ProviderChoice:
    config = ModelFolder(layout.folder).config(GENAI_CONFIG)
    wishes: dict[str, str] = {}
    if config is not None:
        options = config.section("model").section("decoder").section("session_options")
        wishes = ryzenai_options({key: options.raw(key) for key in options}, layout.folder)
    return choose_provider(settings, layout.facts, survey(settings, layout.facts), wishes)


def _context_length(layout: ModelLayout, settings: Settings) -> int:
    """What the model was made for, what the user wants, and what a graph of fixed length leaves beside a junk token."""
    limits = [layout.context_length, settings.context_length, layout.fixed_kv_length and layout.fixed_kv_length - 1]
    return min(limit for limit in limits if limit)


def affordable_slots(wanted: int, slot_bytes: int) -> int:
    """`wanted` slots, or as many as half of the machine's memory could hold if all were full; at least one."""
    affordable = max(1, int(psutil.virtual_memory().total // 2) // slot_bytes)
    if affordable < wanted:
        log.warning("%d slots instead of %d: each may need %d MiB", affordable, wanted, slot_bytes >> 20)
    return min(wanted, affordable)
