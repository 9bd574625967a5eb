"""Every check of a question pair: what passes, what fails, and on which ground."""

import copy
import json
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tide_construction_material import (
    CORPUS,
    EARLY,
    EMPTY,
    FEE,
    GOOD,
    LATE,
    MIDDLE,
    SHIPPED,
    TABLE,
    THREAD,
    shipped_elements,
)

from scripts.tide.construction import pair_checks
from scripts.tide.construction.facts import (
    date_words,
    facts_of,
    stem_instruments,
    with_bangla,
    years_in,
)
from scripts.tide.construction.pair_checks import (
    CHECKS,
    canonical,
    duplicate_key,
    first_failure,
    holds,
)
from scripts.tide.construction.provisions import Corpus
from scripts.tide.construction.relative_times import (
    Offset,
    offsets_in,
    on_timeline,
    start_of,
    target,
)
from scripts.tide.rows import Thread
from scripts.tide.tasks import TASKS


def D(*values):
    return frozenset(Decimal(value) for value in values)


def failure(task, clause_ids=None, corpus=CORPUS, **changes):
    cited, fields = GOOD[task]
    return first_failure(
        task, cited if clause_ids is None else clause_ids, {**fields, **changes}, THREAD, corpus
    )


def check_of(task, clause_ids=None, **changes):
    found = failure(task, clause_ids, **changes)
    return found and found.check


# Facts


@pytest.mark.parametrize(
    ("text", "rates", "amounts", "numbers"),
    [
        ("মূল্যভিত্তিক ১% (এক শতাংশ) এর অতিরিক্ত", D(1), D(), D()),
        ("৭.৫ (সাড়ে সাত) শতাংশ; শতকরা ৫ ভাগ", D("7.5", 5), D(), D()),
        ("10 (ten) per cent, 3 percent and 2 per centum", D(10, 3, 2), D(), D()),
        ("৫,০০০ (পাঁচ হাজার) টাকা", D(), D(5000), D()),
        ("BDT 8,000, USD 5.50, Tk. 500, ৳৫০০ and $5", D(), D(8000, "5.5", 500, 5), D()),
        ("1 lakh US dollars; ২ কোটি টাকা; USD 1,00,000", D(), D(100_000, 20_000_000), D()),
        ("36kg for 12 months", D(), D(), D(36, 12)),
        ("Section 19(1)", D(), D(), D(19, 1)),
        ("10,200 and 10,20", D(), D(), D(10200, 10)),
    ],
)
def test_quantities_are_read_by_value(text, rates, amounts, numbers):
    found = facts_of(text)
    assert (found.rates, found.amounts) == (rates, amounts)
    assert found.numbers >= numbers


@pytest.mark.parametrize(
    ("text", "instruments"),
    [
        ("S.R.O. No. 101-AIN/2011", {(101, 2011)}),
        ("এস.আর.ও. নং ১০১-আইন/২০১১/কাস্টমস", {(101, 2011)}),
        ("SRO 175/2024 and G.O. No. 2/2016", {(175, 2024), (2, 2016)}),
        ("Act No. 4 of 1969; ২০১২ সনের ৪৭ নং আইন", {(4, 1969), (47, 2012)}),
        ("09/06/2011 and 2011-06-09", set()),
        ("a ratio of 3/4", set()),
    ],
)
def test_instrument_numbers_are_read_in_both_scripts(text, instruments):
    assert facts_of(text).instruments == instruments


def test_dates_are_values_and_wrong_ones_are_kept():
    found = facts_of("২৬ জ্যৈষ্ঠ, ১৪১৮ বঙ্গাব্দ / 9 June 2011; in 2012; 31 June 2013")
    assert {"2011-06-09", "2012"} <= found.dates
    assert found.wrong_dates == ("31 June 2013",)
    assert with_bangla(["2011-06-09"]) == {"2011-06-09", "1418-02-26"}
    assert with_bangla(["1700-01-01", "2011"]) == {"1700-01-01", "2011"}
    assert stem_instruments("sro-101-2011") == {(101, 2011)} and not stem_instruments("x")


def test_codes_enumerators_and_words():
    found = facts_of("১২। HS 8445.11.00\n(3) twenty-five or পাঁচ")
    assert found.codes == {"8445.11.00"} and found.enumerators == D(12, 3)
    assert found.spelled == D(25, 5)


