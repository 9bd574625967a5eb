"""Rule script: agreement of the council's judges, and experts' scores of its decisions.

input: `judgements` (files, judges outer, runs inner), `human_validation` (a CSV, or nothing);
output: `council`, `human_validation`; params: `judges` (names), `statistics` (`resamples`,
`level`), `seed`.
"""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import DataError, read_records, write_csv
from scripts.judging.council_agreement import compare
from scripts.judging.human_validation import means, read_scores
from scripts.records import Judgement

if TYPE_CHECKING:
    snakemake: Any


def read_judges(
    files: list[str], judges: list[str]
) -> dict[str, dict[Hashable, Mapping[str, Any]]]:
    """`answers` of each judge by (place of the run, request); a foreign row is a DataError."""
    if len(files) % len(judges):
        raise DataError(f"{len(files)} files of judgements for {len(judges)} judges")
    runs = len(files) // len(judges)
    out: dict[str, dict[Hashable, Mapping[str, Any]]] = {name: {} for name in judges}
    for place, path in enumerate(files):
        judge, run = judges[place // runs], place % runs
        for row in read_records(path, Judgement):
            if row.judge != judge or (run, row.request_id) in out[judge]:
                raise DataError(
                    f"{path}: request {row.request_id} of judge {row.judge!r} is another judge's "
                    f"or stands twice, expected one row of {judge!r}; judge the responses again"
                )
            out[judge][run, row.request_id] = row.answers
    return out


def main(snakemake: Any) -> None:
    """Read judgements and experts' scores, write both frames."""
    params = snakemake.params
    judges = read_judges(list(snakemake.input.judgements), [str(name) for name in params.judges])
    council = compare(
        judges,
        resamples=int(params.statistics["resamples"]),
        level=float(params.statistics["level"]),
        seed=int(params.seed),
    )
    given = snakemake.input.get("human_validation") or []
    files = [given] if isinstance(given, str) else list(given)
    judged = {key[1] for answers in judges.values() for key in answers}  # type: ignore[index]
    scores = [score for path in files for score in read_scores(path, judged)]
    write_csv(snakemake.output.council, council)
    write_csv(snakemake.output.human_validation, means(scores))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
