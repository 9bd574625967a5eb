"""What a dry run says, in words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from scripts.inference.store import encode_line
from scripts.workflow.explain import (
    PlannedJob,
    cause,
    describe,
    inference_price,
    main,
    planned_jobs,
)

DRY_RUN = (
    """Building DAG of jobs...
Job stats:
job      count
[Mon Nov 30 08:04:28 2026]
rule syntaxbench_run_model:
    input: results/syntaxbench/requests/a.jsonl, results/models/x/config.json
    output: results/syntaxbench/responses/m/non_thinking/a.0shot.jsonl
    jobid: 2
    reason: Params have changed since last execution: """
    + """Union: before: '0123456789abcdef' now: 'fedcba9876543210'
    wildcards: model=m, mode=non_thinking
localrule all:
    input: b.txt
    reason: Input files updated by another job: b.txt
"""
)


def answers(path: Path, numbers: Iterable[int], error: str | None = None) -> None:
    """Add answers, or errors, to a store file."""
    stored = {"text": "x", "finish_reason": "stop", "usage": {}}
    if error is not None:
        stored["error"] = error
    with path.open("ab") as handle:
        handle.writelines(encode_line(f"{number:064x}", stored) for number in numbers)


def test_jobs_are_read_from_a_dry_run() -> None:
    jobs = planned_jobs(DRY_RUN)
    assert [job.rule for job in jobs] == ["syntaxbench_run_model", "all"]
    assert jobs[0].wildcards == {"model": "m", "mode": "non_thinking"}
    assert len(jobs[0].input) == 2


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("Missing output files: a, b", "not built yet"),
        ("Input files updated by another job: b.txt", "an input is built again"),
        ("Updated input files: data/x.txt", "an input changed: data/x.txt"),
        ("Forced execution", "Forced execution"),
        ("", "requested"),
        (
            "Params have changed since last execution: Union of exclusive params before and now "
            "across all output: before: 200 now: 201",
            "its parameters changed: 200 → 201",
        ),
    ],
)
def test_causes(reason: str, sentence: str) -> None:
    assert cause(reason) == sentence


def test_description_names_code_changes_and_prices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    requests = tmp_path / "results/syntaxbench/requests/a.jsonl"
    store = tmp_path / "results/store/syntaxbench/m/non_thinking.jsonl"
    for path in (requests, store):
        path.parent.mkdir(parents=True)
    requests.write_text("{}\n" * 5)
    answers(store, range(3))
    answers(store, range(3, 5), "timeout")
    # Those of a run with other results.
    other = tmp_path / "results/try/store/syntaxbench/m/non_thinking.jsonl"
    other.parent.mkdir(parents=True)
    answers(other, range(10, 19))
    jobs = planned_jobs(DRY_RUN)
    assert "5 requests, 3 answers in its store" in inference_price(jobs[0])
    text = "\n".join(describe(jobs))
    assert text.startswith("2 job(s) would run:")
    assert "1 × its code changed" in text


def test_shards_and_what_gathers_them_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    requests = tmp_path / "results/tide/requests/rag/a.jsonl"
    requests.parent.mkdir(parents=True)
    requests.write_text("{}\n" * 5)
    for file, numbers in (
        ("tide/m/thinking.jsonl", range(1)),
        # One of them stands in both.
        ("tide/m/thinking.2.jsonl", range(4)),
        ("syntaxbench/m/thinking.jsonl", range(7)),
        ("tide/m/non_thinking.jsonl", range(7)),
    ):
        path = tmp_path / "results/store" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        answers(path, numbers)
    names = [f"results/manifests/tide/m.thinking.shard-{n}-of-2.json" for n in (1, 2)]
    shard = PlannedJob(
        "tide_run_shard",
        names[1:],
        ["results/tide/requests/rag/a.jsonl"],
        "Missing output files: x",
        {"model": "m", "mode": "thinking", "shard": "2", "shards": "2"},
    )
    whole = PlannedJob(
        "tide_run_model",
        ["results/tide/responses/m/thinking/rag/a.jsonl"],
        [*names, "results/tide/requests/rag/a.jsonl"],
        "Missing output files: x",
        {"model": "m", "mode": "thinking"},
    )
    text = "\n".join(describe([shard, whole]))
    assert "m (thinking), shard 2 of 2: its share of 5 requests, 4 answers in its store" in text
    assert "m (thinking): gathers the answers of 2 shards, asks nothing itself" in text


def test_nothing_to_do() -> None:
    assert list(describe([])) == ["Nothing to do: every output is up to date."]


def test_failing_dry_run_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([]) != 0
    assert "config.yaml: no such file" in capsys.readouterr().err
