"""Tokenisation that remembers equals tokenisation that does not, and streamed text equals decoded text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE

from pinfill_service.prompt import boundaries
from pinfill_service.prompt.boundaries import Boundaries
from pinfill_service.prompt.tokenizer import TextTokenizer, TokenizerError
from pinfill_service.prompt.tokenizer_state import tokenizer_state
from tests.support.models import LLAMA, MODELS, llama_text

# The pattern of Llama 3's tokenizer (Qwen's differs in the digits).
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_level(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)


def byte_level_prefix(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)


def digits(tokenizer: Tokenizer) -> None:
    steps = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)


def llama3(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(LLAMA3), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])


def across_words(tokenizer: Tokenizer) -> None:
    split = pre_tokenizers.Split(Regex(r"\p{L}+ \p{L}+|."), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])


def metaspace_first(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")


def prepended(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])


def right_stripping(tokenizer: Tokenizer) -> None:
    tokenizer.add_special_tokens([AddedToken("<|end|>", rstrip=True, normalized=False)])


def right_stripping_before_space(tokenizer: Tokenizer) -> None:
    right_stripping(tokenizer)
    tokenizer.add_tokens([AddedToken("  ", normalized=False)])


def left_stripping(tokenizer: Tokenizer) -> None:
    tokenizer.add_special_tokens([AddedToken("<|end|>", lstrip=True, normalized=False)])


def single_word(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken("ab", single_word=True, normalized=False)])


def overlapping(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken("<|end", normalized=False), AddedToken("<|end|>x", normalized=False)])


def normalized_tokens(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_tokens([AddedToken("a b", normalized=True), AddedToken("<|END|>", normalized=True)])


def spaced_token(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken("a b c", normalized=False)])


def runs(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken("\n" * length, normalized=False) for length in (1, 2, 3)])
    tokenizer.add_tokens([AddedToken("<<x>>", normalized=False), AddedToken("<x", normalized=False)])


def overhanging(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken("x<", normalized=False), AddedToken("a b", normalized=False)])


Change = Callable[[Tokenizer], None]
CHANGES: list[Change] = [
    byte_level,
    byte_level_prefix,
    digits,
    llama3,
    across_words,
    metaspace_first,
    prepended,
    right_stripping,
    right_stripping_before_space,
    left_stripping,
    single_word,
    overlapping,
    normalized_tokens,
    spaced_token,
    runs,
    overhanging,
]


def plain(change: Change) -> Tokenizer:
    """The fixture's tokenizer with merges that cross words where the pre-tokenizer lets them, and then changed."""
    state = json.loads((LLAMA / "tokenizer.json").read_text())
    model = state["model"]
    for left, right in (
        ("a", "\u0120"),
        ("a\u0120", "b"),
        ("a", "\u2581"),
        ("\u2581", "a"),
        ("\u2581", "b"),
        ("a", "b"),
    ):
        for token in (left, right, left + right):
            model["vocab"].setdefault(token, len(model["vocab"]) + 100)
        if [left, right] not in model["merges"]:
            model["merges"].insert(0, [left, right])
    tokenizer = Tokenizer.from_str(json.dumps(state))
    change(tokenizer)
    return tokenizer


MARKS = [
    "<",
    "<<x>>",
    "<x",
    "<|im_start|>",
    "<|im_end|>",
    "<|end|>",
    "<|end",
    "<|END|>",
    "x",
    "a",
    "b",
    "ab",
    "a b",
    "a b c",
    "A B",
]
GAPS = [" ", "  ", "\n", "\n\n", ".", ".\n", "\t", "'s", "1", "12 ", "\0", "\u00a0", "\u2581"]
WIDE = ["é", "e\u0301", "漢字", "🎉"]
PIECES = st.sampled_from([*MARKS, *GAPS, *WIDE])
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=40).map("".join)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_remembered_ids_equal_those_of_the_whole_text(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundaries, "CHUNK_CHARACTERS", 1)
    reference, tokenizer = plain(change), TextTokenizer(plain(change), {}, None)

    @given(TEXTS)
    def check(text: str) -> None:
        text = text.encode("utf-8", "replace").decode()
        encoded = tokenizer.encode_pieces(text)
        assert encoded.ids == reference.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text) == encoded.ids  # from memory
        for piece in encoded.pieces:
            head = reference.encode(text[: piece.character], add_special_tokens=False).ids
            assert encoded.ids[: piece.token] == head

    check()


