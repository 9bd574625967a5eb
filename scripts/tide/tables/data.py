"""Tables about the data: question pairs, documents, how well they were read, and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scripts.documents.fidelity import CHOSEN
from scripts.documents.manifest import TYPES
from scripts.publishing import captions
from scripts.publishing.captions import Context
from scripts.publishing.layouts import Frames, Lookup, caption, check_columns, rows_of, value_of
from scripts.publishing.tables import (
    Cell,
    Column,
    Row,
    Table,
    absent,
    decimal,
    is_missing,
    number,
    percent,
    whole,
)
from scripts.publishing.text import shorten, visible
from scripts.tide import wording
from scripts.tide.construction.generation import PER_TASK
from scripts.tide.documents.complexity import COLUMNS as COMPLEXITY_COLUMNS
from scripts.tide.documents.complexity import MINORITY_SHARE, TARIFF_CODES, summarise
from scripts.tide.tasks import TASKS
from scripts.tide.wording import ALL, named

CSV_CHARACTERS = 2000
CALENDAR_CHARACTERS = 160
NO_TEXT = "no document of this kind has such text"
TYPE_LABELS = {"Act": "Acts", "Rule": "Rules", "SRO": "SROs", "GO": "General Orders"}


def two(value: float) -> str:
    """Two decimals."""
    return decimal(value, 2)


def rounded(value: float) -> str:
    """A whole number with commas between thousands."""
    return f"{value:,.0f}"


# ---- question pairs ----------------------------------------------------------------------------


def dataset(frames: Frames, context: Context) -> Table:
    """Table 2: pairs, threads, clauses and lengths of every task."""
    frame = frames["dataset"]
    counts = ("pairs", "threads", "clusters", "clauses")
    lengths = ("input_characters", "answer_characters")
    check_columns("dataset", frame, ("task", *counts, *lengths, "dated", "unread"))
    rows = []
    for row in rows_of(frame):
        total = row["task"] == ALL
        cells = [whole(row[name]) for name in counts]
        cells += [number(row[name], rounded, reason="no pair of this task") for name in lengths]
        cells += [whole(row["dated"]), whole(row["unread"])]
        label = "All tasks" if total else wording.task_label(row["task"])
        rows.append(Row((label,), tuple(cells)))
    total_row = Lookup("dataset", frame, ("task",)).get(ALL)
    return Table(
        named("dataset"),
        caption(
            context,
            f"What TIDE holds in this run: {_pairs(total_row)} from {context.options['corpus']}.",
        ),
        ("Task",),
        (
            Column("pairs", "Pairs", align="r"),
            Column("threads", "Threads", align="r"),
            Column("clusters", "Clusters", align="r"),
            Column("clauses", "Clauses", align="r"),
            Column("input_characters", "Input", "Mean characters", "r"),
            Column("answer_characters", "Answer", "Mean characters", "r"),
            Column("dated", "With a date", align="r"),
            Column("unread", "Page unread", align="r"),
        ),
        tuple(rows),
        (
            "Threads, clusters and clauses are those that the pairs are about and cite; one thread "
            "gives pairs of several tasks. Characters are code points, Bengali included. With a "
            "date: pairs whose gold answer states a date that an answer must give. Page unread: "
            "pairs about a document of which a page could not be read; that page is missing from "
            "what a model is shown.",
        ),
        short_caption="What TIDE holds",
    )


def _pairs(row: Mapping[str, Any] | None) -> str:
    pairs = value_of(row, "pairs")
    return "question pairs" if is_missing(pairs) else captions.counted(int(pairs), "question pair")


def generation(frames: Frames, context: Context) -> Table:
    """Question pairs that were kept, and those that each check dropped, by task."""
    frame = frames["generation"]
    check_columns("generation", frame, ("task", "kept", "check"))
    kept = frame["kept"].astype(str).str.lower() == "true"
    check = frame["check"].astype("object").fillna("").astype(str)
    proposed = int((frame["index"] > 0).sum()) if "index" in frame.columns else len(frame)

    def counts(mask: pd.Series[bool]) -> tuple[Cell, ...]:
        found = frame["task"][mask].value_counts()
        cells = [whole(int(found.get(task, 0))) for task in TASKS]
        return (*cells, whole(int(mask.sum())))

    rows = [Row(("used",), counts(kept), "Kept")]
    if (check == PER_TASK).any():
        rows.append(Row(("passed, beyond the limit of a task",), counts(check == PER_TASK), "Kept"))
    names = sorted({str(name) for name in check[~kept] if name and name != PER_TASK})
    rows += [
        Row((name.replace("_", " "),), counts((check == name) & ~kept), "Dropped by check")
        for name in names
    ]
    if not names:
        rows.append(Row(("any",), counts(kept & ~kept), "Dropped by check"))
    return Table(
        named("generation"),
        caption(
            context,
            "Question pairs that were kept and dropped, by the first check that a pair failed: "
            f"n = {captions.count(proposed)} pairs, and "
            f"{captions.counted(len(frame) - proposed, 'call')} without one. Source of the pairs: "
            f"{_method_words(context)}.",
        ),
        ("Check",),
        (
            *(Column(task, wording.SHORT_TASKS[task], align="r") for task in TASKS),
            Column(ALL, "All", align="r"),
        ),
        tuple(rows),
        (
            "Every date, rate, amount and instrument of a gold answer must stand in a cited "
            "clause; the other checks are those of a task's own rules (docs/construction.md).",
        ),
        layout="long" if len(rows) > 24 else "portrait",
        size="scriptsize",
        short_caption="Question pairs kept and dropped",
    )


def _method_words(context: Context) -> str:
    shipped = context.options.get("method") == "shipped"
    return "a file of shipped pairs" if shipped else "a language model"


def verification(frames: Frames, context: Context) -> Table:
    """Table 7: two experts' ratings of the pairs before repair, and what was repaired."""
    frame = frames["verification"]
    shares = ("three", "two", "one")
    repairs = ("repaired", "replaced", "unrepaired")
    check_columns("verification", frame, ("task", "n", *shares, "mean", "kappa", "flag"))
    rows = []
    for row in rows_of(frame):
        reason = wording.why(row)
        cells = [whole(row["n"], reason=reason)]
        cells += [number(row[name], percent, reason=reason) for name in shares]
        cells += [number(row["mean"], two, reason=reason), number(row["kappa"], two, reason=reason)]
        cells += [whole(value_of(row, name), reason=reason) for name in repairs]
        total = row["task"] == ALL
        label = "All tasks" if total else wording.task_label(row["task"])
        rows.append(Row((label,), tuple(cells)))
    return Table(
        named("verification"),
        caption(
            context,
            "Experts' verification of the question pairs on the first pass, before repair: share "
            "(%) of the ratings at each level, averaged over two raters; "
            f"{wording.n_words(frame['n'].tail(1), 'pairs')} rated by both.",
        ),
        ("Task",),
        (
            Column("n", "n", align="r"),
            *(
                Column(name, title, "Rating", "r")
                for name, title in zip(shares, "321", strict=True)
            ),
            Column("mean", "Mean", align="r"),
            Column("kappa", "κ", align="r"),
            *(Column(name, name.capitalize(), "Pairs below 3", "r") for name in repairs),
        ),
        tuple(rows),
        (
            "3: correct; 2: partly correct, repaired in place; 1: incorrect, replaced by a new "
            "pair on the same thread. κ: Cohen's, unweighted.",
        ),
        size="scriptsize",
        short_caption="Experts' verification of the pairs",
    )


