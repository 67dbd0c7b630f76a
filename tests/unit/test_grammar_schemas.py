"""Whatever a grammar lets through is valid JSON for its schema, as an independent validator says."""

from __future__ import annotations

import json
import math
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from pinfill_service.api.errors import answer_for
from pinfill_service.engine.errors import GrammarError
from pinfill_service.prompt.grammar import CallWrapper, JsonReply, SchemaError, Tool, ToolCalls
from pinfill_service.prompt.grammar.formats import FORMATS
from tests.support.grammars import HERMES, allowed_ids, text_of, tiny_grammars, tiny_tokenizer, walk

VOCABULARY = tiny_tokenizer().vocabulary

NAMES = st.sampled_from(["a", "b", "c d", 'q"', "é"])
NUMBERS = st.one_of(
    st.integers(-5, 120),
    st.floats(-50, 50).map(lambda number: round(number, 2)),
    st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63 - 1, 1e300, 0.001]),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.sampled_from([0.5, -1.25, 1e-7, 3.0]) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
PATTERNS = ["^a+$", "b", "^[^x]*$", "\\d{2}", "^\\w+\\s$", "^(foo|bar)", "\\.", "^[a-z]{2,3}$", "^.$", "\\u00e9", "/"]


def some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


def typed(name: str, keywords: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return keywords.map(lambda found: {"type": name, **found})


BOUNDS = some(
    minimum=NUMBERS,
    maximum=NUMBERS,
    exclusiveMinimum=NUMBERS,
    exclusiveMaximum=NUMBERS,
    multipleOf=st.sampled_from([1, 2, 7, 0.5, 0.01, 10]),
)
TEXTS = some(
    minLength=st.integers(0, 4),
    maxLength=st.integers(0, 8),
    pattern=st.sampled_from(PATTERNS),
    format=st.sampled_from(sorted(FORMATS)),
)
LEAVES = st.one_of(
    typed("integer", BOUNDS),
    typed("number", BOUNDS),
    typed("string", TEXTS),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, True, False, {}, {"$ref": "#/$defs/x"}]),
    st.just({"type": ["integer", "null", "string"]}),
    VALUES.map(lambda value: {"const": value}),
    st.lists(VALUES, min_size=1, max_size=3).map(lambda values: {"enum": values}),
)


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    objects = some(
        properties=st.dictionaries(NAMES, inner, max_size=3),
        required=st.lists(NAMES, max_size=2, unique=True),
        additionalProperties=inner,
        minProperties=st.integers(0, 2),
        maxProperties=st.integers(0, 3),
        patternProperties=st.dictionaries(st.sampled_from(["^a", "^z", "\\d"]), inner, max_size=1),
    )
    arrays = some(
        items=inner,
        prefixItems=st.lists(inner, min_size=1, max_size=2),
        minItems=st.integers(0, 2),
        maxItems=st.integers(0, 3),
    )
    branches = st.tuples(
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(inner, min_size=1, max_size=3),
        st.just({}) | LEAVES.filter(lambda leaf: isinstance(leaf, dict)),
    )
    return st.one_of(
        typed("object", objects),
        typed("object", objects),
        typed("array", arrays),
        branches.map(lambda parts: {**parts[2], parts[0]: parts[1]}),
    )


SCHEMAS = st.tuples(st.recursive(LEAVES, larger, max_leaves=6), st.recursive(LEAVES, larger, max_leaves=3)).map(
    lambda pair: {**pair[0], "$defs": {"x": pair[1]}} if isinstance(pair[0], dict) else pair[0]
)
QUIET = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


def has_infinity(value: Any) -> bool:
    """A number like 1e999, which JSON allows, is none that the validator takes."""
    if isinstance(value, list):
        return any(map(has_infinity, value))
    if isinstance(value, dict):
        return any(map(has_infinity, value.values()))
    return isinstance(value, float) and math.isinf(value)


def check_walks(schema: Any, seeds: range, draft: type = jsonschema_rs.Draft202012Validator) -> int:
    """Walks through the schema's grammar; returns how many of the walks came to an end and were judged."""
    grammar = tiny_grammars().compile(JsonReply(schema))
    validator, judged = draft(schema, validate_formats=True), 0
    for seed in seeds:
        ids, ended = walk(grammar, VOCABULARY, seed)
        if ended:
            value = json.loads(text_of(VOCABULARY, ids))
            assert has_infinity(value) or validator.is_valid(value), (schema, value)
            judged += 1
    return judged


@QUIET
@given(SCHEMAS, st.integers(0, 1 << 30))
def test_walks_end_in_valid_json_or_the_schema_is_refused(schema: Any, seed: int) -> None:
    try:
        event(f"judged {check_walks(schema, range(seed, seed + 3))} of 3")
    except SchemaError as error:
        event("refused")
        assert str(error).endswith(".") and "\n" not in str(error)


