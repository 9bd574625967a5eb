from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from statistics import median
from types import SimpleNamespace

import pytest
import yaml
from multitempbench_material import (
    CALENDARS,
    OPTIONS,
    build,
    own_items,
    own_questions,
    own_requests,
    question,
)

from scripts.dates import formats
from scripts.dates.formats import Options
from scripts.files import DataError, iterate_jsonl, write_records
from scripts.judging import answer_words
from scripts.judging.date_judge import judge_item
from scripts.multitempbench import build_baseline_answers as rule
from scripts.multitempbench.baselines import (
    DAYS_AROUND,
    KINDS,
    baseline_answers,
    dates_in_question,
    majority_value,
    seed_answers,
    solve,
    spoken,
    times_in_question,
    uniform_value,
)
from scripts.multitempbench.curation import Settings, curate
from scripts.multitempbench.source_questions import read_source
from scripts.multitempbench.tasks import FORMATS, LANGUAGES, RELATIONS, TASKS
from scripts.records import Request


def answers(baseline, task, items=None, seed=42):
    items = own_items(task).items if items is None else items
    rows = baseline_answers(baseline, own_requests(task), items, options=OPTIONS, seed=seed)
    assert [row["request_id"] for row in rows] == [r.request_id for r in own_requests(task)]
    return [row["text"] for row in rows]


@pytest.mark.parametrize("task", TASKS)
def test_the_solver_is_always_right(task):
    for text, item in zip(answers("solver", task), own_items(task).items, strict=True):
        gold, language = item.gold, item.factors["language"]
        if gold["kind"] in ("date", "date_time"):
            moment = datetime.fromisoformat(gold["answer"])
            day, _, clock = text.rpartition(" ") if gold["kind"] == "date_time" else (text, "", "")
            read = formats.read(day, language, item.factors["format"], OPTIONS)
            assert read == moment.date() and clock in ("", f"{moment:%H:%M}")
        assert text in gold["aliases"]


@pytest.mark.parametrize("task", TASKS)
def test_the_solver_reads_neither_gold_nor_iso_dates(task):
    blind = [
        replace(
            item,
            gold={"kind": None},
            inputs={
                **item.inputs,
                "dates": [{**each, "iso": None} for each in item.inputs["dates"]],
            },
        )
        for item in own_items(task).items
    ]
    assert [solve(item, OPTIONS) for item in blind] == answers("solver", task)


def test_the_solver_reads_the_question_itself():
    item = own_items("date_arithmetic").items[0]
    other = replace(item, inputs={**item.inputs, "question": "Which date is it?"})
    with pytest.raises(DataError, match="is not in its question"):
        dates_in_question(other, OPTIONS)
    item = own_items("time_zone").items[0]
    text = item.inputs["question"].replace("06:30", "06:31")
    other = replace(item, inputs={**item.inputs, "question": text})
    with pytest.raises(DataError, match=r"06:30 is not in its question"):
        times_in_question(other)


