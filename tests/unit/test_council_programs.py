"""The council's two programs: what they see, what they are fooled by, and the shipped questions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import council_cases as cases
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.files import DataError
from scripts.judging.council import decide
from scripts.judging.council_programs import (
    PROGRAMS,
    overlap_judge,
    program,
    program_file,
    rule_judge,
)
from scripts.judging.council_programs.overlap_judge import notations
from scripts.judging.council_rubric import ALTERED, FLAGS, RIGHT, Case, GoldDate, normalised
from scripts.judging.council_values import denied, plain, read
from scripts.records import Item
from scripts.tide.items import gold_dates
from scripts.tide.judging import case_of
from scripts.tide.tasks import TASKS

Judge = Callable[[Case, str], dict[str, Any]]
JUDGES: dict[str, Judge] = {
    "rule": rule_judge.judge,
    "overlap": overlap_judge.judge,
}
ROOT = Path(__file__).resolve().parents[2]
rule, overlap = JUDGES["rule"], JUDGES["overlap"]
by_judge = pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
QUESTIONS = Path(__file__).parents[2] / "data/embedded/tide/questions.jsonl"


def strict(judge: Judge, case: Case, answer: str) -> bool | None:
    return decide([judge(case, answer)], len(case.dates), 0.5).strict


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a rate of 10%", {("percent", "10")}),
        ("১০% হারে", {("percent", "10")}),
        ("১০ (দশ) শতাংশ", {("percent", "10")}),
        ("five (5) per cent", {("percent", "5")}),
        ("Five percent, down from twenty-five per cent", {("percent", "5"), ("percent", "25")}),
        ("It is false that the duty is 5%: it is 10%", {("percent", "10")}),
        ("I do not know whether it is 5%", set()),
        ("শুল্ক ১০% ছিল না", set()),
        ("7.50 per cent and 3 percent", {("percent", "7.5"), ("percent", "3")}),
        ("১০ শতাংশ", {("percent", "10")}),
        ("BDT 8,000 or ১,০০,০০০ টাকা", {("number", "8000"), ("number", "100000")}),
        ("HS 8445.11.00", {("number", "8445.11.00")}),
        ("S.R.O. No. 101-AIN/2011", {("instrument", "101/2011")}),
        ("এস.আর.ও. নং ১০১-আইন/২০১১", {("instrument", "101/2011")}),
        ("G.O. No. 5/2019", {("instrument", "5/2019")}),
        ("Act No. 4 of 2010", {("instrument", "4/2010")}),
        ("২০১০ সনের ৪ নং আইন", {("instrument", "4/2010")}),
        ("not 15%, but 10%", {("percent", "10")}),
        ("10% instead of 15%", {("percent", "10")}),
        ("১৫% নয়, ১০%", {("percent", "10")}),
        ("not less than 15%", {("percent", "15")}),
        ("not only 15%", {("percent", "15")}),
        ("on 12 November 2019, 10%", {("percent", "10")}),
        ("007 kg, USD100, 0.0", {("number", "7"), ("number", "100"), ("number", "0")}),
        ("", set()),
    ],
)
def test_values_that_a_text_commits_to(text: str, values: set[tuple[str, str]]) -> None:
    assert read(text).values == values


def test_dates_are_no_values_and_denied_ones_are_apart() -> None:
    found = read("It was ১২ নভেম্বর ২০১৯, not 13 November 2019.")
    assert [day.value for day in found.dates] == ["2019-11-12"]
    assert [day.value for day in found.denied] == ["2019-11-13"]
    assert found.values == frozenset() and "november" not in found.words


@given(st.text(max_size=200))
def test_reading_never_fails(text: str) -> None:
    found = read(text)
    assert all(kind in ("percent", "number", "instrument") for kind, _ in found.values)
    assert not denied(plain("10%"), 0, 3)
    for judge in JUDGES.values():
        for case in cases.ALL:
            assert judge(case, text)["reason"] is None


# --- the rule judge ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "matched", "contradicting", "meaning"),
    [
        ("Lowered to 10% on 12 November 2019 by G.O. No. 5/2019.", True, False, True),
        ("G.O. No. 5/2019: ১০%, ১২ নভেম্বর, ২০১৯ খ্রিস্টাব্দ", True, False, True),
        ("10% from 12/11/2019 under General Order No. 5/2019", True, False, True),
        ("10%, G.O. No. 5, since November 12, 2019", True, False, True),
        ("10% under G.O. No. 5/2018 since 12 November 2019", True, False, False),
        ("12% under G.O. No. 5/2019 since 12 November 2019", True, False, False),
        ("10%, no longer 20%, or rather 8%, by G.O. No. 5/2019, 12 November 2019", True,
         False, False),
        ("Not 10% by G.O. No. 5/2019 on 12 November 2019", True, False, False),
        ("raised to 10% by G.O. No. 5/2019 on 12 November 2019", True, False, False),
        ("10%, G.O. No. 5/2019, on 13 November 2019", False, True, True),
        ("10%, G.O. No. 5/2019, in November 2019", False, False, True),
        ("10%, G.O. No. 5/2019, in 2020", False, False, True),
        ("10%, G.O. No. 5/2019, not on 12 November 2019", False, False, True),
        ("10%, G.O. No. 5/2019, on 12 or 13 November 2019", True, True, True),
        ("10%, G.O. No. 5/2019, on 12/11/2019 or 13/11/2019", True, True, True),
        ("10%, G.O. No. 5/2019 of 12 November 2019, amended on 2 June 2025", True, False, True),
        ("I do not know.", False, False, False),
        ("", False, False, False),
    ],
)  # fmt: skip
def test_the_rule_judge_on_one_dated_change(
    answer: str, matched: bool, contradicting: bool, meaning: bool
) -> None:
    answers = rule(cases.PLAIN, answer)
    found = (answers["date_matches"][0]["matched"], answers["contradicting"], answers["meaning"])
    assert found == (matched, contradicting, meaning)


CHANGE = replace(
    cases.PLAIN,
    question="What is the duty on solar panels on 1 January 2015, and by which instrument?",
    reference="The duty is 5%, lowered from 10% by S.R.O. 101-AIN/2014 on 5 June 2014.",
    dates=(GoldDate("2014-06-05", "day", "5 June 2014"),),
)


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        ("It is five percent, down from ten percent, by SRO 101-AIN/2014, 5 June 2014.", True),
        ("৫ জুন ২০১৪ তারিখে এস.আর.ও. নং ১০১-আইন/২০১৪ দ্বারা ১০% হইতে হ্রাস করিয়া ৫%", True),
        ("It fell from 10% to 5% under SRO 101-AIN/2014 on 5 June 2014.", True),
        ("It was lowered from 5% to 10% by SRO 101-AIN/2014 on 5 June 2014.", False),
        ("SRO 101-AIN/2014: ৫% হইতে ১০%, 5 June 2014", False),
        ("The duty is either 5% or 10% under SRO 101-AIN/2014 from 5 June 2014.", False),
        ("5% or maybe 10%, SRO 101-AIN/2014, 5 June 2014", False),
        ("5%, lowered from 10% by SRO 110-AIN/2014 or SRO 101-AIN/2014, 5 June 2014", False),
        ("It is false that the duty is 5%, lowered from 10% by SRO 101-AIN/2014.", False),
        ("I do not know whether it is 5%, lowered from 10% by SRO 101-AIN/2014.", False),
        ("5%, from 10%, SRO 101-AIN/2014, of 5 June 2014, SRO 1-AIN/2001, SRO 2-AIN/2002, "
         "SRO 3-AIN/2003, SRO 4-AIN/2004, SRO 5-AIN/2005, SRO 6-AIN/2006", False),
    ],
)  # fmt: skip
def test_answers_that_settle_on_nothing_or_turn_the_change_round(
    answer: str, meaning: bool
) -> None:
    assert rule(CHANGE, answer)["meaning"] is meaning


def test_a_long_list_goes_to_a_person() -> None:
    history = "; ".join(f"{number} kg" for number in range(200, 210))
    listed = rule(CHANGE, f"{CHANGE.reference} {history}")
    assert (listed["meaning"], listed["uncertain"]) == (False, True)
    assert rule(CHANGE, f"{CHANGE.reference} Up to 200 kg.")["meaning"] is True


@pytest.mark.parametrize(
    ("question", "reference", "right", "wrong"),
    [
        ("Was it 5% or 10%?", "It was 5%.", "5%", "It was 10%."),
        ("Was it 5% or 10%?", "It was 5% then.", "It was 5% then.", "It was 10% then."),
        ("Was it USD 200 or USD 300?", "USD 200", "200 dollars", "USD 300"),
        ("Did SRO 1-AIN/2010 or SRO 2-AIN/2011 change it?", "SRO 1-AIN/2010", "1-AIN/2010",
         "SRO 2-AIN/2011"),
        ("Was it repealed?", "No, 5% stayed.", "No, 5%.", "Yes. 5%."),
        ("বাতিল হয়েছিল কি?", "হ্যাঁ, ৫% হয়।", "হ্যাঁ, ৫%", "না, ৫%"),
    ],
)  # fmt: skip
def test_a_value_of_the_question_is_no_answer_of_its_own(
    question: str, reference: str, right: str, wrong: str
) -> None:
    case = Case("item", "plain", question, reference)
    assert rule(case, right)["meaning"] is True
    assert rule(case, wrong)["meaning"] is False


@pytest.mark.parametrize(
    ("answer", "matched", "contradicting"),
    [
        ("5 June 2014 or maybe 5 June 2015", True, True),
        ("3 June 2014, 4 June 2014, 5 June 2014 or 6 June 2014", True, True),
        ("On 5 June 2014. Actually, on 7 June 2014.", True, True),
        ("On 5 June 2014. It was actually printed in 2014.", True, False),
        ("3 June 2014, 4 June 2014 and 5 June 2014", True, False),
        ("৫ জুন ২০১৪ তারিখে কার্যকর নয়।", False, False),
        ("৫ জুন ২০১৪ নয়, ৬ জুন ২০১৪", False, True),
        ("I do not know whether it was 5 June 2014.", False, False),
        ("It is not true that it came on 5 June 2014; it came on 6 June 2014.", False, True),
    ],
)
def test_dates_that_are_offered_taken_back_or_denied(
    answer: str, matched: bool, contradicting: bool
) -> None:
    made = rule(CHANGE, answer)
    assert made["date_matches"][0]["matched"] is matched
    assert made["contradicting"] is contradicting


def test_a_gold_month_is_matched_by_a_day_in_it_and_a_day_not_by_its_month() -> None:
    both = rule(cases.TWO_DATES, "18 months from July 2017 (SRO 101-AIN/2017), 9 from 25/01/2023")
    assert [match["matched"] for match in both["date_matches"]] == [False, True]
    assert both["meaning"] is True and both["contradicting"] is False
    wrong = rule(cases.TWO_DATES, "18 months, 9 months, SRO 101-AIN/2017; 1 July 2017, March 2023")
    assert [match["matched"] for match in wrong["date_matches"]] == [True, False]
    assert wrong["contradicting"] is True


def test_a_date_of_the_question_contradicts_nothing_but_the_misleading_one_does() -> None:
    asked = replace(cases.PLAIN, question="On 1 May 2018 it was 20%. When did it change?")
    assert rule(asked, "It was 20% on 1 May 2018.")["contradicting"] is False
    assert rule(cases.MISLED, "USD 200 since 9 June 2015")["contradicting"] is True
    shown = replace(cases.MISLED, kind="plain")
    assert rule(shown, "USD 200 since 9 June 2015")["contradicting"] is False


def test_a_bangla_month_neither_states_nor_denies_a_gregorian_one() -> None:
    answers = rule(cases.TWO_DATES, "18 মাস, 9 মাস, SRO 101-AIN/2017, 1 July 2017, মাঘ ১৪২৯ বঙ্গাব্দ")
    assert [match["matched"] for match in answers["date_matches"]] == [True, False]
    assert answers["contradicting"] is False


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        ("Rule 6 was omitted, extra clothing is now dutiable.", True),
        ("The rule was omitted and the clothing is dutiable", True),
        ("It was not omitted, so the extra clothing is not dutiable.", False),
        ("It was inserted, so the extra clothing is dutiable.", False),
        ("I do not know what became of the extra clothing that was omitted, dutiable.", False),
        ("It was omitted.", False),
        ("Nothing.", False),
    ],
)
def test_words_decide_where_the_reference_has_no_value(answer: str, meaning: bool) -> None:
    assert rule(cases.UNDATED, answer)["meaning"] is meaning


def test_a_reference_that_is_a_date_alone_leaves_no_meaning_to_miss() -> None:
    alone = replace(cases.PLAIN, question="When?", reference="12 November 2019")
    assert rule(alone, "13 November 2019")["meaning"] is True
    assert strict(rule, alone, "13 November 2019") is False
    assert overlap(alone, "13 November 2019")["meaning"] is True
    assert rule(alone, "unknown")["meaning"] is False


def test_a_share_of_words_near_the_threshold_is_uncertain() -> None:
    near = rule(cases.UNDATED, "omitted; the extra clothing")
    assert near["uncertain"] is True
    assert rule(cases.UNDATED, cases.UNDATED.reference)["uncertain"] is False


def test_a_reference_that_denies_a_date_asks_for_the_same() -> None:
    gold = "In force on 12 November 2019, not on 1 May 2018."
    dates = (cases.PLAIN.dates[0], GoldDate("2018-05-01", "day", "1 May 2018"))
    denying = replace(cases.PLAIN, question="When?", reference=gold, dates=dates)
    assert strict(rule, denying, gold) is True


# --- logged questions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "flags"),
    [
        ("USD 200 since 4 June 2015", (False, True, False, False)),
        ("USD 150 since 9 June 2015", (True, False, False, False)),
        ("USD 200 since 4 June 2015; the guide is wrong", (False, True, True, False)),
        ("USD 200 since 4 June 2015, although USD 150 applies too", (True, True, False, True)),
        ("I do not know.", (False, False, False, False)),
    ],
)
def test_behaviour_under_a_misleading_passage(answer: str, flags: tuple[bool, ...]) -> None:
    assert rule(cases.MISLED, answer)["flags"] == dict(
        zip(FLAGS["misalignment"], flags, strict=True)
    )
    rough = overlap(cases.MISLED, answer)["flags"]
    assert list(rough) == list(FLAGS["misalignment"])
    assert rough["followed_context"] == flags[0]


@pytest.mark.parametrize(
    ("answer", "flags", "element"),
    [
        ("Wrong: the rate is 10%, not 15%.", (True, True, True, True), "15%"),
        ("The rate of 15% is wrong.", (True, True, False, False), "15%"),
        ("The date is wrong, it should be 12 May 2018.", (True, False, True, False), ""),
        ("It is 12%, 15% is an error.", (True, True, True, False), "15%"),
        ("All is fine.", (False, False, False, False), ""),
    ],
)
def test_explanations_of_an_altered_statement(
    answer: str, flags: tuple[bool, ...], element: str
) -> None:
    made = rule(cases.EXPLAINED, answer)["flags"]
    assert tuple(made[name] for name in FLAGS["explanation"]) == flags
    assert made["localized_element"] == element
    rough = overlap(cases.EXPLAINED, answer)["flags"]
    assert rough["perturbation_localized"] == flags[1]
    assert rough["correction_correct"] == flags[3]


ALLOWANCE = Case(
    "item-6",
    "explanation",
    "Is this statement right? If not, correct it.",
    "The statement is inaccurate. SRO 132-AIN/2015, in force from 2015-06-04, set USD 200.",
    (),
    "Under SRO 132-AIN/2015 each aircrew member could bring goods worth USD 250.",
    ((ALTERED, "USD 250"), (RIGHT, "USD 200")),
)
BOND = Case(
    "item-7",
    "explanation",
    "Is this statement right? If not, correct it.",
    "The statement is inaccurate. The bond period took effect on 2023-01-25.",
    (GoldDate("2023-01-25", "day", "2023-01-25"),),
    "SRO 125-AIN/2023 shortened the bond period to 9 months from 2023-06-25.",
    ((ALTERED, "2023-06-25"), (RIGHT, "2023-01-25")),
)


@pytest.mark.parametrize(
    ("case", "answer", "right"),
    [
        (ALLOWANCE, "USD 250 is wrong, the allowance is USD 200.", True),
        (ALLOWANCE, "The amount: SRO 132-AIN/2015 of 4 June 2015 allows 200 dollars.", True),
        (ALLOWANCE, "USD 250 is wrong.", False),
        (ALLOWANCE, "USD 250 is wrong, it should be USD 300.", False),
        (ALLOWANCE, "It is not USD 200, the number of the SRO is wrong.", False),
        (ALLOWANCE, "It should be USD 200 or USD 150.", False),
        (ALLOWANCE, "USD 200 is right, since 9 June 2016.", False),
        (ALLOWANCE, ALLOWANCE.shown, False),
        (BOND, "The date is wrong: it took effect on 25 January 2023.", True),
        (BOND, "The date is wrong: it took effect on 26 January 2023.", False),
        (BOND, "The date 2023-06-25 is wrong.", False),
        (BOND, "It is wrong that it came on 25 January 2023.", False),
    ],
)
def test_an_explanation_is_right_by_the_right_fact(case: Case, answer: str, right: bool) -> None:
    assert strict(rule, case, answer) is right


@pytest.mark.parametrize(
    ("case", "answer", "right"),
    [
        (ALLOWANCE, "USD 250 is wrong, it is USD 200.", True),
        (ALLOWANCE, "USD 250 is wrong.", False),
        (ALLOWANCE, "", False),
        (BOND, "It took effect on 25 January 2023.", True),
        (BOND, "It took effect on 26 January 2023.", False),
    ],
)
def test_the_overlap_judge_on_explanations(case: Case, answer: str, right: bool) -> None:
    assert strict(overlap, case, answer) is right


def test_an_altered_fact_in_words() -> None:
    words = replace(
        cases.EXPLAINED, notes=((ALTERED, "the guarantee must be smaller"), (RIGHT, ""))
    )
    made = rule(words, "The error is that the guarantee must not be smaller.")["flags"]
    assert made["perturbation_localized"] is True and made["correction_correct"] is False
    assert rule(words, "The error is the date.")["flags"]["perturbation_localized"] is False


# --- the overlap judge ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "written"),
    [
        (GoldDate("2019-11-02", "day", "x"), "2 November 2019"),
        (GoldDate("2019-11-02", "day", "x"), "2nd November, 2019"),
        (GoldDate("2019-11-02", "day", "x"), "Nov 2, 2019"),
        (GoldDate("2019-11-02", "day", "x"), "02/11/2019"),
        (GoldDate("2019-11-02", "day", "x"), "2.11.2019"),
        (GoldDate("2019-11-02", "day", "x"), "2019-11-02"),
        (GoldDate("2019-11-02", "day", "x"), "০২ নভেম্বর, ২০১৯"),
        (GoldDate("2019-11-11", "day", "x"), "11th of November 2019"),
        (GoldDate("2019-11-21", "day", "x"), "21st November 2019"),
        (GoldDate("2019-11-23", "day", "x"), "23rd November 2019"),
        (GoldDate("2019-05", "month", "x"), "May 2019"),
        (GoldDate("2019-05", "month", "x"), "2019-05"),
        (GoldDate("2019", "year", "x"), "২০১৯"),
        (GoldDate("2019", "year", "the year 2019"), "the year 2019"),
    ],
)
def test_notations_of_a_date(gold: GoldDate, written: str) -> None:
    case = replace(cases.PLAIN, dates=(gold,))
    for answer in (written, f"since {written}.", f"({written})"):
        match = overlap(case, answer)["date_matches"][0]
        assert match["matched"] and match["span"] in answer
    for answer in (f"1{written}", f"{written}7", ""):
        assert not overlap(case, answer)["date_matches"][0]["matched"] or gold.text in answer
    assert plain(written) in notations(gold)


@pytest.mark.parametrize(
    ("answer", "meaning", "contradicting"),
    [
        ("On 12 November 2019 G.O. No. 5/2019 lowered it to 10%", True, False),
        ("G.O. No. 5/2019 lowered the rate to 12% on 12 November 2019", False, False),
        ("lowered to 10%", False, False),
        ("On 13 December 2021 G.O. No. 5/2019 lowered it to 10%", True, True),
        ("I do not know.", False, False),
    ],
)
def test_the_overlap_judge(answer: str, meaning: bool, contradicting: bool) -> None:
    answers = overlap(cases.PLAIN, answer)
    assert (answers["meaning"], answers["contradicting"]) == (meaning, contradicting)


# --- both ----------------------------------------------------------------------------------------


@by_judge
@pytest.mark.parametrize("case", cases.ALL, ids=lambda c: c.item_id)
def test_the_reference_has_full_credit_and_a_refusal_none(judge: Judge, case: Case) -> None:
    assert strict(judge, case, case.reference) is True
    for refusal in ("I do not know.", "I cannot answer this.", "জানি না", "?", "yes", case.question):
        assert strict(judge, case, refusal) is False
    assert judge(case, case.reference) == judge(case, case.reference)


@by_judge
@pytest.mark.parametrize("text", cases.HOSTILE)
def test_hostile_texts_get_no_credit(judge: Judge, text: str) -> None:
    for case in (cases.PLAIN, cases.TWO_DATES):
        assert strict(judge, case, text) is False
    for case in (
        replace(cases.PLAIN, question=text),
        replace(cases.MISLED, shown=text),
        replace(cases.PLAIN, reference=text or "x", dates=()),
    ):
        answers = judge(case, "It is 12 % since 1 May 2018.")
        assert decide([answers], len(case.dates), 0.5).seats == 1


@by_judge
@given(answer=st.sampled_from([case.reference for case in cases.ALL] + list(cases.HOSTILE)))
def test_spans_occur_in_the_answer(judge: Judge, answer: str) -> None:
    for case in cases.ALL:
        for match in judge(case, answer)["date_matches"]:
            assert normalised(match["span"]) in normalised(answer)
            assert bool(match["span"]) == match["matched"]


@by_judge
def test_time_grows_with_the_text_only(judge: Judge) -> None:
    for text in ("10% " * 5000, "not " * 5000, "1/1/" * 5000, "৯" * 20_000, "(" * 20_000):
        assert judge(cases.PLAIN, text)["reason"] is None


# --- the shipped questions -----------------------------------------------------------------------


@cache
def shipped() -> tuple[Case, ...]:
    if not QUESTIONS.is_file():
        return ()
    out = []
    for line in QUESTIONS.read_text().splitlines():
        pair = json.loads(line)
        task, fields = TASKS[pair["task"]], pair["fields"]
        if task.judged or (task.kind == "verdict" and fields["is_perturbed"]):
            gold = {name: fields[name] for name in task.hidden}
            gold["dates"] = gold_dates(fields["answer"])
            shown = {name: fields[name] for name in task.shown}
            out.append(case_of(Item(pair["question_id"], "tide", task.name, {}, shown, gold, {})))
    return tuple(out)


def require_shipped() -> tuple[Case, ...]:
    if not shipped():
        pytest.skip("no shipped questions")
    return shipped()


@by_judge
def test_shipped_references_have_full_credit_and_refusals_none(judge: Judge) -> None:
    found = require_shipped()
    assert len(found) > 10
    for case in found:
        assert strict(judge, case, case.reference) is True, case.reference
        assert strict(judge, case, "I do not know.") is False, case.reference
        assert strict(judge, case, case.question) is False, case.reference


@by_judge
def test_shipped_references_with_another_date_have_none(judge: Judge) -> None:
    changed = 0
    for case in require_shipped():
        for gold in case.dates:
            if gold.granularity == "day":
                other = date.fromisoformat(gold.value) + timedelta(days=1)
                wrong = case.reference.replace(gold.text, other.isoformat())
                assume_other = all(other.isoformat() != known.value for known in case.dates)
                if wrong != case.reference and assume_other:
                    assert strict(judge, case, wrong) is False, wrong
                    changed += 1
    assert changed > 20


@by_judge
def test_shipped_references_with_another_rate_have_none(judge: Judge) -> None:
    changed = 0
    for case in require_shipped():
        for match in re.finditer(r"(\d+)(?=%)", case.reference):
            wrong = f"{case.reference[: match.start()]}{int(match[1]) + 77}%"
            wrong += case.reference[match.end() + 1 :]
            assert strict(judge, case, wrong) is False, wrong
            changed += 1
    assert changed > 5


@by_judge
@given(
    rates=st.lists(st.integers(1, 99), min_size=3, max_size=3, unique=True),
    days=st.integers(1, 4000),
    shift=st.integers(1, 900),
)
def test_one_rate_or_one_date_changed(
    judge: Judge, rates: list[int], days: int, shift: int
) -> None:
    first, second, other = rates
    day = date(2008, 1, 1) + timedelta(days=days)
    text = f"{day.day} {day:%B} {day.year}"

    def sentence(rate: int, when: str) -> str:
        return f"From {when} the order changed the duty from {first}% to {rate}% of the value."

    case = Case(
        "drawn",
        "plain",
        "How did the duty change, and when?",
        sentence(second, text),
        (GoldDate(day.isoformat(), "day", text),),
    )
    assert strict(judge, case, case.reference) is True
    assert strict(judge, case, sentence(other, text)) is False
    later = day + timedelta(days=shift)
    assert strict(judge, case, sentence(second, f"{later.day} {later:%B} {later.year}")) is False


def test_every_module_of_the_folder_is_a_judge_under_its_name() -> None:
    assert {"overlap_judge", "rule_judge"} <= set(PROGRAMS)
    assert program("overlap_judge") is overlap_judge.judge
    for name in PROGRAMS:
        assert callable(program(name))
        assert (ROOT / program_file(name)).is_file()


def test_a_module_without_the_function_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(rule_judge, "judge")
    with pytest.raises(DataError, match=r"council_programs/rule_judge\.py: no function judge"):
        program("rule_judge")
