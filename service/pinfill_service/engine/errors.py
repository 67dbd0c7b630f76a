"""Why the engine refuses a request, or loses one."""

from __future__ import annotations


class EngineError(Exception):
    """The engine refused or lost a request. `code` is stable, the message is for people."""

    code = "engine_error"


class ContextLengthError(EngineError):
    """The prompt does not fit the context; prompts are never cut."""

    code = "context_length_exceeded"

    def __init__(self, prompt_tokens: int, context_length: int) -> None:
        super().__init__(f"This model's context is {context_length:,} tokens, and the prompt has {prompt_tokens:,}.")
        self.prompt_tokens = prompt_tokens
        self.context_length = context_length


class EngineClosedError(EngineError):
    """The engine is shutting down."""

    code = "engine_closed"


class EngineBusyError(EngineError):
    """The queue is full."""

    code = "engine_busy"


class GrammarError(EngineError):
    """A reply could not be held to its grammar: following it took more than its limits allow."""

    code = "grammar_error"
