"""The token tree: matching, splitting, references, namespaces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.cache.prefix_tree import Match, Node, PrefixTree, Tokens, common_prefix
from tests.support.cache_checks import path_tokens


def ids(*tokens: int) -> Tokens:
    return np.array(tokens, np.int32)


def add(tree: PrefixTree, tokens: Tokens, slot: int = 0, namespace: str = "") -> Node:
    return tree.insert(tree.root(namespace), tokens, slot, now=0.0)


@given(st.lists(st.integers(0, 2), max_size=3000), st.lists(st.integers(0, 2), max_size=3000), st.integers(0, 3000))
def test_common_prefix_equals_the_slow_way(a: list[int], b: list[int], same: int) -> None:
    b = a[:same] + b
    slow = 0
    while slow < min(len(a), len(b)) and a[slow] == b[slow]:
        slow += 1
    assert common_prefix(np.array(a, np.int32), np.array(b, np.int32)) == slow


def test_longest_match_ends_inside_a_node() -> None:
    tree = PrefixTree()
    add(tree, ids(1, 2, 3, 4, 5))
    assert tree.match("", ids(1, 2, 3, 9)).length == 3
    assert tree.match("", ids(1, 2)).length == 2
    assert tree.match("", ids(7)).length == 0


def test_matching_changes_nothing() -> None:
    tree = PrefixTree()
    node = add(tree, ids(1, 2, 3, 4))
    tree.match("", ids(1, 2, 9))
    assert list(tree.nodes()) == [node] and len(node.tokens) == 4 and node.hits == 0


def test_a_branch_splits_and_both_ways_stay_reachable() -> None:
    tree = PrefixTree()
    first = add(tree, ids(1, 2, 3, 4), slot=0)
    second = add(tree, ids(1, 2, 8, 9), slot=1)
    assert path_tokens(first) == [1, 2, 3, 4] and path_tokens(second) == [1, 2, 8, 9]
    shared = first.parent
    assert shared is second.parent and shared is not None and shared.slots == {0, 1}
    assert first.slots == {0} and second.slots == {1}


def test_a_longer_entry_is_not_hidden_by_a_shorter_one() -> None:
    tree = PrefixTree()
    add(tree, ids(1, 2), slot=0)
    add(tree, ids(1, 2, 3, 4, 5), slot=1)
    assert tree.match("", ids(1, 2, 3, 4, 5, 6)).length == 5


def test_namespaces_never_match_each_other() -> None:
    tree = PrefixTree()
    add(tree, ids(1, 2, 3), namespace="model-a/salt")
    assert tree.match("model-a/other", ids(1, 2, 3)).length == 0
    assert tree.match("model-a/salt", ids(1, 2, 3)).length == 3


def test_chunks_of_one_prompt_are_one_node() -> None:
    tree = PrefixTree()
    node = add(tree, ids(1, 2))
    assert tree.insert(node, ids(3, 4), 0, 0.0) is node
    assert path_tokens(node) == [1, 2, 3, 4]


def test_a_node_two_slots_hold_does_not_grow_for_one() -> None:
    tree = PrefixTree()
    node = add(tree, ids(1, 2), slot=0)
    add(tree, ids(1, 2), slot=1)
    longer = tree.insert(node, ids(3), 0, 0.0)
    assert longer is not node and path_tokens(node) == [1, 2] and longer.slots == {0}


def test_references_count_on_the_whole_path_and_survive_splits() -> None:
    tree = PrefixTree()
    node = add(tree, ids(1, 2, 3, 4))
    tree.reference(node, 1)
    upper = tree.node_at(Match(4, node), 2)
    assert upper.references == node.references == 1
    tree.reference(node, -1)
    assert upper.references == node.references == 0
    with pytest.raises(AssertionError):
        tree.reference(node, -1)


def test_pins_hold_on_the_whole_path_and_survive_splits() -> None:
    tree = PrefixTree()
    node = add(tree, ids(1, 2, 3, 4))
    tree.pin(node, 1)
    upper = tree.node_at(Match(4, node), 2)
    assert upper.is_protected and node.is_protected
    tree.pin(node, -1)
    assert not upper.is_protected and not node.is_protected


def test_a_pin_that_is_lost_leaves_nothing_behind() -> None:
    tree = PrefixTree()
    upper = add(tree, ids(1, 2), slot=0)
    add(tree, ids(1, 2), slot=1)
    node = tree.insert(upper, ids(3, 4), 0, 0.0)
    tree.pin(node, 1)
    tree.detach(node, 0, upper)
    assert list(tree.nodes()) == [upper] and not upper.is_protected


def test_losing_a_prefix_loses_what_hangs_below_it() -> None:
    tree = PrefixTree()
    node = add(tree, ids(1, 2, 3, 4), slot=0)
    root = node.path()[0].parent
    assert root is not None
    tree.detach(node, 0, root)
    assert not list(tree.nodes())


def test_empty_namespaces_do_not_pile_up() -> None:
    tree = PrefixTree()
    for salt in range(100):
        leaf = add(tree, ids(1, 2), namespace=str(salt))
        leaf.slots.clear()
        tree.remove(leaf)
    assert not tree._roots


def test_one_match_among_a_thousand_long_entries_compares_its_own_path_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 entries of 30,000 tokens: the work is that of one comparison, whatever else is cached."""
    from pinfill_service.cache import prefix_tree

    tree = PrefixTree()
    rng = np.random.default_rng(1)
    shared = rng.integers(0, 50_000, 20_000, dtype=np.int32)
    prompts = [np.concatenate([shared, rng.integers(0, 50_000, 10_000, dtype=np.int32)]) for _ in range(1000)]
    for slot, prompt in enumerate(prompts):
        add(tree, prompt, slot)
    compared: list[int] = []
    real = prefix_tree.common_prefix

    def counting(a: Tokens, b: Tokens) -> int:
        result = real(a, b)
        compared.append(result)
        return result

    monkeypatch.setattr(prefix_tree, "common_prefix", counting)
    assert tree.match("", prompts[500]).length == 30_000
    assert sum(compared) == 30_000 and len(compared) <= 4
