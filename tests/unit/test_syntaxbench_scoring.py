from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from scripts.files import DataError, write_parquet, write_records
from scripts.judging.score_files import STORED_CHARACTERS, ScoringError, storable
from scripts.records import Item, Request, Response
from scripts.syntaxbench import gather_scores as gather_rule
from scripts.syntaxbench import score_responses as score_rule
from scripts.syntaxbench.scoring import (
    SCORE_DTYPES,
    SORT_COLUMNS,
    gather_scores,
    read_scores,
    score_responses,
    scores_to_frame,
)

DECODING = {"temperature": 0.0}


def item(task: str, gold: Any, condition: str = "english", **inputs: Any) -> Item:
    return Item.create("syntaxbench", task, {"condition": condition}, inputs, {"answer": gold}, {})


def request(of: Item, shots: int = 0) -> Request:
    message = {"role": "user", "content": of.item_id}
    return Request.create(of.item_id, {"shots": shots}, [message], DECODING)


def response(to: Request, text: str, **fields: Any) -> Response:
    values: dict[str, Any] = {
        "request_id": to.request_id,
        "item_id": to.item_id,
        "model": "m",
        "mode": "thinking",
        "text": text,
        "finish_reason": "stop",
        "usage": {"prompt": 10, "completion": 5, "reasoning": None},
        "backend": "archive",
        "backend_version": "1",
        "attempts": 1,
    }
    return Response(**{**values, **fields})


def frame_of(rows: list[tuple[Item, str, dict[str, Any]]]) -> pd.DataFrame:
    items = [row[0] for row in rows]
    requests = [request(i) for i in items]
    responses = [response(r, t, **f) for r, (_, t, f) in zip(requests, rows, strict=True)]
    return scores_to_frame(score_responses(items, requests, responses))


def one(task: str, gold: Any, text: str, **fields: Any) -> dict[str, Any]:
    return frame_of([(item(task, gold), text, fields)]).iloc[0].to_dict()


@pytest.mark.parametrize(
    ("task", "gold", "text", "correct"),
    [
        ("count_chars", 7, '{"result": 7}', True),
        ("count_chars", 7, '{"result": "07"}', True),
        ("count_chars", 7, '{"result": 8}', False),
        ("palindrome_test", "yes", '{"result": true}', True),
        ("letter_container", "no", '{"result": "Yes"}', False),
        ("longest_string_finder", "Banana", '{"result": " bANANA "}', True),
        ("longest_string_finder", "straße", '{"result": "STRASSE"}', True),
        ("longest_string_finder", "banana", '{"result": "bananas"}', False),
        ("index_to_span", "f The ", '{"result": "f The "}', True),
        ("index_to_span", "f The ", '{"result": "f the "}', False),
        ("index_to_span", "f The ", '{"result": "f The"}', False),
    ],
)
def test_what_counts_as_right(task: str, gold: Any, text: str, correct: bool) -> None:
    row = one(task, gold, text)
    assert (row["correct"], row["valid"], row["category"]) == (correct, True, "valid")


def test_relaxed_accuracy_and_signed_error() -> None:
    for answer, relaxed, delta in ((7, True, 0), (6, True, -1), (8, True, 1), (9, False, 2)):
        row = one("edit_distance", 7, f'{{"result": {answer}}}')
        assert (row["relaxed"], row["delta"], row["correct"]) == (relaxed, delta, delta == 0)
    assert pd.isna(one("palindrome_test", "yes", '{"result": "yes"}')["relaxed"])
    assert pd.isna(one("palindrome_test", "yes", '{"result": "yes"}')["delta"])


def test_a_parse_error_is_wrong_and_invalid() -> None:
    row = one("count_chars", 7, "seven")
    assert (row["correct"], row["valid"], row["relaxed"]) == (False, False, False)
    assert (row["category"], row["route"]) == ("unparsable", "none: no_result")
    assert row["parsed"] is None or pd.isna(row["parsed"])
    assert pd.isna(row["delta"])


