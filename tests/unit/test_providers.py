"""Execution providers: what is chosen and why, and what a model folder may not ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from pinfill_service.engine.provider_choice import CPU, RYZENAI, Machine, ProviderError, choose_provider, library_wanted
from pinfill_service.engine.provider_folder import ryzenai_options, safe_entries
from pinfill_service.engine.provider_vitisai import VITISAI
from pinfill_service.settings import Settings, home
from tests.support.providers import (
    AMDS,
    BARE,
    COMPILED,
    LIBRARY,
    MS,
    NPU_DEVICE,
    ORDINARY,
    OTHER,
    PHOENIX_NPU,
    PLAIN,
    STRIX_NPU,
    WITH_NPU,
    WITH_OTHER,
    WITH_RYZENAI,
    WITH_VITISAI,
    Needs,
    choose,
    without_settings,
)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this machine."""
    without_settings(tmp_path, monkeypatch)


# -- settings ---------------------------------------------------------------------------------------------------------


def test_a_provider_is_a_known_name_or_a_path() -> None:
    for name in ("auto", "cpu", "npu", "vitisai", "ryzenai", "/opt/ep/libx.so", "x.dll", "./lib"):
        assert Settings.from_flags(provider=name).provider == name
    with pytest.raises(ValidationError, match="auto, cpu, npu, vitisai, ryzenai, or the path"):
        Settings.from_flags(provider="gpu")


def test_a_library_is_named_once() -> None:
    with pytest.raises(ValidationError, match="leave provider_library out"):
        Settings.from_flags(provider="/opt/a.so", provider_library=Path("/opt/b.so"))


@pytest.mark.parametrize("options", [{"": "1"}, {"a b": "1"}, {"a": "1\n2"}, {"a": "x" * 1025}, {"a\0": "1"}])
def test_provider_options_are_plain(options: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="not a plain name with a short, printable value"):
        Settings.from_flags(provider_options=options)


def test_the_environment_sets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFILL_PROVIDER", "ryzenai")
    monkeypatch.setenv("PINFILL_PROVIDER_LIBRARY", "/opt/a.so")
    monkeypatch.setenv("PINFILL_PROVIDER_OPTIONS", '{"target": "X2"}')
    settings = Settings.from_flags()
    assert (settings.provider, settings.provider_library) == ("ryzenai", Path("/opt/a.so"))
    assert settings.provider_options == {"target": "X2"}


# -- the choice -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("needs", "machine", "words"),
    [
        (ORDINARY, BARE, "no NPU was found (no NPU device among the execution provider devices)"),
        (ORDINARY, Machine(frozenset({CPU, VITISAI})), "no NPU was found"),
        (
            ORDINARY,
            WITH_NPU,
            "an NPU (AMD Strix or Krackan Point) but no execution provider for it: install pinfill[npu]",
        ),
        (
            ORDINARY,
            WITH_VITISAI,
            "the model uses GroupQueryAttention and MatMulNBits, which AMD's operator table for VitisAI does not have",
        ),
        (AMDS, WITH_VITISAI, "made for AMD's RyzenAI library, but its library is not set: set RYZENAI_EP_PATH"),
        (AMDS, replace(WITH_RYZENAI, npus=(PHOENIX_NPU,)), "AMD Phoenix or Hawk Point) has no LLM path"),
        (AMDS, replace(WITH_RYZENAI, devices=()), "offers no RyzenAI NPU device here: check the NPU's driver"),
        (
            AMDS,
            replace(WITH_RYZENAI, devices=(), npus=(replace(STRIX_NPU, driver=None),)),
            "the NPU (AMD Strix or Krackan Point) has no driver: install",
        ),
        (AMDS, WITH_OTHER, "the library offers no RyzenAI NPU device here"),
        (ORDINARY, WITH_RYZENAI, "libonnxruntime_providers_ryzenai.so offers no NPU device here"),
        (ORDINARY, replace(BARE, library=OTHER, library_error="libother.so is broken"), "libother.so is broken"),
        (ORDINARY, replace(WITH_OTHER, devices=WITH_OTHER.devices[1:]), "no NPU was found"),
    ],
)
def test_auto_falls_back_to_the_cpu_and_says_why(needs: Needs, machine: Machine, words: str) -> None:
    choice = choose("auto", needs, machine)
    assert choice.is_cpu and choice.reason.startswith("CPU: ") and words in choice.reason
    with pytest.raises(
        ProviderError, match=r"cannot run on an NPU.*; otherwise choose provider `auto` or `cpu`"
    ) as caught:
        choose("npu", needs, machine)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("needs", "machine", "name"),
    [
        (PLAIN, WITH_VITISAI, VITISAI),
        (COMPILED, WITH_VITISAI, VITISAI),
        (AMDS, WITH_RYZENAI, RYZENAI),
        (ORDINARY, WITH_OTHER, "OtherExecutionProvider"),
    ],
)
def test_auto_and_npu_take_an_npu_that_can_load_the_model(needs: Needs, machine: Machine, name: str) -> None:
    automatic, asked = choose("auto", needs, machine), choose("npu", needs, machine)
    assert automatic.name == asked.name == name
    assert automatic.reason.startswith("NPU")
    assert automatic.automatic and not asked.automatic


