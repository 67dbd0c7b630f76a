"""POST /v1/completions"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fastapi import APIRouter, Request
from starlette.responses import Response

from pinfill_service.api.chat import OFF_LOOP_CHARACTERS
from pinfill_service.api.choice import ChoiceResult, Delta
from pinfill_service.api.context import Service, ServiceDep
from pinfill_service.api.errors import ApiError, answer_for
from pinfill_service.api.json_text import SSE_DONE, SSE_MEDIA_TYPE, sse_comment, sse_data
from pinfill_service.api.logprobs import LegacyLogprobs
from pinfill_service.api.recording import Origin
from pinfill_service.api.running import Plan, respond
from pinfill_service.api.schemas.openai import MAX_PROMPTS, CompletionRequest
from pinfill_service.api.usage import timings, usage
from pinfill_service.pins.virtual import VirtualModel
from pinfill_service.prompt.tokenizer import TextTokenizer

router = APIRouter()


@router.post("/v1/completions", response_class=Response)
async def completions(body: CompletionRequest, request: Request, service: ServiceDep) -> Response:
    """Continues texts."""
    _check(body)
    pin = service.virtual_model(body.model)
    if sum(len(prompt) + pin.characters for prompt in body.prompt) > OFF_LOOP_CHARACTERS:
        prompts = await asyncio.to_thread(_encode, service, body, pin)
    else:
        prompts = _encode(service, body, pin)
    prompt_logprobs = body.logprobs if body.echo else None
    origin = Origin(prompts[0].text)
    plan = Plan([prompt.ids for prompt in prompts], body.generation_options(), prompt_logprobs, origin)
    dialect = CompletionDialect(service, body, prompts)
    return await respond(service, request, plan, dialect, stream=bool(body.stream))


@dataclass(frozen=True)
class Prompt:
    """A prompt as it was sent and as token ids. `shown` is what `echo` repeats."""

    tokenizer: TextTokenizer
    ids: list[int]
    text: str | None

    @cached_property
    def shown(self) -> str:
        return self.tokenizer.decode(self.ids) if self.text is None else self.text

    def offsets(self) -> list[int]:
        """Where each token's text begins in `shown`; a BOS that the text does not contain takes no room."""
        decoder = self.tokenizer.stream_decoder(skip_special=False)
        offsets, length = [], 0
        own = 0 if self.text is None or self.ids == self.tokenizer.encode(self.text) else 1
        for position, token_id in enumerate(self.ids):
            offsets.append(length)
            length += len(decoder.push(token_id)) if position >= own else 0
        return offsets


def _check(body: CompletionRequest) -> None:
    if body.suffix:
        raise ApiError(400, "suffix is not supported.", code="unsupported_value", param="suffix")
    if body.best_of is not None and body.best_of != (body.n or 1):
        raise ApiError(400, "best_of other than n is not supported.", code="unsupported_value", param="best_of")
    if len(body.prompt) * (body.n or 1) > MAX_PROMPTS:
        raise ApiError(400, f"At most {MAX_PROMPTS} choices in one request.", code="invalid_value", param="prompt")


def _encode(service: Service, body: CompletionRequest, pin: VirtualModel) -> list[Prompt]:
    tokenizer, size = service.text.tokenizer, service.engine.model.vocab_size
    prompts = []
    for number, prompt in enumerate(body.prompt):
        if isinstance(prompt, str):
            ids, text = pin.text(prompt, tokenizer)
            exact = pin.content is not None and pin.content.token_ids
            prompts.append(Prompt(tokenizer, ids, None if exact else text))
        elif all(0 <= token_id < size for token_id in prompt):
            prompts.append(Prompt(tokenizer, pin.ids(prompt, tokenizer), None))
        else:
            message = f"Token ids of this model are 0 to {size - 1}."
            raise ApiError(
                400, message, code="invalid_value", param="prompt" if len(body.prompt) == 1 else f"prompt.{number}"
            )
    return prompts


