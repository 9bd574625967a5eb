"""Facts of a run in words."""

from __future__ import annotations

from pathlib import Path

import publishing_frames
import pytest
import yaml

from scripts.files import DataError
from scripts.publishing import captions
from scripts.publishing.captions import NON_THINKING, THINKING, Context

ROOT = Path(__file__).parents[2]


def context(kind: str = "full") -> Context:
    return Context.from_params(publishing_frames.params(kind))


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
    source = captions.setup_latex({"syntaxbench": context(kind)})
    assert r"\newcommand{\ResultsDir}{../..}" in source
    assert (r"\embeddedtrue" in source) == (kind == "embedded")
    assert (r"\thinkingtrue" in source) == (kind == "full")


def test_facts_count_the_matrix() -> None:
    facts = captions.facts(context())
    assert facts["configuration_count"] == 11
    assert facts["items_total"] == 3200
    assert facts["responses_total"] == 3200 * 3 * 11
