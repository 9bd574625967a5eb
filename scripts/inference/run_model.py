"""Rule script: one model in one mode answers every cell of a benchmark, or a share of it.

input.requests: the Request files; input.weights: the files of the model's prepared folder, or
input.answers: its file of answers, where the model needs one. output.responses, output.manifest.
params: name, entry (the model's roster entry), mode, benchmark, max_new_tokens, store (the store
file, no output of the rule), and how requests are cut into response files: `files` (true: one for
every Request file, in their order; an empty one gives an empty one), or `tasks` and `shots` (one
Request file per task; one response file per task x shots, tasks outer, shots inner). Where nothing
is asked at all, no model is loaded.

A run that is split over N jobs has N + 1: with params.shard and params.shards a job answers its
share into its own segment of the store, and output.manifest is all that it writes; with
input.shards, the manifests of all shards, the job loads nothing, takes every answer from the store
and writes the outputs of the whole run.
"""

import sys
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm, file_list
from scripts.files import DataError, read_json, read_records, write_json, write_records
from scripts.inference import manifest, runner
from scripts.inference.backends import create_backend
from scripts.inference.interface import Backend, BackendError, ModelSpec
from scripts.inference.registry import ModelEntryError, model_spec, prepared_path
from scripts.inference.shards import ShardError, Split, segment
from scripts.inference.store import ResponseStore
from scripts.records import Request, Response

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


def response_files(snakemake: Any, asked: Sequence[Sequence[Request]]) -> list[str]:
    """The response file of every cell; DataError where they do not match."""
    outputs = file_list(snakemake.output.responses)
    if len(outputs) != len(asked):
        raise DataError(f"{len(outputs)} response files for {len(asked)} cells of requests")
    return outputs


def write_responses(
    outputs: Sequence[str], asked: Sequence[Sequence[Request]], responses: Sequence[Response]
) -> None:
    """Write the answers of every cell to its file."""
    position = 0
    for path, cell in zip(outputs, asked, strict=True):
        write_records(path, responses[position : position + len(cell)])
        position += len(cell)


def answer(snakemake: Any, backend: Backend, watch: manifest.Stopwatch) -> None:
    """Generate what the store lacks, then write the responses and the manifest."""
    params = snakemake.params
    asked = asked_cells(file_list(snakemake.input.requests), params)
    outputs = response_files(snakemake, asked)
    requests = [request for cell in asked for request in cell]
    result, facts = ask(params, backend, watch, requests, ResponseStore(params.store))
    write_responses(outputs, asked, result.responses)
    write_json(snakemake.output.manifest, facts)


def answer_shard(snakemake: Any, backend: Backend, watch: manifest.Stopwatch) -> None:
    """Generate what the store lacks of a shard's share, then write the shard's manifest."""
    params = snakemake.params
    asked = asked_cells(file_list(snakemake.input.requests), params)
    limit = int(params.max_new_tokens)
    split = Split([runner.complete(r, limit) for cell in asked for r in cell], params.shards)
    store = ResponseStore(segment(params.store, params.shard), split.name)
    _, facts = ask(params, backend, watch, split.share(params.shard), store)
    facts["shard"] = {
        "number": params.shard,
        "split": split.name,
        "work": split.loads()[params.shard - 1],
    }
    write_json(snakemake.output.manifest, facts)


def ask(
    params: Any,
    backend: Backend,
    watch: manifest.Stopwatch,
    requests: Sequence[Request],
    store: ResponseStore,
) -> tuple[runner.Run, dict[str, Any]]:
    """The answers to requests, and the manifest that says how they came about."""
    limit = int(params.max_new_tokens)
    result = runner.run(backend.spec, backend.mode, requests, store, backend, max_new_tokens=limit)
    facts = manifest.build(
        backend.spec, backend, result, watch, benchmark=params.benchmark, max_new_tokens=limit
    )
    return result, facts


def gather(snakemake: Any, spec: ModelSpec) -> None:
    """Write the outputs of a run whose shards have all finished; loads no model."""
    params = snakemake.params
    asked = asked_cells(file_list(snakemake.input.requests), params)
    outputs = response_files(snakemake, asked)
    manifests = file_list(snakemake.input.shards)
    parts = [read_json(path) for path in manifests]
    identity = manifest.agreed(parts, "identity", manifests)
    result = runner.gather(
        spec,
        params.mode,
        [request for cell in asked for request in cell],
        ResponseStore(params.store),
        identity,
        max_new_tokens=int(params.max_new_tokens),
    )
    write_responses(outputs, asked, result.responses)
    write_json(snakemake.output.manifest, manifest.merge(parts, result, manifests))


def main(snakemake: Any) -> None:
    """Run the rule; a model that cannot work at all ends it with a message and exit status 1."""
    exit_on_sigterm()
    watch = manifest.Stopwatch()
    try:
        spec = model_spec(
            snakemake.params.name, snakemake.params.entry, prepared_path(snakemake.input)
        )
        if snakemake.input.get("shards"):
            gather(snakemake, spec)
            return
        backend = create_backend(spec, snakemake.params.mode)
        try:
            does = answer_shard if getattr(snakemake.params, "shard", None) else answer
            does(snakemake, backend, watch)
        finally:
            backend.close()
    except (BackendError, ModelEntryError, ShardError, DataError) as error:
        sys.exit(f"run_model: {snakemake.params.name}: {error}")


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
