"""What a model makes of one thread, before a whole run is paid for.

Command: `python -m scripts.tide.construction.generation_trial --model smollm2-135m --thread ID`,
from the repository root. Reads the elements, entities and threads of the last run, asks the model
for the pairs of every task, and tells how many passed which check. Answers are kept in a store of
their own; nothing of the run is written.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from scripts.files import DataError, read_records
from scripts.tide.construction.construction_prompts import load_prompts
from scripts.tide.construction.generation import Generated, generate
from scripts.tide.construction.generator import GREEDY, Ask, open_generator
from scripts.tide.construction.provisions import Corpus
from scripts.tide.rows import Element, EntityRow, Thread
from scripts.tide.tasks import TASKS

ROOT = Path(__file__).resolve().parents[3]


def summary(result: Generated) -> list[str]:
    """A line a task: pairs kept, and how often each check failed."""
    lines = []
    for task in TASKS:
        rows = [row for row in result.rows if row.task == task]
        failed = Counter(row.check for row in rows if not row.kept)
        told = ", ".join(f"{check} {count}" for check, count in sorted(failed.items()))
        kept = sum(row.kept for row in rows)
        lines.append(f"{task}: {kept} kept{'; rejected: ' + told if told else ''}")
    return lines


def trial(chosen: argparse.Namespace) -> Generated:
    """The pairs that the model gives for the chosen thread; DataError for an unknown one."""
    threads = read_records(chosen.folder / "construction" / "threads.jsonl", Thread)
    own = [thread for thread in threads if thread.thread_id == chosen.thread]
    if not own:
        known = ", ".join(thread.thread_id for thread in threads[:20])
        raise DataError(f"no thread {chosen.thread!r}; known: {known}")
    models: dict[str, Any] = yaml.safe_load(chosen.config.read_text(encoding="utf-8"))["models"]
    if chosen.model not in models:
        raise DataError(f"no model {chosen.model!r} in the roster")
    entry = models[chosen.model]
    embedded = str(entry["source"]).startswith("embedded:")
    settings = {
        "name": chosen.model,
        "entry": entry,
        "mode": entry["modes"][0],
        "max_new_tokens": chosen.tokens,
        "store": str(chosen.store / f"{chosen.model}.jsonl"),
    }
    path = str(chosen.weights / chosen.model) if embedded else None
    with open_generator(settings, path) as model:
        return generate(
            own,
            Corpus(read_records(chosen.folder / "elements.jsonl", Element)),
            read_records(chosen.folder / "construction" / "entities.jsonl", EntityRow),
            load_prompts(ROOT / "scripts" / "tide" / "construction" / "prompts.yaml"),
            _free(model.ask) if chosen.free else model.ask,
            origin=model.name,
            sampled_elements=chosen.sampled_elements,
            decoding=GREEDY,
        )


def _free(ask: Ask) -> Ask:
    """Ask without a schema that the model would be held to."""
    return lambda requests: ask([replace(each, response_schema=None) for each in requests])


def main(arguments: list[str] | None = None) -> int:
    """Ask, print the summary and, with --rows, every rejected pair's reason."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.tide.construction.generation_trial", description=__doc__
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--thread", required=True)
    parser.add_argument("--tokens", type=int, default=400, help="new tokens of one reply")
    parser.add_argument("--sampled-elements", type=int, default=6)
    parser.add_argument("--folder", type=Path, default=Path("results/tide"))
    parser.add_argument("--config", type=Path, default=ROOT / "config.yaml")
    parser.add_argument("--weights", type=Path, default=Path("results/models"))
    parser.add_argument("--store", type=Path, default=Path("results/store/tide_trial"))
    parser.add_argument("--free", action="store_true", help="do not hold the model to a schema")
    parser.add_argument("--rows", action="store_true", help="also print every rejection")
    chosen = parser.parse_args(arguments)
    try:
        result = trial(chosen)
    except (DataError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(summary(result)))
    if chosen.rows:
        for row in result.rows:
            print(f"  {row.task} {row.index} {row.check or 'kept'}: {row.detail}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
