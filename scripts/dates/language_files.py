"""A language of the benchmark: one file, `data/languages/<code>.yaml`, read and checked.

All that is particular to a language stands there; what scripts, numerals and calendars need is
code, which a file chooses by name (`digits: arabic_indic`, `calendar: hijri`). Every error names
the file and the key and says what to do. `content_digest` tells rules when a part has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scripts.dates.signs import CALENDARS, FORMATS, fold
from scripts.files import DataError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "data" / "languages"
SCHEMA_FILE = Path(__file__).with_name("language.schema.yaml")
#: The language of the seed questions, read beside every other one.
SOURCE_LANGUAGE = "en"

#: No language's code: the statistics name the languages together so.
ALL = "all"
#: Where the sentence of the probes has its date.
DATE = "{date}"

Words = tuple[str, ...]
MonthNames = tuple[Words, ...]
Table = Mapping[str, Words]

#: Parts of a file that different rules read; every key belongs to one of them.
PARTS: Mapping[str, tuple[str, ...]] = {
    "names": ("code", "name", "place", "script", "spaced"),
    "sizes": ("resource", "corpus_gb"),
    "writing": ("months", "eras", "forms", "variants", "ordinal_days", "aliases"),
    "reading": ("reading", "numbers", "times"),
    "answers": (
        "twelve_hour_clock",
        "relations",
        "yes_no",
        "units",
        "units_of_two",
        "unit_before_number",
    ),
    "replies": ("refusals", "replies"),
    "prompt": ("prompt",),
    "probe": ("probe",),
    "translation": ("translators", "translations"),
    "review": ("reviewed",),
}


class LanguageError(DataError):
    """A language's file is missing, or something in it is wrong."""


@dataclass(frozen=True, slots=True)
class Form:
    """A way of writing a date: its pattern, its calendar, the digits, and how tables show it.

    `gregorian_year`: the year is the Gregorian one, whatever the calendar of month and day.
    """

    pattern: str
    calendar: str = "gregorian"
    digits: str = "ascii"
    gregorian_year: bool = False
    shown: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """All that is particular to one language. Of every tuple of spellings the first is written.

    `*_months` hold twelve tuples, January, Muharram or the first lunar month first; `abbreviations`
    are short Gregorian names (a full stop may follow). `eras` maps `gregorian`, `hijri`, `lunar`
    and `before` (before the common era) to marks that say which year count a date is in. `forms`
    by FORMATS; `variants` are other calendar forms, which an option chooses. `ordinals` are the
    days 1 to 31 as an ordinal writes them. `translations` maps a question's id to its text.
    """

    code: str
    label: str
    place: int
    script: str
    spaced: bool
    reviewed: bool
    resource: str
    corpus_gb: float
    translators: Mapping[str, str]
    gregorian_months: MonthNames
    abbreviations: MonthNames
    hijri_months: MonthNames
    lunar_months: MonthNames
    eras: Table
    forms: Mapping[str, Form]
    variants: Mapping[str, Form]
    ordinals: Words
    aliases: tuple[Form, ...]
    calendar_aliases: tuple[Form, ...]
    reading: Table
    number_words: Mapping[str, int]
    hour_words: Words
    ordinal_words: Words
    times: Table
    twelve_hour_clock: Words
    relations: Table
    yes_no: Table
    units: Table
    units_of_two: Words
    unit_before_number: bool
    refusals: Words
    replies: Table
    prompt: Mapping[str, Any]
    probe: str
    translator: str
    translations_reviewed: bool
    translations: Mapping[str, str] = field(repr=False)

    def months(self, calendar: str) -> MonthNames:
        """Spellings of the twelve months of a calendar, abbreviations left out; () if none."""
        return {
            "gregorian": self.gregorian_months,
            "hijri": self.hijri_months,
            "lunar": self.lunar_months,
        }[calendar]


def language_file(code: str, folder: Path = FOLDER) -> Path:
    """Where the file of a language stands."""
    return folder / f"{code}.yaml"


