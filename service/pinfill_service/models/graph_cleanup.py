"""Changes a graph found in the wild so that it runs as our own do: fewer logits, int8 activations, exact reuse."""

from __future__ import annotations

from onnx import ModelProto, NodeProto, helper

from pinfill_service.engine.graph_facts import MICROSOFT
from pinfill_service.engine.graph_weights import graphs_of, nodes_of
from pinfill_service.engine.layout import Names
from pinfill_service.engine.providers import RuntimeMissingError
from pinfill_service.engine.row_probe import QuantisedProduct, rows_depend
from pinfill_service.models.graph_editing import NoWay, attribute
from pinfill_service.models.graph_logits import keep_last_logits
from pinfill_service.models.graph_longrope import choose_rope_outside
from pinfill_service.models.graph_padding import INT8_ACTIVATIONS, pad_products

_FLOAT = 1  # TensorProto.DataType


def clean(model: ModelProto, names: Names, *, exact: bool) -> tuple[str, ...]:
    """Changes the model in place; returns what was done and what was not, a sentence each.

    `names` are the graph's. `exact` leaves the accuracy of 4- and 8-bit products as it is. Weights are
    neither read nor changed.
    """
    done = []
    try:
        keep_last_logits(model, names.logits)
        done.append("Logits are computed only where they are asked for.")
    except NoWay as reason:
        done.append(f"Logits are computed as the graph does it: {reason}.")
    try:
        if choose_rope_outside(model, names.input_ids):
            done.append("Position factors for long prompts are chosen for each request.")
    except NoWay as reason:
        done.append(f"Only the position factors for short prompts are used: {reason}.")
    if not exact and (count := _round_activations(model)):
        done.append(f"{count} products round activations to 8 bits, which is 3 to 4 times as fast (--exact: not).")
    if count := pad_products(model, _rows_depend):
        done.append(f"{count} products give a token the same numbers whatever it is evaluated with.")
    return tuple(done)


def _rows_depend(product: QuantisedProduct) -> bool:
    """What this machine's kernels do; the worst where there is no runtime to ask."""
    try:
        return rows_depend(product)
    except RuntimeMissingError:
        return True


def _round_activations(model: ModelProto) -> int:
    """Sets the accuracy level where the graph leaves it open, and the products keep each token apart then."""
    floats = {t.name for graph in graphs_of(model) for t in graph.initializer if t.data_type == _FLOAT}
    changed = 0
    for node in nodes_of(model):
        if node.op_type == "MatMulNBits" and node.domain == MICROSOFT and _may_round(node, floats):
            kept = [entry for entry in node.attribute if entry.name != "accuracy_level"]
            del node.attribute[:]
            node.attribute.extend([*kept, helper.make_attribute("accuracy_level", INT8_ACTIVATIONS)])
            changed += 1
    return changed


def _may_round(node: NodeProto, floats: set[str]) -> bool:
    """Whether int8 activations are fast and exact here: whole blocks, float scales, integer zero points, no groups."""
    block, inner = attribute(node, "block_size", 0), attribute(node, "K", 0)
    inputs = [*node.input, "", "", ""]
    return (
        attribute(node, "accuracy_level", 0) == 0
        and attribute(node, "bits", 4) in (4, 8)
        and block > 0
        and inner % block == 0  # a padded last block makes results depend on the number of rows
        and inputs[2] in floats
        and inputs[3] not in floats  # float zero points are 200 times slower
        and not inputs[4]
    )
