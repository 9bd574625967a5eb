"""What a project with one more language can do with it, as JSON: run in a copy of the project.

Arguments: the code of the language, then sampled years. Written and read are all their days in all
forms; the judge reads answers that the language's own file words.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from scripts.dates.formats import aliases, check_language, read, write
from scripts.dates.language_files import load_languages
from scripts.dates.languages import LANGUAGES
from scripts.dates.reading import read_text
from scripts.dates.signs import FORMATS
from scripts.judging.date_judge import judge


def days(years: list[int]) -> Iterator[date]:
    for year in years:
        day = date(year, 1, 1)
        while day.year == year:
            yield day
            day += timedelta(days=1)


def dates(code: str, years: list[int]) -> tuple[Counter[str], list[str]]:
    """How many days came back from each form, and what did not."""
    back: Counter[str] = Counter()
    lost = []
    for day in days(years):
        for form in FORMATS:
            text = write(day, code, form).text
            # The strict reader, and the reader of free text that the judge uses.
            found = [reading for mention in read_text(text).dates for reading in mention.readings]
            if read(text, code, form) == day and day in found and text in aliases(day, code):
                back[form] += 1
            else:
                lost.append(f"{form}: {day} as {text!r}, found {found}")
    return back, lost


def verdict(text: str, code: str, kind: str, answer: str, **gold: Any) -> str:
    return judge(text, {"kind": kind, "answer": answer, **gold}, code).verdict


def judged(code: str) -> dict[str, list[str]]:
    """Verdicts on right and wrong answers of every kind, and on refusals."""
    known, day = LANGUAGES[code], date(2024, 2, 29)
    mark = f"{known.replies.get('final_answer', known.replies['answer'])[0]}: "
    said: dict[str, list[str]] = {"right": [], "wrong": [], "refusal": []}
    for form in FORMATS:
        text = write(day, code, form).text
        said["right"] += [verdict(t, code, "date", "2024-02-29") for t in (text, mark + text)]
        said["right"].append(verdict(f"{text} 14:30", code, "date_time", "2024-02-29T14:30"))
        said["wrong"].append(verdict(text, code, "date", "2024-03-01"))
    for kind, table in (("relation", known.relations), ("yes_no", known.yes_no)):
        for value, forms in table.items():
            said["right"] += [verdict(form, code, kind, value) for form in forms]
            other = next(each for each in table if each != value)
            said["wrong"].append(verdict(forms[0], code, kind, other))
    for unit, forms in known.units.items():
        said["right"] += [verdict(f"45 {w}", code, "number", "45", unit=unit) for w in forms]
        said["wrong"].append(verdict(f"44 {forms[0]}", code, "number", "45", unit=unit))
    for word, value in known.number_words.items():
        said["right"].append(verdict(word, code, "number", str(value)))
    said["refusal"] = [verdict(text, code, "date", "2024-02-29") for text in known.refusals]
    return said


def main() -> None:
    code, years = sys.argv[1], [int(year) for year in sys.argv[2:]]
    check_language(code)
    back, lost = dates(code, years)
    verdicts = {name: Counter(found) for name, found in judged(code).items()}
    order = list(load_languages())
    print(json.dumps({"back": back, "lost": lost[:5], "verdicts": verdicts, "order": order}))


if __name__ == "__main__":
    main()
