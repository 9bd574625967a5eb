"""Rule script: error rates of every engine and of the pipeline's own choice against the truth.

input.pages (.pages.jsonl, list), input.pdfs (list; may be empty: then only the choice is measured)
and input.truth (JSON files, list; may be empty). output.fidelity (CSV). params: engines. Documents
without a truth file are left out.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.documents.fidelity import CHOSEN, COLUMNS, page_row
from scripts.documents.pages import Page
from scripts.documents.reading import UnreadablePdfError, engine_texts
from scripts.execution import execute
from scripts.files import DataError, read_json, read_records, write_csv

if TYPE_CHECKING:
    snakemake: Any

SUFFIX = ".pages.jsonl"


def rows_of(
    truth: dict[str, Any], pages: list[Page], pdf: str | None, engines: list[str]
) -> list[dict[str, Any]]:
    """Rows of one document: each page by each engine, then as it was chosen."""
    chosen = {page.page: page for page in pages}
    rows = []
    try:
        texts = engine_texts(pdf, engines) if pdf else []
    except UnreadablePdfError as error:
        print(error)
        texts = []
    for page in truth["pages"]:
        rows += [
            page_row(truth, page, text.engine, text.lines, text.tables, status="")
            for text in texts
            if text.page == page["page"]
        ]
        mine = chosen.get(page["page"])
        if mine is None:
            raise DataError(
                f"{truth['document']}: page {page['page']} of the truth was not read; correct the "
                "truth file or parse the document again"
            )
        rows.append(page_row(truth, page, CHOSEN, mine.lines, mine.tables, status=mine.status))
    return rows


def main(snakemake: Any) -> None:
    """Join pages, PDFs and truth by the document's name, and write one row a page and engine."""
    inputs = snakemake.input
    pages = {Path(path).name.removesuffix(SUFFIX): path for path in inputs.pages}
    pdfs = {Path(path).stem: path for path in inputs.get("pdfs") or []}
    rows = []
    for path in sorted(map(str, inputs.get("truth") or [])):
        truth = read_json(path)
        document = truth["document"]
        if document not in pages:
            print(f"{path}: no pages of {document} in this run; left out")
            continue
        rows += rows_of(
            truth,
            read_records(pages[document], Page),
            pdfs.get(document),
            list(snakemake.params.engines),
        )
    write_csv(str(snakemake.output.fidelity), pd.DataFrame(rows, columns=list(COLUMNS)))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
