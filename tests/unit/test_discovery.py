"""Models of other programs are found where those keep them, and nothing outside is ever looked at."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.models import discovery_places
from pinfill_service.models.catalog import ModelError
from pinfill_service.models.discovery import NotFoundHereError, find_model, names_found_model
from pinfill_service.models.found import FoundModel
from tests.support.models import LLAMA
from tests.support.other_programs import Home
from tests.support.raw_gguf import RawGguf, llama, string, u32


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home", "darwin")  # on Linux, Ollama's service has a folder that belongs to the machine


def by_id(models: list[FoundModel]) -> Mapping[str, FoundModel]:
    return {model.id: model for model in models}


def problem(home: Home) -> str:
    """Of the only model there is."""
    (model,) = home.found()
    assert model.problem is not None and model.problem.endswith(".") and "\n" not in model.problem
    return model.problem


def test_a_machine_without_such_programs_has_no_such_models(home: Home) -> None:
    assert home.found() == []


# LM Studio


@pytest.mark.parametrize("folder", [".lmstudio/models", ".cache/lm-studio/models"])
def test_lm_studio(home: Home, folder: str) -> None:
    path = home.gguf(f"{folder}/someone/Tiny-GGUF/Tiny.Q4_K_M.gguf")

    (model,) = home.found()

    assert model == FoundModel(
        id="lmstudio:someone/Tiny-GGUF/Tiny.Q4_K_M.gguf",
        program="LM Studio",
        path=path,
        name="Tiny.Q4_K_M",
        bytes=path.stat().st_size,
        architecture="llama",
        quantisation="Q4_K_M",
        notes=(),
        problem=None,
    )
    assert find_model(model.id, home.machine()) == model


def test_lm_studios_own_folder_is_the_one_its_settings_name(home: Home, tmp_path: Path) -> None:
    elsewhere = Home(tmp_path / "disk")
    elsewhere.gguf("a/b/c.gguf")
    home.write(".lmstudio/settings.json", {"downloadsFolder": str(elsewhere.folder)})

    assert [model.id for model in home.found()] == ["lmstudio:a/b/c.gguf"]


@pytest.mark.parametrize("text", ["{", "[1]", '{"downloadsFolder": 5}', '{"downloadsFolder": "\\u0000"}', "[" * 90_000])
def test_settings_that_cannot_be_used_hide_nothing(home: Home, text: str) -> None:
    home.write(".lmstudio/settings.json", text)
    home.gguf(".lmstudio/models/a/b/c.gguf")
    assert [model.id for model in home.found()] == ["lmstudio:a/b/c.gguf"]


def test_a_folder_that_is_reached_twice_is_listed_once(home: Home) -> None:
    home.gguf(".lmstudio/models/a/b/c.gguf")
    home.write(".lmstudio/settings.json", {"downloadsFolder": str(home.folder / ".lmstudio" / "models")})
    (home.folder / ".cache" / "lm-studio").mkdir(parents=True)
    (home.folder / ".cache" / "lm-studio" / "models").symlink_to(home.folder / ".lmstudio" / "models")
    assert len(home.found()) == 1


def test_a_split_model_is_one(home: Home) -> None:
    for number in (1, 2, 3):
        home.gguf(f".lmstudio/models/a/b/big-0000{number}-of-00003.gguf")
    home.gguf(".lmstudio/models/a/b/other-00002-of-00002.gguf")

    models = by_id(home.found())

    assert list(models) == ["lmstudio:a/b/big-00001-of-00003.gguf", "lmstudio:a/b/other-00002-of-00002.gguf"]
    assert models["lmstudio:a/b/big-00001-of-00003.gguf"].name == "big"
    missing = models["lmstudio:a/b/other-00002-of-00002.gguf"].problem
    assert missing is not None and "other-00001-of-00002.gguf is missing" in missing


def test_what_cannot_be_run_is_listed_with_the_reason(home: Home) -> None:
    home.gguf(".lmstudio/models/a/b/broken.gguf").write_bytes(b"GGUF")
    home.gguf(".lmstudio/models/a/b/mmproj-tiny.gguf", general__architecture=string("clip"))
    home.gguf(".lmstudio/models/a/b/mamba.gguf", general__architecture=string("mamba"))
    home.gguf(".lmstudio/models/a/b/experts.gguf", llama__expert_count=u32(8))
    RawGguf(keys=[("k", u32(1))]).write(home.folder / ".lmstudio/models/a/b/nameless.gguf")

    problems = {model.path.stem: str(model.problem) for model in home.found()}

    assert "download has not finished" in problems["broken"]
    assert problems["mmproj-tiny"].startswith("it is the vision part") and "llama" in problems["mmproj-tiny"]
    assert "it is a recurrent model (mamba)" in problems["mamba"] and "mixture of experts" in problems["experts"]
    assert "general.architecture" in problems["nameless"]


# Ollama

NAMES = {
    "registry.ollama.ai/library/smollm2/135m": ("ollama:smollm2:135m", "smollm2-135m"),
    "registry.ollama.ai/library/smollm2/latest": ("ollama:smollm2:latest", "smollm2"),
    "registry.ollama.ai/someone/tiny/v1": ("ollama:someone/tiny:v1", "tiny-v1"),
    "hf.co/someone/Tiny-GGUF/Q4_K_M": ("ollama:hf.co/someone/Tiny-GGUF:Q4_K_M", "Tiny-GGUF-Q4_K_M"),
}


@pytest.mark.parametrize("place", NAMES)
def test_ollama(home: Home, place: str) -> None:
    home.ollama(place, model="file")

    (model,) = home.found()

    assert (model.id, model.name) == NAMES[place]
    assert (model.program, model.architecture, model.quantisation) == ("Ollama", "llama", "Q4_K_M")
    assert model.path.name.startswith("sha256-") and model.problem is None
    assert find_model(model.id.removesuffix(":latest"), home.machine()) == model


def test_ollamas_folder_may_be_elsewhere(home: Home) -> None:
    home.ollama("registry.ollama.ai/library/here/latest", model="file")
    home.ollama("registry.ollama.ai/library/there/latest", "disk", model="file")
    home.environment["OLLAMA_MODELS"] = str(home.folder / "disk")
    assert [model.id for model in home.found()] == ["ollama:there:latest", "ollama:here:latest"]


def test_on_linux_ollamas_service_has_a_folder_of_its_own(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(os.path, "isdir", lambda path: looked.append(Path(path).as_posix()))
    for system in ("linux", "win32", "darwin"):
        home.system = system
        looked.clear()
        home.machine().ollama()
        assert ("/usr/share/ollama/.ollama/models" in looked) == (system == "linux")


def test_files_of_older_versions_of_ollama_are_found(home: Home) -> None:
    home.ollama("registry.ollama.ai/library/old/latest", model=home.blob(separator=":"))
    assert [model.problem for model in home.found()] == [None]


def test_layers_that_stay_behind_are_told(home: Home) -> None:
    home.ollama("registry.ollama.ai/library/x/latest", model="file", template="t", params="p", license="l")
    (model,) = home.found()
    assert model.problem is None
    assert len(model.notes) == 2 and "template" in model.notes[0] and "sampling" in model.notes[1]


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ({}, "not one GGUF file"),
        ({"tensor": "t"}, "not one GGUF file"),
        ({"model": "file", "adapter": "a"}, "adapter"),
        ({"model": "sha256:" + "0" * 64}, "has not finished"),
        ({"model": "sha256:../../../../etc/passwd"}, "not a digest"),
        ({"model": "sha256-" + "0" * 64 + "/../x"}, "not a digest"),
        ({"model": ["sha256:" + "0" * 64]}, "not a digest"),
        ({"model": None}, "not a digest"),
    ],
)
def test_manifests_that_name_no_model_are_ignored_with_the_reason(
    home: Home, layers: dict[str, Any], words: str
) -> None:
    home.ollama("registry.ollama.ai/library/x/latest", **layers)
    assert words in problem(home)
    with pytest.raises(ModelError, match="ollama:x:latest cannot be imported: "):
        find_model("ollama:x", home.machine())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"layers": ' + "[" * 100_000, "is not JSON"),
        ('"layers"', "no list of layers"),
        ('{"layers": {"model": 1}}', "no list of layers"),
        ('{"layers": [5]}', "no list of layers"),
        (" " * (2 << 20), "is larger than"),
    ],
)
def test_hostile_manifests_are_ignored_with_the_reason(home: Home, text: str, words: str) -> None:
    home.write(".ollama/models/manifests/registry.ollama.ai/library/x/latest", text)
    assert words in problem(home)


def test_links_out_of_ollamas_folder_are_not_followed(home: Home, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(llama().content())
    blob = home.folder / ".ollama/models/blobs" / f"sha256-{'0' * 64}"
    blob.parent.mkdir(parents=True)
    blob.symlink_to(secret)
    manifest = home.ollama("registry.ollama.ai/library/x/latest", model=f"sha256:{'0' * 64}")
    assert "link out of Ollama's folder" in problem(home)

    moved = shutil.move(manifest, tmp_path / "manifest")
    manifest.symlink_to(moved)
    assert "its manifest is a link out" in problem(home)


def test_hidden_and_misplaced_files_are_no_manifests(home: Home) -> None:
    home.ollama("registry.ollama.ai/library/x/.DS_Store", model="file")
    home.ollama("registry.ollama.ai/library/file", model="file")
    home.ollama("registry.ollama.ai/library/y/z/latest", model="file")
    assert home.found() == []


# Hugging Face


def snapshot(home: Home, hub: str = ".cache/huggingface/hub", repository: str = "models--org--tiny") -> Path:
    folder = home.folder / hub / repository / "snapshots" / ("0" * 40)
    folder.mkdir(parents=True)
    return folder


def link_to_blob(home: Home, link: Path, content: bytes) -> None:
    """As Hugging Face's programs store a file."""
    blobs = link.parents[link.parts[::-1].index("snapshots")] / "blobs"
    blobs.mkdir(exist_ok=True)
    blob = blobs / hashlib.sha256(content).hexdigest()
    blob.write_bytes(content)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(blob, link.parent))


