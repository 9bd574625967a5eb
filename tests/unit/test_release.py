"""Releases: their bytes, what they refuse, what they hold, and what they keep to themselves."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlcroissant as mlc
import pandas as pd
import pytest
import yaml

from scripts.files import DataError, write_records
from scripts.publishing.origins import Ledger
from scripts.records import Response
from scripts.workflow.check import load
from scripts.workflow.consistency import gpus_needed
from scripts.workflow.explain import PlannedJob
from scripts.workflow.producers import origins
from scripts.workflow.release import __main__ as command
from scripts.workflow.release import (
    building,
    configuration,
    contents,
    description,
    fetch_given,
    package,
    privacy,
)
from scripts.workflow.release.given import given_files, given_rules

EMBEDDED = "config/embedded.yaml"


ORIGIN = {"rule": "made", "inputs": {}}


def facts(given: Mapping[str, bytes], /, **other: Any) -> dict[str, Any]:
    return {
        "format": package.FORMAT,
        "results": "results",
        "version": "1",
        "commit": "abcdef0",
        "base": "0" * 64,
        "code": "1" * 64,
        "given": {name: package.checksum(data) for name, data in given.items()},
        "origins": {f"results/{name}": ORIGIN for name in given},
        "remade": {},
        "answers": {},
        **other,
    }


def small(path: Path, given: Mapping[str, bytes] | None = None, /, **other: Any) -> Path:
    """A release with little in it."""
    files = {"a/tokens.csv": b"n\n1\n"} if given is None else given
    members: dict[str, package.Content] = {f"files/{name}": data for name, data in files.items()}
    members["release.json"] = package.as_json(facts(files, **other))
    package.write(path, "thing-1", members)
    return path


def rewritten(source: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A release whose members (name to bytes) were changed by somebody."""
    with tarfile.open(source) as archive:
        members = {m.name: archive.extractfile(m).read() for m in archive}  # type: ignore[union-attr]
    change(members)
    with tarfile.open(target, "w:gz") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return target


def test_the_same_content_has_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    written = []
    for number in (1, 2):
        source.unlink(missing_ok=True)
        source.write_text("text")
        source.chmod(0o600 if number == 1 else 0o777)
        os.utime(source, (number, number))
        members: dict[str, package.Content] = {"b": source, "a": b"bytes"}
        path = tmp_path / f"{number}.tar.gz"
        package.write(path, "thing", members if number == 1 else dict(reversed(members.items())))
        written.append(path.read_bytes())
    assert written[0] == written[1]
    with tarfile.open(tmp_path / "1.tar.gz") as archive:
        found = archive.getmembers()
    assert [m.name for m in found] == ["thing/SHA256SUMS", "thing/a", "thing/b"]
    assert {(m.uid, m.gid, m.uname, m.gname, m.mode) for m in found} == {(0, 0, "", "", 0o644)}
    assert gzip.decompress(written[0])[:5] == b"thing"


def test_a_release_comes_back_as_it_was(tmp_path: Path) -> None:
    release = small(tmp_path / "r.tar.gz")
    assert package.check(release)["version"] == "1"
    for _ in range(2):  # the second time over the first
        package.unpack(release, tmp_path / "results" / "release")
    assert (tmp_path / "results/release/files/a/tokens.csv").read_bytes() == b"n\n1\n"
    assert given_files(tmp_path / "results/release")[0].keys() == {"a/tokens.csv"}
    assert [p.name for p in (tmp_path / "results").iterdir()] == ["release"]


