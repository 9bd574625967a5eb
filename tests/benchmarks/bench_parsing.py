"""Time of the answer parser against json.loads on the same clean outputs.

Run: python -m tests.benchmarks.bench_parsing [outputs]
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence

from scripts.inference.reasoning import separate_reasoning
from scripts.syntaxbench.parsing import parse_answer

DECORATIONS: dict[str, str] = {
    "clean": '{"result": %d}',
    "fenced": '```json\n{"result": %d}\n```',
    "prose around": 'I count the letters one by one. {"result": %d} That is all.',
    "repaired": "{'result': '%d',}",
    "with a trace": '<think>Is it {"result": 1}? No.</think>{"result": %d}',
}


def seconds(work: Callable[[str], object], outputs: Sequence[str], repeats: int = 3) -> float:
    """Best processor time of several passes over all outputs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for output in outputs:
            work(output)
        best = min(best, time.process_time() - start)
    return best


def parse(output: str) -> int | str | None:
    return parse_answer(separate_reasoning(output)[0], "integer").value


def measure(count: int) -> dict[str, tuple[float, float]]:
    """{decoration: (seconds for `count` outputs, ratio to json.loads on clean outputs)}."""
    clean = [DECORATIONS["clean"] % (number % 40) for number in range(count)]
    reference = seconds(json.loads, clean)
    out: dict[str, tuple[float, float]] = {}
    for name, template in DECORATIONS.items():
        outputs = [template % (number % 40) for number in range(count)]
        assert [parse(output) for output in outputs[:40]] == list(range(40))[: len(outputs)]
        spent = seconds(parse, outputs)
        out[name] = (spent, spent / reference)
    return out


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"{count} outputs each; ratio to json.loads on clean outputs")
    for name, (spent, ratio) in measure(count).items():
        print(f"{name:<14} {spent:6.2f} s   {ratio:5.1f} x")


if __name__ == "__main__":
    main()
