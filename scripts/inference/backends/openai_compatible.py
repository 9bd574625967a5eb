"""Answers from any OpenAI-compatible server: OpenRouter, Google, Ollama, llama-server, vllm serve.

The official client does the HTTP; retries, pacing and the reading of replies are here, because the
store needs to know how often was tried and why there is no answer. Options: docs/backends.md.
"""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import openai

from scripts.inference.api_keys import ApiKeyError, Redactor, find_key
from scripts.inference.backends.chat_completions import (
    Answer,
    AttemptError,
    billed_tokens,
    no_usage,
    one_line,
    read_completion,
    status_fault,
)
from scripts.inference.interface import Backend, BackendError, ModelSpec
from scripts.inference.metering import Attempt, CapError, Meter
from scripts.inference.reasoning import accounted, separate
from scripts.inference.spending import Account, SpendingError, Terms, is_local
from scripts.records import Request, Response

log = logging.getLogger(__name__)

# Decoding fields that are part of the chat-completions API, and those that servers add to it.
STANDARD_DECODING = frozenset(
    {"temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty"}
)
EXTENDED_DECODING = frozenset({"top_k", "min_p"})
# Bounds for the spend cap: what a chat template may add to the request's bytes, and what an image
# may count as (providers document up to 48,169 tokens for one).
TEMPLATE_TOKENS = 512
IMAGE_TOKENS = 50_000


