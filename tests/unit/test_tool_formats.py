"""Conversations with tools, as the templates of model families show them and as plain words where a template cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pinfill_service.api.schemas.openai import Message
from pinfill_service.prompt.chat import BEHIND, ChatRequest, ToolChoice
from pinfill_service.prompt.reply import Reply
from pinfill_service.prompt.template import TemplateError, compile_template, load_template
from pinfill_service.prompt.text_model import TextModel
from pinfill_service.prompt.tools.formats import tool_format
from tests.support.chat_templates import HERMES, LLAMA, MISTRAL, NATIVE, TEMPLATES, THINKING
from tests.support.default_model import default_model
from tests.support.models import llama_text

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "line": {"type": "integer"}}}
READ = {"type": "function", "function": {"name": "read", "description": "Reads a file.", "parameters": SCHEMA}}
STOP = {"type": "function", "function": {"name": "stop", "parameters": {"type": "object", "properties": {}}}}
TOOLS = (READ, STOP)
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "What is in a.txt?"}


def text_model(source: str) -> TextModel:
    return replace(llama_text(), template=compile_template(source, {"bos_token": "<s>", "eos_token": "</s>"}))


def call(name: str, arguments: Any, call_id: str = "call_1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content: str, call_id: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call_id}


def prompt(model: TextModel, *messages: dict[str, Any], **options: Any) -> str:
    return model.chat_prompt(ChatRequest(messages, **{"tools": TOOLS} | options)).text


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_a_template_can_do_is_found_out(name: str) -> None:
    found = tool_format(compile_template(TEMPLATES[name], {"bos_token": "<s>", "eos_token": "</s>"}))
    assert found.native == (name in NATIVE)
    assert found.one_call == (name == "llama") and found.short_ids == (name == "mistral")
    assert found.system_messages == (name not in ("mistral", "strict"))
    assert found.arguments_as_text == (name == "mistral-named")
    assert (found.no_content == "") == (name == "own-wrapper")  # others print None, or look whether there is a content


STYLES = {
    "hermes": ('<tool_call>\n{"name": "X", "arguments": Y}\n</tool_call>', "\n"),
    "qwen-coder": ('<tool_call>\n{"name": "X", "arguments": Y}\n</tool_call>', "\n"),
    "llama": ('{"name": "X", "parameters": Y}', ""),
    "mistral": ('[TOOL_CALLS] [{"name": "X", "arguments": Y}]', ", "),
    "mistral-named": ("[TOOL_CALLS]X[ARGS]Y", ""),
    "own-wrapper": ('<|call|>[{"name": "X", "arguments": Y}]<|/call|>', ", "),
    "strict": ('<tool_call>\n{"name": "X", "arguments": Y}\n</tool_call>', "\n"),
}


@pytest.mark.parametrize("name", STYLES)
def test_constrained_calls_look_like_the_template_s(name: str) -> None:
    style = tool_format(compile_template(TEMPLATES[name], {"bos_token": "<s>", "eos_token": "</s>"})).style
    written = f"{style.opening}{style.begin}X{style.middle}Y{style.end}{style.closing}"
    assert (written, style.separator) == STYLES[name]


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("count", [1, 2])
def test_a_shown_call_is_read_as_the_same_call(name: str, count: int) -> None:
    """What the template writes behind the prompt for an answer is what the reader finds in it."""
    model = text_model(TEMPLATES[name])
    calls = [call("read", {"path": 'a "b"\nü', "line": 3}, "call_1"), call("stop", {}, "call_2")][:count]
    before, request = prompt(model, USER), ChatRequest((USER,), tools=TOOLS)
    shown = prompt(model, USER, answer(*calls))
    if name == "thinking":
        before = before.removesuffix("<think>\n")
    if name == "llama" and count == 2:
        calls = calls[:1]  # the second one has a turn of its own
    assert shown.startswith(before)
    written = shown[len(before) :]
    for end in ("<|im_end|>", "<|eot_id|>", "</s>", "<|eot|>", "<end_of_turn>"):
        written = written.partition(end)[0]
    reply, reader = Reply(), model.reply_reader(request, model.chat_prompt(request))
    if name == "thinking":
        reader.push("</think>")
    for piece in (reader.push(written), reader.flush()):
        reply.add(piece)
    assert [(each.name, json.loads(each.arguments)) for each in reply.calls] == [
        (each["function"]["name"], each["function"]["arguments"]) for each in calls
    ]
    assert not reply.words


@pytest.mark.parametrize("name", TEMPLATES)
def test_an_agent_s_turns_only_grow_the_prompt(name: str) -> None:
    model = text_model(TEMPLATES[name])
    turns = [
        USER,
        answer(call("read", {"path": "a"}, "call_1"), call("stop", {}, "call_2"), content="I look."),
        result("one", "call_1"),
        result("two", "call_2"),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    one, two = (prompt(model, *turns[:length]) for length in (4, 6))
    assert "one" in one and "two" in one and one.index("one") < one.index("two")
    if name not in ("mistral", "thinking"):  # tools move to the last question; thoughts are opened at the end
        assert two.startswith(one.rstrip())


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a", "line": 3},
        {"path": "a", "line": 3.0},
        '{"path":"a","line":3}',
        '{ "path" : "a",\n "line": 3.0 }',
        '{"path": "\\u0061", "line": 0.3e1}',
    ],
)
def test_equal_arguments_make_equal_prompts(name: str, arguments: Any) -> None:
    model = text_model(TEMPLATES[name])
    expected = prompt(model, USER, answer(call("read", {"path": "a", "line": 3})), result("x"))
    for content in (None, ""):
        assert prompt(model, USER, answer(call("read", arguments), content=content), result("x")) == expected


@pytest.mark.parametrize("name", TEMPLATES)
def test_an_empty_list_of_calls_is_none(name: str) -> None:
    """Some clients send one with every answer, and Llama's template takes its presence for a call."""
    model = text_model(TEMPLATES[name])
    echoes = [Message.model_validate({"role": "assistant", "content": "Hi.", **more}).for_template()
              for more in ({}, {"tool_calls": []}, {"tool_calls": None})]  # fmt: skip
    prompts = {prompt(model, USER, echo, {"role": "user", "content": "Go on."}) for echo in echoes}
    assert len(prompts) == 1 and "Hi." in prompts.pop()


