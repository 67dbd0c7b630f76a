"""What a service of this user would be started with."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from pinfill_app.command_errors import CHILD
from pinfill_service.keys import FoundKey, KeyPlace, find_key
from pinfill_service.settings import Settings, home


@dataclass(frozen=True, slots=True)
class Plan:
    """`key` None: the service asks for none. `log_level` as `pinfill serve` names it."""

    home: Path
    host: str
    port: int
    key: str | None = field(repr=False)
    key_place: KeyPlace | None
    log_level: str = "info"

    def command(self, port: int) -> list[str]:
        """The service, which ends with this application and starts also when its model cannot be loaded.

        -P: no module is taken from the folder it runs in.
        """
        serve = [sys.executable, "-P", "-m", "pinfill_service.cli", "serve", "--port", str(port)]
        return [*serve, "--log-level", self.log_level, "--exit-with-parent", "--or-without-model"]

    def environment(self) -> dict[str, str]:
        """What the service finds in its environment beside our own; the key, so that it need not be looked for."""
        key = {} if self.key is None else {"PINFILL_API_KEY": self.key}
        return {"PYTHONUNBUFFERED": "1", **CHILD, **key}


class PlanError(Exception):
    """The settings cannot be used. The message says which and why, without its value; `code` as the service's own."""

    code = "invalid_settings"


def make_plan(log_level: str) -> Plan:
    """From settings.toml, the environment and the keyring, which may take its time.

    Raises PlanError and KeyringUnavailableError.
    """
    try:
        settings = Settings.from_flags()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name, what = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        raise PlanError(
            f"The setting {name} is not valid: {what}. It comes from PINFILL_* or settings.toml."
        ) from error
    except (OSError, ValueError) as error:
        raise PlanError(f"{home() / 'settings.toml'} cannot be read: {error}.") from error
    found: FoundKey | None = None if settings.no_key else find_key(settings)
    key, place = (found.key, found.place) if found is not None else (None, None)
    return Plan(home(), settings.host, settings.port, key, place, log_level)
