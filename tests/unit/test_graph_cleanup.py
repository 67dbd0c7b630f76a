"""Graphs found in the wild, cleaned: the same numbers, logits only where asked, int8 activations, rows kept apart."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from pinfill_service.engine.graph_file import read_graph
from pinfill_service.engine.layout import Names, read_layout
from pinfill_service.engine.row_probe import QuantisedProduct, rows_depend
from pinfill_service.models.graph_cleanup import clean
from pinfill_service.models.graph_editing import NoWay
from pinfill_service.models.graph_logits import keep_last_logits
from pinfill_service.models.graph_padding import pad_products
from tests.support.models import MODELS
from tests.support.onnx_folders import INT4, LFM2, OPTIMUM, logits, merged

IDS = np.random.default_rng(1).integers(3, 500, (1, 23))
BATCH = np.random.default_rng(2).integers(3, 500, (3, 7))
FOLDERS = sorted(path.name for path in MODELS.iterdir() if path.is_dir())


def cleaned(folder: Path, target: Path, exact: bool = False) -> tuple[Path, tuple[str, ...]]:
    """A copy of a folder with its graph cleaned in place."""
    shutil.copytree(folder, target)
    layout = read_layout(target)
    model = onnx.load(layout.graph, load_external_data=False)
    done = clean(model, layout.names, exact=exact)
    onnx.save(model, layout.graph)
    return target, done


@pytest.mark.parametrize("name", FOLDERS)
def test_cleaned_graphs_compute_the_same_and_only_what_is_asked(tmp_path: Path, name: str) -> None:
    folder, done = cleaned(MODELS / name, tmp_path / "model")
    assert done[0] == "Logits are computed only where they are asked for."
    before, after = read_layout(MODELS / name), read_layout(folder)
    assert set(after.facts.optional) == {"num_logits_to_keep"} and set(after.facts.inputs) == set(before.facts.inputs)
    for ids in (IDS, BATCH):
        full = logits(before, ids)
        assert np.abs(logits(after, ids) - full).max() <= 1e-5
        for keep in (1, 2, ids.shape[1], 1000):
            kept = logits(after, ids, keep)
            assert kept.shape == (len(ids), min(keep, ids.shape[1]), 512)
            assert np.abs(kept - full[:, -keep:]).max() <= 1e-5


def test_cleaning_twice_changes_nothing_more(tmp_path: Path) -> None:
    folder, _ = cleaned(LFM2, tmp_path / "once")
    twice, done = cleaned(folder, tmp_path / "twice")
    assert done == ("Logits are computed as the graph does it: it has that input already.",)
    assert (twice / "model.onnx").read_bytes() == (folder / "model.onnx").read_bytes()


def test_a_merged_decoder_is_left_alone(tmp_path: Path) -> None:
    folder = merged(tmp_path / "merged")
    model = read_graph(folder / "decoder_model_merged.onnx")
    before = model.SerializeToString()
    (sentence,) = clean(model, Names(), exact=False)
    assert "made by If" in sentence and model.SerializeToString() == before


# Output heads


HIDDEN, VOCABULARY = 8, 12


def head_graph(*nodes: NodeProto, **constants: object) -> ModelProto:
    """input_ids -> hidden states [batch, tokens, 8] -> `nodes` -> logits."""
    random = np.random.default_rng(0)
    arrays: dict[str, NDArray[np.generic]] = {
        "table": random.standard_normal((VOCABULARY, HIDDEN)).astype(np.float32),
        "weight": random.standard_normal((HIDDEN, VOCABULARY)).astype(np.float32),
        "bias": random.standard_normal(VOCABULARY).astype(np.float32),
        **{name: np.asarray(value) for name, value in constants.items()},
    }
    embed = helper.make_node("Gather", ["table", "input_ids"], ["hidden"])
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [embed, *nodes],
        "head",
        [value("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [value("logits", TensorProto.FLOAT, ["batch", "tokens", VOCABULARY])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def run(model: ModelProto, keep: int | None = None) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {"input_ids": np.arange(10).reshape(2, 5) % VOCABULARY}
    if keep is not None:
        feeds["num_logits_to_keep"] = np.array(keep)
    result = session.run(["logits"], feeds)[0]
    assert isinstance(result, np.ndarray)
    return result


node = helper.make_node
THIRTY = np.float32(30)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("MatMul", ["hidden", "weight"], ["logits"])],
        [
            node("MatMul", ["hidden", "weight"], ["a"]),
            node("Add", ["a", "bias"], ["b"]),
            node("Div", ["b", "thirty"], ["c"]),
            node("Tanh", ["c"], ["d"]),
            node("Mul", ["d", "thirty"], ["e"]),
            node("Cast", ["e"], ["logits"], to=TensorProto.FLOAT),
        ],
        [node("Transpose", ["table"], ["t"]), node("MatMul", ["hidden", "t"], ["logits"])],
        [
            node("Reshape", ["hidden", "flat"], ["rows"]),
            node("Gemm", ["rows", "weight", "bias"], ["a"]),
            node("Shape", ["hidden"], ["shape"], start=0, end=2),
            node("Concat", ["shape", "width"], ["back"], axis=0),
            node("Reshape", ["a", "back"], ["logits"]),
        ],
    ],
    ids=["plain", "soft cap", "tied", "reshaped"],
)
def test_heads_that_are_found(nodes: Sequence[NodeProto]) -> None:
    model = head_graph(*nodes, thirty=THIRTY, flat=[-1, HIDDEN], width=[VOCABULARY])
    full = run(model)
    keep_last_logits(model, "logits")
    onnx.checker.check_model(model, full_check=True)
    assert np.array_equal(run(model), full)
    for keep in (1, 3, 9):
        assert np.abs(run(model, keep) - full[:, -keep:]).max() < 1e-5


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([node("Softmax", ["hidden"], ["logits"])], "made by Softmax"),
        ([node("MatMul", ["hidden", "weight"], ["a"]), node("Add", ["a", "a"], ["logits"])], "made by Add"),
        (
            [
                node("MatMul", ["hidden", "weight"], ["a"]),
                node("Identity", ["a"], ["logits"]),
                node("Identity", ["a"], ["elsewhere"]),
            ],
            "read elsewhere",
        ),
        (
            [
                node("Reshape", ["hidden", "flat"], ["rows"]),
                node("Gemm", ["rows", "weight", "bias"], ["a"]),
                node("Shape", ["input_ids"], ["shape"]),
                node("Concat", ["shape", "width"], ["back"], axis=0),
                node("Reshape", ["a", "back"], ["logits"]),
            ],
            "depends on more than the hidden states",
        ),
    ],
    ids=["no product", "twice", "read elsewhere", "shape of something else"],
)
def test_heads_that_are_left_alone(nodes: Sequence[NodeProto], words: str) -> None:
    model = head_graph(*nodes, flat=[-1, HIDDEN], width=[VOCABULARY])
    before = model.SerializeToString()
    with pytest.raises(NoWay, match=words):
        keep_last_logits(model, "logits")
    assert model.SerializeToString() == before


# Products of 4 and 8 bits


def levels(model: ModelProto) -> list[int]:
    attributes = (a for n in model.graph.node if n.op_type == "MatMulNBits" for a in n.attribute)
    return [attribute.i for attribute in attributes if attribute.name == "accuracy_level"]


def open_levels(change: Callable[[NodeProto], object] = lambda node: None) -> ModelProto:
    """The 4-bit fixture with products whose accuracy level is open, changed further."""
    model = onnx.load(INT4 / "model.onnx", load_external_data=False)
    for product in model.graph.node:
        if product.op_type == "MatMulNBits":
            kept = [attribute for attribute in product.attribute if attribute.name != "accuracy_level"]
            del product.attribute[:]
            product.attribute.extend(kept)
            change(product)
    return model


def test_open_accuracy_levels_are_set_unless_exactness_is_asked_for() -> None:
    model = open_levels()
    assert "11 products round activations" in clean(model, Names(), exact=False)[1]
    assert levels(model) == [4] * 11
    model = open_levels()
    assert len(clean(model, Names(), exact=True)) == 1
    assert levels(model) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda product: product.attribute.append(helper.make_attribute("accuracy_level", 1)),
        lambda product: product.input.extend(["", "groups"]),
        lambda product: product.input.append("cos_cache"),  # float zero points
        lambda product: next(a for a in product.attribute if a.name == "bits").__setattr__("i", 2),
        lambda product: next(a for a in product.attribute if a.name == "K").__setattr__("i", 63),
    ],
    ids=["chosen", "groups", "float zero points", "2 bits", "a padded block"],
)
def test_products_whose_level_is_left_alone(change: Callable[[NodeProto], object]) -> None:
    model = open_levels(change)
    before = levels(model)
    clean(model, Names(), exact=False)
    assert levels(model) == before


def test_rounded_activations_are_close_to_exact_ones(tmp_path: Path) -> None:
    """The fixture's builder chose level 4; exact products are the same graph at level 0."""
    exact = Path(shutil.copytree(INT4, tmp_path / "exact"))
    onnx.save(open_levels(), exact / "model.onnx")
    reference = logits(read_layout(exact), IDS)
    difference = np.abs(logits(read_layout(cleaned(exact, tmp_path / "cleaned")[0]), IDS) - reference)
    assert 0 < difference.max() < 0.3 * np.abs(reference).max()


