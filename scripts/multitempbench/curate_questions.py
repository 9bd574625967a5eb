"""Rule script: the seed questions of a run, and what every filter dropped.

Inputs: `sources`, one file per source in the order of the parameter of that name.
Outputs: `questions` (SeedQuestion rows), `curation` and `gold_audit` (CSV, docs/curation.md).
Params: `sources` ({name: entry of the corpora}), `quota`, `seed`, `languages`, `formats`,
`curation`, `calendars`, all as in the configuration.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import write_csv, write_records
from scripts.multitempbench.curation import COLUMNS, Settings, audit_rows, curate
from scripts.multitempbench.gold_audit import COLUMNS as AUDIT_COLUMNS
from scripts.multitempbench.source_questions import read_source

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the sources, curate, write."""
    params = snakemake.params
    paths = [str(path) for path in snakemake.input.sources]
    outcomes = {
        name: read_source(path, name, entry)
        for path, (name, entry) in zip(paths, params.sources.items(), strict=True)
    }
    settings = Settings(
        quota=params.quota,
        seed=params.seed,
        languages=params.languages,
        formats=params.formats,
        calendar_range=params.curation["calendar_range"],
        disagreeing_golds=params.curation["disagreeing_golds"],
        hijri_outside_range=params.calendars["hijri_outside_range"],
    )
    curated = curate(outcomes, settings)
    write_records(snakemake.output.questions, curated.questions)
    write_csv(snakemake.output.curation, pd.DataFrame(curated.ledger, columns=list(COLUMNS)))
    audits = pd.DataFrame(audit_rows(curated.audits), columns=list(AUDIT_COLUMNS))
    write_csv(snakemake.output.gold_audit, audits)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
