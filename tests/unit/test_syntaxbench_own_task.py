"""A task about one string: an entry with its answer, and a prompt, make items and baselines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripts.files import DataError
from scripts.syntaxbench.baselines import baseline_answers
from scripts.syntaxbench.items import Materials, build_task
from scripts.syntaxbench.prompts import build_requests, parse_prompt
from scripts.syntaxbench.solvers import solve
from scripts.syntaxbench.tasks import TASKS, Task

WORDS = tuple(sorted({f"{a}o{b}ef" for a in "abcdfgh" for b in "klmnprs"}))


def task(name: str, **changes: object) -> Task:
    fields = {
        "short": name,
        "kind": "integer",
        "group": "Intra-word core",
        "description": "vowels of a string",
        "output": "integer",
        "inputs": ("string",),
        "tokenised": ("string",),
        "core": False,
        "answer": lambda inputs: sum(letter in "aeiou" for letter in inputs["string"]),
    }
    return Task(name=name, **(fields | changes))


@pytest.fixture
def vowels(monkeypatch: pytest.MonkeyPatch) -> Iterator[Task]:
    own = task("count_vowels")
    monkeypatch.setitem(TASKS, own.name, own)
    return own


def test_words_and_their_random_twins_become_items_with_their_answers(vowels: Task) -> None:
    built = build_task("count_vowels", Materials(WORDS), count=3, demonstrations=2, seed=1)
    assert [item.factors["condition"] for item in built.items] == ["english"] * 3 + ["random"] * 3
    for item in built.items + built.demonstrations:
        text = item.inputs["string"]
        assert item.gold["answer"] == sum(text.count(vowel) for vowel in "aeiou")
        assert (text in WORDS) is (item.factors["condition"] == "english")
        assert solve("count_vowels", item.inputs) == item.gold["answer"]


@pytest.mark.parametrize("kind", ["majority", "uniform", "solver"])
def test_it_has_all_baselines(vowels: Task, kind: str) -> None:
    built = build_task("count_vowels", Materials(WORDS), count=3, demonstrations=2, seed=1)
    prompt = parse_prompt(
        {"task": "count_vowels", "system": "Count.", "user": "<s>{{string}}</s>"}, "p"
    )
    decoding = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
    requests = build_requests(built.items, built.demonstrations, prompt, [0, 1], decoding)
    rows = baseline_answers(kind, requests, built.items, built.demonstrations, 1)
    assert len(rows) == len(requests) == 12
    if kind == "solver":
        assert rows[0]["text"] == f'{{"result": {built.items[0].gold["answer"]}}}'


def test_uniform_answers_of_a_string_task_are_strings_of_its_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = task("reverse", kind="string", answer=lambda inputs: inputs["string"][::-1])
    monkeypatch.setitem(TASKS, own.name, own)
    built = build_task("reverse", Materials(WORDS), count=2, demonstrations=2, seed=1)
    prompt = parse_prompt({"task": "reverse", "system": "Turn.", "user": "<s>{{string}}</s>"}, "p")
    requests = build_requests(built.items, [], prompt, [0], {})
    rows = baseline_answers("uniform", requests, built.items, built.demonstrations, 1)
    assert all(len(row["text"]) == len('{"result": "bokef"}') for row in rows)
    assert built.items[0].gold["answer"][::-1] == built.items[0].inputs["string"]


@pytest.mark.parametrize("changes", [{"kind": "binary"}, {"inputs": ("first", "second")}])
def test_an_answer_alone_serves_tasks_about_one_string_only(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"task odd: `answer` serves integer and string tasks"):
        task("odd", **changes)


def test_a_task_with_neither_answer_nor_generator_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TASKS, "bare", task("bare", answer=None))
    with pytest.raises(DataError, match="bare: nothing draws its items"):
        build_task("bare", Materials(WORDS), count=2, demonstrations=2, seed=1)
