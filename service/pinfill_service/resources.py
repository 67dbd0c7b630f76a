"""Where the files are that Pinfill ships beside its code."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


class ResourceMissingError(Exception):
    """A file that every installation holds is not there. `code` is stable."""

    code = "installation_damaged"


def resource(name: str) -> Path:
    """The path of `resources/<name>`: inside the package in a wheel, beside `service/` in a checkout.

    Raises ResourceMissingError when neither has it.
    """
    for folder in (PACKAGE / "resources", PACKAGE.parents[1] / "resources"):
        if (folder / name).exists():
            return folder / name
    raise ResourceMissingError(f"This installation of Pinfill lacks resources/{name}. Install it again.")
