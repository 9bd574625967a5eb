"""People's verdicts: a CSV with one row per annotator and judged reply, read strictly."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.files import DataError, iterate_csv
from scripts.judging.verdicts import VERDICTS

COLUMNS = ("model", "mode", "item_id", "annotator", "verdict")
#: Other spellings of a verdict that are read.
_LETTERS = dict(zip("abc", VERDICTS, strict=True))


@dataclass(frozen=True, slots=True)
class Label:
    """One annotator's verdict on the reply of one model in one mode to one item."""

    model: str
    mode: str
    item_id: str
    annotator: str
    verdict: str


def read_labels(path: Path | str, runs: Collection[tuple[str, str]]) -> list[Label]:
    """All labels of a CSV, in file order. `runs` are the (model, mode) pairs that are judged.

    A verdict may also be written in capitals, with blanks, or as the letter A, B or C. Raises
    DataError naming file, row and remedy for other columns, an empty or unknown value, and an
    annotator who labels one reply twice.
    """
    labels: list[Label] = []
    seen: dict[tuple[str, str, str, str], int] = {}
    for number, row in iterate_csv(path, COLUMNS):
        if extra := sorted(set(row) - set(COLUMNS)):
            raise DataError(f"{path}, row 1: unknown column {', '.join(extra)}; remove it")
        label = _label(f"{path}, row {number}", row, runs)
        key = (label.model, label.mode, label.item_id, label.annotator)
        if key in seen:
            raise DataError(
                f"{path}, row {number}: {label.annotator} labels this reply in row {seen[key]} "
                "already; keep one of the two"
            )
        seen[key] = number
        labels.append(label)
    return labels


def _label(where: str, row: Mapping[str, str], runs: Collection[tuple[str, str]]) -> Label:
    values = {name: row[name].strip() for name in COLUMNS}
    empty = [name for name, value in values.items() if not value]
    if empty:
        raise DataError(f"{where}: {', '.join(empty)} empty; fill it in or remove the row")
    written = values["verdict"].lower().replace(" ", "_").replace("-", "_")
    verdict = _LETTERS.get(written, written)
    if verdict not in VERDICTS:
        raise DataError(
            f"{where}: verdict {values['verdict']!r}; use {', '.join(VERDICTS)} or A, B, C"
        )
    if (values["model"], values["mode"]) not in runs:
        raise DataError(
            f"{where}: {values['model']} ({values['mode']}) is not among the judged runs; correct "
            "model and mode as they stand in the configuration"
        )
    return Label(**{**values, "verdict": verdict})
