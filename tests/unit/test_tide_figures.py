"""The figures of TIDE: print size, a reason where empty, the same bytes, counts of the run."""

from __future__ import annotations

import hashlib
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import tide_frames

from scripts import files
from scripts.publishing import figures as style
from scripts.publishing.captions import Context
from scripts.publishing.figures import Drawing
from scripts.tide import artefacts, figures, make_figure
from scripts.tide.tasks import TASKS

Runs = dict[str, tuple[dict[str, pd.DataFrame], Context]]
CONFUSION = tuple(f"perturbation_confusion_{k}" for k in ("parametric", "rag", "icl"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    out = {}
    for kind in ("full", "holes", "embedded"):
        roster = "embedded" if kind == "embedded" else "full"
        folder = tmp_path_factory.mktemp(kind)
        frames = {}
        for name, frame in tide_frames.frames(roster, holes=kind == "holes").items():
            files.write_csv(folder / f"{name}.csv", frame)
            frames[name] = files.read_csv(folder / f"{name}.csv")
        out[kind] = (frames, Context.from_params(tide_frames.params(roster)))
    return out


def draw(name: str, frames: dict[str, pd.DataFrame], context: Context) -> Drawing:
    needed = {key: frames[key] for key in artefacts.FIGURES[name]}
    with style.style():
        return figures.build(name, needed, context)


def texts(drawing: Drawing) -> list[str]:
    return [t.get_text() for t in drawing.figure.findobj(mpl.text.Text) if t.get_text().strip()]


@pytest.mark.parametrize("kind", ["full", "holes", "embedded"])
@pytest.mark.parametrize("name", sorted(artefacts.FIGURES))
def test_every_figure_is_drawn_at_print_size(runs: Runs, kind: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = draw(name, *runs[kind])
    assert not drawing.reason and drawing.name == f"tide_{name}"
    assert drawing.figure.get_figwidth() <= style.TEXT_WIDTH
    assert drawing.figure.get_figheight() <= style.MAX_HEIGHT
    assert drawing.caption and not re.search(r"\bnan\b", drawing.caption)
    assert ("Embedded run" if kind == "embedded" else "Full run") in drawing.caption
    found = [t for t in drawing.figure.findobj(mpl.text.Text) if t.get_text().strip()]
    assert min(t.get_fontsize() for t in found) >= 6.5
    assert not any("nan" in t.get_text() for t in found)


@pytest.mark.parametrize("kind", ["full", "embedded"])
@pytest.mark.parametrize("name", sorted(artefacts.FIGURES))
def test_cropping_cuts_nothing_off(runs: Runs, kind: str, name: str) -> None:
    frames, context = runs[kind]
    with style.style():
        figure = figures.build(name, frames, context).figure
        box = style.cropped(figure)
        drawn = figure.get_tightbbox()
    assert box.x0 <= drawn.x0 + 0.02 and drawn.x1 <= box.x1 + 0.02
    assert box.y0 <= drawn.y0 + 0.02 and drawn.y1 <= box.y1 + 0.02


def test_names_in_the_registry_have_a_builder() -> None:
    assert set(artefacts.FIGURES) == set(figures.BUILDERS)


@pytest.mark.parametrize("name", sorted(set(artefacts.FIGURES) - {"construction"}))
def test_no_rows_give_a_figure_that_says_so(runs: Runs, name: str) -> None:
    frames, context = runs["full"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = draw(name, {key: frame.head(0) for key, frame in frames.items()}, context)
        with style.style():
            style.cropped(drawing.figure)
    assert drawing.reason and drawing.reason in texts(drawing)
    assert drawing.caption.endswith(drawing.reason)


# ---- construction ------------------------------------------------------------------------------


def test_the_construction_has_the_counts_of_the_run(runs: Runs) -> None:
    frames, context = runs["embedded"]
    boxes = dict(figures.construction_boxes(frames, context))
    assert boxes["1 Documents"].startswith("15 documents, 28 pages")
    assert "8 listed as unread" in boxes["2 Records"] and "vision" not in boxes["2 Records"]
    kept = int(frames["generation"]["kept"].sum())
    beyond = int((frames["generation"]["check"] == "per_task").sum())
    words = boxes["6 Question pairs"]
    assert f"216 from a file of checked pairs, {216 - kept - beyond} dropped by checks" in words
    assert f"{beyond} beyond the limit" in words
    assert boxes["7 Items"] == "16 pairs in 8 tasks, 32 clauses cited"
    assert "0.90 or more" in boxes["4 Clusters"]
    full = dict(figures.construction_boxes(*runs["full"]))
    assert full["6 Question pairs"].startswith("216 proposed by eight generators")
    assert "beyond" not in full["6 Question pairs"]
    assert "Whole corpus: 28 pages" in draw("construction", frames, context).caption


def test_the_construction_of_nothing_has_zeros(runs: Runs) -> None:
    frames, context = runs["embedded"]
    nothing = {key: frame.head(0) for key, frame in frames.items()}
    boxes = dict(figures.construction_boxes(nothing, context))
    assert boxes["1 Documents"].startswith("no documents, no pages")
    assert boxes["7 Items"] == "0 pairs in 8 tasks, 0 clauses cited"


@pytest.mark.parametrize("kind", ["full", "embedded"])
def test_every_text_lies_inside_its_box(runs: Runs, kind: str) -> None:
    drawing = draw("construction", *runs[kind])
    with style.style():
        drawing.figure.draw_without_rendering()
    boxes = [
        patch.get_window_extent()
        for patch in drawing.figure.findobj(mpl.patches.FancyBboxPatch)
        if not isinstance(patch, mpl.patches.FancyArrowPatch)
    ]
    found = [t for t in drawing.figure.findobj(mpl.text.Text) if t.get_text().strip()]
    assert len(boxes) == 8 and len(found) == 16
    for text in found:
        inner = text.get_window_extent()
        assert any(
            box.x0 <= inner.x0 and inner.x1 <= box.x1 and box.y0 <= inner.y0 and inner.y1 <= box.y1
            for box in boxes
        ), text.get_text()


# ---- code-mixing -------------------------------------------------------------------------------


def test_documents_are_chosen_evenly_and_counted(runs: Runs) -> None:
    frames, context = runs["full"]
    shown = figures.shown_documents(frames["complexity"])
    assert len(shown) == figures.MOST_DOCUMENTS
    assert shown["share"].is_monotonic_increasing
    everything = frames["complexity"][frames["complexity"]["words"] > 0]
    share = everything["english_words"] / everything["words"]
    assert (shown["share"].iloc[0], shown["share"].iloc[-1]) == (share.min(), share.max())
    caption = draw("code_mixing", frames, context).caption
    assert "n = 30 of 44 documents, evenly spaced" in caption
    assert "one without" in caption.replace("1 without", "one without")
    small = draw("code_mixing", *runs["embedded"])
    assert "evenly" not in small.caption and "n = 13 of 14 documents" in small.caption


def test_bars_of_a_document_fill_the_axis_or_say_why_not(runs: Runs) -> None:
    frames, context = runs["embedded"]
    changed = frames["complexity"].assign(bengali_digits=0, ascii_digits=0)
    drawing = draw("code_mixing", {"complexity": changed}, context)
    left, right = drawing.figure.axes[:2]
    ends = [patch.get_x() + patch.get_width() for patch in left.patches]
    assert max(ends) == pytest.approx(1)
    assert sum(patch.get_width() for patch in right.patches) == 0
    assert [t.get_text() for t in right.texts] == ["–"] * 13


def test_a_name_of_a_document_hides_nothing(runs: Runs) -> None:
    frames, context = runs["embedded"]
    changed = frames["complexity"].assign(document=lambda f: "\u202e" + f["document"] + "x" * 40)
    drawing = draw("code_mixing", {"complexity": changed}, context)
    labels = [t.get_text() for t in drawing.figure.axes[0].get_yticklabels()]
    assert all(label.startswith("<U+202E>") and len(label) <= 24 for label in labels)


# ---- accuracy ----------------------------------------------------------------------------------


def test_bars_are_means_over_models_without_baselines(runs: Runs) -> None:
    frames, context = runs["full"]
    drawing = draw("tasks_by_setting", frames, context)
    axes = drawing.figure.axes[0]
    frame = frames["accuracy"]
    mine = frame[frame["model"].isin(context.model_keys()) & (frame["knowledge"] == "parametric")]
    means = [mine[mine["task"] == task]["strict"].mean() for task in (*TASKS, "all")]
    bars = [patch.get_height() for patch in axes.patches][: len(means)]
    assert bars == pytest.approx(means)
    diamonds = [line for line in axes.get_lines() if line.get_marker() == "D"]
    graded = mine[mine["task"] == "event_sorting"]["graded"].mean()
    assert len(diamonds) == 3 and diamonds[0].get_ydata()[0] == pytest.approx(graded)
    assert "Dots" in drawing.caption and "n = 96" in drawing.caption


def test_a_task_that_was_not_answered_is_a_dash(runs: Runs) -> None:
    frames, context = runs["full"]
    frame = frames["accuracy"].copy()
    frame.loc[frame["task"] == "open_ended", ["strict", "partial"]] = np.nan
    drawing = draw("tasks_by_setting", {"accuracy": frame}, context)
    assert texts(drawing).count("–") == 3


def test_every_model_has_three_points_with_intervals(runs: Runs) -> None:
    frames, context = runs["full"]
    drawing = draw("macro_by_model", frames, context)
    axes = drawing.figure.axes[0]
    labels = [t.get_text() for t in axes.get_yticklabels()]
    assert labels[0] == "Qwen3.6-35B" and labels[-1] == "Gold answer" and len(labels) == 15
    bars = [line for line in axes.get_lines() if len(line.get_xdata()) == 2]
    frame = frames["accuracy"]
    row = frame[(frame["model"] == "qwen3.6-35b") & (frame["task"] == "all")].iloc[0]
    assert row["knowledge"] == "parametric"
    assert list(bars[0].get_xdata()) == pytest.approx([row["strict_low"], row["strict_high"]])
    lost = frame.copy()
    lost.loc[(lost["model"] == "glm-4.6") & (lost["knowledge"] == "icl"), "strict"] = np.nan
    assert "–" in texts(draw("macro_by_model", {"accuracy": lost}, context))


# ---- perturbation ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFUSION)
def test_a_matrix_a_model_with_shares_of_its_rows(runs: Runs, name: str) -> None:
    frames, context = runs["full"]
    drawing = draw(name, frames, context)
    shown = [axes for axes in drawing.figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == [model.label for model in context.models]
    knowledge = name.rsplit("_", 1)[-1]
    frame = frames["perturbation"]
    row = frame[(frame["model"] == "kimi-k2.5") & (frame["knowledge"] == knowledge)].iloc[0]
    values = [t.get_text() for t in shown[3].texts]
    assert values[0] == f"{100 * row['detection']:.1f}%\n({row['true_positive']})"
    assert values[3] == f"{100 * row['specificity']:.1f}%\n({row['true_negative']})"
    assert "n = 12 statements, 6 of them altered" in drawing.caption
    small = draw(name, *runs["embedded"])
    assert small.figure.get_figwidth() < style.TEXT_WIDTH and small.width.endswith("in")


def test_statements_of_one_kind_leave_a_row_empty(runs: Runs) -> None:
    frames, context = runs["full"]
    frame = frames["perturbation"].assign(false_positive=0, true_negative=0)
    frame.loc[frame["model"] == "gpt-5.2", "n"] = 0
    drawing = draw(CONFUSION[1], {"perturbation": frame}, context)
    panels = {axes.get_title(): [t.get_text() for t in axes.texts] for axes in drawing.figure.axes}
    assert panels["Kimi-K2.5"][2:] == ["–", "–"] and "%" in panels["Kimi-K2.5"][0]
    assert panels["GPT-5.2"] == ["–"] * 4


# ---- files -------------------------------------------------------------------------------------


def test_the_same_statistics_give_the_same_bytes(runs: Runs, tmp_path: Path) -> None:
    frames, _ = runs["embedded"]
    inputs = {}
    for key in artefacts.FIGURES["construction"]:
        inputs[key] = tmp_path / f"{key}.csv"
        files.write_csv(inputs[key], frames[key])
    seen = []
    for turn in ("a", "b"):
        output = SimpleNamespace(
            **{end: tmp_path / f"{turn}.{end}" for end in ("pdf", "png", "tex")}
        )
        job = SimpleNamespace(
            input=inputs,
            output=output,
            params=SimpleNamespace(context=tide_frames.params("embedded")),
            wildcards=SimpleNamespace(name="construction"),
        )
        make_figure.main(job)
        paths = (output.pdf, output.png, output.tex)
        seen.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in paths])
    assert seen[0] == seen[1]
    text = (tmp_path / "a.tex").read_text(encoding="utf-8")
    assert r"\label{fig:tide-construction}" in text
    assert r"{\ResultsDir/tide/figures/construction.pdf}" in text
