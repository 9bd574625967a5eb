"""From the rows of all sources to the benchmark's seed questions, with an account of every loss.

Filters that need one row only are the sources' own (`tram_questions` and its siblings). What needs
all rows or the run's settings stands here: duplicates, the gold audit, calendar ranges, sampling.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from scripts.dates.calendars import CalendarRangeError, to_hijri, to_lunar
from scripts.dates.languages import LANGUAGES
from scripts.files import DataError
from scripts.multitempbench.candidates import STEPS, Outcome
from scripts.multitempbench.gold_audit import Audit, audit
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.tasks import RELATIONS, TASKS
from scripts.records import content_id

#: Columns of curation.csv.
COLUMNS = ("source", "task", "step", "kept", "dropped", "reason")
#: What the accounts call the calendars besides the Gregorian.
CALENDARS = {"hijri": "Hijri", "lunar": "lunar"}
CALENDAR_RANGES = ("drop", "prefer", "keep")
DISAGREEING_GOLDS = ("drop", "keep")
#: Answer kinds whose few values are drawn in equal shares.
_BALANCED = ("relation", "yes_no")


class CurationError(DataError):
    """Settings of the curation that do not fit together."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run asks of the curation.

    `quota[task][source]` is a number of questions. `calendar_range`: `drop` leaves out questions
    with a date that a calendar of the run cannot name, `prefer` draws them only where the others do
    not fill the quota, `keep` draws without looking. `disagreeing_golds`: `drop` or `keep`.
    """

    quota: Mapping[str, Mapping[str, int]]
    seed: int
    languages: Sequence[str]
    formats: Sequence[str]
    calendar_range: str
    disagreeing_golds: str
    hijri_outside_range: str

    def __post_init__(self) -> None:
        if self.calendar_range not in CALENDAR_RANGES:
            raise CurationError(
                f"curation.calendar_range {self.calendar_range!r}; "
                f"use one of {', '.join(CALENDAR_RANGES)}"
            )
        if self.disagreeing_golds not in DISAGREEING_GOLDS:
            raise CurationError(
                f"curation.disagreeing_golds {self.disagreeing_golds!r}; use drop or keep"
            )
        unknown = sorted(set(self.quota) - set(TASKS))
        if unknown:
            raise CurationError(f"quota for unknown tasks {unknown}; known: {', '.join(TASKS)}")

    @property
    def calendars(self) -> tuple[str, ...]:
        """The calendars besides the Gregorian that the run writes dates in."""
        if "calendar" not in self.formats:
            return ()
        used = {LANGUAGES[code].forms["calendar"].calendar for code in self.languages}
        return tuple(sorted(CALENDARS[name] for name in used if name in CALENDARS))


@dataclass(frozen=True, slots=True)
class Curated:
    """The questions of a run, the account of the filters, and the audit of the golds.

    The audits stand in the order of sources and their rows, those of questions not drawn included.
    """

    questions: list[SeedQuestion]
    ledger: list[dict[str, Any]]
    audits: list[Audit]


def curate(outcomes: Mapping[str, Sequence[Outcome]], settings: Settings) -> Curated:
    """Apply the filters that need more than one row, and draw the sample.

    `outcomes` by source. The result depends on neither the order of the sources nor that of their
    rows. Raises CurationError for a quota on a source that is not given.
    """
    asked = {s for shares in settings.quota.values() for s, number in shares.items() if number}
    absent = sorted(asked - set(outcomes))
    if absent:
        raise CurationError(
            f"quota asks for {', '.join(absent)}, of which there is no data; "
            "add it to the sources or set its quota to 0"
        )
    rows = sorted(
        (row for each in outcomes.values() for row in each), key=lambda o: (o.source, o.row)
    )
    rows = without_duplicates(rows)
    audits = {o.question.question_id: audit(o.question) for o in rows if o.question}
    rows = [_audited(row, audits, settings) for row in rows]
    rows = [_in_range(row, settings) for row in rows]
    rows, notes = sample(rows, settings)
    order = {task: place for place, task in enumerate(TASKS)}
    questions = sorted(
        (row.question for row in rows if row.question),
        key=lambda q: (order[q.task], q.question_id),
    )
    found = [each for each in audits.values() if each]
    return Curated(questions, ledger(rows, notes), found)


def without_duplicates(rows: Sequence[Outcome]) -> list[Outcome]:
    """Rows without questions asked before: the same task, text, dates and times.

    The first one stays, unless the golds of the equal ones differ: then none can be believed.
    """
    golds: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.question:
            golds[row.question.question_id].add(str(row.question.answer["value"]))
    out: list[Outcome] = []
    seen: set[str] = set()
    for row in rows:
        name = row.question.question_id if row.question else ""
        if name and len(golds[name]) > 1:
            row = row.without("duplicate", "asked more than once with different golds")  # noqa: PLW2901
        elif name and name in seen:
            row = row.without("duplicate", "asked before in the same words")  # noqa: PLW2901
        seen.add(name)
        out.append(row)
    return out


def _audited(row: Outcome, audits: Mapping[str, Audit | None], settings: Settings) -> Outcome:
    found = audits.get(row.question.question_id) if row.question else None
    if found is None or found.agrees or settings.disagreeing_golds == "keep":
        return row
    return row.without("gold_audit", "our own computation contradicts the gold")


def outside_calendars(question: SeedQuestion, settings: Settings) -> str:
    """The first calendar of the run that cannot name a date of the question or its answer.

    Empty where all can. Both the gold and what is accepted beside it count.
    """
    days = list(question.dates)
    if question.answer["kind"] in ("date", "date_time"):
        values = [question.answer["value"], *question.answer["accepted"]]
        days += [str(value)[:10] for value in values]
    for calendar in settings.calendars:
        for text in days:
            try:
                _name(date.fromisoformat(text), calendar, settings.hijri_outside_range)
            except CalendarRangeError:
                return calendar
    return ""


def _name(day: date, calendar: str, hijri_outside_range: str) -> None:
    if calendar == "lunar":
        to_lunar(day)
    else:
        to_hijri(day, "refuse" if hijri_outside_range == "refuse" else "tabular_civil")


def _in_range(row: Outcome, settings: Settings) -> Outcome:
    if row.question is None or settings.calendar_range != "drop":
        return row
    calendar = outside_calendars(row.question, settings)
    if not calendar:
        return row
    return row.without("calendar_range", f"a date outside the {calendar} calendar")


def sample(
    rows: Sequence[Outcome], settings: Settings
) -> tuple[list[Outcome], dict[tuple[str, str], str]]:
    """Draw each quota; the rows with those not drawn left out, and a note per source and task.

    Questions are drawn in the order of a hash of seed and question_id, so that one more question in
    the pool changes few choices. Relations and yes-or-no questions are drawn in equal shares of
    their answers, as far as the pool goes. A pool that is too small is taken whole.
    """
    pools: dict[tuple[str, str], list[SeedQuestion]] = defaultdict(list)
    for row in rows:
        if row.question:
            pools[row.source, row.task].append(row.question)
    chosen: set[str] = set()
    notes: dict[tuple[str, str], str] = {}
    for (source, task), pool in sorted(pools.items()):
        quota = settings.quota.get(task, {}).get(source, 0)
        taken = draw(pool, quota, settings)
        chosen |= {question.question_id for question in taken}
        short = quota - len(taken)
        notes[source, task] = f"quota {quota}" + (f": {short} short" if short > 0 else "")
        if settings.calendar_range == "prefer":
            outside = sum(bool(outside_calendars(question, settings)) for question in taken)
            notes[source, task] += f"; {outside} with a date outside a calendar of the run"
    out = []
    for row in rows:
        if row.question and row.question.question_id not in chosen:
            out.append(row.without("sample", notes[row.source, row.task]))
        else:
            out.append(row)
    return out, notes


def draw(pool: Sequence[SeedQuestion], quota: int, settings: Settings) -> list[SeedQuestion]:
    """At most `quota` questions of a pool, by the order of a hash; relations in equal shares."""

    def rank(question: SeedQuestion) -> tuple[bool, str]:
        late = settings.calendar_range == "prefer" and outside_calendars(question, settings) != ""
        return late, content_id(settings.seed, question.question_id)

    groups: dict[str, list[SeedQuestion]] = defaultdict(list)
    for question in pool:
        balanced = question.answer["kind"] in _BALANCED
        groups[str(question.answer["value"]) if balanced else ""].append(question)
    shares = equal_shares({name: len(group) for name, group in groups.items()}, quota)
    return [
        question
        for name, group in groups.items()
        for question in sorted(group, key=rank)[: shares[name]]
    ]


def equal_shares(sizes: Mapping[str, int], quota: int) -> dict[str, int]:
    """How many to take of each group so that the shares are as equal as the sizes allow.

    What is left after whole shares goes to the groups in the order of `tasks.RELATIONS`.
    """
    order = sorted(sizes, key=lambda name: (name not in RELATIONS, _place(name), name))
    shares = dict.fromkeys(order, 0)
    left = quota
    while left > 0:
        hungry = [name for name in order if shares[name] < sizes[name]]
        if not hungry:
            break
        portion = max(1, left // len(hungry))
        for name in hungry:
            part = min(portion, sizes[name] - shares[name], left)
            shares[name] += part
            left -= part
    return shares


def _place(name: str) -> int:
    return RELATIONS.index(name) if name in RELATIONS else 0


def ledger(
    rows: Iterable[Outcome], notes: Mapping[tuple[str, str], str] | None = None
) -> list[dict[str, Any]]:
    """The rows of curation.csv: one a step and reason, per source and task, in the order of STEPS.

    `kept` counts what is left after the line. The first line of a source counts its rows, of a task
    the rows that are of this task. `notes` are the reasons of the last line of each.
    """
    by_source: dict[str, list[Outcome]] = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row)
    out: list[dict[str, Any]] = []
    for source, own in sorted(by_source.items()):
        none = [row for row in own if not row.task]
        out += _lines(source, "", none, ("read", len(own), "rows of the source"))
        for task in TASKS:
            of_task = [row for row in own if row.task == task]
            if of_task:
                first = ("task", len(of_task), "rows of the task")
                out += _lines(source, task, of_task, first)
                note = (notes or {}).get((source, task))
                if note and out[-1]["step"] != "sample":
                    line = {"step": "sample", "dropped": 0, "reason": note}
                    out.append({**out[-1], **line})
    return out


def _lines(
    source: str, task: str, rows: Sequence[Outcome], first: tuple[str, int, str]
) -> list[dict[str, Any]]:
    step, left, reason = first
    lines = [(step, left, 0, reason)]
    losses = Counter((row.step, row.reason) for row in rows if row.step)
    for (name, why), count in sorted(
        losses.items(), key=lambda item: (STEPS.index(item[0][0]), item[0][1])
    ):
        left -= count
        lines.append((name, left, count, why))
    return [
        dict(zip(COLUMNS, (source, task, name, kept, dropped, why), strict=True))
        for name, kept, dropped, why in lines
    ]


def audit_rows(audits: Iterable[Audit]) -> list[dict[str, Any]]:
    """The rows of gold_audit.csv."""
    return [asdict(each) for each in audits]
