"""The second step of perturbation detection: who is asked, and with what."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from tide_questions import DECODING, ITEMS, PROMPTS_FILE, prompts, requests, response

from scripts.files import read_records, write_records
from scripts.judging.score_files import ScoringError
from scripts.records import Request
from scripts.tide import build_explanations as rule
from scripts.tide.explanations import build_explanations
from scripts.tide.tasks import IDENTIFICATION

STATEMENTS = [each for each in ITEMS if each.task == "perturbation_detection"]
FIRST = [r for knowledge in ("parametric", "icl", "rag") for r in requests(knowledge, STATEMENTS)]
WRONG, RIGHT = '{"reasoning": "", "verdict": "INCORRECT"}', '{"verdict": "CORRECT"}'
#: One reply to each request: both statements, in three settings.
REPLIES = [WRONG, RIGHT, "no idea", WRONG, WRONG, WRONG]


def explained() -> list[Request]:
    responses = [response(r, text) for r, text in zip(FIRST, REPLIES, strict=True)]
    return build_explanations(STATEMENTS, FIRST, responses, prompts(), DECODING)


def test_only_statements_called_incorrect_are_explained() -> None:
    expected = [r for r, text in zip(FIRST, REPLIES, strict=True) if text == WRONG]
    found = explained()
    assert [(r.item_id, r.setting["knowledge"]) for r in found] == [
        (r.item_id, r.setting["knowledge"]) for r in expected
    ]
    for second, first in zip(found, expected, strict=True):
        assert second.messages[0] == first.messages[0]
        assert second.setting == {**first.setting, "step": "explanation"}
        item = next(each for each in STATEMENTS if each.item_id == first.item_id)
        assert second.messages[1:] == [
            {"role": "user", "content": prompts().body(IDENTIFICATION, item.inputs)}
        ]
        assert item.inputs["statement"] in second.messages[1]["content"]
        assert second.response_schema is None and second.decoding == DECODING
    assert len({r.request_id for r in [*found, *FIRST]}) == len(found) + len(FIRST)


def test_an_answer_that_is_cut_off_or_lost_is_not_explained() -> None:
    responses = [
        response(FIRST[0], WRONG, error="HTTP 500"),
        response(FIRST[1], f"<think>{WRONG}"),
        response(FIRST[2], "INCORRECT", finish_reason="length"),
        *(response(each, "") for each in FIRST[3:]),
    ]
    assert build_explanations(STATEMENTS, FIRST, responses, prompts(), DECODING) == []


def test_a_reply_that_is_missing_is_an_error() -> None:
    with pytest.raises(ScoringError, match="no response to 5 request"):
        build_explanations(STATEMENTS, FIRST, [response(FIRST[0], WRONG)], prompts(), DECODING)


def job(folder: Path, replies: list[str]) -> SimpleNamespace:
    write_records(folder / "items.jsonl", STATEMENTS)
    for place, knowledge in enumerate(("parametric", "icl", "rag")):
        part = slice(2 * place, 2 * place + 2)
        write_records(folder / f"q/{knowledge}.jsonl", FIRST[part])
        answers = [response(r, t) for r, t in zip(FIRST[part], replies[part], strict=True)]
        write_records(folder / f"a/{knowledge}.jsonl", answers)
    return SimpleNamespace(
        input=SimpleNamespace(
            item_files=f"{folder}/items.jsonl",
            requests=[f"{folder}/q/{k}.jsonl" for k in ("parametric", "icl", "rag")],
            responses=[f"{folder}/a/{k}.jsonl" for k in ("parametric", "icl", "rag")],
            prompts=PROMPTS_FILE,
        ),
        output=SimpleNamespace(explanations=folder / "explanations.jsonl"),
        params=SimpleNamespace(decoding=DECODING),
        wildcards=SimpleNamespace(model="toy", mode="non_thinking"),
    )


def test_the_rule_writes_every_setting_into_one_file(tmp_path: Path) -> None:
    rule.main(job(tmp_path, REPLIES))
    assert read_records(tmp_path / "explanations.jsonl", Request) == explained()
    rule.main(job(tmp_path, [RIGHT] * 6))
    assert (tmp_path / "explanations.jsonl").read_bytes() == b""
    other = job(tmp_path, REPLIES)
    other.wildcards.model = "another"
    with pytest.raises(ScoringError, match="holds responses of"):
        rule.main(other)
