"""Date arithmetic in the proleptic Gregorian calendar."""

from __future__ import annotations

from datetime import date, timedelta


def days_after(start: str, days: int) -> str:
    """The ISO date `days` after an ISO date; ValueError or OverflowError outside years 1-9999."""
    return (date.fromisoformat(start) + timedelta(days=days)).isoformat()
