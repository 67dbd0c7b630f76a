"""What Word shows, as text: headings, lists with their numbers, tables, notes; nothing that was deleted or hidden."""

from __future__ import annotations

import pytest

from pinfill_service.documents.document import (
    Converted,
    DamagedFileError,
    Limits,
    LockedFileError,
    TooLargeError,
)
from pinfill_service.documents.docx import convert
from pinfill_service.documents.docx_package import MAX_DEPTH
from tests.support.documents import docx, docx_parts, paragraph, zipped

STYLES = (
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/></w:style>'
    '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="Tief"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="7"/></w:pPr></w:style>'
    '<w:style w:styleId="Text"><w:name w:val="y"/><w:basedOn w:val="Tief"/>'
    '<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>'
    '<w:style w:styleId="Punkt"><w:name w:val="z"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:styleId="A"><w:name w:val="a"/><w:basedOn w:val="B"/></w:style>'
    '<w:style w:styleId="B"><w:name w:val="b"/><w:basedOn w:val="A"/></w:style>'
)


def level(number: int, form: str, template: str, start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{template}"/></w:lvl>'
    )


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="7">{level(0, "bullet", "*")}{level(1, "bullet", "o")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="8">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%1.%2)")}'
    f"{level(2, 'upperRoman', '(%3)', 4)}</w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="8"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/>'
    "</w:lvlOverride></w:num>"
)


def converted(body: str, **parts: str) -> Converted:
    return convert(docx(body, **parts), Limits())


def text(body: str, **parts: str) -> str:
    return converted(body, **parts).text


