"""Grammars over the kinds of vocabularies models have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models

from pinfill_service.engine.errors import GrammarError
from pinfill_service.models.gguf_file import GgufFile
from pinfill_service.models.gguf_tokenizer import write_tokenizer
from pinfill_service.prompt.grammar import Grammars, JsonReply, SchemaError, Tool, ToolCalls
from pinfill_service.prompt.grammar.vocabulary import GrammarVocabulary
from pinfill_service.prompt.tokenizer import TextTokenizer
from tests.support.gguf_metadata import Metadata
from tests.support.grammars import CALL, END, HERMES, allowed_ids, end_id, text_of, tiny_grammars, tiny_tokenizer, walk
from tests.support.models import llama_text

PIECES = json.loads((Path(__file__).parents[1] / "fixtures/tokens/sentencepiece.json").read_text("utf-8"))
SCHEMA = {"type": "object", "properties": {"größe": {"enum": ["  two", "日本", "\n"]}}, "required": ["größe"]}


@pytest.fixture(scope="module", params=["tiny", "byte level", "prefixed", "unprefixed"])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    if request.param == "tiny":
        return tiny_tokenizer()
    if request.param == "byte level":
        return llama_text().tokenizer
    metadata: dict[str, Any] = {
        "llama.context_length": 64,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": PIECES["tokens"],
        "tokenizer.ggml.scores": PIECES["scores"],
        "tokenizer.ggml.token_type": PIECES["types"],
        "tokenizer.ggml.add_space_prefix": request.param == "prefixed",
    }
    folder = tmp_path_factory.mktemp("pieces")
    write_tokenizer(cast(GgufFile, Metadata(metadata)), folder)
    return TextTokenizer.load(folder)


def test_forced_text_is_spelt_exactly_and_without_special_tokens(tokenizer: TextTokenizer) -> None:
    vocabulary = GrammarVocabulary(tokenizer, [0])
    special = [*tokenizer.vocabulary.special_tokens, "<s>", "<tool_call>"]

    @given(st.lists(st.sampled_from([*special, " ", "\n", "a", '{"name": "', "é", "😀", "日本", "\0"]), max_size=6))
    @settings(deadline=None)
    def check(parts: list[str]) -> None:
        ids = vocabulary("".join(parts))
        assert text_of(tokenizer.vocabulary, ids) == "".join(parts)
        assert not set(ids) & set(vocabulary.special_token_ids)

    check()


def test_walks_are_calls_with_valid_arguments(tokenizer: TextTokenizer) -> None:
    grammar = Grammars(tokenizer, frozenset({2})).compile(ToolCalls((Tool("get", SCHEMA), Tool("get_it")), HERMES))
    ended = 0
    for seed in range(25):
        ids, complete = walk(grammar, tokenizer.vocabulary, seed)
        if complete:
            text = text_of(tokenizer.vocabulary, ids)
            assert text.startswith("<tool_call>\n{") and text.endswith("}\n</tool_call>")
            call = json.loads(text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>"))
            assert call["name"] == "get_it" or call["arguments"]["größe"] in ("  two", "日本", "\n")
            ended += 1
    assert ended >= 5


def test_special_tokens_of_a_wrapper_are_single_and_others_never_come() -> None:
    wrapper = type(HERMES)(f'{CALL}\n{{"name": "', '", "arguments": ', "}" + CALL)
    spec = ToolCalls((Tool("get", {"type": "object", "properties": {"a": {"const": END}}}),), wrapper)
    grammar, call = tiny_grammars().compile(spec), tiny_tokenizer().token_id(CALL)
    for seed in range(10):
        ids, complete = walk(grammar, tiny_tokenizer().vocabulary, seed)
        assert ids[0] == call and end_id() not in ids
        assert not complete or (ids[-1] == call and ids.count(call or 0) == 2)


def test_the_grammars_own_end_token_is_not_in_the_mask() -> None:
    grammar = tiny_grammars().compile(JsonReply({"type": "integer", "minimum": 1, "maximum": 12}))
    matcher = grammar.matcher()
    matcher.accept(tiny_tokenizer().encode("1")[0])
    assert matcher.may_end and not matcher.finished
    assert max(allowed_ids(matcher.mask())) < tiny_tokenizer().vocabulary.size


def test_copies_begin_at_the_beginning() -> None:
    grammar = tiny_grammars().compile(JsonReply(SCHEMA))
    first = grammar.matcher()
    before = first.mask()
    first.accept(int(allowed_ids(before)[0]))
    assert first.mask() != before and grammar.matcher().mask() == before


def test_the_same_specification_is_compiled_once() -> None:
    first, again = (tiny_grammars().compile(JsonReply({"type": "boolean", "title": title})) for title in ("a", "b"))
    assert first is again


def test_tokens_that_are_no_text_are_an_error_of_the_model() -> None:
    raw = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    raw.decoder = decoders.WordPiece()
    with pytest.raises(GrammarError, match="tokenizer cannot be used"):
        Grammars(TextTokenizer(raw, {"add_bos_token": False}, None), frozenset()).compile(JsonReply())


@pytest.mark.parametrize("name", ["", "a\nb", 'a"b', "a\\b", "<a>", "a" * 300, "\ud800"])
def test_names_that_would_break_the_wrapper_are_refused(name: str) -> None:
    with pytest.raises(SchemaError, match="its name"):
        tiny_grammars().compile(ToolCalls((Tool(name),), HERMES))
