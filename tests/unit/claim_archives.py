"""Archives of raw replies, what may happen to them, and the statistics that the library makes.

SyntaxBench: the published margins (`config/replay.yaml`) as reply texts. The margins leave open
which words are miscounted; here, as the study has it, those of the most tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd

from scripts import files
from scripts.inference.backends.archive import ArchiveBackend
from scripts.inference.registry import model_spec
from scripts.publishing.claim_tests import Surroundings
from scripts.records import Item, Request
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.build_items import read_materials
from scripts.syntaxbench.items import build_task
from scripts.syntaxbench.prompts import build_requests, load_prompt
from scripts.syntaxbench.replay import PROSE, archive_rows, read_plan
from scripts.syntaxbench.score_index import Settings
from scripts.syntaxbench.scoring import (
    SCORE_DTYPES,
    gather_scores,
    score_responses,
    scores_to_frame,
)
from scripts.syntaxbench.tokens import sample_frame, token_frames

ROOT = Path(__file__).parents[2]
CONFIG = files.read_yaml(ROOT / "config.yaml")
REPLAY = files.read_yaml(ROOT / "config" / "replay.yaml")
BASE, NOTHING = "as published", "nothing was run"
NOT, THINKING = "non_thinking", "thinking"
# Words of so many letters at most are cut into their letters.
SHORT = 4

Run = tuple[str, str]  # model, mode
Row = dict[str, Any]
Archive = dict[Run, list[Row]]


class Pieces:
    """Cuts a word into pieces of three letters, a short one into its letters."""

    fingerprint = "pieces"

    def spans(self, text: str) -> list[tuple[int, int]]:
        size = 1 if len(text) <= SHORT else 3
        return [(i, min(i + size, len(text))) for i in range(0, len(text), size)]

    def counts(self, texts: list[str]) -> list[int]:
        return [len(self.spans(text)) for text in texts]


class Material(NamedTuple):
    """What is asked: items by id, requests, and each item's counterpart in the other condition."""

    items: Mapping[str, Item]
    requests: list[Request]
    twins: Mapping[str, Item]


@cache
def material() -> Material:
    """The items of the paper's size on the shipped corpora."""
    section, roles = CONFIG["syntaxbench"], REPLAY["syntaxbench"]["corpora"]
    corpora = {role: CONFIG["corpora"][name] for role, name in roles.items()}
    paths = {role: ROOT / corpus["path"] for role, corpus in corpora.items()}
    materials = read_materials(SimpleNamespace(**paths), corpora, section["document_words"], True)
    items: list[Item] = []
    requests: list[Request] = []
    for task, options in section["tasks"].items():
        built = build_task(
            task,
            materials,
            count=options["items"],
            demonstrations=section["demonstration_pool"],
            seed=CONFIG["run"]["seed"],
            options=options,
        )
        prompt = load_prompt(ROOT / f"scripts/syntaxbench/prompts/{task}.yaml")
        items += built.items
        requests += build_requests(
            built.items,
            built.demonstrations,
            prompt,
            section["shots"],
            section["decoding"],
            constrained=False,
        )
    return Material({item.item_id: item for item in items}, requests, twins(items))


def twins(items: list[Item]) -> dict[str, Item]:
    """Items of one condition beside those of the other, in the order of their gold answers."""
    found: dict[str, Item] = {}
    for task in {item.task for item in items}:
        halves = [
            sorted(
                (i for i in items if (i.task, i.factors["condition"]) == (task, condition)),
                key=lambda i: (i.gold["answer"], i.item_id),
            )
            for condition in ("english", "random")
        ]
        for one, other in zip(*halves, strict=True):
            found |= {one.item_id: other, other.item_id: one}
    return found


def said(answer: int | str) -> str:
    return json.dumps({"result": answer})


def transferred(text: str, old: Item, new: Item) -> str:
    """A reply to one item as a reply to another: right where it was, as far off where not."""
    before, after = old.gold["answer"], new.gold["answer"]
    if text in ("", PROSE):
        return text
    answer = json.loads(text)["result"]
    if answer == before:
        return said(after)
    if isinstance(before, int):
        return said(after + answer - before)
    return said("no" if after == "yes" else "yes") if before in ("yes", "no") else said("other")


