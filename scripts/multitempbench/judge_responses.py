"""Rule script: one judge's verdicts on the responses of one run, or of every run.

input: `item_files`, `responses` (lists of files; of every run one a task, tasks inner); for the
date judge also `prompts` (the prompt file of every language); for a language model as the judge
also `weights` or `answers`, as in inference/run_model.py; output: `judgements` (a file a run), and
for a language model `answers` (its own replies) and `manifest`; params: `judge` (`date_judge` or
the judging model's name); for a language model also `runs` ([model, mode] of every judged run),
`entry` (its roster entry), `mode`, `max_new_tokens`, `decoding`, `benchmark` and `store` (the file
in which its own answers are kept, no output of the rule); wildcards of the date judge: `model`,
`mode` of the judged run.

Answers in stores of one file a judged run, `<store without .jsonl>/*.jsonl`, as they were kept
before, are taken into the judge's one store first: no verdict is paid for twice.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm, file_list
from scripts.files import DataError, read_records, write_records
from scripts.inference.older_stores import adopt
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
    older = sorted(Path(params.store).with_suffix("").glob("*.jsonl"))
    taken, differing = adopt(params.store, older)
    if taken:
        print(f"{taken} verdicts taken into {params.store} from {len(older)} older files")
    if differing:
        print(f"of {differing} questions the older files hold another verdict; the first counts")
    with open_model(
        params.judge,
        params.entry,
        path,
        mode=params.mode,
        max_new_tokens=params.max_new_tokens,
        store=params.store,
    ) as model:
        judgements = judge_by_model(items, responses, params.judge, params.decoding, model.ask)
        model.write_answers(snakemake.output.answers)
        model.write_manifest(snakemake.output.manifest, params.benchmark)
    return judgements


def read_runs(snakemake: Any) -> list[list[Response]]:
    """The responses of every judged run; of a program's job, those of the run of its wildcards."""
    files = file_list(snakemake.input.responses)
    if snakemake.params.judge == DATE_JUDGE:
        runs = [(snakemake.wildcards.model, snakemake.wildcards.mode)]
    else:
        runs = [(str(model), str(mode)) for model, mode in snakemake.params.runs]
    if not runs or len(files) % len(runs):
        raise DataError(f"{len(files)} files of responses for {len(runs)} runs")
    each = len(files) // len(runs)
    return [
        read_run(files[number * each : (number + 1) * each], *run)
        for number, run in enumerate(runs)
    ]


def main(snakemake: Any) -> None:
    """Read items and responses, judge, and write one Judgement a response into its run's file."""
    exit_on_sigterm()
    given = snakemake.input
    items = [item for path in given.item_files for item in read_records(path, Item)]
    runs = read_runs(snakemake)
    responses = [response for run in runs for response in run]
    if snakemake.params.judge == DATE_JUDGE:
        judgements = judge_by_rule(items, responses, load_prompts(snakemake.params.languages))
    else:
        judgements = by_model(snakemake, items, responses)
    position = 0
    for run, path in zip(runs, file_list(snakemake.output.judgements), strict=True):
        write_records(path, judgements[position : position + len(run)])
        position += len(run)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
