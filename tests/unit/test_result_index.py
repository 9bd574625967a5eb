"""The index: every number, table and figure with its file, rule and checksums."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts import files
from scripts.files import DataError
from scripts.publishing import make_index, result_index, tables, web
from scripts.publishing.numbers import Collection, Number
from scripts.publishing.origins import Ledger, checksum


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    checksum.cache_clear()
    files.write_text("results/b/statistics/x.csv", "model,ema\na,0.5\n")
    files.write_text("results/b/scores.parquet", "scores")
    files.write_text("results/b/tables/t_one.csv", "model\na\n")
    files.write_text("results/b/tables/t_one.tex", r"\caption{T}\label{tab:t-one}")
    files.write_text("results/b/figures/f.pdf", "figure")
    files.write_text("results/b/figures/f.tex", r"\caption{F}\label{fig:f}")
    return Path("results")


ORIGINS: dict[str, dict[str, Any]] = {
    "results/b/statistics/x.csv": {"rule": "b_statistics", "inputs": ["results/b/scores.parquet"]},
    "results/b/tables/t_one.csv": {
        "rule": "b_table",
        "inputs": ["results/b/statistics/x.csv", "data/gone.csv"],
    },
    "results/b/figures/f.pdf": {
        "rule": "b_figure",
        "inputs": [f"results/b/statistics/{name}.csv" for name in "uvwxyz"],
    },
}
COLLECTION = Collection(
    (
        Number("Best", 0.5, "50.0", "b/statistics/x.csv", "ema", {"model": "a"}, (2,)),
        Number("Seed", 42, "42", "configuration", "seed"),
        Number("Lost", None, "–", "b/statistics/x.csv", "ema", {"model": "c"}, (), "no row"),
        Number("Many", 9, "9", "b/statistics/x.csv", "", {}, tuple(range(2, 11))),
    ),
    {"hasbest": True},
)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_number_says_rule_and_checksums(results: Path) -> None:
    macros = COLLECTION.to_json(Ledger(ORIGINS, results).made)["macros"]
    assert macros["Best"]["rule"] == "b_statistics"
    assert macros["Best"]["sha256"] == sha256("model,ema\na,0.5\n")
    assert macros["Best"]["inputs"] == {"results/b/scores.parquet": sha256("scores")}
    assert "rule" not in macros["Seed"]


def test_the_checksum_of_what_is_gone_is_none(results: Path) -> None:
    made = Ledger(ORIGINS, results).made("b/tables/t_one.csv")
    assert made["inputs"]["data/gone.csv"] is None
    assert Ledger({}, results).made("b/tables/none.csv") == {
        "rule": None,
        "sha256": None,
        "inputs": {},
    }


def test_every_row_has_its_anchor_and_links_back(results: Path) -> None:
    ledger = Ledger(ORIGINS, results)
    table = result_index.numbers_table(COLLECTION.to_json(ledger.made)["macros"])
    source = tables.to_latex(table)
    assert r"\indexanchor{number:Best}Best & 50.0 & \pageof{number:Best}" in source
    assert [row.stub[0] for row in table.rows] == ["Best", "Lost", "Many", "Seed"]
    places = [row.cells[2].text for row in table.rows]
    assert places[0] == "b/statistics/x.csv, row 2, ema"
    assert places[1] == "b/statistics/x.csv, no row, ema"
    assert places[2] == "b/statistics/x.csv, row 2, 3, 4, 5 …"
    assert places[3] == "configuration: seed"


def test_tables_and_figures_name_their_data_rule_and_sources(results: Path) -> None:
    shown = result_index.read_shown(
        ["results/b/tables/t_one.tex", "results/b/figures/f.tex"], results
    )
    assert [(one.kind, one.data) for one in shown] == [
        ("figure", "b/figures/f.pdf"),
        ("table", "b/tables/t_one.csv"),
    ]
    table = result_index.results_table(shown, Ledger(ORIGINS, results))
    figure, first = table.rows
    assert figure.cells[4].text.endswith("x.csv and 2 more")
    assert first.cells[4].text == "b/statistics/x.csv; data/gone.csv"
    source = tables.to_latex(table)
    assert r"\indexanchor{result:b/tables/t_one}table & \numberof{tab:t-one}" in source
    # A path breaks at its joints only.
    assert r"t\_\allowbreak{}one.\allowbreak{}csv" in source


def test_a_source_without_a_label_is_an_error(results: Path) -> None:
    files.write_text("results/b/tables/bad.tex", "nothing")
    with pytest.raises(DataError, match=r"bad\.tex: no .label"):
        result_index.read_shown(["results/b/tables/bad.tex"], results)


def test_the_rule_writes_all_forms_and_the_same_bytes_again(results: Path) -> None:
    ledger = Ledger(ORIGINS, results)
    files.write_json("results/paper/numbers.json", COLLECTION.to_json(ledger.made))
    output = {name: f"results/paper/{name}" for name in ("tex", "csv", "html", "results_html")}
    job = SimpleNamespace(
        input=SimpleNamespace(
            numbers="results/paper/numbers.json",
            shown=["results/b/tables/t_one.tex", "results/b/figures/f.tex"],
        ),
        output=SimpleNamespace(**output),
        params=SimpleNamespace(results="results", origins=ORIGINS),
    )
    make_index.main(job)
    first = {path: Path(path).read_bytes() for path in output.values()}
    frame = files.read_csv("results/paper/csv")
    assert list(frame["kind"]) == ["number"] * 4 + ["figure", "table"]
    best = frame[frame["name"] == "Best"].iloc[0]
    assert json.loads(best["inputs"]) == {"results/b/scores.parquet": sha256("scores")}
    assert best["sha256"] == sha256("model,ema\na,0.5\n")
    assert b"index-results" in first["results/paper/tex"]
    make_index.main(job)
    assert first == {path: Path(path).read_bytes() for path in output.values()}


def test_the_page_links_to_the_files(results: Path) -> None:
    ledger = Ledger(ORIGINS, results)
    table = result_index.numbers_table(COLLECTION.to_json(ledger.made)["macros"])
    page = web.to_html(result_index.without_pages(table))
    assert "Page" not in page and "page" not in page.partition("<table>")[2]
    place = "b/<wbr>statistics/<wbr>x.<wbr>csv, row 2, ema"
    assert f'<a href="../b/statistics/x.csv" target="_blank" rel="noopener">{place}</a>' in page
    assert page.count("<a ") == 3  # a setting of the run comes from no file
