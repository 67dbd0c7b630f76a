"""What is particular to VitisAI, the NPU provider compiled into AMD's onnxruntime. Not yet verified on hardware.

Sources: "Supported Operators" (release 1.5), "Model Compilation and Deployment" and "APU Types" of AMD's Ryzen AI
documentation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

from pinfill_service.engine.npu import Npu
from pinfill_service.settings import Settings, home

VITISAI = "VitisAIExecutionProvider"
REPORT_VARIABLE = "XLNX_ONNX_EP_REPORT_FILE"
REPORT_NAME = "vitisai_ep_report.json"

# The operators AMD lists for at least one number format. Being listed is no promise for every shape.
_LISTED = """
    Abs Add And ArgMax ArgMin AveragePool BatchNormalization BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
    Cast Ceil Celu Clip Concat Constant ConstantOfShape Conv ConvTranspose Cos CumSum DepthToSpace DequantizeLinear Div
    Einsum Elu Equal Erf Exp Expand Flatten Floor Gather GatherElements Gelu Gemm GlobalAveragePool GlobalMaxPool
    Greater GreaterOrEqual GridSample GroupNormalization HardSigmoid HardSwish Identity InstanceNormalization LSTM
    LayerNormalization LeakyRelu Less LessOrEqual Log MatMul Max MaxPool Min Mish Mod Mul Neg Not Or Pad Pow
    QLinearConv QLinearMatMul QuantizeLinear Range Reciprocal ReduceMax ReduceMean ReduceMin ReduceSum Relu Reshape
    Resize Round STFT ScatterND Shape Shrink Sigmoid Sign Sin Size Slice Softmax Softsign Split Sqrt Squeeze Sub Tanh
    ThresholdedRelu Tile TopK Transpose Unsqueeze Upsample Where Xor
"""
_TABLE = frozenset(_LISTED.split())
# Named first among what is missing: nearly all the work of a language model is in these.
_WEIGHTY = ("GroupQueryAttention", "MultiHeadAttention", "Attention", "MatMulNBits", "GatherBlockQuantized")


def missing_operators(operators: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Types among (domain, type) that AMD's table does not have, the weighty ones first."""
    missing = {name for domain, name in operators if domain not in ("", "ai.onnx") or name not in _TABLE}
    return tuple(sorted(missing, key=lambda name: (_WEIGHTY.index(name) if name in _WEIGHTY else 99, name)))


def cache_folder() -> Path:
    """Where VitisAI keeps compiled models."""
    return home() / "providers" / "vitisai"


def vitisai_options(settings: Settings, npus: tuple[Npu, ...]) -> dict[str, str]:
    """The provider's options; the user's own (`provider_options`) win. `cache_key` is added with the model."""
    options = {"cache_dir": str(cache_folder()), "enable_cache_file_io_in_mem": "0"}  # 0: on disk, so kept
    if settings.vitisai_config is not None:
        options["config_file"] = str(settings.vitisai_config.expanduser())
    if npus and not any(npu.runs_llms for npu in npus):
        options["target"] = "X1"  # the only one that Phoenix and Hawk Point have
    return options | settings.provider_options


def cache_key(model: Path | bytes, folder: Path, options: Mapping[str, str]) -> str:
    """A name for the compiled model that changes with the graph, its weights and the options.

    VitisAI's own key covers the .onnx file alone; weights beside it could change unseen. They are told by name, size
    and time of change: reading gigabytes to hash them would cost more than a compilation too many.
    """
    if isinstance(model, bytes):
        digest = hashlib.sha256(model)
    else:
        with model.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        stat = path.stat()
        digest.update(f"{path.name}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    digest.update(json.dumps(dict(options), sort_keys=True).encode())
    return digest.hexdigest()[:32]


def reported_share(options: Mapping[str, str]) -> float | None:
    """The share of nodes on the NPU in VitisAI's own report; None when it wrote none that can be read."""
    path = Path(options["cache_dir"], options["cache_key"], REPORT_NAME)
    try:
        devices = json.loads(path.read_text(encoding="utf-8"))["deviceStat"]
        nodes = {str(device["name"]): int(device["nodeNum"]) for device in devices}
        return 1 - nodes.get("CPU", 0) / nodes["all"]
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
        return None
