"""Configuration as people write it: random values in random layouts, with what they mean."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from hypothesis import strategies as st

from pinfill_service.agents.agent import Format

KEYS = st.sampled_from(["env", "model", "theme", "a", "b c", 'q"', "provider", "pinfill", "x-1", "ä", "//", "/*"])
PLAIN_KEYS = st.sampled_from(["env", "model", "theme", "a", "provider", "pinfill", "x_1"])
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-9, 9),
    st.sampled_from(["", "x", "a // b", "/* c */", 'say "hi"', "ä\\n", "k: v", "# h"]),
)
TREES = st.dictionaries(
    KEYS, st.recursive(SCALARS, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=6), max_size=4
)
PLAIN_TREES = st.dictionaries(
    PLAIN_KEYS,
    st.recursive(SCALARS, lambda inner: st.dictionaries(PLAIN_KEYS, inner, min_size=1, max_size=3), max_leaves=6),
    max_size=4,
)
COMMENTS = ("", "", "", " // one, {two}", " /* a\n b */", ' // "k": 1')


@dataclass(frozen=True)
class Written:
    """A text and what it means."""

    text: str
    meaning: dict[str, Any]


@st.composite
def json_texts(draw: st.DrawFn) -> Written:
    """An object with comments, trailing commas, and any indentation, or none."""
    tree = draw(TREES)
    unit = draw(st.sampled_from([None, "  ", "\t", "    "]))
    comments = unit is not None and draw(st.booleans())

    def comment() -> str:
        return draw(st.sampled_from(COMMENTS)) if comments else ""

    def render(value: Any, indent: str) -> str:
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        if not value:
            return "{}"
        if unit is None:
            return "{" + ", ".join(f"{json.dumps(k)}: {render(v, indent)}" for k, v in value.items()) + "}"
        lines = []
        for number, (key, item) in enumerate(value.items()):
            comma = "," if number < len(value) - 1 or (comments and draw(st.booleans())) else ""
            lines.append(
                f"{indent}{unit}{json.dumps(key)}:{comment().split('//')[0]} "
                f"{render(item, indent + unit)}{comma}{comment()}"
            )
        return "{" + comment() + "\n" + "\n".join(lines) + f"\n{indent}}}"

    return Written(render(tree, "") + draw(st.sampled_from(["", "\n", "\n\n"])), tree)


@st.composite
def yaml_texts(draw: st.DrawFn) -> Written:
    """A mapping in blocks or braces, with comments between and behind its lines."""
    tree = draw(PLAIN_TREES)
    flow = draw(st.sampled_from([False, None, True])) if tree else False
    text = (
        yaml.safe_dump(tree, default_flow_style=flow, indent=draw(st.sampled_from([2, 4])), sort_keys=False)
        if tree
        else ""
    )
    if not flow and not re.search(r": ['\"].*[^'\"]$", text, re.MULTILINE):  # no text over several lines
        text = "".join(
            f"{line}{draw(st.sampled_from(['', '', '  # c', chr(10) + '# own line']))}\n" for line in text.splitlines()
        )
    return Written(draw(st.sampled_from(["", "# head\n\n"])) + text, tree)


@st.composite
def toml_texts(draw: st.DrawFn) -> Written:
    """Values and tables, with comments."""
    tree = draw(PLAIN_TREES)
    lines = list(_toml_lines(tree, (), lambda: draw(st.sampled_from(["", "", " # c", "\n# own line\n"]))))
    return Written(draw(st.sampled_from(["", "# head\n\n"])) + "".join(lines), tree)


def _toml_lines(tree: dict[str, Any], path: tuple[str, ...], comment: Callable[[], str]) -> Iterator[str]:
    for key, value in tree.items():
        if not isinstance(value, dict):
            yield f"{key} = {json.dumps(value)}{comment()}\n"
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"\n[{'.'.join((*path, key))}]{comment()}\n"
            yield from _toml_lines(value, (*path, key), comment)


_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\n]*|/\*.*?\*/)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|(,)(?=\s*[}\]])')


def meaning_of(kind: Format, text: str) -> dict[str, Any]:
    """What a text means to a parser that is none of Pinfill's."""
    if kind is Format.toml:
        return tomllib.loads(text)
    if kind is Format.yaml:
        return yaml.safe_load(text) or {}
    plain = text
    for left_out in (_COMMENT, _TRAILING_COMMA):
        plain = left_out.sub(lambda found: "" if found[1] else found[0], plain)
    value: dict[str, Any] = json.loads(plain) if plain.strip() else {}
    return value


def comments_of(kind: Format, text: str) -> list[str]:
    """The comments of a text, in order."""
    if kind is Format.json:
        return [found[1] for found in _COMMENT.finditer(text) if found[1]]
    return re.findall(r"# (?:c|own line|head)$", text, re.MULTILINE)


TEXTS = {Format.json: json_texts(), Format.toml: toml_texts(), Format.yaml: yaml_texts()}
