"""The figures of MultiTempBench: print size, a reason where empty, the same bytes, no guessed r."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import multitempbench_frames
import numpy as np
import pandas as pd
import pytest

from scripts import files
from scripts.multitempbench import artefacts, figures, make_figure, overview
from scripts.publishing import figures as style
from scripts.publishing.captions import Context
from scripts.publishing.figures import Drawing

SCATTER = (
    "mdfr_accuracy_arithmetic",
    "mdfr_accuracy_relation",
    "mdfr_accuracy_timezone",
    "linearity_accuracy",
    "component_linearity",
)


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[dict[str, pd.DataFrame], Context]]:
    out = {}
    for kind in ("full", "embedded"):
        params = multitempbench_frames.params(kind)
        found = multitempbench_frames.frames(params, holes=kind == "full")
        out[kind] = (found, Context.from_params(params))
    return out


def draw(name: str, frames: dict[str, pd.DataFrame], context: Context) -> Drawing:
    needed = {key: frames[key] for key in artefacts.FIGURES[name]}
    with style.style():
        return figures.build(name, needed, context)


def texts(drawing: Drawing) -> list[str]:
    return [t.get_text() for t in drawing.figure.findobj(mpl.text.Text) if t.get_text().strip()]


@pytest.mark.parametrize("kind", ["full", "embedded"])
@pytest.mark.parametrize("name", sorted(artefacts.FIGURES))
def test_every_figure_is_drawn_at_print_size(runs: dict, kind: str, name: str) -> None:
    drawing = draw(name, *runs[kind])
    assert not drawing.reason and drawing.name == name
    assert drawing.figure.get_figwidth() <= style.TEXT_WIDTH
    assert drawing.figure.get_figheight() <= style.MAX_HEIGHT
    assert drawing.caption and "nan" not in drawing.caption
    assert ("Embedded run" if kind == "embedded" else "Full run") in drawing.caption
    found = [t for t in drawing.figure.findobj(mpl.text.Text) if t.get_text().strip()]
    assert min(t.get_fontsize() for t in found) >= 6.5
    assert not any("nan" in t.get_text() for t in found)


@pytest.mark.parametrize("kind", ["full", "embedded"])
@pytest.mark.parametrize("name", sorted(artefacts.FIGURES))
def test_cropping_cuts_nothing_off(runs: dict, kind: str, name: str) -> None:
    frames, context = runs[kind]
    with style.style():
        figure = figures.build(name, frames, context).figure
        box = style.cropped(figure)
        drawn = figure.get_tightbbox()
    assert box.x0 <= drawn.x0 + 0.02 and drawn.x1 <= box.x1 + 0.02
    assert box.y0 <= drawn.y0 + 0.02 and drawn.y1 <= box.y1 + 0.02


def test_names_in_the_registry_have_a_builder() -> None:
    assert set(artefacts.FIGURES) == set(figures.BUILDERS)


@pytest.mark.parametrize("name", sorted(artefacts.FIGURES))
def test_no_rows_give_a_figure_that_says_so(runs: dict, name: str) -> None:
    frames, context = runs["full"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = draw(name, {key: frame.head(0) for key, frame in frames.items()}, context)
        with style.style():
            style.cropped(drawing.figure)
    if name == "overview":
        assert {"no tokens", "no states", "–"} <= set(texts(drawing))
        assert "No hidden states were read" in drawing.caption
    else:
        assert drawing.reason in texts(drawing)


@pytest.mark.parametrize("name", SCATTER)
def test_two_models_have_points_but_no_r(runs: dict, name: str) -> None:
    drawing = draw(name, *runs["embedded"])
    found = texts(drawing)
    titles = [t for t in found if "n = 2: no r" in t]
    assert len(titles) == 5 * {"component_linearity": 3, "linearity_accuracy": 1}.get(name, 2)
    assert not any("r = " in t for t in found)
    for axes in drawing.figure.axes:
        drawn = [line for line in axes.get_lines() if len(line.get_xdata())]
        assert len(drawn) == 2  # the points; no line through them


@pytest.mark.parametrize("name", SCATTER)
def test_more_models_have_r_both_intervals_and_a_line(runs: dict, name: str) -> None:
    frames, context = runs["full"]
    drawing = draw(name, frames, context)
    titles = [axes.get_title() for axes in drawing.figure.axes]
    assert all("r = " in t and "J [" in t for t in titles)
    predictor = {"linearity_accuracy": "linearity", "component_linearity": "year_r2"}.get(
        name, "mdfr"
    )
    task = {
        "mdfr_accuracy_arithmetic": "date_arithmetic",
        "mdfr_accuracy_relation": "relation",
        "mdfr_accuracy_timezone": "time_zone",
    }.get(name, "all")
    table = frames["correlations"]
    row = table[
        (table["predictor"] == predictor) & (table["task"] == task) & (table["language"] == "ar")
    ].iloc[0]
    assert f"r = {style.short(row['pearson'])}" in titles[0] and titles[0].startswith("Arabic")


def test_the_papers_r_stands_in_the_title(runs: dict) -> None:
    drawing = draw("mdfr_accuracy_arithmetic", *runs["full"])
    assert sum("paper −.97" in t for t in texts(drawing)) == 2
    assert "subtracts the penalties" in drawing.caption


def test_constant_predictors_do_not_crash(runs: dict) -> None:
    frames, context = runs["full"]
    frames = dict(frames)
    frames["correlation_points"] = frames["correlation_points"].assign(linearity=0.5)
    row = {"models": 11, "pearson": np.nan, "published": np.nan, "flag": "constant"}
    assert figures.correlation_text(row) == "n = 11: no r\n(no variation)"
    assert figures.correlation_text(None) == "not evaluated"
    row = {"models": 0, "pearson": np.nan, "published": np.nan, "flag": "missing"}
    assert figures.correlation_text(row) == "n = 0: no r\n(no values)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not draw("linearity_accuracy", frames, context).reason


def test_the_forest_shows_one_fit_a_predictor_and_both_intervals(runs: dict) -> None:
    frames, context = runs["full"]
    assert [fit.name for fit in figures.shown_fits(frames["regression_fits"])] == [
        "main",
        "as_published",
    ]
    drawing = draw("regression_summary", frames, context)
    left, right = drawing.figure.axes[:2]
    labels = [t.get_text() for t in left.get_yticklabels()]
    assert labels[0] == "mDFR" and "intercept" not in labels
    assert labels[-1] == "mDFR × linearity × resource"
    widths = sorted({line.get_linewidth() for line in left.get_lines()})
    assert 0.7 in widths and 2.2 in widths
    # 19 models are the fewest clusters: the interval is that of t with 18 degrees of freedom.
    robust = [line.get_xdata() for line in left.get_lines() if line.get_linewidth() == 0.7]
    assert robust[0][1] - robust[0][0] == pytest.approx(2 * 2.1009 * 0.06, rel=1e-4)
    assert "285,000 replies, 19 models, 40 tokeniser-language pairs" in drawing.caption
    slopes = [line for line in right.get_lines() if line.get_linewidth() == 2.2]
    assert len(slopes) == 2 * 4
    assert len(labels) == 7  # both formulas of mDFR share the place of a term
    few = draw("regression_summary", *runs["embedded"])
    assert "not tested: fewer than five models" in few.caption
    assert not any(line.get_linewidth() == 2.2 for line in few.figure.axes[1].get_lines())


def test_paths_of_years_start_filled_and_end_open(runs: dict) -> None:
    frames, context = runs["full"]
    drawing = draw("pca_layers", frames, context)
    assert len(drawing.figure.axes) == 2 * 4
    first = drawing.figure.axes[0]
    assert first.get_title() == "embedding\n(60%, 20%)" and len(first.get_lines()) == 3 * 5
    assert "Years 1990 to 2024" in drawing.caption and "Qwen3 14B" in drawing.caption
    values = pd.Series([0.4, 0.61, np.nan])
    assert figures._share(values) == "40–61%" and figures._share(values[2:]) == "–"


def test_accuracy_has_a_dash_for_what_was_not_run_and_open_signs(runs: dict) -> None:
    frames, context = runs["full"]
    accuracy = frames["accuracy"]
    lost = (accuracy["model"] == "olmo2-7b") & (accuracy["language"] == "zh")
    frames = {"accuracy": accuracy[~lost]}
    drawing = draw("accuracy_by_language", frames, context)
    assert texts(drawing).count("–") == 1
    german = drawing.figure.axes[3]
    faces = [line.get_markerfacecolor() for line in german.get_lines() if line.get_marker() == "o"]
    assert faces == ["white"]  # GPT-4o has unscored German rows


def test_the_overview_shows_one_date_in_two_languages(runs: dict) -> None:
    frames, context = runs["full"]
    assert overview.chosen_languages(context) == ["en", "ha"]
    drawing = draw("overview", frames, context)
    found = texts(drawing)
    assert {"July", "Y", "1990", "2024"} <= set(found)
    assert "12 tokens for 3 units, mDFR = 0.64: 03 ga Yuli 2023" in found
    assert "2023-07-03" in drawing.caption and "block 14" in drawing.caption


def test_the_overview_of_a_run_without_the_textual_form_shows_another(runs: dict) -> None:
    frames, _ = runs["full"]
    params = multitempbench_frames.params("full")
    params["multitempbench"]["publishing"]["formats"] = ["calendar", "iso"]
    tokens = frames["tokenisation"]
    renamed = tokens.assign(format=tokens["format"].replace("long", "calendar"))
    drawing = draw("overview", frames | {"tokenisation": renamed}, Context.from_params(params))
    assert "12 tokens for 3 units, mDFR = 0.64: 03 ga Yuli 2023" in texts(drawing)
    assert "2023-07-03 in the calendar form" in drawing.caption


def test_arabic_and_chinese_have_glyphs(runs: dict, tmp_path: Path) -> None:
    installed = {font.name for font in mpl.font_manager.fontManager.ttflist}
    if not set(style.TEXT_FONTS) <= installed:
        pytest.skip("needs the Noto fonts")
    frames, _ = runs["full"]
    params = multitempbench_frames.params("full")
    every = params["multitempbench"]["publishing"]["languages"]
    params["multitempbench"]["publishing"]["languages"] = {k: every[k] for k in ("ar", "zh")}
    with warnings.catch_warnings(), style.style():
        warnings.simplefilter("error")  # a missing glyph is a warning
        drawing = figures.build("overview", frames, Context.from_params(params))
        style.write(drawing, *(tmp_path / f"x.{e}" for e in ("pdf", "png", "tex")), "x")
    assert {"2023年07月03日", "ي"} <= set(texts(drawing))


def test_many_models_stay_apart() -> None:
    params = multitempbench_frames.params("full")
    names = [f"m{i}" for i in range(23)]
    for name in names:
        params["models"][name] = {"label": name, "modes": ["non_thinking"]}
    params["multitempbench"]["models"] = names
    found = style.lines(Context.from_params(params), baselines=False)
    assert len({(line.colour, line.marker) for line in found}) == 23


def test_the_rule_script_writes_the_same_bytes(runs: dict, tmp_path: Path) -> None:
    params = multitempbench_frames.params("embedded")
    inputs = {}
    for name in artefacts.FIGURES["overview"]:
        inputs[name] = tmp_path / f"{name}.csv"
        files.write_csv(inputs[name], runs["embedded"][0][name])
    digests = []
    for attempt in ("a", "b"):
        output = {end: tmp_path / f"{attempt}.{end}" for end in ("pdf", "png", "tex")}
        make_figure.main(
            SimpleNamespace(
                input=inputs,
                output=SimpleNamespace(**output),
                params=SimpleNamespace(context=params),
                wildcards=SimpleNamespace(name="overview"),
            )
        )
        digests.append([hashlib.sha256(p.read_bytes()).hexdigest() for p in output.values()])
    assert digests[0] == digests[1]
    assert r"{\ResultsDir/multitempbench/figures/overview.pdf}" in (tmp_path / "a.tex").read_text()
