"""Two request bodies are compared as what becomes of them in a prompt; the first difference is named by its path."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.cache.doctor import Finding, compare_bodies
from pinfill_service.cache.doctor.records import Kind

# Requests of real agents: every word replaced by a pseudo-word, long texts and lists of tools shortened.
REQUESTS = Path(__file__).parents[1] / "fixtures" / "agents" / "requests.jsonl"
Body = dict[str, Any]


def bodies(client: str) -> list[Body]:
    rows = map(json.loads, REQUESTS.read_text("utf-8").splitlines())
    return [row["body"] for row in rows if row["client"] == client]


CLAUDE, GOOSE, CODEX = bodies("claude-code")[0], bodies("goose")[1], bodies("codex")[0]


def compare(before: Any, after: Any) -> Finding:
    found = compare_bodies(before, after)
    assert json.dumps(asdict(found), ensure_ascii=False).encode()
    assert found.explanation.endswith(".") and found.suggestion.endswith(".") and found.position_tokens is None
    return found


def edited(body: Body, edit: Callable[[Body], object]) -> Finding:
    after = copy.deepcopy(body)
    edit(after)
    assert after != body or json.dumps(after) != json.dumps(body), "the edit did nothing"
    return compare(body, after)


def value_at(body: Body, path: str) -> Any:
    value: Any = body
    for step in path.replace("]", "").replace("[", ".").split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def set_text(*keys: str | int, old: str, new: str) -> Callable[[Body], None]:
    """Replaces words in the text at a path."""

    def edit(body: Body) -> None:
        value: Any = body
        for key in keys[:-1]:
            value = value[key]
        assert old in value[keys[-1]]
        value[keys[-1]] = value[keys[-1]].replace(old, new)

    return edit


# -- real agents -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "first", "kind", "path"),
    [
        ("claude-code", 0, "continues", "messages[2]"),
        ("claude-code tool turn", 0, "continues", "messages[2]"),
        ("claude-code tool turn", 1, "continues", "messages[4]"),
        ("claude-code tool search", 0, "tools_changed", "tools[2].name"),
        ("codex", 0, "continues", "input[4]"),
        ("goose", 0, "never_seen", "messages[0].content"),  # a title, then the main request
        ("goose", 1, "continues", "messages[2]"),
        ("opencode", 0, "never_seen", "messages[0].content"),
        ("qwen-code", 0, "message_edited", "messages[0].content"),  # both hold the same memories
    ],
)
def test_consecutive_requests_of_agents(client: str, first: int, kind: Kind, path: str) -> None:
    found = compare(*bodies(client)[first : first + 2])
    assert (found.kind, found.path) == (kind, path)


def test_deferred_tools_are_named() -> None:
    assert "added CronList, WebFetch" in compare(*bodies("claude-code tool search")).explanation


def test_a_billing_header() -> None:
    found = edited(CLAUDE, set_text("system", 0, "text", old="2.1.332.18b", new="2.1.332.455"))
    assert (found.kind, found.path, found.segment) == ("volatile_header", "system[0].text", "system")
    assert "18b" in found.before and "455" in found.after
    found = edited(CLAUDE, lambda body: body["system"].pop(0))
    assert (found.kind, found.path) == ("volatile_header", "system[0].text")


@pytest.mark.parametrize("announced", [True, False])
def test_the_date_in_claude_code_s_system_message(announced: bool) -> None:
    text = json.dumps(CLAUDE).replace("Guguk's tuva is", "Today's date is" if announced else "Guguk's tuva is")
    found = compare(json.loads(text), json.loads(text.replace("2026-11-29", "2026-11-30")))
    assert (found.kind, found.path) == ("clock", "messages[1].content[0].text")
    assert (found.before[-12:], found.after[-12:]) == (" 2026-11-29.", " 2026-11-30.")


def test_the_clock_in_goose_s_user_message() -> None:
    found = edited(GOOSE, set_text("messages", 1, "content", old="13:23:00", new="13:24:00"))
    assert (found.kind, found.path, found.segment) == ("clock", "messages[1].content", "message 2 (user)")


def test_the_date_in_codex_s_context() -> None:
    found = edited(CODEX, set_text("input", 2, "content", 0, "text", old="2026-11-29", new="2026-11-30"))
    assert (found.kind, found.path) == ("clock", "input[2].content[0].text")


@pytest.mark.parametrize("body", [CLAUDE, GOOSE, CODEX], ids=["claude-code", "goose", "codex"])
def test_tools_of_every_dialect(body: Body) -> None:
    found = edited(body, lambda after: after["tools"].reverse())
    assert (found.kind, found.segment) == ("tools_reordered", "tools")
    found = edited(body, lambda after: after["tools"].pop(1))
    gone = body["tools"][1].get("function", body["tools"][1])["name"]
    assert found.kind == "tools_changed" and f"removed {gone}" in found.explanation
    found = edited(body, lambda after: after["tools"][0].get("function", after["tools"][0]).update(description="New."))
    assert found.kind == "tools_changed" and "edited" in found.explanation and str(found.path).endswith("description")

    def swap(after: Body) -> None:
        after["tools"][0] = dict(reversed(after["tools"][0].items()))

    found = edited(body, swap)
    assert (found.kind, found.path) == ("json_key_order", "tools[0]")


@pytest.mark.parametrize("body", [CLAUDE, GOOSE, CODEX], ids=["claude-code", "goose", "codex"])
def test_what_no_template_writes_makes_no_difference(body: Body) -> None:
    found = edited(body, lambda after: after.update(stream=False, temperature=0.5, metadata={"user_id": "x"}))
    assert (found.kind, found.path) == ("same", None) and "temperature" in found.explanation
    assert compare(body, copy.deepcopy(body)).explanation == "Both requests make the same prompt."


def test_cache_control_and_the_form_of_one_text_make_no_difference() -> None:
    def plain(body: Body) -> None:
        body["messages"][1]["content"] = body["messages"][1]["content"][0]["text"]
        for block in body["messages"][0]["content"]:
            block.pop("cache_control", None)
            block["cache_control"] = {"type": "ephemeral", "ttl": "1h"}

    assert edited(CLAUDE, plain).kind == "same"
    assert edited(CODEX, lambda body: body["input"][0].update(id="msg_2", status="completed")).kind == "same"


# -- each cause --------------------------------------------------------------------------------------------------------

CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a", "depth": 2}'}}
CHAT: Body = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Grade the answers. Be strict with units and signs."},
        {"role": "user", "content": "How long is the river?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [CALL], "reasoning_content": "Where was it?"},
        {"role": "tool", "tool_call_id": "call_1", "content": "40 km"},
        {"role": "assistant", "content": "It is 40 km long. "},
        {"role": "user", "content": "Sure?"},
    ],
}


def arguments(text: str) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        body["messages"][2]["tool_calls"][0]["function"]["arguments"] = text

    return edit


@pytest.mark.parametrize(
    ("edit", "kind", "path"),
    [
        (lambda b: b.update(model="n"), "namespace", "model"),
        (lambda b: b.update(cache_salt="s3cret"), "namespace", "cache_salt"),
        (lambda b: b.update(cache_prompt=False), "cache_off", "cache_prompt"),
        (lambda b: b.update(reasoning_effort="low"), "template", "reasoning_effort"),
        (lambda b: b.update(tools=[{"type": "web_search"}]), "tools_changed", "tools[0]"),
        (set_text("messages", 0, "content", old="strict", new="kind"), "message_edited", "messages[0].content"),
        (set_text("messages", 4, "content", old="long. ", new="long."), "whitespace", "messages[4].content"),
        (set_text("messages", 4, "content", old="40", new="41"), "message_edited", "messages[4].content"),
        (set_text("messages", 5, "content", old="Sure", new="Really"), "new_message", "messages[5].content"),
        (lambda b: b["messages"].pop(1), "message_removed", "messages[1]"),
        (lambda b: b["messages"].insert(1, {"role": "user", "content": "hi"}), "message_inserted", "messages[1]"),
        (lambda b: b["messages"].pop(), "continues", "messages[5]"),
        (lambda b: b["messages"][2].pop("reasoning_content"), "thinking_dropped", "messages[2].reasoning_content"),
        (arguments('{"path":"a","depth":2}'), "whitespace", "messages[2].tool_calls[0].function.arguments"),
        (arguments('{"depth": 2, "path": "a"}'), "json_key_order", "messages[2].tool_calls[0].function.arguments"),
        (arguments('{"path": "\\u0061", "depth": 2}'), "json_format", "messages[2].tool_calls[0].function.arguments"),
        (lambda b: b["messages"][3].update(tool_call_id="call_9"), "volatile_id", "messages[3].tool_call_id"),
    ],
)
def test_edits_of_a_chat(edit: Callable[[Body], object], kind: Kind, path: str) -> None:
    found = edited(CHAT, edit)
    assert (found.kind, found.path) == (kind, path)
    assert "s3cret" not in json.dumps(asdict(found))


def test_reasoning_blocks_and_items() -> None:
    thought = {"type": "thinking", "thinking": "Where was it?", "signature": "c2ln"}
    chat: Body = {"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "How long?"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "40 km"}]},
        {"role": "user", "content": "Sure?"},
    ]}  # fmt: skip
    found = edited(chat, lambda body: body["messages"][1].update(content="40 km"))
    assert (found.kind, found.path) == ("thinking_dropped", "messages[1].content")
    assert "Where was it?" in found.before and found.after == "40 km"
    items: Body = {"model": "m", "input": [
        {"role": "user", "content": "How long?"}, {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "40 km"}]},
    ]}  # fmt: skip
    assert edited(items, lambda body: body["input"].pop(1)).kind == "thinking_dropped"


def test_keys_of_a_call_s_arguments_as_an_object() -> None:
    calls = [{"function": {"name": "read", "arguments": {"path": "a", "depth": 2}}}]
    chat: Body = {"model": "m", "keep_alive": "5m", "messages": [
        {"role": "user", "content": "How long?"}, {"role": "assistant", "content": "", "tool_calls": calls},
    ]}  # fmt: skip

    def swap(body: Body) -> None:
        function = body["messages"][1]["tool_calls"][0]["function"]
        function["arguments"] = dict(reversed(function["arguments"].items()))

    found = edited(chat, swap)
    assert (found.kind, found.path) == ("json_key_order", "messages[1].tool_calls[0].function.arguments")
    # The order of a message's own keys is written nowhere.
    assert (
        edited(chat, lambda body: body["messages"].append(dict(reversed(body["messages"].pop().items())))).kind
        == "same"
    )


@pytest.mark.parametrize(
    ("before", "after", "kind", "path"),
    [
        ({"prompt": "One two"}, {"prompt": "One two three"}, "continues", "prompt"),
        ({"prompt": "One two"}, {"prompt": "One too"}, "message_edited", "prompt"),
        ({"prompt": "", "system": "Be kind"}, {"prompt": "", "system": "Be strict"}, "message_edited", "system"),
        ({"prompt": "One", "raw": True}, {"prompt": "One", "raw": False}, "template", "raw"),
        ({"prompt": [1, 2, 3]}, {"prompt": [1, 5, 3]}, "message_edited", "prompt[1]"),
        ({"input": "One"}, {"input": "Two"}, "new_message", "input"),
        ({"input": "", "instructions": "a b"}, {"input": "", "instructions": "a c"}, "message_edited", "instructions"),
        ({"messages": []}, {"input": []}, "message_edited", None),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "message_edited", "a.b[1]"),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2, "b": 1}}, "json_key_order", "a"),
        ({"a": True}, {"a": 1}, "message_edited", "a"),
        ({"a": 1}, {"a": 1}, "same", None),
        ([], {}, "message_edited", None),
    ],
)  # fmt: skip
def test_other_bodies(before: Any, after: Any, kind: Kind, path: str | None) -> None:
    found = compare(before, after)
    assert (found.kind, found.path) == (kind, path)


# -- properties --------------------------------------------------------------------------------------------------------

keys = st.sampled_from(
    ["messages", "input", "prompt", "system", "tools", "role", "content", "type", "text", "name", "function",
     "arguments", "parameters", "thinking", "model", "instructions", "\ud800"]
)  # fmt: skip
words = st.sampled_from(
    ["system", "user", "assistant", "thinking", "tool_result", '{"a": 1}', "x-a-b: c=1;", "10:40", "10:41"]
)
leaves = st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(), max_size=20) | words
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=25
)


@given(values, values)
@settings(max_examples=400, deadline=None)
def test_anything_at_all_gets_a_finding(before: Any, after: Any) -> None:
    compare(before, after)
    assert compare(before, copy.deepcopy(before)).kind in ("same", "cache_off")


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_path_of_any_edited_text_leads_to_it(data: st.DataObject) -> None:
    body = copy.deepcopy(data.draw(st.sampled_from([CLAUDE, GOOSE, CODEX, CHAT])))
    after = copy.deepcopy(body)
    main = "input" if "input" in body else "messages"
    index = data.draw(st.integers(0, len(after[main]) - 1))
    content = after[main][index]["content"]
    place = data.draw(st.integers(0, len(content) - 1)) if isinstance(content, list) else None
    text = content if place is None else content[place]["text"]
    at = data.draw(st.integers(0, len(text)))
    new = f"{text[:at]}\u2603{text[at:]}"
    if place is None:
        after[main][index]["content"] = new
    else:
        content[place]["text"] = new
    found = compare(body, after)
    path = f"{main}[{index}].content" + ("" if place is None else f"[{place}].text")
    assert found.path == path and value_at(body, path) == text
    assert "\u2603" in found.after and "\u2603" not in found.before


def test_bodies_that_are_deeper_than_python_may_recurse() -> None:
    deep: Any = "old"
    other: Any = "new"
    for _ in range(20_000):
        deep, other = [deep], [other]
    assert compare({"a": deep}, {"a": other}).kind == "message_edited"
    body = {"messages": [{"role": "user", "content": deep}], "tools": [deep], "system": deep}
    assert compare(body, {**body, "system": "x"}).kind == "message_edited"


@pytest.mark.parametrize("size", [30_000])
def test_conversations_of_many_messages(size: int) -> None:
    """What takes quadratic time does not come to an end."""
    chat = {"messages": [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "yes"}] * size}
    other = {"messages": [*chat["messages"][:size], {"role": "user", "content": "stop"}, *chat["messages"][size:]]}
    assert compare(chat, other).path == f"messages[{size}]"
