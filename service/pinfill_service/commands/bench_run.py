"""The four phases of `pinfill bench`, on one server or on two by turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from pinfill_service.commands.bench_prompts import PromptMaker
from pinfill_service.commands.client import Answer, MeasuringClient

DECODE_ROUNDS = 3
BATCH_ROUNDS = 3

Route = Literal["completions", "chat"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent. Tokens are those of the texts by themselves; a chat template and BOS come on top."""

    requests: int
    cold_requests: int
    prefix_tokens: int
    payload_tokens: int
    max_tokens: int
    decode_tokens: int
    concurrency: int
    route: Route
    seed: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests sent `concurrency` at a time, and the seconds from the first to the end of the last."""

    answers: tuple[Answer, ...]
    seconds: float


@dataclass(slots=True)
class Samples:
    """Everything measured on one server, in the order of the rounds."""

    cold: list[Answer] = field(default_factory=list)
    priming: list[Answer] = field(default_factory=list)
    warm: list[Answer] = field(default_factory=list)
    decode: list[Answer] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    ledger_seconds: float | None = None  # saved by the warm requests, as the server counts; None where it does not


@dataclass(frozen=True, slots=True)
class Server:
    """One of the servers under test."""

    label: str
    client: MeasuringClient
    model: str | None
    samples: Samples = field(default_factory=Samples)


class Bench:
    """Runs a plan. In every round each server gets the very same request, and they take turns at being first."""

    def __init__(self, plan: Plan, servers: Sequence[Server], prompts: PromptMaker) -> None:
        self._plan = plan
        self._servers = servers
        self._prompts = prompts
        self._prefix = ""

    def run(self, report: Callable[[str], None]) -> None:
        """All phases; the servers' samples hold the results. Raises ServiceError."""
        plan = self._plan
        self._cold(report)
        self._prefix = self._prompts.make(plan.prefix_tokens).text
        self._rounds(report, "priming", 1, 1, lambda server: server.samples.priming)
        before = [server.client.saved_seconds() for server in self._servers]
        self._rounds(report, "warm", plan.requests, 1, lambda server: server.samples.warm)
        for server, start in zip(self._servers, before, strict=True):
            end = server.client.saved_seconds()
            server.samples.ledger_seconds = None if start is None or end is None else end - start
        self._rounds(report, "decode", DECODE_ROUNDS, plan.decode_tokens, lambda server: server.samples.decode)
        for number in range(BATCH_ROUNDS):
            report(f"throughput {number + 1}/{BATCH_ROUNDS}")
            payloads = [self._payload() for _ in range(plan.requests)]
            for server in self._turn(number):
                server.samples.batches.append(self._batch(server, payloads))

    def _cold(self, report: Callable[[str], None]) -> None:
        for number in range(self._plan.cold_requests):
            report(f"cold prefill {number + 1}/{self._plan.cold_requests}")
            self._prefix, payload = self._prompts.make(self._plan.prefix_tokens).text, self._payload()
            for server in self._turn(number):
                server.samples.cold.append(self._ask(server, payload, 1))

    def _rounds(
        self,
        report: Callable[[str], None],
        title: str,
        rounds: int,
        max_tokens: int,
        samples: Callable[[Server], list[Answer]],
    ) -> None:
        for number in range(rounds):
            report(f"{title} {number + 1}/{rounds}")
            payload = self._payload()
            for server in self._turn(number):
                samples(server).append(self._ask(server, payload, max_tokens))

    def _turn(self, number: int) -> Iterator[Server]:
        return iter(self._servers) if number % 2 == 0 else reversed(self._servers)

    def _payload(self) -> str:
        return self._prompts.make(self._plan.payload_tokens).text

    def _batch(self, server: Server, payloads: Sequence[str]) -> Batch:
        with ThreadPoolExecutor(self._plan.concurrency) as pool:
            started = time.perf_counter()
            answers = tuple(pool.map(lambda payload: self._ask(server, payload, self._plan.max_tokens), payloads))
            return Batch(answers, time.perf_counter() - started)

    def _ask(self, server: Server, payload: str, max_tokens: int) -> Answer:
        options = {"max_tokens": max_tokens, "ignore_eos": True, "cache_prompt": True}
        if self._plan.route == "chat":
            return server.client.chat(self._prefix, payload, **options)
        return server.client.complete(f"{self._prefix}\n{payload}", **options)
