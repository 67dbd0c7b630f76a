"""Changes a right GGUF file in ways that keep it a GGUF file: other values, other kinds of values, other tensors."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as Quant
from gguf import GGUFValueType as Kind
from hypothesis import strategies as st

from pinfill_service.models.gguf_header import Header, ValueInfo, read_header
from tests.support.raw_gguf import RawGguf, array, number, string, strings, tensor

_INTEGERS = st.sampled_from([0, 1, 2, 3, 7, 16, 31, 64, 255, 4096, (1 << 31) - 1, (1 << 32) - 1])
_FLOATS = st.sampled_from([0.0, -1.0, 1e-30, 0.5, 1e30, float("inf"), float("nan")])
_TEXTS = st.sampled_from(["", "none", "linear", "yarn", "longrope", "llama", "gpt2", "x y", "\0", "ÿ", "{{", "a" * 500])
_QUANTS = st.sampled_from(list(GGML_QUANT_SIZES))
# Keys that a small model may not have, and that change how one is read.
_FURTHER_KEYS = (
    "general.type", "general.alignment", "tokenizer.chat_template", "tokenizer.ggml.add_bos_token",
    "tokenizer.ggml.scores", "tokenizer.ggml.padding_token_id", "split.count", "{}.attention.key_length",
    "{}.attention.sliding_window", "{}.attention.sliding_window_pattern", "{}.attention.causal", "{}.attention.scale",
    "{}.expert_count", "{}.rope.scaling.type", "{}.rope.scaling.factor", "{}.rope.scaling.alpha",
    "{}.rope.scaling.original_context_length", "{}.rope.scaling.attn_factor", "{}.rope.freq_base_swa",
)  # fmt: skip
_SIZES = st.one_of(st.sampled_from([1, 2, 16, 32, 64, 96, 256]), st.integers(1, 300))


@dataclass(frozen=True)
class Changes:
    """What to put in the place of metadata values and of tensors' (shape, type); None takes one out."""

    keys: dict[str, bytes | None]
    tensors: dict[str, tuple[tuple[int, ...], Quant] | None]

    def applied_to(self, content: bytes) -> bytes:
        """The file with the changes. Tensors keep their first bytes; zeros follow."""
        header = read_header(memoryview(content), "the file")
        keys: dict[str, bytes | None] = {key: _value(content, info) for key, info in header.metadata.items()}
        keys |= self.keys
        entries, data = [], b""
        for name, info in header.tensors.items():
            change = self.tensors.get(name, (info.shape, info.tensor_type))
            if change is not None:
                shape, kind = change
                entries.append(tensor(name, shape, kind, len(data)))
                size = -(-math.prod(shape) // GGML_QUANT_SIZES[kind][0]) * GGML_QUANT_SIZES[kind][1]
                data += content[info.start : info.start + min(info.n_bytes, size)].ljust(size + -size % 32, b"\0")
        kept: list[tuple[str | bytes, bytes]] = [(key, value) for key, value in keys.items() if value is not None]
        return RawGguf(keys=kept, tensors=entries, data=data).content()


def changes(content: bytes) -> st.SearchStrategy[Changes]:
    """Up to three changes of metadata and up to two of tensors of a file."""
    header: Header = read_header(memoryview(content), "the file")
    named = header.metadata["general.architecture"]
    architecture = content[named.start : named.end].decode()
    keys = [*header.metadata, *(key.format(architecture) for key in _FURTHER_KEYS)]
    shapes = st.lists(_SIZES, min_size=1, max_size=3).map(tuple)
    return st.builds(
        Changes,
        st.dictionaries(st.sampled_from(keys), st.none() | _values(), max_size=3),
        st.dictionaries(st.sampled_from(list(header.tensors)), st.none() | st.tuples(shapes, _QUANTS), max_size=2),
    )


def _values() -> st.SearchStrategy[bytes]:
    """A metadata value of any kind, with the numbers that break things."""
    whole = _INTEGERS.map(lambda value: number(Kind.UINT32, "I", value))
    signed = st.sampled_from([-1, -(1 << 31), 5]).map(lambda value: number(Kind.INT32, "i", value))
    long = st.sampled_from([1 << 40, (1 << 64) - 1]).map(lambda value: number(Kind.UINT64, "Q", value))
    fractional = _FLOATS.map(lambda value: number(Kind.FLOAT32, "f", value))
    flags = st.booleans().map(lambda value: number(Kind.BOOL, "?", value))
    texts = st.one_of(_TEXTS.map(string), st.binary(max_size=9).map(string))
    text_lists = st.lists(_TEXTS, max_size=4).map(lambda values: strings(*values))
    number_lists = st.lists(_INTEGERS, max_size=4).map(
        lambda values: array(Kind.UINT32, len(values), struct.pack(f"<{len(values)}I", *values))
    )
    return st.one_of(whole, signed, long, fractional, flags, texts, text_lists, number_lists)


def _value(content: bytes, info: ValueInfo) -> bytes:
    """A metadata value as RawGguf takes it: with its type in front."""
    value = content[info.start : info.end]
    if info.is_array:
        return array(info.kind, info.count, value)
    return string(value) if info.kind is Kind.STRING else struct.pack("<I", info.kind) + value
