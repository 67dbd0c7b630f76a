"""What an import begins with: a GGUF model, which is converted, or a folder with an ONNX model, which is copied."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pinfill_service.models.catalog import ModelError
from pinfill_service.models.download import CHUNK, Progress
from pinfill_service.models.sidecar import Sidecar


class ModelImportError(ModelError):
    """The file or folder cannot be imported."""

    code = "model_not_importable"


class GgufSource:
    """A GGUF model whose header is right and whose architecture can be converted. Raises GgufError."""

    def __init__(self, path: Path, *, exact: bool = False) -> None:
        from pinfill_service.models.architectures import architecture_of  # numpy, onnx and gguf take a while to import
        from pinfill_service.models.gguf_file import GgufFile, model_stem

        self._path, self._exact = path, exact
        self.file = GgufFile(path)
        architecture_of(self.file).read(self.file)  # what can be refused is refused before the file is read through
        self.name = model_stem(path)
        self.space_needed = 2 * self.file.size_bytes  # types without a counterpart in ONNX take up to twice as much

    def sidecar(self, source: str, progress: Progress) -> Sidecar:
        """Reads the whole file once, for its SHA-256, in the stage "check"."""
        return Sidecar(
            source=source,
            from_catalog=False,
            kind="gguf",
            licence=self.file.text("general.license", "") or None,
            sha256=self._sha256(progress),
            exact=self._exact,
            architecture=self.file.architecture,
            quantisation=self.file.quantisation,
        )

    def build(self, target: Path, progress: Progress) -> tuple[str, ...]:
        """Converts it into the new folder `target`."""
        from pinfill_service.models.gguf_import import convert_gguf
        from pinfill_service.models.weights import ACCURACY_LEVEL

        target.mkdir()
        convert_gguf(self._path, target, progress, 0 if self._exact else ACCURACY_LEVEL)
        return ()

    def _sha256(self, progress: Progress) -> str:
        digest, done = hashlib.sha256(), 0
        for part in self.file.parts:
            with part.open("rb") as file:
                while piece := file.read(CHUNK):
                    digest.update(piece)
                    done += len(piece)
                    progress("check", done, self.file.size_bytes)
        return digest.hexdigest()


class FolderSource:
    """A folder that holds an ONNX model in one of the known layouts. Raises LayoutError."""

    def __init__(self, path: Path, *, exact: bool = False, dtype: str | None = None) -> None:
        from pinfill_service.models.folder_import import inspect_folder

        self._path, self._exact, self._dtype = path, exact, dtype
        self._plan = inspect_folder(path, dtype=dtype)
        self.name = path.resolve().name
        self.space_needed = self._plan.size

    def sidecar(self, source: str, progress: Progress) -> Sidecar:
        """Nothing is read for it."""
        return Sidecar(source=source, from_catalog=False, kind="folder", exact=self._exact, dtype=self._dtype)

    def build(self, target: Path, progress: Progress) -> tuple[str, ...]:
        """Copies it into the new folder `target`; returns what was changed, in sentences."""
        from pinfill_service.models.folder_import import import_folder

        return import_folder(self._path, target, exact=self._exact, dtype=self._dtype, progress=progress)


def open_source(path: Path, *, exact: bool = False, dtype: str | None = None) -> GgufSource | FolderSource:
    """What is at a path, checked. Raises ModelImportError, GgufError or LayoutError."""
    if path.is_dir():
        return FolderSource(path, exact=exact, dtype=dtype)
    if not path.is_file():
        raise ModelImportError(f"{path} is neither a .gguf file nor a folder with a model.")
    if dtype is not None:
        raise ModelImportError(f"{path} holds its weights in one way only: there is no dtype to choose.")
    if path.suffix.lower() == ".gguf" or _begins_like_gguf(path):
        return GgufSource(path, exact=exact)
    raise ModelImportError(f"{path} is neither a .gguf file nor a folder with a model.")


def _begins_like_gguf(path: Path) -> bool:
    """Ollama's files have no ending."""
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"
