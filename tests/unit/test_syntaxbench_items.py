import json
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.corpora.readers import (
    Document,
    is_palindrome,
    palindromes,
    read_documents,
    read_nltk_words,
    read_palindromes,
    read_word_list,
    vocabulary,
)
from scripts.files import DataError, read_records
from scripts.records import Item
from scripts.syntaxbench import build_items
from scripts.syntaxbench.items import Materials, Stream, WordOrder, build_task
from scripts.syntaxbench.solvers import solve
from scripts.syntaxbench.tasks import CONDITIONS, TASKS, task_named

ROOT = Path(__file__).parents[2]
SHARED = ROOT / "../shared/data"
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
OPTIONS = {"strings": [3, 6], "span_length": [5, 30]}
CORE = [name for name, task in TASKS.items() if task.core]
FULL = {name: entry["items"] for name, entry in CONFIG["syntaxbench"]["tasks"].items()}


@pytest.fixture(scope="module")
def embedded():
    words = read_word_list(ROOT / "data/embedded/english_words.txt.gz")
    listed = read_palindromes(ROOT / "data/embedded/palindromes.txt")
    return Materials(
        vocabulary(words, [3, 24]),
        palindromes([*words, *listed], [3, 24]),
        read_documents(ROOT / "data/embedded/documents.jsonl", [200, 260]),
        {"vocabulary": "web2", "palindromes": "list", "documents": "passages"},
        documents_reused=True,
    )


@pytest.fixture(scope="module")
def small(embedded):
    """A few thousand words, so that hypothesis can build many times."""
    return Materials(
        embedded.vocabulary[::40],
        embedded.palindromes,
        embedded.documents,
        embedded.names,
        documents_reused=True,
    )


@pytest.fixture(scope="module")
def full_size(embedded):
    """The items of a task at the paper's count, built once."""
    return cache(lambda task: build(task, embedded, FULL[task]))


@pytest.fixture(params=list(TASKS))
def full(request, full_size):
    return full_size(request.param)


def build(task, materials, count, demonstrations=4, seed=42):
    return build_task(
        task, materials, count=count, demonstrations=demonstrations, seed=seed, options=OPTIONS
    )


def by_condition(items):
    return [[i for i in items if i.factors["condition"] == c] for c in CONDITIONS]


