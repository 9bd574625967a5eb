"""Units for the alias judge: few groups of bounded size in which every candidate pair meets.

The greedy rule: begin with the name that has the most uncovered pairs, add the name that covers the
most further pairs with those in the unit, until it is full; what room is left begins anew with
names of other neighbourhoods. Ties go to the first name, so the order of the input does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from scripts.files import DataError
from scripts.records import Record, RecordError, content_id


@dataclass(frozen=True, slots=True)
class Unit(Record):
    """Names that a judge sees together, sorted; the id follows from them."""

    unit_id: str
    members: list[str]

    def check(self) -> None:
        """Raise RecordError for members that are no sorted, distinct names."""
        texts = isinstance(self.members, list) and all(isinstance(m, str) for m in self.members)
        if not texts or self.members != sorted(set(self.members)):
            raise RecordError(f"Unit {self.unit_id}: members must be sorted and distinct names")

    @classmethod
    def create(cls, members: Iterable[str]) -> Unit:
        """A unit of these names."""
        ordered = sorted(set(members))
        return cls(f"unit-{content_id('unit', ordered)}", ordered)


def cover(pairs: Iterable[tuple[str, str]], unit_size: int) -> list[Unit]:
    """Units of at most `unit_size` names; both names of every pair stand together in at least one.

    Raises DataError for a size below two and ValueError for a name paired with itself.
    """
    if unit_size < 2:
        raise DataError(f"unit_size must be at least 2, not {unit_size}")
    uncovered: dict[str, set[str]] = {}
    for a, b in pairs:
        if a == b:
            raise ValueError(f"{a!r} is paired with itself")
        uncovered.setdefault(a, set()).add(b)
        uncovered.setdefault(b, set()).add(a)
    units: list[Unit] = []
    while uncovered:
        members = _fill(uncovered, unit_size)
        _remove(uncovered, members)
        units.append(Unit.create(members))
    return sorted(units, key=lambda unit: unit.members)


def _fill(uncovered: dict[str, set[str]], unit_size: int) -> set[str]:
    """The members of the next unit."""
    members: set[str] = set()
    # Pairs that each name outside the unit would cover with the names inside.
    gains: Counter[str] = Counter()
    while len(members) < unit_size:
        if gains:
            name = min(gains, key=lambda each: (-gains[each], each))
        else:
            outside = [each for each in uncovered if each not in members]
            # A lone name at the end of a unit covers nothing.
            if len(members) + 1 == unit_size or not outside:
                break
            name = min(outside, key=lambda each: (-len(uncovered[each]), each))
        members.add(name)
        gains.pop(name, None)
        gains.update(other for other in uncovered[name] if other not in members)
    return members


def _remove(uncovered: dict[str, set[str]], members: set[str]) -> None:
    """Take the pairs inside the unit out, and names without further pairs."""
    for name in members:
        uncovered[name] -= members
        if not uncovered[name]:
            del uncovered[name]
