"""Printed and rated strings, and the weights and correlations that come from ratings."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tiktoken

from scripts.dates.formats import DateTextError, read
from scripts.files import DataError, read_csv, write_csv
from scripts.multitempbench import calibrate_weights, measure_examples
from scripts.multitempbench.fragmentation_examples import (
    CORRELATION_COLUMNS,
    EXAMPLE_COLUMNS,
    METRICS,
    RATING_COLUMNS,
    WEIGHT_COLUMNS,
    examples_frame,
    mean_ratings,
    measured_ratings,
    published_correlations,
    read_corrections,
    read_ratings,
    read_strings,
    string_measures,
    weights_frame,
)
from scripts.multitempbench.tasks import FORMATS
from scripts.tokenisation.calibration import learned_weights
from scripts.tokenisation.mdfr import COMPONENTS
from scripts.tokenisation.tokenisers import Tokeniser, from_description, from_encoding
from tests.real_tokenisers import FOLDER, NEEDED, real
from tests.small_tokeniser import description, small_encoding
from tests.unit.test_fragmentation import Inputs, run_twice

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "data/published"
CORRECTIONS = ROOT / "data/embedded/fragmentation_examples.csv"
WEIGHTS = [0.2, 0.2, 0.1, 0.5]
HEAD = {"language": "German", "format": "long", "calendar": "Greg."}


@pytest.fixture(scope="module")
def small() -> Tokeniser:
    return from_description("small", description(("2023", "07", "Juli")))


@pytest.fixture(scope="module")
def corrections() -> dict[str, tuple[str, str]]:
    return read_corrections(CORRECTIONS)


def published(name: str) -> Path:
    return PUBLISHED / f"multitempbench_{name}.csv"


def test_misprinted_strings_are_what_the_tables_hold(
    corrections: dict[str, tuple[str, str]],
) -> None:
    printed = {
        row for name in ("table2", "table8") for row in read_csv(published(name))["string"].tolist()
    }
    assert set(corrections) <= printed
    for misprint, (string, note) in corrections.items():
        form = "calendar" if string.endswith("هـ") else "long"
        assert read(string, "ar", form) and note
        for any_form in FORMATS:
            with pytest.raises(DateTextError):
                read(misprint, "ar", any_form)


def test_strings_in_our_words(corrections: dict[str, tuple[str, str]]) -> None:
    examples = read_strings(published("table2"), "mdfr", corrections)
    assert examples["language"].tolist() == ["de", "en", "zh", "ar", "en", "zh", "ar", "en", "ha"]
    assert set(examples["calendar"]) == {"gregorian", "hijri", "lunar"}
    assert examples["string"].tolist()[6] == "١٠ أكتوبر ٢٠٣٤"
    assert examples["mdfr"].tolist()[-1] == 0.78
    ratings = read_ratings(published("table8"), corrections)
    assert set(ratings["string"]) < set(examples["string"])
    assert ratings["annotator"].isna().all() and len(ratings) == 8


def write_ratings(path: Path, rows: list[dict[str, Any]]) -> Path:
    write_csv(path, pd.DataFrame.from_records(rows))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"language": "Dutch"}, r"row 3: language 'Dutch'; known: .*german"),
        ({"calendar": "Julian"}, r"row 3: calendar 'Julian'; known: "),
        ({"human_rating": "often"}, r"row 3: human_rating 'often' is no number"),
        ({"human_rating": "inf"}, r"row 3: human_rating 'inf' is no number"),
        ({"human_rating": None}, "row 3: human_rating '' is no number"),
        ({"string": " "}, "row 3: string is empty"),
        ({"string": None}, "row 3: string is empty"),
        ({"string": "1.1.2023"}, "row 3: the same string is rated twice by one annotator"),
        ({"annotator": None}, "row 3: no annotator"),
    ],
)
def test_rows_that_are_no_ratings(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    good = HEAD | {"string": "1.1.2023", "human_rating": "3", "annotator": "x"}
    path = write_ratings(tmp_path / "r.csv", [good, good | {"string": "2.1.2023"} | change])
    with pytest.raises(DataError, match=f"r.csv, {message}"):
        read_ratings(path, {})


def test_files_that_are_no_ratings(tmp_path: Path) -> None:
    path = write_ratings(tmp_path / "r.csv", [HEAD | {"string": "1.1.2023"}])
    with pytest.raises(DataError, match=r"r\.csv, row 1: no column human_rating"):
        read_ratings(path, {})
    with pytest.raises(DataError, match="no column printed, note"):
        read_corrections(path)
    row = HEAD | {"string": "1.1.2023", "human_rating": 3}
    path = write_ratings(tmp_path / "r.csv", [row, row])
    with pytest.raises(DataError, match="rated twice, and no annotator is named"):
        read_ratings(path, {})


def test_ratings_are_averaged_over_people(tmp_path: Path) -> None:
    rows = [
        HEAD | {"string": string, "human_rating": rating, "annotator": person}
        for string, ratings in {"1.1.2023": (1, 3), "2.1.2023": (5, 4)}.items()
        for person, rating in zip("xy", ratings, strict=True)
    ]
    ratings = read_ratings(write_ratings(tmp_path / "r.csv", rows), {})
    assert mean_ratings(ratings)["human_rating"].tolist() == [2, 4.5]


def test_printed_and_rated_strings_share_a_row(
    small: Tokeniser, corrections: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    examples = read_strings(published("table2"), "mdfr", corrections)
    ratings = read_ratings(published("table8"), corrections)
    frame = examples_frame("small", examples, ratings, small, WEIGHTS)
    assert list(frame.columns) == list(EXAMPLE_COLUMNS)
    assert frame["string"].tolist() == examples["string"].tolist()
    assert frame["published"].tolist() == examples["mdfr"].tolist()
    # Only the lunar string was not rated.
    assert frame["human_rating"].isna().tolist() == [False] * 5 + [True] + [False] * 3
    assert frame.loc[6, "note"].count("reversed") == 2
    assert frame["model"].eq("small").all()

    own = read_ratings(
        write_ratings(tmp_path / "r.csv", [HEAD | {"string": "03. Juli 2023", "human_rating": 2}]),
        {},
    )
    both = examples_frame("small", examples, own, small, WEIGHTS)
    assert len(both) == 10
    last = both.iloc[-1]
    assert (last["string"], last["format"], last["human_rating"]) == ("03. Juli 2023", "long", 2)
    assert pd.isna(last["published"])
    assert last["mdfr"] == string_measures(last, small, WEIGHTS)["mdfr"]


def test_published_tables(corrections: dict[str, tuple[str, str]]) -> None:
    found = published_correlations(read_csv(published("table6")))
    assert found == {"mdfr": 0.89, "dfr": 0.81, "bleu": 0.43, "edit_distance": 0.29}
    nothing = learned_weights(np.empty((0, 4)), np.empty(0))
    table = weights_frame(nothing, WEIGHTS, read_csv(published("table7")))
    assert table["component"].tolist() == list(COMPONENTS)
    assert table["published"].tolist() == [0.2015, 0.1932, 0.1053, 0.5]
    assert [round(w, 4) for w in table["original_normalised"]] == [0.1818, 0.1818, 0.0909, 0.5455]
    assert table["default"].tolist() == WEIGHTS
    reordered = read_csv(published("table7")).iloc[::-1]
    with pytest.raises(DataError, match="table 7 has the components"):
        weights_frame(nothing, WEIGHTS, reordered)


def job_of(tmp_path: Path, ratings: Path, tokenizer: list[str]) -> SimpleNamespace:
    names = ("weights", "metric_correlation", "ratings")
    return SimpleNamespace(
        input=Inputs(
            examples=str(published("table2")),
            ratings=str(ratings),
            corrections=str(CORRECTIONS),
            tokenizer=tokenizer,
            published_correlations=str(published("table6")),
            published_weights=str(published("table7")),
        ),
        output=SimpleNamespace(**{name: tmp_path / f"out_{name}.csv" for name in names}),
        params=SimpleNamespace(
            model="small",
            entry={"source": "x/y", "tokenizer": "same" if tokenizer else "none"},
            weights=WEIGHTS,
            seed=1,
            statistics={"resamples": 500, "level": 0.95},
        ),
    )


def calibrated(job: SimpleNamespace) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    run_twice(calibrate_weights, job)
    weights, correlation, ratings = (read_csv(path) for path in vars(job.output).values())
    assert list(weights.columns) == list(WEIGHT_COLUMNS)
    assert list(correlation.columns) == list(CORRELATION_COLUMNS)
    assert correlation["metric"].tolist() == list(METRICS)
    assert list(ratings.columns) == list(RATING_COLUMNS) and len(ratings) == 1
    return weights, correlation, ratings.iloc[0]


@pytest.fixture
def tokenizer(tmp_path: Path) -> list[str]:
    path = tmp_path / "tokenizer.json"
    path.write_text(description(("2023", "07", "Juli")), "utf-8")
    return [str(path)]


def test_averages_at_the_ceiling_teach_no_weights(tmp_path: Path, tokenizer: list[str]) -> None:
    weights, correlation, ratings = calibrated(job_of(tmp_path, published("table8"), tokenizer))
    assert weights["learned"].isna().all() and weights["se"].isna().all()
    assert all("too_few" in flag for flag in weights["flag"])
    assert correlation["n"].tolist() == [8] * len(METRICS)
    assert ratings["items"] == 8 and pd.isna(ratings["raters"])
    assert pd.isna(ratings["krippendorff_alpha"]) and ratings["flag"] == "missing"
    assert ratings["source"] == "MultiTempBench Table 8"


def test_simulated_people_with_known_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five people rate the pieces of many dates by known weights: these come back."""
    merged = (b"2023", b"07", b" Juli", b"Juli", b"1.", b"10", b"11", b" 10", b", 07", b" 2023")
    encoding = small_encoding(*merged)
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: encoding)
    tokeniser = from_encoding(encoding)
    true = np.array([0.3, 0.25, 0.1, 0.35])
    texts = [f"{d}.{m}.{y}" for d in (1, 7, 10, 23) for m in (1, 10) for y in (2023, 2034, 99)]
    texts += ["Juli 2023", "Juli", "2023", "07", "10", "11.", "2023-07", "07/10/2023", "Juli, 07"]
    texts += ["11", "Juli 07 2023 10", "10 Juli 11", "2023 1.", "10 1. Juli", "1. Juli 2023 10"]
    rng = np.random.default_rng(1)
    rows = []
    for text in texts:
        row = HEAD | {"calendar": "gregorian", "language": "de", "string": text}
        measures = string_measures(row, tokeniser, WEIGHTS)
        severity = 1 + 4 * float(true @ [measures[name] for name in COMPONENTS])
        for person in "abcde":
            rated = severity + rng.normal(0, 0.15)
            rows.append(row | {"human_rating": rated, "annotator": person})
    path = write_ratings(tmp_path / "people.csv", rows)
    job = job_of(tmp_path, path, [])
    job.params.entry["tokenizer"] = {"tiktoken": "o200k_base"}
    weights, correlation, ratings = calibrated(job)
    assert weights["flag"].isna().all()
    assert weights["learned"].to_numpy() == pytest.approx(true, abs=0.06)
    assert (np.abs(weights["learned"] - true) < 3 * weights["se"]).all()
    assert ratings["raters"] == 5 and ratings["items"] == len(texts)
    assert ratings["krippendorff_alpha"] > 0.8 and ratings["krippendorff_alpha_interval"] > 0.8
    assert ratings["r2"] > 0.95 and ratings["source"] == "people.csv"
    rho = correlation.set_index("metric")
    assert rho.loc["mdfr", "spearman"] > 0.9
    assert (rho["low"] <= rho["spearman"]).all() and (rho["spearman"] <= rho["high"]).all()


