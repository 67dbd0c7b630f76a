"""GGUF files byte by byte, right or wrong in any place."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

from gguf import GGUFValueType as Kind

F32, Q4_0, Q4_K = 0, 2, 12


def text(value: str | bytes) -> bytes:
    """A string with its length in front."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def string(value: str | bytes) -> bytes:
    """A metadata value of type string."""
    return struct.pack("<I", Kind.STRING) + text(value)


def number(kind: Kind, code: str, value: float) -> bytes:
    """A metadata value of a plain type."""
    return struct.pack(f"<I{code}", kind, value)


def u32(value: int) -> bytes:
    return number(Kind.UINT32, "I", value)


def array(kind: Kind, count: int, elements: bytes) -> bytes:
    """A metadata array that says it holds `count` elements."""
    return struct.pack("<IIQ", Kind.ARRAY, kind, count) + elements


def strings(*values: str | bytes) -> bytes:
    return array(Kind.STRING, len(values), b"".join(map(text, values)))


def tensor(name: str | bytes, shape: tuple[int, ...], kind: int = F32, offset: int = 0) -> bytes:
    """What the header says about a tensor."""
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


@dataclass
class RawGguf:
    """A whole file. The defaults are a right one: one text, one number, two tensors of 8 and 4 floats."""

    magic: bytes = b"GGUF"
    version: int = 3
    keys: list[tuple[str | bytes, bytes]] = field(
        default_factory=lambda: [("general.architecture", string("llama")), ("llama.block_count", u32(2))]
    )
    tensors: list[bytes] = field(default_factory=lambda: [tensor("a", (4, 2)), tensor("b", (4,), offset=32)])
    data: bytes = bytes(48)
    key_count: int | None = None
    tensor_count: int | None = None
    alignment: int = 32

    def header(self) -> bytes:
        counts = (
            len(self.tensors) if self.tensor_count is None else self.tensor_count,
            len(self.keys) if self.key_count is None else self.key_count,
        )
        keys = b"".join(text(key) + value for key, value in self.keys)
        return self.magic + struct.pack("<IQQ", self.version, *counts) + keys + b"".join(self.tensors)

    def content(self) -> bytes:
        header = self.header()
        return header + bytes(-len(header) % self.alignment) + self.data

    def write(self, path: Path) -> Path:
        path.write_bytes(self.content())
        return path


def llama(**changed: bytes) -> RawGguf:
    """What the header of a llama has to have, and a token table of zeros; `changed` are further keys' values.

    A key's dots are written as two underscores.
    """
    keys = {
        "general.architecture": string("llama"),
        "general.file_type": u32(15),
        "general.license": string("mit"),
        "llama.block_count": u32(1),
        "llama.embedding_length": u32(32),
        "llama.attention.head_count": u32(2),
        "llama.context_length": u32(64),
        "llama.attention.layer_norm_rms_epsilon": number(Kind.FLOAT32, "f", 1e-5),
        "tokenizer.ggml.tokens": strings("a", "b"),
    } | {name.replace("__", "."): value for name, value in changed.items()}
    return RawGguf(keys=[*keys.items()], tensors=[tensor("token_embd.weight", (32, 2))], data=bytes(256))
