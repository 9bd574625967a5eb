"""The wording of answers: one table for the prompt and for the judge that reads replies."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.dates.signs import fold
from scripts.judging import answer_words as words
from scripts.judging.commitments import commitments, first_sentence
from scripts.judging.date_judge import judge
from scripts.judging.verdicts import Verdict, confusion
from scripts.multitempbench import tasks


def test_the_tables_cover_the_benchmark() -> None:
    assert words.LANGUAGES == tasks.LANGUAGES and words.RELATIONS == tasks.RELATIONS
    for table, names in (
        (words.RELATION_WORDS, words.RELATIONS),
        (words.YES_NO_WORDS, ("yes", "no")),
        (words.UNIT_WORDS, words.UNITS),
    ):
        assert set(table) == set(words.LANGUAGES)
        for forms in table.values():
            assert set(forms) == set(names)


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_no_form_has_two_meanings(language: str) -> None:
    for table in (words.RELATION_WORDS, words.YES_NO_WORDS, words.UNIT_WORDS):
        forms = [{fold(form) for form in of_label} for of_label in table[language].values()]
        assert len(set().union(*forms)) == sum(map(len, forms))


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("relation", words.RELATIONS)
def test_the_judge_reads_every_relation_word(language: str, relation: str) -> None:
    for form in words.relation_words(language, relation):
        for text in (form, f"{form}.", f"**{form}**", f"Answer: {form}"):
            for gold in words.RELATIONS:
                right = {"kind": "relation", "answer": gold, "accepted": [gold], "aliases": []}
                expected = "correct" if gold == relation else "incorrect"
                assert judge(text, right, language).verdict == expected, (text, gold)


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("value", ["yes", "no"])
def test_the_judge_reads_every_yes_and_no(language: str, value: str) -> None:
    for form in words.yes_no_words(language, value):
        for gold in ("yes", "no"):
            right = {"kind": "yes_no", "answer": gold, "accepted": [gold], "aliases": []}
            assert judge(form, right, language).verdict == (
                "correct" if gold == value else "incorrect"
            ), form


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("unit", words.UNITS)
def test_the_judge_reads_every_unit(language: str, unit: str) -> None:
    right = {"kind": "number", "answer": "45", "accepted": ["45"], "unit": unit, "aliases": []}
    for form in words.unit_words(language, unit):
        assert judge(f"45 {form}", right, language).verdict == "correct", form
        assert judge(f"46 {form}", right, language).verdict == "incorrect", form
    assert words.unit_word(language, unit) == words.unit_words(language, unit)[0]


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_the_judge_reads_every_refusal(language: str) -> None:
    right = {"kind": "date", "answer": "2023-07-03", "accepted": ["2023-07-03"], "aliases": []}
    for phrase in words.refusal_phrases(language):
        assert judge(phrase, right, language).verdict == "not_attempted", phrase


def test_unknown_names_are_errors() -> None:
    for call in (
        lambda: words.relation_word("fr", "before"),
        lambda: words.relation_word("en", "inside"),
        lambda: words.yes_no_word("en", "maybe"),
        lambda: words.unit_word("en", "fortnights"),
        lambda: words.refusal_phrases("fr"),
    ):
        with pytest.raises(ValueError, match="none of"):
            call()
    assert words.relation_word("de", "after") == "danach" and words.yes_no_word("zh", "yes") == "是"


def test_commitments_by_strength() -> None:
    text = 'x\nAnswer: 1\nFinal answer: 2. Because\n\\boxed{3} {"answer": "4"} Answer: 5'
    assert [(c.route, c.text) for c in commitments(text)] == [
        ("json", "4"),
        ("boxed", "3"),
        ("final_answer", "2"),
        ("answer", "5"),
    ]
    assert commitments("the answer may be 3") == []
    assert commitments("The answer is not 3") == []
    assert commitments("Answer:\n\n3")[0].text == "3"
    assert commitments('{"answer": ["3"]}')[0].text == '["3"]'
    assert commitments('{"answer": null} {"other": 1}')[0].text == ""
    assert commitments("最终答案是 3。因为")[0].text == "3"


def test_a_sentence_that_is_hedged_is_not_cut() -> None:
    assert first_sentence("3 july 2023. that is a monday") == "3 july 2023"
    assert "4 july" in first_sentence("3 july 2023. but it may be 4 july 2023")
    assert first_sentence("jul. 3, 2023") == "jul. 3, 2023"
    assert first_sentence("3. juli 2023") == "3. juli 2023"
    assert first_sentence("45. the rest is noise") == "45"


def test_confusion_counts_pairs() -> None:
    table = confusion([("correct", "correct"), ("correct", "incorrect"), ("not_attempted",) * 2])
    assert table.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]] and table.dtype == np.int64
    with pytest.raises(ValueError, match="maybe"):
        confusion([("correct", "maybe")])
    assert Verdict(None, "r", None, "why").answers() == {
        "verdict": None,
        "route": "r",
        "parsed": None,
        "reason": "why",
    }
