"""/pinfill/v1/pins"""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request
from starlette.responses import Response

from pinfill_service.api.context import Application, ApplicationDep, ServiceDep, recorded
from pinfill_service.api.pin_origin import content_of, origin_of
from pinfill_service.api.pin_views import PinViews
from pinfill_service.api.schemas.manage import (
    Pin,
    PinChange,
    PinCreate,
    PinRefresh,
    Pins,
    PinText,
    Unpinned,
    VerifyReport,
    VerifyRequest,
)
from pinfill_service.api.sse import CLIENT_CLOSED_REQUEST, ClientGoneError, until_disconnect

router = APIRouter(prefix="/pinfill/v1/pins", tags=["pins"], dependencies=[Depends(recorded)])


@router.get("")
async def pins(application: ApplicationDep) -> Pins:
    """All pins, in the user's order."""
    return Pins(pins=await asyncio.to_thread(lambda: PinViews(application).all()))


@router.post("", status_code=201)
async def create(body: PinCreate, service: ServiceDep) -> Pin:
    """Pins a text, messages, or what a request or a cached entry began with. Prefilled in the background."""

    def make() -> Pin:
        content = origin_of(service, body)
        status = service.app.pins.create(body.name, content, body.sources, auto_refresh=body.auto_refresh)
        return PinViews(service.app).one(status.name)

    return await asyncio.to_thread(make)


@router.get("/{name}")
async def pin(name: str, application: ApplicationDep) -> Pin:
    """One pin."""
    return await _view(application, name)


@router.get("/{name}/content")
async def content(name: str, application: ApplicationDep) -> PinText:
    """What was pinned."""
    held, _ = application.pins.prefix(name)
    text = str(held.messages[0].get("content") or "") if held.kind == "text" else held.text or None
    return PinText(
        kind=held.kind,
        text=text,
        messages=[dict(message) for message in held.messages],
        tools=[dict(tool) for tool in held.tools],
    )


@router.patch("/{name}")
async def change(name: str, body: PinChange, application: ApplicationDep) -> Pin:
    """Renames a pin, moves it, says that its source has changed, or what is to happen then."""

    def apply() -> str:
        manager, now = application.pins, name
        manager.prefix(name)  # an unknown pin is one also when nothing is to change
        if body.name is not None:  # first: only this can be refused, and then nothing is to have changed
            now = manager.rename(now, body.name).name
        if body.auto_refresh is not None:
            manager.set_auto_refresh(now, body.auto_refresh)
        if body.stale is not None:
            if body.stale:
                manager.mark_stale(now, body.stale)
            else:
                manager.mark_fresh(now)
        if body.position is not None:
            manager.move(now, body.position)
        return now

    return await _view(application, await asyncio.to_thread(apply))


@router.delete("/{name}")
async def unpin(name: str, application: ApplicationDep) -> Unpinned:
    """Gives a pin up, its files included. Says what it would cost to get it back."""

    def give_up() -> Unpinned:
        cost = PinViews(application).one(name).prefill_seconds
        status = application.pins.delete(name)
        return Unpinned(name=status.name, tokens=status.tokens, prefill_seconds=cost)

    return await asyncio.to_thread(give_up)


@router.post("/{name}/refresh")
async def refresh(name: str, service: ServiceDep, body: Annotated[PinRefresh | None, Body()] = None) -> Pin:
    """Gives a pin a new content, or brings it back with the one it has. Only what changed is prefilled."""
    wanted = body or PinRefresh()
    content = content_of(service, wanted) if wanted.given else None
    await asyncio.to_thread(service.app.pins.refresh, name, content, wanted.sources)
    return await _view(service.app, name)


@router.post("/{name}/rebuild")
async def rebuild(name: str, service: ServiceDep) -> Pin:
    """Makes a pin for the loaded model."""
    await asyncio.to_thread(service.app.pins.refresh, name)
    return await _view(service.app, name)


@router.post("/{name}/verify", response_model=VerifyReport)
async def verify(
    name: str, service: ServiceDep, request: Request, body: Annotated[VerifyRequest | None, Body()] = None
) -> VerifyReport | Response:
    """Runs a pin cold and from the cache, and compares. Takes as long as its prefill; stops when the client goes."""
    tokens = (body or VerifyRequest()).tokens
    verification = await asyncio.to_thread(service.app.pins.verification, name, tokens)
    try:
        result = await until_disconnect(request.receive, asyncio.to_thread(verification.run))
    except ClientGoneError:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    finally:
        verification.stop()
    assert result is not None, "only the lines above stop it"
    return VerifyReport(
        name=name,
        tokens_compared=result.tokens_compared,
        greedy_equal=result.greedy_equal,
        largest_difference=result.largest_difference,
        prompt_tokens=result.prompt_tokens,
        cached_tokens=result.cached_tokens,
        cold_seconds=result.cold_seconds,
        cached_seconds=result.cached_seconds,
    )


async def _view(application: Application, name: str) -> Pin:
    return await asyncio.to_thread(lambda: PinViews(application).one(name))