def test_an_inference_error_is_wrong_but_what_was_not_run_is_unscored() -> None:
    row = one("count_chars", 7, "", error="HTTP 500 after 5 attempts")
    assert (row["correct"], row["category"]) == (False, "inference_error")
    row = one("count_chars", 7, "", error="not run: missing in archive")
    assert pd.isna(row["correct"]) and pd.isna(row["relaxed"])
    assert (row["valid"], row["category"]) == (False, "not_run")
    assert row["route"] == "not run: missing in archive"


def rows_of_everything() -> list[tuple[Item, str, dict[str, Any]]]:
    return [
        (item("count_chars", 7, string="strings"), '{"result": 7}', {}),
        (item("count_chars", 3, "random", string="xqz"), "", {"finish_reason": "length"}),
        (item("palindrome_test", "yes", string="level"), "", {"error": "not run: absent"}),
        (item("index_to_span", "a\x00b", "random"), '{"result": "\\ud800\\u0000"}', {}),
        (item("longest_string_finder", "<b>%_"), '{"result": "\\\\input{x} <script>"}', {}),
    ]


def test_frame_has_its_columns_dtypes_and_order_and_survives_the_file(tmp_path: Path) -> None:
    frame = frame_of(rows_of_everything())
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == SCORE_DTYPES
    assert frame[SORT_COLUMNS].apply(tuple, axis=1).is_monotonic_increasing
    write_parquet(tmp_path / "scores.parquet", frame)
    pd.testing.assert_frame_equal(read_scores(tmp_path / "scores.parquet"), frame)
    parsed = set(frame["parsed"].dropna())
    assert parsed == {"7", "\\ud800\x00", "\\input{x} <script>"}


def test_the_frame_does_not_depend_on_the_order_of_the_responses(tmp_path: Path) -> None:
    rows = rows_of_everything()
    write_parquet(tmp_path / "a", frame_of(rows))
    write_parquet(tmp_path / "b", frame_of(rows[::-1]))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_empty_run_keeps_the_dtypes() -> None:
    frame = scores_to_frame([])
    assert frame.empty
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == SCORE_DTYPES


def test_long_answers_are_cut_in_the_file_but_compared_whole() -> None:
    gold = "a" * (STORED_CHARACTERS + 10)
    row = one("index_to_span", gold, f'{{"result": "{gold}"}}')
    assert row["correct"] is True or bool(row["correct"])
    assert row["parsed"] == "a" * STORED_CHARACTERS + "…"
    assert not one("index_to_span", gold, f'{{"result": "{gold}b"}}')["correct"]


def test_storable_keeps_ordinary_text() -> None:
    assert storable("naïve ৭\n") == "naïve ৭\n"
    assert storable("\udcff") == "\\udcff"


