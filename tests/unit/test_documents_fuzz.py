"""Documents with mistakes in them are read or refused; nothing else ever happens."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfill_service.documents.converter import convert_here
from pinfill_service.documents.document import Converted, DocumentError, Kind, Limits
from tests.support.documents import docx_parts, paragraph, pdf, zipped

LIMITS = Limits(expanded_bytes=1_000_000, pages=50)
BODY = (
    paragraph("a", '<w:pStyle w:val="H"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')
    + '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>'
    + '<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>b</w:t><w:sym w:char="2192"/><w:footnoteReference w:id="1"/></w:r>'
    + "<w:txbxContent><w:p><w:r><w:t>c</w:t></w:r></w:p></w:txbxContent></w:p>"
)
PARTS = docx_parts(
    BODY,
    styles='<w:style w:styleId="H"><w:name w:val="heading 1"/><w:basedOn w:val="H"/></w:style>',
    numbering='<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="lowerRoman"/>'
    '<w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>',
    footnotes='<w:footnote w:id="1"><w:p><w:r><w:t>n</w:t></w:r></w:p></w:footnote>',
)
PAGE = (
    b"<!doctype html><title>t</title><h1>a</h1><ul><li>b<ol start=2><li>c</ol></ul><table><tr><th colspan=2>d<tr>"
    b"<td rowspan=2>e<td>f</table><pre>\n g</pre><div hidden>h</div><script>i</script><img alt=j>&eacute;<!-- k -->"
)
EDIT = st.tuples(st.floats(0, 1), st.integers(0, 12), st.binary(max_size=6))
EDITS = st.lists(EDIT, min_size=1, max_size=6)
WORD = st.sampled_from(
    ["<w:p>", "</w:p>", "<w:tbl>", "</w:tc>", "<w:tc>", "<w:txbxContent>", '"9"', "&", "<!DOCTYPE x>"]
)


def edited(content: bytes, edits: Sequence[tuple[float, int, bytes]]) -> bytes:
    """`content` with some bytes replaced: each edit is (where, as a share of the length; how many; by what)."""
    for share, count, replacement in edits:
        at = int(share * len(content))
        content = content[:at] + replacement + content[at + count :]
    return content


def check(kind: Kind, content: bytes) -> None:
    result = convert_here(kind, content, LIMITS)
    if isinstance(result, Converted):
        assert "\r" not in result.text and "\0" not in result.text
        result.text.encode()
        assert convert_here(kind, content, LIMITS) == result
    else:
        assert isinstance(result, DocumentError) and str(result).endswith(".")


@settings(max_examples=150, deadline=None)
@given(EDITS)
def test_archives_with_mistakes(edits: list[tuple[float, int, bytes]]) -> None:
    check("docx", edited(zipped(PARTS), edits))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(PARTS)), st.one_of(EDITS, st.lists(st.tuples(st.floats(0, 1), st.just(0), WORD), max_size=3))
)
def test_parts_with_mistakes(name: str, edits: list[tuple[float, int, bytes | str]]) -> None:
    as_bytes = [(at, count, text.encode() if isinstance(text, str) else text) for at, count, text in edits]
    check("docx", zipped(PARTS | {name: edited(PARTS[name].encode(), as_bytes)}))


@settings(max_examples=150, deadline=None)
@given(EDITS)
def test_pdfs_with_mistakes(edits: list[tuple[float, int, bytes]]) -> None:
    check("pdf", edited(pdf(["first", "", "third"]), edits))


@settings(max_examples=200, deadline=None)
@given(EDITS)
def test_pages_with_mistakes(edits: list[tuple[float, int, bytes]]) -> None:
    check("html", edited(PAGE, edits))


NAMES = "div p ul ol li table tr td th tbody caption pre blockquote h1 dl dt dd script title span br img select a"
TAGS = st.sampled_from(NAMES.split())


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["<{}>x", "</{}>", "<{} hidden>", "<{} colspan=3 rowspan=2>"]), TAGS), max_size=40
    )
)
def test_elements_in_any_order(elements: list[tuple[str, str]]) -> None:
    check("html", "".join(form.format(tag) for form, tag in elements).encode())


@pytest.mark.parametrize("kind", ["pdf", "docx", "html", "text"])
@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(kind: Kind, content: bytes) -> None:
    check(kind, content)
