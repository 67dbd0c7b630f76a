"""The command line. Commands import what they need when they run, so that `pinfill --help` is quick."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pinfill_service import __version__
from pinfill_service.commands import app as desktop
from pinfill_service.commands import models, pins, rules
from pinfill_service.commands.batch import batch
from pinfill_service.commands.bench import bench
from pinfill_service.commands.connect import connect
from pinfill_service.commands.demo import demo
from pinfill_service.commands.doctor import doctor
from pinfill_service.commands.entries import entries, evict
from pinfill_service.commands.key import key
from pinfill_service.commands.launch import launch
from pinfill_service.commands.pin import pin
from pinfill_service.commands.savings import savings
from pinfill_service.commands.selftest import selftest
from pinfill_service.commands.serve import serve
from pinfill_service.commands.status import status
from pinfill_service.commands.uninstall_state import uninstall_state

app = typer.Typer(invoke_without_command=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for command in (
    desktop.app,
    serve,
    status,
    pin,
    pins.unpin,
    entries,
    evict,
    savings,
    doctor,
    launch,
    connect,
    demo,
    bench,
    batch,
    selftest,
    key,
):
    app.command()(command)
app.command("uninstall-state")(uninstall_state)
app.add_typer(pins.app, name="pins")
app.add_typer(models.app, name="models")
app.add_typer(rules.app, name="rules")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pinfill {__version__}")
        raise typer.Exit


@app.callback()
def pinfill(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A local model service that never prefills the same prompt prefix twice.

    Without a command the tray application starts, where it is installed and there is a screen.
    """
    if context.invoked_subcommand is not None:
        return
    if desktop.why_not() is None:
        desktop.app()
    typer.echo(context.get_help())
    raise typer.Exit(2)


def main() -> None:
    """Runs the command. Exit codes: 0 done, 1 an error that is told in a sentence, 2 wrong usage, 130 Ctrl-C."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from pinfill_service.commands import error_codes
        from pinfill_service.commands.failures import explain

        sentence = explain(error)
        if sentence is None:
            raise
        code = error_codes.code_of(error)
        if code is not None and error_codes.wanted():
            typer.echo(f"error-code: {code}", err=True)
        typer.echo(f"error: {sentence}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
