"""Text files: from bytes to characters, by a rule that always gives the same answer.

The text is what the file says: spaces at line ends and the newline at the end stay (they are line breaks in Markdown,
columns in tables, context in patches, and a client that sends the file's text itself sends them too). Only the byte
order mark goes and line ends become "\\n", as when Python reads a text file.

Encodings, in this order: a byte order mark, UTF-8, what the file says about itself (before UTF-8 if that is one of
several bytes), UTF-16 that is mostly ASCII, and Windows-1252. The last is a guess and leaves a note. It is not made
where letters beyond ASCII come in runs, as they do in Cyrillic, Greek or Chinese but not in Western European text.
Statistical detectors were tried and are not used: short French and source code with one umlaut came out wrong, and the
same file may read differently with their next version.
"""

from __future__ import annotations

import codecs
import re

from pinfill_service.documents.document import Converted, UnsupportedFileError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATIONS = (
    re.compile(rb"\A\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})[\"']"),
    # Python's rule, which also finds what Emacs and Vim look for.
    re.compile(rb"\A(?:[^\r\n]*(?:\r\n?|\n))?[ \t\f]*[#/;%*<-][^\r\n]{0,200}?coding[:=][ \t]*([-\w.]{1,40})"),
)
_META = re.compile(rb"<meta\s[^>]{0,400}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_DECLARATION_BYTES = 1024
# Python's names of the encodings that documents declare; others (rot13, unicode-escape, idna...) are not for documents.
_OF_SEVERAL_BYTES = ("gb18030", "big5", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "euc_kr", "cp949")
_OF_ONE_BYTE = (
    *(f"iso8859-{part}" for part in (*range(2, 11), 13, 14, 15, 16)),
    *(f"cp{number}" for number in (866, 874, *range(1250, 1259))),
    *("koi8-r", "koi8-u", "mac-roman"),
)
_ENCODINGS = frozenset(("utf-8", *_OF_ONE_BYTE, *_OF_SEVERAL_BYTES))
# Encodings whose name is used for what is in fact a larger one.
_WIDER = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
_CONTROL = re.compile(r"[\x00-\x06\x0e-\x19\x1c-\x1f]")  # not bell to carriage return, end of file, escape
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_SAVE = "Save it as UTF-8 and try again."


def convert(data: bytes) -> Converted:
    """The text of a file. Raises UnsupportedFileError."""
    text, note = decode(data)
    notes = (note,) if note else ()
    if not text:
        notes = ("The file is empty.",)
    return Converted(text.replace("\r\n", "\n").replace("\r", "\n"), notes)


def decode(data: bytes, *, html: bool = False) -> tuple[str, str | None]:
    """The characters and a note if they are a guess. Raises UnsupportedFileError for what is no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding), None
    declared = _declared(data, html)
    named = (declared,) if declared else ()
    # Valid UTF-8 is hardly ever anything else of single bytes, but two-byte encodings can look like it.
    first = (*named, "utf-8") if declared in _OF_SEVERAL_BYTES else ("utf-8", *named)
    for encoding in (*first, *_utf16(data)):
        text = _try(data, encoding)
        if text is not None:
            differs = declared not in (None, encoding) and not text.isascii()
            note = f"It says that it is {declared}, but it is {encoding.upper()}." if differs else None
            return _checked(text), note
    return _western(data), "The encoding is not marked; Windows-1252 was taken. If letters are wrong, save it as UTF-8."


def check_head(head: bytes, whole: bool) -> None:
    """Refuses what cannot be text by its first bytes, which may end within a character unless they are `whole`.

    Raises UnsupportedFileError.
    """
    longest = 1 if whole else 4  # bytes of a character in UTF-8 and UTF-16
    for cut in range(longest):
        try:
            decode(head[: len(head) - cut])
            return
        except UnsupportedFileError as error:
            refused = error
    raise refused


def _strict(data: bytes, encoding: str) -> str:
    text = _try(data, encoding)
    if text is None:
        raise UnsupportedFileError(f"begins as {encoding.upper()} but is not. {_SAVE}")
    return _checked(text)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _declared(data: bytes, html: bool) -> str | None:
    """The encoding that the file names, as Python calls it; None for one that documents do not use."""
    head = data[:_DECLARATION_BYTES]
    for pattern in (*_DECLARATIONS, *((_META,) if html else ())):
        match = pattern.search(head)
        if match is None:
            continue
        try:
            name = codecs.lookup(match[1].decode("ascii")).name
        except (LookupError, UnicodeDecodeError):
            continue
        name = _WIDER.get(name, name)
        if name in _ENCODINGS:
            return name
    return None


def _utf16(data: bytes) -> tuple[str, ...]:
    """UTF-16 without a mark: every other byte of what is mostly ASCII is zero."""
    head = data[:4096]
    if len(data) % 2 or not head:
        return ()
    first, second = head[::2].count(0), head[1::2].count(0)
    if second > len(head) // 4 and not first:
        return ("utf-16-le",)
    return ("utf-16-be",) if first > len(head) // 4 and not second else ()


def _western(data: bytes) -> str:
    """Windows-1252, unless that would be nonsense."""
    text = _try(data, "cp1252")
    if text is None or _CONTROL.search(text):
        raise UnsupportedFileError(f"holds bytes that are no text, or text in an encoding that is not known. {_SAVE}")
    runs = [len(run) for run in _BEYOND_ASCII.findall(data)]
    in_runs = sum(length for length in runs if length > 1)
    if in_runs > 3 and 2 * in_runs > sum(runs):
        raise UnsupportedFileError(f"is in an encoding that cannot be told from its bytes. {_SAVE}")
    return text


def _checked(text: str) -> str:
    """Refuses what decodes but is no text. A few control characters are: form feeds, colours in logs."""
    if "\0" in text or len(_CONTROL.findall(text)) * 20 > len(text):
        raise UnsupportedFileError("holds bytes that are no text; only text, HTML, PDF and DOCX can be read.")
    return text