def test_what_is_asked_is_the_rate_before_the_heading_before_the_date():
    text = "5% for 8445.11.00 by SRO 12/2013"
    assert facts_of(text).asked == {("rate", Decimal(5))}
    assert facts_of(text[7:]).asked == {("code", "8445.11.00")}
    assert facts_of("SRO 12/2013").asked == {("instrument", (12, 2013))}
    assert facts_of("nothing").asked == frozenset()


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    found = facts_of(text)
    assert found.union(found).values == found.values
    assert isinstance(date_words(text), list) and isinstance(years_in(text), frozenset)
    assert canonical(canonical(text)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "in June",
        "In May the rate moved",
        "জুন মাসে",
        "জ্যৈষ্ঠের শেষে",
        "Boishakh",
        "the 1969 Act",
        "১৯৬৯ সনের আইন",
        "FY 2018-19",
        "FY18",
        "অর্থবছর ২০১৮-১৯",
        "SRO 12/2013",
        "on 09/06/2011",
        "Sept. was the month",
    ],
)
def test_what_tells_a_time_is_found(text):
    assert date_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "The rate may rise",
        "May be repealed",
        "মেয়াদ ১২ মাস",
        "Decision on marching bands",
        "12 months, 2000.50 taka, 8445.11",
        "the august assembly marches on",
    ],
)
def test_what_tells_no_time_is_left_alone(text):
    assert date_words(text) == []


# Relative times


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("six years later", [Offset(6)]),
        ("two years earlier", [Offset(-2)]),
        ("a year later, then 18 months after", [Offset(1), Offset(0, 18)]),
        ("one year and six months later", [Offset(1, 6)]),
        ("one year, two months and three days before", [Offset(-1, -2, -3)]),
        ("twenty-five years later", [Offset(25)]),
        ("তিন বছর পরে", [Offset(3)]),
        ("২ বছর আগে", [Offset(-2)]),
        ("two weeks later", [Offset(0, 0, 14)]),
        ("a decade later", [Offset(10)]),
        ("zero years later", []),
        ("six years", []),
        ("later", []),
        ("9999999 years later", []),
    ],
)
def test_offsets_are_read(text, offsets):
    if text == "9999999 years later":
        assert len(offsets_in(text)) <= 1
        return
    assert offsets_in(text) == offsets


@pytest.mark.parametrize(
    ("start", "offset", "value"),
    [
        ("2016-06-02", Offset(6), "2022"),
        ("2016", Offset(-2), "2014"),
        ("2016-06", Offset(0, 8), "2017-02"),
        ("2016-01-31", Offset(0, 1, 1), "2016-03-01"),
        ("2016-06-02", Offset(0, 0, -2), "2016-05-31"),
        ("2016", Offset(0, 1), None),
        ("2016-06", Offset(0, 0, 1), None),
        ("2016-06-02", Offset(9000), None),
        ("2016-06-02", Offset(-3000), None),
    ],
)
def test_targets_are_as_fine_as_the_offset(start, offset, value):
    assert target(start, offset) == value


def test_starts_and_timelines():
    assert start_of("2016").value == "2016"
    assert start_of("২ জুন ২০১৬").value == "2016-06-02"
    assert start_of("June 2, 2016 (SRO 160/2016)").value == "2016-06-02"
    assert start_of("১৪২৩ বঙ্গাব্দ") is None and start_of("once") is None
    assert on_timeline("2016", ["2016-06-02", "2016-06-02", "2020-01-01"]) == ["2016-06-02"]
    assert on_timeline("20", ["2016-06-02"]) == []


# Comparing


def test_comparison_is_by_value_and_by_whole_words():
    assert canonical(" “৯ জুন, ২০১১”. ") == canonical("2011-06-09") == "2011-06-09"
    assert canonical("5-7 June 2016") and canonical("") == ""
    assert holds("the rate is 15%", "15%") and not holds("the rate is 15%", "5%")
    assert not holds("USD 5.50", "5") and not holds("1,200", "1") and holds("৫% এর", "5%")
    assert holds("on 9 June 2011 it", "০৯ জুন ২০১১")


# Shape, clauses


@pytest.mark.parametrize("task", TASKS)
def test_a_good_pair_passes(task):
    assert failure(task) is None


@pytest.mark.parametrize("task", TASKS)
def test_every_field_is_needed_and_has_its_type(task):
    _, fields = GOOD[task]
    for name in fields:
        without = {key: value for key, value in fields.items() if key != name}
        assert first_failure(task, [EARLY], without, THREAD, CORPUS).check == "fields"
        for wrong in (7.5, {"a": 1}, [["x"]], float("inf"), [None]):
            assert check_of(task, **{name: wrong}) == "fields"
    assert check_of(task, extra="x") == "fields"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("text", ["", " \n", "\x00", "a\u202eb", "\ud800", "x" * 5001])
