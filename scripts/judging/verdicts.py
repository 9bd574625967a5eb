"""What a judge says about an answer, and how two judges' verdicts are laid beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The paper's letters A, B, C in this order.
VERDICTS = ("correct", "incorrect", "not_attempted")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict: `verdict` is one of VERDICTS, or None where the judge gave none (unscored).

    `route` says by which rule it was reached, `parsed` is the answer as it was understood (None
    where nothing was), `reason` is one short sentence for a person.
    """

    verdict: str | None
    route: str
    parsed: str | None = None
    reason: str = ""

    def answers(self) -> dict[str, Any]:
        """The verdict as `answers` of a Judgement row."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "route": self.route,
            "parsed": self.parsed,
        }


def confusion(pairs: Iterable[tuple[str, str]]) -> NDArray[np.int64]:
    """Counts of (first judge's verdict, second judge's verdict): shape (3, 3), order of VERDICTS.

    Raises ValueError for a verdict that is none of VERDICTS; leave unscored rows out first.
    """
    table = np.zeros((len(VERDICTS), len(VERDICTS)), dtype=np.int64)
    for first, second in pairs:
        for verdict in (first, second):
            if verdict not in VERDICTS:
                raise ValueError(f"verdict {verdict!r} is none of {', '.join(VERDICTS)}")
        table[VERDICTS.index(first), VERDICTS.index(second)] += 1
    return table
