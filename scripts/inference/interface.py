"""What a model is, and what a backend promises.

A backend turns Requests into Responses. It yields each Response as soon as it is finished, in any
order, exactly one per Request; an answer that could not be had after all retries is a Response with
`error`. It never reads or writes the store: the runner does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from scripts.records import Request, Response

MODES = ("thinking", "non_thinking")
# `Response.error` of a request that was never sent to a model begins so: unscored, not wrong.
NOT_RUN = "not run:"


def origin(entry: Mapping[str, Any]) -> str:
    """The backend that gave a roster entry's answers, also where they now come from a release."""
    return str((entry.get("archived") or {}).get("backend", entry["backend"]))


class BackendError(RuntimeError):
    """The backend cannot work at all (missing file, bad key, no such model); says what to do."""


@dataclass(frozen=True)
class ModelSpec:
    """One entry of the roster (`models:` in config.yaml), validated by `registry.model_spec`.

    `options` keeps the backend's own keys (base_url, tensor_parallel, batch, ...). `path` is the
    local folder or file that the workflow prepared for the model (converted weights, archive,
    baseline answers), `None` when the backend finds the model by `source` itself.
    """

    name: str
    label: str
    backend: str
    source: str
    revision: str | None
    precision: str | None
    modes: tuple[str, ...]
    thinking: Mapping[str, Any]
    template: str | None = None
    context_length: int | None = None
    path: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """The backend that gave the answers; of a release's archive, the one that was asked."""
        return origin({"backend": self.backend, **self.options})


class Backend(ABC):
    """One model in one mode, ready to answer; heavy loading waits for the first `generate` call."""

    name: str
    # False for backends whose answers cost nothing: the runner asks them anew at every run and
    # keeps nothing, so an archive or rule that changed can never be answered for by an old row.
    stored: ClassVar[bool] = True

    def __init__(self, spec: ModelSpec, mode: str) -> None:
        self.spec = spec
        self.mode = mode

    @property
    @abstractmethod
    def version(self) -> str:
        """Version of the library or server that answers; stored with each Response."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """JSON of what, beyond model id, revision and precision, determines an answer.

        Chat template (its SHA-256), thinking switch as sent, batch policy, ... Cheap: it must not
        load the weights, because a run whose answers are all in the store never generates.
        """

    @abstractmethod
    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Yield one Response per Request as they finish.

        `request.decoding` is complete here: temperature, top_p, repetition_penalty and
        max_new_tokens (the runner added the mode's limit before it computed the key).
        """

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        """The same Responses in the groups in which they finish; each group is stored at once.

        A backend that computes in batches overrides this: then a killed run leaves whole batches.
        """
        for response in self.generate(requests):
            yield [response]

    def facts(self) -> dict[str, Any]:
        """Extra facts for the run manifest (device, driver, template rendering, batch sizes)."""
        return {}

    def close(self) -> None:  # noqa: B027
        """Free the model or the connection."""