def test_texts_are_bounded_and_visible(task, text):
    _, fields = GOOD[task]
    for name, value in fields.items():
        if isinstance(value, str):
            assert check_of(task, **{name: text}) == "text"
        elif isinstance(value, list) and isinstance(value[0], str):
            assert check_of(task, **{name: [text, *value[1:]]}) == "text"


def test_lists_are_bounded():
    assert check_of("temporal_mcq", options=[]) == "fields"
    many = [f"Event {chr(97 + n)} happens." for n in range(21)]
    assert check_of("event_sorting", events_shuffled=many) == "fields"


@pytest.mark.parametrize(
    ("clause_ids", "detail"),
    [
        ([], "no clause"),
        ([EARLY, EARLY], "twice"),
        (["x/clause_1"], "does not exist"),
        (["../../etc/passwd"], "does not exist"),
        ([EMPTY], "is empty"),
    ],
)
def test_cited_clauses_exist_and_are_not_empty(clause_ids, detail):
    found = failure("open_ended", clause_ids)
    assert found.check == "clauses" and detail in found.detail


# Grounding


@pytest.mark.parametrize(
    ("answer", "check"),
    [
        ("It is 5% since 2015-06-04.", None),
        ("It is ৫ (পাঁচ) শতাংশ since ৪ জুন ২০১৫.", None),
        ("It is five percent since 21 Joishtho 1422.", None),
        ("In 2015, in June 2015, in জ্যৈষ্ঠ ১৪২২ বঙ্গাব্দ.", None),
        ("S.R.O. No. 101-AIN/2015 and এস.আর.ও. নং ১০১-আইন/২০১৫.", None),
        ("USD 200, US$ 200 or 200 dollars.", None),
        ("Three changes, 2 tables.", None),
        ("It is 6%.", "rates"),
        ("It is 200%.", "rates"),
        ("USD 300.", "rates"),
        ("USD 5.", "rates"),
        ("It came on 2015-06-05.", "dates"),
        ("It came in July 2015.", "dates"),
        ("It came in 2016.", "dates"),
        ("It came on 31 June 2015.", "dates"),
        ("It came on 04/06/15.", "dates"),
        ("S.R.O. No. 102-AIN/2015.", "instruments"),
        ("S.R.O. No. 101-AIN/2016.", "instruments"),
        ("It covers 36 kg.", "numbers"),
        ("It covers heading 8445.11.00.", "numbers"),
        ("2019 was the year.", "numbers"),
        ("2.5 is the factor.", "numbers"),
    ],
)
def test_answers_state_only_what_the_cited_clauses_do(answer, check):
    assert check_of("open_ended", [MIDDLE], answer=answer) == check


def test_evidence_is_that_of_the_cited_clauses_only():
    answer = "The fee is BDT 8,000."
    assert check_of("open_ended", [MIDDLE], answer=answer) == "rates"
    assert check_of("open_ended", [FEE], answer=answer) is None
    assert check_of("open_ended", [TABLE], answer="7.5% for 8445.11.00 and 8445.11.") is None
    assert check_of("open_ended", [LATE], answer="2% for 18 months.") is None
    assert check_of("open_ended", ["act-4-2010/clause_2"], answer="5,000 taka, clause 2.") is None


@given(st.sampled_from(list(TASKS)), st.integers(1990, 2199), st.integers(1, 28))
def test_no_invented_day_passes(task, year, day):
    if (year, day) in {(2015, 4)}:
        return
    invented = f"{year}-06-{day:02d}"
    real = {"2012-06-07", "2015-06-04", "2018-06-07", "2010-06-10"}
    if invented in real or task == "event_sorting":
        return
    fields = GOOD[task][1]
    changes = {"answer": f"{fields['answer']} {invented}"}
    if task == "temporal_mcq":
        options = [*fields["options"]]
        options[1] = changes["answer"]
        changes["options"] = options
    found = check_of(task, **changes)
    assert found in ("dates", "scenario")


# Multiple choice


