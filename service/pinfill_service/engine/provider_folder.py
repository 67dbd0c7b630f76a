"""What a model folder may ask of a session. A folder comes from anywhere, so only what is known to be harmless counts.

Among onnxruntime's session entries and provider options are names of libraries to load, of files to write and of
places to read weights from: a folder that could set them could run code or overwrite files.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

# Speed and number formats; none names a file, a library or a KV layout.
_LISTED = """
    session.intra_op.allow_spinning session.inter_op.allow_spinning session.set_denormal_as_zero
    session.disable_prepacking session.disable_quant_qdq session.enable_quant_qdq_cleanup
    session.disable_double_qdq_remover session.disable_qdq_constant_folding session.qdqisint8allowed
    session.x64quantprecision session.qdq_matmulnbits_accuracy_level session.qdq_matmulnbits_block_size
    session.enable_dq_matmulnbits_fusion session.disable_aot_function_inlining
    session.use_device_allocator_for_initializers optimization.enable_gelu_approximation
    optimization.enable_cast_chain_elimination mlas.qnbit.force_fp32 mlas.use_lut_gemm mlas.disable_kleidiai
    mlas.enable_gemm_fastmath_arm64_bfloat16
"""
_SAFE_ENTRIES = frozenset(_LISTED.split())
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_-]{1,64}")
# The RyzenAI options that AMD's folders carry: how the NPU is used, and files of the folder itself.
_RYZENAI_OPTION = re.compile(r"(hybrid|fusion)_opt_[a-z0-9_]{1,64}|max_length_for_kv_cache")
_RYZENAI_FILES = ("external_data_file", "dd_cache")


def safe_entries(entries: Mapping[str, str]) -> dict[str, str]:
    """The session entries of a folder that are taken over; the others are dropped and named in the log."""
    safe = {k: v for k, v in entries.items() if k in _SAFE_ENTRIES and _PLAIN_VALUE.fullmatch(v)}
    _log_dropped(entries.keys() - safe.keys())
    return safe


def ryzenai_options(session_options: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """The RyzenAI options of genai_config.json's `session_options` that are taken over.

    Options of every other provider are ignored: VitisAI's `config_file`, for one, names a file that steers a compiler.
    """
    listed = session_options.get("provider_options")
    safe: dict[str, str] = {}
    for entry in listed if isinstance(listed, list) else ():
        options = entry.get("RyzenAI") if isinstance(entry, dict) else None
        for name, value in options.items() if isinstance(options, dict) else ():
            text = str(value)
            plain = _RYZENAI_OPTION.fullmatch(name) and _PLAIN_VALUE.fullmatch(text)
            if plain or (name in _RYZENAI_FILES and _is_inside(folder, text)):
                safe[name] = text
            else:
                _log_dropped({name})
    return safe


def _is_inside(folder: Path, name: str) -> bool:
    """Whether `name` is something that exists in the folder, links followed."""
    if not name.isprintable() or Path(name).is_absolute():
        return False
    path = (folder / name).resolve()
    return path != folder.resolve() and path.is_relative_to(folder.resolve()) and path.exists()


def _log_dropped(names: set[str]) -> None:
    for name in sorted(names):
        log.info("session option %.100r of the model folder is ignored", name)
