from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.files import iterate_jsonl, read_csv, write_records
from scripts.publishing.published_names import read_names
from scripts.records import Item
from scripts.syntaxbench import build_replay
from scripts.syntaxbench.parsing import parse_answer
from scripts.syntaxbench.replay import (
    ClassRates,
    Discordance,
    ReplayError,
    ReplayPlan,
    archive_rows,
    assign_errors,
    draw_cells,
    margins,
    read_plan,
    wrong_answer,
)
from scripts.syntaxbench.tasks import CONDITIONS, TASKS

ROOT = Path(__file__).parents[2]
SETTINGS = yaml.safe_load((ROOT / "config" / "replay.yaml").read_text())["syntaxbench"]["replay"]
NAMES = read_names(ROOT / SETTINGS["names"])
SIZES = {"letter_container": 400, "palindrome_test": 400}
QWEN = ("qwen3.6-27b", "palindrome_test", 4)


def settings() -> dict[str, Any]:
    paths = {name: str(ROOT / SETTINGS[name]) for name in ("counts", "names", "parse_errors")}
    return {**SETTINGS, **paths}


def make_item(task: str, condition: str, number: int) -> Item:
    kind = TASKS[task].kind
    inputs: dict[str, Any] = {"number": number}
    gold: Any = {"integer": number % 9, "binary": ("yes", "no")[number % 2]}.get(kind)
    if task == "longest_string_finder":
        inputs["strings"] = [f"w{number}", "abc", f"longest-{condition}-{number}"]
        gold = inputs["strings"][-1]
    if task == "index_to_span":
        document = " ".join(f"word{i}" for i in range(number, number + 40))
        inputs |= {"document": document, "start": 10 + number % 50, "end": 22 + number % 50}
        gold = document[inputs["start"] : inputs["end"]]
    return Item.create("syntaxbench", task, {"condition": condition}, inputs, {"answer": gold}, {})


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return [
        make_item(task, condition, number)
        for task in TASKS
        for condition in CONDITIONS
        for number in range(SIZES.get(task, 200))
    ]


@pytest.fixture(scope="module")
def plan() -> ReplayPlan:
    return read_plan(settings(), seed=42)


@pytest.fixture(scope="module")
def rows(plan: ReplayPlan, items: list[Item]) -> dict[tuple[str, str], list[Any]]:
    return archive_rows(plan, items)


def test_the_papers_eleven_configurations(rows: dict[tuple[str, str], list[Any]]) -> None:
    assert len(rows) == 11
    assert {model for model, _ in rows} == set(NAMES.values())


def test_every_published_margin_is_met(
    rows: dict[tuple[str, str], list[Any]], items: list[Item]
) -> None:
    published = read_csv(settings()["counts"]).rename(columns={"shot": "shots"})
    published["model"] = published["model"].map(NAMES)
    found = pd.concat(
        [
            margins(table, items).assign(model=model, mode=mode)
            for (model, mode), table in rows.items()
        ]
    )
    order = ["model", "mode", "task", "shots", "condition", "k", "n"]
    pd.testing.assert_frame_equal(
        found[order].sort_values(order, ignore_index=True),
        published[order].sort_values(order, ignore_index=True),
        check_dtype=False,
    )


def test_parse_error_rates_print_as_published(
    rows: dict[tuple[str, str], list[Any]], items: list[Item]
) -> None:
    task_of = {item.item_id: item.task for item in items}
    kind_of = {name: {"binary": "yes_no"}.get(task.kind, task.kind) for name, task in TASKS.items()}
    for row in read_csv(settings()["parse_errors"]).to_dict("records"):
        cell = [
            r
            for r in rows[NAMES[row["model"]], "thinking"]
            if task_of[r["item_id"]] == row["task"] and r["setting"]["shots"] == row["shot"]
        ]
        failed = [r for r in cell if "error" in r]
        unread = [
            r
            for r in cell
            if "error" not in r
            and parse_answer(r["text"], kind_of[row["task"]]).category != "valid"  # type: ignore[arg-type]
        ]
        total = len(failed) + len(unread)
        assert f"{100 * total / len(cell):.1f}" == f"{row['per']:.1f}", row
        assert f"{100 * len(failed) / len(cell):.1f}" == f"{row['inf_err']:.1f}", row


def test_the_incomplete_cell_is_absent_not_wrong(
    rows: dict[tuple[str, str], list[Any]], items: list[Item]
) -> None:
    table = margins(rows["qwen3.5-2b", "non_thinking"], items)
    cell = table[(table["task"] == "index_to_span") & (table["shots"] == 4)]
    assert cell[["condition", "k", "n"]].values.tolist() == [["english", 0, 113]]


