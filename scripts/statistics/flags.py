"""Why a value could not be computed, or needs care. One vocabulary for every statistics file."""

from __future__ import annotations

from collections.abc import Iterable

#: Two paired classifiers never disagree: a ceiling or floor, not evidence of a difference.
NO_DISCORDANT_PAIRS = "no_discordant_pairs"
#: Gold labels (or gold and answers) hold one class only.
ONE_CLASS = "one_class"
#: All values are equal, so that nothing can be correlated or scaled.
CONSTANT = "constant"
#: A row or column of a contingency table sums to zero.
ZERO_MARGIN = "zero_margin"
#: Items were scored, but no answer could be read as a number, so that no error has a size.
NO_VALID_ANSWER = "no_valid_answer"
#: There is no value at all.
MISSING = "missing"
#: There are fewer values than were planned.
INCOMPLETE = "incomplete"
#: Fewer points than the statistic needs to say anything (two points always lie on a line).
TOO_FEW = "too_few"
#: A predictor is constant or a combination of others: no coefficient of its own.
COLLINEAR = "collinear"
#: A variance of a mixed model was estimated as zero (the boundary).
SINGULAR = "singular"
#: Too few models (levels of a grouping factor) for a standard error or a test to mean anything.
FEW_LEVELS = "few_levels"
#: No more clusters than coefficients: no cluster-robust standard error.
FEW_CLUSTERS = "few_clusters"
#: Too few distinct permutations for a p-value to reach the level.
FEW_PERMUTATIONS = "few_permutations"
#: The optimiser did not reach an optimum, or a coefficient has no finite estimate.
NOT_CONVERGED = "not_converged"

FLAGS = (
    NO_DISCORDANT_PAIRS,
    ONE_CLASS,
    CONSTANT,
    ZERO_MARGIN,
    NO_VALID_ANSWER,
    MISSING,
    INCOMPLETE,
    TOO_FEW,
    COLLINEAR,
    SINGULAR,
    FEW_LEVELS,
    FEW_CLUSTERS,
    FEW_PERMUTATIONS,
    NOT_CONVERGED,
)


def join_flags(flags: Iterable[str | None]) -> str:
    """The distinct flags in the order of `FLAGS`, separated by `;`; empty when there is none.

    Raises ValueError for a word that is not a flag.
    """
    found = {flag for flag in flags if flag}
    unknown = found - set(FLAGS)
    if unknown:
        raise ValueError(f"unknown flag(s) {sorted(unknown)}; known: {list(FLAGS)}")
    return ";".join(flag for flag in FLAGS if flag in found)
