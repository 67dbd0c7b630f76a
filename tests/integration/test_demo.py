"""The demo on the real default model: what the README promises."""

from __future__ import annotations

import json

import pytest

from pinfill_service.commands import demo_run
from pinfill_service.commands.client import Answer, MeasuringClient
from tests.support.command_line import CommandLine
from tests.support.default_model import default_model


@pytest.fixture
def pinfill(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    default_model()
    return CommandLine(capsys, monkeypatch)


def test_warm_ratings_reuse_the_rubric_and_answer_the_same(pinfill: CommandLine) -> None:
    outcome = pinfill("demo", "--requests", 3, "--cold-requests", 2, "--json")
    assert outcome.code == 0, outcome
    found = json.loads(outcome.out)
    assert found["equal"] and (found["requests"], found["cold_requests"]) == (3, 2)
    rows = found["rows"]
    assert all(row["warm"]["cached_tokens"] >= 1800 for row in rows[1:])
    pairs = [(row["warm"], row["cold"]) for row in rows if row["cold"]]
    assert len(pairs) == 2 and all(warm["text"] == cold["text"] != "" for warm, cold in pairs)
    assert all(cold["cached_tokens"] == 0 for _, cold in pairs)
    for answer in (*(row["warm"] for row in rows), *(cold for _, cold in pairs)):
        assert answer["cached_tokens"] + answer["processed_tokens"] == answer["prompt_tokens"]


def test_the_rubric_is_cut_to_the_wanted_length(pinfill: CommandLine) -> None:
    outcome = pinfill("demo", "--requests", 2, "--prefix-tokens", 200)
    assert outcome.code == 0, outcome
    assert "2 ratings: " in outcome.out and "are equal" in outcome.out
    assert "200 tokens" in " ".join(outcome.err.split())


def test_a_different_answer_is_a_warning_and_exit_code_1(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    real = MeasuringClient.chat

    def different(self: MeasuringClient, system: str, user: str, **options: object) -> Answer:
        found = real(self, system, user, **options)
        return found if options["cache_prompt"] else Answer("other", *(getattr(found, n) for n in FIELDS[1:]))

    monkeypatch.setattr(demo_run.MeasuringClient, "chat", different)
    outcome = pinfill("demo", "--requests", 2, "--prefix-tokens", 50)
    assert outcome.code == 1 and "WARNING" in outcome.out and "NOT equal" in outcome.out


FIELDS = tuple(Answer.__dataclass_fields__)