def run(content: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr>{content}</w:r>"


def styled(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def in_list(number: int, level: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def test_paragraphs_and_what_stands_for_characters() -> None:
    signs = "<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:softHyphen/>"
    signs += '<w:sym w:font="Wingdings" w:char="F04A"/><w:sym w:char="2192"/><w:br w:type="page"/>'
    body = f"<w:p><w:pPr><w:tabs><w:tab w:pos='9'/></w:tabs></w:pPr>{run(signs)}</w:p><w:p/>{paragraph(' x ')}"
    assert text(body) == "a\tb\nc-→\n\nx"


def test_headings_are_known_by_style_names_of_any_language() -> None:
    styles = ("Titel", "berschrift1", "Kapitel", "Tief", "Text", "A", "missing")
    assert text("".join(paragraph(name, styled(name)) for name in styles), styles=STYLES) == (
        "# Titel\n\n# berschrift1\n\n# Kapitel\n\n###### Tief\n\nText\n\nA\n\nmissing"
    )


def test_an_outline_level_of_the_paragraph_itself() -> None:
    assert text(paragraph("a", '<w:outlineLvl w:val="1"/>')) == "## a"


def test_lists_are_numbered_as_word_does() -> None:
    items = [(2, 0), (2, 1), (2, 1), (2, 2), (2, 2), (2, 0), (2, 1), (1, 0), (1, 1), (2, 0), (3, 0), (3, 0)]
    body = "".join(paragraph("x", in_list(*item)) for item in items)
    assert text(body, numbering=NUMBERING).splitlines() == [
        "1. x",
        "  1.a) x",
        "  1.b) x",
        "    (IV) x",
        "    (V) x",
        "2. x",
        "  2.a) x",
        "- x",
        "  - x",
        "3. x",
        "1. x",
        "2. x",
    ]


def test_lists_of_styles_and_numbered_headings() -> None:
    body = paragraph("a", styled("Punkt")) + paragraph("b", styled("Punkt") + '<w:numPr><w:numId w:val="0"/></w:numPr>')
    body += paragraph("c", styled("berschrift1") + in_list(2)) + paragraph("d", styled("berschrift1") + in_list(1))
    body += paragraph("", in_list(2)) + paragraph("e", in_list(2))
    assert text(body, styles=STYLES, numbering=NUMBERING) == "- a\n\nb\n\n# 1. c\n\n# d\n\n3. e"


def test_tables() -> None:
    merged = '<w:gridSpan w:val="2"/>'
    rows = (
        cell(paragraph("a|b"), merged) + cell(paragraph("c"), '<w:vMerge w:val="restart"/>'),
        cell(paragraph("d") + paragraph("e")) + cell(paragraph("f", in_list(1))) + cell("<w:p/>", "<w:vMerge/>"),
    )
    assert text(paragraph("before") + table(*rows), numbering=NUMBERING) == (
        "before\n\n| a\\|b |  | c |\n| --- | --- | --- |\n| d<br>e | - f |  |"
    )


def test_a_table_that_only_arranges_becomes_its_blocks() -> None:
    assert text(table(cell(paragraph("a") + paragraph("b")), cell(paragraph("c")))) == "a\n\nb\n\nc"
    inner = table(cell(paragraph("x")) + cell(paragraph("y")))
    assert text(table(cell(paragraph("a")) + cell(inner))) == "a\n\n| x | y |\n| --- | --- |"


def test_notes_come_at_the_end_in_the_order_of_the_text() -> None:
    references = run('<w:t>a</w:t><w:endnoteReference w:id="1"/><w:t>b</w:t><w:footnoteReference w:id="5"/>')
    footnotes = '<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
    footnotes += f'<w:footnote w:id="5">{paragraph("five")}{paragraph("more")}</w:footnote>'
    endnotes = f'<w:endnote w:id="1">{paragraph("one")}</w:endnote>'
    body = f"<w:p>{references}</w:p>{paragraph('c')}"
    assert (
        text(body, footnotes=footnotes, endnotes=endnotes) == "a[^1]b[^2]\n\nc\n\n[^1]: one\n[^2]: five\n\n      more"
    )
    assert text(body) == "a[^1]b[^2]\n\nc\n\n[^1]:\n[^2]:"
    assert text(body * 2, endnotes=endnotes).count("[^1]: one") == 1


def test_deleted_moved_and_hidden_text_is_left_out() -> None:
    body = (
        "<w:p>"
        + run("<w:t>a</w:t>")
        + f"<w:del>{run('<w:delText>no</w:delText>')}</w:del><w:moveFrom>{run('<w:t>no</w:t>')}</w:moveFrom>"
        + f"<w:ins>{run('<w:t>b</w:t>')}</w:ins><w:moveTo>{run('<w:t>c</w:t>')}</w:moveTo>"
        + run("<w:t>no</w:t>", "<w:vanish/>")
        + run("<w:t>d</w:t>", '<w:vanish w:val="0"/>')
        + run("<w:instrText>PAGEREF no</w:instrText>")
        + "</w:p>"
        + paragraph(
            "e", '<w:rPr><w:vanish/></w:rPr><w:pPrChange><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:pPrChange>'
        )
    )
    assert text(body) == "abcd\n\ne"
    assert converted(body).notes == ("Tracked changes are taken as accepted.",)


def test_a_text_box_comes_once_and_behind_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('box')}{paragraph('more')}</w:txbxContent>"
    body = (
        f"<w:p>{run('<w:t>a</w:t>')}<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>{run('<w:t>b</w:t>')}</w:p>{paragraph('c')}"
    )
    assert text(body) == "ab\n\nbox\n\nmore\n\nc"


def test_formulas_links_and_fields_are_text() -> None:
    body = (
        f"<w:p><w:hyperlink>{run('<w:t>link </w:t>')}</w:hyperlink><m:oMath><m:r><m:t>x+1</m:t></m:r></m:oMath></w:p>"
    )
    assert text(body) == "link x+1"


def test_what_is_left_out_is_said() -> None:
    picture = "<w:p><w:r><w:drawing><a:blip/></w:drawing></w:r></w:p>"
    assert converted(picture * 2, comments="").notes == (
        "The document has no text.",
        "Pictures are left out (2).",
        "Comments are left out.",
    )


def test_the_strict_form_of_the_format() -> None:
    parts = docx_parts(paragraph("a", '<w:outlineLvl w:val="0"/>'))
    usual, strict = "schemas.openxmlformats.org/wordprocessingml/2006/main", "purl.oclc.org/ooxml/wordprocessingml/main"
    assert usual in parts["word/document.xml"]
    parts = {name: part.replace(usual, strict) for name, part in parts.items()}
    assert convert(zipped(parts), Limits()).text == "# a"


def test_the_main_part_may_have_any_name() -> None:
    parts = docx_parts(paragraph("a"))
    parts["_rels/.rels"] = parts["_rels/.rels"].replace('"word/document.xml"', '"/word/document2.xml"')
    parts["word/document2.xml"] = parts.pop("word/document.xml")
    assert convert(zipped(parts), Limits()).text == "a"


# Hostile files

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("declaration", [BOMB, OUTSIDE, '<!DOCTYPE x SYSTEM "http://localhost/x.dtd">'])
@pytest.mark.parametrize("part", ["word/document.xml", "_rels/.rels", "word/styles.xml"])
def test_entities_are_never_defined(declaration: str, part: str) -> None:
    parts = docx_parts(paragraph("&a;"), styles="")
    parts[part] = parts[part].replace("?>", f"?>{declaration}", 1) if "?>" in parts[part] else declaration + parts[part]
    with pytest.raises(DamagedFileError, match="defines entities"):
        convert(zipped(parts), Limits())


def test_nesting_is_limited() -> None:
    with pytest.raises(TooLargeError, match="inside each other"):
        text("<w:sdt>" * MAX_DEPTH + "</w:sdt>" * MAX_DEPTH)
    with pytest.raises(TooLargeError, match="inside each other"):
        text("<w:tbl><w:tr><w:tc>" * 200 + paragraph("a") + "</w:tc></w:tr></w:tbl>" * 200)


def test_all_parts_count_towards_what_is_expanded() -> None:
    content = docx(paragraph("x" * 40_000), styles=f"<!--{'x' * 40_000}-->")
    assert len(convert(content, Limits(expanded_bytes=90_000)).text) == 40_000
    with pytest.raises(TooLargeError, match="60,000 bytes"):
        convert(content, Limits(expanded_bytes=60_000))


def test_numbers_that_are_not_meant_seriously() -> None:
    numbering = NUMBERING.replace('w:start w:val="1"', 'w:start w:val="999999999"')
    body = paragraph("a", in_list(2)) + paragraph("b", in_list(2, 99)) + paragraph("c", '<w:outlineLvl w:val="-1"/>')
    body += table(cell(paragraph("d"), '<w:gridSpan w:val="99999"/>') + cell(paragraph("e")))
    assert len(text(body, numbering=numbering)) < 2_000


def test_an_encrypted_part() -> None:
    content = bytearray(docx(paragraph("a")))
    for at in range(len(content)):
        if content[at : at + 4] == b"PK\1\2":
            content[at + 8] |= 1  # general purpose flags of the central directory
    with pytest.raises(LockedFileError, match="password"):
        convert(bytes(content), Limits())


@pytest.mark.parametrize("encoding", ["no-such", "utf-7", "utf-32", "idna"])
def test_xml_in_an_encoding_it_cannot_have(encoding: str) -> None:
    parts = docx_parts(paragraph("a"))
    parts["word/document.xml"] = parts["word/document.xml"].replace("UTF-8", encoding)
    with pytest.raises(DamagedFileError, match="damaged DOCX"):
        convert(zipped(parts), Limits())