@pytest.mark.parametrize(
    ("provider", "needs", "machine", "words"),
    [
        ("vitisai", ORDINARY, BARE, "no VitisAIExecutionProvider: install pinfill[npu]"),
        ("vitisai", ORDINARY, Machine(frozenset({CPU, VITISAI})), "no NPU was found"),
        ("vitisai", AMDS, WITH_VITISAI, "VitisAI does not run: choose provider `ryzenai`"),
        ("ryzenai", AMDS, BARE, "set RYZENAI_EP_PATH or provider_library"),
        ("ryzenai", AMDS, replace(WITH_RYZENAI, npus=(PHOENIX_NPU,)), "has no LLM path"),
        ("ryzenai", AMDS, replace(BARE, library=LIBRARY, library_error="it is broken"), "it is broken"),
        (str(OTHER), ORDINARY, replace(WITH_OTHER, devices=()), "libother.so offers no device here"),
        (str(OTHER), AMDS, WITH_OTHER, "only AMD's RyzenAI library runs"),
        (str(OTHER), ORDINARY, replace(BARE, library=OTHER, library_error="it is broken"), "it is broken"),
    ],
)
def test_what_was_asked_for_and_cannot_be_had_is_an_error(
    provider: str, needs: Needs, machine: Machine, words: str
) -> None:
    with pytest.raises(ProviderError) as caught:
        choose(provider, needs, machine)
    message = str(caught.value)
    name = "by plugin" if provider == str(OTHER) else provider
    assert message.startswith(f"The provider {name} cannot be used: ") and words in message
    assert message.endswith("; otherwise choose provider `auto` or `cpu`")


def test_what_was_asked_for_is_taken_where_auto_would_not() -> None:
    assert choose("cpu", AMDS, WITH_RYZENAI).reason == "CPU: the settings ask for it"
    assert choose("vitisai", ORDINARY, WITH_VITISAI).name == VITISAI
    assert choose("ryzenai", ORDINARY, WITH_RYZENAI).name == RYZENAI
    by_cpu = choose(str(OTHER), ORDINARY, replace(WITH_OTHER, devices=WITH_OTHER.devices[1:]))
    assert (by_cpu.name, by_cpu.reason) == ("Other.cpu", "CPU by plugin: libother.so offers one (Intel)")
    assert choose(str(OTHER), ORDINARY, WITH_OTHER).devices == WITH_OTHER.devices[:1]


def test_ryzenai_brings_its_operators_and_takes_the_folders_safe_options() -> None:
    settings = Settings.from_flags(provider="ryzenai", provider_options={"hybrid_opt_a": "user"})
    choice = choose_provider(settings, AMDS, WITH_RYZENAI, {"hybrid_opt_a": "folder", "hybrid_opt_b": "folder"})
    assert choice.custom_ops == LIBRARY and choice.devices == (NPU_DEVICE,)
    assert choice.options == {"hybrid_opt_a": "user", "hybrid_opt_b": "folder"}
    by_path = choose(str(LIBRARY), AMDS, WITH_RYZENAI)
    assert by_path.name == RYZENAI and by_path.custom_ops == LIBRARY


