"""/pinfill/v1/entries: what is cached, and taking it out."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Depends

from pinfill_service.api.context import Service, ServiceDep, recorded
from pinfill_service.api.errors import ApiError
from pinfill_service.api.schemas.manage import Entries, Entry, EntryEvictedEvent, Evicted
from pinfill_service.engine.interface import EntryInfo
from pinfill_service.pins.content import common_length
from pinfill_service.pins.upkeep import session_value

_SHOWN_TOKENS = 48
_SHOWN_CHARACTERS = 120

router = APIRouter(prefix="/pinfill/v1/entries", tags=["entries"], dependencies=[Depends(recorded)])


@router.get("")
async def entries(service: ServiceDep) -> Entries:
    """Every cached prefix, the most valuable first."""
    found = await asyncio.wrap_future(service.engine.prefixes.entries())
    return Entries(entries=await asyncio.to_thread(_views, service, found))


@router.delete("/{entry_id}")
async def evict(entry_id: str, service: ServiceDep) -> Evicted:
    """Forgets one entry, its files included, as far as it shares nothing with others."""
    found = await asyncio.wrap_future(service.engine.prefixes.entries())
    entry = next((entry for entry in found if entry.id == entry_id), None)
    if entry is None:
        raise ApiError(404, f"There is no entry {entry_id}: it may be gone already.", code="entry_not_found")
    if not await asyncio.wrap_future(service.engine.prefixes.evict(entry_id)):
        why = "pinned: unpin it instead" if entry.pinned else "part of a pin, or in use"
        raise ApiError(409, f"The entry {entry_id} is {why}.", code="entry_protected")
    service.app.recorder.evicted(service.engine)
    service.app.hub.publish("entry.evicted", EntryEvictedEvent(id=entry_id, entries=1))
    return Evicted(entries=1)


@router.post("/evict-unpinned")
async def evict_unpinned(service: ServiceDep) -> Evicted:
    """Forgets everything that is neither pinned nor in use."""
    count = await asyncio.wrap_future(service.engine.prefixes.evict_unpinned())
    if count:
        service.app.recorder.evicted(service.engine)
        service.app.hub.publish("entry.evicted", EntryEvictedEvent(id=None, entries=count))
    return Evicted(entries=count)


def _views(service: Service, found: list[EntryInfo]) -> list[Entry]:
    ordered = sorted(found, key=lambda entry: (entry.pinned, session_value(entry)), reverse=True)
    return [_view(service, entry) for entry in ordered]


def _view(service: Service, entry: EntryInfo) -> Entry:
    ids = list(entry.token_ids)
    text = service.text.tokenizer.decode(ids[:_SHOWN_TOKENS], skip_special=True)
    kept = service.app.kept
    return Entry(
        id=entry.id,
        begins=" ".join(text.split())[:_SHOWN_CHARACTERS],
        tokens=entry.tokens,
        shared_tokens=entry.shared_tokens,
        memory_bytes=entry.memory_bytes,
        disk_bytes=entry.disk_bytes,
        in_memory=entry.in_memory,
        pinned=entry.pinned,
        pin=None if kept is None else kept.pins.ending_at(ids),
        in_use=entry.in_use,
        hits=entry.hits,
        saves_seconds=entry.saves_seconds,
        idle_seconds=entry.idle_seconds,
        client=_client(service, ids),
    )


def _client(service: Service, ids: list[int]) -> str | None:
    """Who sent the latest request that is all of this entry's prompt or goes on from it."""
    for request in reversed(service.app.recorder.recent.all()):
        prompt = request.prompt.token_ids
        shared = common_length(ids, list(prompt))
        if shared and shared in (len(ids), len(prompt)):
            return request.summary.client
    return None
