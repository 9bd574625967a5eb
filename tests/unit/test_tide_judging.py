"""One judge on all runs of TIDE: what is asked, how often, and the files of the rule scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import council_cases as cases
import pytest
import tiny_models

from scripts.files import DataError, read_csv, read_json, read_records, write_records
from scripts.judging.council import decide
from scripts.judging.council_model_judge import judge_answers
from scripts.judging.council_programs import PROGRAMS
from scripts.judging.council_rubric import ALTERED, FLAGS, RIGHT, build_request
from scripts.judging.score_files import ScoringError
from scripts.records import Item, Judgement, Request, Response
from scripts.tide import compare_judges, judge_responses
from scripts.tide.items import judged_dates
from scripts.tide.judging import (
    UNASKED,
    Judged,
    case_of,
    judge_by_model,
    judge_by_program,
)

DATE = {"value": "2019-11-12", "granularity": "day", "text": "12 November 2019"}
ANSWER = "It was lowered to 10% on 12 November 2019 by G.O. No. 5/2019."
DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}


def item(number: int, task: str = "open_ended", **gold: Any) -> Item:
    inputs = {"question": f"When was the rate of question {number} lowered, and to what?"}
    if "scenario" in task:
        inputs["scenario"] = "A firm imports machines."
    if task == "context_misalignment":
        inputs["misaligned_context"] = "It was lowered to 15%."
    if task == "perturbation_detection":
        inputs["statement"] = "It was lowered to 15% on 12 November 2019."
    given = {"answer": "On 12 November 2019, to 10%.", "dates": [DATE], **gold}
    return Item(f"{task}-{number}", "tide", task, {}, inputs, given, {})


@pytest.mark.parametrize(
    ("fact", "dates"),
    [
        ("10%", []),
        (None, []),
        ("12 November 2019", ["2019-11-12"]),
        ("১২ নভেম্বর ২০১৯ হইতে", ["2019-11-12"]),
    ],
)
def test_an_explanation_has_to_state_the_dates_of_the_right_fact(
    fact: str | None, dates: list[str]
) -> None:
    altered = item(1, "perturbation_detection", is_perturbed=True, correct_fact=fact)
    assert [date.value for date in case_of(altered).dates] == dates
    assert [date["value"] for date in judged_dates(altered)] == dates
    assert judged_dates(item(2)) == [DATE]


def response(of: Item, text: str = ANSWER, model: str = "m", number: int = 0, **more: Any) -> Any:
    fields = {
        "finish_reason": "stop",
        "usage": {"prompt": 1, "completion": 1, "reasoning": None},
        "backend": "x",
        "backend_version": "1",
        "attempts": 1,
        **more,
    }
    request_id = f"r-{of.item_id}-{number}"
    return Response(request_id, of.item_id, model, "non_thinking", text, **fields)


class Asked:
    """A judging model that gives one reply to everything, and remembers what it was asked."""

    def __init__(self, reply: str | None = None, **more: Any) -> None:
        self.reply = reply
        self.more = more
        self.requests: list[Request] = []

    def __call__(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        out = []
        for request in requests:
            kind, dates = request.setting["kind"], self.dates(request)
            text = cases.dumped(cases.reply(kind, dates)) if self.reply is None else self.reply
            made = response(item(0), text, "judge", **self.more)
            out.append(replace(made, request_id=request.request_id, item_id=request.item_id))
        return out

    @staticmethod
    def dates(request: Request) -> int:
        assert request.response_schema is not None
        return int(request.response_schema["properties"]["matched"]["maxItems"])


# --- cases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "kind", "shown"),
    [
        ("open_ended", "plain", ""),
        ("scenario_short_answer", "plain", "A firm imports machines."),
        ("temporal_scenario_short_answer", "plain", "A firm imports machines."),
        ("relative_time_qa", "relative_time", ""),
        ("context_misalignment", "misalignment", "It was lowered to 15%."),
        (
            "perturbation_detection",
            "explanation",
            "It was lowered to 15% on 12 November 2019.",
        ),
    ],
)
def test_the_case_of_each_task(task: str, kind: str, shown: str) -> None:
    case = case_of(item(1, task))
    assert (case.kind, case.shown) == (kind, shown)
    assert case.reference == "On 12 November 2019, to 10%."
    altered = task == "perturbation_detection"
    assert [date.value for date in case.dates] == ([] if altered else ["2019-11-12"])
    assert case.question.startswith("When was the rate") and case.item_id == f"{task}-1"


def test_notes_are_shown_where_the_gold_has_them() -> None:
    facts = {"perturbed_fact": "15%", "correct_fact": "10%", "is_perturbed": True}
    assert case_of(item(1, "perturbation_detection", **facts)).notes == (
        (ALTERED, "15%"),
        (RIGHT, "10%"),
    )
    conflict = case_of(item(1, "context_misalignment", conflict="15% instead of 10%"))
    assert conflict.notes == (("Documented conflict", "15% instead of 10%"),)
    assert case_of(item(1, "relative_time_qa", anchor="2016-11-12 + 3 years")).notes == (
        ("Anchor", "2016-11-12 + 3 years"),
    )
    assert case_of(item(1, "relative_time_qa", anchor=None)).notes == ()


@pytest.mark.parametrize(
    "broken",
    [
        replace(item(1), gold={"answer": "x"}),
        replace(item(1), gold={"dates": []}),
        replace(item(1), inputs={}),
        replace(item(1), gold={"answer": "x", "dates": [{"value": "2019"}]}),
        replace(item(1), gold={"answer": "x", "dates": ["2019"]}),
    ],
)
def test_an_item_without_its_fields_is_named(broken: Item) -> None:
    with pytest.raises(ScoringError, match=r"open_ended-1.*build the items again"):
        case_of(broken)


# --- what is asked -------------------------------------------------------------------------------


def test_equal_answers_to_an_item_are_asked_once_whoever_gave_them() -> None:
    items = [item(1), item(2)]
    rows = [
        response(items[0], model="m1"),
        response(items[0], model="m2"),
        response(items[0], "another answer", "m2", 1),
        response(items[1], model="m1"),
    ]
    asked = Asked()
    made = judge_by_model(items, [Judged(row) for row in rows], "judge", DECODING, asked)
    assert len(asked.requests) == 3
    assert [row.request_id for row in made] == [row.request_id for row in rows]
    assert all(row.judge == "judge" and row.raw for row in made)
    assert made[0].answers == made[1].answers
    # The span that the judge copies is not in the other answer: its match is void.
    assert made[0].answers["voided"] == [] and made[2].answers["voided"] == [0]
    assert decide([made[0].answers], 1, 0.5).strict is True
    assert decide([made[2].answers], 1, 0.5).strict is False


def test_what_holds_no_answer_is_not_sent() -> None:
    one = item(1)
    rows = [
        response(one, " \n"),
        response(one, "", number=1, finish_reason="length"),
        response(one, "", number=2, finish_reason="error", error="timeout"),
        response(one, "", number=3, finish_reason="error", error="not run: no key"),
        response(one, "<think>still at it", number=4, finish_reason="length"),
        response(one, "<think>so</think>" + ANSWER, number=5),
    ]
    asked = Asked()
    made = judge_by_model([one], [Judged(row) for row in rows], "judge", DECODING, asked)
    reasons = [row.answers["reason"] for row in made]
    assert reasons == ["blank", "truncated", "inference_error", "not_run", "truncated", None]
    assert set(reasons) - {None} <= set(UNASKED)
    assert len(asked.requests) == 1 and "<think>" not in asked.requests[0].messages[1]["content"]
    assert all(row.answers["meaning"] is None and row.raw == "" for row in made[:5])
    programs = judge_by_program([one], [Judged(row) for row in rows], "rule_judge")
    assert [row.answers["reason"] for row in programs] == reasons
    assert decide([row.answers for row in made[:5]], 1, 0.5).seats == 0


def test_explanations_are_judged_of_altered_statements_only() -> None:
    altered = item(1, "perturbation_detection", is_perturbed=True, perturbed_fact="15%",
                   correct_fact="10%")  # fmt: skip
    sound = item(2, "perturbation_detection", is_perturbed=False)
    judged = [Judged(response(one, "15% is wrong.", number=9), True) for one in (altered, sound)]
    asked = Asked()
    made = judge_by_model([altered, sound], judged, "judge", DECODING, asked)
    assert len(asked.requests) == 1 and "15%" in asked.requests[0].messages[1]["content"]
    assert set(made[0].answers["flags"]) == {*FLAGS["explanation"], "localized_element"}
    assert made[1].answers["reason"] == "not_perturbed"


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        (Judged(response(item(7))), "unknown items: open_ended-7"),
        (Judged(response(item(1)), explanation=True), "task 'open_ended'"),
        (Judged(response(item(1, "temporal_mcq"))), "task 'temporal_mcq'"),
        (Judged(response(item(1, "perturbation_detection"))), "task 'perturbation_detection'"),
        (Judged(response(item(1, "poetry"))), "task 'poetry'"),
    ],
)
def test_a_file_that_does_not_belong_is_named(judged: Judged, message: str) -> None:
    items = [item(1, task) for task in ("open_ended", "temporal_mcq", "poetry")]
    items.append(item(1, "perturbation_detection"))
    for judge in PROGRAMS:
        with pytest.raises(ScoringError, match=message):
            judge_by_program(items, [judged], judge)


@pytest.mark.parametrize(
    ("reply", "more", "reason"),
    [
        ("no", {}, "not_json"),
        ('{"matched": [tr', {"finish_reason": "length"}, "judge_cut_off"),
        ("", {"error": "timeout", "finish_reason": "error"}, "judge_error"),
        ("", {"error": "not run: no key", "finish_reason": "error"}, "judge_not_run"),
    ],
)
def test_a_judge_without_a_valid_reply_leaves_its_seat_empty(
    reply: str, more: dict[str, Any], reason: str
) -> None:
    rows = [Judged(response(item(1)))]
    (made,) = judge_by_model([item(1)], rows, "judge", DECODING, Asked(reply, **more))
    assert made.answers["reason"] == reason and made.answers["date_matches"] is None
    assert made.raw == reply


def test_a_whole_reply_at_the_limit_counts() -> None:
    (made,) = judge_by_model(
        [item(1)], [Judged(response(item(1)))], "judge", DECODING, Asked(finish_reason="length")
    )
    assert made.answers["reason"] is None


def test_limits_and_rationale_reach_the_request() -> None:
    asked = Asked()
    rows = [Judged(response(item(1)))]
    judge_by_model([item(1)], rows, "j", DECODING, asked, limited=False, rationale_characters=99)
    schema = asked.requests[0].response_schema
    assert schema is not None and schema["required"][0] == "analysis"
    assert "maxLength" not in json.dumps(schema)
    assert "- analysis:" in asked.requests[0].messages[0]["content"]


@pytest.mark.parametrize("text", cases.HOSTILE)
def test_hostile_answers_change_no_other_judgement(text: str) -> None:
    items = [item(1), item(2)]
    quiet = [Judged(response(items[0])), Judged(response(items[1], "10%"))]
    loud = [quiet[0], Judged(response(items[1], text))]
    for judge in PROGRAMS:
        assert judge_by_program(items, quiet, judge)[0] == judge_by_program(items, loud, judge)[0]
    one, other = Asked(), Asked()
    first = judge_by_model(items, quiet, "judge", DECODING, one)
    second = judge_by_model(items, loud, "judge", DECODING, other)
    assert first[0] == second[0] and one.requests[0] == other.requests[0]


def test_no_answers_ask_nothing() -> None:
    asked = Asked()
    assert judge_answers([], DECODING, asked) == [] and asked.requests == []
    assert judge_by_program([], [], "rule_judge") == []


# --- the rule scripts ----------------------------------------------------------------------------


class Named(SimpleNamespace):
    """What Snakemake gives: attributes, and `get`."""

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


RUNS = [["m1", "non_thinking"], ["m2", "non_thinking"], ["majority", "non_thinking"]]


class Workshop:
    """Files of three runs, and the jobs of the judges."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        facts = {"is_perturbed": True, "perturbed_fact": "15%", "correct_fact": "10%"}
        self.items = [
            item(1),
            item(2, "context_misalignment"),
            item(3, "perturbation_detection", **facts),
        ]
        self.item_files = self.write("items", [self.items])
        self.responses = self.write(
            "responses",
            [[response(one, model=model) for one in self.items[:2]] for model, _ in RUNS],
        )
        second = Request("e1", self.items[2].item_id, {}, [], {})
        self.explanations = self.write("explanations", [[second], [second], []])
        said = [
            replace(response(self.items[2], "15% is wrong.", model), request_id="e1")
            for model in ("m1", "m2")
        ]
        self.explanation_answers = self.write("said", [[said[0]], [said[1]], []])

    def write(self, name: str, files: list[list[Any]]) -> list[str]:
        paths = [self.folder / f"{name}.{number}.jsonl" for number in range(len(files))]
        for path, rows in zip(paths, files, strict=True):
            write_records(path, rows)
        return [str(path) for path in paths]

    def job(self, judge: str, **params: Any) -> Any:
        given = Named(
            item_files=self.item_files,
            responses=self.responses,
            explanations=self.explanations,
            explanation_answers=self.explanation_answers,
        )
        out = [str(self.folder / judge / f"{model}.{mode}.jsonl") for model, mode in RUNS]
        return Named(
            input=given,
            output=Named(
                judgements=out,
                answers=str(self.folder / judge / "answers.jsonl"),
                manifest=str(self.folder / judge / "manifest.json"),
            ),
            params=Named(judge=judge, runs=RUNS, **params),
        )

    def judge(self, judge: str, **params: Any) -> list[list[Judgement]]:
        job = self.job(judge, **params)
        judge_responses.main(job)
        return [read_records(path, Judgement) for path in job.output.judgements]


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.mark.parametrize("judge", PROGRAMS)
def test_one_job_writes_a_file_for_every_run(workshop: Workshop, judge: str) -> None:
    files = workshop.judge(judge)
    assert [len(rows) for rows in files] == [3, 3, 2]
    assert [row.request_id for row in files[0]] == [
        "r-open_ended-1-0", "r-context_misalignment-2-0", "e1",
    ]  # fmt: skip
    assert all(row.judge == judge for rows in files for row in rows)
    assert files[0] == files[1]
    first = [Path(path).read_bytes() for path in workshop.job(judge).output.judgements]
    workshop.judge(judge)
    assert first == [Path(path).read_bytes() for path in workshop.job(judge).output.judgements]