MANY = {
    "tuples of draft 7": ("draft-07", {"items": [{"type": "integer"}, {"type": "null"}], "additionalItems": False}),
    "tuples with more": ("draft-07", {"items": [{"type": "null"}], "additionalItems": {"type": "boolean"}}),
    "bounds of draft 4": ("draft-04", {"type": "integer", "minimum": 5, "exclusiveMinimum": True, "maximum": 8}),
    "64 bits": ("2020-12", {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}),
    "above 2^53": ("2020-12", {"type": "integer", "exclusiveMinimum": 2**53, "maximum": 2**53 + 9}),
    "strange names": (
        "2020-12",
        {
            "$defs": {"a b/é%~": {"type": "integer", "maximum": 9, "minimum": 0}},
            "properties": {"x": {"$ref": "#/$defs/a%20b~1%C3%A9%25~0"}},
            "required": ["x"],
            "type": "object",
            "additionalProperties": False,
        },
    ),
    "recursion": (
        "2020-12",
        {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 2}}, "$ref": "#/$defs/t"},
    ),
    "discriminated": (
        "2020-12",
        {
            "$defs": {
                kind: {
                    "type": "object",
                    "properties": {"kind": {"const": kind}, "n": {"type": "boolean"}},
                    "required": ["kind"],
                    "additionalProperties": False,
                }
                for kind in ("cat", "dog")
            },
            "oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}],
            "discriminator": {"propertyName": "kind"},
        },
    ),
    "a word or a number": (
        "2020-12",
        {"oneOf": [{"type": "string", "enum": ["all"]}, {"type": "string", "pattern": "^[1-9][0-9]?$"}]},
    ),
}
DRAFTS = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "2020-12": jsonschema_rs.Draft202012Validator,
}


@pytest.mark.parametrize("name", MANY)
def test_schemas_as_programs_write_them(name: str) -> None:
    draft, schema = MANY[name]
    assert check_walks(schema, range(20), DRAFTS[draft]) >= 10


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_formats_are_held_to(name: str) -> None:
    assert check_walks({"type": "string", "format": name}, range(40)) >= 20


REFUSED: list[tuple[Any, str, str]] = [
    ({"properties": {"a/b~": {"items": {"type": "string", "pattern": "(?=x)y"}}}}, "/properties/a~1b~0/items", "look-"),
    ({"type": "object", "properties": {"x": {"not": {}}}}, "/properties/x/not", '"not" is not supported'),
    ({"properties": {"t": {"type": "string", "format": "regex"}}}, "/properties/t/format", "these are: date"),
    ({"$ref": "#/$defs/z"}, "/$ref", "no schema"),
    ({"items": {"$ref": "https://example.com/s.json"}}, "/items/$ref", "into the same schema"),
    ({"$ref": "file:///etc/passwd"}, "/$ref", "into the same schema"),
    ({"$ref": "#"}, "", "always refers to itself"),
    ({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}, "", "always refers to itself"),
    ({"properties": {"a": {"type": "nope"}}}, "/properties/a", "Invalid type"),
    ({"type": "array", "uniqueItems": True}, "/uniqueItems", "compare items"),
    ({"type": "object", "minProperties": 2}, "/minProperties", "may repeat"),
    ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, "/oneOf", "branches 0 and 1"),
    ({"oneOf": [{"const": 1}, {"const": 1.0}]}, "/oneOf", "branches 0 and 1"),
    ({"const": 2**53 + 1}, "/const", "write it as a string"),
    ({"enum": [1, float("nan")]}, "/enum/1", "no number"),
    ({"type": "integer", "multipleOf": 123456789}, "/multipleOf", "too many digits"),
    (
        {"allOf": [{"type": "integer", "multipleOf": 997}, {"multipleOf": 991}]},
        "/allOf/1/multipleOf",
        "too many digits",
    ),
    ({"enum": ["\ud800"]}, "", "surrogate"),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "", "nsatisfiable"),
    ({"properties": {str(i): {} for i in range(501)}}, "/properties", "501 members"),
    (
        {"$defs": {str(i): {"$ref": f"#/$defs/{i + 1}"} for i in range(2000)} | {"2000": {}}, "$ref": "#/$defs/0"},
        "",
        "",
    ),
    ({"patternProperties": {f"^{i}": {} for i in range(30)}}, "/patternProperties", "30 members"),
    ("x", "", "must be an object"),
    (None, "", ""),
]