# ---- documents ---------------------------------------------------------------------------------

_SHARES = (
    ("both_scripts", "Both scripts"),
    ("bilingual", "Bilingual"),
    ("both_digits", "Both digits"),
    ("both_calendars", "Both calendars"),
    ("cites_section", "Cites a section"),
    ("has_hs_code", "H.S. codes"),
    ("tariff", "Tariff"),
)


def complexity(frames: Frames, context: Context) -> Table:
    """Table 5: how long, mixed and dense the documents are, by type."""
    frame = frames["complexity"]
    check_columns("complexity", frame, COMPLEXITY_COLUMNS)
    rows = []
    for row in rows_of(summarise(frame)):
        whole_row = row["document_type"] == ALL
        cells = [whole(row["documents"]), whole(row["pages"])]
        cells += [
            number(row[name], rounded, reason=NO_TEXT)
            for name in ("pages_median", "words_median", "words_maximum")
        ]
        cells.append(number(row["english_words_median"], percent, reason=NO_TEXT))
        cells += [number(row[name], percent, reason=NO_TEXT) for name, _ in _SHARES]
        cells += [whole(row["tables"])]
        name = str(row["document_type"])
        label = "All documents" if whole_row else TYPE_LABELS.get(name, name)
        rows.append(Row((label,), tuple(cells)))
    unknown = sorted({str(name) for name in frame["document_type"]} - set(TYPES))
    notes = [
        "Words: median and longest document. Eng.: median over documents of the share of English "
        "words among those with a script. Other shares are of documents; bilingual: of those with "
        f"both scripts, the rarer one has more than {percent(MINORITY_SHARE, 0)} % of the words. "
        f"Tariff: {TARIFF_CODES} H.S. codes or more.",
        "Documents that could not be read count with no words.",
    ]
    notes += [f"Of an unknown type, in the last row only: {', '.join(unknown)}."] if unknown else []
    return Table(
        named("complexity"),
        caption(
            context,
            f"Complexity of the documents by type ({context.options['corpus']}, "
            f"n = {captions.count(len(frame))} documents).",
        ),
        ("Type",),
        (
            Column("documents", "n", align="r"),
            Column("pages", "all", "Pages", "r"),
            Column("pages_median", "med.", "Pages", "r"),
            Column("words_median", "med.", "Words", "r"),
            Column("words_maximum", "max.", "Words", "r"),
            Column("english_words_median", "Eng.", "Share (%)", "r"),
            *(Column(name, title, "Share (%)", "r") for name, title in _SHARES),
            Column("tables", "Tables", align="r"),
        ),
        tuple(rows),
        tuple(notes),
        size="scriptsize",
        short_caption="Complexity of the documents",
    )


