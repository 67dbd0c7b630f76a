"""Files become text the same way every time, and whatever a file does to its reader ends in one sentence about it."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from pinfill_service.documents.converter import Converter
from pinfill_service.documents.document import (
    DamagedFileError,
    Document,
    DocumentError,
    Limits,
    LockedFileError,
    NoTextError,
    TooLargeError,
    UnreadableFileError,
    UnsupportedFileError,
)
from pinfill_service.documents.extract import extract
from tests.support.documents import docx, docx_parts, paragraph, pdf, written, zipped

FIXTURES = Path(__file__).parents[1] / "fixtures" / "documents"
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="such files are made differently on Windows")


def refused(path: Path, kind: type[DocumentError], limits: Limits | None = None) -> str:
    """The sentence of the error that `extract` raises about this file."""
    with pytest.raises(DocumentError) as caught:
        extract([path], limits=limits or Limits())
    assert type(caught.value) is kind and caught.value.path == path
    assert str(caught.value) == f"{path}: {caught.value.args[0]}"
    return str(caught.value.args[0])


# Every kind of file


def test_a_document_says_what_it_was_read_from(tmp_path: Path) -> None:
    content = b"one\r\ntwo  \r\n"
    path = written(tmp_path, "a.txt", content)

    assert extract([path]) == [
        Document(path, "text", "one\ntwo  \n", hashlib.sha256(content).hexdigest(), 12, path.stat().st_mtime_ns)
    ]


def test_files_keep_their_order_and_their_kind(tmp_path: Path) -> None:
    contents = {"z.docx": docx(paragraph("D")), "a.pdf": pdf(["P"]), "m.html": b"<p>H", "b.py": b"T\n"}
    paths = [written(tmp_path, name, content) for name, content in contents.items()]

    documents = extract(paths)

    assert [(each.kind, each.text, each.pages) for each in documents] == [
        ("docx", "D", None),
        ("pdf", "P", 1),
        ("html", "H", None),
        ("text", "T\n", None),
    ]
    assert [each.path for each in documents] == paths
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("report", pdf(["x"]), "pdf"),
        ("report.txt", b"\n" + pdf(["x"]), "pdf"),
        ("mail.pdf", b"junk before it\n" + pdf(["x"]), "pdf"),
        ("letter.bin", docx(paragraph("x")), "docx"),
        ("page", b"<!-- saved -->\n<!DOCTYPE HTML><p>x", "html"),
        ("page", b'<?xml version="1.0"?><html><body>x</body></html>', "html"),
        ("part.HTM", b"x", "html"),
        ("list.html.txt", b"about <html> pages", "text"),
        ("Makefile", b"all:\n\ttrue\n", "text"),
        ("tool.py", b'MAGIC = b"%PDF-"\n', "text"),
        ("drawing.svg", b"<svg><text>x</text></svg>", "text"),
    ],
)
def test_the_content_tells_the_kind(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    assert extract([written(tmp_path, name, content)])[0].kind == kind


def test_the_same_file_gives_the_same_text_in_another_process() -> None:
    paths = [FIXTURES / "report.docx", FIXTURES / "report.pdf"]
    assert extract(paths) == extract(paths)


def test_a_document_of_a_word_processor() -> None:
    assert extract([FIXTURES / "report.docx"])[0].text == (
        "# The Report\n\n# Intro\n\nPlain bold\ttab\nnew line\n\n- b1\n- b2\n1. n1\n2. n2\n\n"
        "| a\\|x | b | c |\n| --- | --- | --- |\n| merged |  | l1<br>l2 |\n\n### Deep\n\nÜnï 日本 end"
    )


def test_a_pdf_of_a_library() -> None:
    document = extract([FIXTURES / "report.pdf"])[0]
    assert document.text == "Hello first page.\nSecond line, fi\n\nThird page"
    assert (document.pages, document.notes) == (3, ("1 of 3 pages have no text and are left out: 2.",))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "older Office file"),
        (b"{\\rtf1 text}", "RTF"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "PNG"),
        (b"\x1f\x8b\x08" + bytes(40), "gzip"),
        (b"GGUF" + bytes(40), "models import"),
        (b"text\0more", "no text"),
        (bytes(range(1, 32)) * 4, "no text"),
        (zipped({"a.txt": "x"}), "ZIP archive"),
        (zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}), "CSV"),
        (zipped({"[Content_Types].xml": "", "ppt/presentation.xml": ""}), "presentation"),
        (zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": ""}), "OpenDocument"),
        (zipped({"mimetype": "application/epub+zip", "OEBPS/content.opf": ""}), "e-book"),
    ],
)
def test_other_formats_are_refused_by_what_they_are(tmp_path: Path, content: bytes, word: str) -> None:
    assert word in refused(written(tmp_path, "file", content), UnsupportedFileError)


# What stands behind a name


def test_names_without_a_file_behind_them(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "missing", UnreadableFileError)
    assert "a folder" in refused(tmp_path, UnreadableFileError)
    assert "null" in refused(Path(f"{tmp_path}/nul\0"), UnreadableFileError)


@needs_posix
def test_pipes_devices_sockets_and_circles_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert "a pipe" in refused(tmp_path / "pipe", UnreadableFileError)
    assert "a device" in refused(Path("/dev/zero"), UnreadableFileError)
    assert "cannot be read" in refused(tmp_path / "circle", UnreadableFileError)


@needs_posix
def test_a_link_that_was_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(written(tmp_path, "real.txt", "x"))
    assert extract([tmp_path / "link.txt"])[0].path == tmp_path / "link.txt"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = written(tmp_path, "secret.txt", "x")
    path.chmod(0)
    assert "Permission denied" in refused(path, UnreadableFileError)


# Limits


def test_the_size_of_a_file_is_limited_to_the_byte(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "12345")
    assert extract([path], limits=Limits(file_bytes=5))[0].text == "12345"
    assert "4 bytes" in refused(path, TooLargeError, Limits(file_bytes=4))


def test_the_characters_of_all_files_are_limited_together(tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.txt", "123"), written(tmp_path, "b.txt", "456")
    assert len(extract([first, second], limits=Limits(characters=6))) == 2
    with pytest.raises(TooLargeError, match="files before it") as caught:
        extract([first, second], limits=Limits(characters=5))
    assert caught.value.path == second
    assert refused(first, TooLargeError, Limits(characters=2)).startswith("has more than 2 characters")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = docx(paragraph("x" * 3_000_000))
    assert len(bomb) < 10_000
    path = written(tmp_path, "bomb.docx", bomb)
    assert "1,000,000 bytes" in refused(path, TooLargeError, Limits(expanded_bytes=1_000_000))
    assert len(extract([path])[0].text) == 3_000_000


def test_a_pdf_of_too_many_pages_or_characters(tmp_path: Path) -> None:
    path = written(tmp_path, "a.pdf", pdf(["abc"] * 4))
    assert "4 pages" in refused(path, TooLargeError, Limits(pages=3))
    assert "8 characters" in refused(path, TooLargeError, Limits(characters=8))


def test_a_file_that_takes_too_long_is_given_up_and_its_reader_ended(tmp_path: Path) -> None:
    assert "more than 0 s" in refused(written(tmp_path, "a.pdf", pdf(["x"])), TooLargeError, Limits(seconds=0.0))
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps to a limit of memory")
def test_a_file_that_takes_too_much_memory(tmp_path: Path) -> None:
    path = written(tmp_path, "a.docx", docx(paragraph("x" * 90_000_000)))
    assert "memory" in refused(path, TooLargeError, Limits(memory_bytes=60_000_000))


def test_a_reader_that_dies_is_an_error_and_the_next_file_gets_a_new_one() -> None:
    with Converter(Limits()) as converter:
        assert converter.convert("html", b"<p>1").text == "1"
        multiprocessing.active_children()[0].kill()
        with pytest.raises(DamagedFileError, match="stop working"):
            converter.convert("html", b"<p>2")
        assert converter.convert("html", b"<p>3").text == "3"


# PDF


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_password_is_asked_for_only_where_there_is_one(tmp_path: Path, algorithm: str) -> None:
    def encrypted(password: str) -> Path:
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["secret"]))))
        writer.encrypt(password, "owner", algorithm=algorithm)
        content = io.BytesIO()
        writer.write(content)
        return written(tmp_path, f"{password}.pdf", content.getvalue())

    if algorithm != "RC4-128":
        pytest.importorskip("cryptography")
    assert "password" in refused(encrypted("user"), LockedFileError)
    assert extract([encrypted("")])[0].text == "secret"


def test_pages_that_are_pictures(tmp_path: Path) -> None:
    assert "OCR" in refused(written(tmp_path, "scan.pdf", pdf(["", ""])), NoTextError)
    assert extract([written(tmp_path, "half.pdf", pdf(["", "text"]))])[0].notes


@pytest.mark.parametrize(
    "replaced",
    [
        {2: "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"},
        {2: "<< /Type /Pages /Kids [4 0 R] /Count 1 >>", 4: "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"},
        {4: "4 0 R"},
        {1: "<< /Type /Catalog /Pages 1 0 R >>"},
        {2: "[" * 5_000 + "]" * 5_000},
        {5: "<< /Length 1 0 R >>\nstream\n(\nendstream"},
    ],
)
def test_pdfs_that_lead_in_circles(tmp_path: Path, replaced: dict[int, str]) -> None:
    path = written(tmp_path, "a.pdf", pdf(["x"], replaced=replaced))
    with pytest.raises((DamagedFileError, NoTextError)):
        extract([path])


def test_a_drawing_that_draws_itself(tmp_path: Path) -> None:
    """The page's form draws itself again and again."""
    form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Length 5 >>"
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Contents 5 0 R >>"
    )
    objects = {4: page, 5: "<< /Length 5 >>\nstream\n/X Do\nendstream", 6: f"{form}\nstream\n/X Do\nendstream"}
    path = written(tmp_path, "a.pdf", pdf([""], replaced=objects))
    with pytest.raises((DamagedFileError, NoTextError, TooLargeError)):
        extract([path])


def test_half_a_pdf(tmp_path: Path) -> None:
    content = (FIXTURES / "report.pdf").read_bytes()
    assert "print it to a new PDF" in refused(
        written(tmp_path, "a.pdf", content[: len(content) // 4]), DamagedFileError
    )
    assert "print it to a new PDF" in refused(written(tmp_path, "b.pdf", b"%PDF-1.7\n"), DamagedFileError)


# DOCX packages


def test_damaged_and_locked_packages(tmp_path: Path) -> None:
    whole = docx(paragraph("x" * 500))
    assert "Copy it anew" in refused(written(tmp_path, "half.docx", whole[: len(whole) // 2]), DamagedFileError)
    parts = docx_parts()
    assert "word/document.xml" in refused(
        written(tmp_path, "torn.docx", zipped(parts | {"word/document.xml": "<w"})), DamagedFileError
    )
    del parts["word/document.xml"]
    assert "its text is not in it" in refused(written(tmp_path, "empty.docx", zipped(parts)), DamagedFileError)
