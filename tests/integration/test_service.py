"""The whole service on the real default model, over a real uvicorn, with the official client."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import psutil
import pytest

from pinfill_service.commands.local_service import RunningService, local_service
from tests.support.default_model import default_model
from tests.support.service_process import service_process
from tests.support.words import WORDS

RUBRIC = "Rate the text from one to five. " + " ".join(random.Random(4).choices(WORDS, k=300))


@pytest.fixture(scope="module")
def service() -> Iterator[RunningService]:
    with local_service(model=str(default_model()), slots=4, memory_budget_mib=512) as running:
        yield running


@pytest.fixture
def client(service: RunningService) -> Iterator[openai.OpenAI]:
    assert service.key is not None
    with openai.OpenAI(base_url=f"{service.url}/v1", api_key=service.key, max_retries=0) as made:
        yield made


def messages(payload: str, rubric: str = RUBRIC) -> list[dict[str, str]]:
    return [{"role": "system", "content": rubric}, {"role": "user", "content": payload}]


def ask(client: openai.OpenAI, payload: str, rubric: str = RUBRIC, **options: object) -> object:
    body = {"model": "smollm2-135m", "messages": messages(payload, rubric), "temperature": 0, "max_tokens": 8}
    return client.chat.completions.create(**(body | options))  # type: ignore[call-overload]


def counts(answer: object) -> tuple[int, int]:
    """(prompt tokens, cached tokens), after checking that they and the timings agree."""
    usage, timings = answer.usage, answer.model_extra["timings"]  # type: ignore[attr-defined]
    cached = usage.prompt_tokens_details.cached_tokens
    assert timings["cache_n"] == cached and timings["cache_n"] + timings["prompt_n"] == usage.prompt_tokens
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    return usage.prompt_tokens, cached


def test_one_shots_streamed_or_not_process_only_their_payload(client: openai.OpenAI) -> None:
    rubric = "One-shots. " + RUBRIC
    prompt, cached = counts(ask(client, "A first text.", rubric))
    assert cached == 0
    second = ask(client, "Another one.", rubric)
    prompt, cached = counts(second)
    assert prompt - cached < 20
    timings = second.model_extra["timings"]  # type: ignore[attr-defined]
    assert timings["cache_reason"] == f"left the cached prefix at token {cached:,}"
    stream = ask(client, "And a third, streamed.", rubric, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)  # type: ignore[call-overload]
    prompt, cached = counts(chunks[-1])
    assert 0 < prompt - cached < 20
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] in ("length", "stop")


def test_cold_warm_streamed_and_whole_answers_are_one_and_the_same(client: openai.OpenAI) -> None:
    payload = "The bridge was closed all winter."
    cold = ask(client, payload, extra_body={"cache_prompt": False})
    assert counts(cold)[1] == 0
    warm = [ask(client, payload) for _ in range(3)]
    text = cold.choices[0].message.content  # type: ignore[attr-defined]
    assert text and [answer.choices[0].message.content for answer in warm] == [text] * 3  # type: ignore[attr-defined]
    streamed = ask(client, payload, stream=True)
    assert "".join(c.choices[0].delta.content or "" for c in streamed if c.choices) == text  # type: ignore[attr-defined]


def test_a_salt_keeps_others_out(client: openai.OpenAI) -> None:
    rubric = "Salted. " + RUBRIC
    ask(client, "x", rubric, extra_body={"cache_salt": "mine"})
    assert counts(ask(client, "x", rubric, extra_body={"cache_salt": "yours"}))[1] == 0
    assert counts(ask(client, "x", rubric))[1] < 10  # the template begins alike for everybody
    assert counts(ask(client, "x", rubric, extra_body={"cache_salt": "mine"}))[1] > 200


def test_interleaved_clients_do_not_destroy_each_other(client: openai.OpenAI) -> None:
    chats = [f"Chat {number}. " + RUBRIC for number in range(6)]  # more than there are slots
    for rubric in chats:
        ask(client, "Begin.", rubric)
    for rubric in chats:
        prompt, cached = counts(ask(client, "Go on.", rubric))
        assert prompt - cached < 20


def test_several_choices_share_one_prefill(client: openai.OpenAI) -> None:
    answer = ask(client, "Choose.", "Choices. " + RUBRIC, n=3, temperature=1.0, seed=5)
    assert len(answer.choices) == 3  # type: ignore[attr-defined]
    again = ask(client, "Choose.", "Choices. " + RUBRIC, n=3, temperature=1.0, seed=5)
    texts = [[c.message.content for c in a.choices] for a in (answer, again)]  # type: ignore[attr-defined]
    assert texts[0] == texts[1] and len(set(texts[0])) > 1


def test_a_stop_string_is_cut_off_and_ends_the_answer(client: openai.OpenAI) -> None:
    whole = ask(client, "Tell me about rivers.", max_tokens=24).choices[0].message.content  # type: ignore[attr-defined]
    stop = whole[len(whole) // 2 : len(whole) // 2 + 4]
    answer = ask(client, "Tell me about rivers.", max_tokens=24, stop=[stop]).choices[0]  # type: ignore[attr-defined]
    assert answer.finish_reason == "stop" and answer.message.content == whole[: whole.index(stop)]


def test_echoed_log_probabilities_are_the_same_whatever_is_cached(client: openai.OpenAI) -> None:
    prompt = RUBRIC[:400]
    options = {"model": "m", "prompt": prompt, "max_tokens": 0, "echo": True, "logprobs": 1}
    first = client.completions.create(**options)  # type: ignore[call-overload]
    second = client.completions.create(**options)  # type: ignore[call-overload]
    scores = first.choices[0].logprobs
    assert scores.token_logprobs == second.choices[0].logprobs.token_logprobs
    assert "".join(scores.tokens) == prompt and scores.token_logprobs[0] is None
    assert second.usage.prompt_tokens_details.cached_tokens == 0


def test_parallel_requests_get_the_answers_they_get_alone(client: openai.OpenAI) -> None:
    payloads = [f"Text number {number} about {WORDS[number]}." for number in range(8)]
    alone = [ask(client, p, extra_body={"cache_prompt": False}).choices[0].message.content for p in payloads]  # type: ignore[attr-defined]
    together: dict[str, str] = {}

    def one(payload: str) -> None:
        together[payload] = ask(client, payload).choices[0].message.content  # type: ignore[attr-defined]

    threads = [threading.Thread(target=one, args=(payload,)) for payload in payloads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [together[payload] for payload in payloads] == alone


def responses_body(long: str) -> dict[str, object]:
    return {"instructions": long, "input": "Hello", "max_output_tokens": 4, "temperature": 0}


def messages_body(long: str) -> dict[str, object]:
    return {"system": long, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "temperature": 0}


def chat_body(long: str) -> dict[str, object]:
    return {"messages": messages("Hello", long), "max_tokens": 4, "temperature": 0}


def usage_counts(usage: dict[str, Any]) -> tuple[int, int]:
    """(prompt tokens, cached tokens) in the words of any of the three APIs."""
    if "cache_read_input_tokens" in usage:
        cached = usage["cache_read_input_tokens"]
        return usage["input_tokens"] + usage["cache_creation_input_tokens"] + cached, cached
    kind = "prompt_tokens" if "prompt_tokens" in usage else "input_tokens"
    return usage[kind], usage[f"{kind}_details"]["cached_tokens"]


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/chat/completions", chat_body), ("/v1/messages", messages_body), ("/v1/responses", responses_body)],
)
def test_a_client_that_leaves_stops_its_prefill_and_its_retry_reuses_what_was_done(
    service: RunningService, path: str, body: Callable[[str], dict[str, object]]
) -> None:
    sent = body(f"Leaving {path}. " + " ".join(random.Random(path).choices(WORDS, k=1500)))
    headers = {"Authorization": f"Bearer {service.key}"}
    with httpx.Client(base_url=service.url, headers=headers, timeout=60) as http:
        with http.stream("POST", path, json=sent | {"stream": True}) as response:
            assert response.status_code == 200
            next(response.iter_lines())  # the opening comes before the prefill
            before = metric(service, "pinfill_prompt_tokens_processed_total")
            wait_until(lambda: metric(service, "pinfill_prompt_tokens_processed_total") > before)
            done = metric(service, "pinfill_prompt_tokens_processed_total")
        wait_until(lambda: metric(service, "pinfill_running") == 0)
        # the chunk that ran as the client left, and the one that may have begun before the service knew
        assert metric(service, "pinfill_prompt_tokens_processed_total") - done <= 2 * 512
        prompt, cached = usage_counts(http.post(path, json=sent).json()["usage"])
    assert 0 < cached < prompt - 2, "the finished chunks, and only they, are reused"


def metric(service: RunningService, name: str) -> float:
    text = httpx.get(f"{service.url}/metrics", headers={"Authorization": f"Bearer {service.key}"}).text
    (line,) = [line for line in text.splitlines() if line.startswith(name + " ")]
    return float(line.split()[1])


def wait_until(condition: object, limit: float = 60.0) -> None:
    end = time.monotonic() + limit
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.02)


def test_too_long_a_prompt_is_an_error_before_anything_else(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, "river " * 9000, stream=True)
    assert caught.value.code == "context_length_exceeded"
    assert "8,192" in caught.value.message


def test_an_unknown_model_name_is_the_loaded_one(client: openai.OpenAI) -> None:
    answer = ask(client, "Hi", model="gpt-4o")
    assert answer.model == service_model(client)  # type: ignore[attr-defined]


def service_model(client: openai.OpenAI) -> str:
    (model,) = client.models.list().data
    assert model.model_extra is not None and model.model_extra["meta"]["n_ctx"] == 8192
    return model.id


def test_an_idle_service_uses_no_cpu(tmp_path: Path) -> None:
    """A process of its own: this one also runs what other tests left behind."""
    with service_process(tmp_path, default_model(), slots=4) as alone:
        alone.complete("Hi")
        # The reply settles, and what was written to disk is checked, before it is idle.
        wait_until(lambda: cpu_seconds_of(alone.pid, 2) < 0.1)


def cpu_seconds_of(pid: int, span: float) -> float:
    """What a process computes in `span` seconds."""
    process = psutil.Process(pid)
    before = sum(process.cpu_times()[:2])
    time.sleep(span)
    return sum(process.cpu_times()[:2]) - before
