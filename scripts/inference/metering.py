"""Room before an attempt, settlement after it: the spending ledger as seen from an event loop.

Entries of all workers that come while the ledger is being written are written together, in a thread
of their own, so that neither a slow disk nor many workers hold up the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

from scripts.inference.spending import (
    ASSUMED,
    NOTHING,
    REFUSED,
    REPORTED,
    Account,
    Amount,
    SpendingError,
)

#: Seconds for which open attempts of other jobs are waited for while nothing happens in the ledger.
PATIENCE = 60.0
#: Seconds between two looks at the ledger while other jobs are waited for.
PAUSE = 0.5


class CapError(RuntimeError):
    """The spend cap has no room for another attempt, and nothing under way may make some."""


class Attempt:
    """What became of one attempt. As long as nobody says, its worst case is assumed."""

    def __init__(self, account: Account, worst: Amount) -> None:
        self.account, self.worst = account, worst
        self.basis, self.amount = ASSUMED, worst

    def refuse(self) -> None:
        """The server did no work on it, or it was never sent; what was reported stays."""
        if self.basis == ASSUMED:
            self.basis, self.amount = REFUSED, NOTHING

    def use(self, prompt: int | None, completion: int | None) -> None:
        """Tokens as the server reported them; of what it did not report the worst is assumed."""
        # No request is without tokens: a server that reports none at all did not count.
        if not prompt and not completion:
            return
        known = prompt is not None and completion is not None
        self.basis = REPORTED if known else ASSUMED
        self.amount = self.account.price.of(
            self.worst.prompt if prompt is None else prompt,
            self.worst.completion if completion is None else completion,
        )


class Meter:
    """The attempts of one process at one model; an asynchronous context manager.

    Leaving it waits until everything is in the ledger. Raises SpendingError where the ledger cannot
    be written or read. `patience` is in seconds.
    """

    def __init__(self, account: Account, patience: float = PATIENCE) -> None:
        self.account = account
        self.patience = patience
        # What the ledger said when it last changed, and when that was.
        self._seen: tuple[object, float] = (None, 0.0)
        self._stopping = False
        self._open = 0
        self._settlements = 0
        self._changed = asyncio.Event()
        self._pending: list[tuple[dict[str, Any], asyncio.Future[bool] | None]] = []
        self._wake = asyncio.Event()
        self._leaving = False
        self._failure: BaseException | None = None
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leaving = True
        self._wake.set()
        assert self._writer is not None
        await self._writer
        if self._failure is not None and error is None:
            raise self._failure

    @asynccontextmanager
    async def attempt(self, prompt: int, completion: int) -> AsyncIterator[Attempt]:
        """Reserve the worst case of an attempt (tokens), and settle it at the end.

        Waits for attempts of this process and of others that may settle with less. Raises CapError
        where there is no room even then.
        """
        worst, entry = await self._room(prompt, completion)
        attempt = Attempt(self.account, worst)
        try:
            yield attempt
        finally:
            self._open -= 1
            self._settle(entry, attempt.basis, attempt.amount)

    async def _room(self, prompt: int, completion: int) -> tuple[Amount, dict[str, Any]]:
        while True:
            seen, changed = self._settlements, self._changed
            worst = self.account.worst(prompt, completion)
            entry = self.account.reservation(worst)
            if await self._granted(entry):
                self._open += 1
                return worst, entry
            if self._stopping:
                raise CapError(self.account.refusal(worst))
            if seen != self._settlements:
                continue
            if self._open:
                await changed.wait()
            elif self._others_may_settle():
                await asyncio.sleep(PAUSE)
            else:
                raise CapError(self.account.refusal(worst))

    def stop(self) -> None:
        """Nobody needs to wait for room any more."""
        self._stopping = True

    def _others_may_settle(self) -> bool:
        """Whether other jobs have attempts under way, and the ledger is not silent for too long."""
        others = self.account.others()
        now = asyncio.get_running_loop().time()
        if self._seen[0] != others:
            self._seen = (others, now)
        return bool(others) and now - self._seen[1] < self.patience

    async def _granted(self, entry: dict[str, Any]) -> bool:
        if self._failure is not None:
            raise self._failure
        if self.account.ledger is None:
            return True
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._submit(entry, future)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.result():
                self._settle(entry, REFUSED, NOTHING)
            raise

    def _settle(self, entry: dict[str, Any], basis: str, amount: Amount) -> None:
        settlement = self.account.settlement(entry, basis, amount)
        if self.account.ledger is not None:
            self._submit(settlement, None)
        self._settlements += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def _submit(self, entry: dict[str, Any], future: asyncio.Future[bool] | None) -> None:
        self._pending.append((entry, future))
        self._wake.set()

    async def _write(self) -> None:
        """Write what is pending until the context is left."""
        while self._pending or not self._leaving:
            if not self._pending:
                self._wake.clear()
                await self._wake.wait()
                continue
            batch, self._pending = self._pending, []
            try:
                answers = await asyncio.to_thread(
                    self.account.exchange, [entry for entry, _ in batch]
                )
            except Exception as error:
                if isinstance(error, OSError):
                    error = SpendingError(f"the spending ledger cannot be written: {error}")
                self._failure = self._failure or error
                for _, future in batch:
                    if future is not None and not future.done():
                        future.set_exception(error)
                continue
            for (entry, future), granted in zip(batch, answers, strict=True):
                if future is None:
                    continue
                if not future.done():
                    future.set_result(granted)
                elif granted:  # Whoever asked was cancelled meanwhile.
                    self._settle(entry, REFUSED, NOTHING)