def _drop(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.pop(f"thing-1/{name}") and None


def _put(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({name: data})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_put("thing-1/files/a/tokens.csv", b"n\n2\n"), "files/a/tokens.csv: not the bytes"),
        (_drop("files/a/tokens.csv"), "files/a/tokens.csv: listed in SHA256SUMS, but not there"),
        (_put("thing-1/files/more", b""), "files/more: not listed"),
        (_drop("release.json"), "holds no release.json"),
        (_drop("SHA256SUMS"), "holds no SHA256SUMS"),
        (_put("thing-1/SHA256SUMS", b"nonsense\n"), "SHA256SUMS, line 1"),
        (_put("thing-1/SHA256SUMS", b"\xff\xfe\n"), "SHA256SUMS, line 1"),
        (_put("/etc/passwd", b""), "'/etc/passwd' would be written outside"),
        (_put("thing-1/../x", b""), "'thing-1/../x' would be written outside"),
        (_put("thing-1\\x", b""), "would be written outside"),
        (_put("other/x", b""), "holds 2 folders"),
        (_put("thing-1/RELEASE.json", b""), "stands twice"),
    ],
)
def test_what_was_altered_is_named(
    tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    altered = rewritten(small(tmp_path / "r.tar.gz"), tmp_path / "altered.tar.gz", change)
    with pytest.raises(DataError, match="(?s)" + message.replace("\\", ".")):
        package.unpack(altered, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    assert not list(tmp_path.glob(".unpacking*"))


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
        with tarfile.open(tmp_path / "r.tar.gz", "w:gz") as archive:
            entry = tarfile.TarInfo("thing-1/x")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
        with pytest.raises(DataError, match="is no plain file"):
            package.check(tmp_path / "r.tar.gz")
    with tarfile.open(tmp_path / "r.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("thing-1/x")
        size, entry.size = 1 << 40, 1
        entry.pax_headers = {"GNU.sparse.size": str(size), "GNU.sparse.map": f"{size - 1},1"}
        archive.addfile(entry, io.BytesIO(b"x"))
    with pytest.raises(DataError, match="is no plain file"):
        package.check(tmp_path / "r.tar.gz")


def test_a_release_that_has_no_room_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = small(tmp_path / "r.tar.gz")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=100))
    with pytest.raises(DataError, match=r"bytes, and .* has room for 100"):
        package.unpack(release, tmp_path / "release")
    assert not list(tmp_path.glob(".unpacking*"))


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    whole = small(tmp_path / "r.tar.gz").read_bytes()
    (tmp_path / "half.tar.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.tar.gz").write_text("hello")
    for name, message in (("half", "not whole"), ("text", "not a release"), ("no", "no such file")):
        with pytest.raises(DataError, match=message):
            package.check(tmp_path / f"{name}.tar.gz")
    for other, message in (
        ({"format": 2}, "format 2, this version reads 1"),
        ({"remade": {"../x": "0" * 64}}, "remade must map paths to checksums"),
        ({"answers": {"x": "short"}}, "answers must map"),
        ({"origins": {}}, "origins must tell"),
        ({"results": "results/../.."}, "results is 'results/../..'"),
        ({"commit": "\x1b[2J"}, "commit is "),
        ({"given": {"b": "0" * 64}, "origins": {"results/b": ORIGIN}}, "gives b, which is not in"),
        ({"origins": {"results/a/tokens.csv": 7}}, "origins must tell"),
    ):
        with pytest.raises(DataError, match=message):
            package.check(small(tmp_path / "other.tar.gz", **other))


# ---- What stands in it -------------------------------------------------------------------------


def response(number: int, model: str = "m", **other: Any) -> Response:
    fields = {
        "request_id": f"q{number}",
        "item_id": f"i{number}",
        "model": model,
        "mode": "non_thinking",
        "text": f"answer {number}",
        "finish_reason": "stop",
        "usage": {"prompt": 3, "completion": None, "reasoning": None},
        "backend": "vllm",
        "backend_version": "1.2",
        "attempts": 2,
    }
    return Response(**{**fields, **other})


CONFIG: dict[str, Any] = {
    "run": {"results": "results", "kind": "embedded", "benchmarks": []},
    "corpora": {},
    "models": {
        "m": {"backend": "vllm", "modes": ["non_thinking"], "label": "M", "source": "org/m"},
        "base": {"backend": "baseline", "modes": ["non_thinking"]},
    },
}
RUN_OF_M = {"model": "m", "mode": "non_thinking"}


def planned() -> list[PlannedJob]:
    """The plan of a run: fetch, items, requests, a model, a baseline, scores, tokenisation."""

    def job(rule: str, output: list[str], source: list[str], **wildcards: str) -> PlannedJob:
        return PlannedJob(rule, output, source, wildcards=wildcards)

    manifest = "results/manifests/b/m.non_thinking.json"
    return [
        job("all", [], ["results/b/scores.csv", "results/b/tokens.csv", "results/b/pages"]),
        job("fetch_embedded_model", ["results/models/m/w"], []),
        job("fetch_corpus", ["data/raw/c/words"], []),
        job("build_items", ["results/b/items.jsonl"], ["data/raw/c/words"]),
        job("build_requests", ["results/b/requests.jsonl"], ["results/b/items.jsonl"]),
        job(
            "run_model",
            ["results/b/responses/m.jsonl", "results/b/responses/none.jsonl", manifest],
            ["results/b/requests.jsonl", "results/models/m/w"],
            **RUN_OF_M,
        ),
        job(
            "run_model",
            ["results/b/responses/base.jsonl", "results/manifests/b/base.json"],
            ["results/b/requests.jsonl"],
            model="base",
            mode="non_thinking",
        ),
        job(
            "score",
            ["results/b/scores.csv"],
            ["results/b/responses/m.jsonl", "results/b/responses/none.jsonl",
             "results/b/responses/base.jsonl"],
        ),
        job("tokenise", ["results/b/tokens.csv"], ["results/models/m/w", "results/b/items.jsonl"]),
        job("make_pages", ["results/b/pages"], ["results/b/scores.csv"]),
    ]  # fmt: skip


@pytest.fixture
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of that run."""
    monkeypatch.chdir(tmp_path)
    for job in planned():
        for path in map(Path, job.output):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x\n")
    write_records("results/b/responses/m.jsonl", [response(2), response(1)])
    write_records("results/b/responses/base.jsonl", [response(1, "base", backend="baseline")])
    Path("results/b/responses/none.jsonl").write_text("")
    Path("results/b/pages").unlink()
    Path("results/b/pages").mkdir()
    Path("results/b/pages/1.html").write_text("page")
    return tmp_path


def test_a_replay_begins_where_a_release_gives(finished: Path) -> None:
    found = contents.sort_out(planned(), CONFIG, ["tokenise", "build_items"])
    assert set(found.given) == {"results/b/items.jsonl", "results/b/tokens.csv"}
    assert found.answers == {"results/b/responses/m.jsonl"}
    assert found.asked == {("m", "non_thinking")}
    assert found.remade == {
        *("results/b/requests.jsonl", "results/b/scores.csv", "results/b/pages/1.html"),
        *("results/b/responses/base.jsonl", "results/b/responses/none.jsonl"),
    }
    assert len(found.manifests) == 2


def test_what_only_this_checkout_has_is_named(finished: Path) -> None:
    with pytest.raises(DataError, match="data/raw/c/words: needed to replay"):
        contents.sort_out(planned(), CONFIG, ["tokenise"])
    with pytest.raises(DataError, match="results/models/m/w: needed to replay"):
        contents.sort_out(planned(), CONFIG, ["build_items"])


def test_an_archive_holds_whole_responses_once(finished: Path) -> None:
    twice = Path("results/b/responses/again.jsonl")
    write_records(twice, [response(2)])
    asked = [("m", "non_thinking"), ("judge", "non_thinking")]
    found = contents.archives(["results/b/responses/m.jsonl", str(twice)], asked)
    rows = [json.loads(line) for line in found["m", "non_thinking"].splitlines()]
    assert [Response.from_json(row) for row in rows] == [response(1), response(2)]
    assert found["judge", "non_thinking"] == b""
    write_records(twice, [response(2, text="another")])
    with pytest.raises(DataError, match="two answers to request q2"):
        contents.archives(["results/b/responses/m.jsonl", str(twice)], asked)
    write_records(twice, [response(1, "stranger")])
    with pytest.raises(DataError, match="was not asked"):
        contents.archives([str(twice)], asked)


def test_what_is_given_follows_from_the_configuration(repository: Path) -> None:
    embedded = set(given_rules(load([EMBEDDED])))
    full = set(given_rules(load([])))
    # The corpora of the embedded run ship with the project: what is read from them is made again.
    assert {"syntaxbench_tokenise_inputs", "tide_retrieve_clauses"} <= embedded
    assert "multitempbench_fit_probes" in embedded
    assert not {"syntaxbench_build_items", "tide_gather_elements"} & embedded
    assert {"syntaxbench_build_items", "multitempbench_curate_questions"} <= full
    assert {"tide_gather_elements", "tide_generate_questions"} <= full


# ---- Configuration -----------------------------------------------------------------------------


def test_overlays_lose_what_is_private_and_nothing_else(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.yaml"
    entry = {
        "base_url": "http://gpu17.lab.example:8000/v1",
        "api_key_environment": "MY_KEY",
        "api_key_file": "/home/ann/key",
        "modes": ["thinking"],
    }
    overlay.write_text(yaml.safe_dump({"models": {"x": entry, "y": None}}) + "# by Ann\n")
    written = configuration.members([str(overlay)])
    assert written["configuration/config.yaml"] == Path("config.yaml").read_bytes()
    text = written["configuration/1-mine.yaml"].decode()
    assert yaml.safe_load(text) == {
        "models": {"x": {"base_url": configuration.LEFT_OUT, "modes": ["thinking"]}, "y": None}
    }
    assert "Ann" not in text
    public = "base_url: https://openrouter.ai/api/v1"
    kept = {"base_url": "https://openrouter.ai/api/v1"}
    assert configuration.without_private([kept], public) == [kept]


def test_the_replay_asks_archives_and_keeps_the_facts_of_the_roster() -> None:
    overlay = yaml.safe_load(configuration.replay(CONFIG, ["m"]))
    assert overlay["run"] == {"release": "results/release"}
    entry = {**CONFIG["models"]["m"], **overlay["models"]["m"]}
    assert entry["archive"] == "results/release/responses/{model}.{mode}.jsonl"
    assert (entry["backend"], entry["archived"]) == ("archive", {"backend": "vllm"})
    again = configuration.replay({**CONFIG, "models": {"m": entry}}, ["m"])
    assert yaml.safe_load(again)["models"]["m"]["archived"] == {"backend": "vllm"}


# ---- What it does not tell ---------------------------------------------------------------------

MANIFEST = {
    "backend": {"name": "openai", "version": "1"},
    "benchmark": "tide",
    "facts": {"base_url": "http://gpu17.lab.example/v1", "device": "cuda", "spent": {"cost": 3}},
    "git": {"commit": "abc", "modified": True},
    "host": {"name": "gpu17", "system": "Linux-6-gpu17", "cores": 8, "gpus": [{"name": "H200"}]},
    "identity": {"server": "http://gpu17.lab.example/v1", "seed": 1},
    "model": {"name": "m", "options": {"api_key_file": "/home/ann/key"}},
    "shards": [{"host": {"name": "gpu17"}}],
    "started": "2026-11-30T21:13:09+00:00",
    "tokens": {"prompt": 3},
    "wall_seconds": 12.5,
}


def test_manifests_tell_of_the_run_and_not_of_the_people() -> None:
    public = privacy.public_manifest(MANIFEST, "")
    text = json.dumps(public)
    for secret in ("gpu17", "ann", "21:13", "cost", "12.5", "lab.example"):
        assert secret not in text
    assert public["host"] == {"cores": 8, "gpus": [{"name": "H200"}]}
    assert (public["started"], public["commit"]) == ("2026-11-30", "abc")
    assert (public["tokens"], public["facts"]) == ({"prompt": 3}, {"device": "cuda"})


def test_names_and_keys_are_found_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy.socket, "gethostname", lambda: "gpu17")
    names = privacy.own_names()
    assert names["gpu17"] == "the name of this machine" and str(Path.cwd()) in names
    monkeypatch.setenv("SOME_API_KEY", "a1b2c3d4e5f6a7b8c9d0e1f2a3b4")
    privacy.refuse_private({"a.csv": b"gpu170, my-gpu17, gpu17-x", "b.png": b"gpu17"}, names)
    # What a model said is its own affair.
    privacy.refuse_private({"responses/m.jsonl": b"I run on gpu17"}, names)
    for text, what in (
        (f"x\n{Path.cwd()}/y", "folder of this checkout"),
        ("one\ntwo on gpu17.", "name of this machine"),
        ("x\nkey=a1b2c3d4e5f6a7b8c9d0e1f2a3b4", "API key"),
    ):
        with pytest.raises(DataError, match=f"notes.md, line 2: .*{what}") as error:
            privacy.refuse_private({"a.csv": b"1", "notes.md": text.encode()}, names)
        assert "a1b2c3" not in str(error.value)


# ---- What it says of itself --------------------------------------------------------------------


def test_the_croissant_record_reads_items_responses_and_scores(tmp_path: Path) -> None:
    config = load([EMBEDDED])
    item = {"item_id": "i1", "benchmark": "tide", "task": "t", "factors": {}}
    scores = pd.DataFrame(
        {
            **{name: ["x"] for name in ("item_id", "request_id", "model", "mode", "task")},
            **{"category": ["valid"], "route": ["whole"], "valid": [True], "correct": [False]},
        }
    )
    scores.to_parquet(tmp_path / "scores.parquet")
    members: dict[str, package.Content] = {
        "files/tide/items/t.jsonl": json.dumps(item).encode() + b"\n",
        "files/tide/scores.parquet": (tmp_path / "scores.parquet").read_bytes(),
        "files/tide/statistics/accuracy.csv": b"n\n1\n",
        "responses/m.non_thinking.jsonl": json.dumps(response(1).to_json()).encode() + b"\n",
        "responses/silent.non_thinking.jsonl": b"",
    }
    about = {"name": "tokens-and-time", "version": "0.1.0", "kind": "embedded"}
    record = description.record(about, config, members)
    for name, data in members.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.read_bytes())
    (tmp_path / "croissant.json").write_bytes(package.as_json(record))
    dataset = mlc.Dataset(jsonld=str(tmp_path / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    sets = {found.id for found in dataset.metadata.record_sets}
    assert sets == {"tide-items-t-jsonl", "tide-scores-parquet", "responses-m-non-thinking-jsonl"}
    (read,) = dataset.records("responses-m-non-thinking-jsonl")
    assert read["responses-m-non-thinking-jsonl/text"] == b"answer 1"
    (score,) = dataset.records("tide-scores-parquet")
    assert bool(score["tide-scores-parquet/correct"]) is False
    assert "Gemma terms of use" in record["license"]


def test_the_readme_lists_every_licence_and_what_is_given() -> None:
    config = load([EMBEDDED])
    config["models"]["smollm2-135m"] |= {"source": "org/<b>x|y</b>", "label": "S"}
    about = facts({"tide/retrieval/a.jsonl": b"", "tide/retrieval/b.jsonl": b""})
    about |= {"kind": "embedded", "benchmarks": ["tide"], "modified": True, "tex": "", "epoch": 1}
    text = description.readme(about, config)
    assert "| S | org/\\<b\\>x\\|y\\</b\\> | unknown |" in text
    assert "Gemma terms of use |" in text and "own fictional instruments | CC0-1.0" in text
    assert "| tide/retrieval | 2 |" in text and "2 are given" in text
    assert "`abcdef0`, with changes that are in no commit; the PDF was set with no TeX" in text
    config["models"]["smollm2-135m"]["licence"] = "Apache-2.0"
    assert description.licence_of("smollm2-135m", config) == "Apache-2.0"


# ---- The commands ------------------------------------------------------------------------------


def test_an_unfinished_run_is_refused() -> None:
    building.refuse_unfinished([PlannedJob("all")], [])
    with pytest.raises(DataError, match=r'^2 outputs are not up to date, a among .*CONFIG="x y"'):
        building.refuse_unfinished([PlannedJob("r", ["a", "b"])], ["x", "y"])
    with pytest.raises(DataError, match="pass that release on"):
        building.build({"run": {"release": "results/release"}}, [], Path("unused"))


def test_a_finished_run_becomes_a_release(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("LICENSE", "config.yaml", *building.LOCKS):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("text\n")
    Path("config.yaml").write_text("models: {}\n")
    Path("CITATION.cff").write_text("version: 0.1.0\n")
    for path in Path("results/manifests/b").glob("*.json"):
        path.write_bytes(package.as_json(MANIFEST))
    monkeypatch.setattr(building, "plan", lambda _, *options: planned() if options else [])
    monkeypatch.setattr(building, "given_rules", lambda _: ["tokenise", "build_items"])
    monkeypatch.setattr(command, "load", lambda _: CONFIG)
    assert command.main(["build"]) == 0
    told = capsys.readouterr().out
    assert "a replay makes 6 files again and takes 2 as they are given" in told
    first = Path("results/release.tar.gz").read_bytes()
    assert command.main(["build", "--output", "other.tar.gz"]) == 0
    assert Path("other.tar.gz").read_bytes() == first
    package.unpack(Path("other.tar.gz"), Path("unpacked"))
    names = {p.relative_to("unpacked").as_posix() for p in Path("unpacked").rglob("*.*")}
    assert {
        *("files/b/tokens.csv", "files/b/pages/1.html", "files/b/responses/base.jsonl"),
        *("responses/m.non_thinking.jsonl", "manifests/b/base.json", "configuration/replay.yaml"),
        *("README.md", "CITATION.cff", "croissant.json", "release.json", "locks/core.lock"),
    } <= names
    assert not {"files/b/responses/m.jsonl", "manifests/b/m.json"} & names
    given, origins = given_files("unpacked")
    assert set(given) == {"b/items.jsonl", "b/tokens.csv"}
    # What the file was made from is known, though the release does not hold it.
    made = origins["results/b/tokens.csv"]
    assert made["rule"] == "tokenise"
    assert made["inputs"]["results/models/m/w"] == package.checksum(b"x\n")
    Path("results/b/scores.csv").write_text(f"{finished}\n")
    assert command.main(["build"]) == 1
    assert "scores.csv, line 1: the folder of this checkout" in capsys.readouterr().err


def test_a_plan_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snakemake = tmp_path / "snakemake"
    snakemake.write_text("#!/bin/sh\necho rule one:\necho '    output: a, b'\nexit $STATUS\n")
    snakemake.chmod(0o755)
    monkeypatch.setattr(building.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("STATUS", "0")
    assert building.plan(["x.yaml"], "--forceall") == [PlannedJob("one", ["a", "b"])]
    monkeypatch.setenv("STATUS", "1")
    with pytest.raises(DataError, match="cannot plan this run:\nrule one"):
        building.plan([])


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another checkout, with a config.yaml and code."""
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text("run: {}\n")
    Path("scripts").mkdir()
    Path("scripts/a.py").write_text("1")
    return tmp_path


def released(**other: Any) -> Path:
    known = {"base": package.checksum(Path("config.yaml")), "code": building.code_digest()}
    return small(Path("r.tar.gz"), **{**known, **other})


def test_a_release_is_unpacked_only_where_it_fits(elsewhere: Path) -> None:
    overlays, warnings = building.prepare(released())
    assert (overlays, warnings) == (["results/release/configuration/replay.yaml"], [])
    building.prepare(released())  # a second time, over its own replay
    Path("scripts/a.py").write_text("2")
    (warning,) = building.prepare(released(code="2" * 64))[1]
    assert "the code here is not that of the release (commit abcdef0)" in warning
    with pytest.raises(DataError, match="git checkout abcdef0"):
        building.prepare(released(base="3" * 64))
    shutil.rmtree("results/release")
    Path("results/syntaxbench").mkdir()
    with pytest.raises(DataError, match="results: holds results of this checkout"):
        building.prepare(released())


def test_overlays_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "configuration").mkdir()
    for name in ("10-a.yaml", "2-b.yaml", "config.yaml", "replay.yaml"):
        (tmp_path / "configuration" / name).write_text("")
    found = [Path(path).name for path in building.configuration_files(tmp_path)]
    assert found == ["2-b.yaml", "10-a.yaml", "replay.yaml"]