def test_vitisai_compiles_into_our_folder_and_users_options_win(tmp_path: Path) -> None:
    choice = choose("vitisai", PLAIN, WITH_VITISAI, vitisai_config=tmp_path / "c.json", provider_options={"a": "b"})
    assert choice.options["cache_dir"] == str(home() / "providers" / "vitisai")
    assert choice.options["config_file"] == str(tmp_path / "c.json") and choice.options["a"] == "b"
    assert "target" not in choice.options
    phoenix = replace(WITH_VITISAI, npus=(PHOENIX_NPU,))
    assert choose("vitisai", PLAIN, phoenix).options["target"] == "X1"
    assert choose("vitisai", PLAIN, phoenix, provider_options={"target": "X3"}).options["target"] == "X3"


def test_a_long_list_of_missing_operators_is_cut() -> None:
    needs = Needs(frozenset({("", "Trilu"), ("", "If"), (MS, "MatMulNBits"), (MS, "SkipLayerNormalization")}))
    assert "uses MatMulNBits, If and 2 more operators, which" in choose("auto", needs, WITH_VITISAI).reason


def test_a_library_is_loaded_only_for_a_reason() -> None:
    environ = {"RYZENAI_EP_PATH": str(LIBRARY)}
    assert library_wanted(Settings.from_flags(), ORDINARY, environ) is None
    assert library_wanted(Settings.from_flags(), AMDS, environ) == LIBRARY
    assert library_wanted(Settings.from_flags(provider="npu"), ORDINARY, environ) == LIBRARY
    assert library_wanted(Settings.from_flags(provider="cpu", provider_library=OTHER), AMDS, environ) is None
    assert library_wanted(Settings.from_flags(provider_library=OTHER), AMDS, environ) == OTHER
    assert library_wanted(Settings.from_flags(provider="~/x.so"), AMDS, environ) == Path("~/x.so").expanduser()
    assert library_wanted(Settings.from_flags(provider="ryzenai"), AMDS, {"RYZENAI_EP_PATH": ""}) is None


# -- model folders are not trusted ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "session.optimized_model_filepath",
        "session.model_external_initializers_file_folder_path",
        "session.moe_expert_counter_state_file",
        "session.enable_profiling",
        "session.force_spinning_stop",
        "ep.context_file_path",
        "ep.context_enable",
        "ep.vitisaiexecutionprovider.config_file",
        "session.gqa_value_layout",
    ],
)
def test_a_folder_cannot_name_files_or_layouts(name: str) -> None:
    assert safe_entries({name: "1", "session.set_denormal_as_zero": "1"}) == {"session.set_denormal_as_zero": "1"}
    assert safe_entries({"session.set_denormal_as_zero": "/tmp/x"}) == {}


def test_a_folders_provider_options_cannot_load_code_or_leave_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(b"")
    (tmp_path / "secret").write_bytes(b"")
    (folder / "link").symlink_to(tmp_path / "secret")
    options = {
        "hybrid_opt_max_seq_length": 4096,
        "external_data_file": "weights.bin",
        "dd_cache": "link",
        "hybrid_opt_path": "../secret",
        "custom_ops_library": "weights.bin",
        "config_file": "weights.bin",
        "library_path": "weights.bin",
    }
    session_options = {
        "custom_ops_library": "evil.so",
        "provider_options": [{"VitisAI": {"config_file": "/etc/passwd"}}, {"RyzenAI": options}, 3, {"RyzenAI": []}],
    }
    assert ryzenai_options(session_options, folder) == {
        "hybrid_opt_max_seq_length": "4096",
        "external_data_file": "weights.bin",
    }


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", ".", "", "missing", "a\0b", "link/../../secret"])
def test_files_outside_the_folder_are_no_options(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"")
    assert ryzenai_options({"provider_options": [{"RyzenAI": {"external_data_file": name}}]}, folder) == {}
    assert ryzenai_options({"provider_options": {"RyzenAI": {"external_data_file": "x"}}}, folder) == {}
