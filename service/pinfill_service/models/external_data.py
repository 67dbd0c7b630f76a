"""Writes an ONNX graph whose weights stand in one file beside it, tensor by tensor, so memory stays small."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, TensorProto, helper

# Inline small constants: a graph that can be read without its data file is easier to inspect.
INLINE_BYTES = 1024
ALIGNMENT = 64

_ONNX_TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.uint8): TensorProto.UINT8,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.int32): TensorProto.INT32,
}


class ExternalData:
    """Appends arrays to `FOLDER/NAME` and returns the TensorProto that points at them."""

    def __init__(self, folder: Path, name: str = "model.onnx.data") -> None:
        self._name = name
        self._file: io.BufferedWriter = (folder / name).open("wb")

    def __enter__(self) -> ExternalData:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def tensor(self, name: str, array: NDArray[Any]) -> TensorProto:
        """Stores `array` and returns an initializer called `name`."""
        array = np.asarray(array, order="C")
        if array.nbytes < INLINE_BYTES:
            tensor: TensorProto = helper.make_tensor(
                name, _ONNX_TYPES[array.dtype], array.shape, array.tobytes(), raw=True
            )
            return tensor
        self._file.write(b"\0" * (-self._file.tell() % ALIGNMENT))
        offset = self._file.tell()
        self._file.write(array.data.cast("B"))
        return self._reference(name, _ONNX_TYPES[array.dtype], array.shape, offset, array.nbytes)

    def alias(self, name: str, tensor: TensorProto, shape: tuple[int, ...]) -> TensorProto:
        """The bytes of an already stored tensor under another name and shape: stored once, used twice."""
        at = {entry.key: entry.value for entry in tensor.external_data}
        return self._reference(name, tensor.data_type, shape, int(at["offset"]), int(at["length"]))

    def _reference(self, name: str, data_type: int, shape: tuple[int, ...], offset: int, length: int) -> TensorProto:
        tensor = TensorProto(name=name, data_type=data_type, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self._name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor


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
