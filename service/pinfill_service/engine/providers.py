"""Finds the one `onnxruntime` module, whichever wheel provides it."""

from __future__ import annotations

import os
from typing import Any

MINIMUM = (1, 23)


class RuntimeMissingError(RuntimeError):
    """No usable onnxruntime is installed; the message says how to get one."""


def load_onnxruntime() -> Any:
    """The onnxruntime module. Raises RuntimeMissingError with the next step.

    Its official builds report to Microsoft unless they are told not to before they are loaded (their Privacy.md).
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise RuntimeMissingError(
            "onnxruntime is not installed: install Pinfill with one of its extras, pinfill[cpu] or pinfill[npu]"
        ) from error
    version = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    if version < MINIMUM:
        raise RuntimeMissingError(f"onnxruntime {onnxruntime.__version__} is too old: 1.23 or later is needed")
    onnxruntime.disable_telemetry_events()  # builds for Windows that do not know the variable
    return onnxruntime
