"""A model of the roster that is asked in the course of other work: judging, building questions.

`run_model` answers whole files; here requests follow from earlier answers, or from what is judged.
Every answer goes through the response store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from scripts.files import write_json, write_records
from scripts.inference import manifest, runner
from scripts.inference.backends import create_backend
from scripts.inference.interface import Backend
from scripts.inference.registry import model_spec
from scripts.inference.store import ResponseStore
from scripts.records import Request, Response

#: Answers requests, one Response each, in their order.
Ask = Callable[[Sequence[Request]], list[Response]]


class OpenModel:
    """A backend whose answers go through the response store; `ask` may be called many times.

    Where every request depends on earlier answers only, which the store keeps, a run that was
    stopped asks the same again and pays for nothing twice.
    """

    def __init__(self, backend: Backend, max_new_tokens: int, store: str) -> None:
        self.backend, self.max_new_tokens, self.store = backend, max_new_tokens, store
        self._runs: list[runner.Run] = []
        self._watch = manifest.Stopwatch()

    @property
    def name(self) -> str:
        """The model's name in the roster."""
        return self.backend.spec.name

    def ask(self, requests: Sequence[Request]) -> list[Response]:
        """One Response a request, in order; what the store has is not asked again."""
        if not requests:
            return []
        run = runner.run(
            self.backend.spec,
            self.backend.mode,
            requests,
            ResponseStore(self.store),
            self.backend,
            max_new_tokens=self.max_new_tokens,
        )
        self._runs.append(run)
        return run.responses

    def write_manifest(self, path: str | None, benchmark: str) -> None:
        """Write the run manifest over all calls so far, where the rule wants one."""
        if path is not None:
            write_json(path, self.facts(benchmark))

    def write_answers(self, path: str) -> None:
        """Write every answer so far as a Response, in the order of the requests' ids."""
        answers = {r.request_id: r for run in self._runs for r in run.responses}
        write_records(path, [answers[name] for name in sorted(answers)])

    def facts(self, benchmark: str) -> dict[str, Any]:
        """The run manifest over all calls so far."""
        whole = runner.Run(
            [response for run in self._runs for response in run.responses],
            sum(run.generated for run in self._runs),
            sum(run.from_store for run in self._runs),
            sum(run.errors for run in self._runs),
        )
        return manifest.build(
            self.backend.spec,
            self.backend,
            whole,
            self._watch,
            benchmark=benchmark,
            max_new_tokens=self.max_new_tokens,
        )


@contextmanager
def open_model(
    name: str,
    entry: Mapping[str, Any],
    path: str | None,
    *,
    mode: str,
    max_new_tokens: int,
    store: str,
) -> Iterator[OpenModel]:
    """A model of the roster in one mode, closed at the end.

    `path` is the folder or file that the workflow prepared for it, if any; `store` the file in
    which its answers are kept.
    """
    backend = create_backend(model_spec(name, entry, path), mode)
    try:
        yield OpenModel(backend, int(max_new_tokens), store)
    finally:
        backend.close()
