"""Sends the requests of a batch, some at a time, and keeps trying while the server is busy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from pinfill_service.commands.batch_files import Task, record_id
from pinfill_service.commands.client import (
    CONNECT_SECONDS,
    ServiceError,
    client_options,
    refusal,
    server_root,
    unreachable,
)

ATTEMPTS = 10
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
ANSWER_SECONDS = 3600.0  # a whole answer is silent until it is complete, and may wait behind others
_BUSY = frozenset({429, 503})
_STREAMING_FIELDS = frozenset({"stream", "stream_options"})


@dataclass(slots=True)
class Counts:
    """What the answers of this run cost, in prompt tokens, and how many were refused."""

    answered: int = 0
    refused: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0


class BatchRunner:
    """Runs tasks against one server. `take` gets every record as it completes, one at a time."""

    def __init__(
        self,
        url: str,
        key: str | None,
        concurrency: int,
        take: Callable[[Mapping[str, object]], None],
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.counts = Counts()
        self._url = server_root(url)
        self._key = key
        self._concurrency = concurrency
        self._take = take
        self._sleep = sleep

    async def run(self, tasks: Iterable[Task]) -> None:
        """Until every task has its record. Raises ServiceError when the server is gone, stays busy or wants a key;
        records that were taken until then stay.
        """
        waiting = iter(tasks)
        options = client_options(self._url, self._key) | {
            "timeout": httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        }
        async with httpx.AsyncClient(**options) as http:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self._concurrency):
                        group.create_task(self._work(http, waiting))
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None  # the others followed from it, or say the same

    async def _work(self, http: httpx.AsyncClient, waiting: Iterable[Task]) -> None:
        for task in waiting:  # one iterator for all workers: each takes the next
            response = await self._ask(http, task)
            self._take(self._record(task, response))

    async def _ask(self, http: httpx.AsyncClient, task: Task) -> httpx.Response:
        body = {name: value for name, value in task.body.items() if name not in _STREAMING_FIELDS}
        for attempt in range(ATTEMPTS):
            try:
                response = await http.post(task.url, json=body)
            except httpx.HTTPError as error:
                raise ServiceError(f"{unreachable(self._url, error)} The same command goes on from here.") from error
            if response.status_code not in _BUSY:
                break
            if attempt + 1 < ATTEMPTS:
                await self._sleep(_pause(attempt, response.headers.get("retry-after", "")))
        if response.status_code in _BUSY or response.status_code == 401:
            refused = refusal(self._url, response.status_code, response.content)
            raise ServiceError(f"{refused} The same command goes on from here.")
        return response

    def _record(self, task: Task, response: httpx.Response) -> dict[str, object]:
        try:
            body: Any = response.json()
        except ValueError:
            body = {"error": {"message": "The answer is not JSON."}}
        self._count(response.status_code, body)
        answer = {
            "status_code": response.status_code,
            "request_id": response.headers.get("x-request-id", ""),
            "body": body,
        }
        return {"id": record_id(), "custom_id": task.custom_id, "response": answer, "error": None}

    def _count(self, status: int, body: Any) -> None:
        if status != 200:
            self.counts.refused += 1
            return
        self.counts.answered += 1
        usage = (body.get("usage") if isinstance(body, dict) else None) or {}
        self.counts.prompt_tokens += usage.get("prompt_tokens") or 0
        self.counts.cached_tokens += (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0


def _pause(attempt: int, retry_after: str) -> float:
    """Seconds until the next attempt: doubled each time, and not before the server asked for it."""
    asked = float(retry_after) if retry_after.isdecimal() else 0.0
    return min(LONGEST_PAUSE_SECONDS, max(asked, FIRST_PAUSE_SECONDS * 2.0**attempt))
