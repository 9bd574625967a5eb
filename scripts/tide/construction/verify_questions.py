"""Rule script: the experts' first-pass ratings of the question pairs and their agreement.

input: questions, ratings (a CSV; may be empty). output: verification.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd

from scripts.execution import execute
from scripts.files import read_records, write_csv
from scripts.tide.construction import verification
from scripts.tide.rows import QuestionPair

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the ratings where there are some, and write a row a task."""
    questions = read_records(snakemake.input.questions, QuestionPair)
    path = snakemake.input.get("ratings") or None
    ratings = verification.read_ratings(path, questions) if path else None
    rows = verification.verification_rows(questions, ratings)
    frame = pd.DataFrame(rows, columns=list(verification.COLUMNS))
    write_csv(snakemake.output.verification, frame)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
