"""Vectors from any OpenAI-compatible embeddings endpoint, through the official client.

Options and their meaning are those of the chat backend (scripts/inference/backends): base_url,
provider, api_key_environment, api_key_file, concurrency, requests_per_minute, timeouts,
max_attempts, backoff. Further ones: `texts_per_request`; `request_dimensions` (ask the server for
that many dimensions; off, since many servers refuse the field); `longest_characters` (texts are cut
there, for servers that refuse long ones). The key is read from the environment or a file, and never
written.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import openai

from scripts.inference.api_keys import ApiKeyError, Redactor
from scripts.inference.backends.chat_completions import (
    AttemptError,
    billed_tokens,
    one_line,
    status_fault,
)
from scripts.inference.backends.openai_compatible import Settings, open_client, unsent
from scripts.inference.interface import BackendError, ModelSpec
from scripts.inference.metering import Attempt, CapError, Meter
from scripts.inference.spending import Account, SpendingError, Terms
from scripts.retrieval.embedders.interface import (
    Embedder,
    EmbedderSpec,
    EmbeddingError,
    Mode,
    PartlyEmbeddedError,
)

log = logging.getLogger(__name__)

TEXTS_PER_REQUEST = 32
# What a model may add to the bytes of a text, for the spend cap.
SPECIAL_TOKENS = 16


class OpenAIEmbedder(Embedder):
    """One model behind an embeddings endpoint; several requests are in flight at once."""

    long_texts = "left to the server, or cut at longest_characters"

    def __init__(self, spec: EmbedderSpec) -> None:
        super().__init__(spec)
        try:
            self.settings = Settings.from_spec(_as_model(spec))
            self.account = Account(
                f"embedders.{spec.name}", Terms.from_environment(), local=self.settings.local
            )
        except (BackendError, SpendingError) as error:
            raise EmbeddingError(str(error)) from error
        self.texts_per_request = int(spec.options.get("texts_per_request") or TEXTS_PER_REQUEST)
        self.longest: int | None = spec.options.get("longest_characters")
        self.tally: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    @property
    def version(self) -> str:
        """The server: nobody tells which version of a model answers."""
        return self.settings.provider or self.settings.base_url.rstrip("/")

    @property
    def slice_size(self) -> int:
        """As many texts as are in flight at once."""
        return self.texts_per_request * self.settings.concurrency

    def identity(self) -> dict[str, Any]:
        """What is sent to whom; the client's version and the load are not in it."""
        return {
            **super().identity(),
            "longest_characters": self.longest,
            "request_dimensions": bool(self.spec.options.get("request_dimensions")),
        }

    def facts(self) -> dict[str, Any]:
        """Address, requests, tokens that the server counted, and faults that were overcome."""
        return {
            "base_url": self.settings.base_url,
            "client": f"openai {openai.__version__}",
            "concurrency": self.settings.concurrency,
            "spent": self.account.facts(),
            **dict(sorted(self.tally.items())),
            "faults": dict(sorted(self.faults.items())),
        }

    def _vectors(self, texts: list[str], mode: Mode) -> Any:  # noqa: ARG002
        sent = [text[: self.longest] for text in texts]
        self.tally["cut_texts"] += sum(map(len, sent)) < sum(map(len, texts))
        # Servers refuse an empty string, and a blank one means nothing.
        blank = next((place for place, text in enumerate(sent) if not text.strip()), None)
        if blank is not None:
            raise EmbeddingError(f"embedder {self.spec.name!r}: text {blank} is blank")
        size = self.texts_per_request
        groups = [sent[start : start + size] for start in range(0, len(sent), size)]
        rows, failure = asyncio.run(_Run(self).all(groups))
        if failure is not None:
            done = enumerate(rows)
            kept = {n * size + k: row for n, group in done for k, row in enumerate(group or ())}
            raise PartlyEmbeddedError(str(failure), kept) from None
        return [row for group in rows for row in group or ()]

    def api_key(self) -> str:
        """The key from the environment or a file outside the repository; a local server needs none.

        Raises EmbeddingError saying where the key was looked for, never what it is.
        """
        try:
            return self.settings.key()
        except ApiKeyError as error:
            raise EmbeddingError(f"embedder {self.spec.name!r}: {error}") from None


