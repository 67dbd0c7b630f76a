"""A tiny model, converted and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pinfill_service.engine.kv import KvSlots
from pinfill_service.engine.layout import read_layout
from pinfill_service.engine.session import DecoderSession
from pinfill_service.models.gguf_import import convert_gguf
from tests.support.tiny_gguf import TinyModel


def converted(tiny: TinyModel, tmp_path: Path, **options: Any) -> tuple[DecoderSession, KvSlots]:
    """Its session with two slots of the model's whole context; the folder is `tmp_path`/model."""
    folder = tmp_path / "model"
    folder.mkdir()
    convert_gguf(tiny.write(tmp_path / "m.gguf"), folder, **options)
    layout = read_layout(folder)
    session = DecoderSession(layout, threads=1)
    kv = KvSlots(session.tensors, 2, layout.context_length)
    session.attach(kv)
    return session, kv
