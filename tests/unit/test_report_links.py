"""Links of the report's tables: what they say, and the script that makes them work there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import snakemake.report.html_reporter as reporter

from scripts.files import DataError
from scripts.publishing import report_links
from scripts.publishing.captions import ModelInfo
from scripts.publishing.layouts import answer_link, pair_link, run_link
from scripts.publishing.tables import Cell, Column, Row, Table, absent, link_of
from scripts.publishing.web import to_html

RUN = run_link(ModelInfo("m<1>", "M", ("thinking",)), "thinking")
COLUMN = Column("a", "A", link=(("task", "count"), ("shots", "4")))
ROW = Row(("x",), (Cell(1, "1", link=(("shots", ""),)), absent("why")), link=RUN)
TABLE = Table("t", "C", ("S",), (COLUMN, Column("b", "B")), (ROW,), link=(("benchmark", "b&c"),))


def test_links_of_table_column_row_and_cell_are_one() -> None:
    found = link_of(TABLE, COLUMN, ROW, ROW.cells[0])
    assert found == {"benchmark": "b&c", "task": "count", "model": "m<1>", "mode": "thinking"}
    assert link_of(TABLE, COLUMN, ROW, ROW.cells[1]) == {}
    assert link_of(TABLE, COLUMN, ROW, Cell("", "·")) == {}
    assert link_of(replace(TABLE, link=()), COLUMN, ROW, ROW.cells[0]) == {}
    assert dict(pair_link(("a", "thinking"), ("b", "thinking"), "only_b")) == {
        "a": "a|thinking",
        "b": "b|thinking",
        "pair": "only_b",
    }
    assert answer_link("b", "t", "r", "m", "thinking") == (("answer", "b|t|r|m|thinking"),)


def test_an_address_is_escaped_and_only_values_have_one() -> None:
    page = to_html(TABLE)
    assert page.count("<a ") == 1 and 'target="_blank">1</a>' in page
    assert "#benchmark=b%26c&amp;task=count&amp;model=m%3C1%3E&amp;mode=thinking" in page
    assert "opens the answers behind it" in page
    assert "<a " not in to_html(replace(TABLE, link=()))


def test_the_script_fits_the_report_of_the_installed_snakemake(tmp_path: Path) -> None:
    part = Path(str(reporter.__file__)).parent / "template" / "components" / "content.js"
    source = part.read_text(encoding="utf-8")
    for needed in ("class ContentDisplay extends", "renderContent()", "state.contentPath"):
        assert needed in source
    report = tmp_path / "report.html"
    report.write_text(f"<body><script>{source}</script></body>", encoding="utf-8")
    report_links.main([str(report), 'a"b'])
    text = report.read_text(encoding="utf-8")
    assert 'const folder = "a\\"b";' in text and text.count("<script>") == 2
    assert text.endswith("</script>\n</body>")


def test_another_report_is_refused() -> None:
    with pytest.raises(DataError, match=r"no ContentDisplay.*report_links\.js"):
        report_links.with_links("<body></body>", "results")
