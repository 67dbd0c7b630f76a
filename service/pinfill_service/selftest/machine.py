"""What the machine has: onnxruntime and its devices, NPUs, AMD's library. Loads no model."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

from pinfill_service.engine.npu import Npu
from pinfill_service.engine.provider_choice import Machine
from pinfill_service.engine.provider_libraries import survey
from pinfill_service.engine.providers import load_onnxruntime
from pinfill_service.selftest.report import NpuFacts, OnnxRuntime, RyzenAi, without_home
from pinfill_service.settings import Settings

_WHEELS = ("onnxruntime-vitisai", "onnxruntime")  # both provide the module `onnxruntime`


class _NoModel:
    """Implements GraphNeeds for a look at the machine alone."""

    operators: tuple[tuple[str, str], ...] = ()


def machine(settings: Settings) -> Machine:
    """Raises RuntimeMissingError."""
    return survey(settings, _NoModel())


def onnxruntime_facts(found: Machine) -> OnnxRuntime:
    """The module's version, the wheel that brought it, and what it offers. Raises RuntimeMissingError."""
    module = load_onnxruntime()
    build: Any = getattr(module, "get_build_info", lambda: "unknown")()
    return OnnxRuntime(
        version=module.__version__,
        distribution=next((f"{name} {version}" for name in _WHEELS if (version := _version(name))), None),
        build=str(build),
        providers=list(module.get_available_providers()),
        devices=[f"{device.ep_name}: {device.kind} ({device.vendor})" for device in found.devices],
    )


def npu_facts(npu: Npu) -> NpuFacts:
    return NpuFacts(
        pci_id=f"{npu.vendor_id:04x}:{npu.device_id:04x}",
        name=npu.name,
        runs_llms=npu.runs_llms,
        driver=npu.driver,
        driver_version=npu.driver_version,
        firmware_version=npu.firmware_version,
        node=str(npu.node) if npu.node else None,
        obstacle=npu.obstacle,
    )


def accel_nodes(dev: Path = Path("/dev")) -> list[str]:
    """Device files of accelerators on Linux; none elsewhere."""
    return sorted(str(path) for path in (dev / "accel").glob("accel[0-9]*"))


def ryzenai_facts(found: Machine) -> RyzenAi:
    library = found.library
    error = without_home(found.library_error) if found.library_error else None
    return RyzenAi(named=library is not None, found=library is not None and library.is_file(), error=error)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
