"""The `archive` backend: answers that were published, read from a file.

A JSONL row holds `request_id` (or `item_id` and `setting`), `text` (or `error`), and where known
`reasoning`, `finish_reason` and `usage`. A request without a row is an error Response that begins
with `not run:`; it is not a failure of the run.

In the archive of a release (`archived` in the roster) a row is a whole Response, and the Response
that is given is the same, backend and version included. There a request without a row is an error:
what asks it is not what the release was made with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from scripts.files import DataError, sha256_file
from scripts.inference.answer_files import answer_file, item_key, read_answers
from scripts.inference.interface import NOT_RUN, Backend, BackendError
from scripts.records import RecordError, Request, Response

_ALLOWED = frozenset(
    {"request_id", "item_id", "setting", "text", "reasoning", "finish_reason", "usage", "error"}
)
# What a row of a release says besides: which model answered, how, and after how many tries.
_OF_A_RESPONSE = frozenset({"model", "mode", "backend", "backend_version", "attempts"})
_NOTHING: Mapping[str, int | None] = {"prompt": None, "completion": None, "reasoning": None}


class ArchiveBackend(Backend):
    """Answers from the file at `spec.path`; they cost nothing, so the store is passed by."""

    name = "archive"
    stored: ClassVar[bool] = False

    @property
    def version(self) -> str:
        """The archive's revision in the roster, else the first digits of its file's SHA-256."""
        return self.spec.revision or f"sha256 {sha256_file(answer_file(self.spec))[:12]}"

    def identity(self) -> dict[str, Any]:
        """The file's SHA-256."""
        return {"backend": self.name, "sha256": sha256_file(answer_file(self.spec))}

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Look every request up; DataError names file and line of a malformed row."""
        if "archived" in self.spec.options:
            yield from self._released(requests)
            return
        rows = read_answers(answer_file(self.spec), _ALLOWED, by_item=True)
        version = self.version
        for request in requests:
            row = rows.get(request.request_id) or rows.get(
                item_key(request.item_id, request.setting)
            )
            yield self._response(request, row, version)

    def _released(self, requests: Sequence[Request]) -> Iterator[Response]:
        """The Responses of a release; BackendError counts the requests to which it has none."""
        path = answer_file(self.spec)
        rows = read_answers(path, _ALLOWED | _OF_A_RESPONSE, by_item=False)
        missing = [r.request_id for r in requests if r.request_id not in rows]
        if missing:
            raise BackendError(
                f"{path} answers {len(requests) - len(missing)} of the {len(requests)} requests "
                f"that are built here, the first that it lacks is {missing[0]}: this checkout asks "
                "something else than the run that was released; check out the commit that the "
                "release names"
            )
        for request in requests:
            try:
                response = Response.from_json(rows[request.request_id])
            except RecordError as error:
                raise DataError(f"{path}: request {request.request_id}: {error}") from None
            if (response.model, response.mode) != (self.spec.name, self.mode):
                raise DataError(
                    f"{path}: the answer to {request.request_id} is one of {response.model} "
                    f"({response.mode})"
                )
            yield response

    def _response(self, request: Request, row: Mapping[str, Any] | None, version: str) -> Response:
        if row is None:
            row = {"error": f"{NOT_RUN} the archive has no answer to request {request.request_id}"}
        error = row.get("error")
        return Response(
            request_id=request.request_id,
            item_id=request.item_id,
            model=self.spec.name,
            mode=self.mode,
            text="" if error else row["text"],
            finish_reason="error" if error else row.get("finish_reason") or "stop",
            usage={**_NOTHING, **row.get("usage", {})},
            backend=self.name,
            backend_version=version,
            attempts=1,
            reasoning=row.get("reasoning"),
            error=error,
        )
