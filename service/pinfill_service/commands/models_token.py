"""pinfill models token"""

from __future__ import annotations

import getpass
import sys
import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, print_json

if TYPE_CHECKING:
    from pinfill_service.models.hub_token import FoundToken


def token(
    save: Annotated[
        bool, typer.Option("--set", help="Save a token: typed in without being shown, or read from standard input.")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the saved token.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell where the Hugging Face token is, save one, or forget it. It is never printed.

    Gated and private repositories ask for it. HF_TOKEN wins over the saved one, which is in the system keyring, or in a
    file of the user's own where there is no keyring; the one of `hf auth login` comes last.
    """
    from pinfill_service.models.hub_token import find_token, save_token

    if save and forget:
        raise CommandError("--set and --forget exclude each other.")
    if forget:
        _forget(json)
        return
    found = save_token(_read()) if save else find_token()
    if json:
        print_json(_as_json(found))
    else:
        typer.echo(_sentence(found), err=save)
    if save:
        _tell_what_wins()


def _forget(json: bool) -> None:
    from pinfill_service.models.hub_token import find_token, forget_token

    there_was = forget_token()
    left = find_token(ask_keyring=False)  # what was in it is gone
    if json:
        print_json({"forgotten": there_was, **_as_json(left)})
        return
    typer.echo("The token is forgotten." if there_was else "No token was saved here.", err=True)
    if left is not None:
        typer.echo(f"Downloads go on with another one. {_sentence(left)}", err=True)


def _read() -> str:
    """A token from the person at the terminal, who does not see it, or from standard input."""
    from pinfill_service.secret_store import LONGEST

    try:
        if not sys.stdin.isatty():
            return sys.stdin.read(LONGEST + 100)
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)  # else it would be shown
            return getpass.getpass("Hugging Face token (it is not shown): ")
    except getpass.GetPassWarning as error:
        raise CommandError(
            "This terminal would show the token. Give it on standard input: pinfill models token --set < FILE"
        ) from error
    except EOFError:
        return ""
    except UnicodeDecodeError as error:
        raise CommandError("Standard input is not text, so it is no token.") from error


def _tell_what_wins() -> None:
    from pinfill_service.models.hub_token import VARIABLE, TokenPlace, find_token

    found = find_token(ask_keyring=False)
    if found is not None and found.place is TokenPlace.VARIABLE:
        typer.echo(f"{VARIABLE} is set, and wins over it.", err=True)


def _sentence(found: FoundToken | None) -> str:
    from pinfill_service.models.hub_token import VARIABLE, TokenPlace

    if found is None:
        return "There is no token. Save one with: pinfill models token --set"
    match found.place:
        case TokenPlace.VARIABLE:
            return f"The token is the one in {VARIABLE}."
        case TokenPlace.KEYRING:
            return "The token is in the system keyring."
        case TokenPlace.FILE:
            return f"The token is in {found.path}, which only you can read: this machine has no keyring."
        case TokenPlace.LOGIN:
            return f"The token is the one of 'hf auth login', in {found.path}."


def _as_json(found: FoundToken | None) -> dict[str, str | None]:
    """`place` is variable, keyring, file, login, or null without a token."""
    if found is None:
        return {"place": None, "path": None}
    return {"place": found.place.name.lower(), "path": None if found.path is None else str(found.path)}
