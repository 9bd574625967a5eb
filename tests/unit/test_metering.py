"""Attempts against the spend cap in an event loop: waiting, stopping, cancelling, failing."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scripts.inference import spending
from scripts.inference.metering import CapError, Meter
from scripts.inference.spending import (
    ASSUMED,
    REFUSED,
    REPORTED,
    Account,
    Ledger,
    Price,
    SpendingError,
    Terms,
)

KEY = "models.m"


def account(path: Path, tokens: int | None = None) -> Account:
    prices = {KEY: Price(Decimal(1), Decimal(2))}
    return Account(KEY, Terms(path, tokens=tokens, prices=prices), local=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spending.jsonl"


def test_what_is_said_is_settled_and_what_is_not_said_is_assumed(path: Path) -> None:
    one = account(path)

    async def main() -> None:
        async with Meter(one) as meter:
            async with meter.attempt(100, 50) as attempt:
                attempt.use(40, 7)
                attempt.refuse()  # A reply with usage was billed, whatever else is in it.
            async with meter.attempt(100, 50) as attempt:
                attempt.use(None, 7)
            async with meter.attempt(100, 50) as attempt:
                attempt.use(0, 0)
            async with meter.attempt(100, 50) as attempt:
                attempt.refuse()
            with pytest.raises(RuntimeError):
                async with meter.attempt(100, 50):
                    raise RuntimeError("the connection was lost")

    asyncio.run(main())
    used = Ledger(path).read().models[KEY]
    assert used.attempts == {REPORTED: 1, ASSUMED: 3, REFUSED: 1}
    assert (used.by_basis[REPORTED].prompt, used.by_basis[REPORTED].completion) == (40, 7)
    assert (used.by_basis[ASSUMED].prompt, used.by_basis[ASSUMED].completion) == (300, 107)
    assert used.by_basis[REFUSED].tokens == 0
    assert used.amount.cost == Decimal(340 + 2 * 114) / 1_000_000


def test_a_full_cap_waits_for_what_is_under_way(path: Path) -> None:
    """The second attempt has no room until the first one has settled with less."""
    order: list[str] = []

    async def main() -> None:
        waiting, settle = asyncio.Event(), asyncio.Event()
        async with Meter(account(path, 150)) as meter, asyncio.TaskGroup() as group:

            async def first() -> None:
                async with meter.attempt(100, 0) as attempt:
                    waiting.set()
                    await settle.wait()
                    order.append("first")
                    attempt.use(10, 0)

            async def second() -> None:
                await waiting.wait()
                async with meter.attempt(100, 0) as attempt:
                    order.append("second")
                    attempt.use(10, 0)

            group.create_task(first())
            group.create_task(second())
            await waiting.wait()
            await asyncio.sleep(0.2)
            settle.set()

    asyncio.run(main())
    assert order == ["first", "second"]
    assert Ledger(path).read().spent.tokens == 20


def test_nothing_under_way_and_no_room_is_the_end(path: Path) -> None:
    async def main() -> list[str]:
        ends: list[str] = []
        async with Meter(account(path, 100)) as meter, asyncio.TaskGroup() as group:

            async def ask() -> None:
                try:
                    async with meter.attempt(60, 0) as attempt:
                        await asyncio.sleep(0.05)
                        attempt.use(50, 0)
                    ends.append("answered")
                except CapError as full:
                    ends.append(str(full))

            for _ in range(5):
                group.create_task(ask())
        return ends

    ends = asyncio.run(main())
    assert ends.count("answered") == 1
    for end in ends[1:]:
        assert "(50 tokens) spent" in end and "raise run.spend_cap.tokens" in end
    whole = Ledger(path).read()
    assert (whole.spent.tokens, whole.reserved.tokens) == (50, 0)


def test_other_jobs_are_waited_for_as_long_as_they_do_something(path: Path) -> None:
    other = account(path, 100)
    held = [other.reservation(other.worst(45, 0)) for _ in range(2)]
    other.exchange(held)

    async def main(patience: float, *, ends: bool) -> None:
        async with Meter(account(path, 100), patience) as meter:
            task = asyncio.create_task(once(meter))
            if ends:
                await asyncio.sleep(0.1)
                settlement = other.settlement(held.pop(), REPORTED, other.price.of(5, 0))
                await asyncio.to_thread(other.exchange, [settlement])
            await task

    async def once(meter: Meter) -> None:
        async with meter.attempt(11, 0) as attempt:
            attempt.use(1, 0)

    with pytest.raises(CapError, match=r"\(0 tokens\) spent, 0\.00009 USD \(90 tokens\) reserved"):
        asyncio.run(main(0.0, ends=False))
    asyncio.run(main(60.0, ends=True))
    assert Ledger(path).read().spent.tokens == 6


def test_dead_jobs_and_a_stopping_run_are_not_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = account(path, 100)
    other.exchange([other.reservation(other.worst(90, 0))])

    async def main(*, stop: bool) -> None:
        async with Meter(account(path, 100), 3600.0) as meter:
            if stop:
                meter.stop()
            async with meter.attempt(11, 0):
                raise AssertionError("there was no room")

    with pytest.raises(CapError):
        asyncio.run(main(stop=True))
    monkeypatch.setattr(spending, "state_of", lambda _: "ended")
    with pytest.raises(CapError, match="Reservations of runs that died count as spent"):
        asyncio.run(main(stop=False))


def test_cancelled_attempts_leave_no_open_reservation(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = account(path)
    real, begun, go_on = one.exchange, threading.Event(), threading.Event()

    def held_up(entries: Any) -> list[bool]:
        begun.set()
        assert go_on.wait(60)
        return real(entries)

    monkeypatch.setattr(one, "exchange", held_up)

    async def ask(meter: Meter) -> None:
        async with meter.attempt(10, 0):
            raise AssertionError("it was cancelled before it was granted")

    async def main() -> None:
        async with Meter(one) as meter:
            tasks = [asyncio.create_task(ask(meter)) for _ in range(2)]
            await asyncio.to_thread(begun.wait, 60)
            tasks.append(asyncio.create_task(ask(meter)))
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            go_on.set()

    asyncio.run(main())
    whole = Ledger(path).read()
    # They were granted when nobody waited any more: nothing was sent.
    assert whole.models[KEY].attempts == {REPORTED: 0, ASSUMED: 0, REFUSED: 3}
    assert whole.open == {} and whole.spent.tokens == 0


def test_an_attempt_that_is_cancelled_under_way_is_assumed(path: Path) -> None:
    async def main() -> None:
        sent = asyncio.Event()
        async with Meter(account(path)) as meter:

            async def ask() -> None:
                async with meter.attempt(10, 0):
                    sent.set()
                    await asyncio.sleep(60)

            task = asyncio.create_task(ask())
            await sent.wait()
            task.cancel()

    asyncio.run(main())
    whole = Ledger(path).read()
    assert whole.open == {} and whole.models[KEY].attempts[ASSUMED] == 1
    assert whole.spent.tokens == 10


def test_a_ledger_that_cannot_be_written_ends_the_run(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = account(path)

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def reserving() -> None:
        async with Meter(one) as meter, meter.attempt(1, 0):
            raise AssertionError("it was not reserved")

    async def settling() -> None:
        async with Meter(one) as meter:
            async with meter.attempt(1, 0):
                monkeypatch.setattr(os, "pwrite", full)
            await asyncio.sleep(0.05)
            with pytest.raises(SpendingError):
                async with meter.attempt(1, 0):
                    raise AssertionError("it was not reserved")

    with pytest.raises(SpendingError, match=r"cannot be written: .*No space left"):
        asyncio.run(settling())
    with pytest.raises(SpendingError, match=r"cannot be written: .*No space left"):
        asyncio.run(reserving())
    # What was sent stays reserved: it may have been billed.
    assert Ledger(path).read().reserved.tokens == 1


def test_without_a_ledger_attempts_are_only_counted() -> None:
    one = Account(KEY, None, local=True)

    async def main() -> None:
        async with Meter(one) as meter:
            for _ in range(3):
                async with meter.attempt(10**9, 10**9) as attempt:
                    attempt.use(4, 2)

    asyncio.run(main())
    assert one.facts()["prompt_tokens"] == 12 and one.facts()["completion_tokens"] == 6


def test_entries_of_many_workers_are_written_together(path: Path) -> None:
    one = account(path)
    batches: list[int] = []
    real = one.exchange

    def counting(entries: Any) -> list[bool]:
        batches.append(len(entries))
        return real(entries)

    one.exchange = counting  # type: ignore[method-assign]

    async def main() -> None:
        async with Meter(one) as meter, asyncio.TaskGroup() as group:

            async def ask() -> None:
                for _ in range(10):
                    async with meter.attempt(5, 5) as attempt:
                        attempt.use(1, 1)

            for _ in range(20):
                group.create_task(ask())

    asyncio.run(main())
    assert sum(batches) == 400 and len(batches) < 200
    assert Ledger(path).read().spent.tokens == 400
