"""Registers plugin execution provider libraries with onnxruntime, once a process, and finds what a machine offers.

A plugin library is code that runs in this process: its path comes from the user's settings alone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pinfill_service.engine.npu import find_npus
from pinfill_service.engine.provider_choice import (
    RYZENAI,
    EpDevice,
    GraphNeeds,
    Machine,
    ProviderError,
    library_wanted,
)
from pinfill_service.engine.providers import load_onnxruntime
from pinfill_service.settings import Settings

_MESSAGE_LIMIT = 200
_lock = threading.Lock()
_registered: dict[Path, tuple[EpDevice, ...]] = {}  # real path of a library -> the devices that it brought


def survey(settings: Settings, needs: GraphNeeds, environ: Mapping[str, str] = os.environ) -> Machine:
    """What there is to choose from. Registers the user's plugin library when the settings or the model call for it.

    A library that cannot be registered is no error here: whether one is needed is for `choose_provider` to say.
    """
    onnxruntime = load_onnxruntime()
    library, error = library_wanted(settings, needs, environ), None
    devices: tuple[EpDevice, ...] = ()
    if library is not None:
        try:
            devices = register(library)
            library = library.resolve()
        except ProviderError as failure:
            error = str(failure)
    own = {_key(device) for device in devices}
    built_in = tuple(device for device in _devices(onnxruntime) if _key(device) not in own)
    return Machine(frozenset(onnxruntime.get_available_providers()), devices + built_in, find_npus(), library, error)


def register(library: Path) -> tuple[EpDevice, ...]:
    """Registers a plugin library and returns the devices it offers here, possibly none.

    A second call for the same file (links followed) returns the same devices. Libraries stay registered: sessions may
    use them until the process ends. Raises ProviderError when the file is not such a library.
    """
    _check_file(library)
    path = library.resolve()
    with _lock:
        if path not in _registered:
            _registered[path] = _register(load_onnxruntime(), path)
        return _registered[path]


def short_message(error: Exception) -> str:
    """onnxruntime's message without its code, in one short line and without a full stop."""
    text = " ".join(str(error).split()) or type(error).__name__
    if text.startswith("[ONNXRuntimeError]"):
        text = text.split(" : ", 3)[-1]
    return (text if len(text) <= _MESSAGE_LIMIT else text[: _MESSAGE_LIMIT - 3] + "...").rstrip(".")


def _check_file(library: Path) -> None:
    if library.is_dir():
        raise ProviderError(f"{library} is a folder, not a plugin library: name the library file in it")
    if not library.is_file():
        raise ProviderError(f"there is no plugin library {library}: correct its path")


def _register(onnxruntime: Any, path: Path) -> tuple[EpDevice, ...]:
    before = {_key(device) for device in _devices(onnxruntime)}
    # Some providers name their devices after the registration, and RyzenAI's is known by one name.
    name = RYZENAI if "ryzenai" in path.name.lower() else path.stem
    if any(other.stem == path.stem for other in _registered):
        name = f"{name}.{len(_registered)}"
    try:
        onnxruntime.register_execution_provider_library(name, str(path))
    except Exception as error:  # onnxruntime's exceptions have no base class of their own
        version, message = onnxruntime.__version__, short_message(error)
        raise ProviderError(f"{path} is not a plugin library that onnxruntime {version} can use ({message})") from error
    return tuple(replace(device, library=path) for device in _devices(onnxruntime) if _key(device) not in before)


def _devices(onnxruntime: Any) -> list[EpDevice]:
    kinds = {"CPU": "cpu", "GPU": "gpu", "NPU": "npu"}
    return [
        EpDevice(
            ep_name=handle.ep_name,
            kind=kinds.get(handle.device.type.name, "other"),
            vendor=handle.device.vendor or handle.ep_vendor,
            handle=handle,
        )
        for handle in onnxruntime.get_ep_devices()
    ]


def _key(device: EpDevice) -> tuple[object, ...]:
    """What tells a device from another one: onnxruntime makes new objects for every answer."""
    hardware = device.handle.device
    return device.ep_name, device.kind, hardware.vendor_id, hardware.device_id
