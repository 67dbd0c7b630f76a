"""What routes need of the running service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from pinfill_service.engine.interface import Engine
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.settings import Settings


@dataclass(frozen=True, slots=True)
class Service:
    """The engine and the text side of the model it runs. `started` is a Unix time in seconds."""

    settings: Settings
    engine: Engine
    text: TextModel
    started: int


async def _service(request: Request) -> Service:
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


ServiceDep = Annotated[Service, Depends(_service)]
