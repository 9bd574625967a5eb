"""Measured against published: what is compared, how it prints, and why something is missing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import yaml

from scripts import files
from scripts.files import DataError
from scripts.publishing import (
    captions,
    compare_published,
    figures,
    gather_reproduction,
    reproduction,
    reproduction_summary,
)
from scripts.publishing.captions import Context, ModelInfo
from scripts.publishing.measured import MissingValueError, Reader, Run
from scripts.publishing.published_names import read_names
from scripts.publishing.tables import to_latex
from scripts.publishing.web import to_html

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "data" / "published"
DECLARATIONS = sorted((ROOT / "paper" / "reproduction").glob("*.yaml"))
NAMES = {"Alpha!": "alpha", "Beta?": "beta", "Nobody": ""}
HOSTILE = r"<script>\input{/etc/passwd}</script>"
PARAMS = {
    "run": {"kind": "full", "seed": 42},
    "models": {"alpha": {"label": "Alpha", "modes": ["thinking"]}},
    "toy": {
        "models": ["alpha"],
        "baselines": [],
        "tasks": {"t": {"items": 4}},
        "shots": [4],
        "headline_shots": 4,
        "statistics": {"resamples": 10, "level": 0.95, "alpha": 0.05},
    },
}


def context(kind: str = "full") -> Context:
    model = ModelInfo("alpha", "Alpha", ("thinking",))
    return Context(kind, 42, (model,), (), {"t": 4}, (4,), 4, 10, 0.95, 0.05)


MEASURED = pd.DataFrame(
    {
        "model": ["alpha", "alpha", "beta"],
        "shots": [0, 4, 4],
        "ema": [0.2875, None, 1 / 3],
        "low": [0.2, None, 0.4],
        "high": [0.3, None, 0.5],
        "n": [400, 0, 400],
        "band": ["almost", "poor", "almost"],
        "better": [True, False, True],
        "flag": ["", "no_valid_answer", ""],
    }
)
PAIRS = pd.DataFrame({"a": ["alpha"], "b": ["beta"], "wins_a": [7], "wins_b": [2], "gap": [0.5]})


@pytest.fixture
def results(tmp_path: Path) -> Path:
    files.write_csv(tmp_path / "results" / "cells.csv", MEASURED)
    files.write_csv(tmp_path / "results" / "pairs.csv", PAIRS)
    return tmp_path / "results"


WHERE = {"file": "cells.csv", "where": {"model": "$model", "shots": "$shot"}}
BASE: dict[str, Any] = {"file": "cells.csv", "where": {"model": "alpha"}, "column": "ema"}
CELL: dict[str, Any] = {"file": "cells.csv", "where": {"model": "beta"}, "column": "ema"}
EMA: dict[str, Any] = {"measured": "ema", "unit": "percent", "digits": 1}


def compare(
    results: Path, published: str, entry: dict[str, Any], kind: str = "full"
) -> list[dict[str, Any]]:
    """The comparison of one published file of these lines."""
    folder = results.parent / "published"
    folder.mkdir(exist_ok=True)
    (folder / "toy.csv").write_text(published, encoding="utf-8")
    entry = {
        "published": "toy.csv",
        "keys": ["model", "shot"],
        "names": {"model": "models"},
        "measured": WHERE,
        **entry,
    }
    declared = {"title": "Toy", "files": [entry]}
    run = Run(results, {"cells.csv", "pairs.csv"}, context(kind))
    frame = reproduction.compare(declared, folder, NAMES, run)
    assert tuple(frame.columns) == reproduction.COLUMNS
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def one(results: Path, cell: str, quantity: dict[str, Any], kind: str = "full") -> dict[str, Any]:
    """The comparison of one published cell of alpha at 0 shots."""
    lines = f"model,shot,x,source\nAlpha!,0,{cell},Toy Table 1\n"
    (row,) = compare(results, lines, {"quantities": {"x": quantity}}, kind)
    return row


class TestDeclarations:
    def test_every_published_file_is_declared_once(self) -> None:
        assert [path.stem for path in DECLARATIONS] == ["multitempbench", "syntaxbench", "tide"]
        for path in DECLARATIONS:
            declaration = reproduction.read_declaration(path)
            declared = [entry["published"] for entry in declaration["files"]]
            there = sorted(file.name for file in PUBLISHED.glob(f"{path.stem}_*.csv"))
            assert sorted(declared) == there

    def test_names_of_models_are_in_the_roster(self) -> None:
        roster = files.read_yaml(ROOT / "config.yaml")["models"]
        for path in DECLARATIONS:
            names = read_names(ROOT / reproduction.read_declaration(path)["models"])
            assert names and {name for name in names.values() if name} <= set(roster)

    def test_no_cell_of_syntaxbench_is_left_out(self) -> None:
        """Counted in the files themselves: columns that are no keys, times rows."""
        declared = reproduction.read_declaration(ROOT / "paper/reproduction/syntaxbench.yaml")
        names = read_names(ROOT / declared["models"])
        found = reproduction.compare(declared, PUBLISHED, names, Run(ROOT, [], context()))
        cells = 0
        for entry in declared["files"]:
            frame = files.read_csv(PUBLISHED / entry["published"])
            known = {*entry["keys"], *entry.get("ignored", {}), "source"}
            cells += frame[[c for c in frame.columns if c not in known]].size
        assert len(found) == cells > 2400
        silent = found[found["status"] != reproduction.COMPARED]
        assert (silent["reason"] != "").all()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[1, 2]", "expected title, files"),
            ("{title: x}", "expected title, files"),
            ("{title: x, files: [], odd: 1}", "unknown key.* odd"),
        ],
    )
    def test_outline(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "d.yaml").write_text(text)
        with pytest.raises(DataError, match=message):
            reproduction.read_declaration(tmp_path / "d.yaml")

    def test_a_published_name_stands_once(self, tmp_path: Path) -> None:
        (tmp_path / "names.csv").write_text("published,model\na,b\na,c\n")
        with pytest.raises(DataError, match=r"names.csv, row 3: 'a' stands twice"):
            read_names(tmp_path / "names.csv")

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ({"quantities": {}}, r"nothing is declared of column\(s\) \['x'\]"),
            ({"quantities": {"x": EMA, "y": EMA}}, r"not there: \['y'\]"),
            ({"quantities": {"x": EMA}, "keys": ["model", "shot", "x"]}, "name each once"),
            ({"quantities": {"x": EMA}, "odd": 1}, r"unknown key\(s\) odd"),
            ({"quantities": {"x": {"measured": "ema"}}}, "toy.csv, x: no unit"),
            ({"quantities": {"x": {**EMA, "odd": 1}}}, "toy.csv, x: expected dash"),
            ({"quantities": {"x": {**EMA, "measured": {"odd": 1}}}}, "keys? of measured: odd|odd"),
            ({"quantities": {"x": {**EMA, "measured": "none"}}}, "row 2, x: .*no column 'none'"),
            ({"quantities": {"x": {**EMA, "low": "none"}}}, "no column 'none' of the interval"),
            ({"quantities": {"x": {**EMA, "digits": 0}}}, "28.7 has more than 0 decimals"),
            ({"quantities": {"x": EMA}, "names": {"model": {"Beta?": "b"}}}, "no name of ours"),
            (
                {"quantities": {"x": EMA}, "measured": {"file": "cells.csv"}},
                "3 rows match, expected 1",
            ),
            (
                {"quantities": {"x": EMA}, "exceptions": [{"when": {"shot": 1}, "reason": "r"}]},
                "declared of no figure",
            ),
            (
                {"quantities": {"x": EMA}, "exceptions": [{"when": {"odd": 1}, "reason": "r"}]},
                "when: no key odd",
            ),
        ],
    )
    def test_what_does_not_fit_is_named(
        self, results: Path, entry: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(DataError, match=message):
            compare(results, "model,shot,x,source\nAlpha!,0,28.7,Toy\n", entry)

    def test_unknown_evidence(self, results: Path) -> None:
        with pytest.raises(DataError, match="evidence 'sure'; expected one of determined"):
            one(results, "28.7", {**EMA, "evidence": "sure"}, "replay")


class TestNumbers:
    def test_digits_are_those_of_print(self, results: Path) -> None:
        """115 of 400 prints as 28.7, as the float 28.749… does, though it is 28.75."""
        row = one(results, "28.7", {**EMA, "low": "low", "high": "high"})
        assert (row["published"], row["printed"], row["equal_as_printed"]) == ("28.7", "28.7", True)
        assert row["difference"] == pytest.approx(0.05) and row["measured"] == pytest.approx(28.75)
        assert (row["ci_low"], row["ci_high"], row["covered"]) == (20.0, 30.0, True)
        assert (row["measured_file"], row["measured_rows"]) == ("cells.csv", "2")
        assert one(results, "28.8", EMA)["equal_as_printed"] is False

    def test_lost_zeros_are_restored_and_own_decimals_kept(self, results: Path) -> None:
        assert one(results, "28.8", {**EMA, "digits": 2})["published"] == "28.80"
        kept = one(results, "29", {"measured": "ema", "unit": "percent"})
        assert (kept["published"], kept["printed"], kept["equal_as_printed"]) == ("29", "29", True)

    def test_a_value_outside_the_interval(self, results: Path) -> None:
        wanted = {**EMA, "low": "low", "high": "high"}
        assert one(results, "30.1", wanted)["covered"] is False
        assert one(results, "30.0", wanted)["covered"] is True
        assert one(results, "30.0", EMA)["covered"] is None

    def test_negative_zero_and_limits(self, results: Path) -> None:
        assert (
            reproduction.in_print(-0.0004, 3) == "0.000" and reproduction.in_print(-1, 1) == "-1.0"
        )
        share = {"measured": "ema", "unit": "share"}
        below = one(results, "<0.3", share)
        assert (below["printed"], below["equal_as_printed"]) == ("<0.3", True)
        above = one(results, "<0.001", share)
        assert (above["printed"], above["equal_as_printed"]) == ("0.287", False)
        assert below["difference"] is None

    @pytest.mark.parametrize("text", ["n/a", "NaN", "inf", ""])
    def test_what_is_no_number_is_said(self, results: Path, text: str) -> None:
        row = one(results, text, EMA)
        assert (row["status"], row["reason"]) == ("missing", reproduction.NOT_A_NUMBER)

    def test_words(self, results: Path) -> None:
        band = {"measured": "band", "unit": "words", "words": {"top": "almost", "low": "poor"}}
        assert one(results, "top", band)["printed"] == "top"
        other = one(results, "low", band)
        assert (other["printed"], other["equal_as_printed"]) == ("top", False)
        assert one(results, "almost", {"measured": "band", "unit": "words"})["equal_as_printed"]
        stars = {"measured": "better", "unit": "words", "words": {"*": "True", "": "False"}}
        assert one(results, "*", stars)["equal_as_printed"] is True
        none = one(results, "", stars)
        assert (none["published"], none["printed"], none["equal_as_printed"]) == ("–", "*", False)

    def test_a_printed_dash_is_met_by_no_value(self, results: Path) -> None:
        lines = "model,shot,x,source\nAlpha!,4,,Toy\nAlpha!,0,,Toy\n"
        met, unmet = compare(results, lines, {"quantities": {"x": {**EMA, "dash": True}}})
        assert (met["printed"], met["equal_as_printed"]) == ("–", True)
        assert (unmet["printed"], unmet["equal_as_printed"]) == ("28.75", False)


class TestMissing:
    def test_the_flag_says_why(self, results: Path) -> None:
        lines = "model,shot,x,source\nAlpha!,4,1.0,Toy\n"
        (row,) = compare(results, lines, {"quantities": {"x": EMA}})
        assert row["reason"] == captions.FLAGS["no_valid_answer"]
        (row,) = compare(results, lines, {"quantities": {"x": {**EMA, "missing": "no tokens"}}})
        assert row["reason"] == "no tokens"

    def test_what_the_run_lacks(self, results: Path) -> None:
        lines = (
            "model,shot,x,source\nNobody,4,1.0,Toy\nBeta?,0,1.0,Toy\nAlpha!,1,1.0,Toy\n"
            "Alpha!,0,1.0,Toy\n"
        )
        wanted = {**EMA, "measured": {"column": "ema", "where": {"n": {"above": 500}}}}
        rows = compare(results, lines, {"quantities": {"x": EMA}})
        assert [row["reason"] for row in rows] == [
            "model not in the roster: Nobody",
            "not evaluated together in this run: beta, 0",
            "number of shots not in this run: 1",
            "",
        ]
        assert one(results, "1.0", wanted)["reason"] == "no such value in this run: n above 500"
        unknown = {"model": {"Alpha!": "gamma"}}
        (row,) = compare(
            results,
            "model,shot,x,source\nAlpha!,0,1.0,Toy\n",
            {"quantities": {"x": EMA}, "names": unknown},
        )
        assert row["reason"] == "model not in this run: gamma"
        assert reproduction_summary.kind_of(row["reason"]) == "model not in this run"

    def test_a_file_left_by_another_run_is_not_read(self, results: Path) -> None:
        files.write_csv(results / "old.csv", MEASURED)
        wanted = {**EMA, "measured": {"file": "old.csv", "column": "ema"}}
        assert one(results, "28.7", wanted)["reason"] == "file not made in this run: old.csv"

    def test_rows_that_are_skipped_and_columns_that_are_not_compared(self, results: Path) -> None:
        entry = {
            "keys": ["model", "other"],
            "names": {"model": "models", "other": "models"},
            "measured": {"file": "pairs.csv", "where": {"a": "$model", "b": "$other"}},
            "skip": [
                {"same": ["model", "other"], "reason": "itself"},
                {"when": {"other": ["nobody"]}, "reason": "unknown"},
            ],
            "quantities": {
                "x": {"measured": "wins_a", "unit": "count"},
                "y": {"not_compared": "lost"},
            },
            "ignored": {"note": "words"},
        }
        rows = compare(results, "model,other,x,y,note,source\nAlpha!,Alpha!,1,2,w,Toy\n", entry)
        assert [(row["status"], row["reason"]) for row in rows] == [
            ("not compared", "itself"),
            ("not compared", "lost"),
        ]

    def test_a_whole_file_that_is_not_compared(self, results: Path) -> None:
        entry = {"quantities": {"x": "the label"}, "not_compared": "rows lost", "measured": {}}
        (row,) = compare(results, "model,shot,x,source\nAlpha!,0,1,Toy\n", entry)
        assert (row["quantity"], row["reason"]) == ("the label", "rows lost")


class TestMeasured:
    @pytest.fixture
    def reader(self, results: Path) -> Reader:
        return Reader(Run(results, {"cells.csv", "pairs.csv"}, context(), ("alpha", "beta", "c")))

    def test_facts_of_the_run(self, reader: Reader) -> None:
        assert reader.measure({"fact": "seed"}, {}).value == 42
        with pytest.raises(DataError, match="no fact 'odd' of the run; known: alpha"):
            reader.measure({"fact": "odd"}, {})

    def test_counts(self, reader: Reader) -> None:
        wanted = {"file": "cells.csv", "where": {}, "count": {"better": True}}
        found = reader.measure(wanted, {})
        assert (found.value, found.lines) == (2, (2, 4))
        with pytest.raises(MissingValueError, match="1 of 3 are not"):
            reader.measure({**wanted, "all_models": True}, {})
        share = reader.measure({**wanted, "divided_by": {"count": {}}}, {})
        assert share.value == pytest.approx(2 / 3)
        mean = reader.measure({**wanted, "divided_by": {"column": "n", "highest": "n"}}, {})
        assert mean.value == 2 / 400

    def test_extremes_and_equal_rows(self, reader: Reader) -> None:
        assert reader.measure({**BASE, "where": {}, "highest": "ema"}, {}).value == 1 / 3
        same = {"file": "cells.csv", "column": "band", "same": True}
        assert reader.measure({**same, "where": {"n": 400}}, {}).value == "almost"
        with pytest.raises(MissingValueError, match="not estimated: "):
            reader.measure({**same, "where": {}}, {})

    def test_differences(self, reader: Reader) -> None:
        minus = {
            **BASE,
            "where": {"model": "beta"},
            "minus": {"where": {"model": "alpha", "shots": 0}},
        }
        assert reader.measure(minus, {}).value == pytest.approx(1 / 3 - 0.2875)
        empty = {**minus, "minus": {"where": {"model": "alpha", "shots": 4}}}
        found = reader.measure(empty, {})
        assert found.value is None and found.row["flag"] == "no_valid_answer"
        zero = {**BASE, "where": {"model": "beta"}, "divided_by": {"column": "zero"}}
        with pytest.raises(DataError, match="no column 'zero'"):
            reader.measure(zero, {})
        none = {"file": "cells.csv", "where": {"model": "beta"}, "column": "n"}
        none["divided_by"] = {"where": {"model": "alpha", "shots": 4}}
        with pytest.raises(MissingValueError, match="division by zero"):
            reader.measure(none, {})

    def test_pairs_stand_in_either_order(self, reader: Reader) -> None:
        wanted = {
            "file": "pairs.csv",
            "where": {"a": "$x", "b": "$y"},
            "column": "wins_a",
            "swap": ["a", "b"],
            "swapped": {"column": "wins_b"},
        }
        assert reader.measure(wanted, {"x": "alpha", "y": "beta"}).value == 7
        assert reader.measure(wanted, {"x": "beta", "y": "alpha"}).value == 2
        signed = {**wanted, "column": "gap", "swapped": {"sign": -1}}
        assert reader.measure(signed, {"x": "beta", "y": "alpha"}).value == -0.5
        with pytest.raises(MissingValueError, match="a not in this run: c"):
            reader.measure(wanted, {"x": "c", "y": "alpha"})


class TestReplay:
    LINES = "model,shot,x,source\nAlpha!,0,{},Toy Table 1\n"

    def closing(self, results: Path, cell: str, quantity: dict[str, Any], **entry: Any) -> Any:
        entry["quantities"] = {"x": {**EMA, **quantity}}
        (row,) = compare(results, self.LINES.format(cell), entry, "replay")
        return row

    def test_only_what_margins_determine_must_close(self, results: Path) -> None:
        for evidence in reproduction.CLOSED:
            assert self.closing(results, "28.7", {"evidence": evidence})["closes"] == "yes"
            assert self.closing(results, "28.8", {"evidence": evidence})["closes"] == "no"
        for evidence in ("not determined", "not replayed"):
            assert self.closing(results, "28.8", {"evidence": evidence})["closes"] == ""
        assert one(results, "28.8", {**EMA, "evidence": "determined"})["evidence"] == ""

    def test_a_value_that_is_missing_does_not_close(self, results: Path) -> None:
        entry = {"quantities": {"x": {**EMA, "evidence": "determined"}}}
        (row,) = compare(results, "model,shot,x,source\nAlpha!,4,1.0,Toy\n", entry, "replay")
        assert (row["status"], row["closes"]) == ("missing", "no")

    def test_resampled_figures_close_within_their_bound(self, results: Path) -> None:
        drawn = {"evidence": "resampled", "within": {"items": 1, "of": "n"}}
        near = self.closing(results, "29.0", drawn)
        assert (near["within"], near["closes"]) == (0.3, "yes")
        assert self.closing(results, "29.1", drawn)["closes"] == "no"
        assert self.closing(results, "29.1", {**drawn, "within": 0.4})["closes"] == "yes"

    def test_exceptions(self, results: Path) -> None:
        exceptions = [{"quantity": "x", "when": {"model": "alpha"}, "reason": "a tie"}]
        row = self.closing(results, "28.8", {"evidence": "determined"}, exceptions=exceptions)
        assert (row["closes"], row["reason"]) == ("excepted", "a tie")
        row = self.closing(results, "28.7", {"evidence": "determined"}, exceptions=exceptions)
        assert row["closes"] == reproduction.NEEDLESS

    def test_evidence_depends_on_the_row(self, results: Path) -> None:
        cases = [{"when": {"shot": 4}, "is": "determined"}, {"is": "not determined"}]
        assert self.closing(results, "28.7", {"evidence": cases})["evidence"] == "not determined"
        only = [{"when": {"shot": 4}, "is": "determined"}]
        assert self.closing(results, "28.7", {"evidence": only})["evidence"] == "not replayed"


class TestRowsAsQuantities:
    def entry(self, **rows: Any) -> dict[str, Any]:
        return {"keys": ["key"], "names": {}, "measured": {}, "values": "value", "rows": rows}

    def test_each_has_its_own_selector(self, results: Path) -> None:
        entry = self.entry(
            a={"measured": CELL, "unit": "share", "digits": 2}, b={"not_compared": "lost"}
        )
        rows = compare(results, "key,value,source\na,0.33,Toy 1\nb,2.0,Toy 1\n", entry)
        assert [(r["quantity"], r["status"]) for r in rows] == [
            ("share", "compared"),
            ("figure", "not compared"),
        ]
        assert rows[0]["equal_as_printed"] is True and rows[0]["key"] == "key=a"

    def test_all_rows_and_nothing_else_are_declared(self, results: Path) -> None:
        share = {"measured": CELL, "unit": "share"}
        with pytest.raises(DataError, match="row 3: nothing is declared of 'b'"):
            compare(results, "key,value,source\na,1,T\nb,1,T\n", self.entry(a=share))
        with pytest.raises(DataError, match=r"declared of no figure of the file: \['b'\]"):
            compare(results, "key,value,source\na,1,T\n", self.entry(a=share, b=share))


class TestSummary:
    LINES = (
        "model,shot,x,word,source\nAlpha!,0,28.7,almost,Toy Table 1 (of which)\n"
        "Beta?,4,33.4,almost,Toy Table 1 (of which)\nBeta?,0,1.0,almost,Toy Figure 2\n"
    )

    def frame(self, results: Path, kind: str = "full") -> pd.DataFrame:
        ema = {**EMA, "label": HOSTILE, "low": "low", "high": "high", "evidence": "determined"}
        entry = {"quantities": {"x": ema, "word": {"measured": "band", "unit": "words"}}}
        return pd.DataFrame(compare(results, self.LINES, entry, kind))

    def test_a_row_for_each_table_and_quantity(self, results: Path) -> None:
        table = reproduction_summary.build("Toy", "toy", self.frame(results), context())
        assert [row.stub for row in table.rows] == [
            ("Table 1", HOSTILE),
            ("Table 1", "word"),
            ("Figure 2", HOSTILE),
            ("Figure 2", "word"),
        ]
        first, words, none, _ = ([cell.printed for cell in row.cells] for row in table.rows)
        assert first == ["2", "2", "1", "1/2", "0.06", "0.07", "0"]
        assert words[2:6] == ["2", "–", "–", "–"] and none[1:] == ["0", "–", "–", "–", "–", "11"]
        assert table.notes[1:] == ("1 Most of these: not evaluated together in this run.",)
        assert (
            "Of 6 published figures 4 are compared; 3 of these print as published" in table.caption
        )

    def test_a_replay_says_whether_it_closes(self, results: Path) -> None:
        frame = self.frame(results, "replay")
        table = reproduction_summary.build("Toy", "toy", frame, context("replay"))
        assert table.stub[-1] == "Evidence" and table.rows[0].stub[-1] == "determined"
        assert "Of 3 that the margins determine 1 close, 0 are exceptions" in table.caption
        assert "2 are left open" in table.caption

    def test_hostile_words_stay_words(self, results: Path) -> None:
        table = reproduction_summary.build("Toy", "toy", self.frame(results), context())
        assert r"\input{" not in to_latex(table) and "<script>" not in to_html(table)
        assert "passwd" in to_latex(table) and "passwd" in to_html(table)

    def test_the_plot_or_why_there_is_none(self, results: Path) -> None:
        frame = self.frame(results)
        with figures.style():
            drawing = reproduction_summary.draw({"Toy": frame, "Other": frame.head(0)}, context())
            empty = reproduction_summary.draw({"Toy": frame.head(0)}, context())
        assert not drawing.reason and "2 of Toy" in drawing.caption
        assert "Of Other none is compared" in drawing.caption
        (axes,) = drawing.figure.axes
        assert axes.lines[1].get_xdata().tolist() == [28.7, 33.4]
        assert empty.reason == "No published percentage or share is compared in this run."
        assert empty.figure.axes[0].texts[0].get_text() == empty.reason

    def test_shares_are_plotted_as_percent_and_counts_are_not(self, results: Path) -> None:
        frame = self.frame(results)
        frame.loc[0, ["unit", "published", "measured"]] = ["share", "0.28", 0.2875]
        frame.loc[2, "unit"] = "count"
        found = reproduction_summary.points(frame)
        assert found["published"].tolist() == pytest.approx([28.0])


def test_rule_scripts_write_the_same_bytes(results: Path) -> None:
    compare(
        results,
        TestSummary.LINES.replace(",word", "").replace(",almost", ""),
        {"quantities": {"x": EMA}},
    )
    declared = results.parent / "toy.yaml"
    entry = {
        "published": "toy.csv",
        "keys": ["model", "shot"],
        "names": {"model": "models"},
        "measured": WHERE,
        "quantities": {"x": EMA},
    }
    declared.write_text(yaml.safe_dump({"title": "Toy", "files": [entry]}))
    names = results.parent / "names.csv"
    names.write_text("published,model\nAlpha!,alpha\nBeta?,beta\n")
    written = []
    for attempt in ("one", "two"):
        out = results.parent / attempt
        paths = {f: str(out / f"toy.{f}") for f in ("csv", "tex", "html")}
        plot = {f: str(out / f"plot.{f}") for f in ("pdf", "png", "tex")}
        compare_published.main(
            SimpleNamespace(
                input=SimpleNamespace(
                    declaration=str(declared),
                    names=[str(names)],
                    statistics=[results / "cells.csv"],
                ),
                output=SimpleNamespace(**paths),
                params=SimpleNamespace(
                    benchmark="toy",
                    context=PARAMS,
                    published=str(results.parent / "published"),
                    results=str(results),
                ),
            )
        )
        gather_reproduction.main(
            SimpleNamespace(
                input={"toy": paths["csv"]},
                output=SimpleNamespace(**plot, tables=str(out / "tables.tex")),
                params=SimpleNamespace(titles={"toy": "Toy"}, context=PARAMS),
            )
        )
        written.append({file.name: file.read_bytes() for file in sorted(out.iterdir())})
    assert written[0] == written[1] and len(written[0]) == 7
    assert rb"\showresult{reproduction/toy}" in written[0]["tables.tex"]
    rows = files.read_csv(results.parent / "one" / "toy.csv")
    assert rows["status"].tolist() == ["compared", "compared", "missing"]