def test_a_replay_goes_where_the_release_was_unpacked() -> None:
    overlays = ["results/x/release/configuration/replay.yaml"]
    run = {"results": "results/x", "release": "results/x/release"}
    building.refuse_elsewhere({"run": run}, overlays)
    for change in ({"results": "results"}, {"release": "results/release"}):
        with pytest.raises(DataError, match=f"belongs into .* run.{next(iter(change))}: results"):
            building.refuse_elsewhere({"run": run | change}, overlays)


def test_a_replay_that_would_ask_or_fetch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"run": {"benchmarks": ["tide"]}, **load([EMBEDDED])}
    asks = PlannedJob(
        "tide_run_model", ["results/manifests/tide/x.json"], wildcards={"model": "smollm2-135m"}
    )
    baseline = PlannedJob("r", ["results/manifests/tide/y.json"], wildcards={"model": "majority"})
    embeds = PlannedJob("tide_retrieve_clauses", ["results/tide/retrieval/x.jsonl"])
    for jobs, message in (
        ([asks], "rule tide_run_model would make"),
        ([embeds], "rule tide_retrieve_clauses would make"),
        ([PlannedJob("fetch_corpus", ["data/raw/x"])], "does not hold data/raw/x"),
    ):
        monkeypatch.setattr(building, "plan", lambda *_, jobs=jobs: jobs)
        with pytest.raises(DataError, match=message):
            building.refuse_foreign(config, [])
    monkeypatch.setattr(building, "plan", lambda *_: [baseline])
    building.refuse_foreign(config, [])


