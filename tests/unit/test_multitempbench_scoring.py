"""From responses to judgements, scores and the comparison of judges, on the project's own items."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from multitempbench_material import Named, own_items, own_requests

from scripts.files import DataError, read_csv, read_records, write_records
from scripts.inference import open_model
from scripts.inference.interface import Backend
from scripts.inference.store import decode_line, encode_line
from scripts.judging.answer_words import relation_word, yes_no_word
from scripts.judging.date_judge import judge_item
from scripts.judging.replies import without_cut_number
from scripts.judging.score_files import ScoringError
from scripts.multitempbench import compare_judges, gather_scores, judge_responses, score_responses
from scripts.multitempbench.judging import judge_by_model, judge_by_rule
from scripts.multitempbench.prompts import load_prompts
from scripts.multitempbench.scoring import (
    CATEGORIES,
    SCORE_DTYPES,
    read_scores,
    score_frame,
)
from scripts.multitempbench.tasks import LANGUAGES
from scripts.records import Item, Judgement, Request, Response

TASK = "date_arithmetic"
ITEMS = own_items(TASK).items[:12]
ITEM_IDS = {item.item_id for item in ITEMS}
REQUESTS = [request for request in own_requests(TASK) if request.item_id in ITEM_IDS]
RUN = {"model": "toy", "mode": "non_thinking"}
PROMPTS = load_prompts(LANGUAGES)
ENTRY = {
    "label": "Judge",
    "backend": "openai",
    "source": "judge-1",
    "revision": "r1",
    "precision": "provider",
    "modes": ["non_thinking"],
    "base_url": "http://localhost:1",
}


def respond(request: Request, text: str, **fields: Any) -> Response:
    values: dict[str, Any] = {
        "request_id": request.request_id,
        "item_id": request.item_id,
        **RUN,
        "text": text,
        "finish_reason": "stop",
        "usage": {"prompt": 9, "completion": 4, "reasoning": None},
        "backend": "archive",
        "backend_version": "1",
        "attempts": 1,
    }
    return Response(**{**values, **fields})


def responses() -> list[Response]:
    """Right, wrong, refused, blank, lost, not run, cut, traced … in the order of REQUESTS."""
    item_of = {item.item_id: item for item in ITEMS}
    out = []
    for number, request in enumerate(REQUESTS):
        gold = str(item_of[request.item_id].gold["answer"])
        fields: dict[str, Any] = {}
        text = [
            *(gold, f"Answer: {gold}", "1 January 1901", "I don't know", "", "", "", "<think>x"),
            *(f"<think>1901-01-01</think>{gold}", "Let me see", "  ", "\ud800 " + gold),
        ][number]
        if number == 5:
            fields = {"error": "the server failed", "finish_reason": "error"}
        if number == 6:
            fields = {"error": "not run: no such row", "finish_reason": "error"}
        if number in (9, 10):
            fields = {"finish_reason": "length"}
        out.append(respond(request, text, **fields))
    return out


EXPECTED = [
    *("judged", "judged", "judged", "judged", "blank", "inference_error", "not_run", "truncated"),
    *("judged", "truncated", "truncated", "judged"),
]
VERDICTS = [
    *("correct", "correct", "incorrect", "not_attempted", "not_attempted", "not_attempted", None),
    *("not_attempted", "correct", "not_attempted", "not_attempted", "correct"),
]


def test_every_response_has_its_category_and_verdict() -> None:
    judgements = judge_by_rule(ITEMS, responses(), PROMPTS)
    frame = score_frame(ITEMS, REQUESTS, responses(), judgements, "date_judge")
    assert list(frame.columns) == list(SCORE_DTYPES)
    rows = frame.set_index("request_id").loc[[r.request_id for r in REQUESTS]]
    assert rows["category"].tolist() == EXPECTED
    assert [None if pd.isna(v) else v for v in rows["verdict"]] == VERDICTS
    assert set(EXPECTED) <= set(CATEGORIES)
    right = [None if v is None else v == "correct" for v in VERDICTS]
    assert [None if pd.isna(v) else bool(v) for v in rows["correct"]] == right
    assert rows["valid"].tolist() == [v in ("correct", "incorrect") for v in VERDICTS]
    assert rows["route"].iloc[5] == "the server failed"
    assert rows["question_id"].notna().all() and rows["source"].eq("own_questions").all()
    assert rows["completion_tokens"].iloc[0] == 4 and pd.isna(rows["reasoning_tokens"].iloc[0])
    order = frame[["task", "language", "format", "item_id"]]
    assert order.equals(order.sort_values(list(order.columns), ignore_index=True))


class Judge:
    """Answers as told, and remembers what it was asked."""

    def __init__(self, *replies: str, error: str | None = None) -> None:
        self.replies, self.error, self.asked = replies, error, []

    def __call__(self, requests: Sequence[Request]) -> list[Response]:
        self.asked += list(requests)
        return [
            respond(request, self.replies[n % len(self.replies)], error=self.error)
            for n, request in enumerate(requests)
        ]


def test_only_texts_go_to_the_model_and_equal_ones_once() -> None:
    ask = Judge("A")
    given = responses()
    judgements = judge_by_model(ITEMS, given, "gpt", {"temperature": 0.0}, ask)
    readable = sum(category in ("judged",) for category in EXPECTED) + 1  # "Let me see" was cut
    assert len(ask.asked) == readable
    assert [j.judge for j in judgements] == ["gpt"] * 12
    assert judgements[0].answers["verdict"] == "correct" and judgements[0].raw == "A"
    assert judgements[4].answers["route"] == "blank" and judgements[6].answers["verdict"] is None
    twice = [given[0], replace(given[0], request_id="other")]
    again = Judge("B")
    judge_by_model(ITEMS, twice, "gpt", {}, again)
    assert len(again.asked) == 1


def test_a_judge_that_fails_leaves_rows_unjudged() -> None:
    given = responses()[:1]
    for ask, route in (
        (Judge("", error="timeout"), "judge_error"),
        (Judge("", error="not run: no row"), "judge_not_run"),
        (Judge("A or B"), "unparsable"),
    ):
        (found,) = judge_by_model(ITEMS, given, "gpt", {}, ask)
        assert found.answers["verdict"] is None and found.answers["route"] == route
        frame = score_frame(ITEMS, REQUESTS[:1], given, [found], "gpt")
        assert frame["category"].tolist() == ["unjudged"] and frame["correct"].isna().all()


@pytest.mark.parametrize("language", sorted(PROMPTS))
def test_a_repeated_prompt_is_no_answer(language: str) -> None:
    # Half of the golds are the first word that the prompt offers, and replies end in mid prompt.
    prompt = PROMPTS[language]
    of_language = [
        (item, request)
        for task in ("date_arithmetic", "relation")
        for item, request in zip(own_items(task).items, own_requests(task), strict=True)
        if item.factors["language"] == language and item.gold["kind"] in ("relation", "yes_no")
    ]
    for item, request in of_language:
        message = str(request.messages[-1]["content"])
        instruction = prompt.instruction(item.gold["kind"])
        lead, options = prompt.lead(item.gold["kind"]), prompt.options(item.gold["kind"])
        assert instruction.startswith(lead + options) and message.endswith(instruction)
        right = prompt_word(language, item.gold)
        for reply, expected in (
            (message, "not_attempted"),
            (instruction, "not_attempted"),
            (f"{lead}{options[: len(options.split(prompt.separator)[0])]}", "not_attempted"),
            (f"x {lead[5:]}", "not_attempted"),
            (message[: len(item.inputs["question"]) * 2 // 3], "not_attempted"),
            (options, "incorrect"),
            (f"{message}\n{right}", "correct"),
            (f"{right}\n\n{instruction}", "correct"),
        ):
            found = judge_by_rule([item], [respond(request, reply)], PROMPTS)
            assert found[0].answers["verdict"] == expected, (reply, found[0].answers)


def prompt_word(language: str, gold: dict[str, Any]) -> str:
    word = relation_word if gold["kind"] == "relation" else yes_no_word
    return word(language, gold["answer"])


def test_rows_that_do_not_fit_are_errors() -> None:
    given = responses()
    judgements = judge_by_rule(ITEMS, given, PROMPTS)
    broken = replace(judgements[0], answers={"verdict": "fine"})
    for rows, message in (
        (judgements[1:], "not judged"),
        ([*judgements, judgements[0]], "judged twice"),
        ([*judgements[1:], replace(judgements[0], request_id="zz")], "not judged"),
        ([*judgements, replace(judgements[0], request_id="zz")], "judged but unknown: zz"),
        ([broken, *judgements[1:]], "verdict 'fine'"),
    ):
        with pytest.raises(ScoringError, match=message):
            score_frame(ITEMS, REQUESTS, given, rows, "date_judge")
    with pytest.raises(ScoringError, match="judgements of"):
        score_frame(ITEMS, REQUESTS, given, judgements, "gpt")
    with pytest.raises(ScoringError, match="unknown items"):
        judge_by_rule(ITEMS[1:], given, PROMPTS)
    bad = replace(ITEMS[0], gold={**ITEMS[0].gold, "kind": "colour"})
    with pytest.raises(ScoringError, match=f"item {ITEMS[0].item_id}"):
        judge_by_rule([bad, *ITEMS[1:]], given, PROMPTS)


# --- the rules -----------------------------------------------------------------------------------


class FakeJudge(Backend):
    """A judge that says A to everything."""

    name = "openai"
    made: list[FakeJudge] = []  # noqa: RUF012 - a record of the test

    def __init__(self, spec: Any, mode: str) -> None:
        super().__init__(spec, mode)
        self.asked: list[Request] = []
        self.closed = False
        FakeJudge.made.append(self)

    @property
    def version(self) -> str:
        return "1"

    def identity(self) -> dict[str, Any]:
        return {"fake": 1}

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        for request in requests:
            self.asked.append(request)
            yield respond(request, "A", model=self.spec.name, mode=self.mode)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {name: tmp_path / f"{name}.jsonl" for name in ("items", "requests", "responses")}
    write_records(paths["items"], ITEMS)
    write_records(paths["requests"], REQUESTS)
    write_records(paths["responses"], responses())
    return paths


def job(files: dict[str, Path], folder: Path, judge: str, **params: Any) -> SimpleNamespace:
    return SimpleNamespace(
        input=Named(item_files=[files["items"]], responses=[files["responses"]]),
        output=Named(
            judgements=f"{folder}/{judge}.jsonl",
            answers=f"{folder}/{judge}.answers.jsonl",
            manifest=folder / f"{judge}.json",
        ),
        params=Named(judge=judge, languages=sorted(LANGUAGES), **params),
        wildcards=Named(**RUN),
    )


OF_MODEL = {
    **{"entry": ENTRY, "mode": "non_thinking", "max_new_tokens": 16},
    **{"decoding": {"temperature": 0.0}, "benchmark": "multitempbench"},
}


def judge_runs(files: dict[str, Path], folder: Path, *names: str) -> dict[str, list[Judgement]]:
    """The verdicts of the model `gpt` on runs that answer all alike, by the run's name."""
    paths = {name: folder / f"responses/{name}.jsonl" for name in names}
    for name, path in paths.items():
        write_records(path, [replace(response, model=name) for response in responses()])
    many = job(
        files,
        folder,
        "gpt",
        **OF_MODEL,
        runs=[[name, RUN["mode"]] for name in names],
        store=str(folder / "store/gpt.jsonl"),
    )
    many.input.responses = [str(path) for path in paths.values()]
    many.output.judgements = [str(folder / f"judgements/{name}.jsonl") for name in names]
    judge_responses.main(many)
    return {name: read_records(folder / f"judgements/{name}.jsonl", Judgement) for name in names}