def naive_distance(a, b):
    """Wagner-Fischer, written out, as a second opinion on the gold answers."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def test_full_size(full):
    task = task_named(full.items[0].task)
    english, random_ = by_condition(full.items)
    assert len(english) == len(random_) == FULL[task.name]
    assert [len(part) for part in by_condition(full.demonstrations)] == [4, 4]
    for item in full.items + full.demonstrations:
        assert set(item.inputs) == set(task.inputs)
        assert item.source["corpus"] in {"web2", "list", "passages"}
    shown = full.items + full.demonstrations
    assert len({item.item_id for item in shown}) == len(shown)
    assert len({json.dumps(item.inputs) for item in shown}) == len(shown)


def test_solver_agrees_with_every_gold_answer(full):
    for item in full.items + full.demonstrations:
        assert solve(item.task, item.inputs) == item.gold["answer"]


@pytest.mark.parametrize("full", CORE, indirect=True)
def test_random_items_have_the_lengths_of_their_english_partners(full):
    task = task_named(full.items[0].task)
    for group in (full.items, full.demonstrations):
        for english, random_ in zip(*by_condition(group), strict=True):
            pair = [[len(text) for text in task.texts(i.inputs)] for i in (english, random_)]
            assert pair[0] == pair[1] and english.source["pair"] == random_.source["pair"]
            if task.kind == "binary":
                assert english.gold["answer"] == random_.gold["answer"]


def test_english_is_english_and_random_is_not(full, embedded):
    task = task_named(full.items[0].task)
    known = set(embedded.vocabulary) | set(embedded.palindromes)
    english, random_ = by_condition(full.items + full.demonstrations)
    if task.core:
        assert all(text in known for item in english for text in task.texts(item.inputs))
    strings = [s for item in random_ for text in task.texts(item.inputs) for s in text.split()]
    assert not known & set(strings)
    assert all(s.isascii() and s.islower() and s.isalpha() for s in strings)


def test_demonstrations_share_no_string_with_the_test_items(full):
    task = task_named(full.items[0].task)
    tested, shown = (
        {text for item in group for text in task.texts(item.inputs)}
        for group in (full.items, full.demonstrations)
    )
    assert not tested & shown


@pytest.mark.parametrize("full", ["letter_container", "palindrome_test"], indirect=True)
def test_binary_tasks_are_balanced(full):
    for part in by_condition(full.items):
        counts = Counter(item.gold["answer"] for item in part)
        assert counts["yes"] == counts["no"] == len(part) // 2
    for part in by_condition(full.demonstrations):
        assert Counter(item.gold["answer"] for item in part) == {"yes": 2, "no": 2}


def test_random_letters_are_uniform(embedded):
    items = build("count_chars", embedded, 2000).items
    counts = Counter("".join(i.inputs["string"] for i in by_condition(items)[1]))
    expected = sum(counts.values()) / 26
    chi2 = sum((counts[letter] - expected) ** 2 / expected for letter in counts)
    assert len(counts) == 26 and chi2 < 52.6  # 0.1 % point of chi-square with 25 degrees


def test_letters_asked_for(full_size):
    items = full_size("letter_container").items
    for part in by_condition(items):
        upper = sum(item.inputs["letter"].isupper() for item in part)
        assert 100 < upper < 300
        by_answer = {
            answer: Counter(
                i.inputs["letter"].lower() in "aeiou" for i in part if i.gold["answer"] == answer
            )[True]
            for answer in ("yes", "no")
        }
        # Absent letters come from other words: vowels are asked for on both sides.
        assert min(by_answer.values()) > 15


def test_palindromes(full_size):
    items = full_size("palindrome_test").items
    for part in by_condition(items):
        lengths = {"yes": Counter(), "no": Counter()}
        for item in part:
            text = item.inputs["string"]
            assert is_palindrome(text) == (item.gold["answer"] == "yes")
            lengths[item.gold["answer"]][len(text)] += 1
        assert lengths["yes"] == lengths["no"]


def test_edit_distances_are_right_and_spread(full_size):
    items = full_size("edit_distance").items
    for item in items:
        assert item.gold["answer"] == naive_distance(item.inputs["first"], item.inputs["second"])
    for part in by_condition(items):
        assert len({item.gold["answer"] for item in part}) >= 8


def test_one_longest_string_at_any_place(full_size):
    items = full_size("longest_string_finder").items
    places, sizes = Counter(), Counter()
    for item in items:
        strings = item.inputs["strings"]
        longest = sorted(map(len, strings))
        assert longest[-1] > longest[-2] and len(set(strings)) == len(strings)
        places[strings.index(item.gold["answer"])] += 1
        sizes[len(strings)] += 1
    assert set(sizes) == {3, 4, 5, 6} and min(sizes.values()) > 50
    assert min(places[place] for place in range(3)) > 60


def test_spans(embedded, full_size):
    built = full_size("index_to_span")
    texts = {document.document_id: document.text for document in embedded.documents}
    english, random_ = by_condition(built.items)
    for item, other in zip(english, random_, strict=True):
        document, start, end = (item.inputs[k] for k in ("document", "start", "end"))
        assert document == texts[item.source["document"]]
        assert item.gold["answer"] == document[start:end] == document[start:end].strip()
        assert start >= 0 and end <= len(document) and 5 <= end - start <= 30
        assert len(other.inputs["document"].split()) == len(document.split())
        assert other.gold["answer"] == other.gold["answer"].strip()
        assert other.inputs["end"] - other.inputs["start"] == end - start
        assert item.source["document_reused"] is True
    for part in (english, random_):
        asked = {(i.source["document"], i.inputs["start"], i.inputs["end"]) for i in part}
        assert len(asked) == 200
    held_out = {item.source["document"] for item in built.demonstrations}
    assert not held_out & {item.source["document"] for item in english} and len(held_out) == 4


def test_documents_are_not_reused_unless_asked(embedded):
    strict = Materials(embedded.vocabulary, (), embedded.documents, embedded.names)
    built = build("index_to_span", strict, 16)
    assert {item.source["document_reused"] for item in built.items} == {False}
    assert len({item.source["document"] for item in built.items}) == 16
    with pytest.raises(DataError, match="documents_reused: true"):
        build("index_to_span", strict, 17)
    assert build("index_to_span", embedded, 16).items == built.items


def test_offsets_count_code_points(embedded):
    text = " ".join(["na\u00efve \U0001f600 caf\u00e9"] * 80)
    documents = [Document(str(n), "t", f"{n} {text}") for n in range(8)]
    materials = Materials(embedded.vocabulary[:5000], (), documents)
    for item in build("index_to_span", materials, 4).items:
        start, end = item.inputs["start"], item.inputs["end"]
        assert "".join(list(item.inputs["document"])[start:end]) == item.gold["answer"]


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=6)
@given(data=st.data())
def test_fewer_items_are_the_beginning_of_more(task, small, data):
    more = 2 * data.draw(st.integers(2, 20))
    fewer = 2 * data.draw(st.integers(1, more // 2))
    seed = data.draw(st.integers(0, 2**40))
    large, little = (build(task, small, count, seed=seed) for count in (more, fewer))
    ids = [[i.item_id for i in by_condition(b.items)[k]] for b in (large, little) for k in (0, 1)]
    assert ids[0][:fewer] == ids[2] and ids[1][:fewer] == ids[3]
    assert large.demonstrations == little.demonstrations or task == "index_to_span"
    assert [i.item_id for i in large.demonstrations] == [i.item_id for i in little.demonstrations]


@pytest.mark.parametrize("task", TASKS)
def test_one_more_word_changes_few_items(task, small):
    before = {item.item_id for item in build(task, small, 20).items}
    for word in ("zzyzxian", "quokkalike", "blorptastic"):
        grown = Materials(
            sorted([*small.vocabulary, word]),
            small.palindromes,
            small.documents,
            small.names,
            documents_reused=True,
        )
        after = {item.item_id for item in build(task, grown, 20).items}
        # A pair is an English and a random item; a document holds many drawn words.
        allowed = 4 if task_named(task).core else 20
        assert len(before - after) <= allowed


@pytest.mark.parametrize("task", TASKS)
def test_seed_decides(task, small):
    first, again, other = (build(task, small, 8, seed=seed) for seed in (1, 1, 2))
    assert first == again
    shared = {i.item_id for i in first.items} & {i.item_id for i in other.items}
    assert not shared


def test_order_of_the_vocabulary_does_not_matter(small):
    shuffled = Materials(
        small.vocabulary[::-1], small.palindromes[::-1], small.documents[::-1], small.names,
        documents_reused=True,
    )  # fmt: skip
    for task in TASKS:
        assert build(task, shuffled, 8) == build(task, small, 8)


def test_too_little_to_draw_from(embedded):
    words = ["cat", "dog", "cow", "hen"]
    tiny = Materials(words, ["noon", "level"])
    with pytest.raises(DataError, match=r"only 0 of 2 items|only 0 of 2 demonstrations"):
        build_task("count_chars", tiny, count=2, demonstrations=2, seed=1)
    with pytest.raises(DataError, match="must be even"):
        build("letter_container", embedded, 3)
    with pytest.raises(DataError, match="the vocabulary is empty"):
        build("count_chars", Materials([]), 2)
    with pytest.raises(DataError, match="non-palindromes of"):
        build_task("palindrome_test", tiny, count=2, demonstrations=0, seed=1)
    with pytest.raises(DataError, match="no list with one longest"):
        build_task(
            "longest_string_finder", tiny, count=1, demonstrations=0, seed=1, options=OPTIONS
        )
    with pytest.raises(DataError, match="no second word"):
        build_task("edit_distance", Materials(["cat"]), count=1, demonstrations=0, seed=1)
    with pytest.raises(KeyError, match="unknown task 'sorting'"):
        build("sorting", embedded, 2)


def test_stream():
    numbers = [Stream(1, "a").below(6) for _ in range(3)]
    assert len(set(numbers)) == 1
    stream = Stream(1, "b")
    assert {stream.between(2, 4) for _ in range(100)} == {2, 3, 4}
    assert sorted(stream.shuffled("abcdef")) == list("abcdef")
    firsts = Counter(Stream(n).shuffled("abc")[0] for n in range(900))
    assert min(firsts.values()) > 240
    # The stream is part of the item ids: a change here changes every item.
    assert Stream(42, "count_chars").letters(8) == "cohkiryx"


def test_draws_reach_the_words_and_a_new_word_moves_few_of_them():
    words = [f"w{n}" for n in range(50)]
    order, grown = WordOrder(words, 42), WordOrder([*words, "new"], 42)
    draws = [order.draw(n) for n in range(5000)]
    assert len(set(draws)) >= 48
    moved = [grown.draw(n) for n, word in enumerate(draws) if grown.draw(n) != word]
    assert set(moved) == {"new"} and len(moved) < 1000


class Named(SimpleNamespace):
    def get(self, name, default=None):
        return getattr(self, name, default)


def job(folder, task, corpora, reused=False):
    return SimpleNamespace(
        input=Named(**{role: ROOT / entry["path"] for role, entry in corpora.items()}),
        output=Named(item_files=folder / "items.jsonl", demonstrations=folder / "shown.jsonl"),
        wildcards=SimpleNamespace(task=task),
        params=SimpleNamespace(
            task=OPTIONS | {"items": 4},
            corpora=corpora,
            document_words=[200, 260],
            documents_reused=reused,
            demonstrations=4,
            seed=42,
        ),
    )


@pytest.mark.parametrize("task", ["count_chars", "palindrome_test", "index_to_span"])
def test_rule_script_writes_the_same_bytes_twice(task, tmp_path):
    names = {"vocabulary": "words", "palindromes": "palindromes", "documents": "documents"}
    corpora = {role: CONFIG["corpora"][f"embedded_{name}"] for role, name in names.items()}
    written = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        build_items.main(job(folder, task, corpora))
        written.append([path.read_bytes() for path in sorted(folder.iterdir())])
    assert written[0] == written[1] and all(written[0])
    items = read_records(tmp_path / "a/items.jsonl", Item)
    shown = read_records(tmp_path / "a/shown.jsonl", Item)
    assert (len(items), len(shown)) == (8, 8)
    labels = {entry["label"] for entry in corpora.values()}
    assert {item.source["corpus"] for item in items} <= labels


def test_rule_script_refuses_a_changed_corpus(tmp_path):
    names = {"vocabulary": "words", "palindromes": "palindromes", "documents": "documents"}
    corpora = {role: CONFIG["corpora"][f"embedded_{name}"] for role, name in names.items()}
    corpora["documents"] = corpora["documents"] | {"sha256": "0" * 64}
    with pytest.raises(DataError, match=r"documents\.jsonl: sha256"):
        build_items.main(job(tmp_path, "count_chars", corpora))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def published():
    if not (SHARED / "wikipedia").exists():
        pytest.skip("the full corpora are not at hand")
    words = read_nltk_words(SHARED / "nltk_words/words.zip", 236736)
    listed = read_palindromes(ROOT / "data/embedded/palindromes.txt")
    prose = read_documents(SHARED / "wikipedia/wiki_excerpts_200_500.jsonl", [200, 500])
    return Materials(vocabulary(words, [3, 24]), palindromes([*words, *listed], [3, 24]), prose)


@pytest.mark.parametrize("task", TASKS)
def test_full_counts_from_nltk_and_wikipedia(task, published):
    built = build(task, published, FULL[task])
    assert len(built.items) == 2 * FULL[task]
    assert all(solve(task, item.inputs) == item.gold["answer"] for item in built.items)
    assert not any(item.source.get("document_reused") for item in built.items)
