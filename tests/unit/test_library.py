"""The folder of models: complete or absent, never replaced by surprise, never reached around."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import threading
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from filelock import FileLock

from pinfill_service.engine.layout import LayoutError
from pinfill_service.models import library, sidecar
from pinfill_service.models.catalog import Catalog, CatalogError, CatalogModel
from pinfill_service.models.download import DiskSpaceError, DownloadError, Progress
from pinfill_service.models.gguf_file import GgufError
from pinfill_service.models.library import (
    ModelBusyError,
    ModelExistsError,
    ModelLibrary,
    ModelNameError,
    ModelNotFoundError,
)
from pinfill_service.models.model_source import ModelImportError
from tests.support import hub
from tests.support.models import LLAMA
from tests.support.raw_gguf import llama, string, tensor, u32

GGUF = llama().content()


def catalog(content: bytes = GGUF) -> Catalog:
    return Catalog(model=(hub.model(hub.PYPI_SOURCE, content=content),))


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

    def convert_gguf(self, gguf: Path, folder: Path, progress: Progress, accuracy_level: int) -> None:
        self.conversions += 1
        self.accuracy_level = accuracy_level
        (folder / "genai_config.json").write_text('{"model": {}}')
        self.during()
        (folder / "model.onnx").write_bytes(gguf.read_bytes())
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


def onnx_folder(path: Path) -> Path:
    """A folder with a model that can be run."""
    return shutil.copytree(LLAMA, path)


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
    monkeypatch.setattr(sidecar, "CONVERTER", sidecar.CONVERTER + 1)
    assert models.describe("tiny").outdated == (
        "tiny was converted by an older version of Pinfill. Make it again with: pinfill models pull tiny"
    )
    models.pull("tiny")
    models.pull("tiny")
    assert fakes.conversions == 2
    assert models.describe("tiny").outdated is None


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
    models.import_model(onnx_folder(tmp_path / "own"), "tiny")

    with pytest.raises(ModelExistsError, match="pinfill models remove tiny"):
        models.pull("tiny")

    assert fakes.downloads == 0


def test_a_model_that_is_not_in_the_catalogue_cannot_be_pulled(models: ModelLibrary) -> None:
    with pytest.raises(CatalogError, match="has no model 'huge'"):
        models.pull("huge")


# Names and look-up


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "A", "tiny@pin", "-x", "x.", "x\n", "x" * 101])
def test_names_that_are_no_folder_names_are_refused_everywhere(models: ModelLibrary, tmp_path: Path, name: str) -> None:
    source = onnx_folder(tmp_path / "own")
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
    onnx_folder(models.folder / "by-hand")
    onnx_folder(models.folder / ".other.partial")
    (models.folder / "empty").mkdir()

    assert [(model.name, model.source) for model in models.installed()] == [("by-hand", None)]


def test_folders_of_every_layout_count_when_they_hold_a_graph(models: ModelLibrary) -> None:
    (models.folder / "chunks" / "onnx").mkdir(parents=True)
    (models.folder / "chunks" / "onnx" / "model_q4.onnx").touch()
    (models.folder / "no-graph").mkdir()
    (models.folder / "no-graph" / "genai_config.json").touch()

    assert [model.name for model in models.installed()] == ["chunks"]


# Import


def gguf(path: Path, content: bytes = GGUF) -> Path:
    path.write_bytes(content)
    return path


def test_a_gguf_file_is_converted_and_stays_where_it_was(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    source = gguf(tmp_path / "My Model (Q4).GGUF")
    seen: list[tuple[str, int, int | None]] = []

    model = models.import_model(source, progress=lambda *event: seen.append(event))

    assert model.name == "my-model-q4"
    assert (model.source, model.licence, model.outdated) == (str(source), "mit", None)
    assert source.read_bytes() == GGUF
    assert visible(models) == ["my-model-q4"]
    assert seen == [("check", len(GGUF), len(GGUF)), ("layers", 1, 1)]


def test_what_is_known_of_an_import_stays_with_the_model(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    models.import_model(gguf(tmp_path / "a.gguf"), label="ollama:a:latest", exact=True)

    known = models.sidecar("a")

    assert known is not None and fakes.accuracy_level == 0
    assert (known.source, known.kind, known.exact) == ("ollama:a:latest", "gguf", True)
    assert known.sha256 == hashlib.sha256(GGUF).hexdigest()
    assert (known.architecture, known.quantisation) == ("llama", "Q4_K_M")
    assert known.created is not None and known.converter == sidecar.CONVERTER
    assert set(known.files) == {"genai_config.json", "model.onnx"}
    assert known.is_whole(models.path("a"))


def test_a_file_without_an_ending_is_known_by_its_first_bytes(
    fakes: Fakes, models: ModelLibrary, tmp_path: Path
) -> None:
    assert models.import_model(gguf(tmp_path / "sha256-0"), "tiny").name == "tiny"


def test_all_parts_of_a_split_file_make_one_model(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    digest = hashlib.sha256()
    for number in (1, 2):
        raw = llama(split__no=u32(number - 1), split__count=u32(2))
        if number == 2:
            raw.tensors = [tensor("other", (4,))]
        digest.update(raw.write(tmp_path / f"big-{number:05}-of-00002.gguf").read_bytes())

    assert models.import_model(tmp_path / "big-00002-of-00002.gguf").name == "big"

    known = models.sidecar("big")
    assert known is not None and known.sha256 == digest.hexdigest()


def test_the_same_file_is_not_imported_twice(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    models.import_model(gguf(tmp_path / "a.gguf"))

    for name in ("a", "other"):
        with pytest.raises(ModelExistsError, match=r"already, as the model a\. .* pinfill models remove a"):
            models.import_model(gguf(tmp_path / "copy.gguf"), name)
    assert fakes.conversions == 1
    assert visible(models) == ["a"]

    models.import_model(tmp_path / "a.gguf", "a-exact", exact=True)
    assert visible(models) == ["a", "a-exact"]


def test_a_pulled_model_is_not_imported_again(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    models.pull("tiny")
    with pytest.raises(ModelExistsError, match="as the model tiny"):
        models.import_model(gguf(tmp_path / "a.gguf"))


def test_a_model_of_an_older_converter_says_how_to_make_it_again_and_that_works(
    fakes: Fakes, models: ModelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my models").mkdir()
    source = gguf(tmp_path / "my models" / "a.gguf")
    models.import_model(source, "mine", exact=True)
    monkeypatch.setattr(sidecar, "CONVERTER", sidecar.CONVERTER + 1)

    (model,) = models.installed()
    assert model.outdated is not None and "older version" in model.outdated
    assert "pinfill models import" in model.outdated and f"{source}" in model.outdated
    assert model.outdated.endswith(" --name mine --exact")

    with pytest.raises(ModelExistsError, match="another name"):
        models.import_model(gguf(tmp_path / "other.gguf", llama(general__name=string("other")).content()), "mine")
    assert models.import_model(source, "mine", exact=True).outdated is None
    assert fakes.conversions == 2
    assert visible(models) == ["mine"]


def test_a_model_that_cannot_be_made_again_stays(
    fakes: Fakes, models: ModelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = gguf(tmp_path / "a.gguf")
    folder = models.import_model(source).path
    monkeypatch.setattr(sidecar, "CONVERTER", sidecar.CONVERTER + 1)

    def fail() -> None:
        raise GgufError("a.gguf has no tensor 'x'.")

    fakes.during = fail
    with pytest.raises(GgufError):
        models.import_model(source)

    assert (folder / "model.onnx").read_bytes() == GGUF
    assert visible(models) == ["a"]


def test_sidecars_of_older_versions_are_understood(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    folder = models.import_model(gguf(tmp_path / "a.gguf")).path
    old = {
        "source": "x.gguf",
        "from_catalog": False,
        "sha256": "0" * 64,
        "converter": 0,
        "created": "2026-01-01T00:00Z",
    }
    (folder / "pinfill.json").write_text(json.dumps(old))
    assert models.describe("a").outdated is not None
    (folder / "pinfill.json").write_text(json.dumps(old | {"sha256": None}))  # a folder: copied, not converted
    assert models.describe("a").outdated is None


def test_a_folder_is_copied(models: ModelLibrary, tmp_path: Path) -> None:
    source = onnx_folder(tmp_path / "own")
    (source / ".cache").mkdir()

    model = models.import_model(source)

    known = models.sidecar("own")
    assert known is not None and known.kind == "folder" and known.is_whole(model.path)
    assert not (model.path / ".cache").exists()
    assert {path.name for path in LLAMA.glob("*.onnx*")} <= {path.name for path in model.path.iterdir()}


def test_a_read_only_folder_gives_a_model_that_can_be_removed(models: ModelLibrary, tmp_path: Path) -> None:
    source = onnx_folder(tmp_path / "own")
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

    for source in (
        onnx_folder(tmp_path / "own"),
        gguf(tmp_path / "x.gguf", llama(general__name=string("x")).content()),
    ):
        with pytest.raises(ModelExistsError, match="another name"):
            models.import_model(source, "tiny")


def test_an_interrupted_import_leaves_nothing(fakes: Fakes, models: ModelLibrary, tmp_path: Path) -> None:
    def interrupt(at: str) -> Progress:
        def report(stage: str, done: int, total: int | None) -> None:
            if stage == at:
                raise KeyboardInterrupt

        return report

    sources = {"check": gguf(tmp_path / "a.gguf"), "layers": tmp_path / "a.gguf", "copy": onnx_folder(tmp_path / "own")}
    for stage, source in sources.items():
        with pytest.raises(KeyboardInterrupt):
            models.import_model(source, progress=interrupt(stage))
        assert visible(models) == []


def test_a_full_disk_is_told_with_numbers_before_anything_is_written(
    fakes: Fakes, models: ModelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = namedtuple("free", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free(3 << 20))
    raw = llama()
    raw.tensors.append(tensor("t", (1 << 20,), offset=256))
    raw.data = bytes(256 + (4 << 20))
    source = gguf(tmp_path / "a.gguf", raw.content())

    with pytest.raises(DiskSpaceError, match="needs 8 MiB of free disk and has 3"):
        models.import_model(source)

    assert fakes.conversions == 0
    assert visible(models) == []


def test_a_broken_file_is_refused_before_anything_is_written(models: ModelLibrary, tmp_path: Path) -> None:
    with pytest.raises(GgufError, match="48 bytes are missing"):
        models.import_model(gguf(tmp_path / "a.gguf", GGUF[:-48]))
    with pytest.raises(GgufError, match="vision part"):
        models.import_model(gguf(tmp_path / "a.gguf", llama(general__architecture=string("clip")).content()))
    assert not models.folder.exists()


def test_a_broken_folder_is_refused_before_anything_is_written(models: ModelLibrary, tmp_path: Path) -> None:
    source = onnx_folder(tmp_path / "own")
    (source / "model.onnx").write_bytes(b"\xff" * 50)
    with pytest.raises(LayoutError, match=r"model\.onnx"):
        models.import_model(source)
    assert not models.folder.exists()


def test_what_is_no_model_is_refused(models: ModelLibrary, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no model")
    (tmp_path / "empty").mkdir()
    for source in (tmp_path / "absent", tmp_path / "notes.txt"):
        with pytest.raises(ModelImportError, match=r"neither a \.gguf file nor a folder"):
            models.import_model(source)
    with pytest.raises(ModelImportError, match="no dtype to choose"):
        models.import_model(gguf(tmp_path / "a.gguf"), dtype="q4")
    with pytest.raises(LayoutError):
        models.import_model(tmp_path / "empty")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_refused_without_waiting_for_it(models: ModelLibrary, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(ModelImportError, match="neither"):
        models.import_model(tmp_path / "pipe.gguf")


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
