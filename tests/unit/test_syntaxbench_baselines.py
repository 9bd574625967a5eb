import json
from collections import Counter
from types import SimpleNamespace

import pytest

from scripts.corpora.readers import Document
from scripts.files import DataError, iterate_jsonl, write_records
from scripts.records import Item, Request
from scripts.syntaxbench import build_baseline_answers as rule
from scripts.syntaxbench.baselines import KINDS, baseline_answers, constant_answer
from scripts.syntaxbench.items import Materials, Stream, build_task
from scripts.syntaxbench.solvers import solve
from scripts.syntaxbench.tasks import TASKS


@pytest.fixture(scope="module")
def built():
    words = sorted({Stream("words", n).letters(3 + n % 9) for n in range(1500)})
    mirrored = sorted({word + word[::-1] for word in words if len(word) < 6})
    prose = [Document(f"d{n}", "t", f"{n} " + "the cat and the dog " * 80) for n in range(60)]
    materials = Materials(words + mirrored[::2], mirrored, prose)
    options = {"strings": [3, 6], "span_length": [5, 30]}
    return {
        task: build_task(task, materials, count=40, demonstrations=4, seed=3, options=options)
        for task in TASKS
    }


def requests_for(items):
    return [
        Request.create(item.item_id, {"shots": shots}, [{"role": "user", "content": "?"}], {})
        for shots in (0, 4)
        for item in items
    ]


def answers(kind, items, seed=42):
    requests = requests_for(items.items)
    rows = baseline_answers(kind, requests, items.items, items.demonstrations, seed)
    assert [row["request_id"] for row in rows] == [r.request_id for r in requests]
    return [json.loads(row["text"])["result"] for row in rows]


def without_gold(items):
    blank = [Item(**(item.to_json() | {"gold": {"answer": None}})) for item in items.items]
    return SimpleNamespace(items=blank, demonstrations=items.demonstrations)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", TASKS)
def test_gold_of_the_test_items_is_never_read(built, task, kind):
    assert answers(kind, without_gold(built[task])) == answers(kind, built[task])


@pytest.mark.parametrize("task", TASKS)
def test_solver_is_always_right(built, task):
    gold = [item.gold["answer"] for item in built[task].items]
    assert answers("solver", built[task]) == gold * 2


@pytest.mark.parametrize("task", TASKS)
def test_majority_is_constant(built, task):
    given = answers("majority", built[task])
    if task == "longest_string_finder":
        assert given == [item.inputs["strings"][0] for item in built[task].items] * 2
        return
    assert len(set(given)) == 1
    kind = {"integer": int, "binary": str, "string": str}[TASKS[task].kind]
    assert type(given[0]) is kind
    if task == "index_to_span":
        assert given[0] == "the"


def demonstrations(*values):
    return [
        Item.create("syntaxbench", "count_chars", {"n": n}, {"string": "x"}, {"answer": v}, {})
        for n, v in enumerate(values)
    ]


def test_constant_answer():
    task = TASKS["count_chars"]
    assert constant_answer(task, demonstrations(9, 9, 4, 5)) == 9
    assert constant_answer(task, demonstrations(2, 7, 8, 9, 30)) == 8
    assert constant_answer(task, demonstrations(7, 9)) == 7
    with pytest.raises(DataError, match="needs held-out demonstrations"):
        constant_answer(task, [])


@pytest.mark.parametrize("task", TASKS)
def test_uniform_stays_in_the_space_and_is_seeded(built, task):
    items = built[task].items
    given = answers("uniform", built[task])
    assert given == answers("uniform", built[task]) != answers("uniform", built[task], seed=1)
    assert given[: len(items)] != given[len(items) :]
    held_out = [d.gold["answer"] for d in built[task].demonstrations]
    for item, answer in zip(items * 2, given, strict=True):
        if TASKS[task].kind == "integer":
            assert min(held_out) <= answer <= max(held_out)
        elif task == "longest_string_finder":
            assert answer in item.inputs["strings"]
        elif task == "index_to_span":
            assert answer in item.inputs["document"]
            assert len(answer) == item.inputs["end"] - item.inputs["start"]
    if TASKS[task].kind == "binary":
        counts = Counter(given)
        assert set(counts) == {"yes", "no"} and min(counts.values()) > 50


def test_solver_reads_either_case():
    assert solve("letter_container", {"string": "house", "letter": "S"}) == "yes"
    assert solve("letter_container", {"string": "HOUSE", "letter": "x"}) == "no"
    assert solve("palindrome_test", {"string": "Hannah"}) == "yes"
    assert solve("index_to_span", {"document": "a\U0001f600bc", "start": 1, "end": 3}) == (
        "\U0001f600b"
    )


def test_wrong_use(built):
    items = built["count_chars"]
    requests = requests_for(items.items)
    with pytest.raises(DataError, match="unknown baseline 'oracle'"):
        baseline_answers("oracle", requests, items.items, items.demonstrations, 1)
    with pytest.raises(DataError, match="no item count_chars-"):
        baseline_answers("solver", requests, items.items[1:], [], 1)
    assert baseline_answers("solver", [], items.items, [], 1) == []


def test_rule_script(built, tmp_path):
    inputs = {"item_files": [], "demonstrations": [], "requests": []}
    for task, items in built.items():
        parts = (items.items, items.demonstrations, requests_for(items.items))
        for (name, paths), rows in zip(inputs.items(), parts, strict=True):
            paths.append(tmp_path / f"{name}.{task}")
            write_records(paths[-1], rows)
    job = SimpleNamespace(
        input=SimpleNamespace(**inputs),
        output=[tmp_path / "out.jsonl"],
        params=SimpleNamespace(baseline="uniform", seed=42),
    )
    rule.main(job)
    rows = [row for _, row in iterate_jsonl(tmp_path / "out.jsonl")]
    assert len(rows) == len({row["request_id"] for row in rows}) == 6 * 160
    first = answers("uniform", built["count_chars"])
    assert [json.loads(row["text"])["result"] for row in rows[: len(first)]] == first