@cache
def published_archive() -> Archive:
    """Rows with the published margins; miscounted English words are those of the most tokens."""
    replay = REPLAY["syntaxbench"]["replay"]
    paths = {name: str(ROOT / replay[name]) for name in ("counts", "names", "parse_errors")}
    items = material().items
    rows = archive_rows(read_plan({**replay, **paths}, CONFIG["run"]["seed"]), [*items.values()])
    return {run: by_tokens(mine) for run, mine in rows.items()}


def is_counted(item: Item) -> bool:
    return item.task == "count_chars" and item.factors["condition"] == "english"


def by_tokens(rows: list[Row]) -> list[Row]:
    """The rows of a run with its right counts of English words given to those of few tokens."""
    items = material().items
    out = [row for row in rows if not is_counted(items[row["item_id"]])]
    for shots in CONFIG["syntaxbench"]["shots"]:
        cell = [
            (row, items[row["item_id"]])
            for row in rows
            if row["setting"]["shots"] == shots and is_counted(items[row["item_id"]])
        ]
        given = sorted(cell, key=lambda pair: (not is_right(*pair), pair[1].item_id))
        asked = sorted((item for _, item in cell), key=lambda i: (tokens(i), i.item_id))
        out += [moved(row, old, new) for (row, old), new in zip(given, asked, strict=True)]
    return out


def tokens(item: Item) -> int:
    return len(Pieces().spans(item.inputs["string"]))


def is_right(row: Row, item: Item) -> bool:
    return bool(row["text"] == said(item.gold["answer"]))


def moved(row: Row, old: Item, new: Item) -> Row:
    """The row as the answer to another item."""
    return {**row, "item_id": new.item_id, "text": transferred(row["text"], old, new)}


# ---- what may happen to the archive ------------------------------------------------------------


def rewritten(change: Callable[[Row, Item], Row], *runs: Run) -> Archive:
    """The archive with every row of some runs (or of all) changed."""
    archive, items = published_archive(), material().items
    return {
        run: [change(row, items[row["item_id"]]) for row in rows]
        if run in (runs or archive)
        else rows
        for run, rows in archive.items()
    }


def exchanged(*pairs: tuple[Run, Run]) -> Archive:
    """Each pair of runs with the archive of the other one."""
    archive = published_archive()
    source = {run: run for run in archive}
    for one, other in pairs:
        source |= {one: other, other: one}
    return {run: archive[source[run]] for run in archive}


def conditions_exchanged() -> Archive:
    twin = material().twins
    return rewritten(lambda row, item: moved(row, item, twin[item.item_id]))


def modes_exchanged() -> Archive:
    """Whoever has both modes has the replies of the other one."""
    thinking = [model for model, mode in published_archive() if mode == THINKING]
    both = [model for model in thinking if (model, NOT) in published_archive()]
    return exchanged(*(((model, NOT), (model, THINKING)) for model in both))


def models_exchanged() -> Archive:
    return exchanged(
        (("qwen3.5-2b", NOT), ("qwen3.5-27b", NOT)),
        (("gpt-oss-20b", THINKING), ("nemotron-cascade-2-31b", THINKING)),
        (("gemma4-31b", THINKING), ("deepseek-r1-32b", NOT)),
    )


def nth(item: Item, every: int) -> bool:
    """Whether an item is one of the same share of all items."""
    return int(item.item_id[-4:], 16) % every == 0


def hard_tasks_easiest() -> Archive:
    """At four shots every span and distance is right, and half of the other replies unreadable."""

    def change(row: Row, item: Item) -> Row:
        if row["setting"]["shots"] < CONFIG["syntaxbench"]["headline_shots"]:
            return row
        if item.task in ("index_to_span", "edit_distance"):
            return {**row, "text": said(item.gold["answer"])}
        return {**row, "text": PROSE} if nth(item, 2) else row

    return rewritten(change)


def english_needs_shots() -> Archive:
    """On English, two thirds without a demonstration are unreadable, and one third with one."""

    def change(row: Row, item: Item) -> Row:
        shots = row["setting"]["shots"]
        read = {0: nth(item, 3), 1: not nth(item, 3)}.get(shots, True)
        return row if read or item.factors["condition"] == "random" else {**row, "text": PROSE}

    return rewritten(change)


