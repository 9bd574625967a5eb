"""The conventions by which a time of one place may be told in another, side by side.

A question that names a day of 1352 and two zones does not say which offsets it means. TRAM's gold
answers follow local mean time as the tz database has it, cut down to the hour; people would use the
offsets of today. Neither is wrong, so both are computed and recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.multitempbench.recomputation import recompute

#: Name of a convention and the fields of a time-zone operation that stand for it.
CONVENTIONS: dict[str, dict[str, str]] = {
    "standard_offset": {"offsets": "standard"},
    "local_mean_time": {"offsets": "local_mean_time"},
    "local_mean_time_floored_to_hour": {"offsets": "local_mean_time", "floor": "hour"},
}


def readings(
    operation: Mapping[str, Any], dates: Sequence[str], times: Sequence[str]
) -> dict[str, str]:
    """The answer of a time-zone operation under each convention, `YYYY-MM-DDTHH:MM`.

    Raises RecomputationError as `recompute` does.
    """
    asked = {key: value for key, value in operation.items() if key not in ("offsets", "floor")}
    return {
        name: str(recompute({**asked, **fields}, dates, times)["value"])
        for name, fields in CONVENTIONS.items()
    }
