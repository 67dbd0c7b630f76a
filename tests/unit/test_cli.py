"""The command line: quick help, results that programs can read, errors in a sentence."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest
from typer.testing import CliRunner

from pinfill_service import __version__, cli, settings
from pinfill_service.commands import app as desktop
from pinfill_service.commands.serve import LogLevel
from pinfill_service.models.library import ModelLibrary
from tests.support.command_line import CommandLine, assert_told
from tests.support.models import LLAMA
from tests.support.raw_gguf import RawGguf, string
from tests.support.tiny_gguf import TinyLlama

COMMANDS = ("app", "serve", "demo", "bench", "batch", "selftest", "key", "models")
HEAVY = {"PySide6", "numpy", "onnx", "onnxruntime", "fastapi", "uvicorn", "tokenizers", "gguf"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("PINFILL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def pinfill(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    yield
    keyring.set_keyring(before)


def test_help_lists_every_command() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"])
    assert shown.exit_code == 0
    assert all(f" {command} " in shown.output for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    assert CliRunner().invoke(cli.app, [command, "--help"]).exit_code == 0


@pytest.mark.parametrize("arguments", [(), ("app",), ("app", "--minimised")], ids=["nothing", "app", "minimised"])
def test_the_application_is_started(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    started: list[bool] = []

    def run(*, minimised: bool) -> int:
        started.append(minimised)
        return 5

    monkeypatch.setattr(desktop, "why_not", lambda: None)
    monkeypatch.setitem(sys.modules, "pinfill_app.application", types.SimpleNamespace(run=run))
    assert pinfill(*arguments).code == 5 and started == ["--minimised" in arguments]


def test_the_application_is_started_on_another_folder(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folders: list[Path] = []

    def run(*, minimised: bool) -> int:
        folders.append(settings.home())
        return 0

    monkeypatch.setattr(desktop, "why_not", lambda: None)
    monkeypatch.setitem(sys.modules, "pinfill_app.application", types.SimpleNamespace(run=run))
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "usual"))  # and what is set is taken back after the test
    assert pinfill("app", "--folder", str(tmp_path / "other one")).code == 0
    assert folders == [tmp_path / "other one"]


def test_an_application_that_does_not_run_is_ended_without_qt_and_without_a_folder(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setitem(sys.modules, "PySide6", None)
    outcome = pinfill("app", "--quit")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "The application is not running.\n")
    assert not home.exists()


def test_without_a_screen_there_is_help(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    outcome = pinfill()
    assert outcome.code == 2 and "serve" in outcome.out and outcome.err == ""
    assert_told(pinfill("app"), "screen" if importlib.util.find_spec("PySide6") else "desktop", "pinfill")


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from pinfill_service.cli import main\n"
        "sys.argv = ['pinfill', '--help']\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        f"    print('imported:', *({HEAVY!r} & sys.modules.keys()))\n"
    )
    paths = os.pathsep.join([str(Path(cli.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = dict(os.environ, PYTHONPATH=paths, PYTHONIOENCODING="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines()[-1].strip() == "imported:"


def test_version(pinfill: CommandLine) -> None:
    assert pinfill("--version").out == f"pinfill {__version__}\n"


def test_list_tells_catalogue_and_installed_models(pinfill: CommandLine, home: Path) -> None:
    ModelLibrary(home).import_model(LLAMA, "mine")
    rows = {row["name"]: row for row in json.loads(pinfill("models", "list", "--json").out)}
    assert not rows["smollm2-135m"]["installed"] and rows["smollm2-135m"]["in_catalogue"]
    assert rows["smollm2-135m"]["licence"] == "Apache-2.0" and rows["smollm2-135m"]["context_length"] == 8192
    assert rows["mine"]["installed"] and not rows["mine"]["in_catalogue"]
    assert (
        rows["mine"]["context_length"]
        == json.loads((LLAMA / "genai_config.json").read_text())["model"]["context_length"]
    )


def test_list_without_json_shows_the_same_models(pinfill: CommandLine, home: Path) -> None:
    ModelLibrary(home).import_model(LLAMA, "mine")
    lines = pinfill("models", "list").out.splitlines()
    assert next(line for line in lines if line.startswith("mine")).rstrip().endswith("yes")
    assert next(line for line in lines if line.startswith("smollm2-135m")).rstrip().endswith("no")


def test_import_and_remove(pinfill: CommandLine, home: Path) -> None:
    imported = json.loads(pinfill("models", "import", LLAMA, "--name", "mine", "--json").out)
    assert imported["name"] == "mine" and Path(imported["path"]) == home / "models" / "mine"
    assert pinfill("models", "remove", "mine", "--yes").code == 0
    assert not (home / "models" / "mine").exists()


def test_import_tells_programs_how_it_goes(pinfill: CommandLine, home: Path, tmp_path: Path) -> None:
    source = TinyLlama(layers=3).write(tmp_path / "tiny.gguf")
    done = pinfill("models", "import", source, "--name", "mine", "--json", "--progress-json")
    assert json.loads(done.out)["name"] == "mine"
    told = [json.loads(line) for line in done.err.splitlines()]
    assert all(line.keys() == {"stage", "done", "total"} for line in told)
    last = {line["stage"]: line["done"] == line["total"] for line in told}
    assert last["layers"] and list(last) == list(dict.fromkeys(line["stage"] for line in told))


def test_remove_asks_before_it_deletes(pinfill: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ModelLibrary(home).import_model(LLAMA, "mine")
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: SIM115 - closed below
    with sys.stdin:
        assert_told(pinfill("models", "remove", "mine"), "--yes")
    assert (home / "models" / "mine").is_dir()


def test_wrong_files_and_names_are_told(pinfill: CommandLine, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    assert_told(pinfill("models", "import", broken), "broken.gguf")
    assert_told(pinfill("models", "import", tmp_path / "absent"), "neither a .gguf file nor a folder with a model")
    assert_told(pinfill("models", "pull", "nothing-like-it"), "smollm2-135m")
    assert_told(pinfill("models", "remove", "absent", "--yes"), "absent")


def test_import_refuses_in_one_sentence(pinfill: CommandLine, tmp_path: Path, home: Path) -> None:
    whole = TinyLlama().write(tmp_path / "whole.gguf").read_bytes()
    (tmp_path / "part.gguf").write_bytes(whole[:-1000])
    RawGguf(keys=[("general.architecture", string("clip"))]).write(tmp_path / "mmproj.gguf")
    RawGguf(keys=[("general.architecture", string("bert"))]).write(tmp_path / "encoder.gguf")
    assert_told(pinfill("models", "import", tmp_path / "part.gguf", "--json"), "1,000 bytes are missing")
    assert_told(pinfill("models", "import", tmp_path / "mmproj.gguf"), "vision part")
    assert_told(pinfill("models", "import", tmp_path / "encoder.gguf"), "bert")
    assert_told(pinfill("models", "import", "ollama:absent"), "pinfill models found")
    assert not (home / "models").exists()


@pytest.fixture
def other_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which LM Studio has one good model and one that cannot be run; returns the good one's file."""
    for name in ("OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "user"))
    folder = tmp_path / "user" / ".lmstudio" / "models" / "someone" / "tiny"
    folder.mkdir(parents=True)
    RawGguf(keys=[("general.architecture", string("clip"))]).write(folder / "mmproj.gguf")
    return TinyLlama().write(folder / "Tiny.F32.gguf")


GOOD, BAD = "lmstudio:someone/tiny/Tiny.F32.gguf", "lmstudio:someone/tiny/mmproj.gguf"


@pytest.mark.parametrize("command", [("models", "found"), ("models", "import")])
def test_found_models_are_listed_with_what_can_be_done(
    pinfill: CommandLine, other_programs: Path, command: tuple[str, ...]
) -> None:
    rows = {row["id"]: row for row in json.loads(pinfill(*command, "--json").out)}
    assert rows[GOOD]["problem"] is None and rows[GOOD]["path"] == str(other_programs)
    assert (rows[GOOD]["architecture"], rows[GOOD]["bytes"]) == ("llama", other_programs.stat().st_size)
    assert "vision part" in rows[BAD]["problem"]

    outcome = pinfill(*command)
    lines = outcome.out.splitlines()
    assert GOOD in lines and BAD in lines  # whole lines: they can be copied
    assert any(line.strip().startswith("Cannot be imported: it is the vision part") for line in lines)
    assert "pinfill models import ID" in outcome.err and outcome.code == 0


def test_nothing_found_says_what_to_do(pinfill: CommandLine, other_programs: Path) -> None:
    other_programs.unlink()
    outcome = pinfill("models", "found")
    assert outcome.code == 0 and "pinfill models import PATH" in outcome.err


def test_a_found_model_is_imported_by_its_id(pinfill: CommandLine, other_programs: Path, home: Path) -> None:
    imported = json.loads(pinfill("models", "import", GOOD, "--json").out)
    assert (imported["name"], imported["source"]) == ("tiny.f32", GOOD)
    assert_told(pinfill("models", "import", BAD), "cannot be imported", "vision part")
    assert_told(pinfill("models", "import", other_programs, "--name", "again"), "already, as the model tiny.f32")
    assert [path.name for path in (home / "models").iterdir() if path.suffix != ".lock"] == ["tiny.f32"]


def test_show_tells_what_a_model_is(pinfill: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    tiny = TinyLlama()
    pinfill("models", "import", tiny.write(tmp_path / "tiny.gguf"), "--exact")

    shown = json.loads(pinfill("models", "show", "tiny", "--json").out)

    assert (shown["name"], shown["layout"], shown["graph"]) == ("tiny", "onnxruntime-genai", "model.onnx")
    assert (shown["architecture"], shown["quantisation"], shown["outdated"]) == ("llama", "F32", None)
    per_token = 2 * tiny.layers * tiny.kv_heads * tiny.head_size * 4
    assert shown["kv"]["kind"] == "appends in place" and shown["kv"]["bytes_per_token"] == {"float32": per_token}
    assert (shown["context_length"], shown["vocab_size"], shown["eos_ids"]) == (tiny.context, tiny.vocabulary, [2])
    assert not shown["chat_template"] and not shown["tools"] and shown["exact_reuse"]
    assert shown["provider"] == "CPUExecutionProvider" and shown["provider_reason"].startswith("CPU: ")
    assert shown["files"]["model.onnx"] == (Path(shown["path"]) / "model.onnx").stat().st_size

    lines = pinfill("models", "show", "tiny").out.splitlines()
    assert any(line.startswith("KV") and f"{per_token:,} bytes of float32 a token" in line for line in lines)
    assert any(line.startswith("Runs on") and "CPU: " in line for line in lines)


def test_show_knows_folders_and_says_what_is_missing(pinfill: CommandLine, home: Path) -> None:
    ModelLibrary(home).import_model(LLAMA, "mine")
    shown = json.loads(pinfill("models", "show", "mine", "--json").out)
    assert (shown["architecture"], shown["chat_template"], shown["tools"]) == ("llama", True, False)
    assert_told(pinfill("models", "show", "absent"), "absent is not on this machine")


def test_missing_model_says_how_to_get_it(pinfill: CommandLine) -> None:
    assert_told(pinfill("serve", "--no-key", "--port", 0), "pinfill models pull smollm2-135m")
    assert_told(pinfill("serve", "--no-key", "--port", 0, "--model", "./absent"), "There is no model folder")


def test_taken_port_names_the_program_and_the_next_step(pinfill: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = pinfill("serve", "--no-key", "--port", port, "--model", LLAMA)
    assert_told(outcome, f"127.0.0.1:{port} is taken", "pinfill serve --port")
    if sys.platform.startswith("linux"):
        assert f"process {os.getpid()}" in outcome.err


@pytest.mark.usefixtures("no_keyring")
def test_without_a_keyring_the_key_is_the_same_every_time(pinfill: CommandLine, home: Path) -> None:
    made = pinfill("key").out
    assert len(made.strip()) >= 43 and pinfill("key").out == made == (home / "api-key").read_text() + "\n"


@pytest.mark.usefixtures("no_keyring")
def test_without_any_place_for_a_key_the_next_steps_are_named(pinfill: CommandLine, home: Path) -> None:
    home.write_text("not a folder")
    assert_told(pinfill("key"), "PINFILL_API_KEY")
    assert_told(pinfill("serve", "--port", 0), "PINFILL_API_KEY", "--no-key")


@pytest.mark.usefixtures("no_keyring")
def test_key_prints_the_configured_key(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFILL_API_KEY", "my-own")
    assert pinfill("key").out == "my-own\n"
    assert json.loads(pinfill("key", "--json").out) == {"api_key": "my-own"}


def test_serving_beyond_loopback_without_a_key_is_refused(pinfill: CommandLine) -> None:
    assert_told(pinfill("serve", "--host", "0.0.0.0", "--no-key"), "without a key")


def test_wrong_setting_is_told_without_its_value(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("PINFILL_PORT", "secret-words")
    outcome = pinfill("key")
    assert_told(outcome, "port")
    assert "secret-words" not in outcome.err
    monkeypatch.delenv("PINFILL_PORT")
    home.mkdir()
    (home / "settings.toml").write_text("port = ", encoding="utf-8")
    assert_told(pinfill("key"), "not TOML")


def test_nobody_at_the_url(pinfill: CommandLine, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    assert_told(pinfill("bench", "--url", url), "Nothing answers")
    assert_told(pinfill("bench", "--url", "localhost:1"), "is not a URL")
    assert_told(pinfill("batch", tmp_path / "absent.jsonl", tmp_path / "out.jsonl", "--url", url), "absent.jsonl")


def test_wrong_usage_is_exit_code_2(pinfill: CommandLine) -> None:
    assert pinfill("serve", "--port", 70000).code == 2
    assert pinfill("no-such-command").code == 2


def test_ctrl_c_is_exit_code_130(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(level: LogLevel) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pinfill_service.commands.serve._set_up_logging", interrupted)
    assert pinfill("serve").code == 130


def test_a_bug_keeps_its_traceback(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(level: LogLevel) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pinfill_service.commands.serve._set_up_logging", broken)
    with pytest.raises(ZeroDivisionError):
        pinfill("serve")


def test_a_program_that_asks_for_codes_gets_them_in_front_of_the_sentence(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = "models", "show", "absent"
    plain = pinfill(*absent)
    assert_told(plain, "absent")
    monkeypatch.setenv("PINFILL_ERROR_CODES", "1")
    assert pinfill(*absent).err == f"error-code: model_not_found\n{plain.err}"
    assert pinfill("pin", "absent.md").err.startswith("error-code: not_running\nerror: ")
    assert pinfill("pins", "--json", "--watch").err.startswith("error: ")
