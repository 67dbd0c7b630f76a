"""pinfill rules"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, out
from pinfill_service.commands.remote import Remote, connect, plain, print_model

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import PromptRule

app = typer.Typer(help="List the rules that keep prompts stable, and switch them.", invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A rule, as 'pinfill rules' lists them.")]


@app.callback()
def rules(context: typer.Context, json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the rules: what each one changes in requests before they become prompts, and whether it is on."""
    if context.invoked_subcommand is not None:
        return
    from pinfill_service.api.schemas.manage import SettingsView

    with connect() as remote:
        view = remote.get(SettingsView, "settings")
    if json:
        from pydantic import RootModel

        from pinfill_service.api.schemas.manage import PromptRule

        print_model(RootModel[list[PromptRule]](view.rules))
    else:
        _print_table(view.rules)


@app.command()
def on(name: Name) -> None:
    """Switch a rule on, from the next request on."""
    _switch(name, True)


@app.command()
def off(name: Name) -> None:
    """Switch a rule off, from the next request on."""
    _switch(name, False)


def _switch(name: str, wanted: bool) -> None:
    from pinfill_service.api.schemas.manage import SettingsChange, SettingsView

    with connect() as remote:
        rule = _find(remote, name)
        remote.patch(SettingsView, "settings", body=SettingsChange(rules={rule.name: wanted}))
    typer.echo(f"{rule.title}: {'on' if wanted else 'off'} from the next request on.", err=True)


def _find(remote: Remote, name: str) -> PromptRule:
    """The rule of that name. Raises CommandError."""
    from pinfill_service.api.schemas.manage import SettingsView

    listed = remote.get(SettingsView, "settings").rules
    for rule in listed:
        if rule.name == name:
            return rule
    raise CommandError(f"There is no rule {name!r}, only {', '.join(rule.name for rule in listed)}.")


def _print_table(listed: list[PromptRule]) -> None:
    from rich.table import Table

    table = Table("Rule", "State", "What it does", box=None, pad_edge=False)
    for rule in listed:
        state = "on" if rule.on else "off"
        table.add_row(rule.name, state, plain(f"{rule.title}. {rule.description}"))
    out().print(table)
