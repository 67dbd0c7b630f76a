"""Writes the cleaned graph of a model that is taken in, and moves weights out of it, range by range."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import onnx
from onnx import ModelProto

from pinfill_service.engine.graph_file import read_graph
from pinfill_service.engine.graph_weights import tensors_of
from pinfill_service.engine.layout import ModelLayout
from pinfill_service.models.download import CHUNK
from pinfill_service.models.external_data import ALIGNMENT
from pinfill_service.models.graph_cleanup import clean


def rewrite(layout: ModelLayout, target: Path, *, exact: bool, copied: Callable[[int], None]) -> tuple[str, ...]:
    """Writes the cleaned graph to `target`, whose data files are there already; returns what was done, in sentences.

    Large weights inside the graph go to a file beside it: the runtime maps that, and need not hold it twice while it
    loads. `copied(bytes)` is told of each piece.
    """
    model = read_graph(layout.graph)
    done = clean(model, layout.names, exact=exact)
    inline = target.with_name(f"{target.name}.inline.data")
    _move_weights(model, layout.graph, inline, copied)
    onnx.save(model, target)
    return done


def _move_weights(model: ModelProto, graph: Path, target: Path, copied: Callable[[int], None]) -> None:
    """Copies what references to the graph itself point at, and lets them point at the copy."""
    own = []
    for tensor in tensors_of(model):
        entries = {entry.key: entry for entry in tensor.external_data}
        if tensor.data_location == onnx.TensorProto.EXTERNAL and entries["location"].value == graph.name:
            own.append(entries)
    if not own:
        return
    with graph.open("rb") as source, target.open("xb") as data:
        for entries in own:
            data.write(b"\0" * (-data.tell() % ALIGNMENT))
            offset = data.tell()
            _copy_range(source, data, int(entries["offset"].value), int(entries["length"].value), copied)
            entries["location"].value, entries["offset"].value = target.name, str(offset)


def _copy_range(source: BinaryIO, target: BinaryIO, offset: int, length: int, copied: Callable[[int], None]) -> None:
    source.seek(offset)
    while length:
        piece = source.read(min(CHUNK, length))
        target.write(piece)
        length -= len(piece)
        copied(len(piece))
