"""Permutation p of the regression's predictors: the units that carry them are shuffled.

The predictors vary by tokeniser and by model, not by row, so tokenisers and models are what is
exchanged:

* `fragmentation`: within each language, independently of the others, the mDFR values of the
  tokenisers change hands. All models of a tokeniser move together, and every item keeps its own
  values: under a permutation, an item has the mDFR that the other tokeniser gives to *it*.
* `linearity`: whole models change hands, with all their languages.
* `both`: both at once, drawn independently; for the terms that hold both predictors.

Every permuted design is fitted by generalised least squares with the *relative variances of the
observed fit held fixed* (the residual variance is estimated anew); the statistic is |z|. The p of
a term is (1 + permutations with |z| at least the observed) / (1 + permutations) (Phipson & Smyth,
Stat. Appl. Genet. Mol. Biol. 9 (2010) 39). Predictors are permuted as they are, without first
taking out what they share with the other terms ("raw" permutation), after z-scoring.

It is cheap because every permuted design is a combination of the same columns: for each model and
language one indicator, and its product with each tokeniser's values. The precision-weighted
cross-products of those are computed once; a permutation only picks and adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from scripts.statistics.mixed import MixedFit, Prepared, precision_gram
from scripts.statistics.seeding import cell_generator

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

KINDS = ("fragmentation", "linearity", "both")


class Predictors(NamedTuple):
    """The columns of the frame that hold the three predictors of a fit."""

    fragmentation: str
    linearity: str
    moderator: str

    def kind(self, term: str) -> str | None:
        """What is permuted for a term: one of KINDS; None for a term with neither predictor."""
        parts = term.split(":")
        held = (self.fragmentation in parts, self.linearity in parts)
        return {
            (True, False): "fragmentation",
            (False, True): "linearity",
            (True, True): "both",
        }.get(held)


@dataclass(frozen=True)
class CellDesign:
    """The design by cells of model x language, and the cross-products of its columns.

    `gram` is U'V^-1 U of [indicator of each cell | cell x tokeniser values | response], `linearity`
    (models, languages), `moderator` (languages,), `tokeniser` the tokeniser of each model; cell
    (m, l) has number m * languages + l.
    """

    gram: Floats
    linearity: Floats
    moderator: Floats
    tokeniser: Integers
    tokenisers: int
    terms: tuple[tuple[bool, bool, bool], ...]
    rows: int

    @property
    def models(self) -> int:
        """Number of models."""
        return int(self.linearity.shape[0])

    @property
    def languages(self) -> int:
        """Number of languages."""
        return int(self.linearity.shape[1])

    def arrangements(self, kind: str) -> int:
        """Number of distinct permutations of a kind."""
        shuffled = factorial(self.tokenisers) ** self.languages
        counts: dict[str, int] = {
            "fragmentation": shuffled,
            "linearity": factorial(self.models),
            "both": shuffled * factorial(self.models),
        }
        return counts[kind]

    def z(self, source: Integers, model: Integers) -> Floats:
        """z of every term where language l takes tokeniser t's values from `source[l, t]` and
        model m's linearity from `model[m]`."""
        cells = self.models * self.languages
        straight = self.linearity[model].ravel()
        moderator = np.tile(self.moderator, self.models)
        given = source[:, self.tokeniser].T.ravel()
        own = np.arange(cells)
        picked = np.concatenate([own, cells + own * self.tokenisers + given])
        weights = np.zeros((2 * cells, len(self.terms)))
        for j, (fragmented, linear, moderated) in enumerate(self.terms):
            rows = slice(cells, None) if fragmented else slice(0, cells)
            weights[rows, j] = (straight if linear else 1.0) * (moderator if moderated else 1.0)
        inner = weights.T @ (self.gram[np.ix_(picked, picked)] @ weights)
        right = weights.T @ self.gram[picked, -1]
        unscaled = np.linalg.inv(inner)
        beta = unscaled @ right
        residual = float(self.gram[-1, -1] - right @ beta) / (self.rows - len(self.terms))
        return np.asarray(beta / np.sqrt(residual * np.diag(unscaled)))


def cell_design(
    frame: pd.DataFrame,
    values: Mapping[str, pd.Series],
    predictors: Predictors,
    model: Prepared,
    fit: MixedFit,
) -> CellDesign:
    """Reduce a frame (model, language, item_id, tokeniser, the predictors) to cells.

    `values`: for every tokeniser its z-scored mDFR by item_id; `model` and `fit`: the observed fit
    of the same rows.
    """
    models, languages = sorted(frame["model"].unique()), sorted(frame["language"].unique())
    names = sorted(values)
    cells = frame.groupby(["model", "language"])
    linearity = cells[predictors.linearity].first().unstack().reindex(models, columns=languages)
    moderator = frame.groupby("language")[predictors.moderator].first().reindex(languages)
    tokeniser = frame.groupby("model")["tokeniser"].first().reindex(models).map(names.index)
    cell = pd.Categorical(frame["model"], models).codes.astype(np.int64) * len(languages)
    cell += pd.Categorical(frame["language"], languages).codes
    count, rows = len(models) * len(languages), np.arange(len(frame))
    scores = np.column_stack([values[name].reindex(frame["item_id"]).to_numpy() for name in names])
    columns = sparse.hstack(
        [
            sparse.csr_matrix((np.ones(len(frame)), (rows, cell)), (len(frame), count)),
            sparse.csr_matrix(
                (
                    scores.ravel(),
                    (
                        np.repeat(rows, len(names)),
                        (cell[:, None] * len(names) + np.arange(len(names))).ravel(),
                    ),
                ),
                (len(frame), count * len(names)),
            ),
            sparse.csr_matrix(frame["correct"].to_numpy(dtype=float)[:, None]),
        ],
        format="csr",
    )
    terms = tuple(tuple(name in term.split(":") for name in predictors) for term in fit.terms)
    return CellDesign(
        gram=precision_gram(model, fit, columns),
        # A model without rows in a language has empty columns there: any value will do.
        linearity=linearity.fillna(0.0).to_numpy(dtype=float),
        moderator=moderator.to_numpy(dtype=float),
        tokeniser=tokeniser.to_numpy(dtype=np.int64),
        tokenisers=len(names),
        terms=terms,  # type: ignore[arg-type]
        rows=len(frame),
    )


def permutation_p(
    design: CellDesign, kinds: Sequence[str | None], permutations: int, seed: int, fit: str
) -> Floats:
    """p of every term, NaN for a term of no kind; see the module for what is permuted.

    Draws are seeded by (seed, "permutation", fit, kind).
    """
    source, model = _identity(design)
    observed = np.abs(design.z(source, model))
    out = np.full(len(kinds), np.nan)
    for kind in KINDS:
        chosen = np.array([name == kind for name in kinds])
        if not chosen.any():
            continue
        generator = cell_generator(seed, "permutation", fit, kind)
        reached = np.zeros(len(kinds))
        for _ in range(permutations):
            if kind != "linearity":
                source = generator.permuted(_identity(design)[0], axis=1)
            if kind != "fragmentation":
                model = generator.permutation(design.models)
            reached += np.abs(design.z(source, model)) >= observed * (1 - 1e-10)
        out[chosen] = ((1 + reached) / (1 + permutations))[chosen]
        source, model = _identity(design)
    return out


def _identity(design: CellDesign) -> tuple[Integers, Integers]:
    return (
        np.tile(np.arange(design.tokenisers), (design.languages, 1)),
        np.arange(design.models),
    )
