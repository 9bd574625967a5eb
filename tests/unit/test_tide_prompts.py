"""The prompt file, what a prompt shows of foreign text, and the schemas of strict answers."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tide_questions import FIELDS, PROMPTS_FILE, item, prompts

from scripts.files import DataError
from scripts.tide.prompts import load_prompts, parse_prompts, response_schema
from scripts.tide.shown_text import one_line, shown
from scripts.tide.tasks import IDENTIFICATION, TASKS

CONTENT = yaml.safe_load(PROMPTS_FILE.read_text(encoding="utf-8"))
PAPER = Path(__file__).parents[3] / "shared/papers/tide.md"


@pytest.mark.parametrize("task", TASKS)
def test_a_body_shows_every_shown_field(task: str) -> None:
    body = prompts().body(task, item(task).inputs)
    for name in TASKS[task].shown:
        value = FIELDS[task][name]
        for text in value if isinstance(value, list) else [value]:
            if (task, name) != ("perturbation_detection", "question"):
                assert text in body
    assert "{{" not in body


def test_options_and_events_are_numbered_from_zero_one_a_line() -> None:
    body = prompts().body("temporal_mcq", {"question": "Q", "options": ["a", "b\n2. x", "c  d"]})
    assert "\n0. a\n1. b 2. x\n2. c d\n" in body
    body = prompts().body("event_sorting", {"question": "Q", "events_shuffled": ["x", "y"]})
    assert "\n0. x\n1. y\n" in body


def test_free_tasks_end_with_the_same_instruction() -> None:
    free = [CONTENT["bodies"][name] for name, task in TASKS.items() if task.judged]
    assert len(free) == 5 and len({body.splitlines()[-1] for body in free}) == 1


def test_marks_inside_a_question_are_not_filled() -> None:
    body = prompts().body(
        "temporal_mcq", {"question": "{{options}}", "options": ["a", "{{question}}"]}
    )
    assert "Question: {{options}}" in body and "1. {{question}}" in body


def test_the_preamble_differs_in_its_closing_sentence_alone() -> None:
    found = prompts()
    closed, grounded = found.system(""), found.system("BLOCK")
    assert closed == f"{found.subject} {found.closed_book}"
    assert grounded == f"BLOCK\n\n{found.subject} {found.grounded}"
    for part in (found.subject, found.closed_book, found.grounded):
        assert "\n" not in part


def test_the_jurisdiction_stands_in_the_subject() -> None:
    assert "law of Bangladesh:" in prompts().subject
    assert "law of {{mark}}:" in load_prompts(PROMPTS_FILE, "{{mark}}").system("")


def broken(part: str, key: str | None, value: Any) -> dict[str, Any]:
    content: dict[str, Any] = copy.deepcopy(CONTENT)
    if key is None:
        content[part] = value
    else:
        content[part][key] = value
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "exactly the keys preamble, context, bodies"),
        (broken("more", None, {}), "exactly the keys"),
        (broken("preamble", None, "text"), "preamble needs exactly"),
        (broken("bodies", "poetry", "x"), "bodies needs exactly"),
        (broken("preamble", "subject", " "), r"preamble\.subject must be a text"),
        (broken("preamble", "subject", "about {{question}}"), r"the marks \['jurisdiction'\]"),
        (broken("preamble", "grounded", "see {{mark}}"), r"must hold the marks \[\]"),
        (broken("context", "introduction", "no mark"), r"\['mark'\]"),
        (broken("bodies", "open_ended", "no question"), r"\['question'\]"),
        (broken("bodies", "temporal_mcq", "{{question}} {{options}} {{answer}}"), "each once"),
        (broken("bodies", IDENTIFICATION, "{{statement}} {{statement}}"), "each once"),
    ],
)
def test_a_wrong_prompt_file_is_named(content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        parse_prompts(content, "p.yaml")
    assert str(raised.value).startswith("p.yaml: ")


@pytest.mark.parametrize("data", [b"a: [", b"\xff\xfe"])
def test_no_yaml(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.yaml").write_bytes(data)
    with pytest.raises(DataError, match="not valid YAML"):
        load_prompts(tmp_path / "p.yaml")


def test_no_sentence_of_the_paper_is_copied() -> None:
    if not PAPER.is_file():
        pytest.skip("the paper's text is not here")

    def grams(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"[a-z]+", text.lower())
        return {tuple(words[i : i + 9]) for i in range(len(words) - 8)}

    own = "\n".join(
        [*CONTENT["preamble"].values(), *CONTENT["context"].values(), *CONTENT["bodies"].values()]
    )
    assert grams(own) & grams(PAPER.read_text(encoding="utf-8")) == set()


# Foreign text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|im_end|>\n<|im_start|>system", "< |im_end| >\n< |im_start| >system"),
        ("</s><s>[INST] x [/INST]", "< /s>< s>[ INST] x [ /INST]"),
        ("<start_of_turn>model", "< start_of_turn>model"),
        ("<<SYS>> y <</SYS>>", "< <SYS>> y < </SYS>>"),
        ("<think>done</think>", "< think>done< /think>"),
        ("<｜Assistant｜>", "< ｜Assistant｜>"),
        ("a\n### Answer\n#### b", "a\n ### Answer\n #### b"),
        ("### Question", " ### Question"),
        ("\ud800 x", "\\ud800 x"),
        ("<table><td>5 < 6</td></table> | a | b |", "<table><td>5 < 6</td></table> | a | b |"),
        ("## kept, C# kept, [INSTRUMENT]", "## kept, C# kept, [INSTRUMENT]"),
        ("জিরো‌ <b>", "জিরো‌ <b>"),
    ],
)
def test_control_marks_are_broken_and_nothing_else(text: str, expected: str) -> None:
    assert shown(text) == expected


CONTROL_PIECES = [*"<>|/#s[]\n i", "<|", "|>", "im_end", "INST", "###", "think", "｜"]


@given(st.lists(st.sampled_from(CONTROL_PIECES)).map("".join))
def test_shown_text_has_no_control_mark_and_showing_it_again_changes_nothing(text: str) -> None:
    once = shown(text)
    assert shown(once) == once
    assert not re.search(r"<\||\|>|</?s>|</?think>|\[/?INST\]|^###", once, re.MULTILINE)
    assert "\n" not in one_line(text)


@given(st.text())
def test_shown_text_can_be_encoded_and_plain_text_stays(text: str) -> None:
    shown(text).encode("utf-8")
    plain = re.sub(r"[<\[|#\ud800-\udfff]", "", text)
    assert shown(plain) == plain


# Schemas ------------------------------------------------------------------------------------------


def test_schemas_take_what_the_prompts_ask_for() -> None:
    choice = response_schema("temporal_mcq", item("temporal_mcq").inputs)
    order = response_schema("event_sorting", item("event_sorting").inputs)
    verdict = response_schema("perturbation_detection", item("perturbation_detection").inputs)
    good = [
        (choice, {"reasoning": "x", "choice_index": 3}),
        (order, {"ordered_indices": [2, 0, 1]}),
        (verdict, {"reasoning": "", "verdict": "INCORRECT"}),
    ]
    bad = [
        (choice, {"reasoning": "x", "choice_index": 4}),
        (choice, {"choice_index": 1}),
        (choice, {"reasoning": "x" * 41, "choice_index": 1}),
        (choice, {"reasoning": "x", "choice_index": 1, "more": 1}),
        (order, {"ordered_indices": [0, 1]}),
        (order, {"ordered_indices": [0, 1, 3]}),
        (verdict, {"reasoning": "x", "verdict": "incorrect"}),
    ]
    for schema, value in good:
        jsonschema.validate(value, schema)
    for schema, value in bad:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(value, schema)
    assert choice is not None and choice["required"] == ["reasoning", "choice_index"]


def test_free_answers_have_no_schema_and_reasoning_may_be_unlimited() -> None:
    assert response_schema("open_ended", item("open_ended").inputs) is None
    schema = response_schema("temporal_mcq", item("temporal_mcq").inputs, None)
    assert schema is not None and schema["properties"]["reasoning"] == {"type": "string"}
    assert "maxLength" not in json.dumps(schema)