def test_hugging_face_gguf_files(home: Home) -> None:
    folder = snapshot(home)
    link_to_blob(home, folder / "tiny.Q4_K_M.gguf", llama().content())

    (model,) = home.found()

    assert model.id == "huggingface:org/tiny/tiny.Q4_K_M.gguf" and model.name == "tiny.Q4_K_M"
    assert (model.program, model.architecture, model.problem) == ("Hugging Face", "llama", None)


def test_hugging_face_onnx_folders(home: Home) -> None:
    folder = snapshot(home)
    for path in LLAMA.iterdir():
        link_to_blob(home, folder / path.name, path.read_bytes())

    (model,) = home.found()

    assert (model.id, model.name, model.path) == ("huggingface:org/tiny", "tiny", folder)
    assert (model.problem, model.architecture) == (None, "onnxruntime-genai")
    assert model.bytes is not None and model.bytes > 0


def test_only_the_newest_snapshot_counts(home: Home) -> None:
    old = snapshot(home)
    new = old.with_name("1" * 40)
    new.mkdir()
    for folder, time in ((old, 1_000), (new, 2_000)):
        link_to_blob(home, folder / "tiny.gguf", llama().content())
        os.utime(folder, (time, time))
    assert [model.path.parent for model in home.found()] == [new]


