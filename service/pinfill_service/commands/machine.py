"""Facts about this machine, to go with numbers that were measured on it."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import psutil

from pinfill_service import __version__


def machine_facts() -> dict[str, object]:
    """Processor, cores, memory and versions."""
    return {
        "cpu": _cpu_model(),
        "cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count(),
        "memory_mib": psutil.virtual_memory().total >> 20,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "pinfill": __version__,
        "onnxruntime": _version("onnxruntime") or _version("onnxruntime-vitisai"),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return os.environ.get("PROCESSOR_IDENTIFIER") or platform.processor()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
