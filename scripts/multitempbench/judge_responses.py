"""Rule script: one judge's verdicts on the responses of one run.

input: `item_files`, `responses` (lists of files, one a task); for the date judge also `prompts`
(the prompt file of every language); for a language model as the judge also `weights` or `answers`,
as in inference/run_model.py; output: `judgements`, and for a language model `manifest`; params:
`judge` (`date_judge` or the judging model's name); for a language model also `entry` (its roster
entry), `mode`, `max_new_tokens`, `decoding`, `benchmark` and `store` (the file in which its own
answers are kept, no output of the rule); wildcards: `model`, `mode` of the judged run.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import read_records, write_records
from scripts.inference.open_model import open_model
from scripts.inference.registry import prepared_path
from scripts.judging.score_files import read_run
from scripts.multitempbench.judging import DATE_JUDGE, judge_by_model, judge_by_rule
from scripts.multitempbench.prompts import load_prompts
from scripts.records import Item, Judgement, Response

if TYPE_CHECKING:
    snakemake: Any


def by_model(snakemake: Any, items: list[Item], responses: list[Response]) -> list[Judgement]:
    """Judge with a model of the roster; every reply is kept in the store."""
    params, path = snakemake.params, prepared_path(snakemake.input)
    with open_model(
        params.judge,
        params.entry,
        path,
        mode=params.mode,
        max_new_tokens=params.max_new_tokens,
        store=params.store,
    ) as model:
        judgements = judge_by_model(items, responses, params.judge, params.decoding, model.ask)
        model.write_manifest(snakemake.output.manifest, params.benchmark)
    return judgements


def main(snakemake: Any) -> None:
    """Read items and responses, judge, and write one Judgement a response."""
    exit_on_sigterm()
    given, run = snakemake.input, snakemake.wildcards
    items = [item for path in given.item_files for item in read_records(path, Item)]
    responses = read_run(given.responses, run.model, run.mode)
    if snakemake.params.judge == DATE_JUDGE:
        judgements = judge_by_rule(items, responses, load_prompts(given.prompts))
    else:
        judgements = by_model(snakemake, items, responses)
    write_records(snakemake.output.judgements, judgements)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
