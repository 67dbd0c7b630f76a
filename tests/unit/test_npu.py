"""NPUs are found in sysfs and in the Windows registry, with what keeps programs from using them."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pinfill_service.engine import npu
from pinfill_service.engine.npu import AMD, PHOENIX, STRIX, find_npus, npus_in_registry


class Sysfs:
    """A made-up /sys and /dev."""

    def __init__(self, root: Path) -> None:
        self.sys, self.dev = root / "sys", root / "dev"

    def add(self, slot: str, driver: str | None = None, **attributes: str) -> Path:
        folder = self.sys / "bus/pci/devices" / slot
        folder.mkdir(parents=True)
        for name, value in attributes.items():
            (folder / name).write_text(value + "\n")
        if driver:
            target = self.sys / "bus/pci/drivers" / driver
            target.mkdir(parents=True, exist_ok=True)
            (folder / "driver").symlink_to(target)
            (self.sys / "module" / driver).mkdir(parents=True)
        return folder

    def found(self) -> list[npu.Npu]:
        return list(find_npus(self.sys, self.dev))


@pytest.fixture
def sysfs(tmp_path: Path) -> Sysfs:
    return Sysfs(tmp_path)


def test_a_machine_without_pci_has_none(sysfs: Sysfs) -> None:
    assert sysfs.found() == []


def test_strix_with_its_driver_is_ready(sysfs: Sysfs) -> None:
    folder = sysfs.add(
        "0000:c5:00.1", "amdxdna", vendor="0x1022", device="0x17f0", revision="0x10", **{"class": "0x118000"}
    )
    (folder / "fw_version").write_text("1.0.0.63\n")
    (folder / "accel/accel0").mkdir(parents=True)
    (sysfs.sys / "module/amdxdna/version").write_text("2.20.0_20260901\n")
    (sysfs.dev / "accel").mkdir(parents=True)
    (sysfs.dev / "accel/accel0").write_bytes(b"")
    sysfs.add("0000:00:00.0", vendor="0x1022", device="0x14e8", **{"class": "0x060000"})
    (device,) = sysfs.found()
    assert (device.vendor_id, device.device_id, device.revision) == (AMD, STRIX, 0x10)
    assert device.name == "AMD Strix or Krackan Point" and device.runs_llms
    assert (device.driver, device.driver_version, device.firmware_version) == ("amdxdna", "2.20.0_20260901", "1.0.0.63")
    assert device.node == sysfs.dev / "accel/accel0" and device.accessible and device.obstacle is None


def test_phoenix_has_no_llm_path_and_a_missing_driver_is_told(sysfs: Sysfs) -> None:
    sysfs.add("0000:c5:00.1", vendor="0x1022", device="0x1502")
    (device,) = sysfs.found()
    assert device.device_id == PHOENIX and not device.runs_llms
    assert device.obstacle == "the NPU (AMD Phoenix or Hawk Point) has no driver: install the NPU driver of its vendor"


def test_a_driver_of_the_kernel_has_no_version(sysfs: Sysfs) -> None:
    sysfs.add("0000:c5:00.1", "amdxdna", vendor="0x1022", device="0x17f0")
    (device,) = sysfs.found()
    assert device.driver == "amdxdna" and device.driver_version is None and device.obstacle is None


def test_a_device_file_of_others_is_told(sysfs: Sysfs, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = sysfs.add("0000:c5:00.1", "amdxdna", vendor="0x1022", device="0x17f0")
    (folder / "accel/accel3").mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (device,) = sysfs.found()
    assert device.obstacle is not None
    assert device.obstacle.startswith(f"this user may not open {sysfs.dev / 'accel/accel3'}: add the user to the group")


def test_other_vendors_are_found_by_their_class(sysfs: Sysfs) -> None:
    sysfs.add("0000:00:0b.0", "intel_vpu", vendor="0x8086", device="0x643e", **{"class": "0x120000"})
    sysfs.add("0000:00:0c.0", vendor="0x8086", device="0x0001", **{"class": "0x030000"})
    sysfs.add("0000:00:0d.0", vendor="0x1da3", device="0x0001", **{"class": "0x120000"})
    assert [device.name for device in sysfs.found()] == ["Intel NPU 643e"]


@pytest.mark.parametrize(
    "attributes", [{}, {"vendor": "0x1022"}, {"vendor": "zz", "device": "0x17f0"}, {"vendor": "", "device": ""}]
)
def test_devices_with_strange_attributes_are_passed_over(sysfs: Sysfs, attributes: dict[str, str]) -> None:
    sysfs.add("0000:00:00.0", **attributes)
    assert sysfs.found() == []


def registry(keys: dict[str, dict[str, Any]]) -> SimpleNamespace:
    """The standard library's winreg over a dictionary of paths and values."""

    def open_key(root: object, path: str) -> AbstractContextManager[str]:
        if path not in keys and not any(key.startswith(path + "\\") for key in keys):
            raise FileNotFoundError(path)
        return nullcontext(path)

    def children(path: str) -> list[str]:
        below = (key.removeprefix(path + "\\").split("\\")[0] for key in keys if key.startswith(path + "\\"))
        return list(dict.fromkeys(below))

    def value(path: str, name: str) -> tuple[Any, int]:
        if name not in keys.get(path, {}):
            raise FileNotFoundError(name)
        return keys[path][name], 1

    return SimpleNamespace(
        HKEY_LOCAL_MACHINE=None,
        OpenKey=open_key,
        QueryInfoKey=lambda path: (len(children(path)), 0, 0),
        EnumKey=lambda path, index: children(path)[index],
        QueryValueEx=value,
    )


def test_windows_lists_them_in_its_registry() -> None:
    subsystem = "SUBSYS_12345678"
    pci, classes = r"SYSTEM\CurrentControlSet\Enum\PCI", r"SYSTEM\CurrentControlSet\Control\Class"
    found = npus_in_registry(
        registry(
            {
                rf"{pci}\VEN_1022&DEV_17F0&{subsystem}&REV_10\4&1": {
                    "Driver": r"{guid}\0001",
                    "Service": "NpuDriver",
                },
                rf"{pci}\VEN_8086&DEV_643E&{subsystem}&REV_04\3&1": {
                    "CompatibleIDs": ["PCI\\VEN_8086", "PCI\\CC_120000"]
                },
                rf"{pci}\VEN_8086&DEV_0001&{subsystem}&REV_04\3&2": {"CompatibleIDs": ["PCI\\CC_030000"]},
                rf"{pci}\strange": {},
                rf"{classes}\{{guid}}\0001": {"DriverVersion": "32.0.203.280"},
            }
        )
    )
    amd, intel = found
    assert (amd.device_id, amd.revision, amd.driver, amd.driver_version) == (STRIX, 0x10, "NpuDriver", "32.0.203.280")
    assert amd.obstacle is None and intel.name == "Intel NPU 643e" and intel.driver is None
    assert list(npus_in_registry(registry({}))) == []
