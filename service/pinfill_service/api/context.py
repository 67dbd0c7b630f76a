"""What routes need: the service as a whole, and one request's view of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from pinfill_service.api.errors import ApiError
from pinfill_service.api.events import EventHub
from pinfill_service.api.kept import Kept
from pinfill_service.api.model_host import LEASES, ModelHost
from pinfill_service.api.pulls import Pulls
from pinfill_service.api.recording import Recorder
from pinfill_service.api.responses_store import ResponseStore
from pinfill_service.engine.interface import Engine
from pinfill_service.models.library import ModelLibrary
from pinfill_service.pins.errors import UnknownPinError
from pinfill_service.pins.manager import PinManager
from pinfill_service.pins.virtual import VirtualModel, virtual_model
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.settings import Settings


@dataclass(slots=True)
class Application:
    """The service from its start to its end. `kept` is None for one that runs for a single command.

    `settings` are replaced, never changed, when the user changes some; `settings_file` is where they are kept.
    """

    settings: Settings
    settings_file: Path | None
    started: int  # Unix time in seconds
    models: ModelHost
    hub: EventHub
    recorder: Recorder
    library: ModelLibrary
    pulls: Pulls
    kept: Kept | None
    responses: ResponseStore

    @property
    def pins(self) -> PinManager:
        """Raises ApiError where nothing is kept."""
        if self.kept is None:
            raise ApiError(409, "This service keeps no pins: it runs for one command only.", code="nothing_kept")
        return self.kept.pins


@dataclass(frozen=True, slots=True)
class Service:
    """The service as one request sees it: engine and text side stay the same until its answer has ended."""

    settings: Settings
    engine: Engine
    text: TextModel
    started: int
    app: Application

    def virtual_model(self, model: str | None) -> VirtualModel:
        """The pin that the `model` of a request names, if it names one. Raises ApiError."""
        try:
            return virtual_model(model, None if self.app.kept is None else self.app.kept.pins)
        except UnknownPinError as error:
            raise ApiError(404, str(error), code="model_not_found", param="model") from error


async def _application(request: Request) -> Application:
    application = request.app.state.application
    assert isinstance(application, Application)
    return application


ApplicationDep = Annotated[Application, Depends(_application)]


async def recorded(application: ApplicationDep) -> None:
    """For routes that look up what became of requests: waits for the records of those that were answered."""
    await application.recorder.settled()


async def _service(request: Request, application: ApplicationDep) -> Service:
    loaded = await application.models.borrow()
    request.scope[LEASES].append(application.models.give_back)
    return Service(application.settings, loaded.engine, loaded.text, application.started, application)


ServiceDep = Annotated[Service, Depends(_service)]