def shown(path: Path) -> str:
    """A path as messages name it: from the project's folder where it is in there."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def named(code: str, folder: Path = FOLDER) -> str:
    """The file of a language as messages name it."""
    return shown(language_file(code, folder))


def codes(folder: Path = FOLDER) -> list[str]:
    """The languages that have a file, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def load_languages(folder: Path = FOLDER) -> dict[str, Language]:
    """Every language that has a file, in the order of the tables.

    Raises LanguageError for a file with a mistake, for English missing, and for a month's name that
    means another month of the same calendar in another language, since readers know all languages.
    """
    languages = [load_language(language_file(code, folder), quick=True) for code in codes(folder)]
    languages.sort(key=lambda language: (language.place, language.code))
    if SOURCE_LANGUAGE not in {language.code for language in languages}:
        raise LanguageError(f"{named(SOURCE_LANGUAGE, folder)}: missing; the questions are English")
    for calendar in CALENDARS:
        _refuse_other_meanings(languages, calendar, folder)
    return {language.code: language for language in languages}


def _refuse_other_meanings(languages: Sequence[Language], calendar: str, folder: Path) -> None:
    known: dict[str, tuple[int, str]] = {}
    for language in languages:
        for name, number in month_names(language, calendar).items():
            other, code = known.setdefault(name, (number, language.code))
            if other != number:
                raise LanguageError(
                    f"{named(language.code, folder)}: months.{calendar}: {name!r} is month "
                    f"{number} here and month {other} in {named(code, folder)}; readers "
                    "know all languages, so leave out one of the two spellings"
                )


@cache
def load_language(path: Path, *, quick: bool = False) -> Language:
    """One language from its file; LanguageError names the file, the key and the remedy.

    `quick` leaves out the schema, whose library is slow to import, as long as nothing is amiss: the
    plan of a run has checked the file before any job reads it.
    """
    content = _content(path)
    language = None
    if quick:
        with suppress(KeyError, TypeError, AttributeError, ValueError):
            language = _language(content)
    if language is None:
        if problems := list(_problems(content, path)):
            raise LanguageError(f"{shown(path)}: " + "\n  ".join(problems))
        language = _language(content)
    if problems := [*_meanings(language), *_two_numbers(content.get("numbers", {}))]:
        raise LanguageError(f"{shown(path)}: " + "\n  ".join(problems))
    return language


@cache
def _content(path: Path) -> dict[str, Any]:
    content = _read(path)
    if not isinstance(content, dict):
        raise LanguageError(
            f"{shown(path)}: expected the keys that docs/data-formats.md lists; write them"
        )
    return content


