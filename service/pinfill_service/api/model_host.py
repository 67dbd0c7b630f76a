"""The loaded model, which requests borrow, and its change for another one while they run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from pinfill_service.api.errors import ApiError
from pinfill_service.api.schemas.manage import ModelState, ModelStateEvent
from pinfill_service.engine.errors import EngineError
from pinfill_service.loaded_model import LoadedModel, ModelLoader, ModelProblem
from pinfill_service.models.catalog import ModelError
from pinfill_service.models.library import ModelNameError, ModelNotFoundError
from pinfill_service.pins.shelf import Publish
from pinfill_service.settings import Settings

log = logging.getLogger(__name__)

DRAIN_SECONDS = 300.0  # for requests under way when another model is to take over
WAIT_SECONDS = 30.0  # for new requests, until they are told to come back
LEASES = "pinfill.leases"  # where a request's scope keeps what it borrowed


class Follower(Protocol):
    """Who must know which model is loaded. All but `attach` may take their time."""

    def attach(self, loaded: LoadedModel) -> None:
        """A model answers from now on. Returns at once."""
        ...

    def detach(self) -> None:
        """No request uses the model any more: let go of it."""
        ...

    def farewell(self, loaded: LoadedModel) -> None:
        """Another model has taken over, and this one is about to be closed."""
        ...


class ModelHost:
    """Holds the model behind one attribute, so that a request has one engine and its text side from start to end.

    Invariants: a model is closed only when no request has borrowed it; one change at a time; a model that cannot be
    loaded leaves the one before in place. Belongs to the event loop.
    """

    def __init__(
        self, loaded: LoadedModel | None, loader: ModelLoader | None, publish: Publish, follower: Follower | None
    ) -> None:
        """`loader` None: the model stays the one it is. `loaded` None: there is none until one is loaded."""
        self._loaded = loaded
        self._loader, self._publish, self._follower = loader, publish, follower
        self._borrowed = 0
        self._returned = asyncio.Event()
        self._open = asyncio.Event()
        self._open.set()
        self._changing = False
        self.state: ModelState = "loaded" if loaded is not None else "unloaded"
        self.problem: ModelProblem | None = None

    @property
    def current(self) -> LoadedModel | None:
        """For a look: it may be closed any time. Requests borrow."""
        return self._loaded

    async def borrow(self) -> LoadedModel:
        """The model, until `give_back`. Waits while another one takes over. Raises ApiError."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while not self._open.is_set():
                    await self._open.wait()
        except TimeoutError:
            raise _come_back("Another model is about to be loaded; try again in a moment.") from None
        if self._loaded is None:
            if self._changing:
                raise _come_back("The model is being loaded; try again in a moment.")
            raise ApiError(503, "No model is loaded. Load one in Pinfill's window or restart it.", code="no_model")
        self._borrowed += 1
        return self._loaded

    def give_back(self) -> None:
        self._borrowed -= 1
        self._returned.set()

    async def load(self, name: str, settings: Settings) -> None:
        """Replaces the model by another one, once that is ready and running requests have ended. Raises ApiError."""
        loader = self._require_loader()
        self._begin_change()
        try:
            new = await self._prepare(loader, name, settings)
            if new is not None:
                await self._swap(new)
        finally:
            self._changing = False

    async def unload(self) -> None:
        """Closes the model once running requests have ended. Raises ApiError."""
        self._require_loader()
        self._begin_change()
        try:
            await self._swap(None)
        finally:
            self._changing = False

    def close(self) -> None:
        """Ends the model for good. Blocks; there are no requests any more."""
        old, self._loaded = self._loaded, None
        if self._follower is not None:
            self._follower.detach()
        if old is not None:
            self._retire(old)

    def _retire(self, old: LoadedModel) -> None:
        if self._follower is not None:
            self._follower.farewell(old)
        old.engine.close()

    # -- steps ---------------------------------------------------------------------------------------------------

    def _require_loader(self) -> ModelLoader:
        if self._loader is None:
            raise ApiError(409, "This service was started for one model only.", code="model_fixed")
        return self._loader

    def _begin_change(self) -> None:
        if self._changing:
            raise ApiError(409, "Another model is being loaded already; wait for that.", code="model_busy")
        self._changing = True

    async def _prepare(self, loader: ModelLoader, name: str, settings: Settings) -> LoadedModel | None:
        """The new model, loaded beside the old one; None when its files are those that are loaded already."""
        before = self.state
        try:
            fingerprint = await asyncio.to_thread(loader.fingerprint, name)
            if self._loaded is not None and self._loaded.fingerprint == fingerprint:
                return None  # two engines must never work on one folder of KV files
            self._tell("loading", name)
            return await asyncio.to_thread(loader.load, name, settings)
        except Exception as error:  # whatever reading a model folder can raise; the old model goes on
            if not isinstance(error, ModelError | EngineError):
                log.warning("the model %s could not be loaded", name, exc_info=error)
            message = f"{name} could not be loaded: {error}"
            missing = isinstance(error, ModelNotFoundError | ModelNameError)
            code = "model_not_found" if missing else "model_not_loaded"
            self._tell("failed", name, message, code)
            self.state, self.problem = before, ModelProblem(message, name if missing else None)
            raise ApiError(404 if missing else 409, message, code=code) from error

    async def _swap(self, new: LoadedModel | None) -> None:
        old = self._loaded
        self._open.clear()
        try:
            if not await self._drained(old):
                if new is not None:
                    await asyncio.to_thread(new.engine.close)
                raise _come_back(f"Requests are still running after {DRAIN_SECONDS:.0f} s; try again later.")
            if self._follower is not None:
                await asyncio.to_thread(self._follower.detach)
            self._loaded = new
        finally:
            self._open.set()
        self.problem = None
        if new is not None and self._follower is not None:
            self._follower.attach(new)
        if old is not None:
            await asyncio.to_thread(self._retire, old)
        name = new.name if new is not None else None
        self._tell("loaded" if new is not None else "unloaded", name)

    async def _drained(self, old: LoadedModel | None) -> bool:
        """Whether every request has given the model back within the time there is."""
        if self._borrowed and old is not None:
            self._tell("draining", old.name)
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while self._borrowed:
                    self._returned.clear()
                    await self._returned.wait()
        except TimeoutError:
            self._tell("loaded", old.name if old is not None else None)
            return False
        return True

    def _tell(self, state: ModelState, name: str | None, message: str | None = None, code: str | None = None) -> None:
        self.state = state
        self._publish("model.state", ModelStateEvent(name=name, state=state, message=message, code=code))


class GiveBack:
    """Innermost: whatever a request borrowed is given back when its answer has ended, streamed or not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        borrowed: list[Callable[[], None]] = []
        scope[LEASES] = borrowed
        try:
            await self._app(scope, receive, send)
        finally:
            for give_back in borrowed:
                give_back()


def _come_back(message: str) -> ApiError:
    error = ApiError(503, message, code="model_busy")
    error.headers["Retry-After"] = "5"
    return error