@pytest.mark.parametrize(
    "changes",
    [
        {"options": ["3%", "5%", "2%"]},
        {"options": ["3%", "5%", "2%", "10%", "1%"]},
        {"options": ["5%", "5%", "5%", "5%"]},
        {"options": ["3%", "5%", "২%", " 2%. "]},
        {"options": ["4 June 2015", "5%", "2015-06-04", "1%"]},
        {"options": ["3%", "5%", "...", "10%"]},
        {"answer_index": 4},
        {"answer_index": -1},
        {"answer_index": 0},
        {"answer": "(b) 5%"},
    ],
)
def test_choices_have_four_options_and_one_answer(changes):
    assert check_of("temporal_mcq", **changes) == "options"


def test_an_index_is_a_whole_number():
    assert check_of("temporal_mcq", answer_index=True) == "fields"
    assert check_of("temporal_mcq", answer_index=1.0) == "fields"
    assert check_of("temporal_mcq", answer_index="1") == "fields"
    assert check_of("temporal_mcq", answer_index=10**30) == "options"


# Sorting


def ordered(*changes):
    events = copy.deepcopy(GOOD["event_sorting"][1]["answer_ordered"])
    for place, change in changes:
        events[place] |= change
    return events


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"answer_ordered": ordered((0, {"date": "2016-01-01"}))}, "events"),
        ({"answer_ordered": ordered((0, {"date": "2015-06-04"}))}, "events"),
        ({"answer_ordered": ordered((0, {"date": "2012-06-31"}))}, "events"),
        ({"answer_ordered": ordered((0, {"date": "June 2012"}))}, "events"),
        ({"answer_ordered": ordered((0, {"date": "2011-01-01"}))}, "dates"),
        ({"answer_ordered": ordered((0, {"event": "Another one."}))}, "events"),
        ({"answer_ordered": ordered()[:2]}, "events"),
        ({"answer_ordered": ordered((0, {"more": "x"}))}, "fields"),
    ],
)
def test_the_order_is_that_of_distinct_known_dates(changes, check):
    assert check_of("event_sorting", **changes) == check


def sorting(*events):
    """A pair of these three events, the first two exchanged."""
    dates = ("2012-07-01", "2015-06-04", "2018-06-07")
    return {
        "events_shuffled": [events[1], events[0], events[2]],
        "answer_ordered": [
            {"event": event, "date": day} for event, day in zip(events, dates, strict=True)
        ],
    }


@pytest.mark.parametrize(
    ("first", "check"),
    [
        ("Duty above 3% is exempt.", None),
        ("In 2012 duty above 3% is exempt.", "events"),
        ("In July duty above 3% is exempt.", "events"),
        ("S.R.O. No. 101-AIN/2012 exempts duty.", "events"),
        ("In FY 2012-13 duty is exempt.", "events"),
        ("২০১২ সালে শুল্ক অব্যাহতি।", "events"),
        ("জুন মাসে শুল্ক অব্যাহতি।", "events"),
        ("Duty above 4% is exempt.", "rates"),
    ],
)
def test_events_tell_no_time_and_nothing_invented(first, check):
    changes = sorting(first, "The threshold is 5%.", "The threshold is 2%.")
    assert check_of("event_sorting", **changes) == check


def test_three_to_six_distinct_events_in_mixed_order():
    good = GOOD["event_sorting"][1]
    in_order = [each["event"] for each in good["answer_ordered"]]
    assert check_of("event_sorting", events_shuffled=in_order) == "events"
    assert check_of("event_sorting", events_shuffled=in_order[:2]) == "events"
    assert check_of("event_sorting", events_shuffled=[in_order[0]] * 3) == "events"
    seven = [f"Event {c} happens." for c in "abcdefg"]
    assert check_of("event_sorting", events_shuffled=seven) == "events"


# Perturbation


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"perturbed_fact": None}, "perturbation"),
        ({"correct_fact": None}, "perturbation"),
        ({"perturbed_fact": "5%", "correct_fact": "৫%"}, "perturbation"),
        ({"perturbed_fact": "7%"}, "perturbation"),
        ({"statement": "It raised 5% to 6%."}, "perturbation"),
        ({"correct_fact": "8%"}, "rates"),
        ({"statement": "S.R.O. No. 99-AIN/2014 raised the threshold to 6%."}, "instruments"),
        ({"answer": "No, it is 7%."}, "rates"),
        ({"is_perturbed": False}, "perturbation"),
        ({"is_perturbed": False, "perturbed_fact": None}, "rates"),
        (
            {
                "is_perturbed": False,
                "perturbed_fact": None,
                "correct_fact": None,
                "statement": "S.R.O. No. 101-AIN/2015 set 5%.",
                "answer": "It is accurate.",
            },
            None,
        ),
        (
            {
                "is_perturbed": False,
                "perturbed_fact": None,
                "correct_fact": "9%",
                "statement": "S.R.O. No. 101-AIN/2015 set 5%.",
                "answer": "It is accurate.",
            },
            "rates",
        ),
        ({"is_perturbed": 1}, "fields"),
    ],
)
def test_one_fact_is_wrong_and_the_right_one_is_kept_back(changes, check):
    assert check_of("perturbation_detection", **changes) == check


