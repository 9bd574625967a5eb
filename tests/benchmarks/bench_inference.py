"""What answering costs beyond the model, and what sorting, shared prefixes and oneDNN save.

Run: python -m tests.benchmarks.bench_inference [--models smollm2-135m gemma3-270m] [--requests N]
     [--sets zero_shot few_shot temporal documents] [--rounds N] [--results FOLDER]
     [--lm-eval VENV] [--auto] [--unsorted] [--batch N]

Requests are those of the embedded run (`make paper` writes them, and converts the models); a set
that is not there is said and left out. Taken are whole groups that share a beginning, spread evenly
over the lengths of prompts; of the documents, which are long, a quarter as many. All sides compute
with the same weights on one thread; their rounds alternate, and the best round of each counts.
Ratios are of processor time, because the cores may be shared.

* `generate`: `model.generate` of transformers, greedy, on prompts that are already tokenised and
  padded, in the very batches of the side that it is compared with; stop strings by the library.
* `left_padded`, `shared_prefix`: `runner.run` from Request rows to a file of Response rows, with
  rendering, tokenising, keys and a store that is synced to the disk.
* `shared_prefix, onednn`: the same with `kernels: onednn`.
* `unsorted` (option): `left_padded` with batches of rows in any order.
* `lm_eval`: `generate_until` of lm-evaluation-harness, in an environment of its own
  (envs/install_lm_eval.sh), same prompts, same batch size, its own order; see lm_eval_side.py.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
import yaml

from scripts.files import read_records, write_records
from scripts.inference import decoding, runner
from scripts.inference.backends.transformers_local import TransformersBackend
from scripts.inference.decoding import Decoded, Prompt
from scripts.inference.dialogue import TURN_MARKER
from scripts.inference.registry import BATCH_POLICIES, KERNELS, model_spec
from scripts.inference.store import ResponseStore
from scripts.records import Request, Response, canonical_json

ROOT = Path(__file__).resolve().parents[2]
SIDE = Path(__file__).with_name("lm_eval_side.py")
# Name: (benchmark, files below its `requests`, least and most shots).
SETS = {
    "zero_shot": ("syntaxbench", "*.jsonl", (0, 0)),
    "few_shot": ("syntaxbench", "*.jsonl", (1, 99)),
    "temporal": ("multitempbench", "*.jsonl", (0, 99)),
    "documents": ("tide", "icl/*.jsonl", (0, 99)),
}
# Most requests of one beginning, where there are several.
GROUP = 8
LIMITS = {
    "overhead left_padded": "at most 1.05",
    "overhead shared_prefix": "at most 1.05",
    "lm_eval / shared_prefix": "goal 1.5",
    "lm_eval / shared_prefix, onednn": "goal 1.5",
}


def merged(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Configuration with an overlay on top, as Snakemake merges them."""
    out = dict(base)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = merged(out[key], value) if both else value
    return out


def configuration() -> dict[str, Any]:
    """The embedded run's configuration."""
    files = (ROOT / "config.yaml", ROOT / "config" / "embedded.yaml")
    base, overlay = (yaml.safe_load(file.read_text(encoding="utf-8")) for file in files)
    return merged(base, overlay)


