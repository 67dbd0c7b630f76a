"""Reasoning, words and tool calls are told apart, however the text arrives, and calls are only what is one."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reasoning, Reply, Words
from pinfill_service.prompt.tools.offered import offered_tools
from pinfill_service.prompt.tools.reader import AnswerReader

PROPERTIES = {
    "path": {"type": "string"},
    "line": {"type": "integer"},
    "ratio": {"type": "number"},
    "all": {"type": "boolean"},
    "options": {"type": "object"},
    "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "mode": {"type": ["string", "null"]},
    "any": {},
}
TOOLS = [
    {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": PROPERTIES}}},
    {"type": "function", "function": {"name": "read.all"}},
]
OFFERED = offered_tools(TOOLS)
ARGUMENTS = {"path": 'a "b"\n\\ü', "line": 3, "options": {"deep": [1, -2.5e3, True, None, {}, []]}}
READ = json.dumps({"name": "read", "arguments": ARGUMENTS})
LIST = json.dumps({"name": "read.all", "parameters": {}})
CODER = "<function=read>\n<parameter=path>\na\n</parameter>\n<parameter=line>\n3\n</parameter>\n</function>"


def parts_of(pieces: Sequence[str], reader: AnswerReader | None = None) -> list[Part]:
    reader = reader or AnswerReader(OFFERED)
    found: list[Part] = []
    for piece in pieces:
        found += reader.push(piece)
    return [*found, *reader.flush()]


def joined(parts: Sequence[Part]) -> Reply:
    """The parts as one reply, after a check of their order: a call begins, has arguments, ends; then comes another."""
    reply, called = Reply(), -1
    last: Part | None = None
    for part in parts:
        match part:
            case CallBegins(index, call_id, name):
                assert index == called + 1 and call_id.startswith("call_") and len(call_id) == 29 and name in OFFERED
                called = index
            case CallArguments(index, text):
                assert index == called and text and not isinstance(last, CallEnds | Words)
            case CallEnds(index):
                assert index == called and not isinstance(last, Words)
            case Words(text) | Reasoning(text):
                assert text
        last = part
    reply.add(parts)
    assert len({call.id for call in reply.calls}) == len(reply.calls)
    return reply


def read(text: str, reader: AnswerReader | None = None) -> tuple[str, list[tuple[str, object]]]:
    """The words, and the calls with their arguments, which are JSON."""
    reply = joined(parts_of([text], reader))
    assert not reply.reasoning
    return reply.words, [(call.name, json.loads(call.arguments)) for call in reply.calls]


A_CALL = [("read", ARGUMENTS)]
TWO_CALLS = [*A_CALL, ("read.all", {})]
CODED = [("read", {"path": "a", "line": 3})]

CALLS: dict[str, tuple[str, str, list[tuple[str, object]]]] = {
    "hermes": (f"<tool_call>\n{READ}\n</tool_call>", "", A_CALL),
    "hermes, words before": (f"Let me see.\n\n<tool_call>\n{READ}\n</tool_call>\n", "Let me see.", A_CALL),
    "hermes, several": (f"<tool_call>{READ}</tool_call>\n<tool_call>\n{LIST}\n</tool_call>", "", TWO_CALLS),
    "hermes, several in one": (f"<tool_call>\n{READ}\n{LIST}\n</tool_call>", "", TWO_CALLS),
    "hermes, arguments first": (
        f'<tool_call>{{"arguments": {json.dumps(ARGUMENTS)}, "name": "read"}}</tool_call>',
        "",
        A_CALL,
    ),
    "hermes, never closed": (f"<tool_call>\n{READ}", "", A_CALL),
    "hermes, without the last brace": (f"<tool_call>\n{READ[:-1]}\n</tool_call>", "", A_CALL),
    "hermes, no arguments": ('<tool_call>{"name": "read.all"}</tool_call>', "", [("read.all", {})]),
    "hermes, null": ('<tool_call>{"name": "read.all", "arguments": null}</tool_call>', "", [("read.all", {})]),
    "hermes, arguments as text": (
        f'<tool_call>{{"name": "read", "arguments": {json.dumps(json.dumps(ARGUMENTS))}}}</tool_call>',
        "",
        A_CALL,
    ),
    "hermes, other keys": ('<tool_call>{"x": [{}], "name": "read.all", "y": 1}</tool_call>', "", [("read.all", {})]),
    "words after": (f"<tool_call>{READ}</tool_call>\nDone.", "\nDone.", A_CALL),
    "coder": (f"<tool_call>\n{CODER}\n</tool_call>", "", CODED),
    "coder, several": (f"<tool_call>\n{CODER}\n{CODER}\n</tool_call>", "", CODED * 2),
    "coder, bare": (f"I read it.\n{CODER}\n</tool_call>", "I read it.", CODED),
    "coder, no arguments": ("<tool_call><function=read.all></function></tool_call>", "", [("read.all", {})]),
    "llama": (LIST, "", [("read.all", {})]),
    "llama, with a tag": (f"<|python_tag|>{LIST}", "", [("read.all", {})]),
    "llama, with a type": (
        '{"type": "function", "name": "read", "parameters": {"line": 1}}',
        "",
        [("read", {"line": 1})],
    ),
    "llama, several": (f"{READ}; {LIST}", "", TWO_CALLS),
    "array": (f"[{READ}, {LIST}]", "", TWO_CALLS),
    "lines": (f"I will:\n{READ}\n\n{LIST}", "I will:", TWO_CALLS),
    "mistral": (f"[TOOL_CALLS] [{READ}, {LIST}]", "", TWO_CALLS),
    "mistral, with ids": (f'[TOOL_CALLS][{READ[:-1]}, "id": "abcdefghi"}}]', "", A_CALL),
    "mistral, named": (
        'Yes[TOOL_CALLS]read[ARGS]{"line": 1}[TOOL_CALLS]read.all{}',
        "Yes",
        [("read", {"line": 1}), ("read.all", {})],
    ),
    "mistral, named with ids": ('[TOOL_CALLS]read[CALL_ID]123[ARGS]{"line": 1}', "", [("read", {"line": 1})]),
    "granite": (f"<|tool_call|>[{READ}]", "", A_CALL),
    "fence": (f"Sure:\n```json\n{READ}\n```\n", "Sure:", A_CALL),
    "fence of its own": (f"```tool_call\n{READ}\n```", "", A_CALL),
    "repaired": (
        '<tool_call>{"name": "read", "arguments": {"path": "a\\d\n\\\'", "all": True, "any": [None,],}}</tool_call>',
        "",
        [("read", {"path": "a\\d\n'", "all": True, "any": [None]})],
    ),
}

WORDS = [
    "Hello.",
    " \n ",
    "",
    '{"name": "other", "arguments": {}}',
    '<tool_call>{"name": "other", "arguments": {"a": 1}}</tool_call>',
    '{"name": "read"}',
    '{"name": "read", "argu',
    '{"name": "read", "arguments": ',
    '{"name": "read", "age": 3, "arguments": {}}',
    'Call {"name": "read", "arguments": {}} like this.',
    '```json\n{"rating": 3}\n```',
    "```python\nprint({})\n```",
    "[1, 2]\n[read]",
    "[TOOL_CALLS]other{}",
    "a <tool_call> is a tag, <function=other> another, `[TOOL_CALLS]` too",
    "<tool_call>\n<tool_call>\n<|python_tag|>print(1)",
    "<function=rea",
    '<tool_call>{"name": "read", "arguments": [1]}</tool_call>',
    '<tool_call>{"name": "read", "arguments": "none"}</tool_call>',
    "not at the beginning: <think>x</think>",
]


@pytest.mark.parametrize("case", CALLS)
def test_calls_are_read(case: str) -> None:
    text, words, calls = CALLS[case]
    assert read(text) == (words, calls)


@pytest.mark.parametrize("text", WORDS)
def test_what_is_no_call_stays_as_it_is(text: str) -> None:
    assert read(text) == (text, [])


@pytest.mark.parametrize("case", CALLS)
def test_without_tools_nothing_is_a_call(case: str) -> None:
    text = CALLS[case][0]
    assert read(text, AnswerReader(offered_tools([]))) == (text, [])


FRAGMENTS = [
    *("<tool_call>", "</tool_call>", READ, LIST, CODER, "{", "}", "[", "]", '"', ",", ";", "\n", " ", "```json", "```"),
    *('{"name": ', '"read"', '"arguments": ', "<function=read>", "<parameter=path>", "</parameter>", "<think>"),
    *("[TOOL_CALLS]", "[ARGS]", "read", "</think>", "<|python_tag|>", "x", "\\", "é"),
]
TEXTS = st.one_of(
    st.sampled_from([text for text, _, _ in CALLS.values()] + WORDS),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
)


@given(TEXTS, st.data())
def test_the_split_of_the_text_changes_nothing(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    found = []
    for each in ([text], list(text), pieces):
        parts = parts_of(each)
        reply = joined(parts)
        ended = [part.index for part in parts if isinstance(part, CallEnds)]
        assert all(isinstance(json.loads(reply.calls[index].arguments), dict) for index in ended)
        calls = [(call.name, call.arguments) for call in reply.calls]
        found.append((reply.reasoning, reply.words, calls, ended))
    assert found[0] == found[1] == found[2]


@given(TEXTS)
def test_without_a_call_no_character_is_lost(text: str) -> None:
    reply = joined(parts_of([text]))
    if not reply.calls and not reply.reasoning and not text.lstrip().startswith("<think>"):
        assert reply.words == text


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_arguments_come_out_as_they_were_written(value: object, indent: int | None, ascii_only: bool) -> None:
    written = json.dumps({"any": value}, indent=indent, ensure_ascii=ascii_only)
    reply = joined(parts_of(list(f'<tool_call>{{"name": "read", "arguments": {written}}}</tool_call>')))
    assert [call.arguments for call in reply.calls] == [written]


def test_words_are_held_back_only_while_they_may_become_a_call() -> None:
    reader = AnswerReader(OFFERED)
    shown = ""
    for char in 'A <b>, a [list], {"name": "x"}, `code`.':
        shown += "".join(part.text for part in reader.push(char) if isinstance(part, Words))
    assert shown == 'A <b>, a [list], {"name": "x"}, `code`.'
    assert not reader.push("\n<tool_") and reader.push("box>") == [Words("\n<tool_box>")]
    assert not reader.push('\n{"na') and reader.push("v") == [Words('\n{"nav')]


def test_arguments_stream_as_they_come() -> None:
    reader = AnswerReader(OFFERED)
    assert reader.push('<tool_call>{"name": "re') == []
    (begun,) = reader.push('ad", "arguments": {')[:1]
    assert isinstance(begun, CallBegins) and begun.name == "read"
    assert reader.push('"path": "a') == [CallArguments(0, '"path": "a')]
    assert reader.push('b"') == [CallArguments(0, 'b"')]
    assert reader.push("}}") == [CallArguments(0, "}"), CallEnds(0)]
    assert not reader.push("\n</tool_call>\n") and not reader.flush()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("path", "3", "3"),
        ("path", "", ""),
        ("path", " two\n lines \n", " two\n lines "),
        ("path", 'say "é" \\n </param', 'say "é" \\n </param'),
        ("line", "3", 3),
        ("line", "three", "three"),
        ("line", "1e3", 1000),
        ("ratio", "0.5", 0.5),
        ("all", "True", True),
        ("all", "1", "1"),
        ("options", '{"a": [1.0, "x"]}', {"a": [1, "x"]}),
        ("options", "{'a': 1}", "{'a': 1}"),
        ("limit", "null", None),
        ("limit", "None", None),
        ("limit", "7", 7),
        ("mode", "null", None),
        ("mode", "fast", "fast"),
        ("any", "[1]", "[1]"),
        ("unknown", "5", "5"),
    ],
)
def test_values_without_quotes_are_what_the_schema_says(name: str, value: str, expected: object) -> None:
    text = f"<function=read>\n<parameter={name}>\n{value.removesuffix(chr(10))}\n</parameter>\n</function>"
    assert read(text) == ("", [("read", {name: expected})])


def test_a_call_that_breaks_off_has_no_end() -> None:
    for text in ('<tool_call>{"name": "read", "arguments": {"path": "a', CODER[:60], '[TOOL_CALLS]read{"line": 1'):
        parts = parts_of([text])
        reply = joined(parts)
        assert len(reply.calls) == 1 and not any(isinstance(part, CallEnds) for part in parts) and not reply.words
    parts = parts_of(['<tool_call>{"name": "read", "arguments": {"path": "a "quoted" word"}}</tool_call>'])
    assert joined(parts).calls[0].arguments == '{"path": "a "' and joined(parts).words.startswith('quoted" word"}}')


def test_only_one_call_when_only_one_is_wanted() -> None:
    text = f"First.<tool_call>{READ}</tool_call><tool_call>{LIST}</tool_call>"
    assert read(text, AnswerReader(OFFERED, single=True)) == ("First.", A_CALL)


@pytest.mark.parametrize(
    ("text", "reasons", "reasoning", "words"),
    [
        ("<think>\nWell. \n\n</think>\n\nYes.\n", False, "Well.", "Yes.\n"),
        ("\n<think></think>Yes", False, "", "Yes"),
        ("\nWell.\n</think>\n\nYes", True, "Well.", "Yes"),
        ("Well, a < b </thin", True, "Well, a < b </thin", ""),
        ("<think>Well", False, "Well", ""),
        (f"<think><tool_call>{READ}</tool_call></think>Yes", False, f"<tool_call>{READ}</tool_call>", "Yes"),
    ],
)
def test_reasoning(text: str, reasons: bool, reasoning: str, words: str) -> None:
    for pieces in ([text], list(text)):
        for offered in (OFFERED, offered_tools([])):
            reply = joined(parts_of(pieces, AnswerReader(offered, reasons=reasons)))
            assert (reply.reasoning, reply.words, reply.calls) == (reasoning, words, [])


def test_reasoning_streams_and_a_call_follows() -> None:
    reader = AnswerReader(OFFERED, reasons=True)
    assert reader.push("First I") == [Reasoning("First I")]
    assert reader.push(" read\n") == [Reasoning(" read")]
    assert reader.push("</think>\n\n") == []
    assert joined([*reader.push(f"<tool_call>{LIST}</tool_call>"), *reader.flush()]).calls[0].name == "read.all"


def test_markers_are_what_may_be_a_special_token() -> None:
    markers = AnswerReader(OFFERED, wrappers={"<|call|>": "<|/call|>"}).markers
    assert {"<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "<think>"} <= set(markers)
    assert {"<|call|>", "<|/call|>"} <= set(markers)
    assert set(AnswerReader(offered_tools([])).markers) == {"<think>", "</think>"}