def test_what_was_thought_before_several_calls_is_told_once() -> None:
    source = LLAMA.replace("{%- set call =", "{{ m.reasoning_content }}{% set call =", 1)
    both = {**answer(call("read", {"path": "a"}, "1"), call("stop", {}, "2")), "reasoning_content": "Two steps."}
    text = prompt(text_model(source), USER, both, result("one", "1"), result("two", "2"))
    assert text.count("Two steps.") == 1


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("arguments", ["", "{}", None, {}])
def test_no_arguments(name: str, arguments: Any) -> None:
    model = text_model(TEMPLATES[name])
    expected = prompt(model, USER, answer(call("stop", {})), result("x"))
    assert prompt(model, USER, answer(call("stop", arguments)), result("x")) == expected


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("arguments", ['{"path": "a', "[1]", "oops", '"text"'])
def test_broken_arguments_stay_visible_and_break_nothing(name: str, arguments: str) -> None:
    text = prompt(text_model(TEMPLATES[name]), USER, answer(call("read", arguments)), result("x"))
    assert "no_json" in text and "read" in text


def test_equal_schemas_make_equal_prompts() -> None:
    model = text_model(HERMES)
    whole = {"name": "f", "parameters": {"type": "object", "properties": {"n": {"minimum": 1, "default": 1e3}}}}
    double = json.loads(json.dumps(whole).replace('"minimum": 1', '"minimum": 1.0'))
    prompts = {prompt(model, USER, tools=({"type": "function", "function": each},)) for each in (whole, double)}
    assert len(prompts) == 1 and '"default": 1000' in prompts.pop()


