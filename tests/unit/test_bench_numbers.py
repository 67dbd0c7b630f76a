"""Benchmarks: prompts of the wanted length, turns that are fair, numbers that mean what their names say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from pinfill_service.commands.bench_numbers import compare, decode_rate, percentile_90, savings, summarise
from pinfill_service.commands.bench_prompts import PromptMaker
from pinfill_service.commands.bench_run import BATCH_ROUNDS, DECODE_ROUNDS, Batch, Bench, Plan, Samples, Server
from pinfill_service.commands.client import Answer, MeasuringClient
from pinfill_service.commands.demo_run import Row, total
from pinfill_service.commands.local_service import RunningService, running
from tests.support.client import KEY, settings
from tests.support.command_line import CommandLine, assert_told
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.models import llama_text


def answer(ttft: float = 0.5, seconds: float = 1.0, generated: int = 1, **counts: Any) -> Answer:
    known = {"prompt_tokens": 100, "cached_tokens": 90, "processed_tokens": 10, "prefill_ms": 250.0}
    return Answer("x", ttft, seconds, generated_tokens=generated, **known | counts)


def count(text: str) -> int:
    """A tokenizer in which long words have two tokens."""
    return sum(1 + (len(word) > 5) for word in text.split())


def test_prompts_have_the_wanted_length() -> None:
    maker = PromptMaker(count, seed=1)
    for tokens in (1, 2, 35, 500):
        made = maker.make(tokens)
        assert made.tokens == count(made.text)
        assert made.tokens in (tokens, tokens + 1) if tokens == 1 else made.tokens == tokens


def test_prompts_begin_differently() -> None:
    maker = PromptMaker(count, seed=1)
    first = [maker.make(1).text for _ in range(1000)]
    assert len(set(first)) == 1000


def test_the_seed_decides_every_word() -> None:
    def texts(seed: int) -> list[str]:
        maker = PromptMaker(count, seed)
        return [maker.make(50).text for _ in range(3)]

    assert texts(7) == texts(7) != texts(8)


def test_percentile_is_interpolated() -> None:
    assert percentile_90([float(n) for n in range(1, 12)]) == 10.0
    assert percentile_90([3.0]) == 3.0


def test_decoding_is_counted_after_the_first_token() -> None:
    assert decode_rate(answer(ttft=0.5, seconds=1.5, generated=65)) == 64.0
    assert decode_rate(answer(generated=1)) is None


def samples(warm: list[float], *, prefill_ms: float | None = 250.0) -> Samples:
    return Samples(
        cold=[answer(ttft=2.0, processed_tokens=1000)],
        warm=[answer(ttft=ttft, prefill_ms=prefill_ms) for ttft in warm],
        decode=[answer(ttft=0.5, seconds=1.0, generated=33)],
        batches=[Batch((answer(),) * 8, 4.0)],
    )


def test_medians_of_one_server() -> None:
    numbers = summarise(samples([0.1, 0.3, 0.2]))
    assert numbers["cold_prefill_tokens_per_second"] == 500.0
    assert numbers["warm_ttft_ms"] == pytest.approx(200.0)
    assert numbers["warm_ttft_over_prefill"] == pytest.approx(0.8)
    assert numbers["decode_tokens_per_second"] == 64.0
    assert numbers["requests_per_second"] == 2.0


def test_ratios_compare_round_with_round() -> None:
    # The second round was slow on both: a ratio of medians would say 0.3 / 0.8.
    ratios = compare(samples([0.1, 0.9, 0.3]), samples([0.2, 1.8, 0.8]))
    assert ratios["warm_ttft_ms"] == pytest.approx(0.5)


def test_a_server_that_tells_no_timings_has_no_ratio_for_them() -> None:
    theirs = samples([0.2], prefill_ms=None)
    assert summarise(theirs)["warm_prefill_ms"] is None
    assert compare(samples([0.1]), theirs)["warm_prefill_ms"] is None
    assert compare(samples([0.1]), theirs)["warm_ttft_ms"] == pytest.approx(0.5)


class FakeClient:
    """Records what it is asked, into a log that all clients share."""

    def __init__(self, name: str, log: list[tuple[str, str, int]]) -> None:
        self._name, self._log = name, log
        self._answers = 0

    def saved_seconds(self) -> float:
        """Two for each answer."""
        return 2.0 * self._answers

    def complete(self, prompt: str, **options: Any) -> Answer:
        assert options["ignore_eos"] and options["cache_prompt"]
        self._log.append((self._name, prompt, options["max_tokens"]))
        self._answers += 1
        return answer()


PLAN = Plan(
    requests=3,
    cold_requests=2,
    prefix_tokens=20,
    payload_tokens=5,
    max_tokens=4,
    decode_tokens=8,
    concurrency=1,
    route="completions",
    seed=0,
)


def test_the_ledger_is_compared_with_what_was_measured() -> None:
    found = samples([0.5, 1.0, 0.5])  # cold: 2 s
    assert savings(found) is None, "the other server keeps no ledger"
    found.ledger_seconds = 4.4
    saved = savings(found)
    assert saved is not None and (saved.requests, saved.measured_seconds) == (3, 4.0)
    assert saved.ratio == pytest.approx(1.1)
    found.warm = [answer(ttft=2.5)]
    slower = savings(found)
    assert slower is not None and slower.ratio is None


def run_on_fakes() -> tuple[list[Server], list[tuple[str, str, int]]]:
    log: list[tuple[str, str, int]] = []
    servers = [Server(name, cast(MeasuringClient, FakeClient(name, log)), None) for name in ("a", "b")]
    Bench(PLAN, servers, PromptMaker(count, PLAN.seed)).run(lambda _: None)
    return servers, log


def test_both_servers_get_the_same_requests_and_take_turns() -> None:
    servers, log = run_on_fakes()
    one_by_one = log[: 2 * (PLAN.cold_requests + 1 + PLAN.requests + DECODE_ROUNDS)]
    pairs = list(zip(one_by_one[::2], one_by_one[1::2], strict=True))
    assert all({left[0], right[0]} == {"a", "b"} and left[1:] == right[1:] for left, right in pairs)
    cold, warm = pairs[: PLAN.cold_requests], pairs[PLAN.cold_requests + 1 :][: PLAN.requests]
    assert [pair[0][0] for pair in cold] == ["a", "b"]
    assert [pair[0][0] for pair in warm] == ["a", "b", "a"]
    for server in servers:
        found = server.samples
        lengths = (len(found.cold), len(found.priming), len(found.warm), len(found.decode), len(found.batches))
        assert lengths == (PLAN.cold_requests, 1, PLAN.requests, DECODE_ROUNDS, BATCH_ROUNDS)
        assert all(len(batch.answers) == PLAN.requests for batch in found.batches)
        assert found.ledger_seconds == 2.0 * PLAN.requests, "of the warm requests only"


def test_prefixes_are_shared_where_they_should_be_and_nowhere_else() -> None:
    _, log = run_on_fakes()
    prompts = [prompt for name, prompt, _ in log if name == "a"]
    prefixes = [prompt.partition("\n")[0] for prompt in prompts]
    assert len(set(prefixes[: PLAN.cold_requests + 1])) == PLAN.cold_requests + 1
    assert len(set(prefixes[PLAN.cold_requests :])) == 1
    assert len(set(prompts)) == len(prompts)


@pytest.fixture
def service() -> Iterator[RunningService]:
    script = Reply(llama_text().tokenizer.encode("one two three four five six seven eight"), cached=3)
    with running(settings(port=0), FakeEngine(script), llama_text()) as running_service:
        yield running_service


@pytest.fixture
def pinfill(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.delenv("PINFILL_API_KEY", raising=False)
    return CommandLine(capsys, monkeypatch)


SMALL = ("--requests", 2, "--cold-requests", 1, "--prefix-tokens", 60, "--payload-tokens", 8, "--decode-tokens", 6)


@pytest.mark.parametrize("route", ["completions", "chat"])
def test_the_command_measures_two_servers(pinfill: CommandLine, service: RunningService, route: str) -> None:
    target = ("--url", service.url, "--key", KEY, "--against", f"{service.url}/v1", "--against-key", KEY)
    outcome = pinfill("bench", "--json", *SMALL, *target, "--route", route, "--concurrency", 2)
    assert outcome.code == 0, outcome
    found = json.loads(outcome.out)
    assert found["plan"]["prefix_tokens"] == 60 and found["machine"]["memory_mib"] > 0
    for server in (found["servers"]["pinfill"], found["servers"]["other"]):
        assert server["model"] == "fake-model"
        warm = server["samples"]["warm"]
        assert all(each["cached_tokens"] == 3 for each in warm)
        assert all(each["cached_tokens"] + each["processed_tokens"] == each["prompt_tokens"] for each in warm)
        assert all(66 <= each["prompt_tokens"] <= 110 for each in warm)
        assert server["samples"]["decode"][0]["generated_tokens"] == 6
        assert server["medians"]["warm_prefill_ms"] == 500.0  # the scripted engine's
        assert 0 < server["medians"]["warm_ttft_ms"] <= max(1000 * each["total_seconds"] for each in warm)
        assert server["savings"]["requests"] == 2 and server["savings"]["ledger_seconds"] == 0.0
    assert found["ratios"]["warm_cached_tokens"] == 1.0


def test_the_table_has_the_ratio_and_what_was_sent(pinfill: CommandLine, service: RunningService) -> None:
    target = ("--url", service.url, "--key", KEY, "--against", service.url, "--against-key", KEY, "--seed", 5)
    shown = pinfill("bench", *SMALL, *target).out
    assert "ours / theirs" in shown and "seed 5" in shown and "warm TTFT" in shown
    assert "2 warm requests saved 0.0 s of prefill by the ledger" in shown
    assert "ours / theirs" not in pinfill("bench", *SMALL, *target[:4]).out


def test_prompts_that_do_not_fit_are_told(pinfill: CommandLine, service: RunningService) -> None:
    outcome = pinfill("bench", "--prefix-tokens", 600, "--url", service.url, "--key", KEY)
    assert_told(outcome, "context is 512 tokens")
    assert_told(pinfill("bench", "--url", service.url, "--key", "wrong"), "--key")


def test_demo_totals_count_what_was_measured_and_estimate_the_rest() -> None:
    cold = answer(ttft=4.0, seconds=5.0)
    rows = [
        Row(1, answer(ttft=4.0, seconds=5.0), cold),
        Row(2, answer(ttft=0.5, seconds=1.0), cold),
        Row(3, answer(ttft=0.5, seconds=1.0), None),
    ]
    totals = total(rows)
    assert (totals.requests, totals.cold_requests) == (3, 2)
    assert (totals.cold_seconds, totals.warm_seconds, totals.saved_seconds) == (15.0, 7.0, 7.0)
    assert (totals.cold_ttft, totals.warm_ttft, totals.equal) == (4.0, 0.5, True)


def test_demo_notices_a_different_answer() -> None:
    other = Answer("y", 0.5, 1.0, 100, 90, 10, 1, 250.0)
    assert not total([Row(1, answer(), answer()), Row(2, other, answer())]).equal
