"""What can be wrong with a pin or with what is asked of it. `code` is stable, messages say what to do next."""

from __future__ import annotations


class PinError(Exception):
    """A pin cannot be made, changed or used."""

    code = "pin_error"


class UnknownPinError(PinError):
    """There is no pin of that name."""

    code = "pin_not_found"


class PinExistsError(PinError):
    """The name is taken."""

    code = "pin_exists"


class PinContentError(PinError):
    """The content cannot be pinned, or not be used in the way it was asked for."""

    code = "invalid_pin"


class PinTooLongError(PinError):
    """The pin leaves no room in the model's context."""

    code = "context_length_exceeded"

    def __init__(self, tokens: int, context_length: int, room: int) -> None:
        super().__init__(
            f"The pin has {tokens:,} tokens. The model's context is {context_length:,} tokens, of which {room:,} must "
            "stay free for a request: shorten it, or load a model with a longer context."
        )


class PinBudgetError(PinError):
    """The pin does not fit what may be kept in memory or on disk."""

    code = "budget_exceeded"


class PinStateError(PinError):
    """What was asked cannot be done in the state the pin is in."""

    code = "pin_state"