@dataclass(frozen=True)
class Settings:
    """The backend's options (docs/backends.md), checked. Times are in seconds."""

    base_url: str
    api_key_environment: str | None = None
    api_key_file: str | None = None
    provider: str | None = None
    concurrency: int = 4
    requests_per_minute: float | None = None
    timeout_seconds: float = 600.0
    connect_timeout_seconds: float = 10.0
    max_attempts: int = 6
    backoff_seconds: float = 1.0
    longest_backoff_seconds: float = 60.0
    longest_wait_seconds: float = 300.0
    stop_after_failures: int = 100
    seed: int | None = None
    max_tokens_field: str = "max_tokens"
    repetition_penalty_field: str = "repetition_penalty"
    expected_model_echo: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_spec(cls, spec: ModelSpec) -> Settings:
        """Settings of one model; raises BackendError naming the model and the option."""
        where = f"model {spec.name!r}"
        if not spec.options.get("base_url"):
            raise BackendError(f"{where}: the openai backend needs the option base_url")
        known = {f for f in cls.__dataclass_fields__ if spec.options.get(f) is not None}
        settings = cls(**{name: spec.options[name] for name in known})
        parts = urlsplit(settings.base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BackendError(f"{where}: base_url must be an http(s) address with a host")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise BackendError(
                f"{where}: base_url must hold no user, password, query or fragment; a key "
                "belongs in the environment variable named by api_key_environment"
            )
        for name in ("concurrency", "max_attempts", "timeout_seconds", "stop_after_failures"):
            if getattr(settings, name) <= 0:
                raise BackendError(f"{where}: option {name} must be greater than 0")
        return settings

    @property
    def local(self) -> bool:
        """True for a server on this machine, which needs no key."""
        return is_local(self.base_url)

    def key(self) -> str:
        """The key that the server is sent; ApiKeyError where there is none."""
        return find_key(
            self.api_key_environment, self.api_key_file, local=self.local, address=self.base_url
        )


def open_client(settings: Settings, key: str) -> openai.AsyncOpenAI:
    """A client of the server without retries of its own; close it by `async with`."""
    transport = openai.DefaultAsyncHttpxClient(
        timeout=openai.Timeout(settings.timeout_seconds, connect=settings.connect_timeout_seconds),
        # A proxy from the environment must not stand between us and our own machine.
        trust_env=not settings.local,
    )
    client = openai.AsyncOpenAI(
        api_key=key, base_url=settings.base_url, max_retries=0, http_client=transport
    )
    # Their debug logs (OPENAI_LOG) print headers and bodies, in which a server may repeat the key.
    for library in ("openai", "httpx", "httpcore"):
        logging.getLogger(library).setLevel(logging.WARNING)
    # The client would tell every provider the account names of OPENAI_ORG_ID/OPENAI_PROJECT_ID.
    client.organization = client.project = None
    return client


def unsent(error: BaseException) -> bool:
    """True when there was no connection yet, so that nothing can have been done and billed."""
    names = {"ConnectError", "ConnectTimeout", "PoolTimeout"}
    return type(error.__cause__).__name__ in names


def thinking_fields(spec: ModelSpec, mode: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The thinking switch as sent: (standard fields, extra body fields)."""
    switch = spec.thinking.get("switch", "none")
    if switch in {"none", "accounting"}:
        return {}, {}
    if switch == "chat_template":
        argument = spec.thinking.get("argument", "enable_thinking")
        return {}, {"chat_template_kwargs": {argument: mode == "thinking"}}
    if switch == "effort":
        levels = spec.thinking.get("effort") or {}
        if mode not in levels:
            raise BackendError(
                f"model {spec.name!r}: thinking.effort has no level for mode {mode!r}; "
                f"it has {sorted(levels)}"
            )
        return {"reasoning_effort": levels[mode]}, {}
    raise BackendError(f"model {spec.name!r}: unknown thinking switch {switch!r}")


def worst_case(arguments: Mapping[str, Any], limit_field: str) -> tuple[int, int]:
    """Most tokens of prompt and answer that a request can come to.

    No tokeniser makes more tokens than there are bytes; the whole request is counted, schema and
    field names included. An image counts as IMAGE_TOKENS.
    """
    body = {**arguments, **arguments.get("extra_body", {})}
    body.pop("extra_body", None)
    images = 0

    def plain(value: Any) -> Any:
        nonlocal images
        if isinstance(value, Mapping):
            if "image_url" in value:
                images += 1
                return None
            return {name: plain(part) for name, part in value.items()}
        return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value

    text = json.dumps(plain(body), ensure_ascii=False)
    prompt = len(text.encode("utf-8", "replace")) + TEMPLATE_TOKENS + IMAGE_TOKENS * images
    limits = [body.get(name) for name in (limit_field, "max_tokens", "max_completion_tokens")]
    answers = body.get("n")
    most = max(limit for limit in limits if isinstance(limit, int))
    return prompt, most * (answers if isinstance(answers, int) and answers > 1 else 1)


class OpenAIBackend(Backend):
    """One model behind a chat-completions server; answers come concurrently, each exactly once."""

    name = "openai"

    def __init__(self, spec: ModelSpec, mode: str) -> None:
        super().__init__(spec, mode)
        self.settings = Settings.from_spec(spec)
        if spec.template == "transcript":
            raise BackendError(
                f"model {spec.name!r}: a chat-completions server applies its own template; "
                "use the transformers or vllm backend for template: transcript"
            )
        self._standard, self._extra = thinking_fields(spec, mode)
        self._tally = Tally()
        try:
            self.account = Account(
                f"models.{spec.name}", Terms.from_environment(), local=self.settings.local
            )
        except SpendingError as error:
            raise BackendError(str(error)) from None

    @property
    def version(self) -> str:
        """Version of the client; the server's, where it tells one, stands in `facts`."""
        return f"openai {openai.__version__}"

    def identity(self) -> dict[str, Any]:
        """What is sent to whom. `provider` replaces the address where a host says nothing."""
        settings = self.settings
        return {
            "server": settings.provider or settings.base_url.rstrip("/"),
            "thinking": {**self._standard, **self._extra},
            "mode": self.mode if self.spec.thinking.get("switch") == "accounting" else None,
            "seed": settings.seed,
            "max_tokens_field": settings.max_tokens_field,
            "repetition_penalty_field": settings.repetition_penalty_field,
            "extra_body": dict(settings.extra_body),
        }

    def facts(self) -> dict[str, Any]:
        """Manifest facts: the address, the load put on it, what it said about itself."""
        return {
            "base_url": self.settings.base_url,
            "concurrency": self.settings.concurrency,
            "requests_per_minute": self.settings.requests_per_minute,
            "spent": self.account.facts(),
            **self._tally.facts(),
        }

    def arguments(self, request: Request) -> dict[str, Any]:
        """Keyword arguments of `chat.completions.create` for one request.

        Raises BackendError for a decoding field that this API cannot carry: nothing is dropped.
        """
        settings = self.settings
        decoding = dict(request.decoding)
        limit = decoding.pop("max_new_tokens")
        penalty = decoding.pop("repetition_penalty", 1.0)
        decoding.setdefault("seed", settings.seed)
        unknown = sorted(set(decoding) - STANDARD_DECODING - EXTENDED_DECODING)
        if unknown:
            raise BackendError(f"decoding field(s) {unknown} are unknown to the openai backend")
        given = {name: value for name, value in decoding.items() if value is not None}
        extra = {**settings.extra_body, **self._extra}
        extra.update({k: v for k, v in given.items() if k in EXTENDED_DECODING})
        # Strict servers refuse the non-standard field; 1.0 is what they do without it.
        if penalty != 1.0:
            extra[settings.repetition_penalty_field] = penalty
        out = {
            "model": self.spec.source,
            "messages": request.messages,
            **{k: v for k, v in given.items() if k in STANDARD_DECODING},
            settings.max_tokens_field: limit,
            **self._standard,
        }
        if request.response_schema is not None:
            schema = {"name": "answer", "schema": request.response_schema, "strict": True}
            out["response_format"] = {"type": "json_schema", "json_schema": schema}
        if extra:
            out["extra_body"] = extra
        return out

    def generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Yield one Response per Request as they finish.

        Raises BackendError for a refused key, spent quota, unknown model or absent server, after
        everything that was finished has been yielded. Closing the generator cancels what is open.
        """
        for (response,) in self._groups(requests, 1):
            yield response

    def generate_batches(self, requests: Sequence[Request]) -> Iterator[list[Response]]:
        """The same Responses; all that came while the last ones were stored are one group.

        So a slow disk is written once for many, and little waits in memory to be lost.
        """
        return self._groups(requests, len(requests))

    def _groups(self, requests: Sequence[Request], most: int) -> Iterator[list[Response]]:
        if not requests:
            return
        work = [(request, self.arguments(request)) for request in requests]
        run = _Run(self, work, self._api_key(), self._tally)
        run.start()
        try:
            while group := run.take(most):
                yield group
        finally:
            run.cancel()
        if run.crash is not None:
            raise run.crash
        if run.stop_reason is not None:
            raise BackendError(run.stop_reason)

    def _api_key(self) -> str:
        """The key from the environment or the key file; a local server may do without.

        Raises BackendError saying where the key was looked for, never what it is.
        """
        try:
            return self.settings.key()
        except ApiKeyError as error:
            raise BackendError(f"model {self.spec.name!r}: {error}") from None


@dataclass
class Tally:
    """What the servers said about themselves over all calls; for the manifest only."""

    models: Counter[str] = field(default_factory=Counter)
    fingerprints: Counter[str] = field(default_factory=Counter)
    servers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    identifiers: Counter[str] = field(default_factory=Counter)
    attempts: int = 0

    def answer(self, answer: Answer) -> None:
        """Count one good answer."""
        for counter, value in (
            (self.models, answer.model),
            (self.fingerprints, answer.fingerprint),
            (self.identifiers, answer.identifier),
        ):
            if value is not None:
                counter[one_line(value, 120)] += 1

    def facts(self) -> dict[str, Any]:
        """The counts as JSON. A repeated answer id hints at a proxy that answers from a cache."""
        return {
            "attempts": self.attempts,
            "faults": dict(sorted(self.faults.items())),
            "models_echoed": dict(sorted(self.models.items())),
            "system_fingerprints": dict(sorted(self.fingerprints.items())),
            "server_headers": dict(sorted(self.servers.items())),
            "repeated_answer_ids": sum(n - 1 for n in self.identifiers.values()),
        }


class _Run:
    """One `generate` call: worker tasks in an event loop on a thread of its own.

    The loop needs its own thread so that timeouts run on while the consumer writes to disk. At most
    two answers per worker wait to be taken: that much, no more, is lost if the process is killed.
    """

    def __init__(
        self,
        backend: OpenAIBackend,
        work: Sequence[tuple[Request, dict[str, Any]]],
        key: str,
        tally: Tally,
    ) -> None:
        self.backend = backend
        self.settings = backend.settings
        self.finished: queue.SimpleQueue[Response | None] = queue.SimpleQueue()
        self._over = False
        self.stop_reason: str | None = None
        self.crash: BaseException | None = None
        self._work = iter(work)
        # Requests that have no response yet.
        self._left = len(work)
        self._meter = Meter(backend.account)
        self._workers = min(self.settings.concurrency, len(work))
        self._key = key
        self._redactor = Redactor(key)
        self._scrub = self._redactor.message
        self._tally = tally
        self._random = random.Random()
        self._reached = False
        self._failures = 0
        self._next_start = 0.0
        self._paused_until = 0.0
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._window = asyncio.Semaphore(2 * self._workers)
        self._main = self._loop.create_task(self._all())
        self._thread = threading.Thread(target=self._drive, name="openai-backend", daemon=True)

    # Called from the consumer's thread.

    def start(self) -> None:
        self._thread.start()

    def take(self, most: int) -> list[Response]:
        """Wait for an answer, and take all that are finished; none when the run is over.

        For every answer taken another request may start.
        """
        group: list[Response] = []
        with suppress(queue.Empty):
            while len(group) < most and not self._over:
                finished = self.finished.get(block=not group)
                if finished is None:
                    self._over = True
                else:
                    group.append(finished)
        with suppress(RuntimeError):  # The loop has closed: nothing is left to start.
            for _ in group:
                self._loop.call_soon_threadsafe(self._window.release)
        return group

    def cancel(self) -> None:
        """Cancel what is open and wait for the thread; harmless when all is done."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join()

    # Runs in the loop's thread.

    def _drive(self) -> None:
        try:
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self.crash = error
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
            self.finished.put(None)

    async def _all(self) -> None:
        client = open_client(self.settings, self._key)
        try:
            async with client, self._meter, asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._worker(client))
        except SpendingError as error:
            self._stop_spending(error)

    async def _worker(self, client: openai.AsyncOpenAI) -> None:
        while not self._stopping.is_set():
            await self._window.acquire()
            item = next(self._work, None)
            if item is None or self._stopping.is_set():
                self._window.release()
                return
            response = await self._answer(client, *item)
            if response is not None:
                self._left -= 1
                self.finished.put(response)

    async def _answer(
        self, client: openai.AsyncOpenAI, request: Request, arguments: dict[str, Any]
    ) -> Response | None:
        """The Response to one request; `None` when the run stops before there is one."""
        for attempt in range(1, self.settings.max_attempts + 1):
            try:
                answer = await self._metered(client, arguments)
            except AttemptError as fault:
                self._tally.faults[fault.cause] += 1
                if fault.kind == "stop":
                    self._stop(self._advice(fault))
                    return None
                if fault.kind == "give_up" or attempt == self.settings.max_attempts:
                    return self._failed(request, fault, attempt)
                log.info("attempt %d: %s; trying again", attempt, self._scrub(str(fault)))
                await self._back_off(fault, attempt)
            else:
                return None if answer is None else self._answered(request, answer, attempt)
        return None

    async def _metered(
        self, client: openai.AsyncOpenAI, arguments: dict[str, Any]
    ) -> Answer | None:
        """One attempt within the spend cap, in its turn; None when the run stops before it."""
        if self._stopping.is_set():
            return None
        bounds = worst_case(arguments, self.settings.max_tokens_field)
        try:
            async with self._meter.attempt(*bounds) as attempt:
                await self._turn()
                if self._stopping.is_set():
                    attempt.refuse()
                    return None
                try:
                    return await self._attempt(client, arguments, attempt)
                except AttemptError as fault:
                    if fault.refused:
                        attempt.refuse()
                    raise
        except (CapError, SpendingError) as error:
            self._stop_spending(error)
            return None

    def _stop_spending(self, error: CapError | SpendingError) -> None:
        self._stop(
            f"model {self.backend.spec.name!r}: {error}. Finished answers are kept; "
            f"{self._left:,} of this job's requests remain to be asked"
        )

    async def _attempt(
        self, client: openai.AsyncOpenAI, arguments: dict[str, Any], attempt: Attempt
    ) -> Answer:
        """One HTTP exchange; raises AttemptError. The time limit holds for the whole exchange."""
        limit = self.settings.timeout_seconds
        self._tally.attempts += 1
        try:
            async with asyncio.timeout(limit):
                reply = await client.chat.completions.with_raw_response.create(**arguments)
        except (TimeoutError, openai.APITimeoutError) as error:
            raise AttemptError(
                "retry",
                "timeout",
                f"no complete answer within {limit:g} s",
                refused=unsent(error),
            ) from None
        except openai.APIStatusError as error:
            self._reached = True
            body = self._redactor.body(error.response.content)
            raise status_fault(error.status_code, error.response.headers, body) from None
        except openai.APIConnectionError as error:
            raise self._connection_fault(error) from None
        except openai.OpenAIError as error:
            raise AttemptError("retry", "bad reply", one_line(str(error))) from None
        self._reached = True
        server = self._scrub(reply.headers.get("server", "not given"))
        self._tally.servers[one_line(server, 120)] += 1
        body = self._redactor.body(reply.content)
        attempt.use(*billed_tokens(body))
        answer = self._without_key(read_completion(body))
        expected = self.settings.expected_model_echo
        if expected is not None and answer.model != expected:
            said = one_line(str(answer.model), 120)
            raise AttemptError(
                "retry", "wrong model", f"asked for {expected!r}, answered by {said!r}"
            )
        self._tally.answer(answer)
        return answer

    def _without_key(self, answer: Answer) -> Answer:
        """The answer without the key in any of its texts: a server may spell it in escapes."""
        texts: dict[str, Any] = {
            name: value if value is None else self._redactor.answer(value)
            for name in ("text", "reasoning", "finish_reason", "model", "identifier", "fingerprint")
            for value in (getattr(answer, name),)
        }
        return replace(answer, **texts)

    def _connection_fault(self, error: openai.APIConnectionError) -> AttemptError:
        inner = error.__cause__
        detail = one_line(str(inner or error)) or "no details"
        if unsent(error):
            return AttemptError("retry", "no connection", detail, refused=True)
        self._reached = True
        return AttemptError("retry", "connection lost", detail)

    async def _turn(self) -> None:
        """Wait for the rate limit and for a pause that the server asked for."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        if self.settings.requests_per_minute:
            start = max(start, self._next_start)
            self._next_start = start + 60.0 / self.settings.requests_per_minute
        await self._sleep(start - loop.time())
        while (pause := self._paused_until - loop.time()) > 0 and not self._stopping.is_set():
            await self._sleep(pause)

    async def _back_off(self, fault: AttemptError, attempt: int) -> None:
        """Exponential backoff with jitter; a Retry-After holds for all workers."""
        settings = self.settings
        longest = settings.longest_backoff_seconds
        # The exponent is bounded so that many attempts cannot overflow a float.
        delay = min(longest, settings.backoff_seconds * 2.0 ** min(attempt - 1, 60))
        delay *= self._random.uniform(0.5, 1.0)
        if fault.wait is not None:
            if fault.wait > settings.longest_wait_seconds:
                self._stop(
                    f"{self._scrub(str(fault))}; the server asks to wait {fault.wait:.0f} s, "
                    f"longer than longest_wait_seconds ({settings.longest_wait_seconds:g}): "
                    "run again later"
                )
                return
            loop = asyncio.get_running_loop()
            self._paused_until = max(self._paused_until, loop.time() + fault.wait)
            delay = fault.wait + min(delay, settings.backoff_seconds)
        await self._sleep(delay)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but wake when the run stops."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), seconds)

    def _stop(self, reason: str) -> None:
        """Start nothing more; attempts that are under way (and paid for) still finish."""
        self.stop_reason = self.stop_reason or reason
        self._stopping.set()
        self._meter.stop()

    def _advice(self, fault: AttemptError) -> str:
        model, settings = self.backend.spec, self.settings
        source = settings.api_key_environment or settings.api_key_file or "api_key_environment"
        remedy = {
            "http 401": f"the key was refused; check {source}",
            "http 403": f"the key may not use this model; check {source} and the account's rights",
            "http 404": f"check base_url and the model's source ({model.source!r})",
        }.get(fault.cause, "the account's quota is spent; add credit or run again later")
        said = self._scrub(fault.detail)
        return (
            f"model {model.name!r}: {settings.base_url} answered {fault.cause} ({said}): {remedy}. "
            "Finished answers are kept; the next run asks only for the missing ones"
        )

    def _failed(self, request: Request, fault: AttemptError, attempts: int) -> Response | None:
        """An error row; `None` when the failures show that the run should stop instead."""
        where = f"model {self.backend.spec.name!r}: {self.settings.base_url}"
        times = f"{attempts} attempt{'s' if attempts > 1 else ''}"
        message = self._scrub(f"{fault.cause} after {times}: {fault.detail}")
        if fault.cause == "no connection" and not self._reached:
            self._stop(
                f"{where}: {message}; no server answers there: start it, or correct base_url"
            )
            return None
        self._failures += 1
        if self._failures >= self.settings.stop_after_failures:
            self._stop(
                f"{where}: {self._failures} requests in a row failed (stop_after_failures), "
                f"the last with: {message}"
            )
        return self._response(request, attempts, error=message)

    def _answered(self, request: Request, answer: Answer, attempts: int) -> Response:
        self._failures = 0
        spec, mode = self.backend.spec, self.backend.mode
        text, reasoning = answer.text, answer.reasoning
        if reasoning is None:
            separated = separate(text)
            text, reasoning = separated.text, separated.reasoning
        counted = accounted(reasoning, mode, spec.thinking)
        usage = dict(answer.usage)
        if counted is None and reasoning is not None:
            usage["reasoning"] = None
        return self._response(
            request,
            attempts,
            text=text,
            finish_reason=answer.finish_reason,
            usage=usage,
            reasoning=counted,
        )

    def _response(
        self,
        request: Request,
        attempts: int,
        *,
        text: str = "",
        finish_reason: str = "error",
        usage: dict[str, int | None] | None = None,
        reasoning: str | None = None,
        error: str | None = None,
    ) -> Response:
        return Response(
            request_id=request.request_id,
            item_id=request.item_id,
            model=self.backend.spec.name,
            mode=self.backend.mode,
            text=text,
            finish_reason=finish_reason,
            usage=usage or no_usage(),
            backend=self.backend.name,
            backend_version=self.backend.version,
            attempts=attempts,
            reasoning=reasoning,
            error=error,
        )