def _read(path: Path) -> Any:
    import yaml  # noqa: PLC0415 - tests of the pure parts do not need it

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_text(encoding="utf-8-sig"), Loader=loader)  # noqa: S506 - safe
    except OSError as error:
        raise LanguageError(
            f"{shown(path)}: cannot be read ({error.strerror}); write it"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark is not None else ""
        reason = " ".join(str(getattr(error, "problem", None) or error).split())
        raise LanguageError(
            f"{shown(path)}: not valid YAML in UTF-8 ({line}{reason}); correct it"
        ) from error


@cache
def _validator() -> Any:
    import jsonschema  # noqa: PLC0415 - see _read

    return jsonschema.Draft202012Validator(_read(SCHEMA_FILE))


def _problems(content: Mapping[Any, Any], path: Path) -> Iterator[str]:
    """What the schema forbids, one sentence a key."""
    errors = sorted(_validator().iter_errors(content), key=lambda e: [str(p) for p in e.path])
    sentences = (
        f"{'.'.join(map(str, error.absolute_path)) or 'the file'}: {_reason(error)}"
        for error in errors
    )
    # Several missing keys are one sentence, though each is an error.
    yield from dict.fromkeys(sentences)
    if not errors and content["code"] == ALL:
        yield f"code: {ALL!r} is what tables call the languages together; take another"
    elif not errors and content["code"] != path.stem:
        yield f"code: {content['code']!r} is not the file's name; rename one of the two"


def _reason(error: Any) -> str:
    if error.validator == "required":
        absent = [name for name in error.validator_value if name not in error.instance]
        return f"{', '.join(absent)} missing; add what docs/data-formats.md says of it"
    if error.validator == "additionalProperties":
        known = ", ".join(sorted(error.schema.get("properties", {})))
        new = ", ".join(sorted(set(map(str, error.instance)) - set(error.schema["properties"])))
        return f"unknown key {new}; known: {known}"
    if error.validator in ("minItems", "maxItems"):
        wanted = error.validator_value
        most = "at least" if error.validator == "minItems" else "at most"
        return f"holds {len(error.instance)} entries where {most} {wanted} belong; correct the list"
    if error.validator == "type" and error.validator_value == "string":
        return f"{error.instance!r} is read as no text; put it in quotation marks"
    return f"{' '.join(error.message.split())[:200]}; correct it"


# --- from the content to the language ------------------------------------------------------------


def _words(given: Iterable[Any] | None) -> Words:
    return tuple(map(str, given or ()))


def _months(given: Iterable[Iterable[Any]] | None) -> MonthNames:
    return tuple(map(_words, given or ()))


def _table(given: Mapping[str, Iterable[Any]] | None) -> Table:
    return MappingProxyType({name: _words(words) for name, words in (given or {}).items()})


def _form(given: str | Mapping[str, str]) -> Form:
    if isinstance(given, str):
        return Form(given)
    return Form(
        given["pattern"],
        given.get("calendar", "gregorian"),
        given.get("digits", "ascii"),
        given.get("year") == "gregorian",
        given.get("shown", ""),
    )


def _forms(given: Mapping[str, Mapping[str, str]] | None) -> Mapping[str, Form]:
    return MappingProxyType({name: _form(form) for name, form in (given or {}).items()})


def _ordinals(given: Mapping[Any, str] | None) -> Words:
    named = given or {"other": "{day}"}
    return tuple(
        str(named.get(day, named["other"])).replace("{day}", str(day)) for day in range(1, 32)
    )


def _number_words(given: Mapping[str, Any]) -> Mapping[str, int]:
    """Folded words of 0 to 99 and their values."""
    words: dict[str, int] = {fold(word): n for n, word in enumerate(given.get("below_20", ()))}
    joined = given.get("joined", "")
    for ten, spellings in enumerate(given.get("tens", ()), start=2):
        for spelling in [spellings] if isinstance(spellings, str) else spellings:
            words[fold(spelling)] = 10 * ten
            for unit in range(1, 10):
                text = joined.replace("{ten}", spelling)
                text = text.replace("{unit}", given["below_20"][unit])
                words[fold(text)] = 10 * ten + unit
    words |= {fold(str(word)): value for word, value in given.get("more", {}).items()}
    return MappingProxyType(words)


def _language(content: Mapping[str, Any]) -> Language:
    months, aliases = content["months"], content.get("aliases", {})
    numbers, translations = content.get("numbers", {}), content.get("translations", {})
    return Language(
        code=content["code"],
        label=content["name"],
        place=content.get("place", 1000),
        script=content["script"],
        spaced=content.get("spaced", True),
        reviewed=content["reviewed"],
        resource=content["resource"],
        corpus_gb=content["corpus_gb"],
        translators=MappingProxyType(dict(content["translators"])),
        gregorian_months=_months(months["gregorian"]),
        abbreviations=_months(months.get("short")),
        hijri_months=_months(months.get("hijri")),
        lunar_months=_months(months.get("lunar")),
        eras=_table(content["eras"]),
        forms=_forms(content["forms"]),
        variants=_forms(content.get("variants")),
        ordinals=_ordinals(content.get("ordinal_days")),
        aliases=tuple(map(_form, aliases.get("gregorian", ()))),
        calendar_aliases=tuple(map(_form, aliases.get("calendar", ()))),
        reading=_table(content.get("reading")),
        number_words=_number_words(numbers),
        hour_words=_words(numbers.get("hours")),
        ordinal_words=_words(numbers.get("ordinals")),
        times=_table(content.get("times")),
        twelve_hour_clock=_words(content.get("twelve_hour_clock")),
        relations=_table(content["relations"]),
        yes_no=_table(content["yes_no"]),
        units=_table(content["units"]),
        units_of_two=_words(content.get("units_of_two")),
        unit_before_number=content.get("unit_before_number", False),
        refusals=_words(content["refusals"]),
        replies=_table(content["replies"]),
        prompt=MappingProxyType(dict(content["prompt"])),
        probe=content["probe"],
        translator=translations.get("translator", ""),
        translations_reviewed=translations.get("reviewed", False),
        translations=MappingProxyType(dict(translations.get("texts", {}))),
    )


def month_names(language: Language, calendar: str) -> dict[str, int]:
    """Every folded spelling of the months of a calendar, abbreviations included, with its number.

    An empty mapping where the language names no months of that calendar.
    """
    names = [(n, i) for i, each in enumerate(language.months(calendar), 1) for n in each]
    if calendar == "gregorian":
        names += [(n, i) for i, each in enumerate(language.abbreviations, 1) for n in each]
    return {fold(name): number for name, number in names}


# --- what a schema cannot say --------------------------------------------------------------------


def _meanings(language: Language) -> Iterator[str]:
    """Words with two meanings, calendars without the names of their months, the probe's date."""
    for calendar in CALENDARS:
        lists = [(f"months.{calendar}", language.months(calendar))]
        if calendar == "gregorian":
            lists.append(("months.short", language.abbreviations))
        yield from _two_months(lists)
    for name, table in (("relations", language.relations), ("yes_no", language.yes_no)):
        yield from _two_values(name, table)
    yield from _two_values("units", language.units)
    for name, form in (*language.forms.items(), *language.variants.items()):
        if not language.months(form.calendar):
            yield (
                f"forms.{name}.calendar: {form.calendar} has no names of months; add "
                f"months.{form.calendar}"
            )
    if language.probe.count(DATE) != 1 or not language.probe.endswith(DATE):
        yield f"probe: must end with {DATE}, which stands in it once; correct it"
    if language.forms and set(language.forms) != set(FORMATS):
        yield f"forms: needs exactly {', '.join(FORMATS)}"


def _two_months(lists: Sequence[tuple[str, MonthNames]]) -> Iterator[str]:
    known: dict[str, int] = {}
    for key, months in lists:
        for number, names in enumerate(months, start=1):
            for name in names:
                other = known.setdefault(fold(name), number)
                if other != number:
                    yield (
                        f"{key}: {name!r} names month {other} and month {number}; keep it for one "
                        "of the two"
                    )


def _two_numbers(given: Mapping[str, Any]) -> Iterator[str]:
    """Words of `numbers` with two values; `more` may correct what `joined` makes."""
    entries = [("below_20", word, n) for n, word in enumerate(given.get("below_20", ()))]
    for ten, spellings in enumerate(given.get("tens", ()), start=2):
        names = [spellings] if isinstance(spellings, str) else spellings
        entries += [("tens", name, 10 * ten) for name in names]
    entries += [("more", word, value) for word, value in given.get("more", {}).items()]
    lists = [entries]
    for key in ("hours", "ordinals"):
        lists.append([(key, word, n) for n, word in enumerate(given.get(key, ()), start=1)])
    for words in lists:
        known: dict[str, int] = {}
        for key, word, value in words:
            other = known.setdefault(fold(str(word)), value)
            if other != value:
                yield (
                    f"numbers.{key}: {word!r} is {other} and {value}; keep it for one of the two"
                )


def _two_values(key: str, table: Table) -> Iterator[str]:
    known: dict[str, str] = {}
    for value, forms in table.items():
        for form in forms:
            other = known.setdefault(fold(form), value)
            if other != value:
                yield f"{key}.{value}: {form!r} stands under {other} too; keep it in one of them"


# --- for rules -----------------------------------------------------------------------------------


def content_digest(
    parts: Collection[str], codes: Iterable[str], folder: Path = FOLDER
) -> dict[str, str]:
    """A digest of these PARTS of each language's file: 16 hexadecimal characters by code.

    Comments, order of keys and layout do not count. A rule that reads a part of a file has it among
    its params, so that a changed word makes anew what reads it and nothing else.
    """
    keys = {key for part in parts for key in PARTS[part]}
    out = {}
    for code in sorted(codes):
        content = _content(language_file(code, folder))
        chosen = {key: _with_text_keys(content[key]) for key in keys if key in content}
        text = json.dumps(chosen, sort_keys=True, ensure_ascii=True, default=str)
        out[code] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return out


def _with_text_keys(value: Any) -> Any:
    """The same value with every key as text: YAML reads some keys as numbers."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(each) for key, each in value.items()}
    return value
