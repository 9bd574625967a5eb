"""A readings.csv with every question, reading and quantity that a benchmark has words for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pandas as pd

from scripts.publishing.readings import Question
from scripts.statistics.readings import Reading, readings_frame


def readings(questions: Sequence[Question], scope: str = "") -> pd.DataFrame:
    """Values that grow from row to row; the last reading of a quantity has none."""
    rows = []
    for question in questions:
        for quantity, reading in product(question.quantities, question.readings):
            place = len(rows)
            last = reading == list(question.readings)[-1]
            known = {} if last else {"value": place / 200, "low": 0.0, "high": 1.0, "p": 0.04}
            flag = "missing" if last else ""
            rows.append(
                Reading(question.name, reading, quantity, scope, n=place, flag=flag, **known)
            )
    return readings_frame(rows)