def short_words_miscounted() -> Archive:
    """Of English words only the short ones are miscounted, by one."""

    def change(row: Row, item: Item) -> Row:
        if not is_counted(item):
            return row
        return {**row, "text": said(item.gold["answer"] + (len(item.inputs["string"]) <= SHORT))}

    return rewritten(change)


def one_model_not_run() -> Archive:
    return {
        run: [] if run[0] == "qwen3.6-27b" else rows for run, rows in published_archive().items()
    }


def nothing_run() -> Archive:
    return {run: [] for run in published_archive()}


PERTURBATIONS: Mapping[str, Callable[[], Archive]] = {
    BASE: published_archive,
    "English and random exchanged": conditions_exchanged,
    "modes exchanged": modes_exchanged,
    "models exchanged": models_exchanged,
    "hard tasks easiest": hard_tasks_easiest,
    "English needs demonstrations": english_needs_shots,
    "short words miscounted": short_words_miscounted,
    "Qwen3.6-27B not run": one_model_not_run,
    NOTHING: nothing_run,
}


# ---- from replies to statistics ----------------------------------------------------------------


Scored = dict[tuple[Any, ...], pd.DataFrame]


def scored(archive: Archive, folder: Path, known: Scored) -> pd.DataFrame:
    """The scores of an archive: its file through backend, parser and scorer, cell by cell.

    `known` keeps those of the published archive: the very rows score the same, whoever has them.
    """
    parts = []
    requests = by_cell(material().requests, lambda request: request.setting["shots"])
    for run, rows in archive.items():
        mine = by_cell(rows, shots_of)
        for cell, asked in requests.items():
            given = mine.get(cell, [])
            key = (cell, *map(id, given))
            found = known.get(key)
            if found is None:
                found = score_cell(run, asked, given, folder / "archive.jsonl")
            if archive is published_archive() or not given:
                known[key] = found
            parts.append(found.assign(model=run[0], mode=run[1]))
    # Plain text columns: the comparisons look items up five times as fast.
    text = [name for name, kind in SCORE_DTYPES.items() if kind == "str"]
    return gather_scores(parts).astype(dict.fromkeys(text, object))


def by_cell(rows: Sequence[Any], shots: Callable[[Any], int]) -> dict[tuple[str, int], list[Any]]:
    """Requests or rows by task and shots."""
    out: dict[tuple[str, int], list[Any]] = {}
    for row in rows:
        item_id = row["item_id"] if isinstance(row, dict) else row.item_id
        out.setdefault((material().items[item_id].task, shots(row)), []).append(row)
    return out


def shots_of(row: Row) -> int:
    return int(row["setting"]["shots"])


def score_cell(run: Run, asked: list[Request], rows: list[Row], path: Path) -> pd.DataFrame:
    path.write_bytes(b"".join(files.dump_line(row) for row in rows))
    model, mode = run
    spec = model_spec(model, {"backend": "archive", "source": "test", "modes": [mode]}, str(path))
    items = [material().items[request.item_id] for request in asked]
    return scores_to_frame(
        score_responses(items, asked, [*ArchiveBackend(spec, mode).generate(asked)])
    )


def statistics(scores: pd.DataFrame, runs: Sequence[Run]) -> dict[str, pd.DataFrame]:
    """The statistics files of SyntaxBench by stem."""
    section = CONFIG["syntaxbench"]
    models = list(dict.fromkeys(model for model, _ in runs))
    settings = Settings(
        seed=1,
        items={task: options["items"] for task, options in section["tasks"].items()},
        shots=section["shots"],
        models=models,
        baselines=[],
        modes={model: [mode for name, mode in runs if name == model] for model in models},
        families=section["statistics"]["families"],
        resamples=300,
        tolerances=(0, 1),
    )
    bins = section["statistics"]["token_bins"]
    counts = dict.fromkeys(models, samples())
    tokens = token_frames(scores, counts, bins=bins, seed=1, resamples=200)
    return compute_frames(scores, settings) | tokens


@cache
def samples() -> pd.DataFrame:
    return sample_frame(material().items.values(), Pieces())


def surroundings(runs: Sequence[Run]) -> Surroundings:
    models = list(dict.fromkeys(model for model, _ in runs))
    facts = {"models": models, "headline_shots": CONFIG["syntaxbench"]["headline_shots"]}
    return Surroundings(facts, tuple(models))