def test_without_a_tokeniser(tmp_path: Path) -> None:
    job = job_of(tmp_path, published("table8"), [])
    weights, correlation, ratings = calibrated(job)
    assert weights["flag"].eq("missing").all() and weights["learned"].isna().all()
    assert correlation["flag"].eq("missing").all() and correlation["spearman"].isna().all()
    assert ratings["items"] == 8
    job.output = SimpleNamespace(examples=tmp_path / "examples.csv")
    run_twice(measure_examples, job)
    assert list(read_csv(job.output.examples).columns) == list(EXAMPLE_COLUMNS)
    assert read_csv(job.output.examples).empty


@NEEDED
def test_tables_2_and_8_under_gemma_3(
    tmp_path: Path, corrections: dict[str, tuple[str, str]]
) -> None:
    job = job_of(tmp_path, published("table8"), [str(FOLDER / "gemma3.json.gz")])
    job.output = SimpleNamespace(examples=tmp_path / "examples.csv")
    measure_examples.main(job)
    found = read_csv(job.output.examples)
    close = (found["mdfr_as_published"] - found["published"]).abs() < 0.005
    # All but the Hausa row, which no reading of either formula gives.
    assert close.tolist() == [True] * 8 + [False]
    assert (found["mdfr"] - found["published"]).abs().lt(0.005).sum() <= 1
    measured = measured_ratings(
        read_ratings(published("table8"), corrections), real("gemma3"), WEIGHTS
    )
    # No string loses a delimiter: that weight cannot be learned from any rating of them.
    assert measured["delimiter"].eq(0).all() and measured["split"].eq(1).all()
    assert measured["human_rating"].eq(5).sum() == 5


def test_empty_corrections_are_named(tmp_path: Path) -> None:
    path = tmp_path / "corrections.csv"
    path.write_text("")
    with pytest.raises(DataError, match=r"corrections\.csv, row 1: no column printed, string"):
        read_corrections(path)
