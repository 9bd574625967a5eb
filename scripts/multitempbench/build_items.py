"""Rule script: every question of one task in every language and date format.

input.questions, input.translations (one file a language, in the order of params.languages);
output.item_files (one file), output.unbuilt (CSV: question_id, language, format, reason). params:
task, languages, formats, calendars (the options of scripts/dates/formats.py).
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.dates.formats import Options
from scripts.execution import execute
from scripts.files import read_records, write_csv, write_records
from scripts.multitempbench.items import UNBUILT_COLUMNS, build_items
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.translation_rows import Translation

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read questions and translations, build, write items and what could not be built."""
    params = snakemake.params
    translations = {
        language: read_records(path, Translation)
        for language, path in zip(params.languages, snakemake.input.translations, strict=True)
    }
    built = build_items(
        read_records(snakemake.input.questions, SeedQuestion),
        translations,
        params.task,
        languages=params.languages,
        forms=params.formats,
        options=Options(**params.calendars),
    )
    write_records(str(snakemake.output.item_files), built.items)
    write_csv(snakemake.output.unbuilt, pd.DataFrame(built.unbuilt, columns=list(UNBUILT_COLUMNS)))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