def test_times_are_found_whatever_their_order():
    item = own_items("time_zone").items[0]
    text = "From 23:59 (or 123:456, 12:345) to 06:30?"
    other = replace(item, inputs={**item.inputs, "question": text, "times": ["06:30", "23:59"]})
    assert times_in_question(other) == ["06:30", "23:59"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_solver_without_an_operation_says_so(language):
    answer = {"kind": "number", "value": 3, "accepted": [], "unit": ""}
    unknown = question({"kind": "none"}, answer=answer)
    [item] = build([unknown], languages=(language,), forms=("iso",)).items
    assert solve(item, OPTIONS) in answer_words.refusal_phrases(language)


@pytest.mark.parametrize("baseline", KINDS)
@pytest.mark.parametrize("task", TASKS)
def test_answers_repeat(task, baseline):
    first = answers(baseline, task)
    assert answers(baseline, task, list(reversed(own_items(task).items))) == first
    assert all(text.strip() for text in first)


def test_majority_of_words_is_one_word():
    items = own_items("relation").items
    known = seed_answers(items)
    assert len(known) == sum(each.task == "relation" for each in own_questions())
    said = {majority_value(item, known) for item in items}
    assert said == {RELATIONS[0]}, "all are equally frequent: the first of the list"
    rare = dict.fromkeys(list(known)[:5], ("relation", "during"))
    assert majority_value(items[0], {**known, **rare}) == "during"
    texts = set(answers("majority", "relation"))
    assert texts == {answer_words.relation_word(language, "before") for language in LANGUAGES}
    right = sum(item.gold["answer"] == "before" for item in items)
    assert right / len(items) == 1 / len(RELATIONS)


def test_majority_of_numbers_leaves_the_question_out():
    items = [i for i in own_items("date_arithmetic").items if i.gold["kind"] == "number"]
    known = seed_answers(own_items("date_arithmetic").items)
    for item in items:
        others = {
            int(value)
            for name, (kind, value) in known.items()
            if kind == "number" and name != item.source["question_id"]
        }
        nearest = min(others, key=lambda n: abs(n - median(others)))
        found = int(majority_value(item, known))
        assert found in others
        assert abs(found - median(others)) == abs(nearest - median(others))
    alone = {items[0].source["question_id"]: known[items[0].source["question_id"]]}
    assert majority_value(items[0], alone) == "1"


def test_majority_of_dates_is_an_echo():
    for item in own_items("time_zone").items:
        value = majority_value(item, {})
        assert value == f"{item.inputs['dates'][0]['iso']}T{item.inputs['times'][0]}"
        assert spoken(value, "date_time", item, OPTIONS).startswith(item.inputs["dates"][0]["text"])


def test_uniform_draws_from_the_space_of_answers():
    known = seed_answers(own_items("relation").items)
    said = Counter(uniform_value(item, known, 7) for item in own_items("relation").items)
    assert set(said) == set(RELATIONS) and min(said.values()) > 40
    known = seed_answers(own_items("date_arithmetic").items)
    apart = []
    for item in own_items("date_arithmetic").items:
        value, kind = uniform_value(item, known, 7), item.gold["kind"]
        if kind == "date":
            first = date.fromisoformat(item.inputs["dates"][0]["iso"])
            apart.append((date.fromisoformat(value) - first).days)
        elif kind == "number":
            assert 10 <= int(value) <= 354
        else:
            assert value in ("yes", "no")
    assert max(map(abs, apart)) <= DAYS_AROUND and min(apart) < -2500 and max(apart) > 2500
    hours = Counter(
        datetime.fromisoformat(uniform_value(item, {}, 7)).hour
        for item in own_items("time_zone").items
    )
    assert len(hours) == 24


def test_uniform_hangs_on_the_seed_and_the_item():
    assert answers("uniform", "relation", seed=1) != answers("uniform", "relation", seed=2)
    item = own_items("relation").items[0]
    assert uniform_value(item, {}, 3) == uniform_value(item, {"x": ("relation", "after")}, 3)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_uniform_stays_inside_the_calendar(day):
    operation = {"kind": "shift", "date": "d1", "sign": 1 if day < "5" else -1, "days": 1}
    [item] = build([question(operation, (day,))], languages=("en",), forms=("iso",)).items
    for seed in range(50):
        away = date.fromisoformat(uniform_value(item, {}, seed)) - date.fromisoformat(day)
        assert abs(away.days) <= DAYS_AROUND
    number = {"kind": "number", "value": 3, "accepted": [], "unit": ""}
    [item] = build([question({"kind": "none"}, answer=number)], forms=("iso",)).items
    assert 1 <= int(uniform_value(item, {}, 0)) <= 365


def test_a_drawn_date_that_the_calendar_cannot_name_is_written_in_iso():
    strict = Options(hijri_outside_range="refuse")
    [item] = build([question()], languages=("ha",), forms=("calendar",)).items
    assert spoken("1900-01-01", "date", item, strict) == "1900-01-01"
    assert spoken("1900-01-01", "date", item, OPTIONS).endswith("AH")


def test_errors():
    with pytest.raises(DataError, match="known: majority, uniform, solver"):
        answers("oracle", "relation")
    lost = [Request.create("relation-0", {"shots": 0}, [], {})]
    with pytest.raises(DataError, match="no item relation-0"):
        baseline_answers("solver", lost, [], options=OPTIONS, seed=0)


def test_rule(tmp_path):
    item_files, request_files = [], []
    for task in TASKS:
        item_files.append(tmp_path / f"items.{task}")
        request_files.append(tmp_path / f"requests.{task}")
        write_records(item_files[-1], own_items(task).items)
        write_records(request_files[-1], own_requests(task))
    job = SimpleNamespace(
        input=SimpleNamespace(item_files=item_files, requests=request_files),
        output=SimpleNamespace(answers=tmp_path / "solver.jsonl"),
        params=SimpleNamespace(baseline="solver", calendars=CALENDARS, seed=42),
    )
    rule.main(job)
    rows = [row for _, row in iterate_jsonl(tmp_path / "solver.jsonl")]
    expected = [text for task in TASKS for text in answers("solver", task)]
    assert [row["text"] for row in rows] == expected
    assert all(set(row) == {"request_id", "text"} for row in rows)


@pytest.mark.parametrize("task", TASKS)
def test_the_date_judge_agrees(task):
    verdicts = {"solver": Counter(), "majority": Counter(), "uniform": Counter()}
    for baseline, counts in verdicts.items():
        for text, item in zip(answers(baseline, task), own_items(task).items, strict=True):
            counts[judge_item(item, text).verdict] += 1
    assert set(verdicts["solver"]) == {"correct"}
    for floor in ("majority", "uniform"):
        assert set(verdicts[floor]) <= {"correct", "incorrect"}
        assert verdicts[floor]["correct"] < len(own_requests(task)) / 3


@pytest.mark.parametrize("task", TASKS)
def test_every_alias_is_right_for_the_date_judge(task):
    for item in own_items(task).items[:: 7 if task == "time_zone" else 1]:
        for alias in item.gold["aliases"]:
            assert judge_item(item, alias).verdict == "correct", (item.factors, alias)


def test_real_questions_are_solved_as_they_are_written(shared_data, repository):
    corpora = yaml.safe_load((repository / "config.yaml").read_text())["corpora"]
    files = {
        "tram_arithmetic": "tram/arithmetic.zip",
        "test_of_time": "tot/tot_arithmetic.json",
    }
    outcomes = {
        name: read_source(shared_data / path, name, corpora[name]) for name, path in files.items()
    }
    settings = Settings(
        quota={"date_arithmetic": dict.fromkeys(files, 20), "time_zone": {"tram_arithmetic": 40}},
        seed=1,
        languages=list(LANGUAGES),
        formats=list(FORMATS),
        calendar_range="keep",
        disagreeing_golds="drop",
        hijri_outside_range="tabular_civil",
    )
    questions = curate(outcomes, settings).questions
    assert len(questions) == 80
    for task in ("date_arithmetic", "time_zone"):
        built = build([q for q in questions if q.task == task], languages=LANGUAGES)
        assert len(built.items) + len(built.unbuilt) == 40 * 20
        assert {row["language"] for row in built.unbuilt} <= {"zh"}
        verdicts = Counter(judge_item(item, solve(item, OPTIONS)).verdict for item in built.items)
        assert set(verdicts) == {"correct"}
