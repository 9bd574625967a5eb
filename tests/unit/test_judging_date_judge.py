"""The date judge against answers with the verdicts of a careful reader, and its rules."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.judging.date_judge import judge, judge_item
from scripts.judging.verdicts import VERDICTS, confusion
from scripts.multitempbench import tasks
from scripts.records import Item

CORPUS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "date_answers.jsonl").read_text().splitlines()
]


def gold(kind: str, answer: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "answer": answer, "accepted": [answer], "aliases": [], **fields}


def verdict_of(row: dict[str, Any]) -> str | None:
    return judge(
        row["text"],
        row["gold"],
        row["language"],
        question=row["question"],
        dates=row["dates"],
        times=row["times"],
    ).verdict


def test_corpus_is_large_and_mixed() -> None:
    assert len(CORPUS) >= 200
    assert {row["language"] for row in CORPUS} == set(tasks.LANGUAGES)
    assert {row["kind"] for row in CORPUS} == set(tasks.ANSWER_KINDS)
    assert {row["verdict"] for row in CORPUS} == set(VERDICTS)
    assert len({row["case"] for row in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row["case"])
def test_verdict_of_every_answer(row: dict[str, Any]) -> None:
    found = verdict_of(row)
    if row.get("known_limit"):
        assert found != row["verdict"], "no longer a limit: remove the mark"
    else:
        assert found == row["verdict"], (row["text"], row["gold"])


def test_confusion_with_a_careful_reader() -> None:
    table = confusion([(row["verdict"], str(verdict_of(row))) for row in CORPUS])
    print("rows: reader, columns: judge\n", VERDICTS, "\n", table)
    limits = sum(bool(row.get("known_limit")) for row in CORPUS)
    assert table.sum() == len(CORPUS)
    assert table.trace() == len(CORPUS) - limits
    assert table.trace() / table.sum() > 0.97


@pytest.mark.parametrize(
    ("reply", "kind", "answer", "accepted", "expected"),
    [
        ("The date is 3 December 2014.", "date", "2014-12-27", None, "incorrect"),
        ("Answer: 3 AM on 1352-03-01", "date_time", "1352-03-01T20:00", None, "incorrect"),
        ("Answer: 100", "number", "10", None, "incorrect"),
        ("It is not IS_INCLUDED; it is AFTER", "relation", "during", None, "incorrect"),
        ("Answer: 2014-12-27", "date", "2014-12-27", None, "correct"),
        ("Answer: 27 ديسمبر 2014", "date", "2014-12-27", None, "correct"),
        ("Answer: ٢٧ ديسمبر ٢٠١٤", "date", "2014-12-27", None, "correct"),
        (
            *("Answer: June 29, 1225", "date", "1225-03-06"),
            *(["1225-03-06", "1225-06-29"], "correct"),
        ),
    ],
)
def test_replies_that_substring_scoring_gets_wrong(
    reply: str, kind: str, answer: str, accepted: list[str] | None, expected: str
) -> None:
    right = gold(kind, answer, accepted=accepted or [answer])
    assert judge(reply, right, "en").verdict == expected


def test_never_a_substring() -> None:
    right = gold("date", "2025-04-03", aliases=["3 April 2025", "03/04/2025"])
    for text in ("13 April 2025", "23 April 2025", "103/04/2025", "3 April 20251"):
        assert judge(text, right, "en").verdict == "incorrect", text
    assert judge("3 April 2025", right, "en").route == "whole:alias"


def test_routes_and_values() -> None:
    right = gold("date", "2023-07-03")
    cases = {
        '{"answer": "2023-07-03"}': "json:value",
        "\\boxed{2023-07-03}": "boxed:value",
        "Final answer: 2023-07-03": "final_answer:value",
        "Answer: 2023-07-03": "answer:value",
        "2023-07-03": "whole:value",
        "2 July 2023 is wrong\n3 July 2023": "last_line:value",
        "2 July 2023 + 1 day = 3 July 2023": "conclusion:value",
        "2 July 2023 and 3 July 2023": "whole:contradiction",
        "July 2023": "whole:partial",
        "no idea, it is unknown": "whole:refusal",
        "...": "blank",
        "hello": "whole:no_answer",
    }
    assert {text: judge(text, right, "en").route for text in cases} == cases


@pytest.mark.parametrize(
    ("language", "reply"),
    [
        ("ar", "كان 7 ثم 9. الجواب النهائي: 12"),
        ("ar", "كان 7 ثم 9. الإجابة النهائية هي 12"),
        ("de", "Zuerst 7, dann 9. Die endgültige Antwort ist 12"),
        ("en", "First 7, then 9. The final answer is 12"),
        ("ha", "da 7, da 9. amsar ƙarshe ita ce 12"),
        ("zh", "先是7，然后9。最终答案是12"),
    ],
)
def test_the_final_answer_counts_in_every_language(language: str, reply: str) -> None:
    found = judge(reply, gold("number", "12"), language)
    assert (found.verdict, found.route, found.parsed) == ("correct", "final_answer:value", "12")


def test_a_word_that_begins_like_a_shorter_link_is_read_whole() -> None:
    # "ist" is the link, not "is" and a rest.
    found = judge("Die Antwort ist danach.", gold("relation", "after"), "de")
    assert (found.verdict, found.route) == ("correct", "answer:value")


def test_question_dates_count_only_without_another() -> None:
    right = gold("date", "2023-07-03")
    both = judge("4 May 2023 plus 60 days: 3 July 2023", right, "en", dates=["2023-05-04"])
    assert both.verdict == "correct"
    assert judge("4 May 2023 or 3 July 2023", right, "en", dates=["2023-05-04"]).verdict == (
        "incorrect"
    )
    assert judge("4 May 2023", right, "en", dates=["2023-05-04"]).route == "whole:restated"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (gold("colour", "red"), "known kinds"),
        (gold("date", "3 July 2023"), "no date answer"),
        (gold("number", "many"), "no number"),
        (gold("number", "4", unit="fortnights"), "fortnights"),
        (gold("relation", "sideways"), "no relation answer"),
    ],
)
def test_gold_that_cannot_be_judged(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        judge("x", bad, "en")


def test_judge_item_uses_the_items_own_dates() -> None:
    item = Item.create(
        "multitempbench",
        "date_arithmetic",
        {"language": "de", "format": "iso"},
        {
            "question": "Welches Datum ist 60 Tage nach dem 2023-05-04?",
            "dates": [{"iso": "2023-05-04", "text": "2023-05-04", "calendar_source": "gregorian"}],
            "times": [],
        },
        gold("date", "2023-07-03"),
        {},
    )
    assert judge_item(item, "60 Tage nach dem 2023-05-04 ist der 3.7.2023").verdict == "correct"


@pytest.mark.parametrize("kind", ["date_time", "number", "relation"])
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "1",
            "/",
            "1/2/",
            "12:",
            "answer:",
            "\\boxed{",
            '{"answer":',
            "{",
            "3 july ",
            "or ",
            "年",
        ),
        *(
            "before after ",
            "45 days and ",
            "= ",
            "~~",
            "ﷺ",
            "\\text{",
            "maybe. ",
            "يوم ",
            "-",
            "\n",
        ),
    ],
)
def test_hostile_text_takes_linear_time(kind: str, piece: str) -> None:
    right = {
        "date_time": gold("date_time", "2023-07-03T10:00"),
        "number": gold("number", "45", unit="days"),
        "relation": gold("relation", "after"),
    }[kind]
    text = (piece * 50_000)[:50_000]
    start = time.process_time()
    assert judge(text, right, "ar").verdict in VERDICTS
    assert time.process_time() - start < 3


@given(st.text(max_size=300), st.sampled_from(tasks.LANGUAGES), st.sampled_from(CORPUS))
def test_any_text_gets_a_verdict(text: str, language: str, row: dict[str, Any]) -> None:
    assert judge(text, row["gold"], language).verdict in VERDICTS


@given(st.sampled_from(CORPUS), st.sampled_from(["\u200f", "\u202b", "**", " ", "\n", "\u200b"]))
def test_marks_around_an_answer_change_nothing(row: dict[str, Any], mark: str) -> None:
    if row["text"].strip():
        assert verdict_of({**row, "text": mark + row["text"] + mark}) == verdict_of(row)
