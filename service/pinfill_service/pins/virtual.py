"""`model: "NAME@PIN"`: what a request looks like with the pin in front. Every inference route goes through here."""

from __future__ import annotations

from dataclasses import dataclass

from pinfill_service.pins.content import PinContent, PinnedPrefix, put_in_front, split_model
from pinfill_service.pins.errors import PinContentError, UnknownPinError
from pinfill_service.pins.manager import PinManager
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.tokenizer import TextTokenizer


@dataclass(frozen=True, slots=True)
class VirtualModel:
    """The pin a request's model names; nothing happens to requests that name none."""

    name: str | None = None
    content: PinContent | None = None
    prefix: PinnedPrefix | None = None

    def chat(self, request: ChatRequest) -> ChatRequest:
        """Raises PinContentError for a pin that is no conversation."""
        return request if self.content is None else put_in_front(self.content, request)

    @property
    def characters(self) -> int:
        """What stands in front of a text. Raises PinContentError for a pin of another model."""
        return 0 if self.content is None else len(self._pinned.text)

    def text(self, prompt: str, tokenizer: TextTokenizer) -> tuple[list[int], str]:
        """A text to continue, in tokens and as it is. A pin that is tokens, as they were in the cache, keeps them.

        Raises PinContentError for a pin of another model.
        """
        if self.content is None:
            return tokenizer.encode_prompt(prompt), prompt
        text = self._pinned.text + prompt
        if self.content.token_ids:
            return [*self._pinned.token_ids, *tokenizer.encode(prompt)], text
        return tokenizer.encode_prompt(text), text

    def ids(self, prompt: list[int], tokenizer: TextTokenizer) -> list[int]:
        """Token ids to continue; a BOS of their own is left out. Raises PinContentError for a pin of another model."""
        if self.content is None:
            return prompt
        begins_anew = prompt[:1] == [tokenizer.bos_id]
        return [*self._pinned.token_ids, *(prompt[1:] if begins_anew else prompt)]

    @property
    def _pinned(self) -> PinnedPrefix:
        if self.prefix is None:
            raise PinContentError(f"The pin {self.name} was made for another model. Refresh it first.")
        return self.prefix


def virtual_model(model: str | None, pins: PinManager | None) -> VirtualModel:
    """What the `model` of a request names.

    Raises UnknownPinError, which names the pins there are, and PinContentError for one that no request can begin with.
    """
    name = split_model(model)[1]
    if name is None:
        return VirtualModel()
    if pins is None:
        raise UnknownPinError(f"There is no pin {name!r}: this service keeps none.")
    return VirtualModel(name, *pins.in_front(name))
