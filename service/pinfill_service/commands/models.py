"""pinfill models: what is in the catalogue and on this machine, and how it gets here and goes away."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pinfill_service.commands.console import CommandError, format_bytes, out, print_json
from pinfill_service.commands.models_show import show_model
from pinfill_service.commands.models_token import token

if TYPE_CHECKING:
    from pinfill_service.models.found import FoundModel
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
    outdated: str | None = None


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
        installed = "outdated" if row.outdated else "yes" if row.installed else "no"
        table.add_row(row.name, row.title or "", format_bytes(row.bytes), row.licence or "?", context, installed)
    out().print(table)
    for row in rows:
        if row.outdated:
            typer.echo(row.outdated, err=True)


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
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|FOLDER|ID]",
            help="A .gguf file (any part of a split one), a folder with an ONNX model, or the id of a found model. "
            "Without: what was found.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Its name here; made from the file's name without.")] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Do not round activations to 8 bits: three to four times slower.")
    ] = False,
    dtype: Annotated[
        str | None, typer.Option(help="Which graph of a folder with several: q4, fp16, ... Default: the best here.")
    ] = None,
    json: Json = False,
    progress_json: Annotated[
        bool, typer.Option("--progress-json", help="Print progress on stderr, as one JSON object a line.")
    ] = False,
    exit_with_parent: Annotated[
        bool, typer.Option("--exit-with-parent", help="Stop, and leave nothing, when standard input is closed.")
    ] = False,
) -> None:
    """Take in a model that is on this machine already. The original stays as it is."""
    if source is None:
        found_models(json)
        return
    from pinfill_service.commands.progress import model_progress, progress_lines

    if exit_with_parent:
        from pinfill_service.commands.parent import exit_with_parent as watch

        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        watch()
    path, suggested, label = _resolved(source)
    with progress_lines() if progress_json else model_progress() as report:
        model = library().import_model(path, name or suggested, report, label=label, exact=exact, dtype=dtype)
    _tell(model, json)


@app.command("found")
def found_models(json: Json = False) -> None:
    """List the models that LM Studio, Ollama and Hugging Face's programs have on this machine."""
    from pinfill_service.models.discovery import find_models
    from pinfill_service.models.library import name_from

    models = find_models()
    if json:  # with the name that an import gives it
        print_json([{**asdict(model), "path": str(model.path), "name": name_from(model.name)} for model in models])
        return
    for model in models:
        typer.echo(model.id)
        for line in _about(model):
            typer.echo(f"    {line}")
    if any(model.problem is None for model in models):
        typer.echo("Import one with: pinfill models import ID", err=True)
    else:
        typer.echo(
            "No model that could be imported was found in the folders of LM Studio, Ollama and Hugging Face. "
            "Import a file or folder with: pinfill models import PATH",
            err=True,
        )


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


app.command("show")(show_model)
app.command()(token)


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


def _resolved(source: str) -> tuple[Path, str | None, str | None]:
    """(path, suggested name, what the model is said to come from). Raises ModelError for an id that is not there."""
    from pinfill_service.models.discovery import find_model, names_found_model
    from pinfill_service.models.library import name_from

    if not names_found_model(source):
        return Path(source).expanduser(), None, None
    model = find_model(source)
    return model.path, name_from(model.name), model.id


def _about(model: FoundModel) -> Iterator[str]:
    """What there is to know about a found model, line by line."""
    size = None if model.bytes is None else format_bytes(model.bytes)
    facts = ", ".join(fact for fact in (model.program, size, model.architecture, model.quantisation) if fact)
    yield facts
    yield from (f"{note}." for note in model.notes)
    if model.problem is not None:
        yield f"Cannot be imported: {model.problem}"


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
            outdated=here.outdated if here else None,
        )
    for model in installed.values():
        context = _context_length(model.path)
        size = model.bytes_on_disk
        yield Row(model.name, None, model.licence, context, size, True, False, model.source, model.outdated)


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
