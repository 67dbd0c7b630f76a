"""The service as an ASGI application: routes, guards, and a model that is closed with it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from pinfill_service import __version__
from pinfill_service.api import (
    anthropic_messages,
    health,
    manage_entries,
    manage_events,
    manage_models,
    manage_pins,
    manage_requests,
    manage_settings,
    manage_status,
    metrics,
    ollama,
    ollama_models,
    openai_chat,
    openai_completions,
    openai_models,
    responses,
)
from pinfill_service.api.context import Application
from pinfill_service.api.errors import ERROR_STATUSES, add_error_handlers
from pinfill_service.api.events import EventHub
from pinfill_service.api.guards import BodyLimit, Gatekeeper, RequestIds
from pinfill_service.api.kept import Kept
from pinfill_service.api.model_host import GiveBack, ModelHost
from pinfill_service.api.pulls import Pulls
from pinfill_service.api.recording import Recorder
from pinfill_service.api.responses_store import ResponseStore
from pinfill_service.api.schemas.openai import ErrorEnvelope
from pinfill_service.engine.interface import Engine
from pinfill_service.keys import active_key, check_binding
from pinfill_service.loaded_model import LoadedModel, ModelLoader, ModelProblem
from pinfill_service.models.library import ModelLibrary
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.settings import MIB, Settings
from pinfill_service.settings import home as default_home

SHUTDOWN_SECONDS = 5  # for answers under way when the service is told to stop
ROUTES = (
    health,
    metrics,
    openai_chat,
    openai_completions,
    openai_models,
    responses,
    ollama,
    ollama_models,
    anthropic_messages,
    manage_status,
    manage_entries,
    manage_pins,
    manage_requests,
    manage_models,
    manage_settings,
    manage_events,
)


def create_app(
    settings: Settings,
    engine: Engine | None,
    text: TextModel | None,
    *,
    home: Path | None = None,
    loader: ModelLoader | None = None,
    problem: ModelProblem | None = None,
) -> FastAPI:
    """The application. It closes `engine`, or what took its place, when it shuts down.

    `home` is the folder in which pins and history are kept, which this process must have locked; without it nothing is
    kept. `loader` loads other models; without it the model stays the one it is. Without `engine` and `text` no model
    answers until one is loaded; `problem` says why. Raises KeyringUnavailableError, UnsafeBindingError or LedgerError.
    """
    key = active_key(settings)
    check_binding(settings, key)
    loaded = LoadedModel(engine, text) if engine is not None and text is not None else None
    application = _application(settings, loaded, home, loader)
    application.models.problem = problem

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            _prepare_routes(app)
            yield
        finally:
            application.hub.close()
            await run_in_threadpool(close, application)

    guards = [
        Middleware(RequestIds),
        Middleware(Gatekeeper, key=key, allowed_hosts=settings.allowed_hosts),
        Middleware(BodyLimit, limit=settings.max_body_mib * MIB),
        Middleware(GiveBack),
    ]
    app = FastAPI(
        title="Pinfill",
        version=__version__,
        lifespan=lifespan,
        middleware=guards,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses={status: {"model": ErrorEnvelope} for status in ERROR_STATUSES},
    )
    app.state.application = application
    add_error_handlers(app)
    for module in ROUTES:
        app.include_router(module.router)
    _describe(app)
    return app


def _application(
    settings: Settings, loaded: LoadedModel | None, home: Path | None, loader: ModelLoader | None
) -> Application:
    hub = EventHub()
    kept = Kept(home, settings, hub.publish) if home is not None else None
    library = ModelLibrary(home or default_home())
    models = ModelHost(loaded, loader, hub.publish, kept)
    application = Application(
        settings=settings,
        settings_file=home / "settings.toml" if home is not None else None,
        started=int(time.time()),
        models=models,
        hub=hub,
        recorder=Recorder(hub.publish, kept),
        library=library,
        pulls=Pulls(library, hub.publish),
        kept=kept,
        responses=ResponseStore(),
    )
    if kept is not None and loaded is not None:
        kept.attach(loaded)
    return application


def close(application: Application) -> None:
    """Ends everything in order: pulls, then records are written, then pins and sessions, then the ledger. Blocks."""
    application.pulls.close()
    application.recorder.close()
    application.models.close()
    if application.kept is not None:
        application.kept.close()


class Server(uvicorn.Server):
    """Ends event streams first when it is told to stop: they would keep it waiting for their clients."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.application.hub.close()
        await super().shutdown(sockets)


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How the application is served: no Server header, no trust in proxy headers, a bounded shutdown."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        log_config=None,
    )


def listen(settings: Settings) -> socket.socket:
    """A listening socket for `uvicorn.Server.run(sockets=[...])`, so that the port is known before serving.

    Raises OSError when the address cannot be bound.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # asyncio does this only for sockets made with an explicit protocol. Without it a body waits 40 ms for the
        # client to acknowledge the headers, which is longer than answering from the cache takes.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind(address)
        listener.listen(socket.SOMAXCONN)
    except BaseException:
        listener.close()
        raise
    return listener


def _prepare_routes(app: FastAPI) -> None:
    """FastAPI works out what a route takes and answers when a request first gets there, which takes about as long as an
    answer from the cache. A look that finds nothing does it for all of them.
    """
    nowhere = {"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []}
    for route in app.routes:
        route.matches(nowhere)


def _describe(app: FastAPI) -> None:
    """FastAPI announces 422 for invalid requests; here they are 400."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
            for path in schema["paths"].values():
                for operation in path.values():
                    operation["responses"].pop("422", None)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]
