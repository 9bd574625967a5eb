"""The `baseline` backend: answers that a rule of the benchmark wrote (majority, uniform, solver).

The benchmark's rule writes `{"request_id": ..., "text": ...}` rows; every request must have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from scripts.files import sha256_file
from scripts.inference.answer_files import answer_file, read_answers
from scripts.inference.interface import Backend, BackendError
from scripts.records import Request, Response

# Raised when a baseline row comes to mean something else.
VERSION = "1"


class BaselineBackend(Backend):
    """Answers from the file at `spec.path`; they cost nothing, so the store is passed by."""

    name = "baseline"
    stored: ClassVar[bool] = False

    @property
    def version(self) -> str:
        """Version of the baseline format."""
        return VERSION

    def identity(self) -> dict[str, Any]:
        """The file's SHA-256."""
        return {"backend": self.name, "sha256": sha256_file(answer_file(self.spec))}

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Look every request up; BackendError when one has no row."""
        path = answer_file(self.spec)
        rows = read_answers(path, {"request_id", "text"}, by_item=False)
        for request in requests:
            row = rows.get(request.request_id)
            if row is None:
                raise BackendError(
                    f"{path}: no answer to request {request.request_id}; build the baselines again"
                )
            yield Response(
                request_id=request.request_id,
                item_id=request.item_id,
                model=self.spec.name,
                mode=self.mode,
                text=row["text"],
                finish_reason="stop",
                usage={"prompt": None, "completion": None, "reasoning": None},
                backend=self.name,
                backend_version=VERSION,
                attempts=1,
            )
