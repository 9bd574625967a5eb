"""Rule script: the responses of one run and the council's judgements as scores.

input: `item_files`, `requests`, `responses` (lists of files), `explanations`, `explanation_answers`
(the second step), `judgements` (one file a judge, in the order of params.judges); output: `scores`,
`undecided` (CSV of answers that a person should look at); params: `judges`, `date_weight`;
wildcards: `model`, `mode`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, file_list
from scripts.files import read_records, write_csv, write_parquet
from scripts.judging.score_files import read_run
from scripts.records import Item, Judgement, Request
from scripts.tide.review import review_table
from scripts.tide.score_table import score_table
from scripts.tide.scoring import Council, score_run

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the rule's inputs, join them, write scores and what is to be reviewed."""
    given, params, run = snakemake.input, snakemake.params, snakemake.wildcards
    judgements = [read_records(path, Judgement) for path in file_list(given.judgements)]
    scores = score_run(
        [item for path in file_list(given.item_files) for item in read_records(path, Item)],
        [each for path in file_list(given.requests) for each in read_records(path, Request)],
        read_run(file_list(given.responses), run.model, run.mode),
        read_records(str(given.explanations), Request),
        read_run(file_list(given.explanation_answers), run.model, run.mode),
        council=Council.of(list(params.judges), judgements, float(params.date_weight)),
    )
    write_parquet(snakemake.output.scores, score_table(scores.rows))
    write_csv(snakemake.output.undecided, review_table(scores.judged))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
