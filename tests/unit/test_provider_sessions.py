"""Plugin libraries and sessions: registered once, opened where it was chosen, reported as it is. No NPU is needed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinfill_service.engine import provider_libraries, provider_session
from pinfill_service.engine.provider_choice import (
    CPU,
    RYZENAI,
    EpDevice,
    ProviderChoice,
    ProviderError,
    choose_provider,
    on_cpu,
)
from pinfill_service.engine.provider_libraries import register, survey
from pinfill_service.engine.provider_vitisai import VITISAI, cache_key
from pinfill_service.settings import Settings
from tests.support.models import LLAMA
from tests.support.providers import (
    AMDS,
    LIBRARY,
    NPU_DEVICE,
    ORDINARY,
    PLAIN,
    WITH_VITISAI,
    StubRuntime,
    choose,
    device,
    first_logits,
    opened,
    without_settings,
)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this machine, and no library registered by another test."""
    without_settings(tmp_path, monkeypatch)
    monkeypatch.setattr(provider_libraries, "_registered", {})


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> StubRuntime:
    stub = StubRuntime()
    monkeypatch.setattr(provider_libraries, "load_onnxruntime", lambda: stub)
    monkeypatch.setattr(provider_session, "load_onnxruntime", lambda: stub)
    monkeypatch.setattr(provider_libraries, "find_npus", lambda: ())
    return stub


@pytest.fixture
def library(tmp_path: Path, runtime: StubRuntime) -> Path:
    path = tmp_path / "libonnxruntime_providers_ryzenai.so"
    path.write_bytes(b"\x7fELF")
    runtime.brings[path.name] = [device(RYZENAI, "NPU")]
    return path


# -- registration -----------------------------------------------------------------------------------------------------


def test_a_library_is_registered_once_whatever_it_is_called(
    tmp_path: Path, runtime: StubRuntime, library: Path
) -> None:
    link = tmp_path / "link.so"
    link.symlink_to(library)
    first = register(library)
    assert register(link) == register(tmp_path / "." / library.name) == first
    assert runtime.registered == [(RYZENAI, str(library.resolve()))]
    assert first == (EpDevice(RYZENAI, "npu", "AMD", library.resolve()),)


def test_two_libraries_of_one_file_name_get_two_names(tmp_path: Path, runtime: StubRuntime) -> None:
    runtime.brings["libx.so"] = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "libx.so").write_bytes(b"")
        assert register(tmp_path / folder / "libx.so") == ()
    assert len({name for name, _ in runtime.registered}) == 2


def test_the_survey_lists_devices_with_the_library_that_brought_them(runtime: StubRuntime, library: Path) -> None:
    settings = Settings.from_flags(provider="ryzenai")
    for _ in range(2):
        machine = survey(settings, AMDS, {"RYZENAI_EP_PATH": str(library)})
        assert machine.library == library.resolve() and machine.library_error is None
        assert [(d.ep_name, d.kind, d.library) for d in machine.devices] == [
            (RYZENAI, "npu", library.resolve()),
            (CPU, "cpu", None),
        ]
        assert choose_provider(settings, AMDS, machine).name == RYZENAI
    assert len(runtime.registered) == 1


def test_a_library_that_fails_is_a_reason_for_auto_and_an_error_when_asked_for(
    tmp_path: Path, runtime: StubRuntime
) -> None:
    broken = tmp_path / "libbroken.so"
    broken.write_bytes(b"")
    machine = survey(Settings.from_flags(provider_library=broken), ORDINARY, {})
    assert (
        machine.library_error is not None
        and "(Failed to load library with error: invalid ELF header)" in machine.library_error
    )
    assert choose("auto", ORDINARY, machine).reason == f"CPU: {machine.library_error}"
    with pytest.raises(ProviderError, match="invalid ELF header"):
        choose(str(broken), ORDINARY, machine)


# -- sessions ---------------------------------------------------------------------------------------------------------

PLUGIN_NPU = replace(NPU_DEVICE, handle=device(RYZENAI, "NPU"))
ON_RYZENAI = ProviderChoice(RYZENAI, "NPU: made for it", {"a": "b"}, (PLUGIN_NPU,), LIBRARY)


