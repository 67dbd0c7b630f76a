"""pinfill models: what is in the catalogue and on this machine, and how it gets here and goes away."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, format_bytes, out, print_json

if TYPE_CHECKING:
    from pinfill_service.models.library import InstalledModel, ModelLibrary

app = typer.Typer(help="List, fetch, import and remove models.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True, slots=True)
class Row:
    """A model of the catalogue, on this machine, or both. `bytes` are on disk when installed, else of the download."""

    name: str
    title: str | None
    licence: str | None
    context_length: int | None
    bytes: int
    installed: bool
    in_catalogue: bool
    source: str | None


@app.command("list")
def list_models(json: Json = False) -> None:
    """List the models of the catalogue and those on this machine."""
    rows = list(_rows())
    if json:
        print_json([asdict(row) for row in rows])
        return
    from rich.table import Table

    table = Table("Model", "Title", "Size", "Licence", "Context", "Installed", box=None, pad_edge=False)
    for row in rows:
        context = "?" if row.context_length is None else f"{row.context_length:,}"
        installed = "yes" if row.installed else "no"
        table.add_row(row.name, row.title or "", format_bytes(row.bytes), row.licence or "?", context, installed)
    out().print(table)


@app.command()
def pull(
    name: Annotated[str | None, typer.Argument(help="A name from the catalogue; the default model without.")] = None,
    json: Json = False,
) -> None:
    """Download a model of the catalogue and convert it. Done before: returns at once. Broken off: goes on."""
    from pinfill_service.settings import DEFAULT_MODEL

    model = pull_model(name or DEFAULT_MODEL)
    _tell(model, json)


@app.command("import")
def import_model(
    path: Annotated[Path, typer.Argument(help="A .gguf file, or a folder with genai_config.json.")],
    name: Annotated[str | None, typer.Option(help="Its name here; made from the file's name without.")] = None,
    json: Json = False,
) -> None:
    """Take in a model that is on this machine already. The original stays as it is."""
    from pinfill_service.commands.progress import model_progress

    with model_progress() as report:
        model = library().import_model(path.expanduser(), name, report)
    _tell(model, json)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="The model to delete.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a model, or what a broken-off pull left of it."""
    if not yes:
        if not sys.stdin.isatty():
            raise CommandError(f"Nobody can be asked here. To delete {name} all the same: pinfill models remove --yes")
        typer.confirm(f"Delete {name}?", abort=True)
    library().remove(name)
    typer.echo(f"{name} is removed.", err=True)


def library() -> ModelLibrary:
    """The models of this user."""
    from pinfill_service.models.library import ModelLibrary
    from pinfill_service.settings import home

    return ModelLibrary(home())


def pull_model(name: str) -> InstalledModel:
    """Pulls with a progress bar. Raises what ModelLibrary.pull raises."""
    from pinfill_service.commands.progress import model_progress

    with model_progress() as report:
        return library().pull(name, report)


def pull_if_missing(name: str) -> None:
    """Pulls unless there is a model of that name, wherever it came from. Raises what ModelLibrary.pull raises."""
    from pinfill_service.models.library import ModelNotFoundError

    try:
        library().path(name)
    except ModelNotFoundError:
        pull_model(name)


def _rows() -> Iterator[Row]:
    from pinfill_service.models.catalog import load_catalog

    installed = {model.name: model for model in library().installed()}
    for entry in load_catalog().model:
        here = installed.pop(entry.name, None)
        yield Row(
            name=entry.name,
            title=entry.title,
            licence=entry.licence,
            context_length=entry.context_length,
            bytes=here.bytes_on_disk if here else entry.size_bytes,
            installed=here is not None,
            in_catalogue=True,
            source=here.source if here else None,
        )
    for model in installed.values():
        context = _context_length(model.path)
        yield Row(model.name, None, model.licence, context, model.bytes_on_disk, True, False, model.source)


def _context_length(folder: Path) -> int | None:
    from pinfill_service.engine.layout import LayoutError, read_layout

    try:
        return read_layout(folder).context_length
    except LayoutError:
        return None


def _tell(model: InstalledModel, json: bool) -> None:
    if json:
        print_json({**asdict(model), "path": str(model.path)})
    else:
        typer.echo(f"{model.name} is on this machine ({format_bytes(model.bytes_on_disk)}).", err=True)
