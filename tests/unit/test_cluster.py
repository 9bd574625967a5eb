"""Cluster-robust covariance against statsmodels, by hand, and where it means nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from scripts.statistics.cluster import cluster_robust


def regression(seed: int, rows: int = 300) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A frame with two cluster variables, the least-squares estimates and their influence."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": generator.integers(0, 15, rows), "b": generator.integers(0, 9, rows)}
    )
    frame["x"] = generator.normal(size=15)[frame["a"]] + generator.normal(size=rows)
    frame["y"] = (
        frame["x"] + generator.normal(size=15)[frame["a"]] + generator.normal(size=9)[frame["b"]]
    ) + generator.normal(size=rows)
    x = sm.add_constant(frame["x"]).to_numpy()
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ frame["y"].to_numpy()
    influence = (x * (frame["y"].to_numpy() - x @ beta)[:, None]) @ inverse
    return frame, beta, influence


def test_one_way_equals_statsmodels() -> None:
    frame, beta, influence = regression(1)
    ours = cluster_robust(influence, beta, [frame["a"].to_numpy()])
    theirs = sm.OLS(frame["y"], sm.add_constant(frame["x"])).fit(
        cov_type="cluster", cov_kwds={"groups": frame["a"]}, use_t=True
    )
    np.testing.assert_allclose(ours.standard_errors, theirs.bse, rtol=1e-10)
    np.testing.assert_allclose(ours.p, theirs.pvalues, rtol=1e-8)
    assert ours.clusters == (15,) and not ours.repaired and ours.estimable


def test_two_way_is_the_sum_less_the_intersection() -> None:
    frame, beta, influence = regression(2)
    a, b = frame["a"].to_numpy(), frame["b"].to_numpy()
    ours = cluster_robust(influence, beta, [a, b])
    parts = [cluster_robust(influence, beta, [codes]).covariance for codes in (a, b, a * 100 + b)]
    np.testing.assert_allclose(ours.covariance, parts[0] + parts[1] - parts[2], rtol=1e-10)
    theirs = sm.OLS(frame["y"], sm.add_constant(frame["x"])).fit(
        cov_type="cluster", cov_kwds={"groups": np.column_stack([a, b])}
    )
    # statsmodels corrects each part in the same way.
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=1e-8)
    expected = 2 * stats.t.sf(np.abs(beta / ours.standard_errors), 8)
    np.testing.assert_allclose(ours.p, expected, rtol=1e-10)


def test_a_negative_variance_is_set_to_zero() -> None:
    # Two cells of a 2 x 2 layout with opposite signs: nothing by row or column, much by cell.
    codes = np.arange(24) % 6, np.arange(24) // 6
    influence = np.where((codes[0] + codes[1]) % 2 == 0, 1.0, -1.0)[:, None]
    influence = np.column_stack([influence, np.sin(np.arange(24.0))])
    influence -= influence.mean(axis=0)
    found = cluster_robust(influence, np.array([1.0, 1.0]), list(codes))
    assert found.repaired
    assert np.linalg.eigvalsh(found.covariance)[0] >= -1e-12
    alone = cluster_robust(influence[:, :1], np.array([1.0]), list(codes))
    assert alone.repaired and np.isnan(alone.standard_errors[0]) and not alone.estimable


def test_too_few_clusters_mean_nothing() -> None:
    frame, beta, influence = regression(3)
    few = (frame["b"] % 2).to_numpy()
    found = cluster_robust(influence, beta, [frame["a"].to_numpy(), few])
    assert found.clusters == (15, 2) and not found.estimable
    assert np.isnan(found.standard_errors).all() and np.isnan(found.p).all()


def test_other_numbers_of_kinds_are_refused() -> None:
    _, beta, influence = regression(4)
    with pytest.raises(ValueError, match="one or two"):
        cluster_robust(influence, beta, [])
    with pytest.raises(ValueError, match="one code a row"):
        cluster_robust(influence, beta, [np.zeros(3, dtype=np.int64)])