def chosen(results: Path, name: str, count: int) -> list[Request]:
    """So many requests of a set (0: all), by groups that share a beginning; none if unbuilt."""
    benchmark, pattern, (least, most) = SETS[name]
    groups: dict[str, list[Request]] = {}
    for file in sorted((results / benchmark / "requests").glob(pattern)):
        for request in read_records(file, Request):
            if least <= int(request.setting.get("shots", 0)) <= most:
                # Neither `generate` nor lm_eval obeys a schema.
                free = replace(request, response_schema=None)
                groups.setdefault(canonical_json(request.messages[:-1]), []).append(free)
    if not count:
        return [request for group in groups.values() for request in group]
    most_alike = max(GROUP, count // max(1, len(groups)))
    ordered = [
        rows[:most_alike] for _, rows in sorted(groups.items(), key=lambda pair: len(pair[0]))
    ]
    size = sum(map(len, ordered)) / max(1, len(ordered))
    wanted = min(len(ordered), max(1, round(count / max(1.0, size))))
    places = [int((i + 0.5) * len(ordered) / wanted) for i in range(wanted)] if ordered else []
    return [request for place in places for request in ordered[place]][:count]


class Recording(TransformersBackend):
    """The backend itself; it notes the token ids of every answer."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.ids: dict[str, tuple[int, ...]] = {}

    def _respond(self, request: Request, prompt: Prompt, decoded: Decoded, opens: bool) -> Response:
        self.ids[request.request_id] = decoded.ids
        return super()._respond(request, prompt, decoded, opens)


@dataclass
class Round:
    """One side in one round."""

    processor: float
    wall: float
    ids: dict[str, tuple[int, ...]]
    texts: dict[str, str]


@contextmanager
def unsorted_plan(use: bool) -> Iterator[None]:
    """Batches of rows in any order (by a digest of their content), at most `size` rows."""
    planned = decoding.plan

    def plain(prompts: Sequence[Prompt], policy: decoding.Policy) -> list[list[Prompt]]:
        order = sorted(prompts, key=lambda prompt: prompt.seed)
        return [order[i : i + policy.size] for i in range(0, len(order), policy.size)]

    if use:
        decoding.plan = plain
    try:
        yield
    finally:
        decoding.plan = planned


class Bench:
    """One model, loaded once, and everything that it is asked in every way."""

    def __init__(self, name: str, entry: dict[str, Any], folder: Path, scratch: Path) -> None:
        self.name, self.folder, self.scratch = name, folder, scratch
        self.entry = {key: value for key, value in entry.items() if key != "kernels"}
        self.batch: dict[str, Any] = dict(entry.get("batch") or {})
        self.loaded: dict[str, Any] = {}
        for kernels in KERNELS:
            first = self.backend("left_padded", kernels)
            decoder = first._decoder()
            self.loaded[kernels] = first._loaded
            if kernels == KERNELS[0]:
                self.decoder, self.renderer = decoder, first.renderer
        self.count = 0

    def backend(self, policy: str, kernels: str = KERNELS[0]) -> Recording:
        """A fresh backend with this policy; the weights are those that are loaded."""
        batch = {"batch": {**self.batch, "policy": policy}, "kernels": kernels, "threads": 1}
        spec = model_spec(self.name, {**self.entry, **batch}, str(self.folder))
        made = Recording(spec, "non_thinking")
        made._loaded = self.loaded.get(kernels)
        return made

    def ours(
        self,
        policy: str,
        requests: list[Request],
        limit: int,
        *,
        kernels: str = KERNELS[0],
        unsorted: bool = False,
    ) -> Round:
        """`runner.run` into a new store, and the response file."""
        backend = self.backend(policy, kernels)
        backend.renderer.identity()  # the tokenizer is loaded, as the model is
        self.count += 1
        store = ResponseStore(self.scratch / f"{self.count}" / "non_thinking.jsonl")
        gc.collect()
        wall, processor = time.perf_counter(), time.process_time()
        with unsorted_plan(unsorted):
            run = runner.run(
                backend.spec, "non_thinking", requests, store, backend, max_new_tokens=limit
            )
        write_records(self.scratch / f"{self.count}" / "responses.jsonl", run.responses)
        processor, wall = time.process_time() - processor, time.perf_counter() - wall
        assert run.errors == 0, "a prompt does not fit"
        return Round(processor, wall, backend.ids, {r.request_id: r.text for r in run.responses})

    def prepared(self, policy: str, requests: list[Request], limit: int) -> list[Any]:
        """The batches of a policy as padded tensors, with the ids of their requests."""
        backend = self.backend(policy)
        complete = [runner.complete(request, limit) for request in requests]
        prompts = [backend._prepare(i, request)[0] for i, request in enumerate(complete)]
        out = []
        for batch in decoding.plan(prompts, backend.policy):
            longest = max(len(p.ids) for p in batch)
            pad = self.decoder.pad_token
            ids = [[pad] * (longest - len(p.ids)) + list(p.ids) for p in batch]
            mask = [[0] * (longest - len(p.ids)) + [1] * len(p.ids) for p in batch]
            names = [requests[p.index].request_id for p in batch]
            out.append((torch.tensor(ids), torch.tensor(mask), names, batch[0].limit))
        return out

    def generate(self, batches: list[Any]) -> Round:
        """`model.generate` on prepared batches."""
        model, tokenizer = self.loaded[KERNELS[0]]
        ends = sorted(self.decoder.end_tokens)
        stops: dict[str, Any] = {}
        if self.renderer.is_transcript:
            stops = {"stop_strings": [TURN_MARKER], "tokenizer": tokenizer}
        ids: dict[str, tuple[int, ...]] = {}
        gc.collect()
        wall, processor = time.perf_counter(), time.process_time()
        for tokens, mask, names, limit in batches:
            out = model.generate(
                tokens,
                attention_mask=mask,
                max_new_tokens=limit,
                do_sample=False,
                eos_token_id=ends,
                pad_token_id=self.decoder.pad_token,
                **stops,
            )
            for name, row in zip(names, out[:, tokens.shape[1] :].tolist(), strict=True):
                ids[name] = tuple(row)
        processor, wall = time.process_time() - processor, time.perf_counter() - wall
        return Round(processor, wall, {n: self.ended(row) for n, row in ids.items()}, {})

    def ended(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """A row without the padding that follows its end."""
        for length in range(1, len(ids) + 1):
            if self.decoder._ends(ids[:length]):
                return ids[:length]
        return ids


def equal(a: dict[str, Any], b: dict[str, Any]) -> str:
    same = sum(a[name] == b[name] for name in a)
    return f"{same}/{len(a)}"


def row(label: str, one: Round, reference: Round, answers: str) -> None:
    tokens = sum(len(ids) for ids in one.ids.values())
    print(
        f"  {label:24s} {one.processor:7.2f} s processor {one.wall:7.2f} s wall "
        f"{tokens / one.processor:7.1f} tokens/s {len(one.ids) / one.processor:6.2f} requests/s  "
        f"x {one.processor / reference.processor:5.2f}  {answers}",
        flush=True,
    )


@dataclass
class Asked:
    """A set of requests with the most new tokens of each answer."""

    name: str
    requests: list[Request]
    limit: int


class Harness:
    """lm-evaluation-harness in a process of its own."""

    def __init__(self, python: Path, bench: Bench, sets: list[Asked], auto: bool) -> None:
        size = int(bench.batch.get("size", 16))
        self.tasks: dict[str, Path] = {}
        longest = max(self._write(bench, asked) + asked.limit for asked in sets)
        asked = {
            "model": str(bench.folder.resolve()),
            "batch_size": "auto" if auto else size,
            "max_batch_size": size,
            "max_length": longest,
            "tasks": {name: str(path) for name, path in self.tasks.items()},
        }
        file = bench.scratch / f"{bench.name}.lm_eval.json"
        file.write_text(json.dumps(asked), encoding="utf-8")
        self.log = file.with_suffix(".log")
        variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        variables |= {"HF_HOME": str(bench.scratch / "hf"), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [str(python), str(SIDE), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log.open("w"),
            text=True,
            env=variables,
            cwd=bench.scratch,
        )
        self.version = str(self._read()["version"])

    def _write(self, bench: Bench, asked: Asked) -> int:
        """A task folder: YAML and rows; returns the tokens of the longest prompt."""
        name = asked.name
        folder = bench.scratch / f"task_{bench.name}_{name}"
        folder.mkdir()
        longest, rows = 0, []
        for request in asked.requests:
            text = bench.renderer.render(request.messages).text
            longest = max(longest, len(bench.renderer.tokenizer(text)["input_ids"]))
            rows.append({"request_id": request.request_id, "prompt": text, "answer": ""})
        lines = "".join(json.dumps(one) + "\n" for one in rows)
        (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
        task = {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(folder / "rows.jsonl")}},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "prompt",
            "doc_to_target": "answer",
            "num_fewshot": 0,
            "generation_kwargs": {
                "until": [TURN_MARKER] if bench.renderer.is_transcript else [],
                "max_gen_toks": asked.limit,
                "do_sample": False,
                "temperature": 0.0,
            },
            "metric_list": [{"metric": "bypass"}],
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(task), encoding="utf-8")
        self.tasks[name] = folder
        return longest

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"lm_eval ended:\n{self.log.read_text()[-3000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def run(self, name: str) -> tuple[Round, float]:
        """One round of a task, and the processor time of the whole evaluation."""
        assert self.process.stdin is not None
        print(name, file=self.process.stdin, flush=True)
        answer = self._read()
        return Round(answer["processor"], answer["seconds"], {}, answer["texts"]), answer["whole"]

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class Comparison:
    """All sides on one set."""

    def __init__(self, bench: Bench, asked: Asked, harness: Harness | None, unsorted: bool) -> None:
        self.bench, self.asked, self.harness, self.unsorted = bench, asked, harness, unsorted
        given = (asked.requests, asked.limit)
        self.batches = {policy: bench.prepared(policy, *given) for policy in BATCH_POLICIES}
        names = {p: {frozenset(b[2]) for b in found} for p, found in self.batches.items()}
        self.alike = names["left_padded"] == names["shared_prefix"]
        self.whole = 0.0

    def round(self) -> dict[str, Round]:
        """One round of every side."""
        bench, given = self.bench, (self.asked.requests, self.asked.limit)
        found = {
            "generate left_padded": bench.generate(self.batches["left_padded"]),
            "left_padded": bench.ours("left_padded", *given),
            "shared_prefix": bench.ours("shared_prefix", *given),
            "shared_prefix, onednn": bench.ours("shared_prefix", *given, kernels="onednn"),
        }
        found["generate shared_prefix"] = (
            found["generate left_padded"]
            if self.alike
            else bench.generate(self.batches["shared_prefix"])
        )
        if self.unsorted:
            found["left_padded, unsorted"] = bench.ours("left_padded", *given, unsorted=True)
        if self.harness is not None:
            found["lm_eval"], self.whole = self.harness.run(self.asked.name)
        return found

    def report(self, found: dict[str, Round]) -> tuple[dict[str, float], dict[str, float]]:
        """Print a row a side; return the ratios by name, and the seconds of every side."""
        asked, raw = self.asked, found["generate left_padded"]
        tokens = sum(int(b[1].sum()) for b in self.batches["left_padded"])
        batches = [len(self.batches[policy]) for policy in BATCH_POLICIES]
        print(
            f"\n{self.bench.name}, {asked.name}: {len(asked.requests)} requests, {tokens} prompt "
            f"tokens, at most {asked.limit} new ones; batches: {batches[0]} left_padded, "
            f"{batches[1]} shared_prefix"
        )
        for name, one in found.items():
            if name != "lm_eval" and not (name == "generate shared_prefix" and self.alike):
                row(name, one, raw, f"ids equal {equal(one.ids, raw.ids)}")
        shared, fast = found["shared_prefix"], found["shared_prefix, onednn"]
        seconds = {name: one.processor for name, one in found.items()}
        ratios = {
            "overhead left_padded": seconds["left_padded"] / raw.processor,
            "overhead shared_prefix": shared.processor / seconds["generate shared_prefix"],
            "left_padded / shared_prefix": seconds["left_padded"] / shared.processor,
            "torch / onednn": shared.processor / fast.processor,
        }
        if self.unsorted:
            ratios["unsorted / sorted"] = seconds["left_padded, unsorted"] / seconds["left_padded"]
        if self.harness is not None:
            theirs = found["lm_eval"]
            self._texts(theirs, shared)
            ratios["lm_eval / shared_prefix"] = theirs.processor / shared.processor
            ratios["lm_eval / shared_prefix, onednn"] = theirs.processor / fast.processor
        for key, value in ratios.items():
            print(f"    {key}: {value:.3f}")
        return ratios, seconds

    def _texts(self, theirs: Round, ours: Round) -> None:
        """lm_eval's row; its texts against ours, white space at their ends aside."""
        stripped = {key: text.strip() for key, text in theirs.texts.items()}
        mine = {key: text.strip() for key, text in ours.texts.items()}
        row("lm_eval", replace(theirs, ids=ours.ids), ours, f"texts equal {equal(mine, stripped)}")
        print(f"    {self.asked.name}: its whole evaluation {self.whole:.2f} s processor")
        for key in [k for k in mine if mine[k] != stripped[k]][:3]:
            print(f"    {key}: ours {mine[key]!r}, lm_eval {stripped[key]!r}")


def limits_of(config: dict[str, Any]) -> dict[str, int]:
    return {
        name: int(config[benchmark]["decoding"]["max_new_tokens"]["non_thinking"])
        for name, (benchmark, _, _) in SETS.items()
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=["smollm2-135m"])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--batch", type=int, help="rows in a batch; default: the roster's")
    parser.add_argument("--requests", type=int, default=6, help="of each set; 0: all")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--lm-eval", type=Path, default=ROOT / ".venv-lm-eval")
    parser.add_argument("--auto", action="store_true", help="lm_eval finds its batch size")
    parser.add_argument("--unsorted", action="store_true")
    return parser.parse_args()


def sets_of(options: argparse.Namespace, config: dict[str, Any]) -> list[Asked]:
    """The sets that are there, as many requests of each as were asked for."""
    limits = limits_of(config)
    found = []
    for name in options.sets:
        count = options.requests if name != "documents" else (options.requests + 3) // 4
        requests = chosen(options.results, name, count)
        if requests:
            found.append(Asked(name, requests, limits[name]))
        else:
            print(f"{name} is left out: no requests below {options.results} (make paper)")
    return found


def measured(name: str, options: argparse.Namespace, config: dict[str, Any]) -> list[Any]:
    """Ratios and seconds of one model on every set."""
    folder, python = options.results / "models" / name, options.lm_eval / "bin" / "python"
    sets = sets_of(options, config)
    if not (folder / "model.safetensors").is_file():
        print(f"{name} is left out: {folder} holds no converted model (make paper)")
        return []
    with tempfile.TemporaryDirectory() as scratch:
        entry = config["models"][name]
        if options.batch:
            entry = {**entry, "batch": {**entry["batch"], "size": options.batch}}
        bench = Bench(name, entry, folder, Path(scratch))
        harness = Harness(python, bench, sets, options.auto) if python.exists() else None
        out = []
        for asked in sets:
            # What is done once (stop strings, buffers) is done before.
            few = asked.requests[:2]
            bench.generate(bench.prepared("left_padded", few, 3))
            for kernels in KERNELS:
                bench.ours("shared_prefix", few, 3, kernels=kernels)
            comparison = Comparison(bench, asked, harness, options.unsorted)
            rounds = [comparison.round() for _ in range(options.rounds)]
            best = {
                side: min((one[side] for one in rounds), key=lambda one: one.processor)
                for side in rounds[0]
            }
            out.append(comparison.report(best))
        if harness is not None:
            harness.close()
    return out


def main() -> None:
    options, config = arguments(), configuration()
    torch.set_num_threads(1)
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores, one thread")
    if not (options.lm_eval / "bin" / "python").exists():
        print(f"lm_eval is left out: run envs/install_lm_eval.sh {options.lm_eval}")
    every = [pair for name in options.models for pair in measured(name, options, config)]
    print()
    for key in every[0][0] if every else ():
        values = sorted(ratios[key] for ratios, _ in every)
        limit = f" ({LIMITS[key]})" if key in LIMITS else ""
        print(f"{key}: {values[0]:.3f} to {values[-1]:.3f}{limit}")
    for side in every[0][1] if every else ():
        print(f"all sets, {side}: {sum(seconds[side] for _, seconds in every):.2f} s processor")
    print(f"load average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
