"""GGUF's quantised weights are repacked without rounding, in little memory, and the graph computes with them."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from gguf import GGML_QUANT_SIZES, quants
from gguf import GGMLQuantizationType as Quant
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto

from pinfill_service.models import weight_store
from pinfill_service.models.external_data import ExternalData, GraphBuilder
from pinfill_service.models.quant_blocks import FORMATS, Form, Packed, format_of
from pinfill_service.models.weight_store import PLAIN, WeightStore
from pinfill_service.models.weights import Projections, UnsupportedTensorError, dense

F32 = NDArray[np.float32]
# Where a block of the type keeps its float16 numbers: of random bytes there, some would be NaN.
HALVES = {
    Quant.Q4_0: (0,), Quant.Q4_1: (0, 2), Quant.Q5_0: (0,), Quant.Q5_1: (0, 2), Quant.Q8_0: (0,),
    Quant.Q2_K: (80, 82), Quant.Q3_K: (108,), Quant.Q4_K: (0, 2), Quant.Q5_K: (0, 2), Quant.Q6_K: (208,),
    Quant.IQ4_NL: (0,), Quant.IQ4_XS: (0,),
}  # fmt: skip
EVERY_TYPE = [*PLAIN, *FORMATS]


@dataclass(frozen=True)
class Matrix:
    """A tensor as `GgufFile` hands it out."""

    name: str
    tensor_type: Quant
    shape: tuple[int, ...]
    data: NDArray[Any]

    @property
    def meaning(self) -> F32:
        """[rows, columns], as the gguf package decodes the blocks."""
        meaning: F32 = quants.dequantize(np.ascontiguousarray(self.data), self.tensor_type).astype(np.float32)
        return meaning


def columns_of(kind: Quant) -> int:
    """Two blocks of 256, or three of 32: an odd number, which is never a multiple of 64."""
    return 512 if GGML_QUANT_SIZES[kind][0] == 256 else 96


def matrix(kind: Quant, rows: int = 40, columns: int | None = None, name: str = "w", seed: int = 0) -> Matrix:
    """Random weights of about 0.1."""
    rng, columns = np.random.default_rng(seed), columns or columns_of(kind)
    if kind in (*PLAIN, Quant.Q8_0, Quant.Q5_0):
        values = (rng.standard_normal((rows, columns)) / 10).astype(np.float32)
        return Matrix(name, kind, (columns, rows), quants.quantize(values, kind))
    weights, size = GGML_QUANT_SIZES[kind]
    raw = rng.integers(0, 256, (rows * columns // weights, size), dtype=np.uint8)
    for at in HALVES[kind]:
        raw[:, at : at + 2] = rng.uniform(1e-4, 2e-4, (len(raw), 1)).astype("<f2").view(np.uint8)
    tensor = Matrix(name, kind, (columns, rows), raw.reshape(rows, -1))
    # Small whole numbers make large weights of some types: bring all to the same size.
    factor = 0.1 / tensor.meaning.std()
    for at in HALVES[kind]:
        halves = (raw[:, at : at + 2].copy().view("<f2") * factor).astype("<f2")
        raw[:, at : at + 2] = halves.view(np.uint8)
    return tensor


class Graph:
    """A graph over `x` [n, columns] and `ids` [n], in a folder."""

    def __init__(self, folder: Path, accuracy_level: int = 0) -> None:
        self.folder = folder
        self.data = ExternalData(folder)
        self.builder = GraphBuilder(self.data)
        self.projections = Projections(self.builder, accuracy_level)

    def product(self, *tensors: Matrix, name: str = "w") -> str:
        product = self.projections.linear("x", tensors, name)
        assert product is not None
        return product

    def session(self, outputs: Sequence[str], columns: int, threads: int = 1) -> onnxruntime.InferenceSession:
        """Ends the graph and loads it."""
        used = {name for node in self.builder.model().graph.node for name in node.input}
        if "x" in used:
            self.builder.input("x", TensorProto.FLOAT, ["n", columns])
        if "ids" in used:
            self.builder.input("ids", TensorProto.INT64, ["n"])
        for name in outputs:
            self.builder.output(name, TensorProto.FLOAT, ["n", "width"])
        with self.data:
            onnx.save(self.builder.model(), self.folder / "model.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        return onnxruntime.InferenceSession(self.folder / "model.onnx", options, ["CPUExecutionProvider"])

    @property
    def data_path(self) -> Path:
        return self.folder / "model.onnx.data"


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    graph = Graph(tmp_path)
    yield graph
    graph.data.__exit__(ValueError)  # closes the file, filled or not


def unpacked(packed: Packed, form: Form) -> F32:
    """What the operators compute with: [rows, blocks, block]."""
    numbers = packed.quants.astype(np.int32)
    if form.bits == 4:
        numbers = np.stack([numbers & 15, numbers >> 4], axis=-1).reshape(*numbers.shape[:2], form.block)
    zero: Any = 1 << (form.bits - 1)
    if packed.zero_points is not None:
        pairs = np.stack([packed.zero_points & 15, packed.zero_points >> 4], axis=-1)
        zero = pairs.reshape(len(numbers), -1, 1).astype(np.int32)
    scales = packed.scales.astype(np.float32) * (1 if packed.factors is None else packed.factors)
    weights: F32 = (numbers - zero) * scales.reshape(len(numbers), -1, 1)
    return weights if packed.offsets is None else weights + packed.offsets[..., None]


@pytest.mark.parametrize("kind", FORMATS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_packed_blocks_mean_exactly_what_the_file_means(kind: Quant, data: st.DataObject) -> None:
    weights, size = GGML_QUANT_SIZES[kind]
    rows, blocks = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    count = rows * blocks
    raw = np.frombuffer(data.draw(st.binary(min_size=count * size, max_size=count * size)), np.uint8).copy()
    raw = raw.reshape(count, size)
    finite = st.floats(-65504, 65504, width=16)
    for at in HALVES[kind]:
        halves = data.draw(st.lists(finite, min_size=count, max_size=count))
        raw[:, at : at + 2] = np.array(halves, "<f2")[:, None].view(np.uint8)
    known = format_of(kind, blocks * weights)
    meant = quants.dequantize(raw, kind).reshape(rows, -1, known.form.block)
    packed = known.pack(raw.reshape(rows, -1), rows, size)
    got = unpacked(packed, known.form)
    if not known.form.offsets:
        assert np.array_equal(got, meant)
        return
    # The reference rounds scale * q, q up to 31, before it adds a minimum that may cancel most of it.
    scales = packed.scales.astype(np.float32) * (1 if packed.factors is None else packed.factors)
    largest, rounding = np.abs(meant).max(-1), 32 * np.finfo(np.float32).eps * np.abs(scales.reshape(rows, -1))
    assert (np.abs(got - meant).max(-1) <= 1e-6 * largest + rounding).all()


@pytest.mark.parametrize("kind", EVERY_TYPE)
def test_products_and_lookups_compute_with_the_files_weights(kind: Quant, graph: Graph) -> None:
    tensor = matrix(kind)
    outputs = [graph.product(tensor), graph.projections.lookup("ids", tensor, "w")]
    x = np.random.default_rng(1).standard_normal((5, tensor.shape[0])).astype(np.float32)
    ids = np.array([39, 0, 7, 7, 20])
    product, rows = graph.session(outputs, tensor.shape[0]).run(None, {"x": x, "ids": ids})
    np.testing.assert_allclose(product, x.astype(np.float64) @ tensor.meaning.T, atol=1e-4)
    np.testing.assert_allclose(rows, tensor.meaning[ids], atol=1e-6)


@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_zero_points_are_those_of_the_row_at_any_number_of_blocks(blocks: int, graph: Graph) -> None:
    tensor = matrix(Quant.Q4_1, columns=32 * blocks)
    session = graph.session([graph.projections.lookup("ids", tensor, "w")], 32 * blocks)
    np.testing.assert_allclose(session.run(None, {"ids": np.arange(40)})[0], tensor.meaning, atol=1e-6)


@pytest.mark.parametrize("kind", EVERY_TYPE)
def test_rounded_activations_stay_close_and_no_row_depends_on_its_neighbours(kind: Quant, tmp_path: Path) -> None:
    tensor, graph = matrix(kind, rows=200), Graph(tmp_path, accuracy_level=4)
    session = graph.session([graph.product(tensor)], tensor.shape[0], threads=2)
    x = np.random.default_rng(1).standard_normal((131, tensor.shape[0])).astype(np.float32)
    (whole,) = session.run(None, {"x": x})
    exact = x.astype(np.float64) @ tensor.meaning.T
    assert np.sqrt(np.mean((whole - exact) ** 2)) < 0.015 * exact.std()
    for start in (0, 1, 62):
        for count in (2, 3, 4, 5, 8, 17, 64):
            (part,) = session.run(None, {"x": x[start : start + count]})
            assert np.array_equal(part, whole[start : start + count])


@pytest.mark.parametrize("kind", EVERY_TYPE)
def test_a_table_that_is_also_the_output_head_is_stored_once(kind: Quant, tmp_path: Path) -> None:
    tensor, sizes = matrix(kind, rows=2000), []
    for tied in (False, True):
        graph = Graph(tmp_path)
        outputs = [graph.projections.lookup("ids", tensor, "token_embd")]
        outputs += [graph.product(tensor, name="lm_head")] if tied else []
        graph.session(outputs, tensor.shape[0])
        sizes.append(graph.data_path.stat().st_size)
    assert sizes[0] == sizes[1]


def test_types_of_one_form_share_a_product(graph: Graph) -> None:
    tensors = [matrix(Quant.Q5_0, 16, name="q"), matrix(Quant.Q8_0, 8, name="k"), matrix(Quant.IQ4_NL, 8, name="v")]
    x = np.random.default_rng(1).standard_normal((3, 96)).astype(np.float32)
    (product,) = graph.session([graph.product(*tensors, name="qkv")], 96).run(None, {"x": x})
    expected = x @ np.concatenate([tensor.meaning for tensor in tensors]).T
    np.testing.assert_allclose(product, expected, atol=1e-4)


@pytest.mark.parametrize("kinds", [(Quant.Q4_K, Quant.Q6_K), (Quant.F16, Quant.BF16), (Quant.Q8_0, Quant.F32)])
def test_other_mixtures_are_left_to_the_caller_and_nothing_is_written(kinds: tuple[Quant, Quant], graph: Graph) -> None:
    tensors = [matrix(kind, columns=512, name=kind.name) for kind in kinds]
    with graph.data:
        assert graph.projections.linear("x", tensors, "qkv") is None
    assert graph.data_path.stat().st_size == 0


def test_products_over_one_input_share_its_block_sums(graph: Graph) -> None:
    for name, kind in (("gate", Quant.Q4_K), ("up", Quant.Q5_K), ("down", Quant.Q2_K)):
        graph.product(matrix(kind, name=name), name=name)
    graph.projections.linear("y", [matrix(Quant.Q4_K, name="other")], "other")
    operators = [node.op_type for node in graph.builder.model().graph.node]
    assert operators.count("ReduceSum") == 3  # x by 32, x by 16, y by 32


@pytest.mark.parametrize("kind", [Quant.F16, Quant.BF16])
def test_half_precision_weights_are_stored_as_they_are(kind: Quant, graph: Graph) -> None:
    tensor = matrix(kind)
    graph.session([graph.projections.lookup("ids", tensor, "w"), graph.product(tensor)], tensor.shape[0])
    assert graph.data_path.read_bytes() == tensor.data.tobytes()


@pytest.mark.parametrize("kind", PLAIN)
def test_dense_is_for_norms_and_biases(kind: Quant) -> None:
    tensor = matrix(kind, rows=1)
    bias = Matrix("bias", kind, (96,), tensor.data.reshape(-1))
    assert np.array_equal(dense(bias), tensor.meaning[0])
    with pytest.raises(UnsupportedTensorError, match="w is Q8_0; F32, F16 or BF16 was expected"):
        dense(matrix(Quant.Q8_0))


@pytest.mark.parametrize(
    ("tensor", "sentence"),
    [
        (
            Matrix("w", Quant.IQ1_S, (256, 1), np.zeros((1, 50), np.uint8)),
            "w is stored as IQ1_S; this version reads F32",
        ),
        (Matrix("w", Quant.Q8_0, (32, 2, 4), np.zeros((4, 2, 34), np.uint8)), "w has 3 dimensions"),
        (Matrix("w", Quant.Q4_K, (96, 2), np.zeros((2, 54), np.uint8)), "w has rows of 96 weights, .* 256 together"),
    ],
)
def test_what_cannot_be_exact_is_refused_in_one_sentence(tensor: Matrix, sentence: str, graph: Graph) -> None:
    with pytest.raises(UnsupportedTensorError, match=sentence) as caught:
        graph.projections.linear("x", [tensor], "w")
    assert "\n" not in str(caught.value)
    with pytest.raises(UnsupportedTensorError, match=sentence):
        graph.projections.lookup("ids", tensor, "w")


@pytest.mark.parametrize(("kind", "half"), [(kind, half) for kind, halves in HALVES.items() for half in halves])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scales_and_minima_that_are_no_numbers_are_refused(kind: Quant, half: int, value: float, graph: Graph) -> None:
    tensor = matrix(kind)
    blocks = tensor.data.reshape(-1, GGML_QUANT_SIZES[kind][1]).copy()
    blocks[-1, half : half + 2] = np.array([value], "<f2").view(np.uint8)
    damaged = replace(tensor, data=blocks.reshape(tensor.data.shape))
    with pytest.raises(UnsupportedTensorError, match="w has a scale that is infinite or not a number: it is damaged"):
        graph.projections.linear("x", [damaged], "w")


@pytest.mark.parametrize("kind", EVERY_TYPE)
def test_a_tensor_written_in_pieces_has_the_same_bytes(
    kind: Quant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensors, stored = [matrix(kind, 40, name="a"), matrix(kind, 24, name="b", seed=1)], []
    for chunk in (weight_store.CHUNK_WEIGHTS, 7 * tensors[0].shape[0], 1):
        monkeypatch.setattr(weight_store, "CHUNK_WEIGHTS", chunk)
        with ExternalData(tmp_path) as data:
            WeightStore(data).store(tensors, "w")
        stored.append((tmp_path / "model.onnx.data").read_bytes())
    assert len(stored[0]) > 0 and stored[0] == stored[1] == stored[2]


@pytest.mark.parametrize("kind", [Quant.F16, Quant.Q4_K, Quant.Q6_K])
def test_memory_does_not_grow_with_the_tensor(kind: Quant, tmp_path: Path) -> None:
    rows, columns = 40_000, 4096  # 160 million weights
    weights, size = GGML_QUANT_SIZES[kind]
    path = tmp_path / "zeros"
    with path.open("wb") as file:
        file.truncate(rows * columns // weights * size)  # a hole: no bytes on disk
    data = np.memmap(path, np.uint8, "r").reshape(rows, -1)
    tensor = Matrix("w", kind, (columns, rows), data.view(np.float16) if kind == Quant.F16 else data)
    resident = mapped_pages(path)
    tracemalloc.start()
    with ExternalData(tmp_path) as external:
        WeightStore(external).store([tensor], "w")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "model.onnx.data").stat().st_size >= data.nbytes
    assert peak < 64 << 20
    assert mapped_pages(path) - resident < 32 << 20


def mapped_pages(path: Path) -> int:
    """Bytes of the mapped file that count as this process's memory; 0 where the system does not say."""
    if sys.platform != "linux":
        return 0
    lines = Path("/proc/self/smaps").read_text().splitlines()
    at = next(index for index, line in enumerate(lines) if line.endswith(str(path)))
    return next(int(line.split()[1]) << 10 for line in lines[at:] if line.startswith("Rss:"))


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems fill the hole with zeros")
def test_tensors_beyond_four_gibibytes_are_found_again(graph: Graph) -> None:
    tensor = matrix(Quant.Q8_0)
    hole = graph.data.reserve("hole", TensorProto.UINT8, (5 << 30,))
    rows = graph.projections.lookup("ids", tensor, "w")
    with pytest.raises(ValueError, match="not all bytes were written of hole"), graph.data:
        pass
    hole.missing = 0
    (found,) = graph.session([rows], tensor.shape[0]).run(None, {"ids": np.array([3, 1])})
    np.testing.assert_array_equal(found, tensor.meaning[[3, 1]])


def test_a_region_takes_no_more_than_was_reserved(graph: Graph) -> None:
    region = graph.data.reserve("w", TensorProto.BFLOAT16, (600,))
    region.append(np.zeros(1000, np.uint8))
    with pytest.raises(ValueError, match="201 bytes for w, which has room for 200"):
        region.append(np.zeros(201, np.uint8))
