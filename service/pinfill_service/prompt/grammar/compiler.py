"""Compiles reply specifications into grammars the engine follows, with llguidance."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from llguidance import LLMatcher, LLParserLimits, LLTokenizer

from pinfill_service.engine.errors import GrammarError
from pinfill_service.engine.interface import Grammar
from pinfill_service.prompt.grammar.lark import Document, reply_grammar
from pinfill_service.prompt.grammar.locate import failing_place
from pinfill_service.prompt.grammar.matcher import LlgGrammar
from pinfill_service.prompt.grammar.spec import GrammarSpec
from pinfill_service.prompt.grammar.vocabulary import grammar_tokenizer
from pinfill_service.prompt.tokenizer import TextTokenizer

_KEPT = 16  # compiled grammars: agents send the same tools with every request
# Symbols of a grammar and states of its lexer (1-2 kB each) are what hostile schemas multiply; the rest are
# llguidance's defaults: 20 ms to begin, about 15 ms for the hardest mask.
_LIMITS = LLParserLimits(max_grammar_size=50_000, max_items_in_row=5_000, max_lexer_states=20_000, verbose_errors=False)


class Grammars:
    """The grammars of one model. Thread-safe; slow enough to be kept off the event loop."""

    def __init__(self, tokenizer: TextTokenizer, stop_ids: frozenset[int]) -> None:
        self._tokenizer, self._stop_ids = tokenizer, stop_ids
        self._compiling = Lock()  # one at a time, so that hostile schemas take one core at most
        self._vocabulary: LLTokenizer | None = None  # guarded by _compiling
        self._lock = Lock()
        self._compiled: OrderedDict[str, Grammar] = OrderedDict()  # guarded by _lock

    def compile(self, spec: GrammarSpec) -> Grammar:
        """The grammar of a reply. Blocks: call it on a worker thread (`asyncio.to_thread`).

        The first call for a model takes as long as its vocabulary is large (0.3 s for 50,000 tokens).

        Raises SchemaError for what replies cannot be held to, and GrammarError for a tokenizer that cannot be used.
        """
        source, documents = reply_grammar(spec, self._tokenizer.vocabulary.special_tokens)
        if (known := self._known(source)) is not None:
            return known
        with self._compiling:
            grammar = self._known(source) or self._compile(source, documents)
        with self._lock:
            self._compiled[source] = grammar
            if len(self._compiled) > _KEPT:
                self._compiled.popitem(last=False)
        return grammar

    def _known(self, source: str) -> Grammar | None:
        with self._lock:
            if source in self._compiled:
                self._compiled.move_to_end(source)
            return self._compiled.get(source)

    def _compile(self, source: str, documents: tuple[Document, ...]) -> Grammar:
        if self._vocabulary is None:
            try:
                self._vocabulary = grammar_tokenizer(self._tokenizer, self._stop_ids)
            except ValueError as error:
                raise GrammarError(str(error)) from error
        matcher = _begin(self._vocabulary, source)
        if matcher.is_error():
            vocabulary = self._vocabulary
            raise failing_place(documents, matcher.get_error(), lambda lark: _begin(vocabulary, lark).get_error())
        return LlgGrammar(matcher, self._vocabulary.vocab_size - 1)


def _begin(vocabulary: LLTokenizer, source: str) -> LLMatcher:
    """A matcher at the beginning of a grammar, in its error state when there is no way to begin."""
    matcher = LLMatcher(vocabulary, source, log_level=0, limits=_LIMITS)
    if not matcher.is_error():
        first = matcher.deep_copy()
        first.compute_bitmask()
        if first.is_error():
            return first
    return matcher
