"""Cells, ranking and the two written forms of a table."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import files
from scripts.publishing import tables
from scripts.publishing.tables import Cell, Column, Row, Table


def simple(**options: object) -> Table:
    rows = (
        Row(("A_1",), (tables.number(0.5, tables.percent, low=0.4, high=0.6, mark="**"),), "One"),
        Row(("B",), (tables.number(0.75, tables.percent),), "One"),
        Row(("C",), (tables.absent("condition not evaluated"),), "One"),
        Row(("Floor",), (tables.number(0.9, tables.percent),), "Two", baseline=True),
    )
    columns = (Column("ema", "EMA (%)", "Group", better="high"),)
    return Table(
        "simple",
        "A 5% caption",
        ("Model",),
        columns,
        tables.rank_columns(columns, rows),
        ("Note & more.",),
        **options,  # type: ignore[arg-type]
    )


def test_percent_is_the_published_rounding() -> None:
    assert tables.percent(115 / 400) == "28.7"
    assert tables.percent(-0.075) == "−7.5"
    assert tables.percent(-0.0001) == "0.0"


def test_number_forms() -> None:
    assert tables.decimal(-0.5, 2) == "−0.50"
    assert tables.signed(0.5, 1) == "+0.5"
    assert tables.signed(-0.5, 1) == "−0.5"
    assert tables.signed(-0.001, 1) == "0.0"
    assert tables.p_value(0.0) == "<0.001"
    assert tables.p_value(0.0312) == "0.031"
    assert tables.whole(1234).text == "1,234"
    assert tables.whole(None, reason="gone").missing == "gone"


@pytest.mark.parametrize("value", [None, math.nan, pd.NA])
def test_missing_values_print_an_en_dash_never_zero(value: object) -> None:
    cell = tables.number(value, tables.percent, reason="not run")
    assert (cell.text, cell.value, cell.missing) == ("–", None, "not run")


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=8))
def test_best_and_second_are_the_two_highest_distinct_values(values: list[float | None]) -> None:
    cells = [tables.number(v, tables.percent) for v in values]
    ranked = tables.rank_cells(cells)
    distinct = sorted({v for v in values if v is not None}, reverse=True)
    for value, cell in zip(values, ranked, strict=True):
        expected = ""
        if value is not None and len(distinct) > 1:
            expected = {distinct[0]: "best", distinct[1]: "second"}.get(value, "")
        assert cell.rank == expected


def test_lower_is_better_turns_the_ranking() -> None:
    cells = [tables.number(v, tables.percent) for v in (0.1, 0.2, 0.3)]
    assert [c.rank for c in tables.rank_cells(cells, lower_is_better=True)] == [
        "best",
        "second",
        "",
    ]


def test_baselines_and_unranked_columns_are_never_ranked() -> None:
    ranks = [row.cells[0].rank for row in simple().rows]
    assert ranks == ["second", "best", "", ""]


def test_peers_are_ranked_among_themselves() -> None:
    columns = (Column("x", "x", better="high"),)
    rows = [
        Row((name,), (tables.number(v, tables.percent),), "B", peers=peer)
        for name, v, peer in (("a", 0.1, "e"), ("b", 0.2, "e"), ("c", 0.9, "r"), ("d", 0.8, "r"))
    ]
    ranks = [r.cells[0].rank for r in tables.rank_columns(columns, rows)]
    assert ranks == ["second", "best", "best", "second"]


def test_latex_has_marks_rules_groups_and_notes() -> None:
    source = tables.to_latex(simple())
    assert r"\caption{A 5\% caption}\label{tab:simple}" in source
    assert r"\multicolumn{1}{c}{Group}" in source and r"\cmidrule(lr){2-2}" in source
    assert r"\underline{50.0}\textsuperscript{**}" in source
    assert r"\textbf{75.0}" in source
    assert r"–\textsuperscript{a}" in source
    assert r"\tablenote{–\textsuperscript{a} condition not evaluated.}" in source
    assert r"Note \& more." in source
    assert source.count(r"\midrule") == 2
    assert r"A\_1" in source


@pytest.mark.parametrize(
    ("layout", "environment"),
    [("portrait", "table"), ("landscape", "sidewaystable"), ("long", "longtable")],
)
def test_every_layout_opens_and_closes_its_environments(layout: str, environment: str) -> None:
    source = tables.to_latex(simple(layout=layout, short_caption="short"))
    opened = re.findall(r"\\begin\{(\w+)\}", source)
    assert environment in opened
    assert sorted(opened) == sorted(re.findall(r"\\end\{(\w+)\}", source))
    assert r"\caption[short]" in source


def test_unstacked_intervals_stand_on_the_line() -> None:
    assert r"\tablesmall{[40.0, 60.0]}" in tables.to_latex(simple(stacked=False))


def test_a_table_without_rows_says_so() -> None:
    table = Table("none", "c", ("Model",), (Column("x", "x"),), ())
    assert "no rows" in tables.to_latex(table)


def test_a_row_of_the_wrong_width_is_an_error() -> None:
    with pytest.raises(ValueError, match="table bad"):
        Table("bad", "c", ("Model",), (Column("x", "x"),), (Row(("a",), ()),))


def test_the_csv_has_the_content_of_the_latex(tmp_path: Path) -> None:
    table = simple()
    tables.write_table(table, tmp_path / "t.tex", tmp_path / "t.csv")
    frame = files.read_csv(tmp_path / "t.csv")
    assert frame["block"].tolist() == ["One", "One", "One", "Two"]
    assert frame["ema_printed"].tolist() == ["50.0** [40.0, 60.0]", "75.0", "–", "90.0"]
    assert frame["ema"].tolist()[:2] == [0.5, 0.75] and math.isnan(frame["ema"][2])
    assert frame["missing"][2] == "condition not evaluated"
    source = (tmp_path / "t.tex").read_text(encoding="utf-8")
    for row in table.rows:
        assert row.cells[0].text in source
    first = (tmp_path / "t.tex").read_bytes(), (tmp_path / "t.csv").read_bytes()
    tables.write_table(table, tmp_path / "t.tex", tmp_path / "t.csv")
    assert first == ((tmp_path / "t.tex").read_bytes(), (tmp_path / "t.csv").read_bytes())


def test_missing_reasons_name_their_columns_where_they_differ() -> None:
    columns = (Column("x", "x"), Column("y", "y"))
    row = Row(("a",), (tables.absent("r1"), Cell(1, "1", extra=(("n", 4),))))
    frame = tables.to_frame(Table("t", "c", ("Model",), columns, (row,)))
    assert frame["missing"][0] == "x: r1"
    assert frame["y_n"][0] == 4


def test_tint_and_repeated_stub() -> None:
    row = Row(("a",), (Cell(1, "1", detail="9 : 1", tint="row"),), repeated=True)
    source = tables.to_latex(Table("t", "c", ("Model",), (Column("x", "x"),), (row,)))
    assert r"\tablestack{1}{9 : 1}\tabletint{row}" in source
    assert "\na & " not in source
