"""A client that measures: streams one answer at a time from an OpenAI-compatible server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from pinfill_service.commands.console import CommandError
from pinfill_service.keys import is_loopback

ANSWER_SECONDS = 900.0  # one answer, from sending to its last byte
SILENCE_SECONDS = 300.0  # between two pieces of it: a cold prefill on a slow machine
CONNECT_SECONDS = 10.0
# A kept connection may be closed by the server just as it is used again (llama-server: after 5 s idle, or 100
# requests); a new one costs a fraction of a millisecond on loopback.
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=0)


class ServiceError(CommandError):
    """The server cannot be reached, refused a request, or broke one off."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with the client's clock and the server's counts; None where the server does not tell.

    `ttft_seconds` is the time from sending to the first piece of text.
    """

    text: str
    ttft_seconds: float
    total_seconds: float
    prompt_tokens: int | None
    cached_tokens: int | None
    processed_tokens: int | None
    generated_tokens: int
    prefill_ms: float | None


def server_root(url: str) -> str:
    """`http://host:port` of a URL given with or without `/v1`. Raises ServiceError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ServiceError(f"{url!r} is not a URL. It looks like http://127.0.0.1:7463.")
    return url.rstrip("/").removesuffix("/v1")


def client_options(url: str, key: str | None) -> dict[str, Any]:
    """Arguments of httpx clients for a server. A proxy never stands between this machine and itself."""
    return {
        "base_url": server_root(url),
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        "limits": LIMITS,
        "trust_env": not is_loopback(urlsplit(url).hostname or ""),
    }


def refusal(url: str, status: int, body: bytes) -> ServiceError:
    """The error for an HTTP answer that is no success, in the server's own words."""
    if status == 401:
        return ServiceError(
            f"{url} asks for a key, or for another one: --key KEY ('pinfill key' prints Pinfill's own)."
        )
    try:
        words = str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        words = body[:200].decode(errors="replace").strip() or "no reason given"
    return ServiceError(f"{url} answered {status}: {words}")


def unreachable(url: str, error: httpx.HTTPError) -> ServiceError:
    """The error for a server that does not answer, or stopped answering."""
    if isinstance(error, httpx.ConnectError):
        return ServiceError(f"Nothing answers at {url}. Start it, or give another --url.")
    return ServiceError(f"{url} broke off: {error or type(error).__name__}")


class MeasuringClient:
    """Talks to one server. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, url: str, key: str | None = None, model: str | None = None) -> None:
        self.url = server_root(url)
        self._http = httpx.Client(**client_options(url, key))
        self._model = model

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def first_model(self) -> str | None:
        """The first model the server lists; None when it lists none. Raises ServiceError."""
        try:
            listed = self._json("GET", "/v1/models")["data"]
            return str(listed[0]["id"])
        except (KeyError, IndexError, TypeError):
            return None

    def saved_seconds(self) -> float | None:
        """Seconds of prefill that reuse saved since the model was loaded, as Pinfill says; None for another server."""
        try:
            return float(self._json("GET", "/pinfill/v1/status")["activity"]["saved_seconds"])
        except (ServiceError, KeyError, TypeError, ValueError):
            return None

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text, without BOS. Raises ServiceError."""
        tokens: list[int] = self._json("POST", "/tokenize", {"content": text})["tokens"]
        return tokens

    def detokenize(self, tokens: Sequence[int]) -> str:
        """The text of token ids. Raises ServiceError."""
        return str(self._json("POST", "/detokenize", {"tokens": list(tokens)})["content"])

    def complete(self, prompt: str, **options: Any) -> Answer:
        """Streams /v1/completions, greedily. `options` are fields of the request. Raises ServiceError."""
        return self._measure("/v1/completions", {"prompt": prompt, **options})

    def chat(self, system: str, user: str, **options: Any) -> Answer:
        """Streams /v1/chat/completions, greedily. `options` are fields of the request. Raises ServiceError."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return self._measure("/v1/chat/completions", {"messages": messages, **options})

    def _measure(self, path: str, fields: Mapping[str, Any]) -> Answer:
        body = {"temperature": 0, "stream": True, "stream_options": {"include_usage": True}, **fields}
        if self._model is not None:
            body["model"] = self._model
        stream = _Stream()
        content = json.dumps(body).encode()
        started = time.perf_counter()
        try:
            headers = {"Content-Type": "application/json"}
            with self._http.stream("POST", path, content=content, headers=headers) as response:
                if response.status_code != 200:
                    raise refusal(self.url, response.status_code, response.read())
                for event in _events(response, started + ANSWER_SECONDS):
                    stream.take(event, time.perf_counter() - started)
        except httpx.HTTPError as error:
            raise unreachable(self.url, error) from error
        return stream.answer(time.perf_counter() - started)

    def _json(self, method: str, path: str, body: object = None) -> Any:
        try:
            response = self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise unreachable(self.url, error) from error
        if response.status_code != 200:
            raise refusal(self.url, response.status_code, response.content)
        try:
            return response.json()
        except ValueError as error:
            raise ServiceError(f"{self.url}{path} did not answer with JSON.") from error


def _events(response: httpx.Response, deadline: float) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if time.perf_counter() > deadline:
            raise ServiceError(f"One answer took longer than {ANSWER_SECONDS:.0f} s; that is too long to measure.")
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data and data != "[DONE]":
            yield json.loads(data)


class _Stream:
    """Collects the events of one answer."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._ttft: float | None = None
        self._usage: Mapping[str, Any] = {}
        self._timings: Mapping[str, Any] = {}

    def take(self, event: Mapping[str, Any], at: float) -> None:
        if "error" in event:
            raise ServiceError(f"The answer broke off: {event['error'].get('message', 'no reason given')}")
        self._usage = event.get("usage") or self._usage
        self._timings = event.get("timings") or self._timings
        for choice in event.get("choices") or ():
            text = choice.get("text") or (choice.get("delta") or {}).get("content")
            if text:
                self._ttft = at if self._ttft is None else self._ttft
                self._parts.append(text)

    def answer(self, total: float) -> Answer:
        usage, timings = self._usage, self._timings
        prompt: int | None = usage.get("prompt_tokens")
        cached: int | None = timings.get("cache_n", (usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
        processed = timings.get("prompt_n", None if prompt is None or cached is None else prompt - cached)
        return Answer(
            text="".join(self._parts),
            ttft_seconds=total if self._ttft is None else self._ttft,
            total_seconds=total,
            prompt_tokens=prompt,
            cached_tokens=cached,
            processed_tokens=processed,
            generated_tokens=int(timings.get("predicted_n", usage.get("completion_tokens", len(self._parts)))),
            prefill_ms=timings.get("prompt_ms"),
        )
