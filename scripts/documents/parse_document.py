"""Rule script: one PDF to pages, one structured record, and a report with a row a page.

input.pdf. output.pages (.pages.jsonl), output.record (.record.json), output.report (.report.csv).
params: document, entry (row of the manifest: file, url, sha256, type, date, licence, title),
engines, vision (null, or name, entry, mode, max_new_tokens, store and maybe constrained), and
maybe ocr_layer (flag or accept: what to do with a text layer made by OCR over a scan).
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.documents import records
from scripts.documents.reading import REPORT_COLUMNS, PdfPages, read_pdf
from scripts.documents.vision import Reader, read_flagged
from scripts.execution import execute
from scripts.files import DataError, sha256_file, write_csv, write_json, write_records
from scripts.inference.backends import create_backend
from scripts.inference.registry import model_spec

if TYPE_CHECKING:
    snakemake: Any


def check_sum(path: str, entry: dict[str, Any]) -> None:
    """Raise DataError where the file is not the one that the manifest names."""
    expected = str(entry.get("sha256") or "").lower()
    if not expected:
        print(f"{path}: the manifest has no checksum; the file is read as it is")
        return
    found = sha256_file(path)
    if found != expected:
        raise DataError(
            f"{path}: SHA-256 {found}, the manifest has {expected}; fetch the file again, or "
            "correct the manifest if the new file is meant"
        )


def read_with_vision(path: str, read: PdfPages, vision: dict[str, Any]) -> None:
    """Let the vision model read what is flagged; the pages are replaced in place."""
    spec = model_spec(vision["name"], vision["entry"])
    backend = create_backend(spec, vision["mode"])
    reader = Reader(
        backend,
        vision["store"],
        int(vision["max_new_tokens"]),
        constrained=bool(vision.get("constrained", True)),
    )
    try:
        read.pages, _ = read_flagged(path, read.pages, reader)
    finally:
        backend.close()


def summary(read: PdfPages) -> str:
    """What the log says about a document."""
    if read.failure:
        return f"{read.document}: failed: {read.failure}"
    states = [page.status for page in read.pages]
    counts = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    flagged = [str(page.page) for page in read.pages if page.status == "needs_ocr"]
    needed = f"; pages that need OCR: {', '.join(flagged)}" if flagged else ""
    return f"{read.document}: {len(states)} pages ({counts}){needed}"


def main(snakemake: Any) -> None:
    """Check the file, read it, hand flagged pages to the vision model, write all three outputs."""
    params, path = snakemake.params, str(snakemake.input.pdf)
    entry = dict(params.entry)
    check_sum(path, entry)
    read = read_pdf(
        path, params.document, list(params.engines), ocr_layer=params.get("ocr_layer", "flag")
    )
    if params.vision and any(page.status == "needs_ocr" for page in read.pages):
        read_with_vision(path, read, dict(params.vision))
    print(summary(read))
    for note in read.notes:
        print(f"{params.document}: {note}")
    write_records(str(snakemake.output.pages), read.pages)
    write_json(str(snakemake.output.record), records.build_record(read.pages, entry))
    report = pd.DataFrame(read.report(), columns=list(REPORT_COLUMNS))
    write_csv(str(snakemake.output.report), report)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
