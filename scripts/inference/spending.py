"""What hosted models have used up, and a cap on it that is never passed.

One append-only file for all jobs on one folder of results, `<results>/store/spending.jsonl`. A line
is `{"check": "<CRC-32 of the entry>", "entry": {...}}`; an entry is one of

    open     a process begins to ask a model: run, model, host, process, caps, currency
    reserve  the worst case of one attempt, before it is sent
    settle   what the attempt used; from then on this counts, not the worst case
    release  a person gives an open reservation back
    credit   a person gives a model's assumed amounts back, since the provider did not bill them

The convention: an attempt is settled with the usage that the server *reported*; one that was
*refused* (any 4xx but 408, 503, 529, no connection) or was never sent settles at nothing; for
everything else the worst case is *assumed*: a lost connection, a timeout, another 5xx, a reply
without usage may have been billed. The reservation of a process that died stays open and counts as
spent until somebody releases it.

Every write happens under the file's lock, and reads first what others have added. A reservation is
on the disk before its request is sent. A last line without a newline was cut by a crash, hence
never sent; it is dropped. The file holds no prompt, no answer and no key. Commands:
`python -m scripts.inference.spending report|release PATH`.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import ipaddress
import json
import os
import secrets
import socket
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import psutil

from scripts.files import DataError

#: The environment variable by which caps and prices reach a job: no param changes with them.
ENVIRONMENT = "TOKENS_AND_TIME_SPENDING"
LEDGER = "spending.jsonl"

REPORTED, ASSUMED, REFUSED = "reported", "assumed", "refused"
BASES = (REPORTED, ASSUMED, REFUSED)

_HEAD = b'{"check": "'
_BODY = b'", "entry": '
_CHECK = slice(len(_HEAD), len(_HEAD) + 8)
_PAYLOAD = _CHECK.stop + len(_BODY)
# Sums of money are exact: a result that would have to be rounded raises.
_EXACT = Context(prec=60, traps=[DivisionByZero, Inexact, InvalidOperation, Overflow])
_ZERO = Decimal(0)
_MILLION = -6


class SpendingError(DataError):
    """The ledger holds something that it must not, or cannot be written."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens of prompts and of answers, and what they cost in the ledger's currency."""

    prompt: int = 0
    completion: int = 0
    cost: Decimal = _ZERO

    @property
    def tokens(self) -> int:
        """Prompts and answers together."""
        return self.prompt + self.completion

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.prompt + other.prompt,
            self.completion + other.completion,
            _EXACT.add(self.cost, other.cost),
        )

    def __sub__(self, other: Amount) -> Amount:
        return Amount(
            self.prompt - other.prompt,
            self.completion - other.completion,
            _EXACT.subtract(self.cost, other.cost),
        )

    def to_json(self) -> dict[str, Any]:
        """Fields of an entry; the cost is text, which no reader rounds."""
        return {"prompt": self.prompt, "completion": self.completion, "cost": f"{self.cost:f}"}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Amount:
        """The amount in an entry; ValueError for what is none."""
        prompt, completion, cost = entry["prompt"], entry["completion"], Decimal(entry["cost"])
        if type(prompt) is not int or type(completion) is not int or not cost.is_finite():
            raise ValueError("an amount is no number")
        if min(prompt, completion) < 0 or cost < 0:
            raise ValueError("an amount is negative")
        return cls(prompt, completion, cost)


NOTHING = Amount()


@dataclass(frozen=True)
class Price:
    """Money per million tokens of prompts and of answers."""

    prompt: Decimal = _ZERO
    completion: Decimal = _ZERO

    def of(self, prompt: int, completion: int) -> Amount:
        """These tokens with their cost."""
        cost = _EXACT.add(
            _EXACT.multiply(self.prompt, Decimal(prompt)),
            _EXACT.multiply(self.completion, Decimal(completion)),
        )
        return Amount(prompt, completion, cost.scaleb(_MILLION, _EXACT))


