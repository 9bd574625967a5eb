"""The council's decision: the whole truth table, absent judges, ties, and what a tie may leave."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.judging.council import CouncilError, Decision, decide
from scripts.statistics.council import partial_score, strict_score


def seat(
    dates: list[bool], contradicting: bool = False, meaning: bool = True, **more: Any
) -> dict[str, Any]:
    return {
        "item_id": "i1",
        "date_matches": [{"matched": matched, "span": "x" * matched} for matched in dates],
        "contradicting": contradicting,
        "meaning": meaning,
        "uncertain": more.pop("uncertain", False),
        "flags": more.pop("flags", {}),
        "reason": None,
        **more,
    }


EMPTY = {
    "item_id": "i1",
    "date_matches": None,
    "contradicting": None,
    "meaning": None,
    "uncertain": None,
    "flags": None,
    "reason": "not_json",
}


def expected_majority(votes: list[bool]) -> bool | None:
    """The rule in other words: more than half of the votes."""
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)


@pytest.mark.parametrize("dates", [0, 1, 2])
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_every_combination_of_three_equal_judges(dates: int, weight: float) -> None:
    for matched in product([True, False], repeat=dates):
        for contradicting, meaning in product([True, False], repeat=2):
            vote = seat(list(matched), contradicting, meaning)
            made = decide([vote] * 3, dates, weight)
            right = all(matched) and not contradicting and meaning
            assert made.strict is right and not made.undecided and not made.flagged
            assert made.partial == partial_score(matched, contradicting, meaning, weight)
            assert made.date_matched == matched and made.seats == 3
            assert float(right) <= made.partial <= 1
            if not all(matched) or contradicting:
                assert made.strict is False
            if contradicting:
                assert made.partial == 0


VOTES = [None, *product([True, False], repeat=3)]


def test_every_combination_of_votes_and_absent_judges_on_one_date() -> None:
    checked = 0
    for seats in product(VOTES, repeat=3):
        given_seats = [
            None if vote is None else seat([vote[0]], vote[1], vote[2]) for vote in seats
        ]
        present = [vote for vote in seats if vote is not None]
        made = decide(given_seats, 1, 0.5)
        questions = [expected_majority([vote[q] for vote in present]) for q in range(3)]
        assert list(made.date_matched) == questions[:1]
        assert [made.contradicting, made.meaning] == questions[1:]
        readings = list(product(*([True, False] if q is None else [q] for q in questions)))
        strict = {strict_score([d], c, m) for d, c, m in readings}
        partial = {partial_score([d], c, m, 0.5) for d, c, m in readings}
        assert made.strict == (bool(strict.pop()) if len(strict) == 1 else None)
        assert made.partial == (partial.pop() if len(partial) == 1 else None)
        assert made.undecided == (made.strict is None or made.partial is None)
        assert made.flagged == (made.undecided or len(present) < 3)
        if made.strict is not None and made.partial is not None:
            assert made.strict <= made.partial
        if made.date_matched[0] is False:
            assert made.strict is False
        checked += 1
    assert checked == 729


def test_an_undecided_question_that_cannot_matter_leaves_the_score() -> None:
    # The date fails for both, the meaning is a tie: strict and partial are 0 whatever it is.
    made = decide([seat([False], meaning=True), seat([False], meaning=False)], 1, 0.5)
    assert (made.meaning, made.strict, made.partial, made.undecided) == (None, False, 0.0, False)
    # One of two dates fails, the other is a tie: strict is settled, the partial credit is not.
    made = decide([seat([False, True]), seat([False, False])], 2, 0.5)
    assert (made.strict, made.partial, made.undecided) == (False, None, True)
    # A contradiction settles everything.
    tie = [seat([True], True, True), seat([False], True, False)]
    assert (decide(tie, 1, 0.5).strict, decide(tie, 1, 0.5).partial) == (False, 0.0)


def test_no_judge_at_all_is_undecided_and_flagged() -> None:
    for seats in ([], [None, None, None], [EMPTY, None, EMPTY]):
        made = decide(seats, 2, 0.5)
        assert made == Decision(
            (None, None), None, None, False, 0, True, None, None, {}, made.flagged
        )
        assert made.flagged


def test_an_empty_seat_is_never_a_no() -> None:
    made = decide([seat([True]), EMPTY, None], 1, 0.5)
    assert (made.strict, made.partial, made.seats, made.flagged) == (True, 1.0, 1, True)
    assert not made.undecided
    assert decide([seat([True])] * 2 + [EMPTY], 1, 0.5).strict is True


def test_one_uncertain_judge_is_enough_for_review() -> None:
    assert not decide([seat([True])] * 3, 1, 0.5).uncertain
    assert decide([seat([True]), seat([True], uncertain=True), seat([True])], 1, 0.5).uncertain


def test_logged_questions_have_their_own_majority_and_no_weight() -> None:
    votes = [
        seat([], flags={"followed_context": True, "blended_sources": False, "element": "rate"}),
        seat([], flags={"followed_context": False, "blended_sources": False}),
        seat([], flags={"followed_context": True}),
    ]
    made = decide(votes, 0, 0.5)
    assert made.flags == {"blended_sources": False, "followed_context": True}
    assert made.strict is True
    tie = decide(votes[:2], 0, 0.5)
    assert tie.flags == {"blended_sources": False, "followed_context": None}
    assert not tie.undecided


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (seat([True, True]), "2 dates of 1"),
        (seat([True], date_matches=None), "no dates of 1"),
        (seat([True], meaning="yes"), "vote on meaning is 'yes'"),
        (seat([True], contradicting=1), "vote on contradicting is 1"),
        (seat([True], date_matches=[{"matched": "true", "span": ""}]), "vote on date 0"),
    ],
)
def test_a_row_that_does_not_fit_is_named(broken: dict[str, Any], message: str) -> None:
    with pytest.raises(CouncilError, match=message) as caught:
        decide([seat([True]), broken], 1, 0.5)
    assert "i1" in str(caught.value) and "judge the responses again" in str(caught.value)


def test_a_weight_outside_the_unit_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="date_weight"):
        decide([seat([True])], 1, 1.5)


boolean = st.booleans()


@given(
    st.integers(0, 4).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.one_of(
                    st.none(),
                    st.just(EMPTY),
                    st.builds(seat, st.lists(boolean, min_size=n, max_size=n), boolean, boolean),
                ),
                max_size=5,
            ),
        )
    ),
    st.floats(0, 1),
)
def test_properties_of_any_council(drawn: tuple[int, list[Any]], weight: float) -> None:
    dates, seats = drawn
    made = decide(seats, dates, weight)
    assert made == decide(seats[::-1], dates, weight)
    assert len(made.date_matched) == dates
    if made.strict and made.partial is not None:
        assert made.partial == pytest.approx(1)
    if made.partial is not None:
        assert 0 <= made.partial <= 1 + 1e-12
    if False in made.date_matched or made.contradicting:
        assert made.strict is False
    # Nobody's vote of "yes, date and meaning" lowers the score.
    more = decide([*seats, seat([True] * dates)] * 2, dates, weight)
    if made.strict:
        assert more.strict is not False
