from __future__ import annotations

import re

import pytest

from scripts.publishing.formulas import FormulaError, fence, svg


def test_a_formula_is_one_path_that_carries_its_source() -> None:
    picture = svg(r"\chi^2 = \frac{(|b_{01} - b_{10}| - 1)^2}{b_{01} + b_{10}} < 3")
    assert picture.count("<path") == 1
    assert (
        'aria-label="\\chi^2 = \\frac{(|b_{01} - b_{10}| - 1)^2}{b_{01} + b_{10}} &lt; 3"'
        in picture
    )
    assert "http" not in picture and "<text" not in picture


def test_everything_drawn_lies_inside_the_picture() -> None:
    picture = svg(r"\sum_{i=1}^{n} \sqrt{x_i}")
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture).groups())
    drawn = re.search(r' d="([^"]+)"', picture)[1]
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d+", drawn)]
    # Control points of curves may lie outside by a hair.
    assert min(numbers) > -0.5 and max(numbers[::2]) < width + 0.5
    assert max(numbers[1::2]) < height + 0.5


def test_the_same_formula_gives_the_same_bytes() -> None:
    assert svg(r"\hat{p} = k / n") == svg(r"\hat{p}  =  k / n ")


def test_a_block_holds_a_formula_a_line() -> None:
    assert fence("a = b\n\nc = d\n", "math", "formula", {}, None).count("<svg") == 2


def test_a_formula_that_cannot_be_set_stops_the_builder_and_is_named() -> None:
    from pymdownx.superfences import SuperFencesException

    with pytest.raises(FormulaError, match=r"\\nonsense"):
        svg(r"\nonsense{x}")
    with pytest.raises(SuperFencesException, match="cannot be set"):
        fence(r"\frac{1}")
