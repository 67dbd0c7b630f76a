"""The `data` of the events that the management API sends."""

from __future__ import annotations

from pinfill_service.api.schemas.manage_base import ModelState, PinState, Schema
from pinfill_service.api.schemas.manage_requests import RequestSummary


class RequestStartedEvent(Schema):
    """`request.started`: the request left the queue."""

    id: str
    route: str
    client: str
    model: str
    prompt_tokens: int
    cached_tokens: int
    miss_reason: str | None


class RequestProgressEvent(Schema):
    """`request.progress`: a chunk of the prompt was evaluated."""

    id: str
    done: int
    total: int


class RequestFinishedEvent(RequestSummary):
    """`request.finished`"""


class PinStateEvent(Schema):
    """`pin.state`: a pin is in another state, has another name, or is gone (`state` null)."""

    name: str
    state: PinState | None
    reason: str | None
    renamed_from: str | None = None


class PinProgressEvent(Schema):
    """`pin.progress`"""

    name: str
    done: int
    total: int
    seconds_left: float | None


class EntryEvictedEvent(Schema):
    """`entry.evicted`: on request, or because room was needed. `id` is null when it was more than one entry."""

    id: str | None
    entries: int


class ModelStateEvent(Schema):
    """`model.state`. `code` is the stable name of what `message` says of a failure."""

    name: str | None
    state: ModelState
    message: str | None = None
    code: str | None = None


class ModelProgressEvent(Schema):
    """`model.progress`: of a pull, in bytes or layers by `stage`."""

    name: str
    stage: str
    done: int
    total: int | None


class DiskProblemEvent(Schema):
    """`disk.problem`"""

    message: str


class ResetEvent(Schema):
    """`reset`: events between Last-Event-ID and now are not remembered any more; ask for everything again."""

    missed: bool = True
