"""Tokens of Bengali and English words, and what the question pairs are like."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tide_questions import ELEMENTS, FIELDS, ITEMS, PAIRS, pair

from scripts.files import read_csv, read_records, write_records
from scripts.publishing.captions import FLAGS
from scripts.tide.rows import Element
from scripts.tide.statistics import compute_dataset, gather_tokens, measure_tokens
from scripts.tide.statistics.dataset_statistics import COLUMNS as DATASET_COLUMNS
from scripts.tide.statistics.dataset_statistics import (
    answer_characters,
    dataset_frame,
    input_characters,
)
from scripts.tide.statistics.tokens import (
    COLUMNS,
    SAMPLE_COLUMNS,
    resampled_sums,
    sample,
    sample_frame,
    scripts_of,
    tokens_frame,
)
from scripts.tide.tasks import TASKS
from scripts.tokenisation.tokenisers import from_description, from_encoding
from tests.real_tokenisers import NEEDED, real
from tests.small_tokeniser import description, small_encoding

BYTES = from_description("bytes", description(pieces=(), special=False))
WORDS = from_encoding(small_encoding("শুল্ক".encode(), b"duty", b" duty"))
STATISTICS = {"resamples": 300, "level": 0.95}
ZWNJ, ZWJ = "\u200c", "\u200d"


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def element(text: str, number: int = 1) -> Element:
    return Element(
        element_id=f"sro-1-2011/clause_{number}",
        document="sro-1-2011",
        document_type="SRO",
        type="clause",
        category="clause",
        number=str(number),
        title="",
        text=text,
        page_start=1,
        page_end=1,
        table_ids=[],
        dates=[],
    )


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bengali", "english"),
    [
        ("শুল্ক duty", 1, 1),
        ("শুল্ক-কর", 2, 0),
        ("don't", 0, 2),
        ("", 0, 0),
        ("২০২৩ 2023 । , %", 0, 0),
        ("১৫তম 5th", 1, 1),
        ("SROটি", 1, 1),
        (f"র{ZWNJ}্যাব ক্{ZWJ}ষ", 2, 0),
        (f"a{ZWJ}b {ZWNJ}", 0, 2),
        ("ড়\u09a1\u09bcঢ়", 1, 0),
        ("হইবে।নিম্নে", 2, 0),
        ("é", 0, 0),
    ],
)
def test_words_are_runs_of_one_script(text: str, bengali: int, english: int) -> None:
    found = sample(text, BYTES)
    assert (found["bengali_words"], found["english_words"]) == (bengali, english)
    assert found["characters"] == len(text)
    assert found["bengali_characters"] + found["english_characters"] <= len(text)


def test_joiners_belong_to_the_bengali_word_before_them() -> None:
    assert scripts_of(f"ক{ZWJ}খ a{ZWJ}b") == ["bengali"] * 3 + ["", "english", "", "english"]


# ---- tokens --------------------------------------------------------------------------------------


def test_every_byte_of_a_bengali_letter_counts() -> None:
    found = sample("কর ab ৫", BYTES)
    # Three bytes a letter, one a Latin letter; two spaces and the digit's three bytes are neither.
    assert (found["bengali_tokens"], found["english_tokens"], found["tokens"]) == (6, 2, 13)
    assert (found["bengali_characters"], found["english_characters"]) == (2, 2)


def test_a_token_belongs_to_the_word_of_its_first_visible_character() -> None:
    found = sample("duty duty শুল্ক", WORDS)
    assert len(WORDS.tokens("duty duty")) == 2
    assert (found["english_tokens"], found["english_words"]) == (2, 2)
    # The space before the Bengali word is a token of its own, the word one token.
    assert (found["bengali_tokens"], found["bengali_words"], found["tokens"]) == (1, 1, 4)


def test_a_word_in_two_scripts_is_a_word_of_each() -> None:
    found = sample("SROটি", BYTES)
    assert (found["english_tokens"], found["bengali_tokens"]) == (3, 6)


@given(st.text(alphabet="কখািশু্ab ৫5।" + ZWJ + ZWNJ, max_size=30))
def test_counts_add_up_with_single_bytes(text: str) -> None:
    found = sample(text, BYTES)
    assert found["tokens"] == len(text.encode())
    scripts = scripts_of(text)
    for script in ("bengali", "english"):
        bytes_of = sum(
            len(sign.encode()) for sign, name in zip(text, scripts, strict=True) if name == script
        )
        assert found[f"{script}_tokens"] == bytes_of


# ---- the tax -------------------------------------------------------------------------------------


def test_the_tax_of_single_bytes_is_known() -> None:
    elements = [element("কর duty", 1), element("শুল্ক ab", 2), element("", 3)]
    samples = sample_frame(elements, BYTES)
    assert list(samples.columns) == list(SAMPLE_COLUMNS) and len(samples) == 2
    found = tokens_frame({"bytes": samples}, ["bytes", "hosted"], 1, STATISTICS)
    assert list(found.columns) == list(COLUMNS)
    row = found.iloc[0]
    assert row["bengali_per_character"] == 3 and row["english_per_character"] == 1
    # Two and five letters and signs in two words; four and two Latin letters.
    assert (row["bengali_per_word"], row["english_per_word"]) == (21 / 2, 6 / 2)
    assert (row["tax_characters"], row["tax_words"]) == (3, 3.5)
    assert row["characters_per_token"] == pytest.approx(15 / 29)
    assert row["tax_words_low"] <= 3.5 <= row["tax_words_high"]
    assert row["flag"] == "" and row["tokeniser"] == BYTES.fingerprint
    hosted = found.iloc[1]
    assert (hosted["n"], hosted["flag"]) == (0, "missing") and np.isnan(hosted["tax_words"])


def test_a_vocabulary_with_the_words_pays_no_tax() -> None:
    samples = sample_frame([element("শুল্ক duty", n) for n in range(4)], WORDS)
    row = tokens_frame({"words": samples}, ["words"], 1, STATISTICS).iloc[0]
    assert (row["tax_words"], row["tax_words_low"], row["tax_words_high"]) == (1, 1, 1)
    # Five code points against four letters.
    assert row["tax_characters"] == pytest.approx(4 / 5)


@pytest.mark.parametrize("text", ["duty only", "শুধু শুল্ক", "2023"])
def test_words_of_one_script_have_no_tax(text: str) -> None:
    row = tokens_frame({"m": sample_frame([element(text)], BYTES)}, ["m"], 1, STATISTICS).iloc[0]
    assert np.isnan(row["tax_words"]) and row["flag"] == "too_few" and row["n"] == 1
    assert row["flag"] in FLAGS


def test_models_with_one_tokeniser_have_one_row() -> None:
    samples = sample_frame([element(f"কর {'duty ' * n}", n) for n in range(1, 6)], BYTES)
    found = tokens_frame({"a": samples, "b": samples.copy()}, ["a", "b"], 1, STATISTICS)
    pd.testing.assert_series_equal(
        found.iloc[0].drop("model"), found.iloc[1].drop("model"), check_names=False
    )
    assert not np.array_equal(resampled_sums(np.eye(3), 1, 20), resampled_sums(np.eye(3), 2, 20))


def test_resampled_sums_do_not_depend_on_the_blocks() -> None:
    values = np.arange(12, dtype=float).reshape(6, 2)
    whole, blocks = resampled_sums(values, 3, 40, at_once=40), resampled_sums(values, 3, 40, 7)
    assert np.array_equal(whole, blocks) and whole.shape == (40, 2)
    assert whole.mean(axis=0) == pytest.approx(values.sum(axis=0), rel=0.2)


def test_the_rules_measure_and_gather(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_records(tmp_path / "elements.jsonl", [element("কর duty", 1), element("", 2)])
    (tmp_path / "tokenizer.json").write_text(description(pieces=(), special=False))
    entry = {"source": "x", "revision": None, "tokenizer": "same"}
    for name, files in (("near", [str(tmp_path / "tokenizer.json")]), ("hosted", [])):
        measure_tokens.main(
            SimpleNamespace(
                input=SimpleNamespace(elements=tmp_path / "elements.jsonl", tokenizer=files),
                output=SimpleNamespace(tokens=tmp_path / f"{name}.csv"),
                params=SimpleNamespace(entry=entry),
            )
        )
    assert "left out of the tokeniser analysis" in capsys.readouterr().err
    assert list(read_csv(tmp_path / "hosted.csv").columns) == list(SAMPLE_COLUMNS)
    # A fingerprint that looks like a number stays a text.
    frame = read_csv(tmp_path / "near.csv").assign(tokeniser="0012345678901234")
    frame.to_csv(tmp_path / "near.csv", index=False)
    gather_tokens.main(
        SimpleNamespace(
            input=SimpleNamespace(tokens=[tmp_path / "near.csv", tmp_path / "hosted.csv"]),
            output=SimpleNamespace(tokens=tmp_path / "tokens.csv"),
            params=SimpleNamespace(
                models=["hosted", "near"],
                tokenised=["near", "hosted"],
                statistics=STATISTICS,
                seed=3,
            ),
        )
    )
    found = read_csv(tmp_path / "tokens.csv", dtype={"tokeniser": str})
    assert found["model"].tolist() == ["hosted", "near"]
    assert found["flag"].fillna("").tolist() == ["missing", ""]
    assert found["tokeniser"].iloc[1] == "0012345678901234"
    assert found["tax_characters"].iloc[1] == 3


@NEEDED
def test_the_tax_of_real_tokenisers(repository: Path) -> None:
    """docs/tokenisation.md prints these, and the command that gives them."""
    from tests.benchmarks.bench_tide_tokens import truth_elements

    elements = truth_elements(repository / "data/embedded/tide/truth")
    names = ["llama2", "qwen3", "gpt4o"]
    samples = {name: sample_frame(elements, real(name)) for name in names}
    found = tokens_frame(samples, names, 42, STATISTICS).set_index("model")
    tax = found["tax_words"]
    assert tax.to_dict() == pytest.approx({"llama2": 4.26, "qwen3": 5.70, "gpt4o": 2.13}, rel=0.15)
    assert (found["tax_words_low"] < tax).all() and (tax < found["tax_words_high"]).all()
    words = found["bengali_per_word"] / found["tax_words"]
    assert words.to_numpy() == pytest.approx(found["english_per_word"].to_numpy())


# ---- the question pairs --------------------------------------------------------------------------


def test_lengths_are_of_what_a_model_is_shown() -> None:
    for task, fields in FIELDS.items():
        one = pair(task)
        shown = [one.fields[name] for name in TASKS[task].shown]
        expected = sum(
            len(value) if isinstance(value, str) else sum(map(len, value)) + len(value) - 1
            for value in shown
        )
        assert input_characters(one) == expected
        if task == "event_sorting":
            events = [event["event"] for event in fields["answer_ordered"]]
            assert answer_characters(one) == sum(map(len, events)) + len(events) - 1
        else:
            assert answer_characters(one) == len(fields["answer"])


def test_the_dataset_counts_pairs_threads_and_clauses() -> None:
    found = dataset_frame(PAIRS, ITEMS).set_index("task")
    assert list(found.reset_index().columns) == list(DATASET_COLUMNS)
    assert list(found.index) == [*TASKS, "all"]
    for task in TASKS:
        mine = [each for each in PAIRS if each.task == task]
        row = found.loc[task]
        assert row["pairs"] == len(mine)
        assert row["threads"] == len({each.thread_id for each in mine})
        assert row["clauses"] == len({clause for each in mine for clause in each.clause_ids})
        assert row["input_characters"] == pytest.approx(np.mean([*map(input_characters, mine)]))
        dated = {item.source["question_id"] for item in ITEMS if item.gold["dates"]}
        assert row["dated"] == sum(each.question_id in dated for each in mine)
    assert found.loc["all", "pairs"] == len(PAIRS)
    sums = found.drop("all")
    # A thread gives pairs of several tasks, so only pairs and dated ones add up.
    assert found.loc["all", "dated"] == sums["dated"].sum()
    assert found.loc["all", "threads"] <= sums["threads"].sum()
    whole = (sums["input_characters"] * sums["pairs"]).sum() / len(PAIRS)
    assert found.loc["all", "input_characters"] == pytest.approx(whole)


def test_tasks_without_a_pair_have_no_length() -> None:
    found = dataset_frame([], [])
    assert found["pairs"].eq(0).all() and found["input_characters"].isna().all()
    assert len(found) == 9


def test_the_rule_reads_pairs_and_items(tmp_path: Path) -> None:
    write_records(tmp_path / "questions.jsonl", PAIRS)
    paths = []
    for task in TASKS:
        paths.append(tmp_path / f"{task}.jsonl")
        write_records(paths[-1], [item for item in ITEMS if item.task == task])
    compute_dataset.main(
        SimpleNamespace(
            input=SimpleNamespace(questions=tmp_path / "questions.jsonl", item_files=paths),
            output=SimpleNamespace(dataset=tmp_path / "dataset.csv"),
        )
    )
    expected = dataset_frame(PAIRS, ITEMS)
    pd.testing.assert_frame_equal(read_csv(tmp_path / "dataset.csv"), expected, check_dtype=False)
    assert read_records(tmp_path / "questions.jsonl", type(PAIRS[0])) == PAIRS
    assert len(ELEMENTS) > 0
