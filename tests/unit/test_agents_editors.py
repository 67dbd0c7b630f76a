"""Editing configuration that people wrote: the value changes, everything else stays as it is."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pinfill_service.agents.agent import Format
from pinfill_service.agents.editors import editor_of
from pinfill_service.agents.editors.editor import EditError
from tests.support.config_texts import PLAIN_KEYS, SCALARS, TEXTS, comments_of, meaning_of

PATHS = st.lists(PLAIN_KEYS, min_size=1, max_size=4).map(tuple)
KINDS = st.sampled_from(list(Format))


def reach(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree


def leads_through_a_scalar(tree: Any, path: tuple[str, ...]) -> bool:
    return any(
        reach(tree, path[:n]) is not None and not isinstance(reach(tree, path[:n]), dict) for n in range(len(path))
    )


def with_value(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(tree)
    branch = changed
    for key in path[:-1]:
        branch = branch.setdefault(key, {})
    branch[path[-1]] = value
    return changed


@settings(deadline=None)
@given(st.data(), KINDS, PATHS, SCALARS)
def test_one_value_changes_and_nothing_else(
    data: st.DataObject, kind: Format, path: tuple[str, ...], value: Any
) -> None:
    written = data.draw(TEXTS[kind])
    assert meaning_of(kind, written.text) == written.meaning
    editor = editor_of(kind)
    assume(not leads_through_a_scalar(written.meaning, path))
    assume(not isinstance(reach(written.meaning, path), dict))

    text = editor.write(written.text, path, editor.dump(value))

    assert meaning_of(kind, text) == with_value(written.meaning, path, value)
    assert comments_of(kind, text) == comments_of(kind, written.text)
    source = editor.read(text, path)
    assert source is not None and editor.load(source) == value

    before = editor.read(written.text, path)
    if before is not None:
        assert editor.write(text, path, before) == written.text, "and back, byte for byte"
        return
    removed = editor.remove(text, path)
    assert reach(meaning_of(kind, removed), path) is None
    assert comments_of(kind, removed) == comments_of(kind, written.text)
    assert editor.remove(removed, path) == removed


def scalars_of(tree: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    branches = [(key, value) for key, value in tree.items()]
    return [
        found
        for key, value in branches
        for found in (scalars_of(value, (*path, key)) if isinstance(value, dict) else [(*path, key)])
    ]


@settings(deadline=None)
@given(st.data(), KINDS)
def test_a_way_through_something_else_is_refused(data: st.DataObject, kind: Format) -> None:
    written = data.draw(TEXTS[kind].filter(lambda drawn: scalars_of(drawn.meaning)))
    path = (*data.draw(st.sampled_from(scalars_of(written.meaning))), "deeper")
    editor = editor_of(kind)
    assert editor.read(written.text, path) is None and editor.remove(written.text, path) == written.text
    with pytest.raises(EditError, match="as something else than"):
        editor.write(written.text, path, editor.dump(1))


@settings(deadline=None)
@given(KINDS, st.text(alphabet='{}[]":,/*#\n =-&x1\\\x00|>?!%@`', max_size=40))
def test_any_text_is_edited_or_refused(kind: Format, text: str) -> None:
    editor = editor_of(kind)
    try:
        new = editor.write(text, ("a", "b"), editor.dump("c"))
    except EditError as error:
        assert "\n" not in str(error).strip() or kind is Format.toml
        return
    assert reach(meaning_of(kind, new), ("a", "b")) == "c"


@pytest.mark.parametrize("kind", list(Format))
def test_deep_nesting_is_refused(kind: Format) -> None:
    deep = {Format.json: '{"a": ' + "[" * 1500 + "]" * 1500 + "}", Format.yaml: "a: " + "[" * 1500 + "]" * 1500}
    text = deep.get(kind, "a = " + "[" * 1500 + "]" * 1500)
    with pytest.raises(EditError):
        editor_of(kind).write(text, ("b",), editor_of(kind).dump(1))


def test_json_is_added_to_in_the_layout_that_is_there() -> None:
    editor = editor_of(Format.json)
    assert editor.write('{\n\t"a": 1 // one\n}\n', ("b", "c"), "2") == (
        '{\n\t"a": 1, // one\n\t"b": {\n\t\t"c": 2\n\t}\n}\n'
    )
    assert editor.write('{"a": 1}', ("b",), "2") == '{"a": 1, "b": 2}'
    assert editor.write('{\n  "a": 1,\n}', ("b",), "2") == '{\n  "a": 1,\n  "b": 2,\n}'
    assert editor.write('{"a": 1, "a": 2}', ("a",), "3") == '{"a": 1, "a": 3}', "of equal keys the last one counts"


def test_toml_values_stand_before_tables() -> None:
    editor = editor_of(Format.toml)
    text = editor.write('# mine\ntheme = "x"\n\n[t]\ny = 1\n', ("model",), '"m"')
    assert text == '# mine\ntheme = "x"\nmodel = "m"\n\n[t]\ny = 1\n'


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {b: 1}\nc: *x\n",
        "a: 1\n---\nb: 2\n",
        "- a\n",
        "a: |\n  text\nc: >\n  t\n",
    ],
)
def test_yaml_that_is_shared_or_of_another_shape_is_never_changed(text: str) -> None:
    with pytest.raises(EditError):
        editor_of(Format.yaml).write(text, ("c", "b") if "&" in text else ("c",), "2")


def test_yaml_that_is_merged_is_overridden_where_it_is_merged() -> None:
    text = editor_of(Format.yaml).write("x: &x\n  y: 1\nc:\n  <<: *x\n", ("c", "y"), "2")
    assert meaning_of(Format.yaml, text) == {"x": {"y": 1}, "c": {"y": 2}}


def test_yaml_below_a_nested_block_keeps_its_indentation() -> None:
    editor = editor_of(Format.yaml)
    text = "providers:\n    # of old\n    anthropic:\n        model: x\nextensions: {}\n"
    new = editor.write(text, ("providers", "pinfill", "model"), '"m"')
    new = editor.write(new, ("providers", "pinfill", "enabled"), "true")
    assert meaning_of(Format.yaml, new) == {
        "providers": {"anthropic": {"model": "x"}, "pinfill": {"model": "m", "enabled": True}},
        "extensions": {},
    }
    assert editor.remove(editor.remove(new, ("providers", "pinfill", "enabled")), ("providers", "pinfill")) == text
