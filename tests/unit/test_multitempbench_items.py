from collections import Counter
from datetime import date
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multitempbench_material import (
    CALENDARS,
    OPTIONS,
    QUESTIONS,
    build,
    own_items,
    own_questions,
    own_translations,
    question,
)

from scripts.dates import formats
from scripts.dates.formats import Options, Written
from scripts.files import DataError, read_csv, read_records, write_records
from scripts.judging import answer_words
from scripts.judging.date_judge import judge_item
from scripts.multitempbench import build_items as rule
from scripts.multitempbench import items as module
from scripts.multitempbench.items import (
    ANSWER_OUTSIDE,
    DATE_OUTSIDE,
    UNBUILT_COLUMNS,
    build_items,
    fill,
    wordings,
)
from scripts.multitempbench.questions import PLACEHOLDER
from scripts.multitempbench.tasks import FORMATS, LANGUAGES, TASKS
from scripts.multitempbench.translation import source_rows
from scripts.multitempbench.translation_rows import Translation
from scripts.records import Item

STRICT = Options(hijri_outside_range="refuse")


@pytest.mark.parametrize("task", TASKS)
def test_every_question_in_every_language_and_format(task):
    built = own_items(task)
    count = sum(each.task == task for each in own_questions())
    assert built.unbuilt == [] and len(built.items) == count * len(LANGUAGES) * len(FORMATS)
    assert len({item.item_id for item in built.items}) == len(built.items)
    cells = Counter((i.factors["language"], i.factors["format"]) for i in built.items)
    assert set(cells.values()) == {count} and len(cells) == 20
    calendars = {(i.factors["language"], i.factors["format"]): i for i in built.items}
    for (language, form), item in calendars.items():
        expected = formats.calendar_of(language, form)
        assert item.factors["calendar"] == expected
        source = {"gregorian": "gregorian", "hijri": "ummalqura", "lunar": "lunar"}[expected]
        assert item.factors["calendar_source"] == source


@pytest.mark.parametrize("task", TASKS)
def test_the_question_holds_what_its_parts_say(task):
    for item in own_items(task).items:
        text, form = item.inputs["question"], item.factors["format"]
        assert not PLACEHOLDER.search(text) and "{" not in text
        for each in item.inputs["dates"]:
            assert each["text"] in text
            found = formats.read(each["text"], item.factors["language"], form, OPTIONS)
            assert found.isoformat() == each["iso"]
        assert all(clock in text for clock in item.inputs["times"])
        assert item.source["name"] == "own_questions" and item.source["row"].startswith(task)


@pytest.mark.parametrize("task", TASKS)
def test_gold_answers(task):
    for item in own_items(task).items:
        gold, language = item.gold, item.factors["language"]
        assert set(gold) == {"answer", "kind", "accepted", "unit", "aliases"}
        assert gold["accepted"] == [gold["answer"]] and isinstance(gold["answer"], str)
        assert gold["aliases"] and len(set(gold["aliases"])) == len(gold["aliases"])
        assert (gold["unit"] is not None) == (gold["kind"] == "number")
        if gold["kind"] == "date":
            day = date.fromisoformat(gold["answer"])
            for form in FORMATS:
                assert formats.write(day, language, form, OPTIONS).text in gold["aliases"]
        if gold["kind"] == "relation":
            assert answer_words.relation_word(language, gold["answer"]) == gold["aliases"][0]


def test_examples_as_they_are_asked():
    items = {
        (i.factors["language"], i.factors["format"]): i.inputs["question"]
        for i in own_items("date_arithmetic").items
        if i.source["row"] == "date_arithmetic-02"
    }
    assert items["en", "calendar"] == "Which date is exactly 90 days before 29th of May 2024?"
    assert items["de", "slash"] == "Welches Datum liegt genau 90 Tage vor dem 29.05.2024?"
    assert items["zh", "calendar"] == "二零二四年四月廿二之前整整90天是哪一天？"
    assert "\u200e2024-05-29\u200e" in items["ar", "iso"]
    assert "٢٩ مايو ٢٠٢٤" in items["ar", "long"] and "هـ" in items["ar", "calendar"]
    assert items["ha", "calendar"].endswith("kafin 21 Zulka'ida 1445 AH?")


