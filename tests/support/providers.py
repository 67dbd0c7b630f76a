"""Machines, graphs' needs and a stub of onnxruntime: what tests of execution providers share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pinfill_service.engine.npu import AMD, PHOENIX, STRIX, Npu
from pinfill_service.engine.provider_choice import (
    CPU,
    RYZENAI,
    EpDevice,
    Machine,
    ProviderChoice,
    choose_provider,
)
from pinfill_service.engine.provider_session import OpenedSession, open_session
from pinfill_service.engine.provider_vitisai import VITISAI
from pinfill_service.settings import Settings
from tests.support.models import LLAMA

STRIX_NPU = Npu(AMD, STRIX, 0x10, "AMD Strix or Krackan Point", driver="amdxdna")
PHOENIX_NPU = Npu(AMD, PHOENIX, 0, "AMD Phoenix or Hawk Point", driver="amdxdna")
LIBRARY = Path("/opt/ryzenai/libonnxruntime_providers_ryzenai.so")
MS = "com.microsoft"


def without_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this machine."""
    for name in [name for name in os.environ if name.startswith("PINFILL_") or name == "RYZENAI_EP_PATH"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))


@dataclass(frozen=True)
class Needs:
    operators: frozenset[tuple[str, str]]


ORDINARY = Needs(frozenset({("", "MatMul"), (MS, "GroupQueryAttention"), (MS, "MatMulNBits")}))
PLAIN = Needs(frozenset({("", "MatMul"), ("", "Softmax"), ("", "Gather")}))
COMPILED = Needs(frozenset({(MS, "EPContext"), (MS, "GroupQueryAttention")}))
AMDS = Needs(frozenset({("com.ryzenai", "SSMLP"), ("", "Gather")}))


NPU_DEVICE = EpDevice(RYZENAI, "npu", "AMD", LIBRARY)
BARE = Machine(frozenset({CPU}))
WITH_NPU = replace(BARE, npus=(STRIX_NPU,))
WITH_VITISAI = Machine(frozenset({CPU, VITISAI}), npus=(STRIX_NPU,))
WITH_RYZENAI = replace(WITH_NPU, devices=(NPU_DEVICE,), library=LIBRARY)
OTHER = Path("/opt/ep/libother.so")
WITH_OTHER = Machine(
    frozenset({CPU}),
    devices=(EpDevice("OtherExecutionProvider", "npu", "Other", OTHER), EpDevice("Other.cpu", "cpu", "Intel", OTHER)),
    library=OTHER,
)


def choose(provider: str, needs: Needs, machine: Machine, **settings: Any) -> ProviderChoice:
    return choose_provider(Settings.from_flags(provider=provider, **settings), needs, machine)


def opened(
    choice: ProviderChoice, model: Path | bytes = b"graph", entries: Mapping[str, str] | None = None
) -> OpenedSession:
    return open_session(model, folder=LLAMA, threads=3, entries=entries or {}, choice=choice)


def first_logits(session: Any) -> Any:
    feeds: dict[str, Any] = {"input_ids": np.array([[5, 6, 7]], np.int64), "attention_mask": np.ones((1, 3), np.int64)}
    for item in session.get_inputs():
        if item.name.startswith("past"):
            feeds[item.name] = np.zeros((1, 2, 0, 16), np.float32)
    return session.run(["logits"], feeds)[0]


class StubError(Exception):
    """Like onnxruntime's own errors: nothing but an Exception."""


def device(ep_name: str, kind: str, vendor: str = "AMD", device_id: int = 1) -> SimpleNamespace:
    hardware = SimpleNamespace(type=SimpleNamespace(name=kind), vendor=vendor, vendor_id=1, device_id=device_id)
    return SimpleNamespace(ep_name=ep_name, ep_vendor=vendor, device=hardware)


@dataclass
class StubOptions:
    runtime: StubRuntime
    entries: dict[str, str] = field(default_factory=dict)
    providers: tuple[list[Any], dict[str, str]] | None = None
    custom_ops: str | None = None
    intra_op_num_threads: int = 0
    log_severity_level: int = 2

    def add_session_config_entry(self, key: str, value: str) -> None:
        self.entries[key] = value

    def add_provider_for_devices(self, devices: list[Any], options: dict[str, str]) -> None:
        self.providers = (devices, options)

    def register_custom_ops_library(self, path: str) -> None:
        self.custom_ops = path


@dataclass
class StubRuntime:
    """onnxruntime as the code under test uses it. `assigned`: (provider, domains of its nodes) of every subgraph."""

    available: list[str] = field(default_factory=lambda: [CPU])
    brings: dict[str, list[SimpleNamespace]] = field(default_factory=dict)  # file name -> devices
    assigned: list[tuple[str, list[str]]] | None = None
    fails_on: str = ""
    on_open: Callable[[dict[str, str]], object] = field(default=lambda options: None)
    registered: list[tuple[str, str]] = field(default_factory=list)
    opened: list[dict[str, Any]] = field(default_factory=list)
    devices: list[SimpleNamespace] = field(default_factory=lambda: [device(CPU, "CPU", "Intel")])
    __version__: str = "1.23.2"

    def register_execution_provider_library(self, name: str, path: str) -> None:
        if Path(path).name not in self.brings:
            raise StubError("[ONNXRuntimeError] : 1 : FAIL : Failed to load library with error: invalid ELF header.")
        self.registered.append((name, path))
        self.devices += self.brings[Path(path).name]

    def get_ep_devices(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(**vars(item)) for item in self.devices]  # new objects, as onnxruntime makes them

    def get_available_providers(self) -> list[str]:
        return self.available

    def SessionOptions(self) -> StubOptions:
        return StubOptions(self)

    def InferenceSession(self, source: str | bytes, options: StubOptions, **given: Any) -> SimpleNamespace:
        devices, provider_options = options.providers or ([], {})
        providers = given["providers"] or [devices[0].ep_name, CPU]
        names = [item if isinstance(item, str) else item[0] for item in providers]
        self.opened.append({"source": source, "options": options, "names": names, **given})
        if names[0] == self.fails_on:
            raise StubError(f"[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : the driver\n is {'too ' * 90}old.")
        self.on_open(
            provider_options if devices else dict(p for item in providers[:1] if item != CPU for p in item[1].items())
        )
        session = SimpleNamespace(get_providers=lambda: names)
        if self.assigned is not None:
            session.get_provider_graph_assignment_info = lambda: [
                SimpleNamespace(ep_name=name, get_nodes=lambda d=domains: [SimpleNamespace(domain=x) for x in d])
                for name, domains in self.assigned or []
            ]
        return session
