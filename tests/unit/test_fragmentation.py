"""Fragmentation of the items' dates: frames, rule scripts, and the values on real tokenisers."""

from __future__ import annotations

import json
import math
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scripts.dates.formats import write
from scripts.files import DataError, read_csv, write_csv, write_records
from scripts.multitempbench import gather_fragmentation, measure_fragmentation
from scripts.multitempbench.fragmentation import (
    MDFR_COLUMNS,
    RELEASED_COLUMNS,
    TOKEN_COLUMNS,
    item_fragmentation,
    mdfr_frame,
    published_columns,
    read_released,
    read_tokens,
    released_frame,
    token_frame,
)
from scripts.multitempbench.tasks import FORMATS, LANGUAGES
from scripts.records import Item
from scripts.statistics.correlation import spearman
from scripts.tokenisation.released_profile import FORMS
from scripts.tokenisation.tokenisers import Tokeniser, from_description
from tests.real_tokenisers import NEEDED, real
from tests.small_tokeniser import description

ROOT = Path(__file__).parents[2]
TABLE_4 = ROOT / "data/published/multitempbench_table4.csv"
WEIGHTS = [0.2, 0.2, 0.1, 0.5]
DAYS = (date(2023, 7, 3), date(2024, 2, 9))


class Inputs(dict):
    """Named inputs as Snakemake gives them: by attribute, and by `get`."""

    __getattr__ = dict.__getitem__


def item(language: str, form: str, *days: date) -> Item:
    written = [write(day, language, form) for day in days]
    return Item.create(
        "multitempbench",
        "date_arithmetic",
        {
            "language": language,
            "format": form,
            "calendar": written[0].calendar,
            "calendar_source": written[0].calendar_source,
        },
        {
            "question": "?",
            "dates": [
                {"iso": day.isoformat(), "text": w.text, "calendar_source": w.calendar_source}
                for day, w in zip(days, written, strict=True)
            ],
            "times": [],
            "operation": {},
        },
        {"answer": "1"},
        {},
    )


def items_of(*days: date) -> list[Item]:
    return [item(language, form, *days) for language in LANGUAGES for form in FORMATS]


@pytest.fixture(scope="module")
def small() -> Tokeniser:
    return from_description("small", description(("2023", "07", "Juli")))


@pytest.fixture(scope="module")
def tokens(small: Tokeniser) -> pd.DataFrame:
    return token_frame(items_of(*DAYS), small, WEIGHTS)


def test_one_row_a_distinct_date(small: Tokeniser, tokens: pd.DataFrame) -> None:
    assert list(tokens.columns) == list(TOKEN_COLUMNS)
    assert len(tokens) == len(LANGUAGES) * len(FORMATS) * len(DAYS)
    assert not tokens.isna().any().any()
    # The same dates in other items add no row; order of the items does not matter.
    again = token_frame([*reversed(items_of(*DAYS)), *items_of(DAYS[0])], small, WEIGHTS)
    pd.testing.assert_frame_equal(again, tokens)
    row = tokens.set_index(["language", "format", "date"]).loc["de", "long", "2023-07-03"]
    assert row["text"] == "03. Juli 2023"
    assert json.loads(row["pieces"]) == ["0", "3", ".", "Juli", "2023"]
    assert json.loads(row["units"]) == ["03", ".", "Juli", "2023"]
    assert (row["tokens"], row["baseline_units"]) == (5, 4)
    assert (row["split"], row["delimiter"], row["inflation"]) == (1, 0, 0.25)
    assert row["theta"] == pytest.approx(1 - 3 / math.sqrt(20))
    assert row["mdfr"] == pytest.approx(0.2 + 0.025 + 0.5 * row["theta"])
    # The released profile has the spaces as tokens of their own.
    assert (row["released_tokens"], row["released_units"]) == (7, 4)
    assert row["mdfr_as_published"] == pytest.approx(row["released_theta"] - 0.1 - 0.05 * 3)


def test_no_items_no_rows(small: Tokeniser) -> None:
    assert list(token_frame([], small, WEIGHTS).columns) == list(TOKEN_COLUMNS)


def test_every_value_is_in_range(tokens: pd.DataFrame) -> None:
    for name in ("split", "delimiter", "inflation", "theta", "mdfr", "dfr", "mdfr_as_published"):
        assert tokens[name].between(0, 1).all(), name


