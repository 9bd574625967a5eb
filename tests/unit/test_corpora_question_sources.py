"""Readers of TRAM, Test of Time and FreshBench on small files, whole and broken."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from scripts.corpora import tram
from scripts.corpora.freshbench import read_freshbench
from scripts.corpora.sources import CorpusError, verify
from scripts.corpora.test_of_time import read_test_of_time
from scripts.corpora.tram import read_arithmetic, read_member, read_relations
from scripts.files import DataError

SAQ = "Question,Answer,Category\nWhat is it?, 5/4/2024 ,Date Computation\n"
MCQ = (
    "Question,Option A,Option B,Option C,Option D,Answer,Category\n"
    "What is it?,a,b,c,d,C,Date Computation\n"
)
RELATION = (
    "Question,Option A,Option B,Option C,Answer,Source\n"
    '"He said ""no"".\nWhat, then?",BEFORE,AFTER,DURING,B,TempEval-3\n'
)


def archive(path: Path, **members: str | bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as handle:
        for name, content in members.items():
            handle.writestr(name.replace("__", "/") + ".csv", content)
    return path


def test_short_answers_are_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", data__arithmetic_saq=SAQ, arithmetic_mcq=MCQ)
    [row] = read_arithmetic(path)
    assert (row.row, row.question, row.answer) == (1, "What is it?", "5/4/2024")
    assert row.category == "Date Computation"


def test_an_older_archive_has_options_only(tmp_path: Path) -> None:
    [row] = read_arithmetic(archive(tmp_path / "a.zip", arithmetic=MCQ))
    assert row.answer == "c"


def test_relations_keep_line_ends_inside_a_cell(tmp_path: Path) -> None:
    [row] = read_relations(archive(tmp_path / "r.zip", relation=RELATION))
    assert row.question == 'He said "no".\nWhat, then?'
    assert row.label == "AFTER"
    assert row.options == {"A": "BEFORE", "B": "AFTER", "C": "DURING"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SAQ.replace("Category", "Kind", 1), "line 1: columns"),
        (SAQ + "only one cell\n", "line 3: another number of cells"),
        (SAQ + "a,b,c,d\n", "line 3: another number of cells"),
        (SAQ + 'a,"b"c,d\n', "line 3: not CSV"),
        ("", "line 1: columns"),
        (b"Question,Answer,Category\n\xff,b,c\n", "not UTF-8"),
    ],
)
def test_broken_tables_name_the_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_arithmetic(archive(tmp_path / "a.zip", arithmetic_saq=content))


def test_an_answer_that_is_no_option(tmp_path: Path) -> None:
    path = archive(tmp_path / "r.zip", relation=RELATION.replace(",B,", ",E,"))
    with pytest.raises(DataError, match="row 1: answer 'E' is none of the options A, B, C"):
        read_relations(path)


def test_archives_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "b.zip"
    broken.write_bytes(b"PK not really")
    with pytest.raises(DataError, match="not a readable zip"):
        read_arithmetic(broken)
    whole = archive(tmp_path / "a.zip", arithmetic_saq=SAQ)
    with pytest.raises(DataError, match=r"holds none of relation\.csv"):
        read_relations(whole)
    cut = tmp_path / "c.zip"
    data = bytearray(whole.read_bytes())
    data[60] ^= 0xFF
    cut.write_bytes(data)
    with pytest.raises(DataError, match="not a readable zip"):
        read_arithmetic(cut)
    monkeypatch.setattr(tram, "_UNPACKED_LIMIT", 10)
    with pytest.raises(DataError, match="unpacks to more than 10 bytes"):
        read_member(whole, ["arithmetic_saq.csv"])


def test_labels_are_json_or_python_literals(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    rows = [
        {"question_type": "trick", "question": "q", "label": "{'answer': '30'}"},
        {"question_type": "multi_op", "question": "r", "label": '{"X": 2.0, "Y": 4}'},
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    first, second = read_test_of_time(path)
    assert (first.row, first.label) == (1, {"answer": "30"})
    assert second.label == {"X": 2.0, "Y": 4}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "expected a list"),
        ("[1]", "row 1: needs the texts"),
        ('[{"question_type": "a", "question": "b", "label": 3}]', "row 1: needs the texts"),
        ('[{"question_type": "a", "question": "b", "label": "oops("}]', "row 1: the label is no"),
        ('[{"question_type": "a", "question": "b", "label": "__import__(\'os\')"}]', "no JSON"),
        ('[{"question_type": "a", "question": "b", "label": "[1, 2]"}]', "row 1: the label is no"),
        ('[{"question_type": "a", "question": "b", "label": "{1: 2}"}]', "row 1: the label is no"),
        ("[", "not valid JSON"),
    ],
)
def test_broken_test_of_time_names_the_row(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_test_of_time(path)


def test_a_label_as_long_as_a_book_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    label = "[" * 20_000
    path.write_text(json.dumps([{"question_type": "a", "question": "b", "label": label}]))
    with pytest.raises(DataError, match="20000 characters"):
        read_test_of_time(path)


FORECAST = {
    "Question": "This Question is proposed on 2024-07-05. Will it rain before 7 October 2024?",
    "Started_time": "2024-07-05",
    "Closed_time": "2024-10-07",
    "Challenges_list": [],
    "Tags_list": [],
    "Description": None,
    "Possible_Answers_dict": {"Yes": {"Correct?": False, "Final Crowd Forecast": "1%"}},
    "choices": ["Yes", "No"],
    "target": "No",
}


def forecasts(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_freshbench(tmp_path: Path) -> None:
    path = forecasts(tmp_path / "gjo.json", FORECAST, FORECAST | {"target": None})
    first, second = read_freshbench(path)
    assert first.question == "Will it rain before 7 October 2024?"
    assert (first.row, first.choices, first.target) == (1, ("Yes", "No"), "No")
    assert first.closed.isoformat() == "2024-10-07"
    assert second.target is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Question": " "}, "line 1: needs the text Question"),
        ({"choices": "Yes"}, "line 1: needs choices"),
        ({"target": "Maybe"}, "line 1: target 'Maybe'"),
        ({"Closed_time": "Oct 07, 2024"}, "line 1: Closed_time"),
    ],
)
def test_broken_freshbench_names_the_line(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_freshbench(forecasts(tmp_path / "gjo.json", FORECAST | change))


def test_a_file_that_is_not_fetched_is_put_there_by_hand(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="put it there by hand"):
        verify(tmp_path / "gjo.json", {"path": "data/raw/freshbench/gjo.json"})
