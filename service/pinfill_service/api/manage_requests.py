"""/pinfill/v1/requests and /savings: what was asked, why it was slow, and what reuse saved."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from pinfill_service.api.context import Application, ApplicationDep, recorded
from pinfill_service.api.errors import ApiError
from pinfill_service.api.remembered import Remembered
from pinfill_service.api.schemas.manage import RequestDetail, Requests, RequestSegment, Savings, SavingsPart

router = APIRouter(prefix="/pinfill/v1", tags=["requests"], dependencies=[Depends(recorded)])

Limit = Annotated[int, Query(ge=1, le=1000)]
Days = Annotated[int, Query(ge=1, le=3660)]
Before = Annotated[str | None, Query(max_length=200)]


@router.get("/requests")
async def requests(application: ApplicationDep, limit: Limit = 50, before: Before = None) -> Requests:
    """Requests, the latest first. `before`: as a page before said."""
    if application.kept is not None:
        return await asyncio.to_thread(application.kept.requests, limit, before)
    summaries = [request.summary for request in reversed(application.recorder.recent.all())]
    return Requests(requests=summaries[:limit], before=None)


@router.get("/requests/{request_id}")
async def request(request_id: str, application: ApplicationDep) -> RequestDetail:
    """One request, with its text and that of the prompt it is compared with, as far as they are remembered."""
    found = application.recorder.recent.get(request_id)
    if found is not None:
        return _detail(application, found)
    kept = None if application.kept is None else await asyncio.to_thread(application.kept.request, request_id)
    if kept is None:
        raise ApiError(404, f"There is no request {request_id} in the history.", code="request_not_found")
    return kept


@router.get("/savings")
async def savings(application: ApplicationDep, days: Days = 30) -> Savings:
    """Seconds of prefill that reuse saved: in all, by pin, by day."""
    if application.kept is None:
        return Savings(days=days, total=SavingsPart(), by_pin=[], by_day=[])
    return await asyncio.to_thread(application.kept.savings, days)


def _detail(application: Application, found: Remembered) -> RequestDetail:
    finding = found.summary.finding
    other = None
    if finding is not None and finding.compared_with is not None:
        other = application.recorder.recent.get(finding.compared_with)
    return RequestDetail(
        **found.summary.model_dump(),
        segments=[
            RequestSegment(label=segment.label, tokens=segment.end_token - segment.start_token)
            for segment in found.prompt.segments
        ],
        text=found.prompt.text,
        compared_with=None if finding is None else finding.compared_with,
        compared_text=None if other is None else other.prompt.text,
        can_be_pinned=True,
    )
