"""The table that joins the benchmarks: what each of them says about one model's tokeniser.

SyntaxBench gives characters per token of English words and random strings, MultiTempBench the
multilingual date fragmentation ratio (mDFR), TIDE the tokens that a Bengali word costs beside an
English one. A benchmark outside the run has no column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scripts.publishing import captions
from scripts.publishing.layouts import check_columns
from scripts.publishing.tables import Cell, Column, Row, Table, absent, decimal, number

#: The statistics file that each benchmark gives.
FRAMES = {"syntaxbench": "tokens_summary", "multitempbench": "mdfr", "tide": "tokens"}
#: Benchmark to columns: key, title, group, digits.
COLUMNS: dict[str, tuple[tuple[str, str, int], ...]] = {
    "syntaxbench": (("english", "English", 2), ("random", "random", 2)),
    "multitempbench": (("mdfr_en", "English", 2), ("mdfr", "all", 2)),
    "tide": (("tax_words", "per word", 2), ("tax_characters", "per character", 2)),
}
GROUPS = {
    "syntaxbench": "Characters per token",
    "multitempbench": "mDFR",
    "tide": "Bengali\u2013English token tax",
}
#: What the columns of a benchmark are, for the caption.
MEANINGS = {
    "syntaxbench": "SyntaxBench: characters per token of its strings",
    "multitempbench": "MultiTempBench: mean date fragmentation (0: dates stay whole)",
    "tide": "TIDE: tokens of a Bengali word or character of its documents over those of an "
    "English one (1: no tax)",
}


def inputs(results: str, benchmarks: Sequence[str]) -> dict[str, str]:
    """Named inputs of the rule: benchmark to statistics file."""
    return {name: f"{results}/{name}/statistics/{FRAMES[name]}.csv" for name in benchmarks}


def values(frames: Mapping[str, pd.DataFrame]) -> dict[tuple[str, str], float]:
    """(model, column key) to value, from the statistics files by benchmark.

    Characters per token: mean over tasks, each sample weighing the same. mDFR: unweighted mean over
    languages of the means over calendars.
    """
    out: dict[tuple[str, str], float] = {}
    if "syntaxbench" in frames:
        frame = _checked("tokens_summary", frames["syntaxbench"], "model condition n")
        check_columns("tokens_summary", frame, ("characters_per_token",))
        weighted = frame.assign(total=frame["characters_per_token"] * frame["n"])
        sums = weighted.groupby(["model", "condition"], as_index=False)[["total", "n"]].sum()
        for each in sums.to_dict("records"):
            out[str(each["model"]), str(each["condition"])] = float(each["total"] / each["n"])
    if "multitempbench" in frames:
        frame = _checked("mdfr", frames["multitempbench"], "model language calendar mdfr")
        means = frame.dropna(subset=["mdfr"]).groupby(["model", "language"])["mdfr"].mean()
        for model, part in means.groupby(level="model"):
            by_language = part.droplevel("model")
            out[str(model), "mdfr"] = float(by_language.mean())
            if "en" in by_language.index:
                out[str(model), "mdfr_en"] = float(by_language["en"])
    if "tide" in frames:
        frame = _checked("tokens", frames["tide"], "model tax_words tax_characters")
        for each in frame.to_dict("records"):
            for key in ("tax_words", "tax_characters"):
                if pd.notna(each[key]):
                    out[str(each["model"]), key] = float(each[key])
    return out


def build(entries: Sequence[Mapping[str, Any]], frames: Mapping[str, pd.DataFrame]) -> Table:
    """One row a model of the roster that any benchmark has a value for."""
    found = values(frames)
    shown = [(b, *column) for b in COLUMNS if b in frames for column in COLUMNS[b]]
    columns = tuple(Column(key, title, GROUPS[b]) for b, key, title, _ in shown)
    rows = []
    for entry in entries:
        name = str(entry["name"])
        if not any((name, key) in found for _, key, _, _ in shown):
            continue
        cells: list[Cell] = []
        for benchmark, key, _, digits in shown:
            if benchmark not in entry["benchmarks"]:
                cells.append(absent("the model does not answer this benchmark"))
            else:
                cells.append(_cell(found.get((name, key)), digits))
        rows.append(Row((str(entry["label"]),), tuple(cells)))
    said = [MEANINGS[benchmark] for benchmark in COLUMNS if benchmark in frames]
    return Table(
        "shared_axis",
        f"One tokenizer seen by every benchmark of the run. {'; '.join(said)}.",
        ("Model",),
        columns,
        tuple(rows),
        short_caption="Tokenizers across the benchmarks",
    )


def _cell(value: float | None, digits: int) -> Cell:
    return number(value, lambda v: decimal(v, digits), reason=captions.NOT_ESTIMATED)


def _checked(name: str, frame: pd.DataFrame, columns: str) -> pd.DataFrame:
    check_columns(name, frame, columns.split())
    return frame
