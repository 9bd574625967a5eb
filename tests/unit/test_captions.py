"""Facts of a run in words."""

from __future__ import annotations

from pathlib import Path

import publishing_frames
import pytest
import tide_frames
import yaml

from scripts.files import DataError
from scripts.publishing import captions
from scripts.publishing.captions import NON_THINKING, THINKING, Context
from scripts.publishing.roster import build as build_roster
from scripts.publishing.roster import roster_params
from scripts.publishing.setup import place, setup_latex
from scripts.tide import artefacts as tide_artefacts
from scripts.workflow.benchmarks import TEXTS, found, texts_of

ROOT = Path(__file__).parents[2]
BENCHMARKS = ("syntaxbench", "multitempbench", "tide")
TITLES = {name: found()[name].title for name in BENCHMARKS}


def context(kind: str = "full") -> Context:
    return Context.from_params(publishing_frames.params(kind))


def tide_context(kind: str) -> Context:
    return Context.from_params(tide_frames.params(kind), "tide")


def test_publication_params_of_the_real_configuration_make_a_context() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    params = captions.publication_params(config, "syntaxbench")
    found = Context.from_params(params)
    assert len(found.configurations) == 11
    assert found.seed == config["run"]["seed"]
    assert [m.key for m in found.baselines] == config["syntaxbench"]["baselines"]
    config["models"]["unused"] = {"modes": []}
    config["syntaxbench"]["decoding"] = "changed"
    assert captions.publication_params(config, "syntaxbench") == params


def test_why_a_mode_is_missing() -> None:
    models = {m.key: m for m in (*context().models, *context("embedded").models)}
    assert models["smollm2-135m"].missing_mode(THINKING) == (
        "not available: the model has no thinking switch"
    )
    assert "cannot answer without thinking" in models["gpt-oss-20b"].missing_mode(NON_THINKING)
    assert "configuration" in models["qwen3.5-2b"].missing_mode(THINKING)
    assert models["gemma4-31b"].missing_mode(THINKING) == ""


def test_modes_and_labels() -> None:
    assert context().main_mode == THINKING
    assert context("embedded").main_mode == NON_THINKING
    assert not context("embedded").has_mode(THINKING)
    assert context().label("gpt-oss-20b") == "GPT-OSS-20B"
    assert context().label("unknown") == "unknown"


def test_missing_keys_and_unknown_kinds_are_named() -> None:
    params = publishing_frames.params("full")
    del params["syntaxbench"]["statistics"]["level"]
    with pytest.raises(DataError, match="level"):
        Context.from_params(params)
    params = publishing_frames.params("full")
    params["run"]["kind"] = "other"
    with pytest.raises(DataError, match="other"):
        Context.from_params(params)
    with pytest.raises(DataError, match="one benchmark"):
        Context.from_params({"run": {}, "models": {}})


def test_words() -> None:
    assert captions.between([]) == "no"
    assert captions.between([200, 200]) == "200"
    assert captions.between([400, 200]) == "200 to 400"
    assert captions.join_words(["a"]) == "a"
    assert captions.join_words("abc") == "a, b and c"
    assert captions.count(10000) == "10,000"
    assert captions.shots_words(4) == "4-shot"


def test_counted_things_agree_with_their_number() -> None:
    assert captions.counted(0, "model") == "no models"
    assert captions.counted(1, "model pair") == "one model pair"
    assert captions.counted(9, "task") == "nine tasks"
    assert captions.counted(1000, "item") == "1,000 items"


@pytest.mark.parametrize(
    ("p", "mark"),
    [(None, ""), (float("nan"), ""), (0.05, ""), (0.049, "*"), (0.009, "**"), (0, "***")],
)
def test_stars(p: float | None, mark: str) -> None:
    assert captions.stars(p) == mark


def test_flags_in_words() -> None:
    assert "one class" in captions.reason_for("one_class;incomplete")
    assert captions.reason_for("") == captions.NOT_ESTIMATED
    from scripts.statistics.flags import FLAGS

    assert set(FLAGS) == set(captions.FLAGS)


