"""Rows of the explorer: strict reading, joining of files, and what a page holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from scripts.files import DataError, dump_line, read_json, write_records
from scripts.publishing import make_explorer
from scripts.publishing.explorer import pages as module
from scripts.publishing.explorer.page_files import policy, source
from scripts.publishing.explorer.pages import Chunks, outcome, pack, read_pages
from scripts.publishing.explorer.rows import (
    Adapter,
    ItemRow,
    Sources,
    by_run,
    iterate_rows,
    to_line,
    write_rows,
)
from scripts.records import Item, Judgement, Request, Response
from tests.explorer_pages import (
    PARTS,
    SCRIPTS,
    answer,
    blocks,
    build,
    header,
    item,
    many,
    prompt,
    write,
)

Rows = list[Any]


def small() -> Rows:
    return [
        header(),
        item("a"),
        item("b", facets={"language": "xx"}, gold="7"),
        prompt("a"),
        prompt("a", "10"),
        prompt("a", "4"),
        prompt("b"),
        answer("a"),
        answer("a", prompt_id="a.10", correct=False, parsed=None, valid=False),
        answer("b", "beta", correct=None, category="not_run"),
        answer("b", correct=False),
    ]


def test_a_page_holds_what_the_rows_say(tmp_path: Path) -> None:
    page = build(tmp_path, write(tmp_path / "rows.jsonl", small()))
    found = blocks(page)
    index = found["index"]
    facets = {facet["name"]: facet for facet in index["facets"]}
    # Declared values first, then the others; numbers by size; what does not occur is not there.
    assert facets["language"]["values"] == [["en", "English"], ["xx", "xx"]]
    assert [value for value, _ in facets["shots"]["values"]] == ["0", "4", "10"]
    assert facets["benchmark"]["values"] == [["trial", "Trial"]]
    outcomes = [
        facets["outcome"]["values"][c - 1][0] for c in index["answers"]["facets"]["outcome"]
    ]
    assert outcomes == ["right", "invalid", "unscored", "wrong"]
    # Each text stands once.
    assert found["text-0"] == ["Count.", "How many?"]
    assert index["prompts"]["messages"] == [[["system", 0], ["user", 1]]] * 4
    assert [entry[0] for entry in found["answer-0"]] == ['{"result": 5}'] * 4
    assert index["items"]["gold"] == ["5", "7"] and index["chunks"] == [0, 4]
    assert [path.name for path in (tmp_path / "explorer").iterdir()] == ["pages.json"]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", small())
    first = build(tmp_path, rows).read_bytes()
    assert build(tmp_path, rows).read_bytes() == first
    assert str(tmp_path).encode() not in first


def test_a_policy_names_the_script_and_the_style_and_nothing_else(tmp_path: Path) -> None:
    text = build(tmp_path, write(tmp_path / "rows.jsonl", small())).read_text()
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    script = re.search(r"<script>(.*?)</script>", text, re.S)
    assert style and script
    rules = policy(style[1], script[1])
    assert rules.replace("'", "&#x27;") in text
    assert source("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    assert "default-src 'none'" in rules and "http" not in rules and "unsafe" not in rules
    assert "{{" not in text


def test_texts_that_are_no_unicode_survive(tmp_path: Path) -> None:
    evil = "\ud800 </script><!-- \u2028 \x00 \x1b[31m 𝛼"
    rows = [header(), item("a"), prompt("a", content=evil), answer("a", text=evil)]
    found = blocks(build(tmp_path, write(tmp_path / "rows.jsonl", rows)))
    assert found["answer-0"][0][0] == evil and found["text-0"][1] == evil


def test_long_runs_are_cut_into_chunks_and_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 4000)
    chunks = Chunks()
    assert [chunks.add(n, 2500) for n in range(3)] == [0, 1, 2]
    chunks.close()
    assert chunks.starts == [0, 2, 3] and len(chunks.packed) == 2
    one, two = write(tmp_path / "one.jsonl", many(240)), tmp_path / "two.jsonl"
    write(two, [header("other", "Other"), item("a"), prompt("a"), answer("a")])
    page = build(tmp_path, one, two, limit=20_000)
    names = sorted(path.name for path in (tmp_path / "explorer").glob("*.html"))
    listed = read_json(tmp_path / "explorer" / "pages.json")
    assert sorted(each["file"] for each in listed) == [f"explorer/{name}" for name in names]
    assert names == ["other.html", *(f"trial.task-{n}.html" for n in range(6))]
    sign = blocks(page)["index"]
    assert sign["answers"] == 241 and sum(each["answers"] for each in sign["pages"]) == 241
    assert len(blocks(tmp_path / "explorer" / "trial.task-0.html")) > 3
    # Nothing is split where it need not be.
    assert set(read_pages([one, two])) == {()}
    assert set(read_pages([one, two], two.stat().st_size + 1)) > {("other",)}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([header(), item("a"), item("a")], "item a .count. stands twice"),
        ([header(), item("a"), prompt("a"), prompt("a")], "prompt a.0 stands twice"),
        ([header(), item("a"), answer("a")], "does not stand before it"),
        ([header(), item("a"), prompt("a"), answer("a"), answer("a")], "two answers of alpha"),
        ([header(), item("a", facets={"colour": "red"})], "'colour' is not declared"),
        ([header(), item("a", facets={"model": "red"})], "'model' is not declared"),
    ],
)
def test_rows_that_do_not_fit_are_named(tmp_path: Path, rows: Rows, message: str) -> None:
    path = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(DataError, match=f"{message}.*rows.jsonl"):
        read_pages([path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[1:], "first line, and no other"),
        (lambda lines: [*lines, lines[0]], "line 12: the first line, and no other"),
        (lambda lines: [lines[0], {**lines[1], "kind": "thing"}], "kind 'thing' is none of"),
        (lambda lines: [lines[0], {**lines[1], "gold": 5}], "field 'gold' is int, expected str"),
        (lambda lines: [{**lines[0], "facets": {"answer": {}}}], "may not be named"),
    ],
)
def test_lines_that_are_no_rows_are_named(
    tmp_path: Path, change: Callable[[list[Any]], list[Any]], message: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(dump_line(line) for line in change([to_line(r) for r in small()])))
    with pytest.raises(DataError, match=message):
        list(iterate_rows(path))


def test_outcomes() -> None:
    assert outcome(answer("a", correct=False)) == "wrong"
    assert outcome(answer("a", correct=False, valid=False)) == "invalid"
    assert outcome(answer("a", correct=None)) == "unscored"
    assert outcome(answer("a")) == "right"
    assert pack([1]) == pack([1])


# ---- from the files of a benchmark ---------------------------------------------------------------


def adapter(**changes: Any) -> Adapter:
    return Adapter(
        header(),
        lambda each: [ItemRow(each.item_id, each.task, "t", "5", {"language": "en"}, {})],
        lambda request: {"shots": str(request.setting["shots"])},
        {"tokens": "tokens"},
        lambda row: (str(row.answers["verdict"]), {"reason": None, "parsed": 5}),
        **changes,
    )


def sources(tmp_path: Path, **columns: Any) -> Sources:
    request = Request("r1", "i1", {"shots": 0}, [{"role": "user", "content": "?"}], {})
    reply = Response("r1", "i1", "m", "non_thinking", "5", "stop", {}, "b", "1", 1)
    write_records(tmp_path / "items", [Item("i1", "trial", "count", {}, {}, {}, {})])
    write_records(tmp_path / "requests", [request])
    write_records(tmp_path / "responses", [reply])
    write_records(tmp_path / "judged", [Judgement("r1", "judge", {"verdict": "correct"}, "raw")])
    known = {
        **{"model": ["m"], "mode": ["non_thinking"], "request_id": ["r1"], "task": ["count"]},
        **{"valid": [True], "category": ["valid"], "route": [None], "parsed": [None]},
        **{"correct": pd.array([pd.NA], dtype="boolean"), "tokens": pd.array([3], dtype="Int64")},
    }
    given = SimpleNamespace(
        item_files=str(tmp_path / "items"),
        requests=[str(tmp_path / "requests")] * 2,
        responses=[str(tmp_path / "responses")],
        judgements=[str(tmp_path / "judged")],
    )
    params = SimpleNamespace(judges=["judge"], runs=[["m", "non_thinking"]])
    return Sources.of(given, pd.DataFrame({**known, **columns}), params)


def test_files_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert write_rows(path, adapter(), sources(tmp_path)) == 1
    *_, asked, last = iterate_rows(path)
    # A request that stands in two files is one prompt.
    assert [type(row).__name__ for row in iterate_rows(path)].count("PromptRow") == 1
    assert asked.to_json()["facets"] == {"shots": "0"}
    row = last.to_json()
    assert row["details"] == {"tokens": 3} and "correct" not in row and row["route"] == ""
    vote = {"judge": "judge", "vote": "correct", "details": {"parsed": 5}, "raw": "raw"}
    assert row["votes"] == [vote]


def test_answers_and_scores_must_belong_together(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    wrong = sources(tmp_path, request_id=["r2"])
    with pytest.raises(DataError, match=r"request r1 of .* has no score"):
        write_rows(path, adapter(), wrong)
    with pytest.raises(DataError, match=r"1 score\(s\) without a response, the first .*r2"):
        write_rows(path, adapter(unscored_task="second"), wrong)
    assert not path.exists()
    with pytest.raises(DataError, match="2 files of judgements for 1 judges of 1 runs"):
        by_run(["judge"], [["m", "non_thinking"]], ["a", "b"])
    # An answer that no score counts is unscored, and says so.
    nothing = sources(tmp_path)
    nothing = Sources(
        nothing.item_files, nothing.requests, nothing.responses, nothing.scores.iloc[:0]
    )
    assert write_rows(path, adapter(unscored_task="second"), nothing) == 1
    last = list(iterate_rows(path))[-1].to_json()
    assert (last["task"], last["category"], last["valid"]) == ("second", "no_score", False)


def test_the_rule_writes_the_page_and_says_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = SimpleNamespace(
        input=SimpleNamespace(
            template=str(PARTS / "page.html"),
            style=str(PARTS / "style.css"),
            scripts=[str(PARTS / f"{name}.js") for name in SCRIPTS],
            signpost=str(PARTS / "signpost.js"),
            rows=str(write(tmp_path / "rows.jsonl", small())),
        ),
        output=SimpleNamespace(page=str(tmp_path / "e.html"), pages=str(tmp_path / "e")),
        params=SimpleNamespace(run={"kind": "embedded", "seed": 7}),
    )
    make_explorer.main(job)
    assert "e.html: everything; 2 items, 4 answers" in capsys.readouterr().out
    assert blocks(tmp_path / "e.html")["index"]["note"] == "embedded run, seed 7"
