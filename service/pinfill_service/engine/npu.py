"""Finds NPUs and their drivers without loading anything: sysfs on Linux, the registry on Windows.

PCI ids: "APU Types" of AMD's Ryzen AI documentation. Driver attributes: amd/xdna-driver, amdxdna_sysfs.c. The Windows
part and everything about a real NPU is not yet verified on hardware.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AMD = 0x1022
PHOENIX = 0x1502
STRIX = 0x17F0
_ACCELERATOR_CLASS = 0x12  # PCI class "processing accelerator", where Intel's NPUs are; AMD's are found by their ids
_VENDORS = {AMD: "AMD", 0x8086: "Intel", 0x17CB: "Qualcomm"}
_PCI_KEY = r"SYSTEM\CurrentControlSet\Enum\PCI"
_CLASS_KEY = r"SYSTEM\CurrentControlSet\Control\Class"


@dataclass(frozen=True, slots=True)
class Npu:
    """One NPU, as the operating system lists it."""

    vendor_id: int
    device_id: int
    revision: int
    name: str  # "AMD Strix or Krackan Point"
    driver: str | None = None  # the kernel driver bound to it; None: no driver
    driver_version: str | None = None
    firmware_version: str | None = None
    node: Path | None = None  # its device file
    accessible: bool = True  # False: this user may not open the device file

    @property
    def runs_llms(self) -> bool:
        """False for Phoenix and Hawk Point: AMD's LLM path needs Strix or Krackan Point."""
        return (self.vendor_id, self.device_id) != (AMD, PHOENIX)

    @property
    def obstacle(self) -> str | None:
        """What keeps programs from using it, with the next step; None when nothing is known to."""
        if self.driver is None:
            return f"the NPU ({self.name}) has no driver: install the NPU driver of its vendor"
        if not self.accessible:
            return f"this user may not open {self.node}: add the user to the group that owns it (often `render`)"
        return None


def find_npus(sysfs: Path = Path("/sys"), dev: Path = Path("/dev")) -> tuple[Npu, ...]:
    """All NPUs of this machine. A system that cannot be asked (neither Linux nor Windows) has none."""
    if sys.platform == "win32":
        return tuple(npus_in_registry(importlib.import_module("winreg")))
    return tuple(npus_in_sysfs(sysfs, dev))


def npus_in_sysfs(sysfs: Path, dev: Path) -> Iterator[Npu]:
    """NPUs among the PCI devices of a Linux system."""
    devices = sysfs / "bus/pci/devices"
    for folder in sorted(devices.iterdir()) if devices.is_dir() else ():
        vendor, device = _number(folder / "vendor"), _number(folder / "device")
        if vendor is None or device is None or not _is_npu(vendor, device, (_number(folder / "class") or 0) >> 16):
            continue
        driver = (folder / "driver").resolve().name if (folder / "driver").exists() else None
        nodes = sorted((folder / "accel").glob("accel[0-9]*"))
        node = dev / "accel" / nodes[0].name if nodes else None
        yield Npu(
            vendor_id=vendor,
            device_id=device,
            revision=_number(folder / "revision") or 0,
            name=_name(vendor, device),
            driver=driver,
            driver_version=_text(sysfs / "module" / driver / "version") if driver else None,
            firmware_version=_text(folder / "fw_version"),
            node=node,
            accessible=node is None or os.access(node, os.R_OK | os.W_OK),
        )


def npus_in_registry(winreg: Any) -> Iterator[Npu]:
    """NPUs among the PCI devices that Windows knows, by hardware id. `winreg` is the standard library's module."""
    for key in _subkeys(winreg, _PCI_KEY):
        match = re.match(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})&SUBSYS_[0-9A-F]{8}&REV_([0-9A-F]{2})$", key, re.I)
        if match is None:
            continue
        vendor, device, revision = (int(part, 16) for part in match.groups())
        for instance in _subkeys(winreg, rf"{_PCI_KEY}\{key}"):
            path = rf"{_PCI_KEY}\{key}\{instance}"
            if not _is_npu(vendor, device, _compatible_class(_value(winreg, path, "CompatibleIDs"))):
                continue
            driver = _value(winreg, path, "Driver")
            version = _value(winreg, rf"{_CLASS_KEY}\{driver}", "DriverVersion") if driver else None
            service = _value(winreg, path, "Service")
            yield Npu(vendor, device, revision, _name(vendor, device), service, version)


def _is_npu(vendor: int, device: int, pci_class: int) -> bool:
    return (vendor == AMD and device in (PHOENIX, STRIX)) or (
        vendor in _VENDORS and vendor != AMD and pci_class == _ACCELERATOR_CLASS
    )


def _name(vendor: int, device: int) -> str:
    if vendor == AMD:
        return "AMD Phoenix or Hawk Point" if device == PHOENIX else "AMD Strix or Krackan Point"
    return f"{_VENDORS[vendor]} NPU {device:04x}"


def _compatible_class(ids: Any) -> int:
    """The PCI base class among Windows' compatible ids (`PCI\\CC_120000`); 0 when there is none."""
    for entry in ids if isinstance(ids, list) else ():
        if match := re.search(r"&?CC_([0-9A-F]{2})", str(entry), re.I):
            return int(match[1], 16)
    return 0


def _subkeys(winreg: Any, path: str) -> list[str]:
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
            return [winreg.EnumKey(key, index) for index in range(winreg.QueryInfoKey(key)[0])]
    except OSError:  # no such key, or not for this user
        return []


def _value(winreg: Any, path: str, name: str) -> Any:
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
            return winreg.QueryValueEx(key, name)[0]
    except OSError:
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:100] or None
    except OSError:  # drivers have the attributes they like
        return None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text, 16) if text and re.fullmatch(r"(0x)?[0-9a-fA-F]{1,8}", text) else None