class TestRowsThatDoNotBelongTogether:
    items = (item("count_chars", 7, string="strings"), item("count_chars", 3, string="abc"))
    requests = tuple(request(i) for i in items)
    responses = tuple(response(r, '{"result": 7}') for r in requests)

    def score(self, items: Any = None, requests: Any = None, responses: Any = None) -> None:
        score_responses(
            items if items is not None else self.items,
            requests if requests is not None else self.requests,
            responses if responses is not None else self.responses,
        )

    def test_missing_responses_are_named(self) -> None:
        with pytest.raises(ScoringError, match=r"no response to 1 request.*run the model") as error:
            self.score(responses=self.responses[:1])
        assert self.requests[1].request_id in str(error.value)

    def test_no_response_at_all(self) -> None:
        with pytest.raises(ScoringError, match="no response at all to 2"):
            self.score(responses=())

    def test_unknown_request(self) -> None:
        with pytest.raises(ScoringError, match="unknown requests: zzz"):
            self.score(responses=(*self.responses, replace(self.responses[0], request_id="zzz")))

    def test_duplicates(self) -> None:
        with pytest.raises(ScoringError, match=r"responses of m \(thinking\) given more than once"):
            self.score(responses=(*self.responses, self.responses[0]))
        with pytest.raises(ScoringError, match="items given more than once"):
            self.score(items=(*self.items, self.items[0]))
        with pytest.raises(ScoringError, match="requests given more than once"):
            self.score(requests=(*self.requests, self.requests[0]))

    def test_orphan_request_and_swapped_item(self) -> None:
        with pytest.raises(ScoringError, match="requests whose item is unknown"):
            self.score(items=self.items[:1])
        swapped = replace(self.responses[0], item_id=self.items[1].item_id)
        with pytest.raises(ScoringError, match="item_id is not their request's"):
            self.score(responses=(swapped, self.responses[1]))

    @pytest.mark.parametrize("gold", ["7", True, None, 7.0])
    def test_bad_gold(self, gold: Any) -> None:
        with pytest.raises(ScoringError, match="is no integer answer"):
            one("count_chars", gold, "")

    def test_bad_condition(self) -> None:
        bad = item("count_chars", 7, "french")
        with pytest.raises(ScoringError, match="condition 'french' is not one of english, random"):
            self.score((bad,), (request(bad),), (response(request(bad), ""),))


def test_several_runs_are_scored_together_and_gathered() -> None:
    items = [item("count_chars", 7, string="strings")]
    requests = [request(items[0], shots) for shots in (4, 0)]
    runs = [("b", "thinking"), ("a", "thinking"), ("a", "non_thinking")]
    frames = [
        scores_to_frame(
            score_responses(
                items,
                requests,
                [response(r, '{"result": 7}', model=model, mode=mode) for r in requests],
            )
        )
        for model, mode in runs
    ]
    whole = gather_scores(frames)
    assert list(zip(whole["model"], whole["mode"], whole["shots"], strict=True)) == [
        (model, mode, shots) for model, mode in sorted(runs) for shots in (0, 4)
    ]
    with pytest.raises(ScoringError, match=r"2 score.s. stand twice, the first for b .thinking"):
        gather_scores([*frames, frames[0]])
    with pytest.raises(ScoringError, match="no score files"):
        gather_scores([])


def test_rule_scripts_read_and_write_files(tmp_path: Path) -> None:
    items = [row[0] for row in rows_of_everything()]
    requests = [request(i) for i in items]
    responses = [
        response(r, text, **fields)
        for r, (_, text, fields) in zip(requests, rows_of_everything(), strict=True)
    ]
    for name, records in (("items", items), ("requests", requests), ("responses", responses)):
        write_records(tmp_path / f"{name}.jsonl", records)
    job = SimpleNamespace(
        input=SimpleNamespace(
            item_files=[tmp_path / "items.jsonl"],
            requests=[tmp_path / "requests.jsonl"],
            responses=[tmp_path / "responses.jsonl"],
        ),
        output=[tmp_path / "m.thinking.parquet"],
        params=SimpleNamespace(tolerance=1),
        wildcards=SimpleNamespace(model="m", mode="thinking"),
    )
    score_rule.main(job)
    gathered = SimpleNamespace(
        input=SimpleNamespace(scores=[tmp_path / "m.thinking.parquet"]),
        output=[tmp_path / "scores.parquet"],
    )
    gather_rule.main(gathered)
    expected = scores_to_frame(score_responses(items, requests, responses))
    pd.testing.assert_frame_equal(read_scores(tmp_path / "scores.parquet"), expected)

    job.wildcards.mode = "non_thinking"
    with pytest.raises(DataError, match=r"responses.jsonl: holds responses of \[\('m', 'thinking'"):
        score_rule.main(job)


def test_a_score_file_with_other_columns_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "x.parquet", pd.DataFrame({"item_id": ["a"], "colour": ["b"]}))
    with pytest.raises(ScoringError, match=r"x.parquet: columns missing \['request_id'.*'colour'"):
        read_scores(tmp_path / "x.parquet")
