"""Opens sessions on the chosen execution provider, and reports where the model really runs.

`InferenceSession.get_providers()` is no proof: it names providers that got no node at all.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinfill_service.engine.provider_choice import (
    CPU,
    RYZENAI,
    RYZENAI_DOMAIN,
    ProviderChoice,
    ProviderError,
    on_cpu,
)
from pinfill_service.engine.provider_libraries import short_message
from pinfill_service.engine.provider_vitisai import (
    REPORT_NAME,
    REPORT_VARIABLE,
    VITISAI,
    cache_key,
    reported_share,
)
from pinfill_service.engine.providers import load_onnxruntime

log = logging.getLogger(__name__)

_RECORD = "session.record_ep_graph_assignment_info"
_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """Where a model runs, as far as it is known."""

    provider: str
    device: str  # "CPU", "AMD NPU"
    share: float | None  # of the graph's nodes that run there; None: this onnxruntime does not tell
    reason: str

    @property
    def verified_on_hardware(self) -> bool:
        """Whether Pinfill has been seen to work on such a device: so far the CPU alone."""
        return self.provider == CPU

    @property
    def sentence(self) -> str:
        """For people: the reason, and for other places than the CPU how much of the model runs there."""
        if self.verified_on_hardware:
            return self.reason
        share = "an unknown share" if self.share is None else f"{int(self.share * 100)} %"
        return f"{self.reason}; {share} of the model's nodes run there; not yet verified on hardware"


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """An onnxruntime InferenceSession and where it runs."""

    session: Any
    report: ProviderReport


def open_session(
    model: Path | bytes, *, folder: Path, threads: int, entries: Mapping[str, str], choice: ProviderChoice
) -> OpenedSession:
    """A session of `model` (a file, or a graph in memory whose external weights are in `folder`) where `choice` says.

    `entries` are session configuration entries known to be safe (`provider_folder.safe_entries`). An automatic choice
    that fails, or that takes no node, is replaced by the CPU; anything else that fails raises ProviderError.
    """
    try:
        return _open(model, folder, threads, entries, choice)
    except ProviderError as error:
        if not choice.automatic or choice.is_cpu:
            raise
        log.warning("%s", error)
        return _open(model, folder, threads, entries, on_cpu(str(error)))


def _open(
    model: Path | bytes, folder: Path, threads: int, entries: Mapping[str, str], choice: ProviderChoice
) -> OpenedSession:
    onnxruntime = load_onnxruntime()
    provider_options = dict(choice.options)
    try:
        if choice.name == VITISAI:
            _prepare_vitisai(model, folder, provider_options)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        for key, value in _entries(model, folder, entries, choice).items():
            options.add_session_config_entry(key, value)
        providers: list[Any] | None = None  # for plugins they are in the session options
        if choice.devices:
            options.add_provider_for_devices([device.handle for device in choice.devices], provider_options)
        else:
            providers = [CPU] if choice.is_cpu else [(choice.name, provider_options), CPU]
        if choice.custom_ops is not None:
            options.register_custom_ops_library(str(choice.custom_ops))
        source = model if isinstance(model, bytes) else str(model)
        # Without enable_fallback=0 a provider that fails is replaced by the CPU with nothing but a line on stdout.
        session = onnxruntime.InferenceSession(source, options, providers=providers, enable_fallback=0)
    except Exception as error:  # onnxruntime's exceptions have no base class of their own, and a plugin's may be any
        raise ProviderError(_failure(choice, short_message(error))) from error
    return OpenedSession(session, _report(session, choice, provider_options))


def _entries(model: Path | bytes, folder: Path, entries: Mapping[str, str], choice: ProviderChoice) -> dict[str, str]:
    """The session entries: the model's, and ours."""
    result = dict(entries)
    if choice.is_cpu:
        # Spinning makes decoding 30 % faster; stopping it between runs makes an idle service use no CPU.
        result["session.force_spinning_stop"] = "1"
    else:
        result = {name: value for name, value in result.items() if "spinning" not in name}
        result[_RECORD] = "1"
    if isinstance(model, bytes):
        result[_WEIGHTS_FOLDER] = str(folder)
    if choice.name == RYZENAI:
        result["model_root"] = str(folder)  # where its operators look for the folder's other files
    return result


def _prepare_vitisai(model: Path | bytes, folder: Path, options: dict[str, str]) -> None:
    """Makes the cache folder, names the compiled model and asks VitisAI for its report. Changes `options`."""
    config = options.get("config_file")
    if config is not None and not Path(config).is_file():
        raise FileNotFoundError(f"its configuration {config} does not exist")
    options.setdefault("cache_key", cache_key(model, folder, options))
    Path(options["cache_dir"]).mkdir(parents=True, exist_ok=True)
    os.environ.setdefault(REPORT_VARIABLE, REPORT_NAME)


def _report(session: Any, choice: ProviderChoice, provider_options: Mapping[str, str]) -> ProviderReport:
    share = 1.0 if choice.is_cpu else _share(session, choice, provider_options)
    if share == 0 or (share is None and choice.name not in session.get_providers()):
        raise ProviderError(_failure(choice, "it takes none of the model's operators"))
    return ProviderReport(choice.name, _device(choice), share, choice.reason)


def _device(choice: ProviderChoice) -> str:
    if choice.devices:
        return f"{choice.devices[0].vendor} {choice.devices[0].kind.upper()}"
    return "CPU" if choice.is_cpu else "AMD NPU"


def _share(session: Any, choice: ProviderChoice, provider_options: Mapping[str, str]) -> float | None:
    """The share of nodes that the provider runs: as onnxruntime assigned them, else as VitisAI reports it."""
    if hasattr(session, "get_provider_graph_assignment_info"):  # onnxruntime >= 1.24
        placed = total = 0
        for subgraph in session.get_provider_graph_assignment_info():
            for node in subgraph.get_nodes():
                total += 1
                # RyzenAI's operators are in its library, whichever provider's name they are filed under.
                placed += subgraph.ep_name != CPU or (choice.name == RYZENAI and node.domain == RYZENAI_DOMAIN)
        if total:
            return placed / total
    return reported_share(provider_options) if choice.name == VITISAI else None


def _failure(choice: ProviderChoice, message: str) -> str:
    if choice.is_cpu:
        return f"The model cannot be loaded on the CPU: {message} ({choice.reason})"
    next_step = "" if choice.automatic else ": choose provider `auto` or `cpu`"
    return f"{choice.name} cannot run this model ({message}){next_step}"
