"""Bytes become characters by a rule: what is certain is read, what is nearly certain is noted, the rest is refused."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.documents.document import UnsupportedFileError
from pinfill_service.documents.plain import check_head, convert

FRENCH = "L'élève a été reçu à l'école où ça coûte 5 €; « déjà vu », cœur naïf.\n"
GERMAN_CODE = "# Autor: Jörg\ndef f(x):\n    return x + 1  # Größe\n"
RUSSIAN = "Привет, это проверка кодировки.\n"
JAPANESE = "これは文字コードの試験です。\n"


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_utf8_is_what_it_says(text: str) -> None:
    assert convert(text.encode()).text == text.removeprefix("\ufeff")


def test_line_ends_become_one_kind_and_nothing_else_changes() -> None:
    assert convert(b"\ta  \r\nb\rc\n\n\r\n  d\f\x1b[0m \n\n").text == "\ta  \nb\nc\n\n\n  d\f\x1b[0m \n\n"
    assert convert(b"no end").text == "no end"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, JAPANESE])
def test_a_byte_order_mark_is_believed(encoding: str, text: str) -> None:
    converted = convert(text.encode(encoding))
    assert (converted.text, converted.notes) == (text, ())


def test_big_endian_marks() -> None:
    assert convert(codecs.BOM_UTF16_BE + FRENCH.encode("utf-16-be")).text == FRENCH
    assert convert(codecs.BOM_UTF32_BE + FRENCH.encode("utf-32-be")).text == FRENCH


def test_a_mark_without_what_it_promises() -> None:
    with pytest.raises(UnsupportedFileError, match="begins as UTF-8 but is not"):
        convert(codecs.BOM_UTF8 + b"\xff\xfe\xfd")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(encoding: str) -> None:
    assert convert(FRENCH.encode(encoding)).text == FRENCH


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("# -*- coding: koi8-r -*-\n" + RUSSIAN, "koi8-r"),
        ("#!/bin/sh\n# vim: set fileencoding=cp1251 :\n" + RUSSIAN, "cp1251"),
        ('<?xml version="1.0" encoding="windows-1253"?>\n<a>Αυτή είναι</a>', "cp1253"),
        ("<?xml version='1.0' encoding='Shift_JIS'?>\n<a>" + JAPANESE, "cp932"),
        ("// coding: iso-2022-jp\n" + JAPANESE, "iso2022_jp"),
        ("# coding: latin-1\n“quoted” €\n", "cp1252"),
    ],
)
def test_what_a_file_says_about_itself_is_believed(text: str, encoding: str) -> None:
    converted = convert(text.encode(encoding))
    assert (converted.text, converted.notes) == (text, ())


def test_a_declaration_that_is_wrong_is_noted() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'
    assert convert(text.encode()).text == text
    assert convert(text.encode()).notes == ("It says that it is cp1252, but it is UTF-8.",)


@pytest.mark.parametrize("name", ["rot13", "unicode-escape", "idna", "utf-7", "zlib", "no-such", "undefined"])
def test_encodings_that_documents_do_not_have_are_not_followed(name: str) -> None:
    text = f"# coding: {name}\nx = '+AGE-'\\u0041\n"
    assert convert(text.encode()).text == text


@pytest.mark.parametrize("text", [FRENCH, GERMAN_CODE, "50 €", "“Œuvre” · naïve…\n"])
def test_western_text_is_taken_with_a_note(text: str) -> None:
    converted = convert(text.encode("cp1252"))
    assert converted.text == text
    assert "Windows-1252" in converted.notes[0]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp866"),
        ("Αυτή είναι μια δοκιμή.", "cp1253"),
        ("שלום עולם", "cp1255"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        ("这是一个编码测试。", "gb18030"),
        ("이것은 테스트입니다.", "cp949"),
        ("x = 1  # " + JAPANESE, "euc_jp"),
    ],
)
def test_what_would_be_read_as_nonsense_is_refused(text: str, encoding: str) -> None:
    with pytest.raises(UnsupportedFileError, match="Save it as UTF-8"):
        convert(text.encode(encoding))


def test_an_empty_file_says_so() -> None:
    assert (convert(b"").text, convert(b"").notes) == ("", ("The file is empty.",))


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        text = convert(data).text
    except UnsupportedFileError:
        return
    assert "\r" not in text and "\0" not in text
    assert text.encode().decode() == text


@pytest.mark.parametrize("text", ["a" * 9, "é" * 9, "日" * 9, "😀" * 9])
@pytest.mark.parametrize("cut", range(4))
def test_the_beginning_of_a_text_is_known_wherever_it_is_cut(text: str, cut: int) -> None:
    data = text.encode()
    check_head(data[: len(data) - cut], whole=False)
    with pytest.raises(UnsupportedFileError):
        check_head(data + b"\0\0\0\0\1", whole=False)
