"""How byte-level BPE vocabularies cut text into words before merging, by `tokenizer.ggml.pre`.

A family's expressions are applied one after the other, each to the pieces the one before left; what an expression
matches is a piece, and so is what lies between matches. Sources: llama.cpp's src/llama-vocab.cpp for the families and
their flags; the expressions are those of the models' own tokenizer.json or tiktoken files, quoted there.

llama.cpp only approximates a few of them: its expressions cannot tell upper from lower case beyond ASCII and leave
combining marks out of words. Those families (tekken, gpt-4o, kimi-k2) are split here as the models were trained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Expressions in Oniguruma's syntax, and what the family does unless a file says otherwise.

    `ignore_merges`: a word that is a token as a whole is taken as it is, whatever the merges make of it.
    """

    expressions: tuple[str, ...]
    ignore_merges: bool = False
    add_bos: bool = False


_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_DIGIT = r"\p{N}"
_DIGITS = r"\p{N}{1,3}"

_CONTRACTION = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_PUNCTUATION = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_CONTRACTION}|{_WORD}|{_DIGITS}|{_PUNCTUATION}|{_SPACES}"
_QWEN2 = rf"{_CONTRACTION}|{_WORD}|{_DIGIT}|{_PUNCTUATION}|{_SPACES}"
_QWEN35 = (
    rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|{_DIGIT}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}"
)
_MINICPM5 = rf"{_CONTRACTION}|{_WORD}|\p{{N}}+|{_PUNCTUATION}|{_SPACES}"
_SEED_CODER = rf"{_CONTRACTION}|{_WORD}|{_DIGIT}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACES}"
_BAILING = rf"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|{_WORD}|{_DIGIT}|{_PUNCTUATION}|\s*[\r\n]|\s+(?!\S)|\s+"
_EXAONE_MOE = (
    rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|{_DIGIT}"
    rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
)
_RUNS = "|".join(rf"\s{{{count}}}(?!\S)" for count in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2"))
_JAIS2 = rf"{_CONTRACTION}|{_WORD}|{_DIGITS}|{_PUNCTUATION}|\s*[\r\n]+|{_RUNS}|\s"


def _cased(upper: str, lower: str, contraction: str, digits: str, ends: str) -> str:
    """Words that begin with capitals or not and go on in small letters, so that CamelCase is cut."""
    return (
        rf"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{contraction}|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{contraction}"
        rf"|{digits}| ?[^\s\p{{L}}\p{{N}}]+[{ends}]*|{_SPACES}"
    )


_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_TEKKEN = _cased(f"[{_UPPER}]", f"[{_LOWER}]", "", _DIGIT, r"\r\n/")
_GPT4O = _cased(f"[{_UPPER}]", f"[{_LOWER}]", f"{_CONTRACTION}?", _DIGITS, r"\r\n/")
_KIMI = r"\p{Han}+|" + _cased(
    rf"[{_UPPER}&&[^\p{{Han}}]]", rf"[{_LOWER}&&[^\p{{Han}}]]", f"{_CONTRACTION}?", _DIGITS, r"\r\n"
)

# Code points, first and last of each range.
_ALPHABETS = (
    "41-5A 61-7A B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376 377 37B-37D 37F 386 388-38A 38C "
    "38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA 1CBD-1CBF 1D00-1D2B "
    "1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 "
    "1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 1FF6-1FFC 2102 2107 210A-2113 "
    "2115 2119-211D 2124 2126 2128 212A-212D 212F-2134 2139 213C-213F 2145-2149 214E 2183 2184 2C00-2C7B "
    "2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D A680-A69B A722-A76F A771-A787 A78B-A78E AB70-ABBF FB00-FB06 "
    "FB13-FB17 FF21-FF3A FF41-FF5A 10400-1044F 104B0-104D3 104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF "
    "1E900-1E943"
)
_CJK, _KANA, _HANGUL, _ASIAN = "4E00-9FA5", "3040-309F 30A0-30FF", "AC00-D7FF", "800-4E00"
_MARKS = "21-2F 3A-7E FF01-FF0F FF1A-FF5E 2018-201F 3000-3002"


def _characters(ranges: str) -> str:
    """A class of characters, from code points in hexadecimal."""
    ends = [[chr(int(end, 16)) for end in each.split("-")] for each in ranges.split()]
    return (
        "[" + "".join(re.escape(first) + "".join(f"-{re.escape(end)}" for end in last) for first, *last in ends) + "]"
    )


_DEEPSEEK3_WORDS = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
_JAPANESE = _characters(f"{_CJK} {_KANA}") + "+"
_DEEPSEEK3 = (_DIGITS, _JAPANESE, rf"{_DEEPSEEK3_WORDS}| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}")
_SPARK = (_DIGITS, _JAPANESE, rf"{_DEEPSEEK3_WORDS}| ?[\p{{P}}\p{{S}}]+|[\r\n]|\s+(?!\S)|\s+", _DIGIT)
_DEEPSEEK_LLM = (
    r"[\r\n]", rf"\s?{_characters(_ALPHABETS)}+", rf"\s?{_characters(_MARKS)}+", r"\s+$",
    _characters(f"{_CJK} {_ASIAN} {_HANGUL}") + "+", r"\p{N}+",
)  # fmt: skip
_DEEPSEEK_CODER = (
    r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _characters(f"{_CJK} {_ASIAN} {_HANGUL}") + "+", _DIGIT,
)  # fmt: skip
_BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_SYMBOLS = r"\p{P}\x24+<=>\x5E~|"  # the dollar sign and the circumflex by number: they stand for themselves
_DEFAULT = (f"[{_SYMBOLS}]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")
_FALCON = (f"[{_SYMBOLS}`]+", _GPT2, "[0-9][0-9][0-9]")
_SUPERBPE = (r"\p{N}+", "(?=(?:[0-9]{3})+(?![0-9]))")
_LAGUNA = (r"[^\n]+|\n+", _QWEN2)

# Names as converters write them, in groups that do the same.
_GROUPS: tuple[tuple[Family, str], ...] = (
    (Family(_DEFAULT), "default"),
    (Family((_GPT2,)), "gpt-2 phi-2 mpt olmo jais trillion granite-docling gigachat a.x-4.0 mellum exaone4"),
    (Family((_DIGIT, _GPT2)), "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2"),
    (
        Family((_LLAMA3,), ignore_merges=True, add_bos=True),
        "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2",
    ),
    (Family((_LLAMA3,)), "dbrx smaug-bpe chatglm-bpe"),
    (Family((_LLAMA3,), ignore_merges=True), "glm4 glm5"),
    (Family((_QWEN2,)), "qwen2 deepseek-r1-qwen kormo megrez stablelm2 hunyuan solar-open grok-2"),
    (Family((_QWEN35,)), "qwen35"),
    (Family((_DIGITS, _MINICPM5), ignore_merges=True), "minicpm5"),
    (Family((_SEED_CODER,)), "seed-coder"),
    (Family((_BAILING,)), "bailingmoe bailingmoe2 llada-moe"),
    (Family((_EXAONE_MOE,)), "exaone-moe"),
    (Family((_JAIS2,)), "jais-2"),
    (Family((_TEKKEN,), ignore_merges=True, add_bos=True), "tekken"),
    (Family((_GPT4O,)), "gpt-4o llama4 kanana2 talkie minimax-m2"),
    (Family((_KIMI,)), "kimi-k2"),
    (Family(_DEEPSEEK_LLM), "deepseek-llm"),
    (Family(_DEEPSEEK_CODER), "deepseek-coder"),
    (Family(_DEEPSEEK3), "deepseek-v3 hunyuan-dense joyai-llm hy_v4"),
    (Family(_SPARK), "spark2_5"),
    (Family(_FALCON), "falcon"),
    (Family((_BLOOM,)), "poro-chat bloom gpt3-finnish"),
    (Family((_BLOOM, _DIGIT)), "viking"),
    (Family(_SUPERBPE), "superbpe"),
    (Family(_LAGUNA), "laguna"),
)
FAMILIES: dict[str, Family] = {name: family for family, names in _GROUPS for name in names.split()}