def test_equal_replies_of_two_runs_are_judged_and_paid_once(
    tmp_path: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_model, "create_backend", FakeJudge)
    FakeJudge.made.clear()
    alone = judge_runs(files, tmp_path, "one")
    both = judge_runs(files, tmp_path, "one", "two")
    assert [len(made.asked) for made in FakeJudge.made] == [7, 0]
    assert both == {"one": alone["one"], "two": alone["one"]}
    with pytest.raises(DataError, match="1 files of responses for 2 runs"):
        few = job(files, tmp_path, "gpt", **OF_MODEL, runs=[["one", "m"], ["two", "m"]], store="s")
        judge_responses.main(few)


def test_verdicts_of_one_store_a_run_are_not_paid_again(
    tmp_path: Path,
    files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(open_model, "create_backend", FakeJudge)
    FakeJudge.made.clear()
    first = judge_runs(files, tmp_path, "one")
    # As they were kept before: a store a run, with the same question in two of them.
    store, older = tmp_path / "store/gpt.jsonl", tmp_path / "store/gpt"
    older.mkdir()
    lines = store.read_bytes().splitlines(keepends=True)
    (older / "one.thinking.jsonl").write_bytes(b"".join(lines[:5]))
    key, stored = decode_line(lines[0][:-1])
    failed = encode_line(decode_line(lines[6][:-1])[0], {**stored, "error": "http 500"})
    rest = [encode_line(key, {**stored, "text": "B"}), *lines[4:6], failed]
    (older / "two.thinking.jsonl").write_bytes(b"".join(rest))
    store.unlink()
    capsys.readouterr()
    # Six verdicts are found; the seventh was an error and is asked.
    assert judge_runs(files, tmp_path, "one", "two")["one"] == first["one"]
    assert [len(made.asked) for made in FakeJudge.made] == [7, 1]
    said = capsys.readouterr().out
    assert f"6 verdicts taken into {store} from 2 older files" in said
    assert "of 1 questions the older files hold another verdict" in said
    before = store.read_bytes()
    judge_runs(files, tmp_path, "one", "two")
    assert store.read_bytes() == before and FakeJudge.made[-1].asked == []
    (older / "two.thinking.jsonl").write_bytes(b"nothing\n")
    with pytest.raises(DataError, match=r"two\.thinking\.jsonl, line 1"):
        judge_runs(files, tmp_path, "one")


def test_rules_from_responses_to_agreement(
    tmp_path: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_model, "create_backend", FakeJudge)
    FakeJudge.made.clear()
    judge_responses.main(job(files, tmp_path, "date_judge"))
    model_job = job(
        files,
        tmp_path,
        "gpt",
        **OF_MODEL,
        runs=[list(RUN.values())],
        store=str(tmp_path / "store/gpt.jsonl"),
    )
    judge_responses.main(model_job)
    before = (tmp_path / "gpt.jsonl").read_bytes()
    judge_responses.main(model_job)
    assert [len(made.asked) for made in FakeJudge.made] == [7, 0]
    assert all(made.closed for made in FakeJudge.made)
    assert (tmp_path / "gpt.jsonl").read_bytes() == before
    facts = json.loads((tmp_path / "gpt.json").read_text())
    assert facts["requests"] == {"total": 7, "generated": 0, "from_store": 7, "errors": 0}
    assert FakeJudge.made[0].asked[0].decoding == {"temperature": 0.0, "max_new_tokens": 16}

    score_job = SimpleNamespace(
        input=Named(
            item_files=[files["items"]],
            requests=[files["requests"]],
            responses=[files["responses"]],
            judgements=str(tmp_path / "date_judge.jsonl"),
        ),
        output=[tmp_path / "one.parquet"],
        params=Named(judge="date_judge"),
        wildcards=Named(**RUN),
    )
    score_responses.main(score_job)
    gather_scores.main(
        SimpleNamespace(
            input=Named(scores=[tmp_path / "one.parquet"]), output=[tmp_path / "all.parquet"]
        )
    )
    frame = read_scores(tmp_path / "all.parquet")
    assert len(frame) == 12 and frame.dtypes.astype(str)["correct"] == "boolean"

    labels = tmp_path / "labels.csv"
    labels.write_text(
        "model,mode,item_id,annotator,verdict\n"
        + "".join(f"toy,non_thinking,{r.item_id},ann,A\n" for r in REQUESTS[:4])
    )
    compare_job = SimpleNamespace(
        input=Named(
            judgements=[tmp_path / "date_judge.jsonl", tmp_path / "gpt.jsonl"],
            human_labels=str(labels),
        ),
        output=Named(
            judge_agreement=tmp_path / "agreement.csv", judge_confusion=tmp_path / "confusion.csv"
        ),
        params=Named(
            judges=["date_judge", "gpt"],
            runs=[["toy", "non_thinking"]],
            statistics={"resamples": 100, "level": 0.95},
            seed=7,
        ),
    )
    compare_judges.main(compare_job)
    agreement = read_csv(tmp_path / "agreement.csv")
    assert agreement["judge_b"].tolist() == ["gpt", "human", "human", "human"]
    assert agreement["n"].iloc[0] == 10
    assert read_csv(tmp_path / "confusion.csv")["n"].sum() == 10 + 4 + 4
    compare_job.input.human_labels = []
    compare_judges.main(compare_job)
    assert len(read_csv(tmp_path / "agreement.csv")) == 1


def test_a_foreign_run_is_an_error(tmp_path: Path, files: dict[str, Path]) -> None:
    foreign = job(files, tmp_path, "date_judge")
    foreign.wildcards = Named(model="other", mode="thinking")
    with pytest.raises(DataError, match=r"holds responses of \[\('toy', 'non_thinking'\)\]"):
        judge_responses.main(foreign)


def test_judgement_rows_are_read_back(tmp_path: Path, files: dict[str, Path]) -> None:
    judge_responses.main(job(files, tmp_path, "date_judge"))
    rows = read_records(tmp_path / "date_judge.jsonl", Judgement)
    assert [r.request_id for r in rows] == [r.request_id for r in REQUESTS]
    assert set(rows[0].answers) == {"verdict", "reason", "route", "parsed", "item_id"}


# --- the date judge on the project's own items ---------------------------------------------------


def one_in(items: Sequence[Item], step: int) -> list[Item]:
    return list(items)[::step]


@pytest.mark.parametrize("task", ["date_arithmetic", "time_zone", "relation"])
def test_every_alias_of_an_item_is_right_and_the_question_alone_is_none(task: str) -> None:
    for item in one_in(own_items(task).items, 11):
        unlisted = replace(item, gold={**item.gold, "aliases": []})
        for alias in item.gold["aliases"]:
            assert judge_item(unlisted, f"Answer: {alias}").verdict == "correct", alias
        assert judge_item(item, item.inputs["question"]).verdict == "not_attempted"


def test_an_answer_of_another_item_is_wrong() -> None:
    items = [i for i in own_items("date_arithmetic").items if i.gold["kind"] == "date"]
    for item, other in zip(items, items[40:], strict=False):
        if not set(item.gold["accepted"]) & set(other.gold["accepted"]):
            assert judge_item(item, str(other.gold["answer"])).verdict == "incorrect"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The answer is 10", "The answer is "),
        ("It was 1,00", "It was "),
        ("31/12/20", "31/12/"),
        ("31/12/2025", "31/12/2025"),
        ("am 31.12.2025", "am 31.12.2025"),
        ("2025-12-31", "2025-12-31"),
        ("2025-12-3", "2025-12"),
        ("at 20:30", "at 20:30"),
        ("at 20:3", "at 20:"),
        ("3rd of July 2023", "3rd of July 2023"),
        ("03. Juli des Jahres 2023", "03. Juli des Jahres 2023"),
        ("3 July 202", "3 July "),
        ("٣ يوليو ٢٠٢٣", "٣ يوليو ٢٠٢٣"),
        ("٣ يوليو ٢٠", "٣ يوليو "),
        ("in 2023", "in "),
        ("10 days", "10 days"),
        ("10.", "10."),
        ("", ""),
    ],
)
def test_a_number_at_the_limit_may_go_on(text: str, kept: str) -> None:
    assert without_cut_number(text) == kept