def test_too_deep_json_is_an_error() -> None:
    deep: dict[str, Any] = {}
    for _ in range(2000):
        deep = {"a": deep}
    nested = "[" * 100_000
    for message in (answer(call("read", deep)), answer(call("read", f'{{"a": {nested}'))):
        with pytest.raises(TemplateError, match="nested"):
            prompt(text_model(HERMES), USER, message)
    with pytest.raises(TemplateError, match="nested"):
        prompt(text_model(HERMES), USER, tools=({"type": "function", "function": {"name": "f", "parameters": deep}},))


LOOKED = {**call("read", {"path": "a"}), BEHIND: "\nI looked."}
STOPPED = {**call("stop", {}, "call_2"), BEHIND: "That is all."}


@pytest.mark.parametrize("name", TEMPLATES)
def test_an_answer_that_goes_on_behind_its_calls_stands_as_it_was_written(name: str) -> None:
    model = text_model(TEMPLATES[name])
    goes_on, stops = answer(LOOKED, content="I look."), answer(call("read", {"path": "a"}), content="I look.")
    text, plain = (prompt(model, USER, said, result("It is empty.")) for said in (goes_on, stops))
    before, _, after = text.partition("\nI looked.")
    assert plain.startswith(before) and plain.endswith(after) and "a" in before and "It is empty." in after
    assert after.lstrip().startswith("<") and (name in ("llama", "mistral") or "I look." in before)


@pytest.mark.parametrize("name", TEMPLATES)
def test_words_behind_every_call(name: str) -> None:
    text = prompt(text_model(TEMPLATES[name]), USER, answer(LOOKED, STOPPED), result("one"), result("two", "call_2"))
    assert "seam" not in text and BEHIND not in text
    shown = ("That is all.", "one", "two") if name == "mistral" else ("I looked.", "That is all.", "one", "two")
    assert all(text.count(each) == 1 for each in shown)  # Mistral's shows no words in front of a call, like these
    if name in ("hermes", "chatml"):
        assert (
            '{"name": "read", "arguments": {"path": "a"}}\n</tool_call>\nI looked.\n<tool_call>\n'
            '{"name": "stop", "arguments": {}}\n</tool_call>\nThat is all.<|im_end|>\n<|im_start|>user'
        ) in text


def test_a_template_that_takes_no_two_answers_in_a_row_gets_all_words_in_front() -> None:
    loop = "{%- for m in messages %}"
    twice = "[m.role, messages[loop.index0 - 1].role] == ['assistant'] * 2"
    refuses = f"{{% if {twice} %}}{{{{ raise_exception('Roles must alternate') }}}}{{% endif %}}"
    model = text_model(HERMES.replace(loop, loop + refuses, 1))
    assert tool_format(model.template).native and tool_format(model.template).between is None
    text = prompt(model, USER, answer({**call("stop", {}), BEHIND: "\nDone."}, content="Wait."), result("ok"))
    assert "assistant\nWait.\nDone.\n<tool_call>" in text


def test_one_call_a_message_where_the_template_wants_that() -> None:
    both = answer(call("read", {"path": "a"}, "1"), call("read", {"path": "b"}, "2"), content="I look.")
    text = prompt(text_model(LLAMA), USER, both, result("two", "2"), result("one", "1"), result("lost", "3"))
    places = [text.index(each) for each in ('"path": "a"', "one<", '"path": "b"', "two<", "lost<")]
    assert places == sorted(places) and text.count("<|start_header_id|>ipython") == 3


def test_mistral_s_ids_are_short_and_belong_together() -> None:
    text = prompt(
        text_model(MISTRAL), USER, answer(call("stop", {}, "call_" + "x" * 24)), result("ok", "call_" + "x" * 24)
    )
    found = text.partition('"id": "')[2][:9]
    assert found.isalnum() and f'"call_id": "{found}"' in text
    assert '"id": "aB3456789"' in prompt(text_model(MISTRAL), USER, answer(call("stop", {}, "aB3456789")))