def test_items_have_the_mean_of_their_dates(tokens: pd.DataFrame) -> None:
    two, one = item("de", "long", *DAYS), item("zh", "calendar", DAYS[0])
    found = item_fragmentation([two, one], tokens)
    assert list(found.columns) == ["item_id", "mdfr", "mdfr_as_published"]
    assert found["item_id"].tolist() == [two.item_id, one.item_id]
    cells = tokens.set_index(["language", "format", "date"])["mdfr"]
    assert found["mdfr"].tolist() == pytest.approx(
        [cells["de", "long"].mean(), cells["zh", "calendar", "2023-07-03"]]
    )
    # A date that an item mentions twice counts twice.
    twice = item("de", "long", DAYS[0], *DAYS)
    weighted = item_fragmentation([twice], tokens)["mdfr"].iloc[0]
    first, second = cells["de", "long"]
    assert weighted == pytest.approx((2 * first + second) / 3)


def test_items_without_their_date_or_a_tokeniser(tokens: pd.DataFrame) -> None:
    other = item("de", "long", date(1999, 1, 1))
    with pytest.raises(DataError, match=rf"{other.item_id}: date 1999-01-01 \(de, long\)"):
        item_fragmentation([other], tokens)
    nothing = item_fragmentation([other, other], tokens.head(0))
    assert nothing["item_id"].tolist() == [other.item_id]
    assert nothing["mdfr"].isna().all() and nothing["mdfr_as_published"].isna().all()


def test_means_by_language_and_calendar(tokens: pd.DataFrame) -> None:
    found = mdfr_frame({"b": tokens, "a": tokens.head(0)})
    assert list(found.columns) == list(MDFR_COLUMNS)
    assert found["model"].tolist() == ["a"] * 8 + ["b"] * 8
    mine = found[found["model"] == "b"].set_index(["language", "calendar"])
    assert sorted(mine.index) == [
        *(("ar", "gregorian"), ("ar", "hijri"), ("de", "gregorian"), ("en", "gregorian")),
        *(("ha", "gregorian"), ("ha", "hijri"), ("zh", "gregorian"), ("zh", "lunar")),
    ]
    assert mine["dates"].to_dict()["de", "gregorian"] == 8
    assert mine["dates"].to_dict()["ha", "gregorian"] == 6
    part = tokens[(tokens["language"] == "ha") & (tokens["calendar"] == "hijri")]
    row = mine.loc[("ha", "hijri")]
    assert row["mdfr"] == pytest.approx(part["mdfr"].mean())
    assert row["token_inflation"] == pytest.approx((part["tokens"] / part["baseline_units"]).mean())
    assert row["flag"] == "" and row["tokeniser"] == tokens["tokeniser"].iloc[0]
    absent = found[found["model"] == "a"]
    assert absent["flag"].eq("missing").all() and absent["dates"].eq(0).all()
    assert absent["mdfr"].isna().all() and absent["tokeniser"].isna().all()
    assert mdfr_frame({"a": tokens.head(0)}).empty


def test_table_4_beside_the_design() -> None:
    table = read_csv(TABLE_4)
    design = pd.DataFrame(
        {"column": list(FORMS), "n": 10, "mdfr_as_published": 0.5, "sampling_sd": 0.01}
    )
    found = released_frame({"b": design, "a": design}, table, {"a": "Gemma3"})
    assert list(found.columns) == list(RELEASED_COLUMNS)
    assert found["model"].tolist() == ["a"] * 9 + ["b"] * 9
    mine = found[found["model"] == "a"].set_index("column")["published"]
    assert mine.to_dict() == {
        **{"ar_gregorian": 0.39, "zh_gregorian": 0.34, "en_gregorian": 0.44},
        **{"de_gregorian": 0.34, "ha_gregorian": 0.33, "zh_lunar": 0.48},
        **{"ar_hijri": 0.30, "en_hijri": 0.31, "ha_hijri": 0.31},
    }
    assert found[found["model"] == "b"]["published"].isna().all()
    assert released_frame({"a": design.head(0)}, table, {}).empty
    with pytest.raises(DataError, match=r"\['Gemma 9'\].*Qwen3"):
        released_frame({"a": design}, table, {"a": "Gemma 9"})