def test_dates_outside_a_calendar_are_counted_not_built():
    early = question(dates=("1352-03-02",))
    built = build([early], languages=LANGUAGES)
    assert built.unbuilt == [
        dict(zip(UNBUILT_COLUMNS, (early.question_id, "zh", "calendar", DATE_OUTSIDE), strict=True))
    ]
    assert len(built.items) == 19
    sources = {i.factors["calendar_source"] for i in built.items}
    assert sources == {"gregorian", "tabular_civil"}
    strict = build([early], STRICT, languages=LANGUAGES)
    assert {(row["language"], row["format"]) for row in strict.unbuilt} == {
        ("ar", "calendar"),
        ("ha", "calendar"),
        ("zh", "calendar"),
    }


def test_answers_outside_a_calendar_are_counted_too():
    late = question(dates=("2077-11-10",))
    built = build([late], STRICT, languages=("ar", "zh"), forms=("long", "calendar"))
    assert [(r["language"], r["format"], r["reason"]) for r in built.unbuilt] == [
        ("ar", "calendar", ANSWER_OUTSIDE)
    ]
    assert len(built.items) == 3
    assert build([late], languages=("ar",)).unbuilt == []


def test_the_weaker_table_names_the_item():
    two = question(
        {"kind": "difference", "from": "d1", "to": "d2", "unit": "days"},
        ("1924-07-31", "1924-08-01"),
        "How many days from {d1} to {d2}?",
    )
    [item] = build([two], languages=("ha",), forms=("calendar",)).items
    assert [each["calendar_source"] for each in item.inputs["dates"]] == [
        "tabular_civil",
        "ummalqura",
    ]
    assert item.factors["calendar_source"] == "tabular_civil"


def test_a_question_without_its_translation_is_an_error():
    with pytest.raises(DataError, match="has no de translation"):
        build_items(
            [question()],
            {"en": source_rows([question()])},
            "date_arithmetic",
            languages=["en", "de"],
            forms=FORMATS,
            options=OPTIONS,
        )


def test_a_date_that_is_read_back_as_another_is_refused(monkeypatch):
    monkeypatch.setattr(formats, "read", lambda *_: date(2024, 10, 2))
    with pytest.raises(DataError, match="reads as 2024-10-02"):
        build([question()])


def test_what_a_placeholder_stands_for_is_no_placeholder():
    written = [Written("{d2} {t1}", "gregorian", "gregorian"), Written("b", "gregorian", "x")]
    assert fill("{d1}-{d2}-{d1} {t1}", written, ["12:00"]) == "{d2} {t1}-b-{d2} {t1} 12:00"
    with pytest.raises(DataError, match="nothing stands for"):
        fill("{d3}", written, [])


@given(st.lists(st.sampled_from(["{d1}", "{d2}", "{t1}", " und ", "؟", "日"])))
def test_filling_replaces_each_by_its_own(parts):
    values = {"{d1}": "01.02.2003", "{d2}": "٣ مايو", "{t1}": "07:00"}
    written = [Written(values["{d1}"], "g", "g"), Written(values["{d2}"], "g", "g")]
    expected = "".join(values.get(part, part) for part in parts)
    assert fill("".join(parts), written, [values["{t1}"]]) == expected


def test_inserting_a_question_changes_no_other_item():
    first, second = question(), question(dates=("2020-01-01",))
    alone = [item.item_id for item in build([first]).items]
    assert [item.item_id for item in build([second, first]).items][4:] == alone


def test_only_the_task_asked_for_is_built():
    mixed = [question(), question(task="relation", text="What is 21 days after {d1}?")]
    assert {item.task for item in build(mixed).items} == {"date_arithmetic"}


