"""The metadata of GGUF files: as a stand-in for a file, and as a real one that has nothing else in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gguf import GGUFWriter

from pinfill_service.models.gguf_file import GgufError


class Metadata:
    """What tokenizers use of a `GgufFile`, from a dict."""

    path = Path("model.gguf")
    architecture = "llama"

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def get(self, key: str, default: Any = None) -> Any:
        return self._values.get(key, default)

    def require(self, key: str) -> Any:
        if key not in self._values:
            raise GgufError(f"model.gguf has no {key!r} in its metadata.")
        return self._values[key]


def write_metadata(path: Path, values: dict[str, Any]) -> Path:
    """A GGUF file without tensors; llama.cpp's programs read its vocabulary."""
    writer = GGUFWriter(path, "llama")
    for add in (writer.add_block_count, writer.add_context_length, writer.add_embedding_length, writer.add_head_count):
        add(8)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(values["tokenizer.ggml.tokens"]))
    for key, value in values.items():
        add_value = {bool: writer.add_bool, int: writer.add_uint32, str: writer.add_string, list: writer.add_array}
        add_value[type(value)](key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