def _as_model(spec: EmbedderSpec) -> ModelSpec:
    """The entry in the form that the chat backend's settings are read from."""
    return ModelSpec(
        name=spec.name,
        label=spec.label,
        backend=spec.backend,
        source=spec.source,
        revision=None,
        precision=None,
        modes=(),
        thinking={},
        options=spec.options,
    )


class _Run:
    """The requests of one slice of texts: bounded concurrency, pacing, retries with backoff."""

    def __init__(self, embedder: OpenAIEmbedder) -> None:
        self.embedder = embedder
        self.settings = embedder.settings
        self.key = embedder.api_key()
        self.redactor = Redactor(self.key)
        self._scrub = self.redactor.message
        self.meter = Meter(embedder.account)
        self.open = asyncio.Semaphore(self.settings.concurrency)
        self.next_start = 0.0
        self.random = random.Random()
        self.failure: EmbeddingError | None = None
        self.stopping = asyncio.Event()

    async def all(
        self, groups: Sequence[list[str]]
    ) -> tuple[list[list[list[float]] | None], EmbeddingError | None]:
        """Vectors of every group, in order, and the first failure.

        After a failure nothing more is sent, but what is under way, and perhaps paid for, is
        awaited; groups without vectors are None.
        """
        client = open_client(self.settings, self.key)
        running: list[asyncio.Task[list[list[float]] | None]] = []
        try:
            async with client, self.meter, asyncio.TaskGroup() as tasks:
                for group in groups:
                    running.append(tasks.create_task(self._until_failure(client, group)))
        except SpendingError as error:
            self.failure = self.failure or self._no_room(error)
        return [task.result() for task in running], self.failure

    async def _until_failure(
        self, client: openai.AsyncOpenAI, texts: list[str]
    ) -> list[list[float]] | None:
        try:
            async with self.open:
                return await self._group(client, texts)
        except EmbeddingError as error:
            self.failure = self.failure or error
            self.stopping.set()
            self.meter.stop()
            return None

    async def _group(
        self, client: openai.AsyncOpenAI, texts: list[str]
    ) -> list[list[float]] | None:
        settings = self.settings
        for attempt in range(1, settings.max_attempts + 1):
            try:
                return await self._metered(client, texts)
            except AttemptError as fault:
                self.embedder.faults[fault.cause] += 1
                wait = fault.wait or 0.0
                if (
                    fault.kind != "retry"
                    or attempt == settings.max_attempts
                    or wait > settings.longest_wait_seconds
                ):
                    raise self._failed(fault, attempt) from None
                log.info("attempt %d: %s; trying again", attempt, self._scrub(str(fault)))
                delay = settings.backoff_seconds * 2.0 ** min(attempt - 1, 60)
                delay = min(settings.longest_backoff_seconds, delay)
                await self._sleep(wait + delay * self.random.uniform(0.5, 1.0))
        raise AssertionError("max_attempts is at least 1")

    async def _metered(
        self, client: openai.AsyncOpenAI, texts: list[str]
    ) -> list[list[float]] | None:
        """One attempt within the spend cap; None when another group's failure ends the run."""
        if self.stopping.is_set():
            return None
        bound = sum(len(text.encode()) + SPECIAL_TOKENS for text in texts)
        try:
            async with self.meter.attempt(bound, 0) as attempt:
                await self._turn()
                if self.stopping.is_set():
                    attempt.refuse()
                    return None
                try:
                    return await self._attempt(client, texts, attempt)
                except AttemptError as fault:
                    if fault.refused:
                        attempt.refuse()
                    raise
        except (CapError, SpendingError) as error:
            raise self._no_room(error) from None

    def _no_room(self, error: CapError | SpendingError) -> EmbeddingError:
        return EmbeddingError(
            f"embedder {self.embedder.spec.name!r}: {error}. Finished vectors are kept; the next "
            "run asks only for the missing ones"
        )

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but wake when the run stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)

    async def _turn(self) -> None:
        """Wait until the rate limit allows another request."""
        if self.settings.requests_per_minute:
            now = asyncio.get_running_loop().time()
            start = max(now, self.next_start)
            self.next_start = start + 60.0 / self.settings.requests_per_minute
            await self._sleep(start - now)

    async def _attempt(
        self, client: openai.AsyncOpenAI, texts: list[str], attempt: Attempt
    ) -> list[list[float]]:
        """One HTTP exchange; raises AttemptError."""
        spec, limit = self.embedder.spec, self.settings.timeout_seconds
        arguments: dict[str, Any] = {
            "model": spec.source,
            "input": texts,
            # The client's default is base64, which not every server knows.
            "encoding_format": "float",
        }
        if spec.options.get("request_dimensions"):
            arguments["dimensions"] = spec.dimensions
        if self.settings.extra_body:
            arguments["extra_body"] = dict(self.settings.extra_body)
        self.embedder.tally["attempts"] += 1
        try:
            async with asyncio.timeout(limit):
                reply = await client.embeddings.with_raw_response.create(**arguments)
        except (TimeoutError, openai.APITimeoutError) as error:
            raise AttemptError(
                "retry",
                "timeout",
                f"no complete answer within {limit:g} s",
                refused=unsent(error),
            ) from None
        except openai.APIStatusError as error:
            # A server that echoes the key must not get it into a message, whole or cut.
            body = self.redactor.body(error.response.content)
            raise status_fault(error.status_code, error.response.headers, body) from None
        except openai.APIConnectionError as error:
            said = one_line(str(error.__cause__ or error)) or "no details"
            raise AttemptError("retry", "no connection", said, refused=unsent(error)) from None
        except openai.OpenAIError as error:
            raise AttemptError("retry", "bad reply", one_line(str(error))) from None
        attempt.use(billed_tokens(reply.content)[0], 0)
        vectors, tokens = read_embeddings(self.redactor.body(reply.content), len(texts))
        self.embedder.tally["requests"] += 1
        self.embedder.tally["tokens"] += tokens
        return vectors

    def _failed(self, fault: AttemptError, attempts: int) -> EmbeddingError:
        settings, spec = self.settings, self.embedder.spec
        source = settings.api_key_environment or settings.api_key_file or "api_key_environment"
        remedy = {
            "http 401": f"check the key in {source}",
            "http 403": f"the key may not use this model; check {source}",
            "http 404": f"check base_url and the model's source ({spec.source!r})",
            "http 400": "check the source, and longest_characters where texts are too long",
            "no connection": "start the server, or correct base_url",
        }.get(fault.cause, "run again later")
        return EmbeddingError(
            f"embedder {spec.name!r}: {settings.base_url} gave {self._scrub(str(fault))} "
            f"(attempt {attempts}): {remedy}. Finished vectors are kept"
        )


