from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scripts.files import dump_line
from scripts.inference.reasoning import separate_reasoning
from scripts.judging import reply_objects
from scripts.judging.reply_objects import MAX_DIGITS
from scripts.records import Response
from scripts.syntaxbench import parsing
from scripts.syntaxbench.parsing import (
    CATEGORIES,
    KINDS,
    parse_answer,
    parse_response,
)

HOSTILE = json.loads((Path(__file__).parents[1] / "data" / "hostile_outputs.json").read_text())


def text_of(case: dict[str, Any]) -> str:
    if "text" in case:
        return str(case["text"])
    return "".join(p if isinstance(p, str) else p[0] * p[1] for p in case["parts"])


def response(text: str, **fields: Any) -> Response:
    values: dict[str, Any] = {
        "request_id": "r",
        "item_id": "i",
        "model": "m",
        "mode": "thinking",
        "text": text,
        "finish_reason": "stop",
        "usage": {},
        "backend": "archive",
        "backend_version": "1",
        "attempts": 1,
    }
    return Response(**{**values, **fields})


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case["id"])
def test_hostile_output(case: dict[str, Any]) -> None:
    fields = {k: case[k] for k in ("finish_reason", "reasoning", "error") if k in case}
    answer = parse_response(response(text_of(case), **fields), case["kind"])
    assert answer.value == case["value"]
    assert type(answer.value) is type(case["value"])
    assert answer.category == case["category"]
    assert answer.route == case["route"]
    assert answer.reason == case.get("reason")
    assert answer.reasoning_state == case.get("state", "none")
    # Whatever was read can be written and read again, lone surrogates and NUL included.
    assert json.loads(dump_line({"value": answer.value}))["value"] == answer.value


def test_there_are_at_least_sixty_hostile_outputs() -> None:
    assert len(HOSTILE) >= 60
    assert {case["category"] for case in HOSTILE} == set(CATEGORIES)


FRAGMENTS = st.sampled_from(
    [
        *"{}[]:,\"'*\\<>|",
        '{"result": 7}',
        '"result"',
        "<think>",
        "</think>",
        "<|channel|>",
        "<|message|>",
        "final",
        "analysisA",
        "assistantfinal",
        "<|channel>thought",
        "<channel|>",
        "```",
        "**7**",
        "\ud800",
        "\x00",
        "٤1",
        "-1e99",
    ]
)
ANY_TEXT = st.one_of(
    st.text(st.characters(), max_size=80),
    st.lists(st.one_of(FRAGMENTS, st.text(max_size=4)), max_size=30).map("".join),
)


@given(ANY_TEXT, st.sampled_from(KINDS), st.none() | st.text(max_size=5))
@example("\ud800{'result':", "string", None)
@settings(max_examples=300)
def test_no_text_raises_and_the_answer_fits_its_category(
    text: str, kind: parsing.Kind, reasoning: str | None
) -> None:
    answer = parse_response(response(text, reasoning=reasoning), kind)
    assert (answer.value is not None) == (answer.category == "valid")
    assert (answer.reason is None) == (answer.category == "valid")
    if kind == "integer" and answer.value is not None:
        assert abs(int(answer.value)) < 10**MAX_DIGITS
    if kind == "yes_no" and answer.value is not None:
        assert answer.value in ("yes", "no")


@given(ANY_TEXT)
@settings(max_examples=300)
def test_separating_reasoning_twice_changes_nothing(text: str) -> None:
    once, _, _ = separate_reasoning(text)
    assert separate_reasoning(once)[0] == once


@given(ANY_TEXT)
@settings(max_examples=200)
def test_an_open_trace_gives_no_answer(text: str) -> None:
    answer, _, state = separate_reasoning(text + "<think>" + '{"result": 7}')
    assert '{"result": 7}' not in answer or state == "closed"
    if "</think>" not in text.lower() and "<|" not in text and "analysis" not in text:
        assert (answer, state) == ("", "truncated")


PROSE = st.text(st.sampled_from("abc xyz.\n,:;!?()–é"), max_size=30)
DECORATIONS: dict[str, Any] = {
    "plain": lambda body, a, b: body,
    "space": lambda body, a, b: f" \n{body}\t ",
    "fence": lambda body, a, b: f"```json\n{body}\n```",
    "prose": lambda body, a, b: f"{a}{body}{b}",
    "bold": lambda body, a, b: f"**{body}**",
    "draft": lambda body, a, b: f'{a}{{"result": "draft"}}{b}{body}',
    "think": lambda body, a, b: f'<think>{a}{{"result": 1}}</think>{body}',
    "closing": lambda body, a, b: f'{a}{{"result": 1}}</think>{body}',
    "harmony": lambda body, a, b: (
        f"<|channel|>analysis<|message|>{a}<|end|><|channel|>final<|message|>{body}<|return|>"
    ),
}


def encodings(value: int | str, kind: str) -> st.SearchStrategy[str]:
    if kind == "integer":
        bodies = [f'"{value}"', str(value), f"{value}.0", f'"{value}.0"', f'" {value} "']
        if int(value) >= 0:
            bodies += [f'"0{value}"', f'"{str(value).translate(ARABIC)}"']
    elif kind == "yes_no":
        truth = value == "yes"
        bodies = [f'"{value}"', f'"{str(value).upper()}"', str(truth), f"{truth}".lower()]
    else:
        bodies = [json.dumps(value), json.dumps(value, ensure_ascii=False)]
    return st.sampled_from([template % body for body in bodies for template in TEMPLATES])


ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
TEMPLATES = (
    '{"result": %s}',
    '{"result":%s,}',
    "{'result': %s}",
    '{\n "why": [1], "result": %s\n}',
)
# A tag inside an answer would be taken for reasoning: documented, tested above.
STRINGS = st.text(st.characters(exclude_characters="<"), max_size=30).filter(
    lambda text: "analysis" not in text
)


@given(st.data())
@settings(max_examples=400)
def test_every_decoration_gives_the_value_back(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    values: Any = {
        "integer": st.integers(-(10**17), 10**17),
        "yes_no": st.sampled_from(["yes", "no"]),
        "string": STRINGS,
    }[kind]
    value = data.draw(values)
    body = data.draw(encodings(value, kind))
    decorate = DECORATIONS[data.draw(st.sampled_from(sorted(DECORATIONS)))]
    text = decorate(body, data.draw(PROSE), data.draw(PROSE))
    answer = parse_response(response(text), kind)
    assert (answer.value, answer.category) == (value, "valid"), text


def test_unknown_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown answer kind 'number'"):
        parse_answer("", "number")  # type: ignore[arg-type]


def test_the_work_limit_gives_a_defined_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_objects, "WORK_PER_CHARACTER", 0)
    answer = parse_answer("{" * 2000 + '{"result": 7}', "integer")
    assert (answer.category, answer.reason) == ("unparsable", "work_limit")


@pytest.mark.parametrize(
    "unit", ["{", '{"a":', '{"', "<think>", "**1", "{\n", "</think>", '{"a":[{']
)
def test_time_grows_with_the_length_not_its_square(unit: str) -> None:
    def seconds(times: int) -> float:
        text = unit * times
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            parse_answer(separate_reasoning(text)[0], "integer")
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(1_000), seconds(8_000)
    # Eight times the text: a quadratic scan would take 64 times as long.
    assert large < 24 * small + 0.02