def test_a_model_judges_through_its_store(workshop: Workshop, tmp_path: Path) -> None:
    weights = tiny_models.save(tmp_path / "weights", tiny_models.llama())
    config = json.loads((weights / "config.json").read_text())
    config["max_position_embeddings"] = 4096
    (weights / "config.json").write_text(json.dumps(config))
    entry = {
        "backend": "transformers",
        "source": "tiny",
        "revision": "1",
        "precision": "float32",
        "context_length": 4096,
        "modes": ["non_thinking"],
        "threads": 1,
    }
    params = {
        "entry": entry,
        "mode": "non_thinking",
        "max_new_tokens": 400,
        "decoding": DECODING,
        "benchmark": "tide",
        "store": str(tmp_path / "store.jsonl"),
    }
    job = workshop.job("tiny", **params)
    job.input.weights = [str(weights / "config.json")]
    judge_responses.main(job)
    files = [read_records(path, Judgement) for path in job.output.judgements]
    assert [len(rows) for rows in files] == [3, 3, 2]
    # Every reply follows the schema, so that no seat is empty; the spans are nonsense, hence void.
    seats = [row.answers for rows in files for row in rows]
    assert all(seat["reason"] is None for seat in seats)
    assert all(not match["matched"] for seat in seats for match in seat["date_matches"])
    # Every reply is kept as a Response of its own: a release can replay the judge.
    replies = read_records(job.output.answers, Response)
    assert [reply.request_id for reply in replies] == sorted({r.request_id for r in replies})
    assert {row.raw for rows in files for row in rows if row.raw} == {r.text for r in replies}
    facts = read_json(job.output.manifest)
    assert facts["requests"]["generated"] == 3
    judge_responses.main(job)
    assert read_json(job.output.manifest)["requests"]["generated"] == 0
    assert [read_records(path, Judgement) for path in job.output.judgements] == files


