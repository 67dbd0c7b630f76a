"""pinfill key"""

from __future__ import annotations

from typing import Annotated

import typer

from pinfill_service.commands.console import print_json


def key(json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False) -> None:
    """Print the API key that clients send.

    It is PINFILL_API_KEY (or api_key in settings.toml) when that is set; else the one in the system keyring, or in a
    file of the user's own where there is no keyring. It is made when there is none yet.
    """
    from pinfill_service.keys import load_or_create_key
    from pinfill_service.settings import Settings

    found = load_or_create_key(Settings.from_flags())
    if json:
        print_json({"api_key": found})
    else:
        typer.echo(found)
