"""What a reader of a page would read, and none of what the page is made of."""

from __future__ import annotations

import pytest

from pinfill_service.documents.document import Limits, TooLargeError
from pinfill_service.documents.html import MAX_DEPTH, convert


def text(page: str) -> str:
    return convert(page.encode(), Limits()).text


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<h1>One</h1><p>a\n b<p>c<h2>Two\n x</h2>d", "# One\n\na b\n\nc\n\n## Two x\n\nd"),
        ("<p>a<br>b<br/> c</p>", "a\nb\nc"),
        ("a <a href='http://x'>link</a>, <b>bold</b><i>er</i>", "a link, bolder"),
        ("&lt;p&gt; &amp; &eacute; &#8364; &nosuch; &#xD800;", "<p> & é € &nosuch; \ufffd"),
        ("x\u00a0y\u00adz\u200b", "x yz"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("a<img src=x alt=' a chart '>b<img src=y alt=''>", "a[image: a chart]b"),
        ("a<hr>b", "a\n\nb"),
        ("<details><summary>S</summary>t</details>", "S\n\nt"),
        ("</p></div></td>a</ul>", "a"),
        ("a<!-- <p>no</p> -->b<![CDATA[x]]>", "ab"),
        ("a<!--[if lt IE 9]><p>no</p><![endif]-->b<![if !IE]>c<![endif]>d<![what[>e<![", "abcde<?["),
        ("", ""),
    ],
)
def test_flowing_text(page: str, expected: str) -> None:
    assert text(page) == expected


@pytest.mark.parametrize(
    "page",
    [
        "<style>p { }</style>",
        "<script>if (a < b) document.write('<p>no</p>')</script>",
        "<noscript>no</noscript>",
        "<template><p>no</p></template>",
        "<svg><title>no</title><text>no</text></svg>",
        "<select><option>no<option>no</select>",
        "<div hidden>no<div>no</div>no</div>",
        "<div style='color: red; display : none'>no</div>",
        "<span hidden>no</span>",
        "<img hidden alt=no>",
        "<div hidden><table><tr><td>no</table><ul><li>no</ul></div>",
    ],
)
def test_what_no_reader_sees_is_left_out(page: str) -> None:
    assert text(f"<p>a</p>{page}<p>b</p>") == "a\n\nb"


def test_hidden_until_found_is_text() -> None:
    assert text("<div hidden='until-found'>a</div>") == "a"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
        ("<ol start='9'><li>a<p>more</p><li>b<br>c</ol>", "9. a\n   more\n10. b\n    c"),
        ("<ol start=x><li><p>a</p></li></ol>", "1. a"),
        ("<li>alone", "- alone"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\n  b\nc\n  d"),
        ("<blockquote>a<p>b<br>c<ul><li>d</ul></blockquote>e", "> a\n\n> b\n> c\n\n> - d\n\ne"),
    ],
)
def test_lists_and_quotations(page: str, expected: str) -> None:
    assert text(page) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "<table><caption>C</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td>2|3<tr><td><p>4<p>5<td></table>",
            "C\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n| 4<br>5 |  |",
        ),
        (
            "<table><tr><td colspan=2>a<td>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>",
            "| a |  | b |\n| --- | --- | --- |\n| c | d | e |\n|  | f | g |",
        ),
        (
            "<table><tr><td rowspan=2>a<td>b<td rowspan=2>c<tr><td>d</table>",
            "| a | b | c |\n| --- | --- | --- |\n|  | d |",
        ),
        ("<table><tr><td>a<tr><td>b</table>", "a\n\nb"),
        ("<table><tr><td><h2>a</h2>b<td>c</table>", "## a\n\nb\n\nc"),
        (
            "<table><tr><td>x<td><table><tr><td>a<td>b</table></table>",
            "x\n\n| a | b |\n| --- | --- |",
        ),
        ("<table><tr><td><td></table>a", "a"),
        ("<td>a<td>b", "a\n\nb"),
        ("<table>a<td>b<td>c</table>", "a\n\n| b | c |\n| --- | --- |"),
    ],
)
def test_tables(page: str, expected: str) -> None:
    assert text(page) == expected


def test_preformatted_text_is_kept_and_fenced() -> None:
    assert text("a<pre>\n  x &lt; y\n\n\n\ty\n</pre>b") == "a\n\n```\n  x < y\n\n\ty\n```\n\nb"
    assert text("<pre>```</pre>") == "````\n```\n````"
    assert text("<pre>a`b</pre>") == "```\na`b\n```"


def test_the_title_stands_in_for_a_missing_heading() -> None:
    assert text("<title> The\n page</title><h2>a</h2>") == "# The page\n\n## a"
    assert text("<title>The page</title><h1>The page</h1>a") == "# The page\n\na"


def test_the_encoding_a_page_names() -> None:
    page = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>Привет'
    assert convert(page.encode("cp1251"), Limits()).text == "Привет"
    page = "<meta charset=shift_jis><p>試験"
    assert convert(page.encode("cp932"), Limits()).text == "試験"


def test_a_page_that_scripts_fill_says_so() -> None:
    converted = convert(b"<div id=app></div><script src=x></script>", Limits())
    assert converted.text == "" and "scripts" in converted.notes[0]


def test_nesting_is_limited() -> None:
    assert text("<div>" * MAX_DEPTH + "a") == "a"
    assert text("<b><font>" * (2 * MAX_DEPTH) + "a") == "a"
    with pytest.raises(TooLargeError, match="inside each other"):
        text("<div>" * (MAX_DEPTH + 1) + "a")


def test_indentation_and_cells_multiply_within_limits() -> None:
    deep = "<ul><li>" * 100 + "<blockquote>" * 100 + "x<br>" * 1_000
    assert len(text(deep)) < 100_000
    with pytest.raises(TooLargeError, match="50,000 characters"):
        convert(deep.encode(), Limits(characters=50_000))
    with pytest.raises(TooLargeError, match="cells"):
        text("<table>" + "<tr><td colspan=100 rowspan=100>x" * 1_000)


@pytest.mark.parametrize("span", ["1000000000", "99999999999999", "-1", "0", "x", ""])
def test_spans_that_are_not_meant_seriously(span: str) -> None:
    lines = text(f"<table><tr><td colspan='{span}' rowspan='{span}'>a<td>b<tr><td>c<td>d</table>").splitlines()
    assert len(lines) == 3 and max(map(len, lines)) < 1_000
