"""The languages that have a file, and what readers of free text know: the words of all of them.

A reader does not ask which language a reply is in. Which languages a run writes its questions in is
the configuration's choice (`multitempbench.languages`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from scripts.dates.language_files import SOURCE_LANGUAGE, Language, load_languages, month_names
from scripts.dates.plain_text import is_chinese, normalise
from scripts.dates.signs import fold

#: Languages by their code, in the order of the tables.
LANGUAGES: Mapping[str, Language] = MappingProxyType(load_languages())
ENGLISH = LANGUAGES[SOURCE_LANGUAGE]


@cache
def month_numbers(code: str, calendar: str) -> Mapping[str, int]:
    """Every folded spelling of the months of a calendar in a language, with the number 1 to 12.

    Gregorian months include the abbreviations. An empty mapping where a language names no months
    of that calendar.
    """
    return MappingProxyType(month_names(LANGUAGES[code], calendar))


def english_first() -> Iterator[Language]:
    """All languages, English before the others: where two words could be meant, it is preferred."""
    yield ENGLISH
    yield from (language for language in LANGUAGES.values() if language is not ENGLISH)


def words(choose: Callable[[Language], tuple[str, ...]]) -> list[str]:
    """Words of all languages as a normalised text has them, English first, none twice."""
    found = (normalise(word).strip() for each in english_first() for word in choose(each))
    return list(dict.fromkeys(word for word in found if word))


def folded(choose: Callable[[Language], tuple[str, ...]]) -> list[str]:
    """Words of all languages, folded, English first, none twice."""
    found = (fold(word) for each in english_first() for word in choose(each))
    return list(dict.fromkeys(word for word in found if word))


def apart(found: list[str]) -> tuple[list[str], list[str]]:
    """Words that stand between blanks, and Chinese ones, which do not."""
    return [w for w in found if not is_chinese(w)], [w for w in found if is_chinese(w)]