def test_the_cpu_gets_spinning_and_the_models_entries(runtime: StubRuntime) -> None:
    entries = {"session.intra_op.allow_spinning": "0"}
    report = opened(on_cpu("a reason"), LLAMA / "model.onnx", entries).report
    call = runtime.opened[0]
    assert call["providers"] == [CPU] and call["enable_fallback"] == 0
    assert call["source"] == str(LLAMA / "model.onnx") and call["options"].intra_op_num_threads == 3
    assert call["options"].entries == {"session.intra_op.allow_spinning": "0", "session.force_spinning_stop": "1"}
    assert (report.provider, report.device, report.share, report.sentence) == (CPU, "CPU", 1.0, "CPU: a reason")
    assert report.verified_on_hardware


def test_ryzenai_gets_devices_operators_and_the_models_folder(runtime: StubRuntime) -> None:
    runtime.assigned = [(CPU, ["", "com.ryzenai"]), (RYZENAI, ["", "com.ryzenai"]), (CPU, [""])]
    report = opened(ON_RYZENAI, entries={"session.intra_op.allow_spinning": "0"}).report
    call = runtime.opened[0]
    assert call["providers"] is None and call["options"].providers == ([PLUGIN_NPU.handle], {"a": "b"})
    assert call["options"].custom_ops == str(LIBRARY)
    assert call["options"].entries == {
        "session.record_ep_graph_assignment_info": "1",
        "session.model_external_initializers_file_folder_path": str(LLAMA),
        "model_root": str(LLAMA),
    }
    assert report.device == "AMD NPU" and report.share == pytest.approx(3 / 5)
    assert report.sentence == "NPU: made for it; 60 % of the model's nodes run there; not yet verified on hardware"
    assert not report.verified_on_hardware


def test_other_plugins_get_no_operators_from_domains(runtime: StubRuntime) -> None:
    runtime.assigned = [(CPU, ["com.ryzenai"] * 199), ("Other", [""])]
    other = ProviderChoice("Other", "NPU: x", {}, (replace(PLUGIN_NPU, handle=device("Other", "NPU")),))
    report = opened(other).report
    assert runtime.opened[0]["options"].custom_ops is None
    assert report.share == 1 / 200 and "0 % of the model's nodes" in report.sentence


def test_an_unknown_share_stays_unknown(runtime: StubRuntime) -> None:
    report = opened(ON_RYZENAI).report
    assert report.share is None and "an unknown share of the model's nodes" in report.sentence
    runtime.assigned = []
    assert opened(ON_RYZENAI).report.share is None


@pytest.mark.parametrize("failure", ["raises", "takes nothing"])
def test_an_automatic_choice_that_fails_becomes_the_cpu(runtime: StubRuntime, failure: str) -> None:
    if failure == "raises":
        runtime.fails_on = RYZENAI
    else:
        runtime.assigned = [(CPU, ["", ""])]
    with pytest.raises(ProviderError, match=r"cannot run this model .*: choose provider `auto` or `cpu`"):
        opened(ON_RYZENAI)
    report = opened(replace(ON_RYZENAI, automatic=True)).report
    assert report.provider == CPU and report.reason.startswith(f"CPU: {RYZENAI} cannot run this model (")
    words = "(the driver is too" if failure == "raises" else "(it takes none of the model's operators)"
    assert words in report.sentence and len(report.sentence) < 300 and "\n" not in report.sentence
    assert runtime.opened[-1]["options"].entries["session.force_spinning_stop"] == "1"
    assert runtime.opened[-1]["options"].custom_ops is None


def test_a_provider_that_is_not_in_the_session_did_not_load(runtime: StubRuntime) -> None:
    other = ProviderChoice("Missing", "NPU: x", {}, (PLUGIN_NPU,))
    with pytest.raises(ProviderError, match="takes none of the model's operators"):
        opened(other)


def test_when_the_cpu_fails_the_reason_for_it_is_told_too(runtime: StubRuntime) -> None:
    runtime.fails_on = CPU
    with pytest.raises(ProviderError, match=r"cannot be loaded on the CPU: the driver is .* \(CPU: no library\)"):
        opened(on_cpu("no library"))
    assert len(runtime.opened) == 1


def vitisai(**settings: Any) -> ProviderChoice:
    return choose("vitisai", PLAIN, WITH_VITISAI, **settings)


