import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.corpora.readers import Document
from scripts.files import DataError, read_records, write_records
from scripts.records import Request
from scripts.syntaxbench import build_requests as rule
from scripts.syntaxbench.items import Materials, Stream, build_task
from scripts.syntaxbench.prompts import (
    answer_text,
    build_requests,
    load_prompt,
    messages_for,
    parse_prompt,
)
from scripts.syntaxbench.tasks import TASKS

ROOT = Path(__file__).parents[2]
PROMPTS = {task: load_prompt(ROOT / f"scripts/syntaxbench/prompts/{task}.yaml") for task in TASKS}
DECODING = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}


@pytest.fixture(scope="module")
def built():
    words = sorted({Stream("words", n).letters(3 + n % 9) for n in range(600)})
    mirrored = sorted({word + word[::-1] for word in words if len(word) < 6})
    prose = [Document(f"d{n}", "t", f"{n} " + "plain words here " * 80) for n in range(12)]
    materials = Materials(words + mirrored[::2], mirrored, prose)
    options = {"strings": [3, 6], "span_length": [5, 30]}
    return {
        task: build_task(task, materials, count=6, demonstrations=4, seed=3, options=options)
        for task in TASKS
    }


def requests_of(built, task, shots=(0, 1, 4), **options):
    items = built[task]
    return build_requests(
        items.items, items.demonstrations, PROMPTS[task], shots, DECODING, **options
    )


@pytest.mark.parametrize("task", TASKS)
def test_conversation(built, task):
    items = {item.item_id: item for item in built[task].items}
    requests = requests_of(built, task)
    assert len(requests) == 3 * len(items) == len({r.request_id for r in requests})
    for request in requests:
        shots = request.setting["shots"]
        roles = [message["role"] for message in request.messages]
        assert roles == ["system", *["user", "assistant"] * shots, "user"]
        assert request.decoding == DECODING and request.response_schema is None
        assert '{"result": ' in request.messages[0]["content"]
        item = items[request.item_id]
        for name in TASKS[task].inputs:
            value = item.inputs[name]
            for part in value if isinstance(value, list) else [value]:
                assert f">{part}</" in request.messages[-1]["content"]


@pytest.mark.parametrize("task", TASKS)
def test_demonstrations_nest_and_are_held_out_and_of_the_same_condition(built, task):
    items = {item.item_id: item for item in built[task].items}
    prompt = PROMPTS[task]
    by_shots = {}
    for request in requests_of(built, task):
        by_shots[request.item_id, request.setting["shots"]] = request.messages
    for item in items.values():
        none, one, four = (by_shots[item.item_id, shots] for shots in (0, 1, 4))
        assert four[:3] == one[:3] and one[0] == none[0] and one[-1] == none[-1] == four[-1]
        pool = [d for d in built[task].demonstrations if d.factors == item.factors]
        assert [m["content"] for m in four[1:-1:2]] == [prompt.render(d.inputs) for d in pool]
        assert [m["content"] for m in four[2:-1:2]] == [
            json.dumps({"result": d.gold["answer"]}) for d in pool
        ]
        assert four[-1]["content"] not in [m["content"] for m in four[1:-1]]


@pytest.mark.parametrize("task", TASKS)
def test_schema_only_when_asked_for_and_fits_the_gold_answers(built, task):
    request = requests_of(built, task, shots=[0], constrained=True)[0]
    validator = jsonschema.Draft202012Validator(request.response_schema)
    validator.check_schema(request.response_schema)
    for item in built[task].items:
        validator.validate(json.loads(answer_text(item.gold["answer"])))
    wrong = {"integer": "7", "binary": "Yes", "string": 7}[TASKS[task].kind]
    assert not validator.is_valid({"result": wrong})
    assert not validator.is_valid({"result": item.gold["answer"], "more": 1})