def fidelity(frames: Frames, context: Context) -> Table:
    """Error rates of every engine and of the pipeline's choice, by kind of text layer."""
    frame = frames["fidelity"]
    check_columns("fidelity", frame, ("layer", "engine", "words", "wer", "cer", "cells", "status"))
    rows = []
    layers = [*wording.LAYER_LABELS, *sorted(set(frame["layer"]) - set(wording.LAYER_LABELS))]
    for layer in layers:
        part = frame[frame["layer"] == layer]
        engines = [name for name in wording.ENGINE_LABELS if (part["engine"] == name).any()]
        engines += sorted(set(part["engine"]) - set(engines))
        for engine in engines:
            mine = part[part["engine"] == engine]
            label = wording.ENGINE_LABELS.get(engine, engine)
            rows.append(Row((label,), _fidelity_cells(mine), _layer_block(layer)))
    chosen = frame[frame["engine"] == CHOSEN]
    flagged = int((chosen["status"] == "needs_ocr").sum())
    return Table(
        named("fidelity"),
        caption(
            context,
            "How near the text of a page is to the corrected one: every engine, and what the "
            f"pipeline kept, by kind of text layer; n = {captions.count(len(chosen))} pages with a "
            f"corrected text, {captions.count(flagged)} of which were listed as needing optical "
            "character recognition.",
        ),
        ("Engine",),
        (
            Column("pages", "Pages", align="r"),
            Column("flagged", "Listed", align="r"),
            Column("wer", "WER", "Error rate (%)", "r"),
            Column("cer", "CER", "Error rate (%)", "r"),
            Column("worst", "worst WER", "Error rate (%)", "r"),
            Column("cells", "Table cells", "Right", "r"),
            Column("dates", "Dates", "Right", "r"),
        ),
        tuple(rows),
        (
            "WER, CER: edits between words and characters over those of the corrected text, pooled "
            "over pages; the worst page beside them. Listed: pages whose text was not trusted and "
            "is not used, instead of a text with errors.",
            parsing_words(frames["parsing"]),
        ),
        layout="long" if len(rows) > 30 else "portrait",
        size="scriptsize",
        short_caption="Fidelity of the parsed text",
    )


def _layer_block(layer: str) -> str:
    return wording.LAYER_LABELS.get(layer, layer)


NOT_USED = "no text: every such page is listed as needing optical character recognition"


def _fidelity_cells(part: pd.DataFrame) -> tuple[Cell, ...]:
    """Pooled rates of one engine on one kind of layer; pages without a rate are listed."""
    read = part[part["wer"].notna() & part["cer"].notna()]
    listed = int((part["status"] == "needs_ocr").sum())
    cells = [whole(len(part)), whole(listed)]
    words, characters = float(read["words"].sum()), float(read["characters"].sum())
    if words and characters:
        rates = [
            float((read["wer"] * read["words"]).sum()) / words,
            float((read["cer"] * read["characters"]).sum()) / characters,
            float(read["wer"].max()),
        ]
        cells += [number(rate, lambda v: percent(v, 2)) for rate in rates]
    else:
        cells += [absent(NOT_USED)] * 3
    for name in ("cells", "dates"):
        total, right = int(part[name].sum()), int(part[f"{name}_right"].sum())
        if total:
            cells.append(Cell(right, f"{captions.count(right)} of {captions.count(total)}"))
        else:
            cells.append(
                absent(f"no {'table cells' if name == 'cells' else 'dates'} on such pages")
            )
    return tuple(cells)


def parsing_words(frame: pd.DataFrame) -> str:
    """What became of the pages of the whole corpus, and which engine's text was kept."""
    check_columns("parsing", frame, ("document", "page", "status", "engine"))
    pages = frame[frame["page"].notna() & (frame["page"].astype(str) != "")]
    status = frame["status"].astype(str).value_counts()
    parts = [
        f"{captions.count(int(status[name]))} {words}"
        for name, words in wording.STATUS_LABELS.items()
        if name in status.index
    ]
    used = pages[~pages["status"].isin(["needs_ocr", "empty", "failed"])]
    engines = used["engine"].dropna().astype(str).value_counts()
    kept = [
        f"{wording.ENGINE_LABELS.get(str(name), str(name))} on {captions.count(int(count))}"
        for name, count in sorted(engines.items(), key=lambda pair: (-pair[1], str(pair[0])))
    ]
    words = (
        f"Whole corpus: {captions.count(len(pages))} pages of "
        f"{captions.counted(frame['document'].nunique(), 'document')}"
    )
    words += f"; {captions.join_words(parts)}." if parts else "."
    return words + (f" Text kept: {captions.join_words(kept)}." if kept else "")


