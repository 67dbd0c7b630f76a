"""What a new pin holds, wherever it was taken from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinfill_service.api.context import Service
from pinfill_service.api.errors import ApiError, invalid_value
from pinfill_service.api.remembered import Remembered
from pinfill_service.api.request_bodies import chat_of
from pinfill_service.api.schemas.manage import PinContent as ContentFields
from pinfill_service.api.schemas.manage import PinCreate
from pinfill_service.pins.content import PinContent, common_length, conversation, raw_text, system_text
from pinfill_service.prompt.segments import GENERATION_PROMPT
from pinfill_service.prompt.stable import stabilise
from pinfill_service.prompt.tools.definitions import DefinitionError, in_one_form


def origin_of(service: Service, body: PinCreate) -> PinContent:
    """The content a new pin asks for. Waits for the engine when it is that of an entry. Raises ApiError."""
    if body.request_id is not None:
        return _of_request(service, body.request_id, body.up_to)
    if body.entry_id is not None:
        return _of_entry(service, body.entry_id)
    return content_of(service, body)


def content_of(service: Service, fields: ContentFields) -> PinContent:
    """A content that was given as it is, or as a request body. Raises ApiError and RequestValidationError."""
    tools = _tools(fields)
    if fields.body is not None:
        chat = stabilise(chat_of(fields.body, service.app.responses), service.settings.rules)
        return conversation(chat.messages, chat.tools if fields.tools is None else tools)
    if fields.text is not None:
        return PinContent("text", system_text(fields.text).messages, tools)
    if fields.messages is not None:
        return conversation([message.for_template() for message in fields.messages], tools)
    return raw_text(fields.raw_text or "")


def _tools(fields: ContentFields) -> tuple[Mapping[str, Any], ...]:
    try:
        return in_one_form(fields.tools or ())
    except DefinitionError as error:
        raise invalid_value(error.where, error.words) from None


def _of_request(service: Service, request_id: str, up_to: str | None) -> PinContent:
    found = service.app.recorder.recent.get(request_id)
    if found is None:
        raise ApiError(
            404,
            f"The request {request_id} is not remembered any more. Send it again, then pin it.",
            code="request_not_found",
            param="request_id",
        )
    labels = [segment.label for segment in found.prompt.segments]
    if up_to is not None and up_to not in labels:
        raise ApiError(
            400,
            f"There is no segment {up_to!r}. There are: {', '.join(labels) or 'none'}.",
            code="invalid_value",
            param="up_to",
        )
    length = len(found.prompt.token_ids)
    if up_to is not None:
        length = found.prompt.segments[labels.index(up_to)].end_token
    return _beginning(service, found, length) or _raw(service, found.prompt.token_ids[:length])


def _of_entry(service: Service, entry_id: str) -> PinContent:
    """An entry, through the request that holds most of it where one is remembered: its messages can be rebuilt."""
    entries = service.engine.prefixes.entries().result()
    entry = next((entry for entry in entries if entry.id == entry_id), None)
    if entry is None:
        raise ApiError(404, f"There is no entry {entry_id}: it may have been evicted.", code="entry_not_found")
    ids = list(entry.token_ids)
    remembered = [request for request in service.app.recorder.recent.all() if request.chat is not None]
    if remembered:
        lengths = [common_length(ids, list(request.prompt.token_ids)) for request in remembered]
        best = max(range(len(lengths)), key=lambda index: (lengths[index], index))
        found = _beginning(service, remembered[best], lengths[best])
        if found is not None:
            return found
    return _raw(service, ids)


def _beginning(service: Service, request: Remembered, length: int) -> PinContent | None:
    """The messages of a request that its first `length` tokens hold in full, with its tools; None when not even the
    first segment is.

    Segments name their message by number. "system" is the first one, or what the template says by itself.
    """
    if request.chat is None:
        return None
    messages, count, held = request.chat.messages, 0, False
    for segment in request.prompt.segments:
        if segment.end_token > length or segment.label == GENERATION_PROMPT:
            break
        numbers = [int(word) for word in segment.label.split() if word.isdecimal()]
        own = bool(messages) and messages[0].get("role") == "system"
        count, held = numbers[0] if numbers else int(own), True
    return conversation(messages[:count], request.chat.tools) if held else None


def _raw(service: Service, token_ids: Sequence[int]) -> PinContent:
    ids = [int(token_id) for token_id in token_ids]
    return raw_text(service.text.tokenizer.decode(ids), ids)
