"""How answers are worded in each language: relations, yes and no, units of time, refusals.

The prompt that offers the words and the judge that reads them take them from the languages' files.
The first form of an entry is the one a prompt offers; the others are what a person may write
instead. A file says whether somebody who speaks the language has checked it (`reviewed`).

Compare folded forms (`scripts.dates.signs.fold`): case, accents, vowel marks, apostrophes and the
hooks of Hausa letters do not count.
"""

from __future__ import annotations

from collections.abc import Mapping

from scripts.dates import languages

LANGUAGES = tuple(languages.LANGUAGES)
RELATIONS = ("before", "after", "simultaneous", "during")
UNITS = ("hours", "days", "weeks", "months", "years")

_Forms = tuple[str, ...]
_Table = Mapping[str, Mapping[str, _Forms]]

#: language -> relation -> (form that a prompt offers, further forms).
RELATION_WORDS: _Table = {code: each.relations for code, each in languages.LANGUAGES.items()}
#: language -> "yes" or "no" -> (form that a prompt offers, further forms).
YES_NO_WORDS: _Table = {code: each.yes_no for code, each in languages.LANGUAGES.items()}
#: language -> unit -> (form after a number, further forms).
UNIT_WORDS: _Table = {code: each.units for code, each in languages.LANGUAGES.items()}
#: language -> what a reply says that gives no answer.
REFUSAL_PHRASES: Mapping[str, _Forms] = {
    code: each.refusals for code, each in languages.LANGUAGES.items()
}


def _forms(table: _Table, language: str, name: str, what: str) -> _Forms:
    try:
        of_language = table[language]
    except KeyError:
        raise ValueError(f"language {language!r} is none of {', '.join(LANGUAGES)}") from None
    try:
        return of_language[name]
    except KeyError:
        raise ValueError(f"{what} {name!r} is none of {', '.join(of_language)}") from None


def relation_word(language: str, relation: str) -> str:
    """The word that a prompt offers for a relation (`before`, `after`, `simultaneous`, `during`).

    Raises ValueError for an unknown language or relation.
    """
    return _forms(RELATION_WORDS, language, relation, "relation")[0]


def relation_words(language: str, relation: str) -> tuple[str, ...]:
    """Every form of a relation in a language, the prompt's own first."""
    return _forms(RELATION_WORDS, language, relation, "relation")


def yes_no_word(language: str, value: str) -> str:
    """The word that a prompt offers for `yes` or `no`."""
    return _forms(YES_NO_WORDS, language, value, "value")[0]


def yes_no_words(language: str, value: str) -> tuple[str, ...]:
    """Every form of `yes` or `no` in a language, the prompt's own first."""
    return _forms(YES_NO_WORDS, language, value, "value")


def unit_word(language: str, unit: str) -> str:
    """The name of a unit of time (plural of `UNITS`) as it follows a number above ten."""
    return _forms(UNIT_WORDS, language, unit, "unit")[0]


def unit_words(language: str, unit: str) -> tuple[str, ...]:
    """Every form of a unit of time in a language."""
    return _forms(UNIT_WORDS, language, unit, "unit")


def refusal_phrases(language: str) -> tuple[str, ...]:
    """What a reply says that gives no answer, in a language."""
    if language not in REFUSAL_PHRASES:
        raise ValueError(f"language {language!r} is none of {', '.join(LANGUAGES)}")
    return REFUSAL_PHRASES[language]