def test_sentences_carry_the_numbers_of_the_run() -> None:
    words = captions.bootstrap_sentence(context())
    assert "95%" in words and "10,000" in words and "42" in words
    assert "over 10 pairs" in captions.stars_sentence("A test", "10 pairs")
    for kind in captions.RUN_KINDS:
        params = publishing_frames.params("full")
        params["run"]["kind"] = kind
        assert captions.run_sentence(Context.from_params(params))


@pytest.mark.parametrize("kind", ["full", "embedded"])
def test_setup_states_the_kind_of_run(kind: str) -> None:
    source = setup_latex(kind, {}, {}, shared_axis=kind == "full")
    assert r"\newcommand{\ResultsDir}{../..}" in source
    assert (r"\embeddedtrue" in source) == (kind == "embedded")
    assert (r"\sharedaxistrue" in source) == (kind == "full")
    facts = captions.facts(context(kind))
    assert facts["has_thinking"] == (kind == "full") and facts["has_non_thinking"]


@pytest.mark.parametrize("names", [("tide",), ("syntaxbench", "tide"), BENCHMARKS])
def test_setup_says_which_benchmarks_the_run_has(names: tuple[str, ...]) -> None:
    run = {name: name in names for name in BENCHMARKS}
    source = setup_latex("full", run, texts_of(names))
    for name in BENCHMARKS:
        state = "true" if name in names else "false"
        assert rf"\newif\if{name}" in source and rf"\{name}{state}" in source
        assert (rf"\input{{sections/{name}}}" in source) == (name in names)
    sections = "".join(rf"\input{{sections/{name}}}" for name in names)
    assert rf"\csname benchmarkparts@section\endcsname{{{sections}}}" in source


def test_every_piece_of_the_paper_is_read_where_it_belongs() -> None:
    """A text outside the paper's folder keeps its path."""
    assert place("paper/sections/tide.tex") == "sections/tide.tex"
    assert place("scripts/toy/section.tex") == "scripts/toy/section.tex"
    sources = [p.read_text() for p in (ROOT / "paper").rglob("*.tex")]
    for piece in TEXTS:
        assert sum(rf"\benchmarkparts{{{piece}}}" in source for source in sources) == 1
    for name in BENCHMARKS:
        declared = found()[name].parts
        assert {"abstract", "introduction", "section", "appendix", "numbers"} <= set(declared)


def test_tide_s_context_of_the_real_configuration() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    found = Context.from_params(tide_artefacts.context_params(config), "tide")
    assert [m.key for m in found.models] == config["tide"]["models"]
    assert len(found.configurations) == 9 and found.main_mode == THINKING
    assert [m.key for m in found.baselines] == config["tide"]["baselines"]
    facts = captions.facts(found)
    assert facts["models_words"] == "nine models" and facts["date_weight"] == 0.5
    assert facts["judges_list"] == captions.join_words(
        config["models"][name]["label"] for name in config["tide"]["judging"]["council"]
    )


def test_the_roster_has_every_model_once_and_baselines_last() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    params = roster_params(config, TITLES)
    assert params["benchmarks"] == list(BENCHMARKS)
    entries = {entry["name"]: entry for entry in params["entries"]}
    assert len(entries) == len(params["entries"])
    for name in BENCHMARKS:
        of_benchmark = {key for key, entry in entries.items() if name in entry["benchmarks"]}
        assert of_benchmark == {*config[name]["models"], *config[name]["baselines"]}
    baselines = [entry["backend"] == "baseline" for entry in params["entries"]]
    assert baselines == sorted(baselines) and any(baselines)
    table = build_roster(**params)
    labels = [column.title for column in table.columns]
    assert labels[-3:] == ["SyntaxBench", "MultiTempBench", "TIDE"]
    assert len(table.rows) == len(entries)


def test_facts_count_the_matrix() -> None:
    facts = captions.facts(context())
    assert facts["configuration_count"] == 11
    assert facts["items_total"] == 3200
    assert facts["responses_total"] == 3200 * 3 * 11
