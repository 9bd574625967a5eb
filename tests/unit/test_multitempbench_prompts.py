import re
from types import SimpleNamespace

import pytest
from multitempbench_material import DECODING, own_items, own_requests

from scripts.dates.languages import ENGLISH
from scripts.files import DataError, read_records, write_records
from scripts.judging import answer_words
from scripts.multitempbench import build_requests as rule
from scripts.multitempbench.prompts import (
    build_requests,
    load_prompts,
    offered_words,
    parse_prompt,
)
from scripts.multitempbench.tasks import ANSWER_KINDS, FORMATS, LANGUAGES, RELATIONS, TASKS
from scripts.records import Request

LOADED = load_prompts(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_prompt_for_every_kind(language):
    prompt = LOADED[language]
    sentences = [prompt.instruction(kind) for kind in ANSWER_KINDS]
    assert len(set(sentences)) == len(ANSWER_KINDS)
    for sentence in sentences:
        assert "{{" not in sentence and "\n" not in sentence and len(sentence) < 200
    for relation in RELATIONS:
        assert answer_words.relation_word(language, relation) in prompt.instruction("relation")
    for value in ("yes", "no"):
        assert answer_words.yes_no_word(language, value) in prompt.instruction("yes_no")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_format_is_named(language):
    for kind in ("date", "date_time", "number"):
        sentence = LOADED[language].instruction(kind)
        assert not any(word in sentence for word in ("YYYY", "DD", "ISO", "/", "AH", "هـ"))
        assert not any(character.isdigit() for character in sentence)
        assert offered_words(language, kind) == []


@pytest.mark.parametrize("task", TASKS)
def test_requests(task):
    items, requests = own_items(task).items, own_requests(task)
    assert len(requests) == len(items) == len({request.request_id for request in requests})
    for item, request in zip(items, requests, strict=True):
        assert request.item_id == item.item_id and request.setting == {"shots": 0}
        assert request.decoding == DECODING and request.response_schema is None
        [message] = request.messages
        assert message["role"] == "user"
        question, instruction = message["content"].split("\n")
        assert question == item.inputs["question"]
        prompt = LOADED[item.factors["language"]]
        assert instruction == prompt.instruction(item.gold["kind"])


def test_variants_of_a_question_differ_in_the_date_alone():
    items = {item.item_id: item for item in own_items("relation").items}
    asked = {}
    for request in own_requests("relation"):
        item = items[request.item_id]
        text = request.messages[0]["content"]
        for each in item.inputs["dates"]:
            text = text.replace(each["text"], "#")
        asked.setdefault((item.source["question_id"], item.factors["language"]), set()).add(text)
    assert all(len(texts) == 1 for texts in asked.values())
    assert len(asked) == len(items) / len(FORMATS)


def test_a_question_is_never_read_as_a_template():
    text = "What does {{instruction}} or {{options}} mean on 2024-01-01?"
    rendered = LOADED["en"].render(text, "relation")
    assert rendered.split("\n")[0] == text


def test_an_item_without_a_prompt_is_an_error():
    with pytest.raises(DataError, match="no prompt for the language"):
        build_requests(own_items("relation").items, {"en": LOADED["en"]}, DECODING)


def content(**changes):
    return {**ENGLISH.prompt, **changes}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (content(text="{{question}}"), "prompt.text: must hold"),
        (content(text="{{question}} {{question}} {{instruction}}"), "prompt.text: must hold"),
        (
            content(instructions=dict.fromkeys(ANSWER_KINDS, "Answer.")),
            "prompt.instructions.relation: must hold {{options}}",
        ),
        (
            content(instructions=dict.fromkeys(ANSWER_KINDS, "One of {{options}}")),
            "prompt.instructions.date: must hold no mark",
        ),
    ],
)
def test_what_is_no_prompt(changed, message):
    with pytest.raises(DataError, match=re.escape(f"data/languages/en.yaml: {message}")):
        parse_prompt("en", changed)


def test_a_language_without_a_file_has_no_prompt():
    with pytest.raises(DataError, match=r"data/languages/xx\.yaml: missing; write it"):
        load_prompts(["en", "xx"])


def test_rule(tmp_path):
    items = tmp_path / "items.jsonl"
    write_records(items, own_items("time_zone").items)
    job = SimpleNamespace(
        input=SimpleNamespace(item_files=items),
        output=SimpleNamespace(requests=tmp_path / "requests.jsonl"),
        params=SimpleNamespace(decoding=DECODING, languages=sorted(LANGUAGES)),
    )
    rule.main(job)
    assert read_records(tmp_path / "requests.jsonl", Request) == own_requests("time_zone")
