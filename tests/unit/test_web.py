"""A table as a page: the cells of the LaTeX, marks and notes included."""

from __future__ import annotations

from scripts.publishing.tables import Cell, Column, Row, Table, absent
from scripts.publishing.web import to_html


def page(**options: object) -> str:
    columns = (Column("a", "A<b>", "Group"), Column("b", "B", align="P{2cm}"))
    rows = (
        Row(("x", "y"), (Cell(1, "1.0", mark="**", rank="best", tint="row"), absent("why")), "One"),
        Row(
            ("x", "z"),
            (Cell(2, "2.0", interval="[1, 3]", detail="low"), absent("why")),
            "Two",
            repeated=True,
        ),
    )
    settings: dict[str, object] = {"rows": rows, "notes": ("Tests & families.",)} | options
    return to_html(Table("name", "Caption <i>", ("S", "T"), columns, **settings))  # type: ignore[arg-type]


def test_cells_marks_and_notes() -> None:
    text = page()
    assert "<caption>Caption &lt;i&gt;</caption>" in text
    assert '<td class="value row"><span class="best">1.0</span><sup>**</sup></td>' in text
    assert '<td class="value">2.0<span class="small">[1, 3] low</span></td>' in text
    assert text.count('<td class="words">–<sup>a</sup></td>') == 2
    assert "<p>–<sup>a</sup> why.</p>" in text and "<p>Tests &amp; families.</p>" in text
    assert '<th class="group" colspan="1">Group</th>' in text
    assert text.count('<tr class="block"><th colspan="4">') == 2
    assert '<td class="words">x</td>' in text and '<tr><td class="words"></td>' in text
    assert "A&lt;b&gt;" in text and "<b>" not in text


def test_a_sentence_that_leads_a_row_may_break() -> None:
    text = page(rows=(Row(("a sentence " * 5, "y"), (Cell(1, "1"), Cell(2, "2"))),))
    assert '<td class="words sentence">a sentence a' in text and '<td class="words">y</td>' in text


def test_a_table_without_rows_says_so() -> None:
    assert "<em>no rows</em>" in page(rows=())


def test_the_page_links_to_its_values_and_files() -> None:
    cell = Cell("x", "<x>", file='../a b"/x.csv')
    table = Table("n", "C", ("S",), (Column("a", "A"),), (Row(("r",), (cell,)),))
    text = to_html(table, "n.csv")
    assert '<p>Values: <a href="n.csv" target="_blank" rel="noopener">n.csv</a></p>' in text
    assert '<a href="../a%20b%22/x.csv" target="_blank" rel="noopener">&lt;x&gt;</a>' in text
    assert "Values" not in to_html(table)


def test_a_cell_without_words_is_no_link() -> None:
    columns = (Column("a", "A"), Column("b", "B"))
    cells = (Cell("x", "", link=(("q", "1"),)), Cell("x", "x", link=(("q", "2"),)))
    rows, link = (Row(("r",), cells),), (("benchmark", "b"),)
    text = to_html(Table("n", "C", ("S",), columns, rows, link=link))
    assert "q=1" not in text and 'q=2" target="_blank">x</a>' in text


def test_nothing_is_fetched() -> None:
    text = page()
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "") and "<script" not in text
