"""The model that builds the benchmark: one open backend, its store, and what a manifest needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from scripts.files import DataError, write_json
from scripts.inference import manifest, runner
from scripts.inference.backends import create_backend
from scripts.inference.interface import Backend
from scripts.inference.registry import model_spec
from scripts.inference.store import ResponseStore
from scripts.records import Request, Response

#: Answers requests, one Response each, in their order.
Ask = Callable[[Sequence[Request]], list[Response]]
BENCHMARK = "tide"
#: Keys of the settings of a generator.
SETTINGS = ("name", "entry", "mode", "max_new_tokens", "store")
#: How every construction step is decoded.
GREEDY = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}


class Generator:
    """A backend whose answers go through the response store; `ask` may be called many times.

    Every request depends on earlier answers only, which the store keeps: a run that was stopped
    asks the same again and pays for nothing twice.
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

    def write_manifest(self, path: str | None) -> None:
        """Write the run manifest over all calls so far, where the rule wants one."""
        if path is not None:
            write_json(path, self.facts(BENCHMARK))

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
def open_generator(settings: Mapping[str, Any] | None, path: str | None) -> Iterator[Generator]:
    """The generator of a rule's params (`SETTINGS`); its backend is closed at the end.

    `path` is the folder or file that the workflow prepared for the model, if any.
    """
    missing = [key for key in SETTINGS if key not in (settings or {})]
    if settings is None or missing:
        raise DataError(
            f"tide.construction.generator: {', '.join(missing)} missing; name a model of the "
            "roster, or set the method to shipped"
        )
    spec = model_spec(settings["name"], settings["entry"], path)
    backend = create_backend(spec, settings["mode"])
    try:
        yield Generator(backend, int(settings["max_new_tokens"]), settings["store"])
    finally:
        backend.close()