class CompletionDialect:
    """Writes `text_completion` objects, whole or as events. Choice i belongs to prompt i // n."""

    media_type = SSE_MEDIA_TYPE

    def __init__(self, service: Service, body: CompletionRequest, prompts: Sequence[Prompt]) -> None:
        self._tokenizer = service.text.tokenizer
        self._prompts = prompts
        self._prompt_lengths = [len(prompt.ids) for prompt in prompts]
        self._n = body.n or 1
        self._echo = bool(body.echo)
        self._logprobs = body.logprobs is not None
        self._include_usage = bool(body.stream) and body.include_usage
        self._head: dict[str, object] = {
            "id": f"cmpl-{uuid.uuid4().hex}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": service.engine.model.name,
        }

    def opening(self, results: Sequence[ChoiceResult]) -> bytes:
        if not self._echo or self._logprobs:  # with log probabilities the prompt waits for them
            return b""
        shown = [prompt.shown for prompt in self._prompts for _ in range(self._n)]
        return b"".join(self._chunk(index, text) for index, text in enumerate(shown))

    def waiting(self, words: str) -> bytes:
        return sse_comment(words)

    def failed(self, error: Exception) -> bytes:
        return sse_data(answer_for(error).openai())

    def prompt_scored(self, index: int, result: ChoiceResult) -> bytes:
        return self._chunk(index, self._prompt(index).shown, logprobs=self._prompt_lists(index, result))

    def delta(self, index: int, delta: Delta) -> bytes:
        logprobs = self._lister(index).generated(delta.scores) if self._logprobs else None
        return self._chunk(index, delta.text, logprobs=logprobs)

    def finished(self, index: int, results: Sequence[ChoiceResult], *, last: bool) -> bytes:
        extra: dict[str, object] = {}
        if last and not self._include_usage:
            extra["timings"] = timings(self._prompt_lengths, results)
        return self._chunk(index, "", finish_reason=results[index].finish_reason, extra=extra)

    def closing(self, results: Sequence[ChoiceResult]) -> bytes:
        if not self._include_usage:
            return SSE_DONE
        return sse_data({**self._head, "choices": [], **self._cost(results)}) + SSE_DONE

    def whole(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        choices = [
            {
                "index": index,
                "text": (self._prompt(index).shown if self._echo else "") + result.text,
                "logprobs": self._whole_lists(index, result) if self._logprobs else None,
                "finish_reason": result.finish_reason,
            }
            for index, result in enumerate(results)
        ]
        return {**self._head, "choices": choices, **self._cost(results)}

    def _prompt(self, index: int) -> Prompt:
        return self._prompts[index // self._n]

    def _lister(self, index: int) -> LegacyLogprobs:
        return LegacyLogprobs(self._tokenizer, len(self._prompt(index).shown) if self._echo else 0)

    def _prompt_lists(self, index: int, result: ChoiceResult) -> dict[str, list[object]]:
        prompt = self._prompt(index)
        return self._lister(index).prompt(prompt.ids, prompt.offsets(), result.prompt_scores)

    def _whole_lists(self, index: int, result: ChoiceResult) -> dict[str, list[object]]:
        generated = self._lister(index).generated(result.scores)
        if not self._echo:
            return generated
        return {name: values + generated[name] for name, values in self._prompt_lists(index, result).items()}

    def _chunk(
        self,
        index: int,
        text: str,
        *,
        logprobs: dict[str, list[object]] | None = None,
        finish_reason: str | None = None,
        extra: dict[str, object] | None = None,
    ) -> bytes:
        choice = {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish_reason}
        chunk: dict[str, object] = {**self._head, "choices": [choice], **(extra or {})}
        if self._include_usage:
            chunk["usage"] = None
        return sse_data(chunk)

    def _cost(self, results: Sequence[ChoiceResult]) -> dict[str, object]:
        return {"usage": usage(self._prompt_lengths, results), "timings": timings(self._prompt_lengths, results)}
