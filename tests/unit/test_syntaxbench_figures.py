"""The figures of SyntaxBench: built, said why empty, the same bytes, print size, embedded fonts."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import publishing_frames
import pytest
from PIL import Image

from scripts import files
from scripts.files import DataError
from scripts.publishing import figures as style
from scripts.publishing.captions import Context
from scripts.syntaxbench import artefacts, figures, make_figure

EMPTY_WITHOUT_THINKING = {
    "mode_delta",
    "thinking_pareto",
    "tolerance_thinking",
    "dominance_thinking",
}


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[dict[str, pd.DataFrame], Context]]:
    out = {}
    for kind in ("full", "embedded"):
        params = publishing_frames.params(kind)
        found = publishing_frames.frames(params, holes=kind == "full")
        out[kind] = (found, Context.from_params(params))
    return out


@pytest.mark.parametrize("kind", ["full", "embedded"])
@pytest.mark.parametrize("name", sorted(artefacts.FIGURES))
def test_every_figure_is_drawn_at_print_size(runs: dict, kind: str, name: str) -> None:
    frames, context = runs[kind]
    with style.style():
        drawing = figures.build(name, frames, context)
    assert bool(drawing.reason) == (kind == "embedded" and name in EMPTY_WITHOUT_THINKING)
    assert drawing.figure.get_figwidth() <= style.TEXT_WIDTH
    assert drawing.figure.get_figheight() <= style.MAX_HEIGHT
    assert drawing.caption and "nan" not in drawing.caption
    texts = [t for t in drawing.figure.findobj(mpl.text.Text) if t.get_text().strip()]
    assert texts and min(t.get_fontsize() for t in texts) >= 6.5


@pytest.mark.parametrize("kind", ["full", "embedded"])
@pytest.mark.parametrize("name", sorted(artefacts.FIGURES))
def test_cropping_cuts_nothing_off(runs: dict, kind: str, name: str) -> None:
    with style.style():
        figure = figures.build(name, *runs[kind]).figure
        box = style.cropped(figure)
        drawn = figure.get_tightbbox()
    # Nothing hangs over the paper on which the figure was laid out either.
    assert box.x0 <= drawn.x0 + 0.02 and drawn.x1 <= box.x1 + 0.02
    assert box.y0 <= drawn.y0 + 0.02 and drawn.y1 <= box.y1 + 0.02


def test_names_in_the_registry_have_a_builder() -> None:
    assert set(artefacts.FIGURES) == set(figures.BUILDERS)


@pytest.mark.parametrize("name", ["ema_heatmap", "tokens_accuracy", "mcnemar_matrix", "tolerance"])
def test_no_rows_give_a_figure_that_says_so_or_shows_missing_cells(runs: dict, name: str) -> None:
    frames, context = runs["full"]
    with style.style():
        drawing = figures.build(name, {k: f.head(0) for k, f in frames.items()}, context)
        texts = {t.get_text() for t in drawing.figure.findobj(mpl.text.Text)}
    assert drawing.reason in texts if drawing.reason else "–" in texts


def test_the_same_frames_give_the_same_bytes_without_dates(runs: dict, tmp_path: Path) -> None:
    frames, context = runs["embedded"]
    digests = []
    for attempt in ("a", "b"):
        with style.style():
            drawing = figures.build("english_random", frames, context)
            paths = [tmp_path / f"{attempt}.{end}" for end in ("pdf", "png", "tex")]
            style.write(drawing, *paths, r"\ResultsDir/x.pdf")
        digests.append([hashlib.sha256(p.read_bytes()).hexdigest() for p in paths])
    assert digests[0] == digests[1]
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"CreationDate" not in content and b"Type3" not in content
    assert b"FontFile2" in content  # TrueType, embedded
    with Image.open(tmp_path / "a.png") as image:
        assert abs(image.width - style.TEXT_WIDTH * style.PNG_DPI) <= 2
    source = (tmp_path / "a.tex").read_text()
    assert r"\includegraphics[width=\linewidth]{\ResultsDir/x.pdf}" in source
    assert r"\label{fig:english-random}" in source


def test_style_leaves_the_settings_of_others_alone() -> None:
    before = mpl.rcParams["font.size"]
    with style.style():
        assert mpl.rcParams["pdf.fonttype"] == 42
    assert mpl.rcParams["font.size"] == before


def test_heatmap_colours_stay_apart_in_grey() -> None:
    ramp = mpl.colormaps["cividis"](np.linspace(0, 1, 32))[:, :3] @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(ramp) > 0).all()


def test_ink_contrasts_with_its_cell() -> None:
    norm = mpl.colors.Normalize(0, 1)
    for name in ("cividis", "PuOr", "Greys"):
        colours = mpl.colormaps[name]
        for value in np.linspace(0, 1, 21):
            red, green, blue, _ = colours(value)
            luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
            black = style.ink(colours, norm, value) == "#000000"
            assert abs(luminance - (0 if black else 1)) > 0.4
    assert style.ink(mpl.colormaps["cividis"], norm, float("nan")) == "#444444"


def test_short_numbers() -> None:
    assert [style.short(v) for v in (0.731, 1.0, -0.05, -0.001)] == [".73", "1.00", "−.05", ".00"]
    assert style.short(0.05, sign=True) == "+.05"


def test_lines_tell_configurations_apart_without_colour(runs: dict) -> None:
    found = figures.lines(runs["full"][1])
    assert len(found) == 14
    assert len({(line.marker, str(line.dash)) for line in found}) == 14
    assert [line.baseline for line in found][-3:] == [True, True, True]


def test_dominance_counts_wins_of_the_row_model() -> None:
    frame = pd.DataFrame(
        {
            "model_a": ["x"] * 4,
            "model_b": ["y"] * 4,
            "b01": [9, 1, 5, 3],
            "b10": [1, 9, 5, 1],
            "p": [0.01, 0.01, 1.0, 0.5],
            "significant_cell": [True, True, False, False],
        }
    )
    assert figures.dominance(frame, "x", "y") == 0.25
    assert figures.dominance(frame, "y", "x") == 0.25
    assert np.isnan(figures.dominance(frame, "x", "z"))


def test_a_zero_margin_has_no_correlation(runs: dict) -> None:
    assert np.isnan(figures._point_biserial({"point_biserial": 0.0, "flag": "zero_margin"}))
    assert figures._point_biserial({"point_biserial": 0.1, "flag": ""}) == 0.1


def test_thinking_tokens_that_nobody_reported(runs: dict) -> None:
    frames, context = runs["full"]
    cells = frames["cells"].assign(reasoning_tokens_mean=float("nan"))
    with style.style():
        drawing = figures.build("thinking_pareto", {"cells": cells}, context)
    assert "No backend" in drawing.reason


def test_wrong_inputs_are_named(runs: dict) -> None:
    context = runs["full"][1]
    with pytest.raises(DataError, match="unknown figure"):
        figures.build("nothing", {}, context)
    with pytest.raises(DataError, match="kendall"):
        figures.build("kendall_sparklines", {}, context)


def test_the_rule_script_writes_all_forms(tmp_path: Path) -> None:
    params = publishing_frames.params("embedded")
    for name, frame in publishing_frames.frames(params).items():
        files.write_csv(tmp_path / f"{name}.csv", frame)
    job = SimpleNamespace(
        input=[tmp_path / f"{name}.csv" for name in artefacts.FIGURES["leaderboard_pareto"]],
        output=SimpleNamespace(
            pdf=tmp_path / "f.pdf", png=tmp_path / "f.png", tex=tmp_path / "f.tex"
        ),
        params=SimpleNamespace(context=params),
        wildcards=SimpleNamespace(name="leaderboard_pareto"),
    )
    make_figure.main(job)
    assert (tmp_path / "f.pdf").read_bytes().startswith(b"%PDF")
    source = (tmp_path / "f.tex").read_text()
    assert r"\ResultsDir/syntaxbench/figures/leaderboard_pareto.pdf" in source
