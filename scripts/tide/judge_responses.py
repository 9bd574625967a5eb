"""Rule script: one judge of the council on the answers of every run.

input: `item_files`, `responses` (files of the judged tasks of all runs), `explanations` (requests
of the second step of perturbation detection), `explanation_answers` (a file a run each); for a
model also `weights` or `answers`, as in inference/run_model.py; output: `judgements` (a file a
run, in the order of params.runs), and for a model `answers` (its own replies) and `manifest`;
params: `judge` (a program of judging/council_programs/ or a name of the roster), `runs` ([model,
mode] pairs); for a model also `entry` (its roster entry), `mode`, `max_new_tokens`, `decoding`,
`benchmark`, `store` (the file in which its own answers are kept, no output of the rule), and
optionally `rationale_characters`.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import DataError, read_records, write_records
from scripts.inference.open_model import open_model
from scripts.inference.registry import prepared_path
from scripts.judging.council_programs import PROGRAMS
from scripts.records import Item, Judgement, Request, Response
from scripts.tide.judging import Judged, judge_by_model, judge_by_program

if TYPE_CHECKING:
    snakemake: Any

#: Backends that decode here and know a bound on the length of a text; hosted ones refuse it.
LOCAL_BACKENDS = ("transformers", "vllm")


def read_judged(given: Any) -> list[Judged]:
    """All responses to judge: answers, then explanations, in the order of the files."""
    asked = {
        request.request_id for path in given.explanations for request in read_records(path, Request)
    }
    judged = [Judged(row) for path in given.responses for row in read_records(path, Response)]
    for path in given.explanation_answers:
        for row in read_records(path, Response):
            if row.request_id not in asked:
                raise DataError(
                    f"{path}: an explanation to request {row.request_id}, which is in no file of "
                    "explanations; run the model again"
                )
            judged.append(Judged(row, explanation=True))
    return judged


def by_model(snakemake: Any, items: list[Item], judged: list[Judged]) -> list[Judgement]:
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
        judgements = judge_by_model(
            items,
            judged,
            params.judge,
            params.decoding,
            model.ask,
            limited=model.backend.spec.origin in LOCAL_BACKENDS,
            rationale_characters=int(params.get("rationale_characters") or 0),
        )
        model.write_answers(snakemake.output.answers)
        model.write_manifest(snakemake.output.manifest, params.benchmark)
    return judgements


def main(snakemake: Any) -> None:
    """Read items and responses, judge all runs at once, and write one file a run."""
    exit_on_sigterm()
    params = snakemake.params
    items = [item for path in snakemake.input.item_files for item in read_records(path, Item)]
    judged = read_judged(snakemake.input)
    runs = [(str(model), str(mode)) for model, mode in params.runs]
    foreign = sorted({(j.response.model, j.response.mode) for j in judged} - set(runs))
    if foreign:
        raise DataError(f"responses of {foreign}, which are none of the runs {runs}")
    if params.judge in PROGRAMS:
        judgements = judge_by_program(items, judged, params.judge)
    else:
        judgements = by_model(snakemake, items, judged)
    rows: dict[tuple[str, str], list[Judgement]] = {run: [] for run in runs}
    for one, judgement in zip(judged, judgements, strict=True):
        rows[one.response.model, one.response.mode].append(judgement)
    for run, path in zip(runs, snakemake.output.judgements, strict=True):
        write_records(path, rows[run])


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
