"""From requests to responses: what the store has is taken from it, the rest is generated."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from tqdm import tqdm

from scripts.inference.interface import Backend, BackendError, ModelSpec
from scripts.inference.schemas import in_required_order
from scripts.inference.store import (
    ResponseStore,
    StoreError,
    from_stored,
    request_key,
    to_stored,
)
from scripts.records import Request, Response


@dataclass(frozen=True)
class Run:
    """What a run gave: Responses in request order, and how many came from where.

    `generated` and `from_store` count requests; two requests with the same prompt are generated
    once and both count.
    """

    responses: list[Response]
    generated: int
    from_store: int
    errors: int


def complete(request: Request, max_new_tokens: int) -> Request:
    """The request with the mode's limit of new tokens in its decoding and its schema in order."""
    decoding = {**request.decoding, "max_new_tokens": max_new_tokens}
    schema = request.response_schema
    ordered = None if schema is None else in_required_order(schema)
    return replace(request, decoding=decoding, response_schema=ordered)


def run(
    spec: ModelSpec,
    mode: str,
    requests: Sequence[Request],
    store: ResponseStore,
    backend: Backend,
    *,
    max_new_tokens: int,
) -> Run:
    """Answer all requests; `store` is a ResponseStore that the caller has not entered.

    Only what the store lacks (or holds as an error) goes to the backend, equal prompts once; each
    batch is on disk before the next begins, so a stop at any moment loses the batch in flight. With
    everything present the backend is never asked to generate. A failed answer is stored with its
    error and asked again at the next run. Raises BackendError when the backend cannot work or
    breaks its promise of one Response per Request.
    """
    completed = [complete(request, max_new_tokens) for request in requests]
    if not type(backend).stored:
        return _run_unstored(spec, mode, completed, backend)
    identity = backend.identity() if completed else {}
    keys = [request_key(spec, identity, request) for request in completed]
    store.load()
    if all(store.good(key) for key in keys):
        generated: dict[str, dict[str, Any]] = {}
    else:
        with store:
            missing = {
                key: request
                for key, request in zip(keys, completed, strict=True)
                if store.good(key) is None
            }
            generated = _generate(backend, missing, store)
    rows = [generated.get(key) or store.answers[key] for key in keys]
    responses = [
        from_stored(row, request, spec, mode) for row, request in zip(rows, completed, strict=True)
    ]
    fresh = sum(key in generated for key in keys)
    return Run(responses, fresh, len(keys) - fresh, sum(r.error is not None for r in responses))


def gather(
    spec: ModelSpec,
    mode: str,
    requests: Sequence[Request],
    store: ResponseStore,
    identity: Mapping[str, Any],
    *,
    max_new_tokens: int,
) -> Run:
    """The answers to all requests as they stand in the store; `identity` is the backend's.

    Nothing is generated and nothing written. An error stays an error: it is asked again when its
    shard runs again. Raises StoreError when an answer is missing.
    """
    completed = [complete(request, max_new_tokens) for request in requests]
    keys = [request_key(spec, identity, request) for request in completed]
    rows = store.load().answers
    missing = [r for r, key in zip(requests, keys, strict=True) if key not in rows]
    if missing:
        raise StoreError(
            f"{store.path}: {len(missing)} of {len(keys)} answers are in no segment of the store "
            f"although every shard has finished, the first is {missing[0].request_id}; if the "
            "store was moved, put it back, else run the shards again"
        )
    responses = [
        from_stored(rows[key], request, spec, mode)
        for key, request in zip(keys, requests, strict=True)
    ]
    errors = sum(response.error is not None for response in responses)
    return Run(responses, 0, len(responses), errors)


def _generate(
    backend: Backend, missing: dict[str, Request], store: ResponseStore
) -> dict[str, dict[str, Any]]:
    """Generate what is missing, storing each batch as it comes; returns the rows by key."""
    waiting = _by_request_id(missing)
    out: dict[str, dict[str, Any]] = {}
    with (
        closing(_Batches(backend, list(missing.values()))) as batches,
        tqdm(
            total=len(missing), desc=f"{backend.spec.name} {backend.mode}", disable=_silent()
        ) as bar,
    ):
        for batch in batches:
            rows = [(_claim(waiting, response, backend), response) for response in batch]
            store.append(rows)
            out.update((key, to_stored(response)) for key, response in rows)
            bar.update(len(rows))
    if waiting:
        raise BackendError(
            f"backend {backend.name} left {len(waiting)} of {len(missing)} requests unanswered, "
            f"the first is {next(iter(waiting))}"
        )
    return out


class _Batches:
    """The backend's batches; `close` ends the generator, also when the loop was interrupted."""

    def __init__(self, backend: Backend, requests: list[Request]) -> None:
        self._batches = backend.generate_batches(requests)

    def __iter__(self) -> Any:
        return self._batches

    def close(self) -> None:
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()


def _by_request_id(missing: dict[str, Request]) -> dict[str, str]:
    waiting: dict[str, str] = {}
    for key, request in missing.items():
        if request.request_id in waiting:
            raise BackendError(f"two different requests share the id {request.request_id}")
        waiting[request.request_id] = key
    return waiting


def _claim(waiting: dict[str, str], response: Response, backend: Backend) -> str:
    try:
        return waiting.pop(response.request_id)
    except KeyError:
        raise BackendError(
            f"backend {backend.name} answered {response.request_id}, which was not asked or was "
            "answered already"
        ) from None


def _run_unstored(spec: ModelSpec, mode: str, requests: list[Request], backend: Backend) -> Run:
    """Answers that cost nothing (archive, baseline) are read anew each time and never stored."""
    unique = {request.request_id: request for request in requests}
    answers: dict[str, Response] = {}
    if unique:
        answers = {r.request_id: r for r in backend.generate(list(unique.values()))}
    missing = [name for name in unique if name not in answers]
    if missing:
        raise BackendError(f"backend {backend.name} left {missing[0]} unanswered")
    responses = [
        from_stored(to_stored(answers[request.request_id]), request, spec, mode)
        for request in requests
    ]
    errors = sum(r.error is not None for r in responses)
    return Run(responses, len(responses), 0, errors)


def _silent() -> bool:
    return not sys.stderr.isatty()