def test_foreign_rows_are_named(workshop: Workshop) -> None:
    job = workshop.job("rule_judge")
    job.params.runs = RUNS[:2]
    with pytest.raises(DataError, match="none of the runs"):
        judge_responses.main(job)
    job = workshop.job("rule_judge")
    job.input.explanations = []
    with pytest.raises(DataError, match="explanation to request e1"):
        judge_responses.main(job)


def compare_job(workshop: Workshop, human: Any = ()) -> Any:
    judges = list(PROGRAMS)
    files = [path for judge in judges for path in workshop.job(judge).output.judgements]
    return Named(
        input=Named(judgements=files, human_validation=human),
        output=Named(
            council=str(workshop.folder / "council.csv"),
            human_validation=str(workshop.folder / "human_validation.csv"),
        ),
        params=Named(judges=judges, statistics={"resamples": 100, "level": 0.95}, seed=1),
    )


def test_judges_are_compared_over_all_runs(workshop: Workshop) -> None:
    for judge in PROGRAMS:
        workshop.judge(judge)
    job = compare_job(workshop)
    compare_judges.main(job)
    council = read_csv(job.output.council)
    whole = council[(council["question"] == "meaning") & (council["kind"] == "fleiss")].iloc[0]
    assert whole["n"] == 8 and whole["left_out"] == 0
    assert read_csv(job.output.human_validation)["flag"].eq("no_scores").all()
    scores = workshop.folder / "scores.csv"
    scores.write_text("request_id,rater,verdict,reasoning,clarity\ne1,anna,50,30,9\n")
    compare_judges.main(compare_job(workshop, str(scores)))
    means = read_csv(job.output.human_validation)
    assert means[means["criterion"] == "total"]["mean"].tolist() == [89]
    scores.write_text("request_id,rater,verdict,reasoning,clarity\nlost,anna,50,30,9\n")
    with pytest.raises(DataError, match="row 2: the council judged no answer"):
        compare_judges.main(compare_job(workshop, [str(scores)]))


def test_files_in_another_order_are_refused(workshop: Workshop) -> None:
    for judge in PROGRAMS:
        workshop.judge(judge)
    job = compare_job(workshop)
    job.input.judgements = job.input.judgements[::-1]
    with pytest.raises(DataError, match="another judge's"):
        compare_judges.main(job)
    job.input.judgements = job.input.judgements[:-1]
    with pytest.raises(DataError, match="5 files of judgements for 2 judges"):
        compare_judges.main(job)


def test_a_request_says_what_it_is_for() -> None:
    request = build_request(case_of(item(1)), ANSWER, DECODING)
    assert request.setting == {"purpose": "council", "kind": "plain"}
    assert request.decoding == DECODING and request.item_id == "open_ended-1"
