"""Signs of life, for supervisors and for agents that look before they speak; they need no key."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

router = APIRouter()


@router.get("/livez")
async def livez() -> dict[str, str]:
    """The service answers."""
    return {"status": "ok"}


@router.head("/", response_class=Response)
@router.head("/api/hello", response_class=Response)
async def hello() -> Response:
    """Some agents ask this before their first request."""
    return Response()
