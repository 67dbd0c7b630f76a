"""pinfill launch"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pinfill_service.commands.console import CommandError


def launch(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="claude, goose, codex, opencode or qwen.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- ARGS]", help="For the agent itself.")] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME[@PIN]", help="With a pin in front. Default: the loaded model.")
    ] = None,
    show: Annotated[bool, typer.Option("--print", help="Print the command and run nothing.")] = False,
    show_key: Annotated[bool, typer.Option("--show-key", help="With --print: the key too.")] = False,
) -> None:
    """Run a coding agent on the model that Pinfill serves, for this once: its own settings stay as they are.

    Its exit code is passed on.
    """
    from pinfill_service.agents import find_local_agent, programs
    from pinfill_service.commands.agents import find_endpoint, warn_of_small_context

    found = find_local_agent(agent)
    program = programs.find_program(found, os.environ)
    if program is None and not show:
        raise CommandError(
            f"{found.title} is not installed: there is no {found.program} on PATH. Get it: {found.install_hint}"
        )
    endpoint = find_endpoint(model)
    if show:
        plan = found.launch(endpoint if show_key else endpoint.masked())
        typer.echo(programs.shown(plan, found.program, arguments or ()))
        return
    assert program is not None
    warn_of_small_context(found, endpoint)
    with programs.prepared(program, found.launch(endpoint), arguments or (), os.environ) as command:
        code = programs.run(command)
    raise typer.Exit(code)
