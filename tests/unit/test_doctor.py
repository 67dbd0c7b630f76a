"""The doctor names the token at which a prompt left the cache, and a cause only where the texts bear it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinfill_service.cache.doctor import PromptRecord
from pinfill_service.cache.doctor.records import Kind
from pinfill_service.prompt.tokenizer import Piece
from tests.support.models import llama_text
from tests.support.prompt_records import (
    ANSWER,
    HEADER,
    LONG,
    QUESTION,
    RUBRIC,
    SYSTEM,
    TOOLS,
    compare,
    earlier,
    prompt,
    tool,
)


def test_another_payload_behind_a_shared_rubric_is_nothing_to_worry_about() -> None:
    found = compare(earlier(SYSTEM, QUESTION), prompt(SYSTEM, ("user", "The stone weighs 3 kg.")))
    assert (found.kind, found.segment) == ("new_message", "message 2 (user)")
    assert "The river" in found.before and "The stone" in found.after
    assert found.explanation.startswith('Everything in front of "message 2 (user)" is the same')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (HEADER.format("18b") + "\n\n" + RUBRIC, HEADER.format("455") + "\n\n" + RUBRIC),
        (HEADER.format("18b") + RUBRIC, HEADER.format("455") + " cch=0a1b2;" + RUBRIC),
        (HEADER.format("18b") + "\n\n" + RUBRIC, RUBRIC),
        (RUBRIC, HEADER.format("18b") + "\n\n" + RUBRIC),
        ("Client version: 1.12.0-beta\n" + RUBRIC, "Client version: 1.12.1\n" + RUBRIC),
    ],
)
def test_volatile_header(old: str, new: str) -> None:
    found = compare(earlier(("system", old), QUESTION), prompt(("system", new), QUESTION))
    assert (found.kind, found.segment) == ("volatile_header", "system")


def test_a_header_in_a_user_s_words_is_not_the_client_s() -> None:
    old, new = (("user", HEADER.format(build) + "\nWhat does this header mean?") for build in ("18b", "455"))
    assert compare(earlier(SYSTEM, old), prompt(SYSTEM, new)).kind == "new_message"


CLOCKS = [
    ("The current time is 10:40. ", "The current time is 10:41. "),
    ("The current time is 9:59 AM. ", "The current time is 10:00 AM. "),
    ("Today's date is 2026-11-29.\n", "Today's date is 2026-12-01.\n"),
    ("Now: 2026-11-29T13:23:00.123Z\n", "Now: 2026-11-29T13:24:07.001Z\n"),
    ("<time-now>2026-11-29 13:23:00 +00:00</time-now>", "<time-now>2026-11-29 13:24:00 +00:00</time-now>"),
    ("Today is Sunday, November 29, 2026, 10:40.\n", "Today is Monday, November 30, 2026, 9:12.\n"),
    ("Date: 29 Nov 2026\n", "Date: 1 Dec 2026\n"),
    ("Sun Nov 29 13:23:00 UTC 2026\n", "Mon Nov 30 13:23:01 UTC 2026\n"),
    ("Date: 11/29/2026\n", "Date: 12/1/2026\n"),
    ("Date: 29.11.2026\n", "Date: 30.11.2026\n"),
    ("timestamp=1795959780 ", "timestamp=1795959841 "),
    ('{"time": 1795959780123}\n', '{"time": 1795959841456}\n'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), CLOCKS)
@pytest.mark.parametrize("at_front", [True, False])
def test_clock(old: str, new: str, at_front: bool) -> None:
    texts = [("system", clock + RUBRIC if at_front else RUBRIC + clock) for clock in (old, new)]
    found = compare(earlier(texts[0], QUESTION), prompt(texts[1], QUESTION))
    assert (found.kind, found.segment) == ("clock", "system")
    assert any(part in found.after for part in new.split())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("What happened on 2026-11-28?", "What happened on 2026-11-29?"),  # a question, not a clock
        ("Invoice of 2026-11-28\nTotal 14", "Invoice of 2026-11-29\nTotal 20"),
        ("Order 1795959780, please.", "Order 1795959841, please."),
        ("Use Python version 3.11.", "Use Python version 3.12."),
    ],
)
def test_dates_and_numbers_that_people_write_are_meant(old: str, new: str) -> None:
    assert compare(earlier(SYSTEM, ("user", old)), prompt(SYSTEM, ("user", new))).kind == "new_message"


def test_more_than_a_clock_is_not_called_a_clock() -> None:
    old, new = "The current time is 10:40. Be kind.\n", "The current time is 10:41. Be strict.\n"
    assert compare(earlier(("system", old + RUBRIC)), prompt(("system", new + RUBRIC))).kind == "message_edited"


def test_a_clock_that_a_client_puts_into_the_user_s_message() -> None:
    turns = [
        ("user", f"hi\n<turn-context>\n<current-time>2026-11-29 13:{minute}:00 +00:00</current-time>\n</turn-context>")
        for minute in (23, 24)
    ]
    found = compare(earlier(SYSTEM, turns[0]), prompt(SYSTEM, turns[1]))
    assert (found.kind, found.segment) == ("clock", "message 2 (user)")


def test_volatile_identifier() -> None:
    texts = [
        ("system", f"Session id: {digits}-0d2c-4a52-9d3e-1f2a3b4c5d6e\n{RUBRIC}") for digits in ("0a1b2c3d", "9f8e7d6c")
    ]
    assert compare(earlier(texts[0]), prompt(texts[1])).kind == "volatile_id"


def test_tools_in_another_order() -> None:
    found = compare(earlier(SYSTEM, QUESTION, tools=TOOLS), prompt(SYSTEM, QUESTION, tools=TOOLS[::-1]))
    assert (found.kind, found.segment) == ("tools_reordered", "system")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (TOOLS, [*TOOLS, tool("fetch")], "added fetch"),
        (TOOLS, [tool("fetch"), *TOOLS], "added fetch"),
        (TOOLS, TOOLS[:1], "removed write, search"),
        (TOOLS, [], "removed read, write, search"),
        ([], TOOLS, "added read, write, search"),
        (TOOLS, [TOOLS[0], tool("write", "Writes."), TOOLS[2]], "edited write"),
        (TOOLS, [tool("fetch"), tool("write", "Writes."), TOOLS[0]], "added fetch; removed search; edited write"),
        ([], [tool(f"tool{n}") for n in range(8)], "added tool0, tool1, tool2, tool3, tool4 and 3 more"),
    ],
)
def test_tools_changed(old: list[dict[str, Any]], new: list[dict[str, Any]], words: str) -> None:
    found = compare(earlier(SYSTEM, QUESTION, tools=old), prompt(SYSTEM, QUESTION, tools=new))
    assert found.kind == "tools_changed" and words in found.explanation


def test_a_clock_in_a_tool_is_a_clock() -> None:
    old, new = ([tool("fetch", f"Current date: 2026-11-{day}. Fetches.")] for day in (28, 29))
    assert compare(earlier(SYSTEM, tools=old), prompt(SYSTEM, tools=new)).kind == "clock"


def test_a_system_prompt_that_was_edited_far_from_the_tools_is_not_called_tools() -> None:
    found = compare(
        earlier(("system", "Be kind. " + RUBRIC * 3), tools=TOOLS), prompt(("system", "Be strict. " + RUBRIC * 3))
    )
    assert found.kind == "message_edited"


def test_json_with_its_keys_in_another_order() -> None:
    swapped = tool("read")
    swapped["function"] = dict(reversed(swapped["function"].items()))
    found = compare(earlier(SYSTEM, tools=TOOLS), prompt(SYSTEM, tools=[swapped, *TOOLS[1:]]))
    assert found.kind == "json_key_order"


def test_arguments_that_come_back_compactly() -> None:
    call = '<tool_call>{"name": "read", "arguments": {"path": "/srv/caf\\u00e9", "depth": 2}}</tool_call>'
    turns = [SYSTEM, QUESTION, ("assistant", call), ("tool", "10 km")]
    compact = call.replace(": ", ":").replace(", ", ",")
    found = compare(earlier(*turns), prompt(*turns[:2], ("assistant", compact), turns[3]))
    assert (found.kind, found.segment) == ("whitespace", "message 3 (assistant)")
    unescaped = compact.replace("\\u00e9", "é")
    assert compare(earlier(*turns), prompt(*turns[:2], ("assistant", unescaped), turns[3])).kind == "json_format"


def test_white_space_only() -> None:
    old, new = ("assistant", "Yes.  \n\nIt is. "), ("assistant", "Yes.\nIt is.")
    found = compare(earlier(SYSTEM, QUESTION, old, QUESTION), prompt(SYSTEM, QUESTION, new, QUESTION))
    assert (found.kind, found.segment) == ("whitespace", "message 3 (assistant)")


def test_a_reply_that_comes_back_without_its_last_space() -> None:
    reply = llama_text().tokenizer.encode("It is 40 km. ")
    old = earlier(SYSTEM, QUESTION, reply_ids=reply, reply_text="It is 40 km. ")
    assert compare(old, prompt(SYSTEM, QUESTION, ("assistant", "It is 40 km."), QUESTION)).kind == "whitespace"


THOUGHT = "<think>\nThe unit is km, that is right.\n</think>\n\n"


def test_thinking_left_out_of_the_history() -> None:
    old = earlier(SYSTEM, QUESTION, ("assistant", THOUGHT + "Right."), ("user", "Sure?"))
    found = compare(old, prompt(SYSTEM, QUESTION, ("assistant", "Right."), ("user", "Sure?")))
    assert (found.kind, found.segment) == ("thinking_dropped", "message 3 (assistant)")
    assert "<think>" in found.before and "<think>" not in found.after


@pytest.mark.parametrize("thinks", ["", "<think>\n"])
@pytest.mark.parametrize("left", ["", "<think>\n\n</think>\n\n"])
def test_thinking_of_the_reply_left_out_of_the_next_prompt(thinks: str, left: str) -> None:
    reply = (THOUGHT + "Right.").removeprefix(thinks)
    ids = llama_text().tokenizer.encode(reply)
    old = earlier(SYSTEM, QUESTION, thinks=thinks, reply_ids=ids, reply_text=reply)
    new = prompt(SYSTEM, QUESTION, ("assistant", left + "Right."), ("user", "Sure?"))
    assert compare(old, new).kind == "thinking_dropped"


def test_a_user_s_words_about_thinking_are_no_reasoning() -> None:
    old, new = ("user", "<think>What is this tag?</think> Tell me."), ("user", "What is a tag? Tell me.")
    assert compare(earlier(SYSTEM, old), prompt(SYSTEM, new)).kind == "new_message"


def test_the_same_reply_in_other_tokens() -> None:
    tokenizer = llama_text().tokenizer
    split = [token for character in "It is 40 km." for token in tokenizer.encode(character)]
    assert split != tokenizer.encode("It is 40 km.")
    old = earlier(SYSTEM, QUESTION, reply_ids=split, reply_text="It is 40 km.")
    found = compare(old, prompt(SYSTEM, QUESTION, ("assistant", "It is 40 km."), QUESTION))
    assert (found.kind, found.segment) == ("reply_retokenised", "message 3 (assistant)")
    assert "nothing to do" in found.suggestion


def test_the_same_message_in_other_tokens_than_it_was_spliced_from() -> None:
    answer, tokenizer = "It is 40 km.", llama_text().tokenizer
    whole = prompt(SYSTEM, QUESTION, ("assistant", answer), QUESTION)
    front, back = str(whole.text).split(answer)
    split = [token for character in answer for token in tokenizer.encode(character)]
    old = [*tokenizer.encode(front), *split, *tokenizer.encode(back)]
    moved, end = len(old) - len(whole.token_ids), len(old) - len(tokenizer.encode(back))
    pieces = tuple(Piece(p.character, p.token + moved * (p.token + moved >= end)) for p in whole.pieces)
    found = compare(replace(whole, id="before", token_ids=old, segments=(), pieces=pieces), whole)
    assert (found.kind, found.segment) == ("reply_retokenised", "message 3 (assistant)")


def test_of_a_reply_without_its_text_nothing_is_claimed() -> None:
    ids = llama_text().tokenizer.encode("It is 41 km.")
    found = compare(
        earlier(SYSTEM, QUESTION, reply_ids=ids), prompt(SYSTEM, QUESTION, ("assistant", "It is 40 km."), QUESTION)
    )
    assert found.kind == "continues"


def test_messages_left_out_or_put_in() -> None:
    rest = (("user", "And the other river, the one behind the forest, how long is that one?"), ("assistant", "10 km."))
    full, cut = (SYSTEM, LONG, ANSWER, *rest, QUESTION), (SYSTEM, *rest, QUESTION)
    found = compare(earlier(*full), prompt(*cut))
    assert found.kind == "message_removed" and "2 messages were left out" in found.explanation
    found = compare(earlier(*cut), prompt(*full))
    assert found.kind == "message_inserted" and "2 messages were put in" in found.explanation


def test_an_edited_message_is_named_with_its_role() -> None:
    old = earlier(SYSTEM, LONG, ANSWER, QUESTION)
    found = compare(old, prompt(SYSTEM, LONG, ("assistant", "It is 41 km long."), QUESTION))
    assert (found.kind, found.segment) == ("message_edited", "message 3 (assistant)")
    assert "message 3 (assistant)" in found.explanation
    found = compare(old, prompt(("system", RUBRIC.replace("strict", "kind")), LONG, ANSWER, QUESTION))
    assert (found.kind, found.segment) == ("message_edited", "system")


@pytest.mark.parametrize("reply", [False, True])
def test_a_conversation_that_goes_on(reply: bool) -> None:
    fields = {"reply_ids": llama_text().tokenizer.encode(ANSWER[1]), "reply_text": ANSWER[1]} if reply else {}
    assert compare(earlier(SYSTEM, LONG, **fields), prompt(SYSTEM, LONG, ANSWER, QUESTION)).kind == "continues"


def test_another_message_instead_of_the_reply() -> None:
    assert compare(earlier(SYSTEM, LONG), prompt(SYSTEM, LONG, QUESTION)).kind == "continues"


# -- a real agent's request, its words replaced by pseudo-words --------------------------------------------------------

AGENTS = Path(__file__).parents[1] / "fixtures" / "agents" / "requests.jsonl"


def claude(edit: Callable[[str], str] = str, **fields: Any) -> PromptRecord:
    """Claude Code's first request, as chat templates get it: one system message in front."""
    body = json.loads(edit(AGENTS.read_text("utf-8").splitlines()[0]))["body"]
    hoisted = [message for message in body["messages"] if message["role"] == "system"]
    blocks = [*body["system"], *(block for message in hoisted for block in message["content"])]
    system = "\n\n".join(block["text"] for block in blocks)
    turns = [
        (message["role"], message["content"][-1]["text"]) for message in body["messages"] if message not in hoisted
    ]
    tools = [{"type": "function", "function": {"name": tool["name"], "parameters": tool["input_schema"]}}
             for tool in body["tools"]]  # fmt: skip
    return prompt(("system", system), *turns, **{"tools": tools, **fields})


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("2.1.332.18b", "2.1.332.455", "volatile_header"),
        ("tuva is 2026-11-29", "tuva is 2026-11-30", "clock"),
        ("Guguk's tuva is 2026-11-29", "Today's date is 2026-11-29", "message_edited"),
        ("on haz pewejed", "on  haz pewejed", "whitespace"),
        ("ListAgents", "ListAgent", "tools_changed"),
    ],
)
def test_claude_code(old: str, new: str, kind: Kind) -> None:
    assert compare(claude(id="before"), claude(lambda text: text.replace(old, new))).kind == kind


def test_the_date_of_claude_code() -> None:
    def dated(day: int) -> Callable[[str], str]:
        return lambda text: text.replace("Guguk's tuva is 2026-11-29", f"Today's date is 2026-11-{day}")

    found = compare(claude(dated(29), id="before"), claude(dated(30)))
    assert (found.kind, found.segment) == ("clock", "system")
