"""The path of the years and its projection, on paths whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.probing import geometry, projection

STRAIGHT = np.outer(np.arange(1, 6), [3.0, 4.0, 0.0])
HALF_CIRCLE = np.column_stack([np.cos(a := np.linspace(0, np.pi, 101)), np.sin(a)])


def test_a_straight_path() -> None:
    shape = geometry.path_shape(STRAIGHT)
    assert shape.mean_segment_cosine == pytest.approx(1.0)
    assert shape.chord_arc_ratio == pytest.approx(1.0)
    assert shape.separability == pytest.approx(0.0)  # all states lie on one ray
    assert geometry.path_direction(STRAIGHT).tolist() == [3.0, 4.0, 0.0]


def test_a_half_circle() -> None:
    shape = geometry.path_shape(HALF_CIRCLE)
    assert shape.chord_arc_ratio == pytest.approx(2 / np.pi, abs=1e-3)
    # The direction is -x; a segment's angle to it runs evenly from -90 to 90 degrees.
    assert shape.mean_segment_cosine == pytest.approx(2 / np.pi, abs=1e-3)
    assert shape.separability == pytest.approx(1 - np.cos(np.pi / 100))


def test_the_direction_telescopes() -> None:
    points = np.random.default_rng(0).standard_normal((35, 8))
    mean = geometry.segments(points).mean(axis=0)
    np.testing.assert_allclose(geometry.path_direction(points), mean)
    between = points.copy()
    between[1:-1] = np.random.default_rng(1).permutation(between[1:-1])
    np.testing.assert_array_equal(geometry.path_direction(points), geometry.path_direction(between))


def test_paths_that_stand_still() -> None:
    still = geometry.path_shape(np.ones((4, 3)))
    assert np.isnan(still.mean_segment_cosine) and np.isnan(still.chord_arc_ratio)
    assert still.separability == 0.0
    assert np.isnan(geometry.path_shape(np.zeros((4, 3))).separability)
    back = geometry.path_shape(np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 0.0], [1.0, 0.0]]))
    assert back.chord_arc_ratio == 0.0 and np.isnan(back.mean_segment_cosine)
    pause = geometry.path_shape(np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 0.0], [3.0, 0.0]]))
    assert pause.mean_segment_cosine == 1.0


def test_direction_similarity() -> None:
    east, north = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    found = geometry.direction_similarity({"en": east, "de": 3 * east, "ha": north})
    assert found == {"en": 0.5, "de": 0.5, "ha": 0.0}
    assert np.isnan(geometry.direction_similarity({"en": east})["en"])
    assert np.isnan(geometry.direction_similarity({"en": east, "de": 0 * east})["en"])


def test_layers_shown() -> None:
    assert projection.layers_shown(28) == [0, 7, 14, 21, 28]
    assert projection.layers_shown(18) == [0, 4, 9, 13, 18]
    assert projection.layers_shown(2) == [0, 1, 2]


def languages() -> dict[str, np.ndarray]:
    """Two parallel lines far apart, with a little noise."""
    rng = np.random.default_rng(0)
    path = np.outer(np.arange(35.0), [1.0, 0, 0, 0])
    noise = 0.01 * rng.standard_normal((2, 35, 4))
    return {"en": path + noise[0], "ha": path + [0, 100.0, 0, 0] + noise[1]}


def test_a_joint_projection_first_tells_the_languages_apart() -> None:
    found = projection.project(languages(), "joint")
    assert found.explained[0] > 0.9
    offset = found.coordinates["ha"].mean(axis=0) - found.coordinates["en"].mean(axis=0)
    assert abs(offset[0]) == pytest.approx(100, abs=0.1)
    # The second axis is the years, growing to the right.
    assert np.corrcoef(found.coordinates["en"][:, 1], np.arange(35))[0, 1] > 0.999


def test_centred_per_language_the_years_come_first() -> None:
    found = projection.project(languages(), "language")
    assert found.explained[0] > 0.99
    for points in found.coordinates.values():
        assert np.corrcoef(points[:, 0], np.arange(35))[0, 1] > 0.999
        assert points[:, 0].mean() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("scope", projection.SCOPES)
def test_signs_and_variance_are_those_of_any_other_decomposition(scope: str) -> None:
    points = languages()
    found = projection.project(points, scope)
    flipped = projection.project({name: p @ np.diag([-1, -1, 1, 1]) for name, p in points.items()},
                                 scope)  # fmt: skip
    for name in points:
        np.testing.assert_allclose(found.coordinates[name], flipped.coordinates[name], atol=1e-9)
    pooled = np.vstack([
        p - p.mean(axis=0) if scope == "language" else p for p in points.values()
    ])  # fmt: skip
    variances = np.linalg.eigvalsh(np.cov(pooled.T))[::-1]
    assert found.explained == pytest.approx(tuple(variances[:2] / variances.sum()))


def test_an_axis_without_a_trend_has_a_sign_too() -> None:
    wave = np.zeros((4, 3))
    wave[:, 0] = [-1, 2, 2, -1]
    coordinates = projection.project({"en": wave}, "joint").coordinates["en"][:, 0]
    np.testing.assert_allclose(np.abs(coordinates), 1.5)
    assert coordinates[np.abs(coordinates).argmax()] > 0


def test_still_points_and_unknown_scopes() -> None:
    assert projection.project({"en": np.ones((3, 4))}, "joint").explained == (0.0, 0.0)
    with pytest.raises(ValueError, match="scope 'both'"):
        projection.project({"en": np.ones((3, 4))}, "both")