def test_the_published_pair_has_its_discordance_and_class_rates(
    plan: ReplayPlan, items: list[Item]
) -> None:
    cells = draw_cells(plan, items)
    model, task, shots = QWEN
    b01 = b10 = 0
    right = {(mode, gold): 0 for mode in ("non_thinking", "thinking") for gold in ("yes", "no")}
    for condition in CONDITIONS:
        without = cells[(model, "non_thinking", task, shots), condition]
        thinking = cells[(model, "thinking", task, shots), condition]
        b01 += int((without.correct & ~thinking.correct).sum())
        b10 += int((~without.correct & thinking.correct).sum())
        for mode, cell in (("non_thinking", without), ("thinking", thinking)):
            right[mode, "yes"] += int((cell.correct & cell.positive()).sum())
            right[mode, "no"] += int((cell.correct & ~cell.positive()).sum())
    assert (b01, b10) == (55, 2)
    assert b01 / b10 == 27.5
    rates = {key: count / 400 for key, count in right.items()}
    assert rates == {
        ("non_thinking", "yes"): 0.9075,
        ("non_thinking", "no"): 0.9975,
        ("thinking", "yes"): 0.7725,
        ("thinking", "no"): 1.0,
    }
    cell = cells[("qwen3.5-2b", "non_thinking", task, 0), "english"]
    assert int((cell.correct & cell.positive()).sum()) == 0.43 * 200


def test_same_seed_same_rows_and_another_seed_others(plan: ReplayPlan, items: list[Item]) -> None:
    few = replace(
        plan,
        correct={cell: kn for cell, kn in plan.correct.items() if cell[0][0] == "gpt-oss-20b"},
        class_rates=(),
        discordances=(),
    )
    first = archive_rows(few, items)
    assert archive_rows(few, items[::-1]) == first
    assert archive_rows(replace(few, seed=7), items) != first
    # A model's draws do not depend on which other models are replayed.
    run = ("gpt-oss-20b", "thinking")
    assert archive_rows(plan, items)[run] == first[run]


def small_plan(k: int, n: int, **fields: Any) -> ReplayPlan:
    key = ("a", "thinking", "palindrome_test", 0)
    return ReplayPlan(correct={(key, c): (k, n) for c in CONDITIONS}, **fields)


def few_items(task: str = "palindrome_test", count: int = 40) -> list[Item]:
    return [make_item(task, c, number) for c in CONDITIONS for number in range(count)]


def test_difficulty_is_shared_to_the_strength_asked_for() -> None:
    keys = [(name, "thinking", "palindrome_test", shots) for name in "ab" for shots in (0, 4)]
    agreement = []
    for strength in (0.0, 0.9):
        plan = ReplayPlan(
            correct={(key, c): (200, 400) for key in keys for c in CONDITIONS}, strength=strength
        )
        cells = draw_cells(plan, few_items(count=400))
        vectors = [cells[key, "english"].correct for key in keys]
        agreement.append(np.corrcoef(np.array(vectors, dtype=float))[0, 1:].min())
    assert abs(agreement[0]) < 0.2
    assert agreement[1] > 0.5


