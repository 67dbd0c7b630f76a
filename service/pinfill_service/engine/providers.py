"""Finds the one `onnxruntime` module, whichever wheel provides it."""

from __future__ import annotations

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
