"""A manifest that lets another checkout take over results without building them again.

Snakemake knows why an output is up to date only from `.snakemake/metadata`, which a clone does not
have; without it a changed parameter would go unnoticed. `export` writes those records, with the
SHA-256 of every output, to `<results>/provenance.jsonl`; `adopt` restores the records of the
outputs whose bytes are the ones that were recorded. An output that differs
is set aside, so the next run builds it again. Paths in the records are relative to the repository.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.files import DataError, atomic_write, dump_line, iterate_jsonl, sha256_file

MANIFEST = "provenance.jsonl"
# What an output is renamed to when its bytes are not the ones that were recorded.
ASIDE = ".differs"
METADATA = Path(".snakemake") / "metadata"
# Facts about one run, not about how an output is made.
VOLATILE = ("starttime", "endtime", "job_hash", "external_jobid", "log")


def export(results: Path | str, root: Path = Path()) -> int:
    """Write `<results>/provenance.jsonl` for every recorded output below it; return the number."""
    folder = Path(results).as_posix().rstrip("/") + "/"
    rows = []
    for output, record in _records(root / METADATA):
        path = root / output
        if not output.startswith(folder) or not path.is_file() or record.get("incomplete"):
            continue
        kept = {key: value for key, value in record.items() if key not in VOLATILE}
        rows.append({"output": output, "sha256": sha256_file(path), "record": kept})
    with atomic_write(root / results / MANIFEST, "wb") as handle:
        for row in sorted(rows, key=lambda row: str(row["output"])):
            handle.write(dump_line(row))
    return len(rows)


def adopt(results: Path | str, root: Path = Path()) -> tuple[int, list[str]]:
    """Restore the records of unchanged outputs; return their number and the outputs that differ.

    Raises DataError for a manifest row that names a file outside the repository.
    """
    manifest = root / results / MANIFEST
    adopted, different = 0, []
    for number, row in iterate_jsonl(manifest):
        output = str(row.get("output"))
        if PurePosixPath(output).is_absolute() or ".." in PurePosixPath(output).parts:
            raise DataError(f"{manifest}, line {number}: {output!r} lies outside the repository")
        path = root / output
        if not path.is_file():
            continue
        if sha256_file(path) == row.get("sha256"):
            _write_record(root / METADATA, output, row["record"])
            adopted += 1
        else:
            path.replace(path.with_name(path.name + ASIDE))
            different.append(output)
    return adopted, different


def adopt_once(results: Path | str, root: Path = Path()) -> str | None:
    """Adopt when this checkout has results and a manifest but no records yet; return a message."""
    metadata = root / METADATA
    if not (root / results / MANIFEST).exists() or (metadata.exists() and any(metadata.iterdir())):
        return None
    adopted, different = adopt(results, root)
    message = f"took over {adopted} results recorded in {results}/{MANIFEST}"
    if different:
        message += (
            f"; {len(different)} differ from their record, were set aside and are built again: "
        )
        message += ", ".join(different[:5]) + (" …" if len(different) > 5 else "")
    return message


def _records(metadata: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for folder, _, names in os.walk(metadata):
        for name in names:
            parts = [*Path(folder).relative_to(metadata).parts, name]
            encoded = "".join(part.removeprefix("@") for part in parts)
            output = base64.urlsafe_b64decode(encoded).decode()
            try:
                record = json.loads((Path(folder) / name).read_text(encoding="utf-8"))
            except ValueError:
                continue  # a record that a killed run left half written counts as absent
            yield output, record


def _write_record(metadata: Path, output: str, record: dict[str, Any]) -> None:
    encoded = base64.urlsafe_b64encode(output.encode()).decode()
    metadata.mkdir(parents=True, exist_ok=True)
    # Snakemake splits a name that is too long for the file system into folders, each marked by "@".
    limit = os.pathconf(metadata, "PC_NAME_MAX") - 1
    pieces = [encoded[i : i + limit] for i in range(0, len(encoded), limit)]
    path = metadata.joinpath(*[f"@{piece}" for piece in pieces[:-1]], pieces[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**record, "incomplete": False}), encoding="utf-8")