@dataclass(frozen=True)
class Terms:
    """The caps (None: no cap) and prices of a run, and where its ledger stands.

    `prices` is by key of the configuration: `models.NAME`, `embedders.NAME`.
    """

    ledger: Path
    currency: str = "USD"
    tokens: int | None = None
    cost: Decimal | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def from_environment(cls) -> Terms | None:
        """The terms that the workflow set; None outside it, where nothing is counted or capped."""
        text = os.environ.get(ENVIRONMENT)
        if not text:
            return None
        try:
            given = json.loads(text, parse_float=Decimal)
            cost = given["cost"]
            return cls(
                ledger=Path(given["ledger"]),
                currency=str(given["currency"]),
                tokens=given["tokens"],
                cost=None if cost is None else Decimal(cost),
                prices={
                    key: Price(Decimal(pair[0]), Decimal(pair[1]))
                    for key, pair in given["prices"].items()
                },
            )
        except (ValueError, KeyError, TypeError, InvalidOperation) as error:
            raise SpendingError(
                f"the environment variable {ENVIRONMENT} does not hold what the workflow writes "
                f"there ({error}); unset it"
            ) from error

    def lacking(self, ledger: Ledger, wish: Amount) -> str | None:
        """The key of the cap that has no room for `wish`; None where both have."""
        whole = ledger.spent + ledger.reserved + wish
        if self.cost is not None and whole.cost > self.cost:
            return "run.spend_cap.cost"
        if self.tokens is not None and whole.tokens > self.tokens:
            return "run.spend_cap.tokens"
        return None


def terms_text(config: Mapping[str, Any]) -> str:
    """The terms of a checked configuration as the text that `Terms.from_environment` reads."""
    run = config["run"]
    cap = run.get("spend_cap") or {}
    prices = {
        f"models.{name}": [entry["price"]["prompt"], entry["price"]["completion"]]
        for name, entry in config.get("models", {}).items()
        if entry.get("price") is not None
    }
    prices |= {
        f"embedders.{name}": [entry["price"], 0]
        for name, entry in config.get("embedders", {}).items()
        if entry.get("price") is not None
    }
    return json.dumps(
        {
            "ledger": f"{run['results']}/store/{LEDGER}",
            "currency": cap.get("currency", "USD"),
            "tokens": cap.get("tokens"),
            "cost": cap.get("cost"),
            "prices": prices,
        },
        sort_keys=True,
        allow_nan=False,
    )