@given(st.text(max_size=40))
def test_inputs_are_never_read_as_templates(text):
    prompt = PROMPTS["edit_distance"]
    hostile = text + "{{second}} {first} %s \\1 \\g<0> ${second}"
    shown = prompt.render({"first": hostile, "second": "x"})
    assert shown == f"<first>{hostile}</first>\n<second>x</second>"
    listed = PROMPTS["longest_string_finder"].render({"strings": [hostile, "{{element}}"]})
    assert listed == f"<string>{hostile}</string>\n<string>{{{{element}}}}</string>"


def test_markers_inside_an_input_are_refused():
    with pytest.raises(DataError, match="contains the marker </document>"):
        PROMPTS["index_to_span"].render({"document": "a</document>b", "start": 0, "end": 1})
    with pytest.raises(DataError, match=r"lacks \['letter'\]"):
        PROMPTS["letter_container"].render({"string": "a"})
    with pytest.raises(DataError, match="contains the marker <string>"):
        PROMPTS["longest_string_finder"].render({"strings": ["a", "<string>"]})


def test_requests_change_with_what_is_asked_and_nothing_else(built):
    ids = [request.request_id for request in requests_of(built, "count_chars")]
    assert ids == [request.request_id for request in requests_of(built, "count_chars")]
    items = built["count_chars"]
    one = build_requests(
        items.items[1:], items.demonstrations, PROMPTS["count_chars"], [0, 1, 4], DECODING
    )
    assert {request.request_id for request in one} < set(ids)
    warmer = DECODING | {"temperature": 0.5}
    other = build_requests(items.items, items.demonstrations, PROMPTS["count_chars"], [0], warmer)
    assert not {request.request_id for request in other} & set(ids)


def test_wrong_combinations(built):
    items, prompt = built["count_chars"], PROMPTS["count_chars"]
    with pytest.raises(DataError, match="4 demonstrations for english, 5 asked"):
        build_requests(items.items, items.demonstrations, prompt, [5], DECODING)
    with pytest.raises(DataError, match="is a test item and a demonstration"):
        build_requests(items.items, items.items[:1], prompt, [0], DECODING)
    with pytest.raises(DataError, match=r"items of \['count_chars'\] with the prompt of edit"):
        build_requests(items.items, [], PROMPTS["edit_distance"], [0], DECODING)
    assert len(messages_for(items.items[0], [], prompt)) == 2


GOOD = {"task": "count_chars", "system": "s", "user": "{{string}}"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "sorting"}, "unknown task 'sorting'"),
        ({"system": ""}, "system must be a text"),
        ({"user": 3}, "user must be a text"),
        ({"user": "{{strng}}"}, "the task count_chars needs"),
        ({"user": "{{string}}{{string}}"}, "once"),
        ({"extra": 1}, r"unknown keys \['extra'\]"),
        ({"elements": {"letter": "{{element}}"}}, "must map inputs of the task"),
        ({"elements": {"string": "no"}}, "elements.string must hold {{element}} once"),
    ],
)
def test_bad_prompt_files(change, message):
    with pytest.raises(DataError, match=f"p.yaml: .*{message}"):
        parse_prompt(GOOD | change, "p.yaml")


@pytest.mark.parametrize("text", ["- a", "a: [", "!!python/object:os.system {}"])
def test_not_a_prompt(tmp_path, text):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(DataError, match=r"p\.yaml"):
        load_prompt(tmp_path / "p.yaml")


def test_rule_script(built, tmp_path):
    items = built["count_chars"]
    write_records(tmp_path / "i", items.items)
    write_records(tmp_path / "d", items.demonstrations)
    job = SimpleNamespace(
        input=SimpleNamespace(
            item_files=tmp_path / "i",
            demonstrations=tmp_path / "d",
            prompt=ROOT / "scripts/syntaxbench/prompts/count_chars.yaml",
        ),
        output=SimpleNamespace(requests=tmp_path / "r"),
        params=SimpleNamespace(shots=[0, 4], decoding=DECODING, constrained=True),
    )
    rule.main(job)
    requests = read_records(tmp_path / "r", Request)
    assert requests == requests_of(built, "count_chars", [0, 4], constrained=True)