def test_every_accepted_value_has_its_wordings():
    answer = {"kind": "date", "value": "2024-03-02", "accepted": ["2024-03-03", "2024-03-02"]}
    [item] = build([question(answer=answer)], forms=("iso",)).items
    assert item.gold["accepted"] == ["2024-03-02", "2024-03-03"]
    assert {"02 March 2024", "3rd of March 2024"} <= set(item.gold["aliases"])


@pytest.mark.parametrize("unit", ["year", "", None, "days"])
def test_units_are_units_of_time(unit):
    answer = {"kind": "number", "value": 2036, "accepted": [], "unit": unit}
    [item] = build([question({"kind": "none"}, answer=answer)], forms=("iso",)).items
    assert item.gold["unit"] == ("days" if unit == "days" else None)
    assert ("2036 days" in item.gold["aliases"]) == (unit == "days")
    assert judge_item(item, "2036").verdict == "correct"


@pytest.mark.parametrize(
    ("kind", "value", "unit", "language", "expected"),
    [
        ("number", "354", "days", "en", {"354", "354 days"}),
        ("number", "354", "days", "zh", {"354", "354天"}),
        ("number", "354", "days", "ar", {"354", "٣٥٤", "٣٥٤ يوما"}),
        ("number", "7", "", "ha", {"7"}),
        ("number", "7", None, "ha", {"7"}),
        ("yes_no", "no", None, "de", {"nein"}),
        ("date_time", "2024-02-28T22:30", None, "en", {"2024-02-28T22:30", "28/02/2024 10:30 PM"}),
        ("date_time", "2024-02-28T00:05", None, "en", {"28 February 2024 12:05 AM"}),
        ("date_time", "2024-02-28T12:00", None, "en", {"28 February 2024 12:00 PM"}),
        (
            "date_time",
            "2024-02-28T22:30",
            None,
            "de",
            {"28. Februar 2024 22:30", "22:30 28.02.2024"},
        ),
    ],
)
def test_wordings(kind, value, unit, language, expected):
    assert expected <= set(wordings(kind, value, unit, language, OPTIONS))


def test_the_hausa_hybrid_is_built_where_it_names_one_day():
    hybrid = Options(hausa_hybrid=True)
    [item] = build([question()], hybrid, languages=("ha",), forms=("calendar",)).items
    assert item.inputs["dates"][0]["text"] == "29 Rajab 2024"


@pytest.fixture
def job(tmp_path):
    paths = []
    for language, rows in own_translations().items():
        paths.append(tmp_path / f"{language}.jsonl")
        write_records(paths[-1], rows)

    def make(name, questions=QUESTIONS):
        return SimpleNamespace(
            input=SimpleNamespace(questions=questions, translations=paths),
            output=SimpleNamespace(
                item_files=tmp_path / f"{name}.jsonl", unbuilt=tmp_path / f"{name}.csv"
            ),
            params=SimpleNamespace(
                task="relation",
                languages=list(own_translations()),
                formats=list(FORMATS),
                calendars=CALENDARS,
            ),
        )

    return make


def test_rule_writes_the_same_bytes_twice(job, tmp_path):
    for name in "ab":
        rule.main(job(name))
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    items = read_records(tmp_path / "a.jsonl", Item)
    by_id = {item.item_id: item for item in own_items("relation").items}
    assert len(items) == len(by_id) and all(by_id[i.item_id] == i for i in items)
    assert (tmp_path / "a.csv").read_text() == ",".join(UNBUILT_COLUMNS) + "\n"


def test_rule_counts_what_is_not_built(job, tmp_path):
    early = question(task="relation", dates=("1800-06-01",))
    questions = tmp_path / "q.jsonl"
    write_records(questions, [early])
    work = job("c", questions)
    for path, language in zip(work.input.translations, work.params.languages, strict=True):
        write_records(path, [Translation(early.question_id, language, early.text, "t", False)])
    rule.main(work)
    frame = read_csv(tmp_path / "c.csv")
    assert list(frame["reason"]) == [module.DATE_OUTSIDE] and list(frame["language"]) == ["zh"]
    assert len(read_records(tmp_path / "c.jsonl", Item)) == 19