@pytest.mark.parametrize(
    ("change", "at_tokens", "at_words"),
    [
        (byte_level, True, True),
        (digits, True, True),
        (llama3, True, True),
        (across_words, True, False),
        (byte_level_prefix, True, False),
        (right_stripping, True, False),
        (spaced_token, True, False),
        (runs, True, True),
        (overhanging, False, False),
        (left_stripping, False, False),
        (single_word, False, False),
        (right_stripping_before_space, False, False),
    ],
)
def test_texts_are_cut_only_where_it_is_known_to_be_safe(change: Change, at_tokens: bool, at_words: bool) -> None:
    cuts = Boundaries(plain(change))
    assert (len(cuts.spans("a<|im_start|>b")) == 2) is at_tokens
    assert (len(list(cuts.chunks("word " * 1000))) > 3) is at_words


def test_line_breaks_that_are_tokens_cut_nothing() -> None:
    cuts = Boundaries(plain(runs))
    text = "<|im_start|>a\n\nb\n<|im_end|><<x>>\n<x"
    assert [text[start:end] for start, end in cuts.spans(text)] == [
        "<|im_start|>a\n\nb\n",
        "<|im_end|>",
        "<<x>>\n<x",
    ]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_state_is_that_of_tokenizer_json(change: Change) -> None:
    tokenizer = plain(change)
    written, state = json.loads(tokenizer.to_str()), tokenizer_state(tokenizer)
    model = {name: written["model"][name] for name in ("type", "dropout")}
    assert state == {name: written[name] for name in state if name != "model"} | {"model": model}


def test_only_what_is_new_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TextTokenizer.load(LLAMA)
    encoded: list[str] = []
    real: Any = tokenizer._tokenizer

    class Counting:
        def encode_batch_fast(self, texts: list[str], **options: Any) -> Any:
            encoded.extend(texts)
            return real.encode_batch_fast(texts, **options)

    monkeypatch.setattr(tokenizer, "_tokenizer", Counting())
    shared = "<|im_start|>user\n" + " ".join(f"rubric number {number} and its text" for number in range(400))
    tokenizer.encode(shared + " first payload<|im_end|>")
    assert "".join(encoded).count("rubric") == 400
    encoded.clear()
    tokenizer.encode(shared + " another payload<|im_end|>")
    assert sum(map(len, encoded)) < 2 * boundaries.CHUNK_CHARACTERS


def test_memory_is_bounded() -> None:
    tokenizer = TextTokenizer(Tokenizer.from_file(str(LLAMA / "tokenizer.json")), {}, None, memo=5_000)
    for number in range(200):
        assert tokenizer.encode(f"text number {number}")
    assert tokenizer._memo._size <= 5_000 and 1 < len(tokenizer._memo._entries) < 200
    before = tokenizer._memo._size
    tokenizer.encode("x" * 100_000)
    assert tokenizer._memo._size <= 5_000 and before > 0


def test_reference_ids() -> None:
    for name in ("oga-llama-fp32", "oga-qwen3-fp32"):
        reference = json.loads((MODELS / "reference.json").read_text())[name]
        assert TextTokenizer.load(MODELS / name).encode(reference["text"]) == reference["prompt_ids"]


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\0", "\0<|im_end|>\0", ""])
def test_text_that_is_no_text_is_encoded_too(text: str) -> None:
    tokenizer = llama_text().tokenizer
    assert tokenizer.decode(tokenizer.encode(text)) == text.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")


@pytest.mark.parametrize(
    ("config", "text", "count"),
    [
        ({"add_bos_token": True}, "hi", 1),
        ({"add_bos_token": True}, "<|im_start|>hi", 1),
        ({"add_bos_token": True}, "", 1),
        ({"add_bos_token": False}, "hi", 0),
        ({"add_bos_token": False}, "<|im_start|>hi", 1),
        ({}, "hi", 0),
    ],
)
def test_raw_prompts_have_at_most_one_bos(config: dict[str, Any], text: str, count: int) -> None:
    tokenizer = TextTokenizer(Tokenizer.from_file(str(LLAMA / "tokenizer.json")), config, "<|im_start|>")
    assert tokenizer.encode_prompt(text).count(1) == count
    assert tokenizer.encode(text).count(1) == text.count("<|im_start|>")


def test_bos_of_the_post_processor_counts_when_the_configuration_is_silent() -> None:
    state = json.loads((LLAMA / "tokenizer.json").read_text())
    state["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}},
    }
    tokenizer = TextTokenizer(Tokenizer.from_str(json.dumps(state)), {}, "<|im_start|>")
    assert tokenizer.encode_prompt("hi")[0] == 1 and tokenizer.encode_prompt("<|im_start|>hi").count(1) == 1
    assert 1 not in tokenizer.encode("hi")


def test_missing_tokenizer_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"tokenizer\.json"):
        TextTokenizer.load(tmp_path)


