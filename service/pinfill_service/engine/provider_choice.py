"""Decides where a model runs, and says why in one sentence. Pure: looks at what was found, touches nothing.

`survey` (provider_libraries.py) finds what a machine offers, `choose_provider` decides, `open_session`
(provider_session.py) carries it out and reports what really happened.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pinfill_service.engine.npu import Npu
from pinfill_service.engine.provider_vitisai import VITISAI, missing_operators, vitisai_options
from pinfill_service.settings import PROVIDERS, Settings

CPU = "CPUExecutionProvider"
# The plugin's own name, which onnxruntime-genai looks for too.
RYZENAI = "RyzenAILightExecutionProvider"
RYZENAI_DOMAIN = "com.ryzenai"
_EP_CONTEXT = ("com.microsoft", "EPContext")
_NO_NPU = "no NPU was found (no NPU device among the execution provider devices)"


class ProviderError(RuntimeError):
    """The chosen execution provider cannot be had; the message says why and what to do, in one sentence."""


class GraphNeeds(Protocol):
    """What a model's graph needs from whoever runs it; `GraphFacts` (graph_facts.py) is one."""

    @property
    def operators(self) -> Collection[tuple[str, str]]:
        """(domain, type) of the nodes, subgraphs included; the domain of ONNX's own operators is ''."""


