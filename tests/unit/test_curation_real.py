"""The real files of TRAM and Test of Time: what every filter leaves, as docs/curation.md states."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.corpora.sources import verify
from scripts.corpora.test_of_time import read_test_of_time
from scripts.corpora.tram import read_relations
from scripts.multitempbench.candidates import Outcome
from scripts.multitempbench.curation import Curated, Settings, curate, outside_calendars
from scripts.multitempbench.mentions import find_dates
from scripts.multitempbench.questions import SeedQuestion
from scripts.multitempbench.source_questions import read_source
from scripts.multitempbench.tasks import FORMATS, LANGUAGES
from scripts.multitempbench.tram_questions import second_spelling

ROOT = Path(__file__).parents[2]
DATA = ROOT / "../shared/data"
FILES = {
    "tram_arithmetic": DATA / "tram/arithmetic.zip",
    "tram_relation": DATA / "tram/relation.zip",
    "test_of_time": DATA / "tot/tot_arithmetic.json",
}
pytestmark = pytest.mark.skipif(
    not all(path.is_file() for path in FILES.values()), reason="the real files are not here"
)
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[Outcome]]:
    return {name: read_source(path, name, CONFIG["corpora"][name]) for name, path in FILES.items()}


def settings(calendar_range: str, seed: int = 42) -> Settings:
    quota = CONFIG["multitempbench"]["quota"]
    return Settings(quota, seed, LANGUAGES, FORMATS, calendar_range, "drop", "tabular_civil")


@pytest.fixture(scope="module")
def curated(outcomes: dict[str, list[Outcome]]) -> Curated:
    return curate(outcomes, settings(CONFIG["multitempbench"]["curation"]["calendar_range"]))


def left_after(curated: Curated, source: str, task: str, step: str) -> int:
    kept = [
        line["kept"]
        for line in curated.ledger
        if (line["source"], line["task"], line["step"]) == (source, task, step)
    ]
    return int(kept[-1])


@pytest.mark.parametrize(
    ("source", "task", "step", "count"),
    [
        ("tram_arithmetic", "", "read", 15584),
        ("tram_arithmetic", "date_arithmetic", "task", 5995),
        ("tram_arithmetic", "date_arithmetic", "full_date", 4495),
        ("tram_arithmetic", "time_zone", "task", 495),
        ("tram_arithmetic", "time_zone", "gold_audit", 493),
        ("tram_relation", "", "read", 102457),
        ("tram_relation", "relation", "task", 34179),
        ("tram_relation", "relation", "full_date", 21546),
        ("tram_relation", "relation", "label", 17929),
        ("tram_relation", "relation", "story_date", 16838),
        ("test_of_time", "", "read", 1850),
        ("test_of_time", "date_arithmetic", "full_date", 582),
        ("test_of_time", "date_arithmetic", "answer", 513),
        ("test_of_time", "time_zone", "full_date", 0),
    ],
)
def test_what_the_filters_leave(
    curated: Curated, source: str, task: str, step: str, count: int
) -> None:
    assert left_after(curated, source, task, step) == count


def test_every_time_zone_question_has_a_full_date(curated: Curated) -> None:
    """No line of the ledger says that one of the 495 was lost for its date."""
    steps = {
        line["step"]
        for line in curated.ledger
        if (line["source"], line["task"]) == ("tram_arithmetic", "time_zone")
    }
    assert steps == {"task", "gold_audit", "sample"}


def test_answers_of_test_of_time_by_a_date(outcomes: dict[str, list[Outcome]]) -> None:
    rows = {row.row: row for row in read_test_of_time(FILES["test_of_time"])}
    dated = [
        outcome
        for outcome in outcomes["test_of_time"]
        if outcome.task == "date_arithmetic"
        and outcome.step not in ("synthetic_entity", "full_date")
    ]
    by_a_date = [
        outcome
        for outcome in dated
        if any(find_dates(str(v), "mdy").stated for v in rows[outcome.row].label.values())
    ]
    assert (len(dated), len(by_a_date)) == (582, 328)


def test_included_events(outcomes: dict[str, list[Outcome]]) -> None:
    rows = {row.row: row for row in read_relations(FILES["tram_relation"])}
    included = [
        outcome
        for outcome in outcomes["tram_relation"]
        if rows[outcome.row].label == "IS_INCLUDED" and outcome.step not in ("task", "full_date")
    ]
    assert len(included) == 1180
    assert Counter(outcome.reason for outcome in included) == {
        "the date is that of the news story (dateline with an agency)": 774,
        "the date is that of the news story (dateline without an agency)": 317,
        "the time is a span, not one date": 1,
        "": 88,
    }
    doubled = [
        outcome for outcome in included if second_spelling(rows[outcome.row].options, "IS_INCLUDED")
    ]
    assert len(doubled) == 181


def test_golds(curated: Curated) -> None:
    golds = Counter((a.source, a.task, a.agrees) for a in curated.audits)
    assert golds == {
        ("tram_arithmetic", "date_arithmetic", True): 4495,
        ("tram_arithmetic", "time_zone", True): 493,
        ("tram_arithmetic", "time_zone", False): 2,
        ("test_of_time", "date_arithmetic", True): 513,
    }
    conventions = Counter(
        name
        for each in curated.audits
        if each.task == "time_zone"
        for name in each.convention.split("+")
    )
    assert conventions == {
        "local_mean_time_floored_to_hour": 487,
        "standard_offset": 202,
        "local_mean_time": 40,
        "off_by_one_hour": 2,
    }


def test_the_default_run_has_250_per_task(curated: Curated) -> None:
    assert Counter((q.task, q.source["name"]) for q in curated.questions) == {
        ("date_arithmetic", "test_of_time"): 125,
        ("date_arithmetic", "tram_arithmetic"): 125,
        ("time_zone", "tram_arithmetic"): 250,
        ("relation", "tram_relation"): 250,
    }
    relations = Counter(q.answer["value"] for q in curated.questions if q.task == "relation")
    assert relations == {"before": 69, "after": 69, "during": 69, "simultaneous": 43}
    assert len({q.question_id for q in curated.questions}) == 750
    assert len({(q.text, *q.dates, *q.times) for q in curated.questions}) == 750
    outside = Counter(q.task for q in curated.questions if outside_calendars(q, settings("prefer")))
    assert outside == {"time_zone": 186}


def test_every_question_is_whole(curated: Curated) -> None:
    for question in curated.questions:
        assert SeedQuestion.from_json(question.to_json()) == question
        assert question.dates
        assert find_dates(question.text).stated == 0
        assert "JSON" not in question.text
        assert "yyyy" not in question.text
        assert "unanswerable" not in question.text


def test_the_lunar_calendar_leaves_64_time_zone_questions(
    outcomes: dict[str, list[Outcome]],
) -> None:
    dropped = curate(outcomes, settings("drop"))
    assert Counter(q.task for q in dropped.questions) == {
        "date_arithmetic": 250,
        "time_zone": 64,
        "relation": 250,
    }
    reasons = [line["reason"] for line in dropped.ledger if line["step"] == "sample"]
    assert "quota 250: 186 short" in reasons


def test_the_files_are_those_of_the_configuration() -> None:
    for name, path in FILES.items():
        verify(path, CONFIG["corpora"][name])
