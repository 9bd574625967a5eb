"""Records travel with results; what differs from its record is built again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from snakemake.persistence.file import FilePersistence

from scripts.files import DataError
from scripts.workflow import provenance

LONG = "results/" + "/".join(["deep" * 20] * 4) + "/file.csv"


def record(root: Path, output: str, text: str) -> None:
    path = root / output
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    provenance._write_record(
        root / provenance.METADATA, output, {"rule": "r", "params": ["1"], "starttime": 5.0}
    )


def test_export_then_adopt_elsewhere(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for output in ("results/a.csv", LONG):
        record(first, output, output)
    record(first, "elsewhere/b.csv", "not below results")
    assert provenance.export("results", first) == 2
    lines = [
        json.loads(line) for line in (first / "results/provenance.jsonl").read_text().splitlines()
    ]
    assert [line["output"] for line in lines] == sorted(["results/a.csv", LONG])
    assert "starttime" not in lines[0]["record"]

    second.mkdir()
    import shutil

    shutil.copytree(first / "results", second / "results")
    (second / LONG).write_text("changed")
    message = provenance.adopt_once("results", second)
    assert message is not None and "took over 1 results" in message and "1 differ" in message
    assert not (second / LONG).exists()
    assert (second / (LONG + ".differs")).read_text() == "changed"
    assert dict(provenance._records(second / provenance.METADATA)).keys() == {"results/a.csv"}
    assert provenance.adopt_once("results", second) is None


@pytest.mark.parametrize("output", ["results/a.csv", LONG, "results/ä b.csv"])
def test_records_lie_where_snakemake_looks(tmp_path: Path, output: str) -> None:
    provenance._write_record(tmp_path, output, {"rule": "r"})

    class Reader(FilePersistence):
        def __init__(self) -> None:
            """Only the naming scheme is used."""
            self._max_len = None

    path = Reader()._record_path(str(tmp_path), output)
    assert json.loads(Path(path).read_text())["rule"] == "r"


@pytest.mark.parametrize("output", ["/etc/passwd", "results/../../x"])
def test_manifest_cannot_leave_the_repository(tmp_path: Path, output: str) -> None:
    (tmp_path / "results").mkdir()
    row = {"output": output, "sha256": "0", "record": {}}
    (tmp_path / "results/provenance.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=r"line 1.*outside"):
        provenance.adopt("results", tmp_path)


def test_half_written_record_counts_as_absent(tmp_path: Path) -> None:
    record(tmp_path, "results/a.csv", "a")
    next((tmp_path / provenance.METADATA).iterdir()).write_text('{"rule": ')
    assert provenance.export("results", tmp_path) == 0