def test_a_perturbed_date_is_compared_by_value():
    changes = {
        "statement": "The threshold became 5% on 5 June 2015.",
        "perturbed_fact": "৫ জুন ২০১৫",
        "correct_fact": "2015-06-04",
        "answer": "Not accurate: it was 4 June 2015.",
    }
    assert check_of("perturbation_detection", **changes) is None
    told = {**changes, "statement": "On June 4, 2015, not on 5 June 2015, it became 5%."}
    assert check_of("perturbation_detection", **told) == "perturbation"


# Scenarios


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"scenario": "A mill imports a loom; duty above 3% was exempt."}, "scenario"),
        ({"scenario": "A mill knows of ৩ শতাংশ."}, "scenario"),
        ({"scenario": "A mill on 1 July 2012 imports a loom."}, None),
        ({"answer": "S.R.O. No. 101-AIN/2012", "scenario": "See SRO 101/2012."}, "scenario"),
        ({"answer": "the excess part", "scenario": "She hopes for the excess part."}, "scenario"),
        ({"date_or_instrument": "the order"}, "scenario"),
        ({"date_or_instrument": "S.R.O. No. 7-AIN/2012"}, "instruments"),
        ({"date_or_instrument": "the order of 2012"}, None),
        ({"answer": "Above 4%."}, "rates"),
    ],
)
def test_scenarios_do_not_show_the_answer(changes, check):
    assert check_of("scenario_short_answer", **changes) == check


@pytest.mark.parametrize(
    ("clause_ids", "changes", "check"),
    [
        ([EARLY, TABLE], {}, "time_span"),
        ([EARLY], {}, "time_span"),
        (None, {"clauses_involved": ["2012-07-01"]}, "time_span"),
        (None, {"clauses_involved": ["2012-07-01", "1 July 2012"]}, "time_span"),
        (None, {"clauses_involved": ["2012-07-01", "SRO 9/2018"]}, "instruments"),
        (None, {"answer": "It was 3% and 9%."}, "rates"),
        (None, {"answer": "3%", "scenario": "She paid above 3% in 2013."}, "scenario"),
    ],
)
def test_temporal_scenarios_span_two_dates(clause_ids, changes, check):
    assert check_of("temporal_scenario_short_answer", clause_ids, **changes) == check


# Relative time


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"seed_time": "once"}, "no starting date"),
        ({"seed_time": "১৪১৯ বঙ্গাব্দ"}, "no starting date"),
        ({"relative_offset": "soon"}, "not one relative offset"),
        ({"relative_offset": "one year later, two years later"}, "not one relative offset"),
        ({"question": "Which one came three years later?"}, "does not state the start"),
        ({"question": "On 2012-06-07 it was 3%. And then?"}, "does not state the offset"),
        (
            {
                "relative_offset": "two years later",
                "question": "On 2012-06-07 it was 3%. Which came two years later?",
            },
            "2014 is no date of the timeline",
        ),
        (
            {"question": "On 2012-06-07 it was 3%. Which came three years later, in 2015?"},
            "names its target: 2015",
        ),
        (
            {"question": "On 2012-06-07 it was 3%. What did SRO 101/2015 say three years later?"},
            "names its target: 2015",
        ),
        (
            {"question": "On 2012-06-07 it was 3%. What in ২০১৫ সালে, three years later?"},
            "names its target: 2015",
        ),
        (
            {"question": "On 2012-06-07 it was 3%. Three years later, in ১৪২২ বঙ্গাব্দ, what?"},
            "names its target: 1422",
        ),
        ({"answer": "It became 5%."}, "does not name 2015"),
        ({"answer": "In 2018 it became 2%."}, "does not name 2015"),
    ],
)
def test_relative_times_lead_to_the_timeline_and_hide_it(changes, detail):
    found = failure("relative_time_qa", [EARLY, MIDDLE, LATE], **changes)
    assert found.check == "relative_time" and detail in found.detail


