"""The service as an ASGI application: routes, guards, and an engine that is closed with it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from pinfill_service import __version__
from pinfill_service.api import health, metrics, openai_chat, openai_completions, openai_models
from pinfill_service.api.context import Service
from pinfill_service.api.errors import add_error_handlers
from pinfill_service.api.guards import BodyLimit, Gatekeeper, RequestIds
from pinfill_service.api.schemas.openai import ErrorEnvelope
from pinfill_service.engine.interface import Engine
from pinfill_service.keys import active_key, check_binding
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.settings import MIB, Settings

SHUTDOWN_SECONDS = 5  # for answers under way when the service is told to stop


def create_app(settings: Settings, engine: Engine, text: TextModel) -> FastAPI:
    """The application. It closes `engine` when it shuts down.

    Raises KeyringUnavailableError or UnsafeBindingError.
    """
    key = active_key(settings)
    check_binding(settings, key)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await run_in_threadpool(engine.close)

    guards = [
        Middleware(RequestIds),
        Middleware(Gatekeeper, key=key, allowed_hosts=settings.allowed_hosts),
        Middleware(BodyLimit, limit=settings.max_body_mib * MIB),
    ]
    app = FastAPI(
        title="Pinfill",
        version=__version__,
        lifespan=lifespan,
        middleware=guards,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses={status: {"model": ErrorEnvelope} for status in (400, 401, 403, 404, 405, 413, 429, 500, 503)},
    )
    app.state.service = Service(settings, engine, text, int(time.time()))
    add_error_handlers(app)
    for module in (health, metrics, openai_chat, openai_completions, openai_models):
        app.include_router(module.router)
    _describe(app)
    return app


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