def always(product: QuantisedProduct) -> bool:
    return True


@pytest.fixture
def padded(tmp_path: Path) -> Path:
    """The 4-bit fixture with the row of zeros before every product."""
    folder = Path(shutil.copytree(INT4, tmp_path / "padded"))
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    assert pad_products(model, always) == 11
    onnx.save(model, folder / "model.onnx")
    return folder


def test_the_row_of_zeros_changes_no_number(padded: Path) -> None:
    layout = read_layout(padded)
    for ids in (IDS, BATCH, IDS[:, :1]):
        assert np.abs(logits(layout, ids) - logits(read_layout(INT4), ids)).max() <= 1e-5
    assert layout.appends_in_place


def test_products_of_the_same_rows_share_them(padded: Path) -> None:
    """Four distinct inputs in each of two layers and one before the head; the gated product stays flat in between."""
    before, after = read_layout(INT4).facts.operators, read_layout(padded).facts.operators
    concats = after["", "Concat"] - before.get(("", "Concat"), 0)
    shapes = len({(layer, width) for layer in range(2) for width in ("qkv", "attended", "down")}) + 1
    assert concats - shapes == 2 * 3 + 1
    assert after["", "Mul"] == before["", "Mul"]


@pytest.mark.parametrize(("bits", "block"), [(4, 16), (4, 32), (4, 64), (4, 128), (8, 32), (8, 128)])
def test_with_the_row_no_kernel_lets_rows_depend_on_each_other(bits: int, block: int) -> None:
    """To the bit, for any number of rows up to 40; without it, only where the probe says so."""
    model = product_graph(256, bits, block)
    plain = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert pad_products(model, always) == 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = np.random.default_rng(3).standard_normal((1, 40, 256)).astype(np.float32)
    together = session.run(None, {"x": rows})[0]
    alone = [np.array_equal(plain.run(None, {"x": rows[:, :n]})[0], together[:, :n]) for n in range(1, 41)]
    assert rows_depend(QuantisedProduct(256, bits, block, 4, False)) or all(alone)
    for count in range(1, 41):
        assert np.array_equal(session.run(None, {"x": rows[:, :count]})[0], together[:, :count])


def product_graph(inner: int, bits: int, block: int) -> ModelProto:
    random = np.random.default_rng(0)
    weights = random.integers(0, 256, (96, inner // block, block * bits // 8), np.uint8)
    scales = (random.random((96, inner // block)) / 50).astype(np.float32)
    product = helper.make_node(
        "MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft",
        K=inner, N=96, bits=bits, block_size=block, accuracy_level=4,
    )  # fmt: skip
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [product],
        "product",
        [value("x", TensorProto.FLOAT, ["batch", "tokens", inner])],
        [value("y", TensorProto.FLOAT, ["batch", "tokens", 96])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(scales, "s")],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def test_products_that_need_no_row_get_none() -> None:
    model = onnx.load(INT4 / "model.onnx", load_external_data=False)
    before = model.SerializeToString()
    assert pad_products(model, lambda product: False) == 0
    assert model.SerializeToString() == before


def test_graphs_without_such_products_stay_as_they_are() -> None:
    model = onnx.load(OPTIMUM / "model.onnx")
    before = model.SerializeToString()
    assert pad_products(model, always) == 0
    assert model.SerializeToString() == before
