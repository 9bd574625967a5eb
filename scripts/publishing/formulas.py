"""Displayed formulas of the documentation site, drawn when it is built.

A fenced block ```` ```math ```` holds TeX as Matplotlib's mathtext reads it. It becomes one SVG
path in the colour of the text: no script, no font, no request. Its label is the TeX.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

#: Height of an em of the formula, in the em of the text around it.
SCALE = 1.15
_POINTS = 10.0


class FormulaError(ValueError):
    """TeX that mathtext cannot read; the message names the formula."""


def svg(tex: str) -> str:
    """A formula as an inline SVG picture; FormulaError for TeX that mathtext cannot read."""
    from matplotlib import rc_context  # noqa: PLC0415 - only the site needs it
    from matplotlib.path import Path  # noqa: PLC0415
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    line = " ".join(tex.split())
    # mathtext sets every formula as if it stood in a line of text, with small fractions.
    displayed = re.sub(r"\\frac\b", r"\\dfrac", line)
    try:
        with rc_context({"mathtext.fontset": "stix"}):
            path = TextPath((0, 0), f"${displayed}$", size=_POINTS, usetex=False)
    except ValueError as error:
        reason = str(error).strip().splitlines()[-1]
        raise FormulaError(f"the formula {line!r} cannot be set: {reason}") from None
    box = path.get_extents()
    letters = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
    drawn = []
    for points, code in path.iter_segments(simplify=False, curves=True):
        if code == Path.CLOSEPOLY:
            drawn.append("Z")
            continue
        # The picture's y grows downwards.
        pairs = zip(points[::2] - box.x0, box.y1 - points[1::2], strict=True)
        drawn.append(letters[code] + " ".join(f"{x:.2f} {y:.2f}" for x, y in pairs))
    width, height = (f"{side / _POINTS * SCALE:.2f}em" for side in (box.width, box.height))
    return (
        f'<svg class="formula" role="img" aria-label="{escape(line)}" '
        f'viewBox="0 0 {box.width:.2f} {box.height:.2f}" width="{width}" height="{height}">'
        f'<path d="{"".join(drawn)}"/></svg>'
    )


def fence(source: str, *_: Any, **__: Any) -> str:
    """A fenced block of formulas, one a line, for `pymdownx.superfences`.

    Raises SuperFencesException, the one error after which the builder does not go on.
    """
    from pymdownx.superfences import SuperFencesException  # noqa: PLC0415 - only where a site is built

    lines = [line for line in source.splitlines() if line.strip()]
    try:
        return "".join(f'<div class="formula">{svg(line)}</div>' for line in lines)
    except FormulaError as error:
        raise SuperFencesException(str(error)) from error