@pytest.mark.parametrize(
    ("variable", "value", "hub"),
    [
        ("HF_HUB_CACHE", "a", "a"),
        ("HUGGINGFACE_HUB_CACHE", "b", "b"),
        ("HF_HOME", "c", "c/hub"),
        ("XDG_CACHE_HOME", "d", "d/huggingface/hub"),
    ],
)
def test_hugging_faces_cache_may_be_elsewhere(home: Home, variable: str, value: str, hub: str) -> None:
    link_to_blob(home, snapshot(home, hub) / "tiny.gguf", llama().content())
    assert home.found() == []
    home.environment[variable] = str(home.folder / value)
    assert len(home.found()) == 1


def test_links_out_of_a_cache_are_not_followed(home: Home, tmp_path: Path) -> None:
    secret = llama().write(tmp_path / "secret")
    (snapshot(home) / "tiny.gguf").symlink_to(secret)
    assert "link out of the folder" in problem(home)


def test_a_folder_without_end_is_left(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery_places, "MAX_FILES", 3)
    for number in range(9):
        home.gguf(f".lmstudio/models/a/b/{number}.gguf")
    home.gguf(".lmstudio/models/c/d/e/f/g/h/i/deep.gguf")
    assert [model.id[-6:] for model in home.found()] == ["0.gguf", "1.gguf", "2.gguf"]
    monkeypatch.setattr(discovery_places, "MAX_FILES", 30)
    assert len(home.found()) == 9


# Ids


def test_ids_and_paths_are_told_apart() -> None:
    assert all(map(names_found_model, ("ollama:x", "lmstudio:a/b.gguf", "huggingface:a/b")))
    assert not any(map(names_found_model, ("C:\\x.gguf", "ollama", "./ollama:x", "x.gguf", "/a:b")))


def test_an_id_that_is_not_there_says_how_to_find_one(home: Home) -> None:
    home.ollama("registry.ollama.ai/library/x/1b", model="file")
    for model_id in ("ollama:x", "ollama:y", "lmstudio:a", "huggingface:../../x"):
        with pytest.raises(NotFoundHereError, match="pinfill models found"):
            find_model(model_id, home.machine())
