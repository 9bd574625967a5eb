"""The response store against plain JSON lines: reading, checking, and writing batch by batch.

Run: python -m tests.benchmarks.bench_store [rows]

Plain JSON lines are what one would write by hand: `json.loads` of every line, and `json.dumps` of
every row into a file that is flushed to the disk after every batch. The store also checks a CRC-32
of every line, keeps answers by key, finds contradictions, and holds a lock.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from scripts.inference.store import ResponseStore, encode_line, to_stored
from scripts.inference.store_commands import compact, verify
from scripts.records import Response

ROUNDS, BATCH, BATCHES = 3, 16, 200


def response(number: int) -> Response:
    """An answer of about 300 characters, with its counts."""
    return Response(
        request_id=f"request-{number}",
        item_id=f"item-{number}",
        model="m",
        mode="non_thinking",
        text=f'{{"result": {number}}} ' + "because of what stands in the text. " * 8,
        finish_reason="stop",
        usage={"prompt": 412, "completion": 85, "reasoning": None},
        backend="openai",
        backend_version="openai 1.0",
        attempts=1,
    )


def key(number: int) -> str:
    return f"{number:064x}"


def shortest(work: Callable[[], Any]) -> float:
    """The shortest of some rounds, in seconds."""
    taken = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def plain_read(path: Path) -> list[Any]:
    with path.open("rb") as handle:
        return [json.loads(line) for line in handle]


def quietly(work: Callable[[], bool]) -> None:
    with redirect_stdout(io.StringIO()):
        assert work()


def reading(folder: Path, rows: int) -> None:
    path = folder / "thinking.jsonl"
    path.write_bytes(b"".join(encode_line(key(n), to_stored(response(n))) for n in range(rows)))
    print(f"{rows:,} lines, {path.stat().st_size / 1e6:.0f} MB; shortest of {ROUNDS} rounds")
    plain = shortest(lambda: plain_read(path))
    for name, seconds in (
        ("json.loads of every line", plain),
        ("load", shortest(lambda: ResponseStore(path).load())),
        ("verify", shortest(lambda: quietly(lambda: verify(path, False)))),
        ("compact", shortest(lambda: compact(path))),
    ):
        print(
            f"  {name:<28}{seconds:>8.2f} s {rows / seconds:>10,.0f} rows/s {seconds / plain:>7.2f}"
        )


def writing(folder: Path) -> None:
    batches = [[response(start * BATCH + n) for n in range(BATCH)] for start in range(BATCHES)]

    def plain() -> None:
        with (folder / "plain.jsonl").open("wb") as handle:
            for batch in batches:
                lines = [json.dumps(to_stored(row)) + "\n" for row in batch]
                handle.write("".join(lines).encode())
                handle.flush()
                os.fsync(handle.fileno())

    def stored() -> None:
        (folder / "stored.jsonl").unlink(missing_ok=True)
        with ResponseStore(folder / "stored.jsonl") as store:
            for start, batch in enumerate(batches):
                store.append((key(start * BATCH + n), row) for n, row in enumerate(batch))

    print(f"{BATCHES} batches of {BATCH} answers, each on the disk before the next")
    alone = shortest(plain)
    for name, seconds in (("plain JSON lines", alone), ("append", shortest(stored))):
        ms = 1000 * seconds / BATCHES
        print(f"  {name:<28}{ms:>7.2f} ms a batch {seconds / alone:>17.2f}")


def main() -> None:
    """Print seconds, rows a second, and the ratio to plain JSON lines of the same run."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="bench.") as folder:
        reading(Path(folder), rows)
        writing(Path(folder))


if __name__ == "__main__":
    main()
