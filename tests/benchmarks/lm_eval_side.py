"""The other side of bench_inference: lm-evaluation-harness on a task that it is given.

Run by bench_inference with the interpreter of the environment that envs/install_lm_eval.sh made;
it imports nothing of this project. Argument: a JSON file {model, batch_size, max_batch_size,
max_length, tasks: {name: folder}}; a folder holds the task's YAML. The model is loaded once; then
every line of standard input names a task, and a line of JSON answers it: {seconds, processor,
whole, texts}. `seconds` (wall) and `processor` are those of `generate_until` alone (tokenising,
batching, generating, cutting at stop strings); `whole` is the processor time of `simple_evaluate`,
which also builds the requests, scores and bootstraps.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import torch
from lm_eval import __version__, simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager


class Timed(HFLM):
    """HFLM that keeps the time of its generation and the texts that it gave."""

    def generate_until(self, requests: Any, disable_tqdm: bool = True) -> list[str]:
        wall, processor = time.perf_counter(), time.process_time()
        texts: list[str] = super().generate_until(requests, disable_tqdm=True)
        self.seconds = time.perf_counter() - wall
        self.processor = time.process_time() - processor
        self.texts = {r.doc["request_id"]: t for r, t in zip(requests, texts, strict=True)}
        return texts


def evaluate(model: Timed, manager: TaskManager, name: str) -> dict[str, Any]:
    """One evaluation of a task, and what its generation took."""
    before = time.process_time()
    simple_evaluate(
        model=model, tasks=[name], task_manager=manager, bootstrap_iters=0, log_samples=True
    )
    whole = time.process_time() - before
    return {
        "seconds": model.seconds,
        "processor": model.processor,
        "whole": whole,
        "texts": model.texts,
    }


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    torch.set_num_threads(1)
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        model = Timed(
            pretrained=given["model"],
            dtype="float32",
            device="cpu",
            batch_size=given["batch_size"],
            max_batch_size=given["max_batch_size"],
            max_length=given["max_length"],
        )
        manager = TaskManager(
            include_path=[str(folder) for folder in given["tasks"].values()],
            include_defaults=False,
        )
    print(json.dumps({"version": __version__}), file=out, flush=True)
    for line in sys.stdin:
        with contextlib.redirect_stdout(sys.stderr):
            answer = evaluate(model, manager, line.strip())
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
