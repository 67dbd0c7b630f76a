"""The numbers that shape a decoder's graph, read from GGUF metadata and checked."""

from __future__ import annotations

from dataclasses import dataclass

from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.rope import Rope, read_rope

MAX_LAYERS = 1024
MAX_WIDTH = 1 << 20
# Far above any model, and small enough that RoPE tables can be made whatever a file says.
MAX_CONTEXT = 1 << 22
MAX_HEAD_SIZE = 1024


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """A decoder of attention and gated feed-forward layers. Architectures differ in the fields that have defaults.

    `local_layers` see the last `window` tokens only, the token itself counted, and may have a RoPE of their own.
    """

    architecture: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    context_length: int
    vocabulary: int
    epsilon: float
    rope: Rope
    interleaved: bool = False  # RoPE turns neighbours 2i and 2i + 1 instead of i and i + half
    qk_norm: bool = False  # RMS norm of every head of Q and K before RoPE
    post_norms: bool = False  # RMS norm also of what attention and feed-forward add
    gate: str = "silu"  # or "gelu", by its tanh formula
    embedding_scale: float | None = None
    attention_scale: float | None = None  # 1 / sqrt(head_size) otherwise
    local_layers: frozenset[int] = frozenset()
    local_rope: Rope | None = None
    window: int = 0

    @property
    def windowed_layers(self) -> tuple[int, ...]:
        """The layers whose window is shorter than the context; a longer one hides nothing."""
        return tuple(sorted(self.local_layers)) if 0 < self.window < self.context_length else ()

    def rope_of(self, layer: int) -> Rope:
        return self.local_rope if self.local_rope is not None and layer in self.local_layers else self.rope


def read_common(file: GgufFile) -> DecoderConfig:
    """What all decoder architectures have in common. Raises GgufError for variants whose graph would differ."""
    name = file.architecture
    _refuse_variants(file)
    layers = _bounded(file, "block_count", MAX_LAYERS)
    hidden = _bounded(file, "embedding_length", MAX_WIDTH)
    heads = _same_for_all_layers(file, "attention.head_count")
    kv_heads = _same_for_all_layers(file, "attention.head_count_kv", heads)
    if heads % kv_heads:
        raise GgufError(f"{file.path.name} has {heads} heads that cannot share {kv_heads} KV heads evenly.")
    head_size = _bounded(file, "attention.key_length", MAX_HEAD_SIZE, hidden // heads)
    if file.integer(f"{name}.attention.value_length", head_size) != head_size:
        raise GgufError(f"{file.path.name} has keys and values of different sizes, which Pinfill does not support.")
    context = _bounded(file, "context_length", MAX_CONTEXT)
    epsilon = file.number(f"{name}.attention.layer_norm_rms_epsilon")
    if not 0 < epsilon < 1:
        raise GgufError(f"{file.path.name} has {epsilon} as the epsilon of its norms.")
    return DecoderConfig(
        architecture=name, layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads, head_size=head_size,
        context_length=context, vocabulary=_vocabulary(file), epsilon=epsilon,
        rope=read_rope(file, _rope_dimensions(file, head_size), context),
        attention_scale=file.number(f"{name}.attention.scale", 0.0) or None,
    )  # fmt: skip


def read_window(file: GgufFile, layers: int, period: int) -> tuple[int, frozenset[int]]:
    """(window, layers with it); (0, none) without one.

    Metadata may list the layers or give the period; `period` is the architecture's own: of so many layers in a row all
    but the last have the window, and 0 means that all have it.
    """
    window = file.integer(f"{file.architecture}.attention.sliding_window", 0)
    if window <= 0:
        return 0, frozenset()
    pattern = file.get(f"{file.architecture}.attention.sliding_window_pattern", period)
    if isinstance(pattern, list) and all(isinstance(flag, int) for flag in pattern):
        if len(pattern) < layers:
            raise GgufError(
                f"{file.path.name} says for {len(pattern)} of its {layers} layers whether they have a window."
            )
        return window, frozenset(layer for layer in range(layers) if pattern[layer])
    if not isinstance(pattern, int) or pattern < 0:
        raise GgufError(f"{file.path.name} has a pattern of windows that is no number of layers.")
    return window, frozenset(layer for layer in range(layers) if pattern == 0 or layer % pattern < pattern - 1)


def refuse_window(file: GgufFile, config: DecoderConfig) -> None:
    """For architectures that metadata does not tell which layers of."""
    window = file.integer(f"{file.architecture}.attention.sliding_window", 0)
    if 0 < window < config.context_length:
        raise GgufError(
            f"{file.path.name} has a sliding window, which {file.architecture} models have in some layers only."
        )


def _refuse_variants(file: GgufFile) -> None:
    name = file.architecture
    if file.integer(f"{name}.expert_count", 0) > 0:
        raise GgufError(f"{file.path.name} is a mixture of experts, which Pinfill does not support.")
    if not file.flag(f"{name}.attention.causal", True):
        raise GgufError(f"{file.path.name} is an encoder (its attention looks ahead): it cannot generate text.")
    for key in ("attention.clamp_kqv", "attention.max_alibi_bias", "attn_logit_softcapping", "final_logit_softcapping"):
        if file.number(f"{name}.{key}", 0.0) != 0:
            raise GgufError(f"{file.path.name} needs {key!r}, which Pinfill does not support.")


def _bounded(file: GgufFile, key: str, most: int, default: int | None = None) -> int:
    value = file.integer(f"{file.architecture}.{key}", default)
    if not 1 <= value <= most:
        raise GgufError(f"{file.path.name} has {value:,} as its {key}; possible are 1 to {most:,}.")
    return value


def _same_for_all_layers(file: GgufFile, key: str, default: int | None = None) -> int:
    key = f"{file.architecture}.{key}"
    values = set(file.integers(key, None if default is None else [default]))
    if len(values) != 1:
        raise GgufError(
            f"{file.path.name} has layers with different numbers in {key!r}, which Pinfill does not support."
        )
    (value,) = values
    if not 1 <= value <= MAX_WIDTH:
        raise GgufError(f"{file.path.name} has {value:,} in {key!r}.")
    return value


def _rope_dimensions(file: GgufFile, head_size: int) -> int:
    """How many numbers of each head RoPE turns. onnxruntime's kernels want a multiple of 16."""
    dimensions = file.integer(f"{file.architecture}.rope.dimension_count", head_size)
    if not 0 < dimensions <= head_size or dimensions % 16:
        raise GgufError(
            f"{file.path.name} has heads of {head_size} numbers of which RoPE turns {dimensions}; "
            "Pinfill needs a multiple of 16."
        )
    return dimensions


def _vocabulary(file: GgufFile) -> int:
    """Rows of the token table, one for every token that metadata names."""
    shape = file.tensor("token_embd.weight").shape
    tokens = len(file.require("tokenizer.ggml.tokens"))
    if len(shape) != 2 or shape[1] != tokens:
        raise GgufError(f"{file.path.name} names {tokens:,} tokens; its token table has the shape {tuple(shape)}.")
    return tokens
