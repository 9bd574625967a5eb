"""Rule script: all elements of the corpus, and what its pages, calendars and documents are like.

input.records, input.reports (lists, one a document), input.manifest; output.elements (JSONL),
output.parsing, output.two_calendars, output.complexity (CSV). No params.
"""

import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.documents.manifest import documents
from scripts.execution import execute
from scripts.files import write_csv, write_records
from scripts.tide.documents import calendar_report, parsing_report
from scripts.tide.documents.complexity import complexity
from scripts.tide.documents.elements import document_name, gather, read_record

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read records and reports, write the four files, say what needs attention."""
    given, out = snakemake.input, snakemake.output
    records = [(document_name(path), read_record(path)) for path in given.records]
    elements = gather(records)
    parsing = parsing_report.gather_reports(given.reports)
    calendars = calendar_report.calendar_rows(elements)
    notes = [
        *parsing_report.unread_pages(parsing),
        *parsing_report.date_differences(records, documents(str(given.manifest))),
        *calendar_report.disagreements(calendars),
    ]
    write_records(out.elements, elements)
    write_csv(out.parsing, parsing)
    write_csv(out.two_calendars, pd.DataFrame(calendars, columns=list(calendar_report.COLUMNS)))
    write_csv(out.complexity, complexity(records, elements))
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
