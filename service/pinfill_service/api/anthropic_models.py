"""The list of models as Anthropic writes it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pinfill_service.api.errors import ApiError

DEFAULT_LIMIT = 20


def model_info(model: dict[str, Any]) -> dict[str, object]:
    """A model, in OpenAI's form, in Anthropic's; `meta` comes along."""
    context = model["meta"]["n_ctx"]
    return {
        "type": "model",
        "id": model["id"],
        "display_name": model["id"],
        "created_at": datetime.fromtimestamp(model["created"], UTC).isoformat().replace("+00:00", "Z"),
        "lifecycle": "active",
        "max_input_tokens": context,
        "max_tokens": context,
        "meta": model["meta"],
    }


def page(
    models: Sequence[dict[str, Any]], limit: int | None, after_id: str | None, before_id: str | None
) -> dict[str, object]:
    """A page of the list: at most `limit` models right after one of them or right before another.

    Raises ApiError for ids that are not in the list.
    """
    ids = [model["id"] for model in models]
    begin = _position(ids, after_id) + 1 if after_id else 0
    end = _position(ids, before_id) if before_id else len(ids)
    size = limit or DEFAULT_LIMIT
    shown = range(max(begin, end - size), end) if before_id else range(begin, min(end, begin + size))
    return {
        "data": [model_info(models[number]) for number in shown],
        "has_more": shown.start > begin if before_id else shown.stop < end,
        "first_id": ids[shown[0]] if shown else None,
        "last_id": ids[shown[-1]] if shown else None,
    }


def _position(ids: Sequence[str], wanted: str) -> int:
    if wanted not in ids:
        raise ApiError(404, f"There is no model {wanted!r}.", code="model_not_found")
    return ids.index(wanted)