def test_relative_times_backwards_and_within_a_year():
    backwards = {
        "seed_time": "2018",
        "relative_offset": "three years earlier",
        "question": "In 2018 it was 2%. What was it three years earlier?",
        "answer": "In 2015 it was 5%.",
    }
    assert check_of("relative_time_qa", **backwards) is None
    days = {
        "seed_time": "2015-06-01",
        "relative_offset": "three days later",
        "question": "What changed three days later than 2015-06-01?",
        "answer": "On 2015-06-04 it became 5%.",
    }
    assert check_of("relative_time_qa", **days) is None
    told = {**days, "question": "On 1 June 2015 not; three days later, on 4 June 2015, what?"}
    assert failure("relative_time_qa", **told).detail == "the question names its target: 2015-06-04"
    assert check_of("relative_time_qa", **{**days, "answer": "2015-06-04, 7%."}) == "rates"


# Misalignment


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"misaligned_context": GOOD["context_misalignment"][1]["answer"]}, "misalignment"),
        ({"misaligned_context": "5%"}, "misalignment"),
        ({"misaligned_context": CORPUS[MIDDLE].text}, "misalignment"),
        ({"answer": "7%, by S.R.O. No. 101-AIN/2015."}, "rates"),
        ({"conflict": "The passage names 8%."}, "rates"),
        ({"conflict": ""}, "text"),
    ],
)
def test_the_misleading_passage_differs_from_the_truth(changes, check):
    assert check_of("context_misalignment", **changes) == check


# Duplicates


def test_duplicates_are_what_a_model_would_see_as_the_same():
    _, fields = GOOD["temporal_mcq"]
    same = {**fields, "question": f" {fields['question'].upper()} ", "explanation": "Other."}
    assert duplicate_key("temporal_mcq", same) == duplicate_key("temporal_mcq", fields)
    other = {**fields, "question": "Which threshold was in force on 1 January 2017?"}
    assert duplicate_key("temporal_mcq", other) != duplicate_key("temporal_mcq", fields)
    _, events = GOOD["event_sorting"]
    shuffled = {**events, "events_shuffled": events["events_shuffled"][::-1]}
    assert duplicate_key("event_sorting", shuffled) == duplicate_key("event_sorting", events)


# The embedded pairs


@pytest.fixture(scope="module")
def embedded():
    corpus = Corpus(shipped_elements())
    lines = (SHIPPED / "threads.jsonl").read_text(encoding="utf-8").splitlines()
    threads = {row["thread_id"]: Thread.from_json(row) for row in map(json.loads, lines)}
    lines = (SHIPPED / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return corpus, threads, [json.loads(line) for line in lines]


def test_every_embedded_pair_passes_every_check(embedded):
    corpus, threads, pairs = embedded
    keys = set()
    for pair in pairs:
        task, fields = pair["task"], pair["fields"]
        found = first_failure(task, pair["clause_ids"], fields, threads[pair["thread_id"]], corpus)
        assert found is None, (pair, found)
        keys.add((pair["thread_id"], duplicate_key(task, fields)))
    assert len(keys) == len(pairs) >= 60


def test_changed_answers_of_embedded_pairs_are_caught(embedded):
    """A rate, amount or day raised by one in the answer is not in the clauses, but for a few."""
    corpus, threads, pairs = embedded
    tried = caught = 0
    for pair in pairs:
        if TASKS[pair["task"]].kind != "free":
            continue
        answer = pair["fields"]["answer"]
        for match in re.finditer(r"\d+(?=%)|(?<=USD )\d+|(?<=-)\d\d\b", answer):
            changed = f"{int(match[0]) + 1:0{len(match[0])}d}"
            wrong = answer[: match.start()] + changed + answer[match.end() :]
            fields = {**pair["fields"], "answer": wrong}
            thread = threads[pair["thread_id"]]
            tried += 1
            caught += (
                first_failure(pair["task"], pair["clause_ids"], fields, thread, corpus) is not None
            )
    assert tried > 40 and caught / tried > 0.9


def test_a_swapped_citation_of_embedded_pairs_is_caught(embedded):
    corpus, threads, pairs = embedded
    wrong = ["go-1-2014/clause_1"]
    caught = [
        first_failure(p["task"], wrong, p["fields"], threads[p["thread_id"]], corpus) is not None
        for p in pairs
    ]
    assert sum(caught) / len(caught) > 0.9


def test_the_checks_are_named():
    assert set(pair_checks.FIELD_SCHEMAS) == {f for task in TASKS.values() for f in task.fields}
    assert len(set(CHECKS)) == len(CHECKS)
