"""/pinfill/v1/events: what happens, as server-sent events."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse

from pinfill_service.api.context import ApplicationDep

router = APIRouter(prefix="/pinfill/v1", tags=["events"])


class EventStreamResponse(StreamingResponse):
    """Announced as what it is."""

    media_type = "text/event-stream"


_EVENT = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
    "required": ["id", "event", "data"],
}


@router.get(
    "/events",
    response_class=EventStreamResponse,
    responses={200: {"content": {EventStreamResponse.media_type: {"schema": _EVENT}}}},
)
async def events(
    application: ApplicationDep, last_event_id: Annotated[str | None, Header(max_length=64)] = None
) -> EventStreamResponse:
    """Events from now on, or from after `Last-Event-ID`: `request.started`, `request.progress`, `request.finished`,
    `pin.state`, `pin.progress`, `entry.evicted`, `model.state`, `model.progress`, `disk.problem`, and `reset` where
    some were missed. Their data are the models named *Event.
    """
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventStreamResponse(application.hub.stream(last_event_id), headers=headers)