@pytest.mark.parametrize(("schema", "path", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_held_to_is_refused_with_its_place(schema: Any, path: str, reason: str) -> None:
    spec = ToolCalls((Tool("other"), Tool("mine", [None] if schema is None else schema)), HERMES)
    with pytest.raises(SchemaError) as caught:
        tiny_grammars().compile(spec)
    assert caught.value.path.startswith(path) and reason in caught.value.reason
    assert 'the tool "mine"' in str(caught.value)


def test_refusals_are_the_clients_errors_and_name_the_part() -> None:
    with pytest.raises(SchemaError) as caught:
        tiny_grammars().compile(JsonReply({"properties": {"x": {"not": {}}}}))
    answer = answer_for(caught.value)
    assert (answer.status, answer.code, answer.param) == (400, "unsupported_schema", "/properties/x/not")
    assert answer_for(GrammarError("too complex")).status == 400


def test_deep_nesting_is_refused_before_anything_recurses() -> None:
    schema: Any = {"type": "integer"}
    for _ in range(100_000):
        schema = {"items": schema}
    with pytest.raises(SchemaError, match="nested deeper"):
        tiny_grammars().compile(JsonReply(schema))


KEYWORDS = [
    *("type", "properties", "items", "required", "enum", "const", "$ref", "$defs", "allOf", "oneOf", "minItems", "$id"),
    *("maxLength", "pattern", "format", "minimum", "exclusiveMaximum", "multipleOf", "propertyNames", "uniqueItems"),
    *("minProperties", "additionalItems", "x-guidance", "patternProperties", "prefixItems", "additionalProperties"),
]
ODD = st.sampled_from(
    ["string", "#", "#/a", "object", 10**400, 1e-300, {"a": {"$ref": "#"}}, "\0", "\ud800", "(", "a{9}{9}"]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@QUIET
@given(ANYTHING)
def test_nonsense_is_compiled_or_refused_and_nothing_else(schema: Any) -> None:
    try:
        grammar = tiny_grammars().compile(JsonReply(schema))
    except SchemaError:
        return
    assert len(allowed_ids(grammar.matcher().mask()))


def test_options_of_the_compiler_are_not_the_clients_to_set() -> None:
    loose = {"x-guidance": {"whitespace_flexible": False, "lenient": True}, "type": "array", "uniqueItems": True}
    with pytest.raises(SchemaError):
        tiny_grammars().compile(JsonReply(loose))


@pytest.mark.parametrize("text", ['{"a":  1}', '{"a":\n\n1}', '{"a":\t1}', ' {"a":1}', '{"a":1} '])
def test_whitespace_is_bounded(text: str) -> None:
    matcher, ids = tiny_grammars().compile(JsonReply()).matcher(), tiny_tokenizer().encode(text)
    refused = False
    for token_id in ids:
        if matcher.finished or token_id not in allowed_ids(matcher.mask()):
            refused = True
            break
        matcher.accept(token_id)
    assert refused


@pytest.mark.parametrize("text", ['{"a":1}', '{"a": [1, 2]}', '{\n  "a": {\n    "b": null\n  }\n}', "{}"])
def test_compact_and_indented_json_is_allowed(text: str) -> None:
    matcher = tiny_grammars().compile(JsonReply()).matcher()
    for token_id in tiny_tokenizer().encode(text):
        assert token_id in allowed_ids(matcher.mask()), text
        matcher.accept(token_id)
    assert matcher.finished


def test_wrappers_may_be_of_any_kind() -> None:
    wrapper = CallWrapper('{"name": "', '", "parameters": ', "}", ", ", "<|call|>[", "]")
    tools = (Tool("get", {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "additionalProperties": False}),)
    grammar = tiny_grammars().compile(ToolCalls(tools, wrapper, max_calls=3))
    counts = set()
    for seed in range(40):
        ids, ended = walk(grammar, VOCABULARY, seed)
        text = text_of(VOCABULARY, ids)
        assert ended and ids[0] == tiny_tokenizer().token_id("<|call|>") and text.startswith("<|call|>[")
        calls = json.loads(text.removeprefix("<|call|>"))
        assert all(call["name"] == "get" and set(call["parameters"]) <= {"n"} for call in calls)
        counts.add(len(calls))
    assert counts == {1, 2, 3}


NOTHING = (
    False,
    {"allOf": [False]},
    {"type": "string", "minLength": 3, "maxLength": 1},
    {"type": "integer", "minimum": 3, "maximum": 1},
    {"type": "object", "required": ["a"], "properties": {"a": False}},
)


@pytest.mark.parametrize("nothing", NOTHING)
def test_names_whose_values_nothing_satisfies_are_refused(nothing: Any) -> None:
    """The compiler would drop the pattern, and allow the names."""
    for schema in (
        {"patternProperties": {"\\d": nothing}},
        {"properties": {"a": {"patternProperties": {"x": nothing}}}},
    ):
        with pytest.raises(SchemaError, match="patternProperties"):
            tiny_grammars().compile(JsonReply({"type": "object", **schema}))
