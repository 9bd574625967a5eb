"""Threads: what a model may answer, what a thread must keep to, shipped threads."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tide_construction_material import (
    BAD_REPLIES,
    CORPUS,
    EARLY,
    ELEMENTS,
    ENTITIES,
    FEE,
    GREEDY,
    LATE,
    MIDDLE,
    PROMPTS,
    SHIPPED,
    TABLE,
    THREAD,
    scripted,
    shipped_elements,
    step,
    thread,
)

from scripts.files import DataError, read_records, write_records
from scripts.tide.construction import clusters, find_threads, threads
from scripts.tide.construction.aliases import AliasVerdict
from scripts.tide.construction.entities import shipped_rows
from scripts.tide.construction.provisions import Corpus
from scripts.tide.construction.threads import ThreadFaultError, check_thread
from scripts.tide.rows import Cluster, Thread

IDS = [EARLY, TABLE, MIDDLE, FEE, LATE]
CLUSTER = Cluster(
    "cluster-1",
    "Exemption Threshold",
    ["Duty Exemption Threshold", "Exemption Threshold"],
    IDS,
    ["2012-06-07", "2015-06-04", "2018-06-07"],
    True,
    "",
)
POOR = Cluster(
    "cluster-2", "Fee", ["Fee"], [FEE], ["2015-06-04"], False, "too few elements: 1 of 2"
)


def found(answer, cluster_rows=(CLUSTER, POOR), asked=None):
    ask = scripted(answer, asked)
    return threads.find(cluster_rows, CORPUS, ENTITIES, PROMPTS, ask, decoding=GREEDY)


def moved(number, day, **changes):
    values = {"provisions": [number], "date": day, "instrument": "S.R.O.", "change": "It moves."}
    return {**values, **changes}


def given_thread(**changes):
    values = {
        "title": "Threshold",
        "concept": "The rate.",
        "summary": "It moves.",
        "dimensions": [{"dimension": "rate", "value": "3%, 5%"}],
        "timeline": [moved(1, "2012-06-07"), moved(3, "2015-06-04"), moved(5, "2018-06-07")],
        "members": [4, 2],
        "restatements": [2],
    }
    return {**values, **changes}


def reply(*given_threads):
    return json.dumps({"threads": list(given_threads)})


def test_one_call_a_qualifying_cluster_with_dated_provisions():
    asked = []
    [thread_found], report = found(lambda _: reply(given_thread()), asked=asked)
    assert len(asked) == 1 and asked[0].item_id == "cluster-1"
    text = asked[0].messages[1]["content"]
    places = [text.index(f"[{n}] {CORPUS.date(e)}") for n, e in enumerate(IDS, start=1)]
    assert places == sorted(places) and "Also written: Duty Exemption Threshold" in text
    assert "names: Exemption Threshold" in text
    assert [row.status for row in report] == ["ok"]
    assert thread_found.cluster_id == "cluster-1"
    assert thread_found.element_ids == [EARLY, MIDDLE, FEE, LATE]
    assert thread_found.restatements == [TABLE]
    assert thread_found.timeline[1] == {
        "date": "2015-06-04",
        "document": "sro-101-2015",
        "instrument": "S.R.O.",
        "change": "It moves.",
        "element_ids": [MIDDLE],
    }


def test_a_commencement_date_that_the_provision_states_is_a_date_of_the_step():
    [one], _ = found(
        lambda _: reply(given_thread(timeline=[moved(1, "2012-07-01"), moved(3, "2015-06-04")]))
    )
    assert one.timeline[0]["date"] == "2012-07-01"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"timeline": []}, "0 distinct date"),
        ({"timeline": [moved(1, "2012-06-07")]}, "1 distinct date"),
        ({"timeline": [moved(3, "2015-06-04"), moved(1, "2012-06-07")]}, "not sorted"),
        ({"timeline": [moved(1, "2012-06-08"), moved(3, "2015-06-04")]}, "neither the date of"),
        ({"timeline": [moved(1, "June 2012"), moved(3, "2015-06-04")]}, "no date YYYY-MM-DD"),
        ({"timeline": [moved(1, "2012-6-7"), moved(3, "2015-06-04")]}, "no date YYYY-MM-DD"),
        ({"timeline": [moved(99, "2012-06-07")]}, "no provision 99"),
        ({"timeline": [moved(0, "2012-06-07")]}, "no provision 0"),
        ({"timeline": [moved(1, "2012-06-07", provisions=[])]}, "rests on no provision"),
        ({"timeline": [moved(1, "2012-06-07", provisions=[1, 3])]}, "two instruments"),
        ({"timeline": [moved(1, "2012-06-07", instrument="\x00")]}, "instrument holds U\\+0000"),
        ({"members": [-1]}, "no provision -1"),
        ({"restatements": [1]}, "restatement and in the timeline"),
        ({"title": ""}, "title is empty"),
        ({"title": "t" * 400}, "title has 400 characters"),
        ({"summary": "\ud800"}, "summary holds"),
        ({"dimensions": [{"dimension": " ", "value": "x"}]}, "dimension is empty"),
    ],
)
def test_faulty_threads_are_dropped_with_their_reason(change, reason):
    rows, report = found(lambda _: reply(given_thread(**change), given_thread()))
    assert len(rows) == 1
    assert [row.status for row in report] == ["dropped", "ok"]
    import re

    assert re.search(f"thread 1: .*{reason}", report[0].reason)


@pytest.mark.parametrize("name", BAD_REPLIES)
def test_unusable_replies_are_named(name):
    rows, [row] = found(lambda _: BAD_REPLIES[name])
    assert rows == [] and (row.status, row.subject) == ("unusable", "cluster-1")


def test_a_subject_that_never_changed_has_no_threads():
    rows, [row] = found(lambda _: reply())
    assert rows == [] and row.status == "empty"
    assert found(lambda _: reply(), [POOR]) == ([], [])


def test_equal_threads_are_kept_once_and_sorted():
    other = given_thread(title="Another")
    rows, _ = found(lambda _: reply(given_thread(), other, given_thread()))
    assert len(rows) == 2 and [r.thread_id for r in rows] == sorted(r.thread_id for r in rows)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["threads", "title", "timeline", "members", "date"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_without_an_error(value):
    rows, report = found(lambda _: json.dumps(value))
    assert rows == [] and report[0].status in ("unusable", "empty")


def test_a_prompt_that_would_be_too_long_keeps_provisions_of_every_date(monkeypatch):
    monkeypatch.setattr(threads, "PROMPT_CHARACTERS", 250)
    told = threads.told_elements(CLUSTER, CORPUS)
    assert EARLY in told and LATE in told and len(told) < len(IDS)
    asked = []
    rows, report = found(
        lambda _: reply(given_thread(members=[], restatements=[len(IDS)])), asked=asked
    )
    assert rows == [] and f"[{len(told)}]" in asked[0].messages[1]["content"]
    assert [row.status for row in report] == ["dropped", "dropped", "empty"]
    assert report[0].reason == f"{len(IDS) - len(told)} of 5 provisions do not fit the prompt"
    monkeypatch.setattr(threads, "PROMPT_CHARACTERS", 1)
    assert threads.told_elements(CLUSTER, CORPUS) == [EARLY, LATE]


# Rules of a thread


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"element_ids": ["x/clause_1", EARLY, MIDDLE, LATE]}, "'x/clause_1' does not exist"),
        ({"restatements": ["x/clause_1"]}, "does not exist"),
        (
            {"timeline": [step(EARLY), {**step(MIDDLE), "document": "sro-101-2012"}]},
            "no element of",
        ),
        ({"timeline": [step(EARLY), {**step(MIDDLE), "element_ids": []}]}, "rests on no element"),
        ({"timeline": [step(EARLY), step(FEE)]}, "in the timeline but not in element_ids"),
        ({"timeline": [step(LATE), step(EARLY)]}, "not sorted"),
        ({"timeline": [step(EARLY), step(EARLY)]}, "1 distinct date"),
    ],
)
def test_threads_that_break_a_rule(changes, reason):
    check_thread(THREAD, CORPUS)
    with pytest.raises(ThreadFaultError, match=reason):
        check_thread(thread(**changes), CORPUS)


# Shipped threads


def shipped(tmp_path, *rows):
    path = tmp_path / "threads.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return threads.shipped_threads([CLUSTER, POOR], CORPUS, path)


def row_of(**changes):
    return {**THREAD.to_json(), "cluster_id": "Duty Exemption  Threshold", **changes}


def test_shipped_threads_find_their_cluster_by_any_of_its_names(tmp_path):
    rows, report = shipped(tmp_path, row_of(thread_id="b"), row_of(thread_id="a"))
    assert [(row.thread_id, row.cluster_id) for row in rows] == [
        ("a", "cluster-1"),
        ("b", "cluster-1"),
    ]
    assert [row.status for row in report] == ["ok", "ok"]


def test_a_thread_of_a_poor_cluster_is_dropped_with_the_reason(tmp_path):
    rows, [row] = shipped(tmp_path, row_of(cluster_id="Fee"))
    assert rows == [] and row.status == "dropped"
    assert row.reason.endswith("too few elements: 1 of 2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster_id": "Nothing"}, "called 'Nothing'"),
        ({"thread_id": "../x"}, "doubled, or holds other signs"),
        ({"thread_id": "threshold"}, "doubled"),
        ({"title": ""}, "title is empty"),
        ({"timeline": [step(LATE), step(EARLY)]}, "not sorted"),
        ({"timeline": "2012"}, "does not fit the schema"),
        ({"concept": "\x1b[31m"}, "U\\+001B"),
    ],
)
def test_faults_of_shipped_threads_name_the_line(tmp_path, changes, message):
    with pytest.raises(DataError, match=rf"threads.jsonl, line 2: .*{message}"):
        shipped(tmp_path, row_of(), row_of(thread_id="other") | changes)


def test_the_embedded_threads_keep_to_the_rules():
    corpus = Corpus(shipped_elements())
    rows, _ = shipped_rows(list(corpus.elements.values()), SHIPPED / "entities.jsonl")
    lines = (SHIPPED / "aliases.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts = [
        AliasVerdict(row["a"], row["b"], row["verdict"], "", "") for row in map(json.loads, lines)
    ]
    found_clusters, _ = clusters.build_clusters(rows, verdicts, [], corpus, 2)
    got, report = threads.shipped_threads(found_clusters, corpus, SHIPPED / "threads.jsonl")
    assert len(got) >= 9 and {row.status for row in report} == {"ok"}
    known = {cluster.cluster_id for cluster in found_clusters}
    assert all(each.cluster_id in known for each in got)


# The rule


def test_the_rule_writes_threads_and_report(tmp_path):
    write_records(tmp_path / "clusters.jsonl", [CLUSTER, POOR])
    write_records(tmp_path / "elements.jsonl", ELEMENTS)
    (tmp_path / "shipped.jsonl").write_text(json.dumps(row_of()) + "\n", encoding="utf-8")
    inputs = {
        "clusters": tmp_path / "clusters.jsonl",
        "elements": tmp_path / "elements.jsonl",
        "shipped": tmp_path / "shipped.jsonl",
    }
    find_threads.main(
        SimpleNamespace(
            input=SimpleNamespace(**inputs, get=inputs.get),
            output=SimpleNamespace(threads=tmp_path / "t.jsonl", report=tmp_path / "r.csv"),
            params=SimpleNamespace(method="shipped", generator=None),
        )
    )
    [one] = read_records(tmp_path / "t.jsonl", Thread)
    assert one.cluster_id == "cluster-1"
    assert list(pd.read_csv(tmp_path / "r.csv")["status"]) == ["ok"]