def test_the_plain_block() -> None:
    model = text_model(TEMPLATES["chatml"])
    text = prompt(
        model, SYSTEM, USER, answer(call("read", {"path": "a"}), call("stop", {}, "2"), content="I look."),
        result("A"), result("B", "2"), {"role": "user", "content": "Go on."},
    )  # fmt: skip
    assert text == (
        "<|im_start|>system\nBe brief.\n\nYou can call these tools:\n"
        '{"name": "read", "description": "Reads a file.", "parameters": {"type": "object", "properties": '
        '{"path": {"type": "string"}, "line": {"type": "integer"}}}}\n'
        '{"name": "stop", "parameters": {"type": "object", "properties": {}}}\n\n'
        "To call a tool, write its name and arguments as JSON between these tags, and nothing after it:\n"
        '<tool_call>\n{"name": "...", "arguments": {...}}\n</tool_call>\n'
        "The result will be given to you between <tool_response> tags. When no tool is needed, answer in plain words."
        "<|im_end|>\n<|im_start|>user\nWhat is in a.txt?<|im_end|>\n<|im_start|>assistant\nI look.\n"
        '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "stop", "arguments": {}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nA\n</tool_response>\n<tool_response>\nB\n</tool_response>\n\n"
        "Go on.<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert "tools" not in prompt(model, USER, tools=()) and prompt(model, USER).startswith(
        "<|im_start|>system\nYou can"
    )
    strict = prompt(text_model(TEMPLATES["strict"]), USER, answer(call("stop", {})), result("A"))
    assert strict.startswith("<s><start_of_turn>user\nYou can call") and "What is in a.txt?<end_of_turn>" in strict


def test_the_default_model_s_template_gets_the_block() -> None:
    template = load_template(default_model())
    assert not tool_format(template).native
    text = replace(llama_text(), template=template).chat_prompt(ChatRequest((USER,), tools=TOOLS)).text
    assert text.startswith("<|im_start|>system\nYou can call these tools:\n") and "SmolLM" not in text


def test_tools_have_a_segment_of_their_own() -> None:
    model = text_model(HERMES)

    def labelled(*messages: dict[str, Any]) -> dict[str, str]:
        found = model.chat_prompt(ChatRequest(messages, tools=TOOLS))
        assert [s.start_token for s in found.segments[1:]] == [s.end_token for s in found.segments[:-1]]
        assert (found.segments[0].start_token, found.segments[-1].end_token) == (0, len(found.ids))
        return {s.label: model.tokenizer.decode(found.ids[s.start_token : s.end_token]) for s in found.segments}

    found = labelled(SYSTEM, USER, answer(call("read", {"path": "a"}), content="I look."), result("It is empty."))
    assert list(found) == [
        *("system", "tools", "message 2 (user)", "message 3 (assistant)", "message 4 (tool)", "generation prompt"),
    ]
    assert found["system"] == "<|im_start|>system\nBe brief." and found["tools"].lstrip().startswith("# Tools")
    assert found["tools"].endswith("</tools><|im_end|>\n") and "It is empty." in found["message 4 (tool)"]
    short = {"role": "user", "content": "read"}  # as in the definitions
    assert labelled(SYSTEM, short)["message 2 (user)"] == "<|im_start|>user\nread<|im_end|>\n"
    assert list(labelled(short)) == ["tools", "message 1 (user)", "generation prompt"]
    assert "tools" not in [segment.label for segment in model.chat_prompt(ChatRequest((SYSTEM, USER))).segments]


def test_a_block_of_reasoning_that_the_template_opens() -> None:
    model = text_model(THINKING)
    free, forced = (ChatRequest((USER,), tools=TOOLS, tool_choice=ToolChoice(mode)) for mode in ("auto", "required"))
    for request, ending, reasons in (
        (free, "assistant\n<think>\n", True),
        (forced, "<think>\n\n</think>\n\n", False),
    ):
        found = model.chat_prompt(request)
        assert found.text.endswith(ending) and found.reasons == reasons
    reader, reply = model.reply_reader(free, model.chat_prompt(free)), Reply()
    reply.add([*reader.push("I know.\n</think>\n\nIt is empty."), *reader.flush()])
    assert (reply.reasoning, reply.words) == ("I know.", "It is empty.")
