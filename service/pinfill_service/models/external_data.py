"""Writes an ONNX graph whose weights stand in one file beside it, tensor by tensor, so memory stays small."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, TensorProto, helper

# Inline small constants: a graph that can be read without its data file is easier to inspect.
INLINE_BYTES = 1024
ALIGNMENT = 64

_ONNX_TYPES: dict[np.dtype[Any], int] = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.uint8): TensorProto.UINT8,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.int32): TensorProto.INT32,
}
# numpy has no bfloat16.
_ITEM_BYTES: dict[int, int] = {known: dtype.itemsize for dtype, known in _ONNX_TYPES.items()}
_ITEM_BYTES[TensorProto.BFLOAT16] = 2


class Region:
    """The place of one tensor, filled from its first byte to its last in as many pieces as suits."""

    def __init__(self, tensor: TensorProto, size: int, file: io.BufferedWriter, offset: int) -> None:
        self.tensor = tensor
        self._file, self._offset = file, offset
        self.missing = size

    def append(self, array: NDArray[Any]) -> None:
        """The next bytes. Only their number counts: shape and type are the tensor's."""
        if array.nbytes > self.missing:
            raise ValueError(f"{array.nbytes} bytes for {self.tensor.name}, which has room for {self.missing}")
        self.missing -= array.nbytes
        if self.tensor.data_location != TensorProto.EXTERNAL:
            self.tensor.raw_data += array.tobytes()
            return
        self._file.seek(self._offset)
        self._file.write(np.asarray(array, order="C").data.cast("B"))
        self._offset += array.nbytes


class ExternalData:
    """Puts tensors into `FOLDER/NAME` and returns the TensorProto that points at them; small ones hold their own bytes.

    Left without an exception, every reserved region has been filled.
    """

    def __init__(self, folder: Path, name: str = "model.onnx.data") -> None:
        self._name = name
        self._file: io.BufferedWriter = (folder / name).open("wb")
        self._end = 0
        self._regions: list[Region] = []

    def __enter__(self) -> ExternalData:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        unfilled = [region.tensor.name for region in self._regions if region.missing]
        if kind is None and unfilled:
            raise ValueError(f"not all bytes were written of {', '.join(unfilled)}")

    def reserve(self, name: str, data_type: int, shape: tuple[int, ...]) -> Region:
        """Room for a tensor of ONNX type `data_type`; other tensors may be written before it is full."""
        size = math.prod(shape) * _ITEM_BYTES[data_type]
        tensor = TensorProto(name=name, data_type=data_type, dims=shape)
        offset = self._end + -self._end % ALIGNMENT
        if size >= INLINE_BYTES:
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", self._name), ("offset", offset), ("length", size)):
                tensor.external_data.add(key=key, value=str(value))
            self._end = offset + size
        region = Region(tensor, size, self._file, offset)
        self._regions.append(region)
        return region

    def tensor(self, name: str, array: NDArray[Any]) -> TensorProto:
        """Stores `array` and returns an initializer called `name`."""
        region = self.reserve(name, _ONNX_TYPES[array.dtype], array.shape)
        region.append(array)
        return region.tensor

    def alias(self, name: str, tensor: TensorProto, shape: tuple[int, ...]) -> TensorProto:
        """The bytes of an already filled tensor under another name and shape: stored once, used twice."""
        other = TensorProto()
        other.CopyFrom(tensor)
        other.name = name
        other.dims[:] = shape
        return other


class GraphBuilder:
    """Collects nodes and initializers; every method returns the name of what it made."""

    def __init__(self, data: ExternalData) -> None:
        self.data = data
        self._graph = GraphProto(name="pinfill")
        self._counter = 0
        self._constants: set[str] = set()

    def node(
        self, op: str, inputs: list[str], outputs: list[str] | None = None, *, domain: str = "", **attributes: Any
    ) -> str:
        """Adds one node and returns its first output, named after the node unless `outputs` says otherwise."""
        self._counter += 1
        name = f"{op}_{self._counter}"
        outputs = outputs or [name]
        self._graph.node.append(helper.make_node(op, inputs, outputs, name=name, domain=domain, **attributes))
        return outputs[0]

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """An initializer; a second call with the same name returns the first one."""
        if name not in self._constants:
            self.initializer(self.data.tensor(name, array))
        return name

    def initializer(self, tensor: TensorProto) -> str:
        """As `constant`, for what the data file holds already."""
        if tensor.name not in self._constants:
            self._constants.add(tensor.name)
            self._graph.initializer.append(tensor)
        return str(tensor.name)

    def input(self, name: str, data_type: int, shape: list[int | str]) -> str:
        self._graph.input.append(helper.make_tensor_value_info(name, data_type, shape))
        return name

    def output(self, name: str, data_type: int, shape: list[int | str]) -> None:
        self._graph.output.append(helper.make_tensor_value_info(name, data_type, shape))

    def model(self) -> ModelProto:
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        model: ModelProto = helper.make_model(self._graph, opset_imports=opsets, ir_version=10, producer_name="pinfill")
        return model