def two_calendars(frames: Frames, context: Context) -> Table:
    """Places that state a date in both calendars, where the two do not agree."""
    frame = frames["two_calendars"]
    check_columns("two_calendars", frame, ("document", "text", "converted", "agrees", "note"))
    agrees = frame["agrees"].astype(str).str.lower() == "true"
    rows = []
    for row in rows_of(frame[~agrees]):
        texts = [
            _text_cell(row[name], limit)
            for name, limit in (
                ("text", CALENDAR_CHARACTERS),
                ("gregorian", 30),
                ("converted", 30),
                ("note", CALENDAR_CHARACTERS),
            )
        ]
        rows.append(Row((shorten(visible(str(row["element_id"])), 60),), tuple(texts)))
    return Table(
        named("two_calendars"),
        caption(
            context,
            "Dates that a document states in both calendars and that contradict each other: "
            f"{captions.count(len(rows))} of n = {captions.count(len(frame))} such places in "
            f"{captions.counted(frame['document'].nunique(), 'document')}.",
        ),
        ("Place",),
        (
            Column("text", "As printed", align="P{4.2cm}"),
            Column("gregorian", "Gregorian", align="P{1.7cm}"),
            Column("converted", "Bangla, converted", align="P{1.7cm}"),
            Column("note", "Finding", align="P{3.0cm}"),
        ),
        tuple(rows),
        (
            "A contradiction stands in the document itself; both days are kept, and an answer that "
            "gives either is not corrected by the pipeline.",
        ),
        layout="long" if len(rows) > 12 else "portrait",
        stub_align="P{3.3cm}",
        size="scriptsize",
        short_caption="Dates that contradict each other",
    )


def _text_cell(value: object, limit: int) -> Cell:
    """A cell with text of a document: nothing hidden, cut for print."""
    if is_missing(value) or not str(value):
        return absent("no such day can be read")
    seen = visible(str(value))
    return Cell(shorten(seen, CSV_CHARACTERS), shorten(seen, limit))


# ---- tokens ------------------------------------------------------------------------------------

_TOKENS = (
    ("bengali_per_character", "Bengali", "Tokens a character"),
    ("english_per_character", "English", "Tokens a character"),
    ("bengali_per_word", "Bengali", "Tokens a word"),
    ("english_per_word", "English", "Tokens a word"),
    ("tax_characters", "character", "Tax"),
)
NO_TOKENISER = "no tokeniser of this model at hand"


def tokens(frames: Frames, context: Context) -> Table:
    """What a Bengali word costs beside an English one, by model."""
    frame = frames["tokens"]
    check_columns("tokens", frame, ("model", "tax_words", "n", *(name for name, *_ in _TOKENS)))
    lookup = Lookup("tokens", frame, ("model",))
    rows = []
    for model in context.models:
        row = lookup.get(model.key)
        reason = wording.why(row) if value_of(row, "n") else NO_TOKENISER
        cells = [number(value_of(row, name), two, reason=reason) for name, *_ in _TOKENS]
        cells.append(
            number(
                value_of(row, "tax_words"),
                two,
                low=value_of(row, "tax_words_low"),
                high=value_of(row, "tax_words_high"),
                reason=reason,
                extra=tuple((name, value_of(row, name)) for name in ("tokeniser", "n")),
            )
        )
        cells.append(number(value_of(row, "characters_per_token"), two, reason=reason))
        rows.append(Row((model.label,), tuple(cells)))
    counted = [value for value in frame["n"] if not is_missing(value) and int(value)]
    return Table(
        named("tokens"),
        caption(
            context,
            "Tokens that the tokenisers spend on the Bengali and the English words of the "
            f"documents; {wording.n_words(counted, 'clauses and metadata items')}.",
        ),
        ("Model",),
        (
            *(Column(name, title, group, "r") for name, title, group in _TOKENS),
            Column("tax_words", "word", "Tax"),
            Column("characters_per_token", "Characters a token", align="r"),
        ),
        tuple(rows),
        (
            "Tax: tokens of a Bengali character or word over those of an English one. "
            f"Below the tax of a word: {captions.level_words(context)} percentile bootstrap over "
            f"clauses ({captions.count(context.resamples)} resamples, seed {context.seed}).",
        ),
        size="scriptsize",
        short_caption="What a Bengali word costs",
    )
