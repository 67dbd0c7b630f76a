"""What an answer cost: OpenAI's `usage` and llama-server's `timings`."""

from __future__ import annotations

from collections.abc import Sequence

from pinfill_service.api.choice import ChoiceResult


def usage(prompt_lengths: Sequence[int], results: Sequence[ChoiceResult]) -> dict[str, object]:
    """`usage` for prompts of these lengths in tokens, each with the same number of choices, in order.

    A prompt counts once however many choices continue it; its cached tokens are those of its first choice.
    """
    prompt_tokens = sum(prompt_lengths)
    completion_tokens = sum(result.generated for result in results)
    cached = sum(result.timings.cached_tokens for result in _first_choices(prompt_lengths, results))
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def timings(prompt_lengths: Sequence[int], results: Sequence[ChoiceResult]) -> dict[str, object]:
    """Counts, milliseconds and tokens per second as llama-server names them, and `cache_reason`: why not more of the
    (first) prompt was cached, null when nothing more could be.

    With several choices: prompts as in `usage`, generated tokens added up over the longest decode.
    """
    first = [result.timings for result in _first_choices(prompt_lengths, results)]
    prompt_n = sum(each.processed_tokens for each in first)
    prompt_ms = 1000 * sum(each.prefill_seconds for each in first)
    predicted_n = sum(result.timings.generated_tokens for result in results)
    predicted_ms = 1000 * max((result.timings.decode_seconds for result in results), default=0.0)
    return {
        "cache_n": sum(each.cached_tokens for each in first),
        "cache_reason": results[0].started.miss_reason if results and results[0].started else None,
        "prompt_n": prompt_n,
        "prompt_ms": prompt_ms,
        "prompt_per_token_ms": _ratio(prompt_ms, prompt_n),
        "prompt_per_second": _ratio(1000 * prompt_n, prompt_ms),
        "predicted_n": predicted_n,
        "predicted_ms": predicted_ms,
        "predicted_per_token_ms": _ratio(predicted_ms, predicted_n),
        "predicted_per_second": _ratio(1000 * predicted_n, predicted_ms),
    }


def _first_choices(prompt_lengths: Sequence[int], results: Sequence[ChoiceResult]) -> Sequence[ChoiceResult]:
    return results[:: max(len(results) // max(len(prompt_lengths), 1), 1)]


def _ratio(value: float, by: float) -> float:
    return value / by if by else 0.0
