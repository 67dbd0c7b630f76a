"""The self-test: on a small model, on machines that lack things, and without anything secret in what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinfill_service.engine import provider_libraries
from pinfill_service.engine.npu import AMD, PHOENIX, STRIX, Npu
from pinfill_service.selftest import run as selftest_run
from pinfill_service.selftest.report import RequestRun, without_home
from tests.support.command_line import CommandLine
from tests.support.models import LLAMA
from tests.support.tiny_gguf import TinyLlama

SECRET = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def pinfill(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PINFILL_API_KEY", SECRET)
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def model(pinfill: CommandLine, tmp_path: Path) -> str:
    file = TinyLlama(context=640).write(tmp_path / "model.gguf")
    assert pinfill("models", "import", file).code == 0
    return "model"


def test_a_model_answers_the_same_from_the_cache(pinfill: CommandLine, model: str) -> None:
    outcome = pinfill("selftest", "--model", model, "--json")
    assert outcome.code == 0, outcome
    found = json.loads(outcome.out)
    run = found["request"]
    assert run["equal"] and 300 < run["cached_tokens"] < run["prompt_tokens"]
    assert found["model"]["provider"] == "CPUExecutionProvider" and found["problems"] == []
    assert "CPUExecutionProvider" in found["onnxruntime"]["providers"]
    assert SECRET not in outcome.out + outcome.err


def test_people_read_the_same(pinfill: CommandLine, model: str) -> None:
    outcome = pinfill("selftest", "--model", model)
    assert outcome.code == 0, outcome
    assert "equal" in outcome.out and "onnxruntime" in outcome.out and "Problem" not in outcome.out


def test_without_a_model_it_says_so_and_still_looks_at_the_machine(pinfill: CommandLine) -> None:
    outcome = pinfill("selftest", "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 1 and found["request"] is None
    assert found["onnxruntime"]["version"] and any(
        "smollm2-135m" in problem["message"] for problem in found["problems"]
    )
    assert pinfill("selftest", "--no-model").code == 0


def test_npus_are_told_with_what_keeps_them_from_use(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    npus = (
        Npu(AMD, STRIX, 0x10, "AMD Strix or Krackan Point", "amdxdna", "1.2"),
        Npu(AMD, PHOENIX, 0, "AMD Phoenix or Hawk Point"),
    )
    monkeypatch.setattr(provider_libraries, "find_npus", lambda: npus)
    strix, phoenix = json.loads(pinfill("selftest", "--no-model", "--json").out)["npus"]
    assert (strix["pci_id"], strix["runs_llms"], strix["obstacle"]) == ("1022:17f0", True, None)
    assert (phoenix["pci_id"], phoenix["runs_llms"]) == ("1022:1502", False) and "driver" in phoenix["obstacle"]
    (problem,) = json.loads(pinfill("selftest", "--no-model", "--json").out)["problems"]
    assert (problem["code"], problem["message"]) == ("npu_without_driver", phoenix["obstacle"])
    shown = " ".join(pinfill("selftest", "--no-model").out.split())
    assert problem["message"] in shown and "not yet verified on hardware" in shown and "has no path" in shown


def test_an_answer_that_differs_is_a_failure(pinfill: CommandLine, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RequestRun(prompt_tokens=9, cached_tokens=8, cold_seconds=1, warm_seconds=0.1, equal=False)
    monkeypatch.setattr(selftest_run, "ask_twice", lambda *_: run)
    outcome = pinfill("selftest", "--model", model)
    assert outcome.code == 1 and "DIFFERENT" in outcome.out and "report this" in " ".join(outcome.out.split())


def test_a_broken_model_is_a_problem_with_its_reason(pinfill: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "tokenizer.json").write_bytes((LLAMA / "tokenizer.json").read_bytes())
    outcome = pinfill("selftest", "--model", folder, "--json")
    (problem,) = json.loads(outcome.out)["problems"]
    assert outcome.code == 1 and problem["code"] == "model_unusable"
    assert problem["message"].startswith("No answer came: ")


def test_paths_do_not_tell_who_the_user_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ada"))
    assert without_home("/home/ada/models/x.so cannot be read") == "~/models/x.so cannot be read"