def test_rows_of_table_4_that_are_one_tokeniser() -> None:
    """GPT-5 fell back to the encoding of GPT-4: three rows of the paper are the same."""
    columns = published_columns(read_csv(TABLE_4))
    rows = {
        name: [columns[name, column] for column in FORMS] for name in {key for key, _ in columns}
    }
    assert rows["GPT-3.5"] == rows["GPT-4"] == rows["GPT-5"]
    assert rows["Llama 2"] == rows["Phi 3.5"]
    different = [a != b for a, b in zip(rows["Llama 2"], rows["Mistral"], strict=True)]
    assert [column for column, is_so in zip(FORMS, different, strict=True) if is_so] == ["zh_lunar"]


@pytest.fixture
def job(tmp_path: Path) -> SimpleNamespace:
    write_records(tmp_path / "items.jsonl", items_of(*DAYS))
    (tmp_path / "tokenizer.json").write_text(description(), "utf-8")
    return SimpleNamespace(
        input=Inputs(
            item_files=[str(tmp_path / "items.jsonl")],
            tokenizer=[str(tmp_path / "tokenizer.json")],
        ),
        output=SimpleNamespace(tokens=tmp_path / "a.csv", released=tmp_path / "a.released.csv"),
        params=SimpleNamespace(
            entry={"source": "x/y", "tokenizer": "same"},
            weights=WEIGHTS,
            released_design={"years": [1990, 1999], "dates": 16, "repetitions": 2},
            seed=1,
        ),
    )


def run_twice(script: Any, job: SimpleNamespace) -> list[bytes]:
    """Run a rule script and return the bytes of its outputs, which a second run must repeat."""
    seen = []
    for _ in range(2):
        script.main(job)
        seen.append([Path(path).read_bytes() for path in vars(job.output).values()])
    assert seen[0] == seen[1]
    return seen[0]


def test_rule_scripts(job: SimpleNamespace, tmp_path: Path) -> None:
    run_twice(measure_fragmentation, job)
    assert len(read_tokens(job.output.tokens)) == 40
    assert read_released(job.output.released)["column"].tolist() == list(FORMS)
    text = read_tokens(job.output.tokens).set_index(["language", "format", "date"])["text"]
    assert text["ar", "iso", "2023-07-03"] == "\u200e2023-07-03\u200e"

    nothing = SimpleNamespace(**vars(job))
    nothing.input = Inputs(job.input, tokenizer=[])
    nothing.output = SimpleNamespace(
        tokens=tmp_path / "b.csv", released=tmp_path / "b.released.csv"
    )
    nothing.params.entry = {"source": "x/y", "tokenizer": "none"}
    run_twice(measure_fragmentation, nothing)
    assert read_tokens(nothing.output.tokens).empty
    assert read_released(nothing.output.released).empty

    gathered = SimpleNamespace(
        input=Inputs(
            tokens=[str(tmp_path / f"{name}.csv") for name in "ab"],
            released=[str(tmp_path / f"{name}.released.csv") for name in "ab"],
            published=str(TABLE_4),
        ),
        output=SimpleNamespace(mdfr=tmp_path / "m.csv", mdfr_as_published=tmp_path / "p.csv"),
        params=SimpleNamespace(models=["a", "b"], published_rows={"a": "Qwen3"}),
    )
    run_twice(gather_fragmentation, gathered)
    found = read_csv(tmp_path / "m.csv")
    assert found["flag"].fillna("").tolist() == [""] * 8 + ["missing"] * 8
    assert read_csv(tmp_path / "p.csv")["model"].unique().tolist() == ["a"]