def is_local(base_url: str) -> bool:
    """True for the address of a server on this machine: it needs no key and costs nothing."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


# ---- The ledger --------------------------------------------------------------------------------


def encode_line(entry: Mapping[str, Any]) -> bytes:
    """One line of the ledger, newline included."""
    payload = json.dumps(entry, sort_keys=True, ensure_ascii=True, allow_nan=False).encode("ascii")
    return b"".join((_HEAD, f"{zlib.crc32(payload):08x}".encode(), _BODY, payload, b"}\n"))


def decode_line(line: bytes) -> dict[str, Any]:
    """The entry of one line without its newline; ValueError says what is wrong."""
    if not (line.startswith(_HEAD) and line[_CHECK.stop : _PAYLOAD] == _BODY and line[-1:] == b"}"):
        raise ValueError("not a line of a spending ledger")
    payload = line[_PAYLOAD:-1]
    if f"{zlib.crc32(payload):08x}".encode() != line[_CHECK]:
        raise ValueError("the checksum does not match, the line was altered")
    entry = json.loads(payload)
    if not isinstance(entry, dict):
        raise ValueError("the entry is no object")
    return entry


@dataclass
class Used:
    """What one model used: settled amounts by their basis, and attempts."""

    by_basis: dict[str, Amount] = field(default_factory=lambda: dict.fromkeys(BASES, NOTHING))
    attempts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(BASES, 0))
    # By how much a worst case fell short of what a server reported, for prompts and answers.
    shortfall: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1))

    @property
    def amount(self) -> Amount:
        """All that is settled."""
        return self.by_basis[REPORTED] + self.by_basis[ASSUMED]


Ticket = tuple[str, int]


class Ledger:
    """What all jobs on these results have reserved and used; reads on where it stopped."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._forget()

    def _forget(self) -> None:
        self.spent, self.reserved = NOTHING, NOTHING
        self.models: dict[str, Used] = {}
        self.runs: dict[str, dict[str, Any]] = {}
        self.open: dict[Ticket, Amount] = {}
        self._released: set[Ticket] = set()
        self._end = 0
        self._lines = 0
        self._written = b""

    def read(self) -> Self:
        """Take in what was added, without locking; a torn last line is passed over."""
        if self.path.is_file():
            with self.path.open("rb") as handle:
                handle.seek(self._end)
                self._catch_up(handle.read())
        return self

    def exchange(self, entries: Sequence[dict[str, Any]], terms: Terms | None) -> list[bool]:
        """Write the entries in one go; False for a reservation for which there is no room.

        Room is what the caps leave of everything that all jobs have settled and reserved. Returns
        when what was granted is on the disk.
        """
        with self._locked() as descriptor:
            self._catch_up(self._news(descriptor))
            granted, lines = [], []
            try:
                for entry in entries:
                    fits = (
                        entry["event"] != "reserve"
                        or terms is None
                        or terms.lacking(self, Amount.from_json(entry)) is None
                    )
                    granted.append(fits)
                    if fits:
                        self._take(entry)
                        lines.append(encode_line(entry))
                self._write(descriptor, b"".join(lines), len(lines))
            except BaseException:
                self._forget()
                raise
            if any(entry["event"] != "settle" for entry in entries):
                os.fsync(descriptor)
        return granted

    def _news(self, descriptor: int) -> bytes:
        """What stands behind the part that was read; our own last write must still be there."""
        size = os.fstat(descriptor).st_size
        start = self._end - len(self._written)
        data = os.pread(descriptor, max(size - start, 0), start)
        if size < self._end or not data.startswith(self._written):
            raise SpendingError(
                f"{self.path}: what this process wrote there is gone: the file was removed or "
                "changed, or its file system has no locks that reach all machines; put "
                "run.results on one that has"
            )
        return data[len(self._written) :]

    def _write(self, descriptor: int, data: bytes, lines: int) -> None:
        if os.fstat(descriptor).st_size > self._end:
            # What stands behind the last whole line was cut by a crash.
            os.ftruncate(descriptor, self._end)
        done = 0
        try:
            while done < len(data):
                done += os.pwrite(descriptor, data[done:], self._end + done)
        except BaseException:
            os.ftruncate(descriptor, self._end)
            raise
        self._end += len(data)
        self._lines += lines
        if data:
            self._written = data

    @contextmanager
    def _locked(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # On NFS the lock needs a file that is open for writing; opening anew shows others' writes.
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise
                raise SpendingError(
                    f"{self.path}: its file system has no locks ({error.strerror}), so spending "
                    "cannot be capped; put run.results on one that has"
                ) from error
            yield descriptor
        finally:
            os.close(descriptor)

    def _catch_up(self, data: bytes) -> None:
        whole = data.rfind(b"\n") + 1
        for line in data[:whole].split(b"\n")[:-1]:
            try:
                self._take(decode_line(line))
            except (ValueError, KeyError, TypeError, InvalidOperation, Inexact) as error:
                said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
                where = f"{self.path}, line {self._lines + 1}"
                self._forget()
                raise SpendingError(
                    f"{where}: {said}; restore the file, or remove the line, and what it says is "
                    "no longer counted"
                ) from error
            self._lines += 1
        self._end += whole
        if whole:
            self._written = b""

    def _take(self, entry: Mapping[str, Any]) -> None:
        """Count one entry."""
        event = entry["event"]
        if event == "open":
            self.runs[entry["run"]] = dict(entry)
            return
        if event == "credit":
            self._credit(entry)
            return
        ticket = (entry["run"], entry["number"])
        if ticket[0] not in self.runs:
            raise ValueError(f"no process of the name {ticket[0]!r} has begun")
        if event == "reserve":
            if ticket in self.open:
                raise ValueError("the reservation stands twice")
            self.open[ticket] = amount = Amount.from_json(entry)
            self.reserved += amount
        elif event == "release":
            self.reserved -= self._close(ticket)
            self._released.add(ticket)
        elif event == "settle":
            self._settle(ticket, entry)
        else:
            raise ValueError(f"unknown event {event!r}")

    def _close(self, ticket: Ticket) -> Amount:
        if ticket not in self.open:
            raise ValueError(f"attempt {ticket[1]} of {ticket[0]} has no open reservation")
        return self.open.pop(ticket)

    def _settle(self, ticket: Ticket, entry: Mapping[str, Any]) -> None:
        used, basis = Amount.from_json(entry), entry["basis"]
        if basis not in BASES:
            raise ValueError(f"unknown basis {basis!r}")
        model = self.used(self.runs[ticket[0]]["model"])
        if ticket in self._released:  # It was released while its process still lived.
            self._released.discard(ticket)
        else:
            reserved = self._close(ticket)
            self.reserved -= reserved
            model.shortfall = _raised(model.shortfall, reserved, used)
        model.by_basis[basis] += used
        model.attempts[basis] += 1
        self.spent += used

    def _credit(self, entry: Mapping[str, Any]) -> None:
        amount, model = Amount.from_json(entry), self.used(entry["model"])
        left = model.by_basis[ASSUMED] - amount
        if min(left.prompt, left.completion) < 0 or left.cost < 0:
            raise ValueError("more is given back than was assumed")
        model.by_basis[ASSUMED] = left
        self.spent -= amount

    def used(self, model: str) -> Used:
        """The account of one model by its key of the configuration."""
        return self.models.setdefault(model, Used())

    def currency(self) -> str | None:
        """The currency of the ledger's costs; None while nothing had a price."""
        return next(
            (run["currency"] for run in self.runs.values() if run.get("currency") is not None), None
        )


def _raised(
    shortfall: tuple[Fraction, Fraction], reserved: Amount, used: Amount
) -> tuple[Fraction, Fraction]:
    """The factors on worst cases after an attempt; they rise where it used more than its own."""
    pairs = ((reserved.prompt, used.prompt), (reserved.completion, used.completion))
    first, second = (
        factor * Fraction(taken, bound) if taken > bound > 0 else factor
        for factor, (bound, taken) in zip(shortfall, pairs, strict=True)
    )
    return first, second


class Account:
    """One hosted model in this process: asks the ledger for room, and counts what was used.

    `key` is `models.NAME` or `embedders.NAME`. A server on this machine without a price is free:
    nothing of it is written down or capped. Raises SpendingError where a cost cap needs a price.
    """

    def __init__(self, key: str, terms: Terms | None, *, local: bool) -> None:
        self.key = key
        price = terms.prices.get(key) if terms else None
        self.terms = None if local and price is None else terms
        if self.terms is not None and self.terms.cost is not None and price is None:
            raise SpendingError(
                f"{key}.price: missing; run.spend_cap.cost needs the price of every hosted model"
            )
        self.priced = price is not None
        self.price = price or Price()
        self.used = Used()
        self.ledger = Ledger(self.terms.ledger) if self.terms else None
        self._run = secrets.token_hex(6)
        self._begun = False
        self._number = 0

    def worst(self, prompt: int, completion: int) -> Amount:
        """The bound on an attempt, raised where a server has reported more than such bounds."""
        first, second = (
            self.ledger.used(self.key).shortfall if self.ledger else (Fraction(1), Fraction(1))
        )
        return self.price.of(ceil(prompt * first), ceil(completion * second))

    def reservation(self, worst: Amount) -> dict[str, Any]:
        """A new entry that asks for room."""
        self._number += 1
        return {
            "event": "reserve",
            "run": self._run,
            "number": self._number,
            **worst.to_json(),
        }

    def settlement(
        self, reservation: Mapping[str, Any], basis: str, used: Amount
    ) -> dict[str, Any]:
        """The entry that says what an attempt used; it counts in this process at once."""
        self.used.by_basis[basis] += used
        self.used.attempts[basis] += 1
        return {
            "event": "settle",
            "run": self._run,
            "number": reservation["number"],
            "basis": basis,
            **used.to_json(),
        }

    def exchange(self, entries: Sequence[dict[str, Any]]) -> list[bool]:
        """`Ledger.exchange` of this account's entries; all are granted where nothing is counted."""
        if self.ledger is None:
            return [True] * len(entries)
        if not self._begun:
            self._begin()
        return self.ledger.exchange(entries, self.terms)

    def _begin(self) -> None:
        assert self.ledger is not None and self.terms is not None
        known = self.ledger.read().currency()
        if self.priced and known not in (None, self.terms.currency):
            raise SpendingError(
                f"{self.ledger.path}: counts in {known}, but run.spend_cap.currency is "
                f"{self.terms.currency}; correct it, or move the file aside and begin anew"
            )
        entry = {
            "event": "open",
            "run": self._run,
            "model": self.key,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "begun": psutil.Process().create_time(),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "currency": self.terms.currency if self.priced else None,
            "cap": {
                "tokens": self.terms.tokens,
                "cost": None if self.terms.cost is None else f"{self.terms.cost:f}",
            },
        }
        self.ledger.exchange([entry], None)
        self._begun = True

    def others(self) -> frozenset[Ticket]:
        """Open reservations of other processes that are not known to have ended."""
        if self.ledger is None:
            return frozenset()
        mine, tickets = self._run, list(self.ledger.open)
        runs = {run for run, _ in tickets if run != mine}
        ended = {run for run in runs if state_of(self.ledger.runs[run]) == "ended"}
        return frozenset(ticket for ticket in tickets if ticket[0] in runs - ended)

    def refusal(self, wish: Amount) -> str:
        """Why there is no room for `wish`: spent, reserved, the cap, and the key to raise."""
        assert self.ledger is not None and self.terms is not None
        ledger, terms = self.ledger, self.terms
        key = terms.lacking(ledger, wish) or "run.spend_cap"
        cap = [] if terms.cost is None else [money(terms.cost, terms.currency)]
        cap += [] if terms.tokens is None else [f"{terms.tokens:,} tokens"]
        said = (
            f"the spend cap has no room: {shown(ledger.spent, terms.currency)} spent, "
            f"{shown(ledger.reserved, terms.currency)} reserved, the next request may take up to "
            f"{shown(wish, terms.currency)}, the cap is {' and '.join(cap)}; raise {key} in "
            "config.yaml and run again"
        )
        if ledger.open:
            said += (
                f". Reservations of runs that died count as spent: `python -m "
                f"scripts.inference.spending report {ledger.path}` shows them"
            )
        return said

    def facts(self) -> dict[str, Any]:
        """What this process spent, for the manifest; the cost is null where there is no price."""
        amount = self.used.amount
        return {
            "prompt_tokens": amount.prompt,
            "completion_tokens": amount.completion,
            "assumed_tokens": self.used.by_basis[ASSUMED].tokens,
            "cost": f"{amount.cost:f}" if self.priced else None,
            "currency": self.terms.currency if self.terms and self.priced else None,
        }


def summed_facts(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What several processes spent together, from the `Account.facts` of each."""
    costs = [part["cost"] for part in parts]
    total = _ZERO
    for cost in costs:
        total = _EXACT.add(total, Decimal(cost or 0))
    counts = ("prompt_tokens", "completion_tokens", "assumed_tokens")
    return {
        **{name: sum(part[name] for part in parts) for name in counts},
        "cost": None if None in costs else f"{total:f}",
        "currency": parts[0]["currency"],
    }


def money(cost: Decimal, currency: str | None) -> str:
    """A sum of money, never rounded."""
    text = f"{cost:,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {currency}" if currency else text


def shown(amount: Amount, currency: str | None) -> str:
    """An amount for a person."""
    tokens = f"{amount.tokens:,} tokens"
    return f"{money(amount.cost, currency)} ({tokens})" if currency else tokens


# ---- Commands ----------------------------------------------------------------------------------


def state_of(run: Mapping[str, Any]) -> str:
    """`runs`, `ended`, or `unknown` for a process on another machine."""
    if run["host"] != socket.gethostname():
        return "unknown"
    try:
        # Process numbers are used again; the one that begun then is meant.
        same = abs(psutil.Process(run["process"]).create_time() - float(run["begun"])) < 1.0
    except psutil.Error:
        return "ended"
    return "runs" if same else "ended"


def summary(ledger: Ledger) -> str:
    """All that was spent and reserved in one line; the caps are those of the last job."""
    currency = ledger.currency()
    text = f"{shown(ledger.spent, currency)} spent, {shown(ledger.reserved, currency)} reserved"
    last: dict[str, Any] = {}
    for run in ledger.runs.values():
        last = run["cap"]
    caps = [money(Decimal(last["cost"]), currency)] if last.get("cost") is not None else []
    caps += [f"{last['tokens']:,} tokens"] if last.get("tokens") is not None else []
    return f"{text}, cap {' and '.join(caps) or 'none'}"


def report_lines(ledger: Ledger) -> Iterator[str]:
    """Per model tokens, cost and open reservations; then the processes that hold them."""
    currency = ledger.currency()
    waiting: dict[str, list[Amount]] = {}
    holders: dict[str, list[Amount]] = {}
    for (run, _), amount in ledger.open.items():
        waiting.setdefault(ledger.runs[run]["model"], []).append(amount)
        holders.setdefault(run, []).append(amount)
    yield f"{ledger.path}: {summary(ledger)}"
    for model in sorted({*ledger.models, *waiting}):
        used, open_ = ledger.used(model), waiting.get(model, [])
        yield (
            f"  {model}: {shown(used.amount, currency)} in {sum(used.attempts.values()):,} attempts"
            f" ({used.amount.prompt:,} prompt, {used.amount.completion:,} completion tokens); "
            f"of it assumed {shown(used.by_basis[ASSUMED], currency)} in "
            f"{used.attempts[ASSUMED]:,}; {len(open_)} open for {shown(_sum(open_), currency)}"
        )
    for run, amounts in holders.items():
        about = ledger.runs[run]
        yield (
            f"  open: {len(amounts)} for {shown(_sum(amounts), currency)} of process "
            f"{about['process']} on {about['host']} since {about['time']} ({about['model']}), "
            f"which {state_of(about)}"
        )


def _sum(amounts: Iterable[Amount]) -> Amount:
    total = NOTHING
    for amount in amounts:
        total += amount
    return total


def release(ledger: Ledger, hosts: Iterable[str] = (), *, assumed: bool = False) -> list[str]:
    """Give back open reservations of processes that ended; returns lines that say what was done.

    `hosts` are machines on which no job of these results runs any more: theirs are given back too.
    `assumed` gives back what was assumed of every model instead.
    """
    ledger.read()
    gone = set(hosts)
    entries: list[dict[str, Any]] = []
    if assumed:
        for model, used in ledger.models.items():
            if used.by_basis[ASSUMED] != NOTHING:
                credit = {"event": "credit", "model": model}
                entries.append({**credit, **used.by_basis[ASSUMED].to_json()})
    else:
        states = {run: state_of(about) for run, about in ledger.runs.items()}
        for run, number in ledger.open:
            if states[run] == "ended" or ledger.runs[run]["host"] in gone - {socket.gethostname()}:
                entries.append({"event": "release", "run": run, "number": number})
    if entries:
        ledger.exchange(entries, None)
    what = "assumed amounts of models" if assumed else "open reservations"
    return [f"{len(entries)} {what} given back", *report_lines(ledger)]


def main(arguments: list[str] | None = None) -> int:
    """`report` shows what was spent; `release` gives back what a dead process had reserved."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.inference.spending", description=__doc__
    )
    parser.add_argument("action", choices=("report", "release"))
    parser.add_argument("path", type=Path, help="the ledger, results/store/spending.jsonl")
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        help="release: a machine on which no job of these results runs any more",
    )
    parser.add_argument(
        "--assumed",
        action="store_true",
        help="release: give back what was assumed, once the provider's bill shows it was not taken",
    )
    chosen = parser.parse_args(arguments)
    try:
        if not chosen.path.is_file():
            raise SpendingError(f"{chosen.path}: no such file; no hosted model was asked yet")
        ledger = Ledger(chosen.path)
        lines: Iterable[str]
        if chosen.action == "report":
            lines = report_lines(ledger.read())
        else:
            lines = release(ledger, chosen.host, assumed=chosen.assumed)
        print("\n".join(lines))
    except (OSError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
