"""Rule script: how far the judges agree with each other and with people.

input: `judgements` (files, judges outer, runs inner, in the order of the params), `human_labels`
(a CSV, or nothing); output: `judge_agreement`, `judge_confusion`; params: `judges` (names), `runs`
([model, mode] pairs), `statistics` (`resamples`, `level`), `seed`.
"""

from itertools import product
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_records, write_csv
from scripts.judging.comparison import Reply, compare, verdicts_of
from scripts.judging.labels import read_labels
from scripts.records import Judgement

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read the judgements and labels, compare every pair of judges, write both frames."""
    params = snakemake.params
    runs = [(str(model), str(mode)) for model, mode in params.runs]
    judges: dict[str, dict[Reply, str | None]] = {name: {} for name in params.judges}
    cells = product(params.judges, runs)
    for path, (judge, (model, mode)) in zip(snakemake.input.judgements, cells, strict=True):
        judges[judge].update(verdicts_of(read_records(path, Judgement), judge, model, mode))
    given = snakemake.input.get("human_labels") or []
    files = [given] if isinstance(given, str) else list(given)
    agreement, counts = compare(
        judges,
        [label for path in files for label in read_labels(path, runs)],
        resamples=int(params.statistics["resamples"]),
        level=float(params.statistics["level"]),
        seed=int(params.seed),
    )
    write_csv(snakemake.output.judge_agreement, agreement)
    write_csv(snakemake.output.judge_confusion, counts)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
