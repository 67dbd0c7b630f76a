"""pinfill uninstall-state"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import err, print_json
from pinfill_service.commands.remote import confirm, show_size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pinfill_service.user_state import Kept, Unreached


def uninstall_state(
    keep_models: Annotated[bool, typer.Option("--keep-models", help="Leave the models where they are.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and remove nothing unless --yes is given.")] = False,
) -> None:
    """Remove everything that Pinfill keeps for you, after showing what.

    Models, pins, what they saved, settings, logs, the key, the Hugging Face token, and the start at log-in. The program
    itself stays, and so does what somebody else put into its folder. It must not be running. Exit code 1 when the
    keyring is locked, so that a key may be left in it.
    """
    from pinfill_service.settings import home
    from pinfill_service.state_lock import nobody_else
    from pinfill_service.user_state import MODELS, foreign, kept, remove_folder

    folder, again = home(), f"pinfill uninstall-state{' --keep-models' if keep_models else ''}"
    is_there = folder.is_dir()
    with nobody_else(folder) if is_there else nullcontext():
        there, unreached = kept(folder)
        found = [each for each in there if not (keep_models and each.kind == MODELS)]
        left = foreign(folder)
        if not json:
            _show(folder, found, left, unreached)
        if found and not json:
            confirm("Remove all this?", again, yes)
        removes = yes or not json
        for each in found if removes else ():
            each.remove()
    if is_there and removes:
        remove_folder(folder)
    if json:
        print_json(_as_json(folder, found, left, unreached, removed=removes))
    elif found:
        err().print("Removed.")
    if removes and unreached:
        _tell_left(unreached, again)


def _tell_left(unreached: Sequence[Unreached], again: str) -> None:
    """What may be left in the keyring, and how to remove it. Raises Exit where the user can do that."""
    for each in unreached:
        typer.echo(f"The {each.kind} ({each.where}) may be left: {each.reason}", err=True)
    if any(each.locked for each in unreached):
        typer.echo(f"Unlock the keyring, then run this again: {again}", err=True)
        raise typer.Exit(1)
    typer.echo("Look for it with the keyring's own program, and delete it there.", err=True)


def _show(folder: Path, found: Sequence[Kept], left: Sequence[Path], unreached: Sequence[Unreached]) -> None:
    if not found and not unreached:
        typer.echo(f"There is nothing of Pinfill's in {folder}.", err=True)
    for each in found:
        typer.echo(f"{show_size(each.size) if each.size else '-':>10}  {each.kind}: {', '.join(each.where)}")
    for path in left:
        typer.echo(f"{'stays':>10}  not written by Pinfill: {path}")
    for secret in unreached:
        typer.echo(f"{'unknown':>10}  {secret.kind}: {secret.where}. {secret.reason}")


def _as_json(
    folder: Path, found: Sequence[Kept], left: Sequence[Path], unreached: Sequence[Unreached], *, removed: bool
) -> dict[str, object]:
    items = [{"kind": each.kind, "where": each.where, "bytes": each.size} for each in found]
    unknown = [asdict(each) for each in unreached]
    return {
        "home": str(folder),
        "items": items,
        "left": [str(path) for path in left],
        "unreached": unknown,
        "removed": removed,
    }
