"""What the doctor says when the cache, not the text, is the cause, and which earlier prompt it compares with."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

import pytest

from pinfill_service.cache.doctor import Eviction, PromptRecord, diagnose
from pinfill_service.cache.doctor.records import Kind
from pinfill_service.engine.events import Started
from tests.support.fake_session import FakeWorker
from tests.support.prompt_records import (
    ANSWER,
    HEADER,
    LONG,
    OTHER_TEMPLATE,
    QUESTION,
    RUBRIC,
    SYSTEM,
    check,
    compare,
    earlier,
    prompt,
    shared,
)

# -- causes that texts do not tell -------------------------------------------------------------------------------------


def test_served() -> None:
    now = prompt(SYSTEM, QUESTION)
    found = diagnose(now, len(now.token_ids) - 2, [replace(now, id="before")])
    check(found)
    assert (found.kind, found.position_tokens) == ("served", None)


def test_never_seen() -> None:
    now = prompt(SYSTEM, QUESTION)
    title = earlier(("system", "Write a title of three words for the conversation that follows."), QUESTION)
    its_own = replace(now, at=1.0)
    for found in (diagnose(now, 0, []), compare(title, now), diagnose(now, 0, [its_own])):
        assert (found.kind, found.position_tokens, found.segment) == ("never_seen", None, None)
        assert (found.before, found.after, found.compared_with) == ("", "", None)


def test_what_was_cached_is_not_remembered() -> None:
    now = prompt(SYSTEM, QUESTION)
    for candidates in ([], [earlier(("system", "Write a title of three words for it."), QUESTION)]):
        found = diagnose(now, 40, candidates)
        assert (found.kind, found.position_tokens, found.segment) == ("not_remembered", 40, "system")


def test_evicted() -> None:
    now, before = prompt(SYSTEM, QUESTION, at=2_000.0), earlier(SYSTEM, LONG, at=1_000.0)
    found = diagnose(now, 10, [before], evicted=[Eviction(1_500.0, "", list(before.token_ids))])
    assert (found.kind, found.position_tokens) == ("evicted", 10)
    assert datetime.fromtimestamp(1_500).strftime("%H:%M:%S on %Y-%m-%d") in found.explanation
    assert diagnose(now, 10, [], evicted=[Eviction(1_500.0, "", list(before.token_ids))]).kind == "evicted"
    # Something was evicted after the earlier prompt, or before it, or for other settings.
    assert diagnose(now, 10, [before], evicted=[Eviction(1_500.0, "")]).kind == "evicted"
    assert diagnose(now, 10, [before], evicted=[Eviction(500.0, "")]).kind == "not_kept"
    assert diagnose(now, 10, [before], evicted=[Eviction(1_500.0, "salted")]).kind == "not_kept"


def test_a_lost_beginning_of_few_tokens_is_not_why() -> None:
    now, other = prompt(SYSTEM, QUESTION), earlier(("system", "Write a title of three words for it."), QUESTION)
    found = diagnose(now, 0, [other], evicted=[Eviction(1.0, "", list(other.token_ids))])
    assert found.kind == "never_seen"


def test_not_truncatable() -> None:
    now, before = prompt(SYSTEM, QUESTION), earlier(SYSTEM, LONG)
    found = diagnose(now, 8, [before], checkpoint=8)
    check(found)
    assert (found.kind, found.position_tokens) == ("not_truncatable", 8)
    assert f"first {shared(before, now):,} tokens" in found.explanation and "nearest is at 8" in found.explanation
    assert diagnose(now, shared(before, now), [before], checkpoint=shared(before, now)).kind == "new_message"


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({"model": "other", "namespace": "n2"}, "namespace", "for another model (other)"),
        ({"model": "m", "adapter": "law", "namespace": "n2"}, "namespace", "another adapter (law)"),
        ({"model": "m", "salt": "secret", "namespace": "n2"}, "namespace", "another cache salt"),
        ({"model": "m", "namespace": "n2"}, "namespace", "another state of the model's files"),
        ({"model": "m", "template_fingerprint": "t2", "template": OTHER_TEMPLATE}, "template", "another chat template"),
    ],
)
def test_cached_for_other_settings(fields: dict[str, Any], kind: Kind, words: str) -> None:
    system = ("system", RUBRIC * 5)
    now = prompt(system, QUESTION, model="m", namespace="n")
    old = earlier(system, QUESTION, **{"namespace": "n", **fields})
    found = diagnose(now, 0, [old])
    check(found)
    assert found.kind == kind and words in found.explanation
    assert "secret" not in json.dumps(asdict(found))
    same = earlier(system, LONG, model="m", namespace="n")  # as good, under the same settings
    assert diagnose(now, shared(same, now), [old, same]).kind == "new_message"


def test_the_engine_s_own_reasons() -> None:
    worker = FakeWorker()
    base = list(range(40)) * 2

    def reason(*payload: int, **options: Any) -> str | None:
        return str(worker.ask([*base, *payload], **options).of(Started)[0].miss_reason)

    reasons = {
        "cold": reason(90, 91, 92),
        "cache_off": reason(90, 91, 92, use_cache=False),
        "scoring": reason(90, 91, 92, prompt_logprobs=0),
        "left": reason(80, 81, 82, 83),
    }
    now, before = PromptRecord([*base, 80, 81, 82, 83], id="now"), PromptRecord([*base, 90, 91, 92], id="before")
    for kind in ("cache_off", "scoring"):
        found = diagnose(now, 0, [before], reason=reasons[kind])
        check(found)
        assert found.kind == kind and str(reasons[kind])[1:] in found.explanation
    assert diagnose(now, 0, [], reason=reasons["cold"]).kind == "never_seen"
    assert diagnose(now, 80, [before], reason=reasons["left"]).position_tokens == 80
    assert diagnose(now, 0, [before], reason="this model's KV must not be reused").kind == "not_reusable"
    assert (
        diagnose(now, 20, [before], reason="KV of tokens 20 to 80 was recorded but could not be read").kind
        == "unreadable"
    )
    recurrent = diagnose(
        now, 20, [], reason="left the cached prefix at token 1,080; the last checkpoint before it is at 20"
    )
    assert recurrent.kind == "not_truncatable" and "first 1,080" in recurrent.explanation


# -- candidates --------------------------------------------------------------------------------------------------------


def test_the_longest_common_prefix_wins_and_of_equal_ones_the_latest() -> None:
    now = prompt(SYSTEM, LONG, ANSWER, QUESTION)
    near = [earlier(SYSTEM, LONG, ANSWER, LONG, id=f"near {at}", at=at) for at in (1.0, 3.0, 2.0)]
    far = earlier(SYSTEM, QUESTION, id="far", at=9.0)
    assert diagnose(now, shared(near[0], now), [far, *near]).compared_with == "near 3.0"


def test_among_prompts_that_begin_with_the_same_header_the_one_with_the_same_words_is_compared() -> None:
    header = HEADER.format("18b")
    main = earlier(("system", header + "\n\n" + RUBRIC), QUESTION, id="main", at=1.0)
    title = earlier(("system", header + "\n\nWrite a title."), QUESTION, id="title", at=2.0)
    now = prompt(("system", HEADER.format("455") + "\n\n" + RUBRIC), QUESTION)
    found = diagnose(now, shared(main, now), [main, title])
    assert (found.kind, found.compared_with) == ("volatile_header", "main")


def test_a_payload_s_first_token_that_a_forgotten_prompt_shared() -> None:
    now, before = prompt(SYSTEM, QUESTION), earlier(SYSTEM, ("user", "A stone"))
    found = diagnose(now, shared(before, now) + 2, [before])
    assert (found.kind, found.position_tokens) == ("new_message", shared(before, now) + 2)


def test_records_without_texts_still_give_place_and_segment() -> None:
    full = earlier(SYSTEM, LONG, ANSWER), prompt(SYSTEM, QUESTION, ANSWER)
    old, now = (replace(record, text=None, pieces=()) for record in full)
    found = diagnose(now, shared(old, now), [old])
    check(found)
    assert (found.kind, found.segment) == ("message_edited", "message 2 (user)")
    assert found.before == found.after == "" and found.position_tokens == shared(old, now)


def test_texts_are_cut_around_the_difference_and_not_within_characters() -> None:
    family = "👩\u200d👩\u200d👧"
    old, new = (family * 40 + word + "e\u0301" * 200 for word in ("old", "new"))
    found = compare(earlier(("system", old)), prompt(("system", new)))
    assert found.before.startswith("…👩") and found.before.endswith("\u0301…") and "old" in found.before
    assert "\u200d…" not in found.after and "new" in found.after