class TestContradictions:
    KEY = ("a", "thinking", "palindrome_test", 0)

    def test_too_few_items(self) -> None:
        with pytest.raises(ReplayError, match="50 answers were published but there are 40 items"):
            draw_cells(small_plan(3, 50), few_items())

    def test_class_rates_against_the_counts(self) -> None:
        plan = small_plan(30, 40, class_rates=[ClassRates(self.KEY, "english", 1.0, 1.0)])
        with pytest.raises(ReplayError, match=r"they make 20 \+ 20 right answers, the counts 30"):
            draw_cells(plan, few_items())

    def test_class_rate_of_no_whole_number(self) -> None:
        plan = small_plan(30, 40, class_rates=[ClassRates(self.KEY, "english", 0.777, 0.5)])
        with pytest.raises(ReplayError, match=r"no whole number of 20 items gives a rate of 0.777"):
            draw_cells(plan, few_items())

    def test_rates_of_a_cell_without_counts(self) -> None:
        rates = ClassRates(("b", "thinking", "palindrome_test", 0), "english", 1.0, 1.0)
        with pytest.raises(ReplayError, match="has no counts"):
            draw_cells(small_plan(30, 40, class_rates=[rates]), few_items())

    def test_impossible_discordance(self) -> None:
        other = ("b", "thinking", "palindrome_test", 0)
        correct = {(key, c): (30, 40) for key in (self.KEY, other) for c in CONDITIONS}
        rates = [ClassRates(key, None, 0.75, 0.75) for key in (self.KEY, other)]
        plan = ReplayPlan(
            correct=correct,
            class_rates=rates,
            discordances=[Discordance(self.KEY, other, 5, 4)],
        )
        with pytest.raises(ReplayError, match="contradicts 20 and 20 errors"):
            draw_cells(plan, few_items())
        good = replace(plan, discordances=[Discordance(self.KEY, other, 4, 4)])
        cells = draw_cells(good, few_items())
        pairs = [(cells[self.KEY, c].correct, cells[other, c].correct) for c in CONDITIONS]
        assert sum(int((a & ~b).sum()) for a, b in pairs) == 4
        incomplete = replace(good, correct={**correct, (other, "random"): (30, 39)}, class_rates=())
        with pytest.raises(ReplayError, match="must have answered every item"):
            draw_cells(incomplete, few_items())

    def test_more_parse_errors_than_wrong_answers(self) -> None:
        cells = {c: draw_cells(small_plan(35, 40), few_items())[self.KEY, c] for c in CONDITIONS}
        with pytest.raises(ReplayError, match="11 parse errors but only 10 wrong answers"):
            assign_errors(self.KEY, {"blank": 11}, cells, 42)
        with pytest.raises(ReplayError, match=r"unknown kind\(s\) of parse error \['odd'\]"):
            assign_errors(self.KEY, {"odd": 1}, cells, 42)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"strength": 1.0}, r"must be in \[0, 1\)"),
            (
                {
                    "further_parse_errors": [
                        {
                            "model": "gpt-oss-20b",
                            "mode": "thinking",
                            "task": "index_to_span",
                            "shots": 4,
                            "kind": "blank",
                            "errors": 1,
                        }
                    ]
                },
                "has parse errors from the table too",
            ),
        ],
    )
    def test_bad_settings(self, change: dict[str, Any], message: str) -> None:
        with pytest.raises(ReplayError, match=message):
            read_plan({**settings(), **change}, 42)

    def test_a_published_model_needs_a_name_in_the_roster(self, tmp_path: Path) -> None:
        names = tmp_path / "names.csv"
        names.write_text("published,model\n")
        with pytest.raises(ReplayError, match=r"has no entry in the file of replay\.names"):
            read_plan({**settings(), "names": str(names)}, 42)

    def test_bad_tables_name_the_line(self, tmp_path: Path) -> None:
        counts = tmp_path / "counts.csv"
        counts.write_text(
            "model,mode,task,shot,condition,k,n\ndeepseek_r1_32b,thinking,x,0,english,5,4\n"
        )
        with pytest.raises(ReplayError, match=r"counts.csv, line 2"):
            read_plan({**settings(), "counts": str(counts)}, 42)
        errors = tmp_path / "per.csv"
        errors.write_text(
            "model,task,shot,per,blank,inf_err\ngpt-oss_20b,palindrome_test,4,0.3,0.0,0.0\n"
        )
        with pytest.raises(ReplayError, match=r"per.csv, line 2: no whole number of 800 items"):
            read_plan({**settings(), "parse_errors": str(errors)}, 42)


@pytest.mark.parametrize("task", sorted(TASKS))
def test_wrong_answers_are_wrong_and_of_the_right_kind(task: str) -> None:
    draw = np.random.default_rng(1)
    kind: Any = {"binary": "yes_no"}.get(TASKS[task].kind, TASKS[task].kind)
    for item in few_items(task, 30):
        text = json.dumps({"result": wrong_answer(item, {1: 0.5, 2: 0.5}, draw)})
        answer = parse_answer(text, kind)
        assert answer.category == "valid"
        assert answer.value != item.gold["answer"]
        if kind == "integer":
            assert isinstance(answer.value, int) and answer.value >= 0
            assert abs(answer.value - item.gold["answer"]) in (1, 2)


def test_a_string_without_a_neighbour_still_gets_a_wrong_answer() -> None:
    whole = Item.create(
        "syntaxbench",
        "index_to_span",
        {"condition": "english"},
        {"document": "abc", "start": 0, "end": 3},
        {"answer": "abc"},
        {},
    )
    assert wrong_answer(whole, {1: 1.0}, np.random.default_rng(1)) == "abcx"


def test_rule_script_writes_one_archive_a_run(
    tmp_path: Path, items: list[Item], rows: dict[tuple[str, str], list[Any]]
) -> None:
    write_records(tmp_path / "items.jsonl", items)
    runs = [["gpt-oss-20b", "thinking"], *([*run] for run in rows if run[0] != "gpt-oss-20b")]
    job = SimpleNamespace(
        input=SimpleNamespace(item_files=[tmp_path / "items.jsonl"]),
        output=SimpleNamespace(archives=[tmp_path / f"{m}.{mode}.jsonl" for m, mode in runs]),
        params=SimpleNamespace(replay=settings(), seed=42, runs=runs),
    )
    build_replay.main(job)
    for (model, mode), expected in rows.items():
        found = [row for _, row in iterate_jsonl(tmp_path / f"{model}.{mode}.jsonl")]
        assert found == expected
    job.params.runs = runs[1:]
    with pytest.raises(ReplayError, match=r"make syntaxbench.models and replay.names agree"):
        build_replay.main(job)
