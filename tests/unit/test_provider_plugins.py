"""Plugin libraries of real wheels, each in a process of its own: what is registered stays."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinfill_service.engine.provider_choice import CPU
from tests.support.models import LLAMA

SCRIPT = """
    import json, sys
    from pathlib import Path
    from {package} import get_library_path
    from pinfill_service.engine.provider_choice import ProviderError, choose_provider
    from pinfill_service.engine.provider_libraries import register, survey
    from pinfill_service.engine.provider_session import open_session
    from pinfill_service.settings import Settings
    from tests.support.providers import ORDINARY, first_logits

    folder, library = Path(sys.argv[1]), Path(get_library_path())
    model = folder / "model.onnx"

    def answer(**flags):
        settings = Settings.from_flags(**flags)
        try:
            choice = choose_provider(settings, ORDINARY, survey(settings, ORDINARY, {{}}))
            opened = open_session(model, folder=folder, threads=1, entries={{}}, choice=choice)
        except ProviderError as error:
            return {{"error": str(error)}}
        report = opened.report
        return {{"provider": report.provider, "share": report.share, "sentence": report.sentence,
                "logits": first_logits(opened.session).tolist()}}

    devices = [(d.ep_name, d.kind) for d in register(library)]
    same = register(library) == register(library)
    print(json.dumps({{"devices": devices, "same": same, "auto": answer(provider_library=library),
        "npu": answer(provider="npu", provider_library=library), "path": answer(provider=str(library)),
        "cpu": answer(provider="cpu")}}))
"""


def with_plugin(package: str, at_least: tuple[int, int]) -> dict[str, Any]:
    import onnxruntime

    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the plugin wheel is not installed (PyPI: {package.replace('_', '-')})")
    if tuple(int(part) for part in onnxruntime.__version__.split(".")[:2]) < at_least:
        pytest.skip(f"{package} needs onnxruntime {at_least[0]}.{at_least[1]}, here is {onnxruntime.__version__}")
    root = Path(__file__).parents[2]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)])}
    script = textwrap.dedent(SCRIPT.format(package=package))
    done = subprocess.run(
        [sys.executable, "-c", script, str(LLAMA)], env=environ, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if any(kind == "npu" for _, kind in result["devices"]):
        pytest.skip("this machine has an NPU for this plugin")
    return result


def test_a_plugin_without_a_device_here_is_registered_and_auto_is_the_cpu() -> None:
    result = with_plugin("onnxruntime_ep_webgpu", (1, 25))
    assert result["same"]
    assert result["auto"]["provider"] == CPU and "no NPU" in result["auto"]["sentence"]
    assert "The model cannot run on an NPU: no NPU" in result["npu"]["error"]
    if not result["devices"]:  # no GPU either
        assert "offers no device here: check its driver; otherwise choose provider" in result["path"]["error"]


def test_a_plugin_with_a_device_runs_its_share_and_says_how_much() -> None:
    result = with_plugin("onnxruntime_ep_openvino", (1, 24))
    assert result["same"] and ["OpenVINOExecutionProvider", "cpu"] in result["devices"]
    assert result["auto"]["provider"] == CPU and "no NPU" in result["auto"]["sentence"]
    assert result["path"]["provider"] == "OpenVINOExecutionProvider"
    assert 0 < result["path"]["share"] < 1, "attention stays on the CPU"
    assert "not yet verified on hardware" in result["path"]["sentence"]
    ours, theirs = np.array(result["cpu"]["logits"]), np.array(result["path"]["logits"])
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.99  # it may compute in bf16
