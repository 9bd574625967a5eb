"""Samples, headline, bins and off-by-one errors, by hand and on real tokenisers."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from scripts.files import DataError, read_csv, write_parquet, write_records
from scripts.records import Item
from scripts.syntaxbench import analyse_tokenisation, tokenise_inputs, tokens
from scripts.tokenisation.tokenisers import Tokeniser, from_description, load_file
from tests.small_tokeniser import description

DATA = Path(__file__).parents[2] / "../shared/data"


@pytest.fixture(scope="module")
def tokeniser() -> Tokeniser:
    return from_description("small", description(("un", "de", "cl", "ared", "cat")))


def item(task: str, condition: str, gold: Any = 0, **inputs: Any) -> Item:
    return Item.create("syntaxbench", task, {"condition": condition}, inputs, {"answer": gold}, {})


ITEMS = [
    item("count_chars", "english", 10, string="undeclared"),
    item("count_chars", "english", 3, string="cat"),
    item("count_chars", "random", 3, string="qxz"),
    item("letter_container", "english", "no", string="cat", letter="u"),
    item("letter_container", "random", "no", string="xyz", letter="u"),
    item("edit_distance", "english", 5, first="cat", second="decl"),
    item("edit_distance", "random", 3, first="qqq", second="wwww"),
    item("longest_string_finder", "english", "under", strings=["cat", "under", "de"]),
    item("longest_string_finder", "random", "zzz", strings=["zzz", "q"]),
    item("index_to_span", "english", "cat", document="cat " * 40, start=0, end=3),
]


@pytest.fixture(scope="module")
def samples(tokeniser: Tokeniser) -> pd.DataFrame:
    return tokens.sample_frame(ITEMS, tokeniser)


def test_what_counts_as_a_sample(samples: pd.DataFrame) -> None:
    """Both strings of edit_distance, the list as one, never the letter asked for."""
    assert len(samples) == 12
    assert "letter" not in set(samples["field"])
    edit = samples[(samples["task"] == "edit_distance") & (samples["condition"] == "english")]
    assert edit[["field", "characters", "tokens"]].to_numpy().tolist() == [
        ["first", 3, 1],
        ["second", 4, 2],
    ]
    longest = samples[samples["task"] == "longest_string_finder"].iloc[0]
    assert (longest["characters"], longest["tokens"]) == (10, 1 + 3 + 1)
    word = samples[samples["text"] == "undeclared"].iloc[0]
    assert json.loads(word["pieces"]) == ["un", "de", "cl", "ared"]
    assert word["tokens_per_character"] == pytest.approx(0.4)
    assert word["characters_per_token"] == pytest.approx(2.5)
    assert samples.loc[samples["task"] != "count_chars", "text"].isna().all()


def test_headline_pools_core_tasks_and_distinct_tokenisers(samples: pd.DataFrame) -> None:
    other = samples.assign(tokeniser="another", characters_per_token=1.0)
    nothing = samples.head(0)
    found = tokens.headline_frame({"a": samples, "b": samples, "c": other, "d": nothing})
    core = samples[samples["task"] != "index_to_span"]
    english = core[core["condition"] == "english"]
    row = found.set_index("condition").loc["english"]
    assert (row["n"], row["tokenisers"], row["left_out"]) == (2 * len(english), 2, '["d"]')
    # The mean of per-sample ratios, not the ratio of means.
    assert row["characters_per_token"] == pytest.approx(
        (english["characters_per_token"].mean() + 1) / 2
    )
    assert row["characters_per_token"] != pytest.approx(1 / row["tokens_per_character"])
    assert row["cohens_d"] > 0  # random - English
    empty = tokens.headline_frame({"d": nothing})
    assert empty["n"].tolist() == [0, 0]
    assert empty["cohens_d"].isna().all()


def test_summary_keeps_models_apart(samples: pd.DataFrame) -> None:
    found = tokens.summary_frame({"b": samples, "a": samples})
    assert found["model"].unique().tolist() == ["a", "b"]
    row = found[(found["task"] == "count_chars") & (found["condition"] == "english")].iloc[0]
    assert (row["n"], row["tokens_mean"]) == (2, 2.5)


def test_bin_labels() -> None:
    assert tokens.bin_labels([1, 2, 3, 4, 5, 6]) == ["1", "2", "3", "4", "5", "6+"]
    assert tokens.bin_labels([1, 5, 9]) == ["1-4", "5-8", "9+"]
    for bad in ([], [2, 2], [3, 1]):
        with pytest.raises(DataError, match="token_bins"):
            tokens.bin_labels(bad)


def scores(model: str = "m") -> pd.DataFrame:
    rows = []
    for entry in ITEMS:
        for shots in (0, 4):
            wrong = entry.inputs.get("string") == "undeclared"
            counted = entry.task == "count_chars"
            rows.append(
                {
                    "item_id": entry.item_id,
                    "model": model,
                    "mode": "non_thinking",
                    "task": entry.task,
                    "shots": shots,
                    "condition": entry.factors["condition"],
                    "correct": not wrong,
                    "gold": str(entry.gold["answer"]),
                    "parsed": "11" if wrong else str(entry.gold["answer"]),
                    "delta": (1.0 if wrong else 0.0) if counted else None,
                }
            )
    frame = pd.DataFrame(rows)
    return frame.astype({"correct": "boolean", "delta": float})


def test_bins_count_items_at_zero_shot(samples: pd.DataFrame) -> None:
    answers = tokens.answers_with_tokens(scores(), {"m": samples}, shots=0)
    assert len(answers) == len(ITEMS)
    found = tokens.bins_frame(answers, [1, 2, 3, 4], seed=42, resamples=200, level=0.95)
    count = found[(found["task"] == "count_chars") & (found["condition"] == "english")]
    assert count[["token_bin", "n", "correct", "ema"]].to_numpy().tolist() == [
        ["1", 1, 1, 1.0],
        ["4+", 1, 0, 0.0],
    ]
    edit = found[(found["task"] == "edit_distance") & (found["condition"] == "english")]
    assert edit["token_bin"].tolist() == ["3"]  # 1 + 2: both strings of the item
    assert "index_to_span" not in set(found["task"])


def test_unscored_answers_and_models_without_tokeniser_are_left_out(samples: pd.DataFrame) -> None:
    frame = pd.concat([scores("m"), scores("n")], ignore_index=True)
    frame.loc[0, "correct"] = pd.NA
    answers = tokens.answers_with_tokens(frame, {"m": samples, "n": samples.head(0)}, shots=0)
    assert set(answers["model"]) == {"m"}
    assert len(answers) == len(ITEMS) - 1
    none = tokens.token_frames(frame, {"n": samples.head(0)}, bins=[1, 2], seed=1)
    assert none["tokens_bins"].empty
    assert none["tokens_off_by_one"].empty
    assert tuple(none["tokens_bins"].columns) == tokens.BIN_COLUMNS


def test_a_scored_item_without_token_count_is_an_error(samples: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="no token count"):
        tokens.answers_with_tokens(scores(), {"m": samples.iloc[1:]}, shots=0)


def test_off_by_one_shows_the_pieces(samples: pd.DataFrame) -> None:
    answers = tokens.answers_with_tokens(scores(), {"m": samples}, shots=0)
    found = tokens.off_by_one_frame(answers, {"m": samples})
    assert found[["word", "gold", "parsed", "tokens"]].to_numpy().tolist() == [
        ["undeclared", "10", "11", "un|de|cl|ared"]
    ]
    row = found.iloc[0]
    assert (row["token_count"], row["multi_character_tokens"]) == (4, 4)
    assert bool(row["inside_multi_character"])


def test_an_empty_input_is_an_error(tokeniser: Tokeniser) -> None:
    with pytest.raises(DataError, match="empty"):
        tokens.sample_frame([item("count_chars", "english", 0, string="")], tokeniser)


def test_rule_scripts_from_items_to_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_records(tmp_path / "items.jsonl", ITEMS)
    (tmp_path / "tokenizer.json").write_text(description(("null", "cat")), "utf-8")
    write_parquet(tmp_path / "scores.parquet", scores())

    def tokenise(model: str, tokenizer: str, files: list[str]) -> str:
        job = SimpleNamespace(
            input=SimpleNamespace(item_files=str(tmp_path / "items.jsonl"), tokenizer=files),
            output=SimpleNamespace(tokens=str(tmp_path / f"{model}.csv")),
            params=SimpleNamespace(entry={"source": "x", "tokenizer": tokenizer}),
        )
        tokenise_inputs.main(job)
        return "".join(capsys.readouterr())

    assert "12 samples" in tokenise("m", "same", [str(tmp_path / "tokenizer.json")])
    assert "left out" in tokenise("n", "none", [])
    names = ["tokens_bins", "tokens_headline", "tokens_off_by_one", "tokens_summary"]
    job = SimpleNamespace(
        input=SimpleNamespace(
            scores=str(tmp_path / "scores.parquet"),
            tokens=[str(tmp_path / "m.csv"), str(tmp_path / "n.csv")],
        ),
        output={name: str(tmp_path / f"{name}.csv") for name in names},
        params=SimpleNamespace(
            models=["m", "n"],
            seed=42,
            statistics={"resamples": 100, "level": 0.95, "token_bins": [1, 2, 3, 4, 5, 6]},
        ),
    )
    analyse_tokenisation.main(job)
    headline = read_csv(tmp_path / "tokens_headline.csv")
    assert headline["left_out"].tolist() == ['["n"]', '["n"]']
    bins = read_csv(tmp_path / "tokens_bins.csv", dtype={"token_bin": str})
    assert bins["n"].sum() == len(ITEMS) - 1
    with pytest.raises(DataError, match="no column"):
        analyse_tokenisation.read_samples(str(tmp_path / "tokens_bins.csv"))


def test_words_that_look_missing_stay_words(tmp_path: Path, tokeniser: Tokeniser) -> None:
    words = ["null", "nan", "inf", "none", "na"]
    frame = tokens.sample_frame(
        [item("count_chars", "english", len(w), string=w) for w in words], tokeniser
    )
    frame.to_csv(tmp_path / "m.csv", index=False)
    assert sorted(analyse_tokenisation.read_samples(str(tmp_path / "m.csv"))["text"]) == sorted(
        words
    )


def real_words(count: int) -> list[str]:
    with zipfile.ZipFile(DATA / "nltk_words/words.zip") as archive:
        text = io.TextIOWrapper(archive.open("words/en"), "utf-8").read()
    words = [word for word in text.split() if word.isalpha() and len(word) > 1]
    return random.Random(42).sample(words, count)


@pytest.mark.skipif(not (DATA / "tokenizers").is_dir(), reason="no tokeniser files")
@pytest.mark.parametrize("name", ["olmo_v1_5", "llama2"])
def test_random_strings_show_more_characters_to_real_tokenisers(name: str) -> None:
    """SyntaxBench section 4.2: 3.169 against 1.892 characters per token, d = 2.165."""
    generator = random.Random(42)
    built = load_file(DATA / "tokenizers" / f"{name}.json.gz")
    items = []
    for word in real_words(400):
        twin = "".join(generator.choice("abcdefghijklmnopqrstuvwxyz") for _ in word)
        items.append(item("count_chars", "english", len(word), string=word))
        items.append(item("count_chars", "random", len(word), string=twin))
    found = tokens.headline_frame({name: tokens.sample_frame(items, built)}).set_index("condition")
    assert 2.4 < found.loc["english", "characters_per_token"] < 3.8
    assert 1.6 < found.loc["random", "characters_per_token"] < 2.1
    assert 1.2 < found.loc["english", "cohens_d"] < 3.5