def test_every_difference_of_a_replay_is_told(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(
        json.dumps({"request_id": f"q{n}", "model": "m", "mode": "thinking"}) + "\n" for n in (1, 2)
    ).encode()
    members: dict[str, package.Content] = {
        "files/b/tokens.csv": b"1",
        "responses/m.thinking.jsonl": lines,
        "release.json": package.as_json(
            facts(
                {"b/tokens.csv": b"1"},
                remade={"paper/paper.pdf": package.checksum(b"pdf")},
                answers={"b/answers.jsonl": package.checksum(lines)},
                tex="TeX of 1989",
            )
        ),
    }
    package.write(Path("r.tar.gz"), "thing-1", members)
    package.unpack(Path("r.tar.gz"), Path("results/release"))
    config = {"run": {"results": "results", "release": "results/release"}}
    for name, data in (("b/tokens.csv", b"1"), ("b/answers.jsonl", lines)):
        Path("results", name).parent.mkdir(parents=True, exist_ok=True)
        Path("results", name).write_bytes(data)
    Path("results/paper").mkdir()
    Path("results/paper/paper.pdf").write_bytes(b"pdf")
    monkeypatch.setattr(command, "load", lambda _: config)
    assert command.main(["compare", "--configfile", "x"]) == 0
    assert "every file has the same bytes" in capsys.readouterr().out
    Path("results/paper/paper.pdf").write_bytes(b"other")
    Path("results/b/answers.jsonl").write_bytes(lines.splitlines(keepends=True)[0])
    Path("results/b/tokens.csv").unlink()
    assert command.main(["compare", "--configfile", "x"]) == 1
    told = capsys.readouterr().err
    assert "1 of 3 files were not made: b/tokens.csv" in told
    assert "2 of 3 files are not those of the release: paper/paper.pdf, b/answers.jsonl" in told
    assert "the PDF was set with TeX of 1989" in told
    assert "m.thinking.jsonl: 1 of 2 answers are to requests that are not built here, q2" in told


def test_commands_end_with_a_message(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["verify", str(released())]) == 0
    assert "r.tar.gz: whole; version 1, commit abcdef0" in capsys.readouterr().out
    assert command.main(["verify", "nowhere"]) == 1
    assert capsys.readouterr().err.startswith("error: nowhere: no such file")
    monkeypatch.setattr(command, "load", lambda _: {"run": {"results": "results"}})
    assert command.main(["compare"]) == 1
    assert "replays no release" in capsys.readouterr().err
    monkeypatch.setattr(building, "refuse_foreign", lambda *_: None)
    assert command.main(["unpack", str(released())]) == 1
    assert "belongs into results/release, but its configuration" in capsys.readouterr().err
    replayed = {"run": {"results": "results", "release": "results/release"}}
    monkeypatch.setattr(command, "load", lambda _: replayed)
    assert command.main(["unpack", str(released(code="2" * 64))]) == 0
    told = capsys.readouterr()
    assert told.out == "results/release/configuration/replay.yaml\n"
    assert told.err.startswith("warning: the code here")


def test_a_given_file_is_verified_when_it_is_taken(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"1")
    job = SimpleNamespace(
        input=SimpleNamespace(file=str(source)),
        output=SimpleNamespace(file=str(target)),
        params=SimpleNamespace(sha256=package.checksum(b"1")),
    )
    fetch_given.main(job)
    assert target.read_bytes() == b"1"
    source.write_bytes(b"2")
    with pytest.raises(DataError, match="not the file that was released"):
        fetch_given.main(job)
    with pytest.raises(DataError, match="in which no release is"):
        given_files(tmp_path)


def test_the_index_knows_what_a_given_file_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    Path("results/tokens.csv").write_text("n\n")
    Path("here").write_text("1")
    inputs = {"results/models/m/w": "a" * 64, "here": "b" * 64, "folder": None}
    released = {"results/tokens.csv": {"rule": "tokenise", "inputs": inputs}}
    made = origins(SimpleNamespace(rules=[]), ["results/tokens.csv", "other"], released)
    assert made.keys() == {"results/tokens.csv"}
    row = Ledger(made, "results").made("tokens.csv")
    assert row["rule"] == "tokenise"
    # Of a file that is here, its own checksum; of one that is not, the one of the release.
    here = package.checksum(b"1")
    assert row["inputs"] == {"folder": None, "here": here, "results/models/m/w": "a" * 64}


def test_an_archive_needs_no_gpu() -> None:
    entry = {"backend": "vllm", "tensor_parallel": 2, "gpus": 2}
    assert gpus_needed(entry) == 2
    assert gpus_needed({**entry, "backend": "archive", "archived": {"backend": "vllm"}}) == 0
