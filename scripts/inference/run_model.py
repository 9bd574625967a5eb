"""Rule script: one model in one mode answers every cell of a benchmark.

input.requests: the Request files; input.weights: the files of the model's prepared folder, or
input.answers: its file of answers, where the model needs one. output.responses, output.manifest.
params: name, entry (the model's roster entry), mode, benchmark, max_new_tokens, store (the store
file, no output of the rule), and how requests are cut into response files: `files` (true: one for
every Request file, in their order; an empty one gives an empty one), or `tasks` and `shots` (one
Request file per task; one response file per task x shots, tasks outer, shots inner). Where nothing
is asked at all, no model is loaded.
"""

import sys
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm, file_list
from scripts.files import DataError, read_records, write_json, write_records
from scripts.inference import manifest, runner
from scripts.inference.backends import create_backend
from scripts.inference.interface import Backend, BackendError
from scripts.inference.registry import ModelEntryError, model_spec, prepared_path
from scripts.inference.store import ResponseStore
from scripts.records import Request

if TYPE_CHECKING:
    snakemake: Any


def cells(
    files: Sequence[str], tasks: Sequence[str], shots: Sequence[int]
) -> dict[tuple[str, int], list[Request]]:
    """The requests of each (task, shots), in file order; an empty cell is a DataError."""
    out: dict[tuple[str, int], list[Request]] = {cell: [] for cell in product(tasks, shots)}
    for path, task in zip(files, tasks, strict=True):
        for request in read_records(path, Request):
            cell = out.get((task, request.setting.get("shots", -1)))
            if cell is not None:
                cell.append(request)
    for (task, shot), requests in out.items():
        if not requests:
            raise DataError(f"task {task}: no request with {shot} shots; build the requests again")
    return out


def asked_cells(files: Sequence[str], params: Any) -> list[list[Request]]:
    """The requests of every response file, in their order."""
    if getattr(params, "files", False):
        return [read_records(path, Request) for path in files]
    return list(cells(files, list(params.tasks), [int(shot) for shot in params.shots]).values())


def answer(snakemake: Any, backend: Backend, watch: manifest.Stopwatch) -> None:
    """Generate what the store lacks, then write the responses and the manifest."""
    params = snakemake.params
    asked = asked_cells(file_list(snakemake.input.requests), params)
    outputs = file_list(snakemake.output.responses)
    if len(outputs) != len(asked):
        raise DataError(f"{len(outputs)} response files for {len(asked)} cells of requests")
    requests = [request for cell in asked for request in cell]
    result = runner.run(
        backend.spec,
        backend.mode,
        requests,
        ResponseStore(params.store),
        backend,
        max_new_tokens=int(params.max_new_tokens),
    )
    position = 0
    for path, cell in zip(outputs, asked, strict=True):
        write_records(path, result.responses[position : position + len(cell)])
        position += len(cell)
    facts = manifest.build(
        backend.spec,
        backend,
        result,
        watch,
        benchmark=params.benchmark,
        max_new_tokens=int(params.max_new_tokens),
    )
    write_json(snakemake.output.manifest, facts)


def main(snakemake: Any) -> None:
    """Run the rule; a model that cannot work at all ends it with a message and exit status 1."""
    exit_on_sigterm()
    watch = manifest.Stopwatch()
    try:
        spec = model_spec(
            snakemake.params.name, snakemake.params.entry, prepared_path(snakemake.input)
        )
        backend = create_backend(spec, snakemake.params.mode)
        try:
            answer(snakemake, backend, watch)
        finally:
            backend.close()
    except (BackendError, ModelEntryError, DataError) as error:
        sys.exit(f"run_model: {snakemake.params.name}: {error}")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