@dataclass(frozen=True, slots=True)
class EpDevice:
    """A device that a registered execution provider offers. `handle` is onnxruntime's own object for it."""

    ep_name: str
    kind: str  # "cpu", "gpu" or "npu"
    vendor: str
    library: Path | None = None  # the plugin library that brought it
    handle: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine and this onnxruntime offer."""

    built_in: frozenset[str]  # execution providers compiled into onnxruntime
    devices: tuple[EpDevice, ...] = ()
    npus: tuple[Npu, ...] = ()  # as the operating system lists them
    library: Path | None = None  # the user's plugin library
    library_error: str | None = None  # why it could not be registered

    @property
    def has_npu(self) -> bool:
        return bool(self.npus) or any(device.kind == "npu" for device in self.devices)


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """Where a model is to run. `devices` are set for plugin libraries, `custom_ops` for those that bring operators."""

    name: str  # the execution provider
    reason: str  # one sentence, beginning with the place: "CPU: no NPU was found"
    options: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[EpDevice, ...] = ()
    custom_ops: Path | None = None
    automatic: bool = False  # nobody asked for this one: it may be replaced by the CPU when it fails

    @property
    def is_cpu(self) -> bool:
        return self.name == CPU


@dataclass(frozen=True, slots=True)
class _Ask:
    """One question for a provider. `strict`: nobody named it, so it must be sure to be better than the CPU."""

    settings: Settings
    needs: GraphNeeds
    machine: Machine
    folder_options: dict[str, str]
    strict: bool


# What an attempt comes to: a choice, or the obstacle and the next step in half a sentence.
_Attempt = ProviderChoice | str


def on_cpu(reason: str) -> ProviderChoice:
    """The choice of the CPU. `reason` is half a sentence."""
    return ProviderChoice(CPU, f"CPU: {reason}")


def choose_provider(
    settings: Settings, needs: GraphNeeds, machine: Machine, folder_options: Mapping[str, str] | None = None
) -> ProviderChoice:
    """Where the model runs. Raises ProviderError when the settings ask for what cannot be had; `auto` never fails.

    `folder_options` are what `ryzenai_options` (provider_folder.py) left of the model folder's own.
    """
    wanted = settings.provider
    if wanted == "cpu":
        return on_cpu("the settings ask for it")
    ask = _Ask(settings, needs, machine, dict(folder_options or {}), strict=wanted in ("auto", "npu"))
    if ask.strict:
        attempts = [attempt(ask) for attempt in (_ryzenai, _vitisai, _plugin)]
        chosen = next((attempt for attempt in attempts if isinstance(attempt, ProviderChoice)), None)
        if chosen is not None:
            return replace(chosen, automatic=wanted == "auto")
        obstacle = _telling_obstacle(needs, machine, [str(attempt) for attempt in attempts])
        if wanted == "auto":
            return on_cpu(obstacle)
        raise ProviderError(f"The model cannot run on an NPU: {obstacle}; otherwise choose provider `auto` or `cpu`")
    result = {"vitisai": _vitisai, "ryzenai": _ryzenai}.get(wanted, _plugin)(ask)
    if isinstance(result, str):
        name = wanted if wanted in PROVIDERS else "by plugin"
        raise ProviderError(f"The provider {name} cannot be used: {result}; otherwise choose provider `auto` or `cpu`")
    return result


def _telling_obstacle(needs: GraphNeeds, machine: Machine, obstacles: list[str]) -> str:
    """The obstacle that tells the user most: what the model was made for, then what the user set up, then the rest."""
    ryzenai, vitisai, plugin = obstacles
    if _made_for_ryzenai(needs):
        return f"the model was made for AMD's RyzenAI library, but {ryzenai}"
    if machine.library_error is not None:
        return machine.library_error
    if not machine.has_npu:
        return _NO_NPU
    if machine.library is not None:
        return plugin
    if VITISAI in machine.built_in:
        return vitisai
    names = ", ".join(npu.name for npu in machine.npus) or "NPU"
    return f"there is an NPU ({names}) but no execution provider for it: install pinfill[npu] or set provider_library"


def _ryzenai(ask: _Ask) -> _Attempt:
    machine, needs = ask.machine, ask.needs
    if machine.library is None:
        return "its library is not set: set RYZENAI_EP_PATH or provider_library to AMD's onnxruntime_providers_ryzenai"
    if machine.library_error is not None:
        return machine.library_error
    if machine.npus and not any(npu.runs_llms for npu in machine.npus):
        return f"this NPU ({machine.npus[0].name}) has no LLM path: AMD's needs Strix or Krackan Point"
    devices = tuple(d for d in machine.devices if d.ep_name == RYZENAI and d.kind == "npu")
    if not devices:
        return _no_device(machine, "the library offers no RyzenAI NPU device here: check the NPU's driver")
    made_for_it = _made_for_ryzenai(needs)
    if ask.strict and not made_for_it:
        return "the model has no com.ryzenai operators, so it is not one of AMD's NPU folders: get one of these"
    reason = (
        "the RyzenAI library offers one and the model was made for it" if made_for_it else "the settings ask for it"
    )
    options = ask.folder_options | ask.settings.provider_options
    return ProviderChoice(RYZENAI, f"NPU: {reason}", options, devices, machine.library)


def _vitisai(ask: _Ask) -> _Attempt:
    machine, operators = ask.machine, ask.needs.operators
    if VITISAI not in machine.built_in:
        return "this onnxruntime has no VitisAIExecutionProvider: install pinfill[npu], which takes AMD's build"
    if not machine.has_npu:
        return f"{_NO_NPU}: check the NPU's driver"
    if _made_for_ryzenai(ask.needs):
        return "the model has com.ryzenai operators, which VitisAI does not run: choose provider `ryzenai`"
    # A graph compiled ahead of time is one EPContext node: what it held before is no question any more.
    missing = () if _EP_CONTEXT in operators else missing_operators(operators)
    if ask.strict and missing:
        return f"the model uses {_listed(missing)}, which AMD's operator table for VitisAI does not have"
    reason = "VitisAI and an NPU are there" if ask.strict else "the settings ask for VitisAI"
    return ProviderChoice(VITISAI, f"NPU: {reason}", vitisai_options(ask.settings, machine.npus))


def _plugin(ask: _Ask) -> _Attempt:
    machine, library = ask.machine, ask.machine.library
    if library is None:
        return "no plugin library is set: set provider_library"
    if machine.library_error is not None:
        return machine.library_error
    kinds = ("npu",) if ask.strict else ("npu", "gpu", "cpu")
    offered = [d for d in machine.devices if d.library == library and d.kind in kinds]
    if ask.strict:
        offered = [d for d in offered if d.ep_name != RYZENAI]  # `_ryzenai` has answered for these
    if not offered:
        what = "NPU device" if ask.strict else "device"
        return _no_device(machine, f"{library.name} offers no {what} here: check its driver")
    first = min(offered, key=lambda device: kinds.index(device.kind))
    if _made_for_ryzenai(ask.needs) and first.ep_name != RYZENAI:
        return "the model has com.ryzenai operators, which only AMD's RyzenAI library runs: choose provider `ryzenai`"
    devices = tuple(d for d in offered if (d.ep_name, d.kind) == (first.ep_name, first.kind))
    custom_ops = library if first.ep_name == RYZENAI else None
    reason = f"{first.kind.upper()} by plugin: {library.name} offers one ({first.vendor})"
    return ProviderChoice(first.ep_name, reason, ask.settings.provider_options, devices, custom_ops)


def _made_for_ryzenai(needs: GraphNeeds) -> bool:
    return any(domain == RYZENAI_DOMAIN for domain, _ in needs.operators)


def _no_device(machine: Machine, otherwise: str) -> str:
    """What is known to be wrong with the machine's NPUs, or `otherwise`."""
    return next((npu.obstacle for npu in machine.npus if npu.obstacle), otherwise)


def _listed(names: tuple[str, ...]) -> str:
    """Three names at most, as a sentence has them."""
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2} more operators"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def library_wanted(settings: Settings, needs: GraphNeeds, environ: Mapping[str, str]) -> Path | None:
    """The plugin library to register for these settings and this model; None when none is needed."""
    if settings.provider not in PROVIDERS:
        return Path(settings.provider).expanduser()
    if settings.provider in ("cpu", "vitisai"):
        return None
    if settings.provider_library is not None:
        return settings.provider_library.expanduser()
    # The variable may be set for other programs: without a reason to, a driver's library is not loaded.
    ryzenai = settings.provider in ("npu", "ryzenai") or _made_for_ryzenai(needs)
    return Path(environ["RYZENAI_EP_PATH"]) if ryzenai and environ.get("RYZENAI_EP_PATH") else None
