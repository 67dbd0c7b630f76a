"""pinfill serve"""

from __future__ import annotations

import errno
import logging
import signal
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, out

if TYPE_CHECKING:
    import socket

    from rich.console import RenderableType

    from pinfill_service.engine.interface import Engine
    from pinfill_service.loaded_model import ModelProblem
    from pinfill_service.prompt.text_model import TextModel
    from pinfill_service.settings import Settings


class LogLevel(StrEnum):
    """How much goes to stderr."""

    error = "error"
    warning = "warning"
    info = "info"
    debug = "debug"


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0: any free one. Default: 7463")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME_OR_FOLDER", help="The model to run.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Default: the number of cores.")] = None,
    slots: Annotated[int | None, typer.Option(min=1, max=64, help="Requests that run at once. Default: 8")] = None,
    context_length: Annotated[int | None, typer.Option(min=16, help="Tokens. Default: the model's own.")] = None,
    memory_budget_mib: Annotated[
        int | None, typer.Option(min=0, help="Memory for cached prefixes. Default: a quarter of it, at most 4096.")
    ] = None,
    no_key: Annotated[bool, typer.Option("--no-key", help="Ask for no API key; only on loopback.")] = False,
    without_model: Annotated[
        bool, typer.Option("--or-without-model", help="Serve also when the model cannot be loaded; another one can be.")
    ] = False,
    exit_with_parent: Annotated[
        bool, typer.Option("--exit-with-parent", help="End in order when standard input is closed.")
    ] = False,
    log_level: Annotated[LogLevel, typer.Option(help="Debug also lists every request.")] = LogLevel.warning,
) -> None:
    """Run the service until Ctrl-C.

    Every setting can also come from an environment variable (PINFILL_PORT, ...) or from settings.toml in Pinfill's
    folder. Neither prompts nor keys are ever logged.
    """
    from pinfill_service.settings import Settings

    _set_up_logging(log_level)
    settings = Settings.from_flags(
        host=host,
        port=port,
        model=model,
        threads=threads,
        slots=slots,
        context_length=context_length,
        memory_budget_mib=memory_budget_mib,
        no_key=no_key or None,
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # asked to stop, and stopped in order
    if exit_with_parent:
        from pinfill_service.commands.parent import exit_with_parent as watch

        watch()
    _run(settings, without_model)


def _run(settings: Settings, without_model: bool) -> None:
    """Everything that can be refused is checked before the model is loaded, which takes a while."""
    from pinfill_service.application import create_app, server_config
    from pinfill_service.commands.local_service import AnnouncingServer, LibraryLoader, find_model, url_of
    from pinfill_service.keys import active_key, check_binding
    from pinfill_service.settings import home
    from pinfill_service.state_lock import state_lock

    check_binding(settings, active_key(settings))
    if not without_model:
        find_model(settings.model)
    with _listen(settings) as listener, state_lock(home(), listener.getsockname()[1]):
        engine, text, problem = _load(settings, without_model)
        try:
            app = create_app(settings, engine, text, home=home(), loader=LibraryLoader(), problem=problem)
            block = _introduction(settings, engine, url_of(listener))
            AnnouncingServer(server_config(app, settings), lambda: _show(block)).run(sockets=[listener])
        finally:
            if engine is not None:
                engine.close()


def _load(settings: Settings, without_model: bool) -> tuple[Engine | None, TextModel | None, ModelProblem | None]:
    """The model; or, with `without_model`, why there is none."""
    from pinfill_service.commands.failures import explain
    from pinfill_service.commands.local_service import load_model
    from pinfill_service.loaded_model import ModelProblem
    from pinfill_service.models.library import ModelNotFoundError

    try:
        return *load_model(settings), None
    except Exception as error:
        sentence = explain(error)
        if not without_model or sentence is None:
            raise
        logging.getLogger(__name__).warning("serving without a model: %s", sentence)
        return None, None, ModelProblem(sentence, settings.model if isinstance(error, ModelNotFoundError) else None)


def _introduction(settings: Settings, engine: Engine | None, url: str) -> RenderableType:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for title, value in (
        ("Pinfill", f"{url}/v1"),
        *(_about_model(settings, engine) if engine is not None else [("Model", "none")]),
        ("Memory", f"up to {settings.memory_budget_mib:,} MiB of cached prefixes"),
        ("API key", _about_key(settings)),
    ):
        table.add_row(title, value)
    return table


def _about_model(settings: Settings, engine: Engine) -> list[tuple[str, str]]:
    model, slots = engine.model, engine.stats().slots
    kv = model.context_length * model.kv_bytes_per_token >> 20
    return [
        ("Model", model.name),
        ("Runs on", f"{model.provider} ({model.provider_note})" if model.provider_note else model.provider),
        ("Context", f"{model.context_length:,} tokens, {kv:,} MiB when full"),
        ("Slots", f"{slots}, on {settings.threads} threads"),
    ]


def _show(block: RenderableType) -> None:
    out().print(block)
    sys.stdout.flush()  # who reads it through a pipe waits for the address


def _about_key(settings: Settings) -> str:
    from pinfill_service.keys import find_key

    return "none is asked for" if settings.no_key else f"{find_key(settings).place.value}; 'pinfill key' prints it"


def _listen(settings: Settings) -> socket.socket:
    """A listening socket. Raises CommandError that says who has the port, as far as the system tells."""
    from pinfill_service.application import listen

    try:
        return listen(settings)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        if error.errno == errno.EADDRINUSE:
            holder = _who_listens(settings.port)
            raise CommandError(
                f"{where} is taken by {holder}. Stop that, or choose another port: "
                f"pinfill serve --port {settings.port + 1 if settings.port < 65535 else 0}"
            ) from error
        raise CommandError(f"{where} cannot be listened on: {error.strerror or error}.") from error


def _who_listens(port: int) -> str:
    import psutil

    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:  # some systems tell only administrators
        pass
    return "another program"


def _set_up_logging(level: LogLevel) -> None:
    logging.basicConfig(level=level.value.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if level is not LogLevel.debug:
        logging.getLogger("uvicorn.access").propagate = False
