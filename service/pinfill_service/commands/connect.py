"""pinfill connect"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import err, print_json
from pinfill_service.commands.remote import confirm

if TYPE_CHECKING:
    from pinfill_service.agents.agent import LocalAgent
    from pinfill_service.agents.connections import Plan


def connect(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="claude, goose, codex, opencode or qwen; with --print also continue, cline, aider or zed.",
        ),
    ],
    model: Annotated[
        str | None, typer.Option(metavar="NAME[@PIN]", help="With a pin in front. Default: the loaded model.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
    show: Annotated[bool, typer.Option("--print", help="Print the settings to paste, and change nothing.")] = False,
    show_key: Annotated[bool, typer.Option("--show-key", help="With --print: the key too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON, and what would change unless --yes is given.")
    ] = False,
) -> None:
    """Write Pinfill into a coding agent's own configuration, so that it uses it from now on.

    The change is shown first. Everything else in the files stays as it is, a backup is kept, and --undo takes it back.
    """
    from pinfill_service.agents import find_agent, find_local_agent
    from pinfill_service.agents.connections import Connections
    from pinfill_service.commands.agents import find_endpoint, warn_of_small_context
    from pinfill_service.settings import home

    if show:
        endpoint = find_endpoint(model)
        typer.echo(find_agent(agent).settings_text(endpoint if show_key else endpoint.masked()), nl=False)
        return
    found, connections = find_local_agent(agent), Connections(home(), os.environ)
    if undo:
        plan = connections.plan_undo(found)
    else:
        endpoint = find_endpoint(model)
        plan = connections.plan(found, endpoint)
        warn_of_small_context(found, endpoint)
    if json:
        if yes:
            connections.apply(plan)
        print_json(_as_json(plan, done=yes))
        return
    _show(plan)
    confirm("Write this?", f"pinfill connect {agent}{' --undo' if undo else ''}", yes)
    connections.apply(plan)
    _tell(found, undo)


def _show(plan: Plan) -> None:
    typer.echo(plan.diff, nl=False)
    if plan.changes_nothing:
        err().print("Nothing in the files changes.")
    for name in plan.left:
        err().print(f"Left as it is, because it was changed since: {name}", markup=False)


def _tell(agent: LocalAgent, undo: bool) -> None:
    if undo:
        err().print(f"{agent.title} is as it was before.", markup=False)
    else:
        err().print(
            f"{agent.title} uses Pinfill from its next start. To take it back: pinfill connect {agent.name} --undo",
            markup=False,
        )


def _as_json(plan: Plan, *, done: bool) -> dict[str, object]:
    files = [{"path": str(each.path), "diff": each.diff} for each in plan.files]
    return {"agent": plan.agent, "done": done, "files": files, "left": list(plan.left)}