def read_embeddings(body: bytes, count: int) -> tuple[list[list[float]], int]:
    """Vectors in the order of the texts, and the tokens counted (0 where unsaid), of a 200 reply.

    Raises AttemptError for everything that is not one vector for every text.
    """
    try:
        reply = json.loads(body)
    except ValueError as error:
        raise AttemptError("retry", "bad json", one_line(str(error), 120)) from None
    if isinstance(reply, dict) and reply.get("error"):
        raise AttemptError("retry", "server error", one_line(json.dumps(reply["error"])))
    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise AttemptError("retry", "bad reply", "the reply has no list of embeddings")
    if len(data) != count:
        raise AttemptError("retry", "bad reply", f"{len(data)} embeddings for {count} texts")
    if any("index" in row for row in data):
        if {type(row.get("index")) for row in data} != {int} or sorted(
            row["index"] for row in data
        ) != list(range(count)):
            raise AttemptError("retry", "bad reply", "the indices are not those of the texts")
        data = sorted(data, key=lambda row: row["index"])
    vectors = [row.get("embedding") for row in data]
    if not all(_is_vector(vector) for vector in vectors):
        raise AttemptError("retry", "bad reply", "an embedding is no list of numbers")
    usage = reply.get("usage")
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else 0
    return vectors, tokens if type(tokens) is int and tokens > 0 else 0


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) in (int, float) for number in value)