def test_files_of_another_shape_are_named(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", pd.DataFrame({"column": ["a"], "n": [1]}))
    for read in (read_tokens, read_released):
        with pytest.raises(DataError, match=r"x\.csv: columns"):
            read(tmp_path / "x.csv")


# What follows measures the real tokenisers on 150 random days from 1925 to 2075.

CELLS = (
    *(("ar", "gregorian"), ("zh", "gregorian"), ("en", "gregorian"), ("de", "gregorian")),
    *(("ha", "gregorian"), ("zh", "lunar"), ("ar", "hijri"), ("ha", "hijri")),
)
#: Mean mDFR and token inflation in the order of CELLS.
REFERENCE = {
    "gpt35turbo": ".48 2.5 .32 1.2 .36 1.2 .36 1.2 .40 1.3 .64 2.5 .80 4.5 .60 1.8",
    "gpt4o": ".42 1.5 .32 1.2 .36 1.2 .34 1.2 .40 1.3 .62 1.8 .65 2.0 .59 1.8",
    "llama2": ".68 3.4 .63 2.1 .63 2.2 .63 2.2 .66 2.3 .61 2.2 .80 4.5 .80 3.1",
    "llama3_1": ".43 1.6 .32 1.2 .36 1.2 .36 1.2 .40 1.3 .61 1.8 .76 2.5 .60 1.8",
    "deepseek_v3": ".46 1.8 .32 1.2 .36 1.2 .34 1.2 .40 1.3 .81 1.2 .78 2.8 .59 1.8",
    "qwen3": ".67 2.8 .63 1.9 .62 2.0 .62 1.9 .66 2.1 .76 1.5 .78 3.6 .73 2.5",
    "gemma3": ".64 2.1 .63 1.9 .62 2.0 .61 1.9 .66 2.1 .72 1.5 .74 2.3 .73 2.4",
}


@pytest.fixture(scope="module")
def real_items() -> list[Item]:
    rng = np.random.default_rng(2026)
    span = (date(2075, 12, 31) - date(1925, 1, 1)).days
    # One day in each of 150 equal spans: the reference values are means of 150 random days too.
    places = (np.arange(150) + rng.uniform(size=150)) * span / 150
    days = [date(1925, 1, 1) + timedelta(days=int(place)) for place in places]
    return [entry for day in days for entry in items_of(day)]


@pytest.fixture(scope="module")
def real_means(real_items: list[Item]) -> dict[str, pd.DataFrame]:
    frames = {name: token_frame(real_items, real(name), WEIGHTS) for name in REFERENCE}
    found = mdfr_frame(frames).set_index(["model", "language", "calendar"])
    # Llama 2 puts a space mark before every text. It shows nothing, so it is no piece here; the
    # reference values of its token inflation count it.
    marked = frames["llama2"].assign(
        token_inflation=lambda f: (f["tokens"] + 1) / f["baseline_units"]
    )
    extra = marked.groupby(["language", "calendar"])["token_inflation"].mean()
    return {
        name: found.loc[name].assign(
            reference_inflation=extra if name == "llama2" else found.loc[name, "token_inflation"]
        )
        for name in REFERENCE
    }


@NEEDED
@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_equation_1_on_random_dates(name: str, real_means: dict[str, pd.DataFrame]) -> None:
    numbers = [float(number) for number in REFERENCE[name].split()]
    found = real_means[name].loc[list(CELLS)]
    assert found["mdfr"].tolist() == pytest.approx(numbers[::2], abs=0.03)
    assert found["reference_inflation"].tolist() == pytest.approx(numbers[1::2], abs=0.1)


@NEEDED
def test_published_numbers_rank_tokenisers_backwards(
    real_means: dict[str, pd.DataFrame],
) -> None:
    rows = {
        **{"gemma3": "Gemma3", "qwen3": "Qwen3", "llama3_1": "Llama 3"},
        **{"gpt35turbo": "GPT-4", "llama2": "Llama 2", "gpt4o": "gpt-oss"},
    }
    published = published_columns(read_csv(TABLE_4))

    def rho(language: str, calendar: str, column: str) -> float:
        x = [published[row, f"{language}_{calendar}"] for row in rows.values()]
        y = [real_means[name].loc[(language, calendar), column] for name in rows]
        return spearman(x, y).r

    for column in ("token_inflation", "reference_inflation"):
        assert rho("ar", "gregorian", column) == pytest.approx(-0.90, abs=0.005)
        assert rho("ha", "hijri", column) == pytest.approx(-0.82, abs=0.005)
    assert rho("ar", "hijri", "reference_inflation") == pytest.approx(-0.94, abs=0.005)
    # Without its space mark, Llama 2 has fewer pieces than cl100k; the two change places.
    assert rho("ar", "hijri", "token_inflation") == pytest.approx(-0.89, abs=0.005)
    assert rho("ar", "gregorian", "mdfr") == pytest.approx(-0.75, abs=0.03)
    assert rho("ar", "hijri", "mdfr") == pytest.approx(-0.93, abs=0.02)
    # Not everywhere: single digits cost tokens and raise theta, in Western digits alike.
    assert rho("en", "gregorian", "token_inflation") > 0.5