def sentencepiece() -> Tokenizer:
    """A vocabulary as Llama 2's: words with a lower-one-eighth block for the space, and a token for every byte."""
    words = ["<s>", "<unk>", "\u2581", "\u2581Hello", "lo", "\u2581é", "a", "\u2581\u2581"]
    vocabulary = {token: at for at, token in enumerate([*words, *(f"<0x{byte:02X}>" for byte in range(256))])}
    tokenizer = Tokenizer(BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken("<s>", normalized=False)])
    return tokenizer


def stripping() -> Tokenizer:
    """A vocabulary that puts a space in front of a text, and takes it away again."""
    tokenizer = sentencepiece()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    steps = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


def windowed() -> Tokenizer:
    """A decoder whose tokens have no bytes of their own."""
    tokenizer = sentencepiece()
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="never")])
    return tokenizer


@given(st.lists(st.integers(0, 600), max_size=60))
def test_streamed_bytes_join_to_the_decoded_text(ids: list[int]) -> None:
    tokenizer = llama_text().tokenizer
    decoder = tokenizer.stream_decoder()
    text = "".join(decoder.push(token_id) for token_id in ids) + decoder.flush()
    assert text == tokenizer.decode(ids, skip_special=True)
    shown = tokenizer.stream_decoder(skip_special=False)
    assert "".join(map(shown.push, ids)) + shown.flush() == tokenizer.decode(ids)


@pytest.mark.parametrize(
    "build", [lambda: plain(byte_level), sentencepiece, windowed], ids=["bytes", "pieces", "window"]
)
def test_streamed_text_is_always_complete(build: Callable[[], Tokenizer]) -> None:
    tokenizer = TextTokenizer(build(), {}, None)
    reference = build()

    @given(st.text(st.characters(exclude_characters="\ufffd", exclude_categories=("Cs",)), max_size=60))
    def check(text: str) -> None:
        ids = reference.encode(text, add_special_tokens=False).ids
        decoder, expected = tokenizer.stream_decoder(), tokenizer.decode(ids, skip_special=True)
        joined = ""
        for token_id in ids:
            joined += decoder.push(token_id)
            assert "\ufffd" not in joined and expected.startswith(joined)
        assert joined == expected and decoder.flush() == ""

    check()


def test_bytes_that_are_no_character_are_decoded_as_they_are_streamed() -> None:
    tokenizer = TextTokenizer(sentencepiece(), {}, None)
    ids = [tokenizer.token_id(token) or 0 for token in ("<0xC3>", "<0xA9>", "<0xF0>", "a", "<0x9F>")]
    decoder = tokenizer.stream_decoder()
    assert "".join(map(decoder.push, ids)) + decoder.flush() == tokenizer.decode(ids) == "é\ufffda\ufffd"


@given(st.text(max_size=60))
def test_decoded_text_is_what_the_library_makes_of_the_tokens(text: str) -> None:
    builds: list[Callable[[], Tokenizer]] = [lambda: plain(byte_level), stripping]
    for build in builds:
        plain_tokenizer = build()
        ids = plain_tokenizer.encode(text, add_special_tokens=False).ids
        assert TextTokenizer(build(), {}, None).decode(ids) == plain_tokenizer.decode(ids, skip_special_tokens=False)


def test_emoji_come_out_whole() -> None:
    tokenizer = llama_text().tokenizer
    decoder = tokenizer.stream_decoder()
    parts = [decoder.push(token_id) for token_id in tokenizer.encode("a👩🏽‍🚀b")]
    assert "".join(parts) == "a👩🏽‍🚀b" and parts.count("") > 3


@pytest.mark.parametrize("build", [lambda: plain(byte_level), windowed], ids=["bytes", "window"])
def test_unfinished_characters_come_with_the_flush(build: Callable[[], Tokenizer]) -> None:
    tokenizer = TextTokenizer(build(), {}, None)
    ids = build().encode("a🎉", add_special_tokens=False).ids[:-1]
    decoder = tokenizer.stream_decoder()
    assert "".join(decoder.push(token_id) for token_id in ids) == "a"
    assert decoder.flush() == tokenizer.decode(ids)[1:] and tokenizer.decode(ids)[1] == "\ufffd"


def test_long_broken_runs_do_not_hold_the_window_back() -> None:
    tokenizer = TextTokenizer(windowed(), {}, None)
    broken = tokenizer.token_id("<0xE2>")
    assert broken is not None
    decoder = tokenizer.stream_decoder()
    text = "".join(decoder.push(broken) for _ in range(500))
    assert len(text) > 400 and len(decoder._ids) <= 32


def test_token_text_has_the_bytes() -> None:
    tokenizer = llama_text().tokenizer
    party = [tokenizer.token_text(token_id) for token_id in tokenizer.encode("🎉")]
    assert b"".join(token.data for token in party) == "🎉".encode() and len(party) > 1
    assert tokenizer.token_text(2).text == "<|im_end|>"
    assert tokenizer.token_text(10**6).data == b"" == tokenizer.token_text(-1).data