def test_vitisai_reports_its_own_share(runtime: StubRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XLNX_ONNX_EP_REPORT_FILE", raising=False)
    stat = [{"name": "all", "nodeNum": 400}, {"name": "CPU", "nodeNum": 100}, {"name": "DPU", "nodeNum": 300}]

    def compile_model(options: dict[str, str]) -> None:
        folder = Path(options["cache_dir"], options["cache_key"])
        folder.mkdir(exist_ok=True)  # its parent was made for it
        (folder / os.environ["XLNX_ONNX_EP_REPORT_FILE"]).write_text(json.dumps({"deviceStat": stat}))

    runtime.on_open = compile_model
    report = opened(vitisai()).report
    assert (report.provider, report.device, report.share) == (VITISAI, "AMD NPU", 0.75)
    (name, options), fallback = runtime.opened[0]["providers"]
    assert (name, fallback) == (VITISAI, CPU) and set(options) >= {"cache_dir", "cache_key"}
    stat[1]["nodeNum"] = 400
    with pytest.raises(ProviderError, match="takes none"):
        opened(vitisai())


@pytest.mark.parametrize("report", ["", "[]", '{"deviceStat": [{"name": "all", "nodeNum": 0}]}', '{"deviceStat": 3}'])
def test_a_report_that_says_nothing_is_no_share(runtime: StubRuntime, report: str) -> None:
    def compile_model(options: dict[str, str]) -> None:
        folder = Path(options["cache_dir"], options["cache_key"])
        folder.mkdir()
        (folder / "vitisai_ep_report.json").write_text(report)

    runtime.on_open = compile_model
    assert opened(vitisai()).report.share is None


def test_a_missing_vitisai_configuration_is_told_before_anything_is_compiled(
    runtime: StubRuntime, tmp_path: Path
) -> None:
    with pytest.raises(ProviderError, match=r"its configuration .*none\.json does not exist"):
        opened(vitisai(vitisai_config=tmp_path / "none.json"))
    assert not runtime.opened


def test_the_cache_key_changes_with_graph_weights_and_options(tmp_path: Path) -> None:
    graph, weights = tmp_path / "model.onnx", tmp_path / "model.onnx.data"
    graph.write_bytes(b"graph")
    weights.write_bytes(b"weights")
    key = cache_key(graph, tmp_path, {})
    assert key == cache_key(b"graph", tmp_path, {}) == cache_key(graph, tmp_path, {})
    os.utime(weights, ns=(1, 1))
    keys = [
        key,
        cache_key(graph, tmp_path, {}),
        cache_key(graph, tmp_path, {"a": "b"}),
        cache_key(b"other", tmp_path, {}),
    ]
    assert len(set(keys)) == 4


# -- the real onnxruntime ---------------------------------------------------------------------------------------------


def test_a_graph_in_memory_finds_its_weights_in_the_folder() -> None:
    from_file = opened(on_cpu("x"), LLAMA / "model.onnx")
    from_memory = opened(on_cpu("x"), (LLAMA / "model.onnx").read_bytes())
    np.testing.assert_array_equal(first_logits(from_file.session), first_logits(from_memory.session))


def test_a_graph_that_cannot_be_loaded_is_one_sentence(tmp_path: Path) -> None:
    for model in (b"no graph", tmp_path / "missing.onnx"):
        with pytest.raises(ProviderError, match="cannot be loaded on the CPU") as caught:
            opened(on_cpu("x"), model)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_what_is_no_library_is_refused_in_a_sentence(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library")
    for path, words in (
        (text, "is not a plugin library that onnxruntime"),
        (tmp_path, "is a folder"),
        (tmp_path / "x.so", "there is no"),
    ):
        with pytest.raises(ProviderError, match=words) as caught:
            register(path)
        assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert not provider_libraries._registered


def test_here_auto_is_the_cpu_with_the_real_onnxruntime() -> None:
    machine = survey(Settings.from_flags(), ORDINARY, {})
    if machine.has_npu:
        pytest.skip("this machine has an NPU")
    choice = choose("auto", ORDINARY, machine)
    assert choice.reason == "CPU: no NPU was found (no NPU device among the execution provider devices)"
    assert opened(choice, LLAMA / "model.onnx").report.sentence == choice.reason
