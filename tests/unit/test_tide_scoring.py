"""Scores of a run: rules, the council, second steps, the score file, what is to be reviewed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from tide_questions import (
    CORPUS,
    DECODING,
    FIELDS,
    ITEMS,
    item,
    judgement,
    pair,
    prompts,
    requests,
    response,
    votes,
)

from scripts.files import read_csv, write_csv, write_records
from scripts.judging.council import CouncilError
from scripts.judging.score_files import ScoringError
from scripts.records import Item, Judgement, Request, Response
from scripts.tide import gather_scores as gather_rule
from scripts.tide import score_responses as score_rule
from scripts.tide.explanations import build_explanations
from scripts.tide.items import build_item
from scripts.tide.review import REVIEW_COLUMNS, cell, gather_review, review_table
from scripts.tide.score_table import (
    CATEGORIES,
    SCORE_DTYPES,
    gather_scores,
    read_scores,
    score_table,
)
from scripts.tide.scoring import Council, RunScores, pairs_in_order, score_run
from scripts.tide.tasks import IDENTIFICATION, TASKS

JUDGES = ("one", "two", "three")
GOLD = {
    "temporal_mcq": '{"reasoning": "", "choice_index": 1}',
    "event_sorting": '{"ordered_indices": [1, 2, 0]}',
    "perturbation_detection": '{"reasoning": "", "verdict": "INCORRECT"}',
}


@dataclass
class Run:
    """Items, replies and judgements of one run; the council says yes unless told otherwise."""

    items: list[Item] = field(default_factory=lambda: list(ITEMS))
    knowledge: tuple[str, ...] = ("icl",)
    replies: dict[str, str] = field(default_factory=dict)
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    seats: dict[str, list[dict[str, Any] | None]] = field(default_factory=dict)
    explanation: str = "It is 300 USD, not 400 USD."
    judges: tuple[str, ...] = JUDGES

    def requests(self) -> list[Request]:
        return [r for name in self.knowledge for r in requests(name, self.items)]

    def responses(self) -> list[Response]:
        task = {each.item_id: each.task for each in self.items}
        return [
            response(
                each,
                self.replies.get(task[each.item_id], GOLD.get(task[each.item_id], "An answer.")),
                **self.fields.get(task[each.item_id], {}),
            )
            for each in self.requests()
        ]

    def explanations(self) -> list[Request]:
        chosen = [i for i in self.items if i.task == "perturbation_detection"]
        ids = {each.item_id for each in chosen}
        return build_explanations(
            chosen,
            [r for r in self.requests() if r.item_id in ids],
            [r for r in self.responses() if r.item_id in ids],
            prompts(),
            DECODING,
        )

    def explanation_answers(self) -> list[Response]:
        changes = self.fields.get(IDENTIFICATION, {})
        return [response(r, self.explanation, **changes) for r in self.explanations()]

    def judgements(self) -> list[list[Judgement]]:
        item_of = {each.item_id: each for each in self.items}
        rows: list[list[Judgement]] = [[] for _ in self.judges]
        for answer in [*self.responses(), *self.explanation_answers()]:
            of = item_of[answer.item_id]
            step = answer.request_id in {r.request_id for r in self.explanations()}
            task = IDENTIFICATION if step else of.task
            if not step and not TASKS[of.task].judged:
                continue
            seats = self.seats.get(task, [votes(of) for _ in self.judges])
            for place, (judge, seat) in enumerate(zip(self.judges, seats, strict=True)):
                if seat is not None:
                    filled = {**votes(of), **seat}
                    rows[place].append(judgement(judge, answer.request_id, filled))
        return rows

    def council(self) -> Council:
        return Council.of(self.judges, self.judgements(), 0.5)

    def scores(self) -> RunScores:
        return score_run(
            self.items,
            self.requests(),
            self.responses(),
            self.explanations(),
            self.explanation_answers(),
            council=self.council(),
        )

    def frame(self) -> pd.DataFrame:
        return score_table(self.scores().rows)


def rows(frame: pd.DataFrame, task: str) -> list[dict[str, Any]]:
    return [dict(row) for _, row in frame[frame["task"] == task].iterrows()]


def one(run: Run, task: str) -> dict[str, Any]:
    return rows(run.frame(), task)[0]


# Rules --------------------------------------------------------------------------------------------


def test_a_run_of_right_answers() -> None:
    frame = Run(knowledge=("parametric", "icl", "rag")).frame()
    assert list(frame) == list(SCORE_DTYPES)
    assert len(frame) == 3 * (len(ITEMS) + 1)
    right = frame[frame["perturbed"].isna() | frame["perturbed"]]
    assert right["correct"].all() and (right["partial"] == 1.0).all() and right["valid"].all()
    accurate = frame[frame["perturbed"].fillna(False).eq(False) & frame["perturbed"].notna()]
    assert len(accurate) == 3 and not accurate["correct"].any()
    assert (accurate["verdict"] == "INCORRECT").all()
    assert set(frame["category"]) == {"parsed", "judged"}
    assert (frame[frame["knowledge"] == "rag"]["retriever"] == "toy").all()
    assert frame[frame["knowledge"] == "icl"]["depth"].isna().all()
    assert frame["graded"].notna().sum() == 3


def test_the_columns_of_a_choice() -> None:
    row = one(Run(), "temporal_mcq")
    assert row["gold"] == row["parsed"] == "1. SRO 2/2025 (2025-06-03)"
    assert (row["route"], row["category"], row["partial"]) == ("json", "parsed", 1.0)
    assert row["dates"] == 1 and pd.isna(row["dates_matched"]) and pd.isna(row["seats"])
    assert row["thread"] == "thread-1" and row["question_id"].startswith("temporal_mcq-")
    assert row["completion_tokens"] == 5 and pd.isna(row["reasoning_tokens"])
    wrong = one(Run(replies={"temporal_mcq": "0"}), "temporal_mcq")
    assert (wrong["correct"], wrong["partial"], wrong["valid"]) == (False, 0.0, True)
    assert wrong["route"] == "lone_index" and wrong["parsed"] == "0. SRO 1/2016"


@pytest.mark.parametrize(
    ("order", "correct", "graded"),
    [("[1, 2, 0]", True, 1.0), ("[1, 0, 2]", False, 2 / 3), ("[0, 2, 1]", False, 0.0)],
)
def test_an_order_is_exact_and_graded_apart(order: str, correct: bool, graded: float) -> None:
    row = one(Run(replies={"event_sorting": order}), "event_sorting")
    assert row["correct"] == correct and row["graded"] == pytest.approx(graded)
    assert row["partial"] == float(correct)
    assert row["parsed"] == order and row["gold"] == "[1, 2, 0]"


@given(st.permutations(range(5)), st.permutations(range(5)))
def test_graded_order_is_kendalls_tau_on_a_scale_from_zero(
    order: list[int], gold: list[int]
) -> None:
    dates = [f"20{place:02d}-01-01" for place in range(5)]
    places = [order.index(event) for event in gold]
    tau = kendalltau(range(5), places).statistic
    assert pairs_in_order(order, gold, dates) == pytest.approx((1 + tau) / 2)


def test_events_of_one_date_may_stand_either_way() -> None:
    events = FIELDS["event_sorting"]["events_shuffled"]
    key = [
        {"event": events[1], "date": "2010"},
        {"event": events[2], "date": "2010-06-02"},
        {"event": events[0], "date": "2025-06-03"},
    ]
    tied = build_item(pair("event_sorting", answer_ordered=key), CORPUS)
    right = {
        order: one(Run([tied], replies={"event_sorting": str(list(order))}), "event_sorting")
        for order in permutations(range(3))
    }
    assert {order for order, row in right.items() if row["correct"]} == {(1, 2, 0), (2, 1, 0)}
    with pytest.raises(ValueError, match="no two of the dates"):
        pairs_in_order([0, 1], [0, 1], ["2010", "2010-01"])


@pytest.mark.parametrize("task", ["temporal_mcq", "event_sorting", "perturbation_detection"])
@pytest.mark.parametrize(
    ("text", "fields", "category"),
    [
        ("", {}, "blank"),
        ("who knows", {}, "unparsable"),
        ("who knows", {"finish_reason": "length"}, "truncated"),
        ("", {"error": "HTTP 500"}, "inference_error"),
        ("", {"error": "not run: budget"}, "not_run"),
    ],
)
def test_no_answer_is_wrong_and_what_was_not_asked_is_unscored(
    task: str, text: str, fields: dict[str, Any], category: str
) -> None:
    row = one(Run(replies={task: text}, fields={task: fields}), task)
    assert (row["category"], row["valid"]) == (category, False)
    assert pd.isna(row["parsed"]) and pd.isna(row["verdict"])
    if category == "not_run":
        assert pd.isna(row["correct"]) and pd.isna(row["partial"]) and pd.isna(row["graded"])
    else:
        assert (row["correct"], row["partial"]) == (False, 0.0)
        assert pd.isna(row["graded"]) == (task != "event_sorting")


# The council --------------------------------------------------------------------------------------

TASK = "temporal_scenario_short_answer"
TWO = item(TASK)
NO = {"meaning": False}


def matched(*dates: bool) -> dict[str, Any]:
    return {"date_matches": [{"matched": each, "span": ""} for each in dates]}


@pytest.mark.parametrize(
    ("seats", "correct", "partial", "dates_matched"),
    [
        ([{}, {}, {}], True, 1.0, 2),
        ([{}, {}, NO], True, 1.0, 2),
        ([NO, {}, NO], False, 0.5, 2),
        ([matched(True, False)] * 2 + [{}], False, 0.25, 1),
        ([matched(False, False)] * 3, False, 0.0, 0),
        ([{"contradicting": True}] * 3, False, 0.0, 2),
    ],
)
def test_the_majority_and_the_date_gate(
    seats: list[dict[str, Any]], correct: bool, partial: float, dates_matched: int
) -> None:
    row = one(Run(seats={TASK: list(seats)}), TASK)
    assert (row["correct"], row["partial"]) == (correct, pytest.approx(partial))
    assert row["dates_matched"] == dates_matched and row["dates"] == 2
    assert (row["seats"], row["flagged"], row["category"]) == (3, False, "judged")
    assert row["valid"] and row["gold"] == TWO.gold["answer"] and row["parsed"] == "An answer."


EMPTY = {"date_matches": None, "contradicting": None, "meaning": None, "uncertain": None,
         "flags": None, "reason": "empty_reply"}  # fmt: skip


def test_an_empty_seat_has_no_vote_and_is_flagged() -> None:
    row = one(Run(seats={TASK: [{}, EMPTY, {}]}), TASK)
    assert (row["correct"], row["seats"], row["flagged"]) == (True, 2, True)
    tie = one(Run(seats={TASK: [{}, EMPTY, NO]}), TASK)
    assert pd.isna(tie["correct"]) and pd.isna(tie["partial"]) and tie["flagged"]
    assert tie["category"] == "judged" and "undecided" in tie["route"]
    dates = one(Run(seats={TASK: [{}, EMPTY, matched(False, True)]}), TASK)
    assert pd.isna(dates["correct"]) and pd.isna(dates["dates_matched"])
    nobody = one(Run(seats={TASK: [EMPTY] * 3}), TASK)
    assert (nobody["category"], nobody["valid"], nobody["seats"]) == ("unjudged", False, 0)
    assert pd.isna(nobody["correct"]) and pd.isna(nobody["uncertain"]) and nobody["flagged"]


def test_logged_questions_have_their_columns() -> None:
    flags = {
        "followed_context": False,
        "followed_parametric": True,
        "conflict_acknowledged": True,
        "blended_sources": False,
    }
    run = Run(
        seats={
            "context_misalignment": [{"flags": flags}] * 3,
            IDENTIFICATION: [
                {"flags": {"perturbation_localized": True, "correction_correct": False,
                           "localized_element": "rate"}}
            ] * 3,
        }
    )  # fmt: skip
    row = one(run, "context_misalignment")
    assert (row["followed_context"], row["authoritative"]) == (False, True)
    assert (row["conflict_acknowledged"], row["blended"]) == (True, False)
    assert pd.isna(row["localized"])
    row = one(run, IDENTIFICATION)
    assert (row["localized"], row["correction_correct"]) == (True, False)
    assert pd.isna(row["followed_context"])
    assert pd.isna(one(run, "open_ended")["authoritative"])


def test_answers_without_text_need_no_judge() -> None:
    changes = {"open_ended": {"error": "HTTP 500"}, TASK: {"error": "not run: budget"}}
    run = Run(replies={"relative_time_qa": ""}, fields=changes)
    assert run.seats == {}
    run.seats = {name: [None] * 3 for name in ("open_ended", TASK, "relative_time_qa")}
    frame = run.frame()
    lost, unasked = rows(frame, "open_ended")[0], rows(frame, TASK)[0]
    assert (lost["category"], lost["correct"], lost["partial"]) == ("inference_error", False, 0.0)
    assert unasked["category"] == "not_run" and pd.isna(unasked["correct"])
    assert rows(frame, "relative_time_qa")[0]["category"] == "blank"
    assert set(frame["category"]) <= set(CATEGORIES)


votings = st.fixed_dictionaries(
    {
        "date_matches": st.lists(st.booleans(), min_size=2, max_size=2).map(
            lambda dates: [{"matched": each, "span": ""} for each in dates]
        ),
        "contradicting": st.booleans(),
        "meaning": st.booleans(),
    }
)


@given(st.lists(votings | st.just(EMPTY), min_size=3, max_size=3))
def test_strict_is_never_above_partial(seats: list[dict[str, Any]]) -> None:
    row = one(Run([TWO], seats={TASK: list(seats)}), TASK)
    if not pd.isna(row["correct"]) and not pd.isna(row["partial"]):
        assert float(row["correct"]) <= row["partial"] <= 1.0
        assert row["seats"] > 0
    if row["correct"] is True:
        assert row["dates_matched"] == 2


# The second step ----------------------------------------------------------------------------------


def test_every_perturbed_statement_has_a_row_for_the_second_step() -> None:
    found = rows(Run().frame(), IDENTIFICATION)
    assert len(found) == 1
    row = found[0]
    assert row["perturbed"] and row["verdict"] == "INCORRECT" and row["correct"]
    assert row["parsed"] == "It is 300 USD, not 400 USD."
    assert row["request_id"] in {each.request_id for each in Run().explanations()}
    assert row["gold"] == FIELDS["perturbation_detection"]["answer"]


@pytest.mark.parametrize(
    ("reply", "route", "verdict"),
    [
        ("CORRECT", "first step: CORRECT", "CORRECT"),
        ("no idea", "first step: none: no_answer", None),
        ("", "first step: none: blank", None),
    ],
)
def test_a_statement_that_was_not_flagged_is_not_identified(
    reply: str, route: str, verdict: str | None
) -> None:
    run = Run(replies={"perturbation_detection": reply})
    row = one(run, IDENTIFICATION)
    assert (row["category"], row["correct"], row["partial"]) == ("not_flagged", False, 0.0)
    assert row["route"] == route and not row["valid"] and not row["flagged"]
    assert pd.isna(row["verdict"]) if verdict is None else row["verdict"] == verdict
    assert pd.isna(row["completion_tokens"])
    first = next(each for each in rows(run.frame(), "perturbation_detection") if each["perturbed"])
    assert row["request_id"] == first["request_id"]


def test_a_first_step_that_was_not_asked_leaves_the_second_unscored() -> None:
    run = Run(fields={"perturbation_detection": {"error": "not run: budget"}})
    row = one(run, IDENTIFICATION)
    assert row["category"] == "not_run" and pd.isna(row["correct"]) and pd.isna(row["partial"])


def test_a_second_step_that_was_lost() -> None:
    run = Run(fields={IDENTIFICATION: {"error": "HTTP 500"}})
    row = one(run, IDENTIFICATION)
    assert (row["category"], row["correct"]) == ("inference_error", False)


# What does not fit together -----------------------------------------------------------------------


def test_judgements_must_fit() -> None:
    good = Run().judgements()
    for judges, files, message in [
        (JUDGES, good[:2], "2 files of judgements for the judges"),
        (("one", "one", "three"), good, "different judges"),
        (JUDGES, [good[1], good[0], good[2]], r"judgements of \['two'\], expected 'one'"),
        (JUDGES, [good[0] * 2, good[1], good[2]], "one judged a response twice"),
    ]:
        with pytest.raises(ScoringError, match=message):
            Council.of(judges, files, 0.5)
    for files, message in [
        ([good[0][1:], good[1], good[2]], "one did not judge"),
        (
            [[*good[0], judgement("one", "stranger", votes(TWO))], good[1], good[2]],
            "one judged unknown requests: stranger",
        ),
    ]:
        run = Run()
        run.judgements = lambda files=files: files  # type: ignore[method-assign, misc]
        with pytest.raises(ScoringError, match=message):
            run.scores()
    with pytest.raises(CouncilError, match="on 1 dates of 2"):
        Run(seats={TASK: [matched(True)] * 3}).scores()


def test_explanations_must_be_those_of_the_flagged_statements() -> None:
    run = Run()
    arguments = (run.items, run.requests(), run.responses())
    with pytest.raises(ScoringError, match="not those of the statements called incorrect"):
        score_run(*arguments, [], [], council=Council.of(("one",), [[]], 0.5))
    with pytest.raises(ScoringError, match="no response at all"):
        score_run(*arguments, run.explanations(), [], council=run.council())
    calm = Run(replies={"perturbation_detection": "CORRECT"})
    with pytest.raises(ScoringError, match="build the explanations again"):
        score_run(
            calm.items, calm.requests(), calm.responses(), run.explanations(),
            run.explanation_answers(), council=run.council(),
        )  # fmt: skip


# Files --------------------------------------------------------------------------------------------


def job(folder: Path, run: Run, mode: str = "non_thinking") -> SimpleNamespace:
    def named(responses: list[Response]) -> list[Response]:
        return [replace(each, mode=mode) for each in responses]

    folder = folder / mode
    write_records(folder / "items.jsonl", run.items)
    write_records(folder / "requests.jsonl", run.requests())
    write_records(folder / "responses.jsonl", named(run.responses()))
    write_records(folder / "explanations.jsonl", run.explanations())
    write_records(folder / "answers.jsonl", named(run.explanation_answers()))
    for judge, judgements in zip(run.judges, run.judgements(), strict=True):
        write_records(folder / f"{judge}.jsonl", judgements)
    return SimpleNamespace(
        input=SimpleNamespace(
            item_files=[f"{folder}/items.jsonl"],
            requests=[f"{folder}/requests.jsonl"],
            responses=[f"{folder}/responses.jsonl"],
            explanations=f"{folder}/explanations.jsonl",
            explanation_answers=f"{folder}/answers.jsonl",
            judgements=[f"{folder}/{judge}.jsonl" for judge in run.judges],
        ),
        output=SimpleNamespace(
            scores=folder / "scores.parquet", undecided=folder / "undecided.csv"
        ),
        params=SimpleNamespace(judges=list(run.judges), date_weight=0.5),
        wildcards=SimpleNamespace(model="toy", mode=mode),
    )


def test_score_files_keep_their_types_and_bytes(tmp_path: Path) -> None:
    run = Run(seats={TASK: [{}, EMPTY, NO]}, replies={"temporal_mcq": "\ud800"})
    written = job(tmp_path, run)
    score_rule.main(written)
    frame = read_scores(written.output.scores)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == SCORE_DTYPES
    pd.testing.assert_frame_equal(frame, run.frame())
    before = written.output.scores.read_bytes(), written.output.undecided.read_bytes()
    score_rule.main(written)
    assert (written.output.scores.read_bytes(), written.output.undecided.read_bytes()) == before
    frame.drop(columns="graded").to_parquet(tmp_path / "old.parquet")
    with pytest.raises(ScoringError, match=r"columns missing \['graded'\]"):
        read_scores(tmp_path / "old.parquet")


def test_runs_are_gathered(tmp_path: Path) -> None:
    first = job(tmp_path, Run(seats={TASK: [{}, EMPTY, {}]}))
    second = job(tmp_path, Run(replies={"perturbation_detection": "CORRECT"}), "thinking")
    for each in (first, second):
        score_rule.main(each)
    gather = SimpleNamespace(
        input=SimpleNamespace(
            scores=[second.output.scores, first.output.scores],
            undecided=[second.output.undecided, first.output.undecided],
        ),
        output=SimpleNamespace(scores=tmp_path / "all.parquet", review=tmp_path / "review.csv"),
    )
    gather_rule.main(gather)
    frame = read_scores(tmp_path / "all.parquet")
    assert len(frame) == 2 * (len(ITEMS) + 1)
    assert list(frame["mode"]) == sorted(frame["mode"])
    review = read_csv(tmp_path / "review.csv")
    assert list(review["reason"]) == ["fewer judges"]
    gather.input.scores *= 2
    with pytest.raises(ScoringError, match=r"20 score\(s\) stand twice"):
        gather_rule.main(gather)
    with pytest.raises(ScoringError, match="no score files"):
        gather_scores([])


# Review -------------------------------------------------------------------------------------------


def test_undecided_uncertain_and_unvoted_answers_are_listed() -> None:
    uncertain = {"uncertain": True}
    run = Run(
        seats={
            TASK: [{}, EMPTY, NO],
            "open_ended": [uncertain, {}, {}],
            IDENTIFICATION: [EMPTY, EMPTY, {}],
        }
    )
    table = review_table(run.scores().judged).set_index("task")
    assert dict(table["reason"]) == {
        "open_ended": "uncertain",
        IDENTIFICATION: "fewer judges",
        TASK: "undecided; fewer judges",
    }
    votes_of = json.loads(table.loc[TASK, "votes"])
    assert votes_of["two"] == {"reason": "empty_reply"}
    assert votes_of["one"] == {
        "contradicting": False, "dates": [True, True], "meaning": True, "uncertain": False,
    }  # fmt: skip
    assert table.loc[TASK, "dates"] == "2016-06-02, 2025-06-03"
    assert table.loc[TASK, "gold"] == TWO.gold["answer"]
    assert table.loc[TASK, "clauses"] == ", ".join(TWO.source["clause_ids"])
    # What could not be decided has no score; what was only called borderline has.
    assert (table.loc[TASK, "strict"], table.loc["open_ended", "strict"]) == ("", "1")
    assert table.loc["open_ended", "partial"] == "1"
    assert table.loc[IDENTIFICATION, "answer"] == run.explanation
    assert review_table(Run().scores().judged).empty


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('plain, "quoted" বাংলা‌', 'plain, "quoted" বাংলা‌'),
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("a\nb\tc\x00\x1b[31m", "a\\nb\\tc\\x00\\x1b[31m"),
        ("\u202eabc\u2028", "\\u202eabc\\u2028"),
        ("\ud800", "\\ud800"),
    ],
)
def test_cells_are_harmless(text: str, expected: str) -> None:
    assert cell(text) == expected


def test_hostile_answers_come_back_from_the_table_as_they_were_written(tmp_path: Path) -> None:
    said = '=cmd|x\r\n"quote", <script>x</script> \\input{y} {"verdict": "CORRECT"} ../../x'
    run = Run(replies={TASK: said}, seats={TASK: [{}, EMPTY, {}]})
    table = review_table(run.scores().judged)
    write_csv(tmp_path / "u.csv", table)
    back = read_csv(tmp_path / "u.csv", dtype="str")
    pd.testing.assert_frame_equal(back, table, check_dtype=False)
    assert back.loc[0, "answer"] == "'" + said.replace("\r\n", "\\r\\n")
    assert one(run, TASK)["correct"]


def test_tables_for_review_are_gathered_in_order() -> None:
    table = review_table(Run(seats={TASK: [{}, EMPTY, {}]}).scores().judged)
    empty = pd.DataFrame(columns=list(REVIEW_COLUMNS))
    assert list(gather_review([empty, table])["task"]) == [TASK]
    assert list(gather_review([])) == list(REVIEW_COLUMNS)
    with pytest.raises(ScoringError, match="a table for review has the columns"):
        gather_review([table.drop(columns="votes")])
