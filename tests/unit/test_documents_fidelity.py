"""Error rates by their definition, worked by hand and against an independent alignment."""

import json
from types import SimpleNamespace

import pytest
from documents_pdfs import EMBEDDED, ENGINES
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.fidelity import (
    COLUMNS,
    cells_right,
    character_error_rate,
    dates_right,
    expected_rows,
    full_text,
    page_row,
    word_error_rate,
)
from scripts.documents.reading import read_pdf
from scripts.files import DataError, read_csv, write_json, write_records
from scripts.tide.documents import measure_fidelity as rule


def edits(a, b):  # type: ignore[no-untyped-def]
    """Least edits by the textbook recurrence (Wagner and Fischer 1974)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def test_word_error_rate_by_hand() -> None:
    # One substitution, one deletion, one insertion over six words.
    truth = "the duty is ten per cent"
    assert word_error_rate(truth, "the duty was per cent now") == pytest.approx(3 / 6)
    assert word_error_rate(truth, truth) == 0.0
    assert word_error_rate(truth, "") == 1.0
    assert word_error_rate("one", "one two three") == 2.0
    assert word_error_rate("", "") is None
    assert word_error_rate(" \n", "text") is None


def test_character_error_rate_by_hand() -> None:
    assert character_error_rate("abcd", "abXd") == 0.25
    assert character_error_rate("a b", "ab") == pytest.approx(1 / 3)
    assert character_error_rate("", "x") is None


def test_spelling_of_one_letter_and_white_space_do_not_count() -> None:
    assert word_error_rate("হ\u09df কো", "হয\u09bc\n\n কো\u200b ") == 0.0
    assert character_error_rate("হ\u09df", "হয\u09bc") == 0.0
    assert word_error_rate("ক্রমিক", "ক্রিমক") == 1.0


TEXT = st.lists(st.sampled_from(["a", "b", "ab", "ক", "কি"]), min_size=1, max_size=8).map(" ".join)


@given(TEXT, TEXT)
def test_rates_agree_with_the_textbook_recurrence(truth: str, text: str) -> None:
    words = truth.split()
    assert word_error_rate(truth, text) == pytest.approx(edits(words, text.split()) / len(words))
    assert character_error_rate(truth, text) == pytest.approx(edits(truth, text) / len(truth))


TABLE = {"bbox": [0, 20, 100, 40], "rows": [["No.", "Rate"], ["1", ""], ["2", "10"]]}
LINES = [{"text": "Above", "bbox": [0, 0, 9, 9]}, {"text": "Below", "bbox": [0, 50, 9, 60]}]


def test_tables_stand_among_the_lines() -> None:
    assert full_text(LINES, [TABLE]) == "Above\nNo. Rate\n1\n2 10\nBelow"
    assert full_text([], [TABLE]) == "No. Rate\n1\n2 10"
    assert full_text(LINES, []) == "Above\nBelow"


TRUTH = {
    "document": "d",
    "tables": [
        {
            "page_start": 1,
            "page_end": 2,
            "headers": ["No.", "Rate"],
            "rows": [["1", "5"], ["2", "10"]],
        }
    ],
    "dates": [
        {"text": "5 May 2010", "page": 1},
        {"text": "5 May 2010", "page": 1},
        {"text": "6 May", "page": 2},
    ],
}


def test_rows_that_a_page_should_have() -> None:
    page = {"page": 1, "text": "Head\nNo. Rate\n1 5"}
    assert expected_rows(TRUTH, page) == [["No.", "Rate"], ["1", "5"]]
    assert expected_rows(TRUTH, {"page": 2, "text": "No. Rate\n2 10"}) == [
        ["No.", "Rate"],
        ["2", "10"],
    ]
    assert expected_rows(TRUTH, {"page": 3, "text": "No. Rate"}) == []


def test_cells_and_dates_that_are_right() -> None:
    expected = [["1", "5"], ["2", "10"]]
    assert cells_right(expected, [{"rows": [["2", "10"], ["1", "5"]]}]) == 4
    assert cells_right(expected, [{"rows": [["1", "10"]]}]) == 1
    assert cells_right(expected, [{"rows": [["5", "1"]]}, {"rows": []}]) == 0
    assert cells_right([], [TABLE]) == 0
    assert dates_right(["5 May 2010", "5 May 2010"], "on 5 May\n2010 only") == 1
    assert dates_right(["5 May 2010"], "15 May 2O10") == 0


def test_a_flagged_page_has_no_rate() -> None:
    page = {"page": 1, "layer": "image", "text": "Head\nNo. Rate\n1 5"}
    row = page_row(TRUTH, page, "chosen", [], [], status="needs_ocr")
    assert (row["wer"], row["cer"]) == (None, None)
    assert (row["words"], row["cells"], row["cells_right"], row["dates"]) == (5, 4, 0, 2)
    assert tuple(row) == COLUMNS
    # An engine that gives nothing is wrong throughout.
    assert page_row(TRUTH, page, "pdfium", [], [], status="")["wer"] == 1.0


class Named(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__


def test_the_rule_measures_every_engine_and_the_choice(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    truths = [EMBEDDED / "truth" / f"{name}.json" for name in ("sro-110-2011", "sro-125-2023")]
    if not all(path.is_file() for path in truths):
        pytest.skip("the embedded corpus is not built")
    pages, pdfs = [], []
    for path in truths:
        pdf = EMBEDDED / f"{path.stem}.pdf"
        target = tmp_path / f"{path.stem}.pages.jsonl"
        write_records(target, read_pdf(pdf, path.stem, ENGINES).pages)
        pages.append(str(target))
        pdfs.append(str(pdf))
    write_json(tmp_path / "other.json", {**TRUTH, "document": "other", "pages": []})
    inputs = Named(pages=pages, pdfs=pdfs, truth=[*map(str, truths), str(tmp_path / "other.json")])
    work = SimpleNamespace(
        input=inputs,
        output=Named(fidelity=tmp_path / "fidelity.csv"),
        params=Named(engines=ENGINES),
    )
    rule.main(work)
    table = read_csv(work.output.fidelity)
    assert tuple(table.columns) == COLUMNS
    assert len(table) == 4 * (len(ENGINES) + 1)
    chosen = table[table["engine"] == "chosen"]
    assert list(chosen["status"]) == ["repaired", "repaired", "repaired", "needs_ocr"]
    assert chosen["wer"].max() == 0.0
    assert int(chosen["wer"].isna().sum()) == 1
    assert table[table["engine"] == "pymupdf"]["wer"].max() > 0.3
    assert "no pages of other in this run" in capsys.readouterr().out
    # Without PDFs only the choice is measured; without truth there is an empty table.
    work.input = Named(pages=pages, truth=[str(truths[0])])
    rule.main(work)
    assert set(read_csv(work.output.fidelity)["engine"]) == {"chosen"}
    work.input = Named(pages=pages)
    rule.main(work)
    assert len(read_csv(work.output.fidelity)) == 0


def test_a_page_of_the_truth_that_was_not_read_is_an_error(tmp_path) -> None:  # type: ignore[no-untyped-def]
    truth = {**TRUTH, "pages": [{"page": 1, "layer": "image", "text": "x"}]}
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"nothing")
    with pytest.raises(DataError, match="page 1 of the truth was not read"):
        rule.rows_of(json.loads(json.dumps(truth)), [], str(broken), ENGINES)
