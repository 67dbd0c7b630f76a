"""The rules that keep prompts stable: what each touches, what none touches, and how they are switched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pinfill_service.cache.doctor.wording import SUGGESTIONS
from pinfill_service.prompt.chat import ChatRequest, normalise
from pinfill_service.prompt.stable import RULES, stabilise
from pinfill_service.prompt.stable.rules import BILLING_HEADER, DATES, TOOL_ORDER
from tests.support.client import settings
from tests.support.managed import managed

HEADER = "x-anthropic-billing-header: cc_version=2.1.332.18b; cc_entrypoint=sdk-cli; cch=4f1c2;"
ALL_ON = {rule.name: True for rule in RULES}
ALL_OFF = {rule.name: False for rule in RULES}
OPENCODE = "You code.\n<env>\n  Platform: linux\n  Today's date: Sun Nov 29 2026\n</env>\nDo well."

texts = st.text(max_size=40) | st.sampled_from([HEADER, f"{HEADER}\nmore", "Today's date is 2026-11-29.", OPENCODE])
messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": texts}),
    min_size=1,
    max_size=6,
)


def chat(*contents: tuple[str, str], tools: tuple[str, ...] = ()) -> ChatRequest:
    listed = tuple({"type": "function", "function": {"name": name}} for name in tools)
    return ChatRequest(normalise([{"role": role, "content": text} for role, text in contents]), listed)


def contents(request: ChatRequest) -> list[Any]:
    return [message["content"] for message in request.messages]


@pytest.mark.parametrize("header", [HEADER, HEADER.replace("18b", "dd1"), HEADER.removesuffix(" cch=4f1c2;")])
def test_the_billing_header_goes_from_the_front_of_the_system_prompt(header: str) -> None:
    with_header = chat(("system", header), ("user", "hi"), ("system", "\nMore."))
    assert contents(stabilise(with_header, {})) == ["More.", "hi"]
    assert contents(stabilise(with_header, {BILLING_HEADER: False}))[0].startswith(header)
    assert contents(stabilise(chat(("system", header), ("user", "hi")), {})) == ["hi"]


@pytest.mark.parametrize(
    "system",
    [
        f"Never repeat this: {HEADER}",
        "x-anthropic-billing-header is a header.",
        "x-anthropic-billing-header: ask me about it",
        HEADER.replace("; ", "; and ") + "text",
    ],
)
def test_what_only_looks_like_the_header_stays(system: str) -> None:
    request = chat(("system", system), ("user", HEADER))
    assert stabilise(request, {}) == request


@given(messages, st.sets(st.sampled_from([rule.name for rule in RULES])))
def test_rules_change_nothing_but_the_leading_system_message_and_what_moves_from_it(
    sent: list[dict[str, Any]], on: set[str]
) -> None:
    before = ChatRequest(normalise(sent))
    after = stabilise(before, ALL_OFF | dict.fromkeys(on, True))
    assert stabilise(before, ALL_OFF) is before
    if before.messages[0]["role"] != "system":
        assert after == before
        return
    kept = before.messages[1:]
    assert [message["role"] for message in after.messages[-len(kept) :]] == [message["role"] for message in kept] or (
        not kept
    )
    for old, new in zip(reversed(kept), reversed(after.messages), strict=False):
        assert new["content"].endswith(old["content"])
        assert new == old or (DATES in on and new["role"] == "user" and "Today's date" in new["content"])


@pytest.mark.parametrize(
    ("system", "left", "moved"),
    [
        ("Be good.\n\nToday's date is 2026-11-29.", "Be good.", "Today's date is 2026-11-29."),
        (
            OPENCODE,
            "You code.\n<env>\n  Platform: linux\n</env>\nDo well.",
            "Today's date: Sun Nov 29 2026",
        ),
    ],
)
def test_a_date_moves_where_the_user_wants_that(system: str, left: str, moved: str) -> None:
    request = chat(("system", system), ("user", "hi"), ("assistant", "yes"), ("user", "more"))
    assert stabilise(request, {}) == request
    assert contents(stabilise(request, {DATES: True})) == [left, f"{moved}\n\nhi", "yes", "more"]
    tomorrow = chat(("system", system.replace("29", "30")), ("user", "hi"))
    assert contents(stabilise(tomorrow, {DATES: True}))[0] == left


def test_other_dates_stay() -> None:
    for system in (
        "Today's date is tomorrow.",
        "It is Today's date is 2026-11-29.",
        "  Today's date: Sun Nov 29 2026\n",
    ):
        request = chat(("system", system), ("user", "Today's date is 2026-11-29."))
        assert stabilise(request, ALL_ON) == request
    alone = chat(("system", "Today's date is 2026-11-29."))
    assert stabilise(alone, ALL_ON) == alone


def test_tools_are_sorted_where_the_user_wants_that() -> None:
    request = chat(("user", "hi"), tools=("write", "bash", "read"))
    assert stabilise(request, {}) == request
    names = [tool["function"]["name"] for tool in stabilise(request, {TOOL_ORDER: True}).tools]
    assert names == ["bash", "read", "write"]


def test_the_doctor_names_rules_that_exist() -> None:
    for kind, rule in (("volatile_header", BILLING_HEADER), ("clock", DATES), ("tools_reordered", TOOL_ORDER)):
        assert f"pinfill rules on {rule}" in " ".join(SUGGESTIONS[kind].split())  # type: ignore[index]
        assert [other.name for other in RULES if kind in other.prevents] == [rule]
    assert {kind for rule in RULES for kind in rule.prevents} <= SUGGESTIONS.keys()


# -- switching ---------------------------------------------------------------------------------------------------------


def test_settings_know_the_rules() -> None:
    assert settings(rules={TOOL_ORDER: True}).rules == {TOOL_ORDER: True}
    with pytest.raises(ValidationError, match="'no-such' is no rule; there are"):
        settings(rules={"no-such": True})


async def test_rules_are_listed_and_switched_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(f"# mine\n[rules]\n# sorted, please\n{TOOL_ORDER} = true\n")
    async with managed(tmp_path, rules={TOOL_ORDER: True}) as service:
        listed = {rule["name"]: rule for rule in (await service.get("/settings"))["rules"]}
        assert [listed[rule.name]["on"] for rule in RULES] == [True, False, True]
        assert all(rule["title"] and rule["description"].endswith(".") for rule in listed.values())
        assert listed[DATES]["prevents"] == ["clock"]
        changed = await service.ask("PATCH", "/settings", rules={BILLING_HEADER: False}, history=True)
        assert changed["values"]["rules"] == {TOOL_ORDER: True, BILLING_HEADER: False}
        assert {rule["name"]: rule["on"] for rule in changed["rules"]} == {
            BILLING_HEADER: False,
            DATES: False,
            TOOL_ORDER: True,
        }
        kept = file.read_text()
        assert "# mine" in kept and "# sorted, please" in kept
        code, message = await service.error("PATCH", "/settings", 400, rules={"other": True})
        assert code == "invalid_value" and message.startswith("There is no rule 'other', only claude-billing-header")
        assert file.read_text() == kept


async def test_settings_written_with_rules_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path))
    async with managed(tmp_path) as service:
        await service.ask("PATCH", "/settings", rules={BILLING_HEADER: False})
        await service.ask("PATCH", "/settings", rules={DATES: True})
        await service.ask("PATCH", "/settings", history=True)
    read = settings()
    assert (read.rules, read.history) == ({BILLING_HEADER: False, DATES: True}, True)


async def test_a_switched_rule_holds_for_the_next_request(tmp_path: Path) -> None:
    async with managed(tmp_path) as service:

        async def prompt_of(version: str) -> list[int]:
            sent = [{"role": "system", "content": f"{HEADER.replace('18b', version)}\nBe good."}]
            await service.chat(messages=[*sent, {"role": "user", "content": HEADER}])
            return list(service.engine.requests[-1].prompt)

        assert await prompt_of("a") == await prompt_of("b")
        await service.ask("PATCH", "/settings", rules={BILLING_HEADER: False})
        with_a = await prompt_of("a")
        assert with_a != await prompt_of("b")
        await service.ask("PATCH", "/settings", rules={BILLING_HEADER: True})
        assert len(await prompt_of("a")) < len(with_a)
