"""A language in one file: the shipped ones, new ones in a copy of the project, and broken ones."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.dates import formats, language_files
from scripts.dates.language_files import (
    PARTS,
    SCHEMA_FILE,
    LanguageError,
    codes,
    content_digest,
    language_file,
    load_language,
    load_languages,
)
from scripts.dates.signs import FORMATS
from scripts.files import DataError
from scripts.multitempbench import prompts, translation
from scripts.multitempbench.own_questions import read_own_questions
from scripts.multitempbench.tables import data as tables
from scripts.publishing.latex import escape
from scripts.workflow.digest import ROOT, import_closure

EXAMPLES = ROOT / "docs" / "examples" / "languages"
FRENCH = EXAMPLES / "fr.yaml"
NEW = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
SHIPPED = ("ar", "de", "en", "ha", "zh")
QUESTIONS = ROOT / "data" / "embedded" / "multitempbench_questions.jsonl"


# --- the files that are there --------------------------------------------------------------------


def test_the_languages_are_the_files_in_the_order_of_the_tables() -> None:
    assert tuple(codes()) == SHIPPED
    assert list(load_languages()) == ["ar", "zh", "en", "de", "ha"]


@pytest.mark.parametrize("path", [*map(language_file, SHIPPED), *sorted(EXAMPLES.glob("*.yaml"))])
def test_every_file_is_sound_and_says_that_nobody_reviewed_it(path: Path) -> None:
    language = load_language(path)
    assert language.code == path.stem and not language.reviewed
    assert not language.translations_reviewed
    assert prompts.parse_prompt(language.code, language.prompt).language == language.code


def test_every_key_of_a_file_belongs_to_one_part() -> None:
    keys = [key for part in PARTS.values() for key in part]
    assert sorted(keys) == sorted(yaml.safe_load(SCHEMA_FILE.read_text())["properties"])


@pytest.mark.parametrize("code", [*SHIPPED, *NEW])
def test_the_paper_has_a_sign_for_everything_it_may_print(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = language_file(code) if code in SHIPPED else EXAMPLES / f"{code}.yaml"
    language = load_language(path)
    monkeypatch.setattr(formats, "LANGUAGES", {code: language})
    written = [formats.write(date(2023, 7, 3), code, form).text for form in FORMATS]
    words = [form for table in (language.relations, language.yes_no) for form in table.values()]
    months = [names[0] for names in (*language.gregorian_months, *language.hijri_months)]
    texts_of = [*language.translations.values(), *language.prompt["instructions"].values()]
    for text in [*written, *months, *(each[0] for each in words), *texts_of]:
        assert "U+" not in escape(text), text


# --- a new language in a copy of the project -----------------------------------------------------


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("languages")
    shutil.copytree(
        ROOT / "scripts", root / "scripts", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / "data" / "languages", root / "data" / "languages")
    return root


@pytest.mark.parametrize("code", NEW)
def test_one_file_adds_a_language(copy: Path, code: str) -> None:
    """Every day of two years in every form there and back; answers in the language are judged."""
    file = copy / "data" / "languages" / f"{code}.yaml"
    shutil.copy(EXAMPLES / f"{code}.yaml", file)
    try:
        done = subprocess.run(
            [sys.executable, ROOT / "tests/unit/language_round_trip.py", code, "1931", "2024"],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        file.unlink()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["lost"] == [] and told["back"] == dict.fromkeys(FORMATS, 365 + 366)
    assert told["order"] == ["ar", "zh", "en", "de", "ha", code]
    verdicts = told["verdicts"]
    assert set(verdicts["right"]) == {"correct"} and verdicts["right"]["correct"] > 100
    assert set(verdicts["wrong"]) == {"incorrect"}
    assert set(verdicts["refusal"]) == {"not_attempted"}


def test_the_french_example_translates_every_question() -> None:
    questions = {each.question_id: each.text for each in own_questions()}
    french = load_language(FRENCH).translations
    assert set(french) == set(questions)
    for name, text in french.items():
        assert translation.translation_problem(questions[name], text, "fr") == ""


def own_questions() -> list[Any]:
    return [each.question for each in read_own_questions(QUESTIONS, "own_questions")]


# --- broken files --------------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], None]


def put(path: str, value: Any) -> Change:
    """A change that sets (or with None removes) what stands at a path of keys."""

    def change(content: Any) -> None:
        *above, last = [int(key) if key.isdecimal() else key for key in path.split("/")]
        for key in above:
            content = content[key]
        if value is None:
            del content[last]
        else:
            content[last] = value

    return change


def broken(folder: Path, change: Change) -> Path:
    """A French file with a change."""
    content = yaml.safe_load(FRENCH.read_text(encoding="utf-8"))
    change(content)
    path = folder / "fr.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return path


BROKEN: dict[str, tuple[Change, str]] = {
    "month missing": (put("months/gregorian/11", None), "months.gregorian: holds 11 entries where"),
    "no months": (put("months", None), "the file: months missing; add what"),
    "two months of one name": (
        put("months/gregorian/5", ["juillet"]),
        "months.gregorian: 'juillet' names month 6 and month 7; keep it for one",
    ),
    "short name of another month": (
        put("months/short/0", ["juin"]),
        "months.short: 'juin' names month 6 and month 1",
    ),
    "unknown calendar": (
        put("forms/calendar/calendar", "julian"),
        "forms.calendar.calendar: 'julian' is not one of",
    ),
    "calendar without months": (
        put("forms/calendar/calendar", "hijri"),
        "forms.calendar.calendar: hijri has no names of months; add months.hijri",
    ),
    "unknown digits": (put("forms/long/digits", "roman"), "forms.long.digits: 'roman' is not one"),
    "unknown key": (put("moths", []), "the file: unknown key moths; known: aliases, code"),
    "code that tables use": (put("code", "all"), "code: 'all' is what tables"),
    "one word for two numbers": (
        put("numbers/below_20/3", "Deux"),
        "numbers.below_20: 'Deux' is 2 and 3; keep it for one of the two",
    ),
    "a further word for another number": (
        put("numbers/more/vingt", 21),
        "numbers.more: 'vingt' is 20 and 21; keep it",
    ),
    "one word for two ordinals": (
        put("numbers/ordinals", ["premier", "premier"]),
        "numbers.ordinals: 'premier' is 1 and 2; keep it",
    ),
    "probe without its date": (
        put("probe", "Le conseil s'est réuni."),
        "probe: must end with {date}, which stands in it once; correct it",
    ),
    "probe with words behind its date": (put("probe", "Le {date} !"), "probe: must end with"),
    "code of another file": (put("code", "de"), "code: 'de' is not the file's name"),
    "one word for two relations": (
        put("relations/after", ["avant"]),
        "'avant' stands under after too; keep it in one of them",
    ),
    "yes without quotation marks": (
        put("yes_no", {True: ["oui"], False: ["faux"]}),
        "yes_no: ",
    ),
    "number for a word": (put("name", 3), "name: 3 is read as no text; put it in quotation marks"),
    "form missing": (put("forms/slash", None), "forms: slash missing"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_names_the_key_and_the_remedy(tmp_path: Path, name: str) -> None:
    change, message = BROKEN[name]
    path = broken(tmp_path, change)
    with pytest.raises(LanguageError, match=re.escape(f"{path}: ") + ".*" + re.escape(message)):
        load_language(path)


PATTERNS = {
    "parts that touch": ("{day}{month}{year}", "which reads as"),
    "a part is missing": ("{month:name} {year}", "needs each of day, month, year once"),
    "a part stands twice": ("{day} {day} {month} {year}", "needs each of day, month, year once"),
    "no such place": ("{day} {month:long} {year}", "no place {month:long}; there are month:name"),
    "a brace": ("{day} {month} {year} {era}", "a brace stands outside"),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_form_must_read_back_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pattern, message = PATTERNS[name]
    language = load_language(broken(tmp_path, put("forms/long/pattern", pattern)))
    monkeypatch.setattr(formats, "LANGUAGES", {"fr": language})
    with pytest.raises(LanguageError, match=re.escape(message)) as caught:
        formats.check_language("fr")
    assert str(caught.value).startswith("data/languages/fr.yaml: ")
    assert repr(pattern) in str(caught.value) and "correct" in str(caught.value)


def test_a_month_means_the_same_in_every_language(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "data" / "languages", tmp_path, dirs_exist_ok=True)
    path = broken(tmp_path, put("months/gregorian/5", ["Mai"]))
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["months"]["gregorian"][4] = ["mai de"]
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    load_language.cache_clear()
    language_files._content.cache_clear()
    other = re.escape(str(tmp_path / "de.yaml"))
    with pytest.raises(LanguageError, match=f"'mai' is month 6 here and month 5 in {other}; read"):
        load_languages(tmp_path)


def test_english_must_be_there(tmp_path: Path) -> None:
    shutil.copy(FRENCH, tmp_path)
    with pytest.raises(LanguageError, match=r"en\.yaml: missing; the questions are English"):
        load_languages(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"code: [\n", "not valid YAML in UTF-8 (line 2: "),
        (b"\xff\xfe\x00", "not valid YAML in UTF-8 ("),
        (b"- fr\n", "expected the keys"),
    ],
)
def test_what_is_no_language_file(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "fr.yaml"
    path.write_bytes(content)
    with pytest.raises(LanguageError, match=re.escape(f"{path}: {message}")):
        load_language(path)
    with pytest.raises(LanguageError, match="cannot be read"):
        load_language(tmp_path / "xx.yaml")


def test_a_quick_load_explains_a_broken_file_as_well(tmp_path: Path) -> None:
    path = broken(tmp_path, put("relations", None))
    with pytest.raises(LanguageError, match="the file: relations missing; add what"):
        load_language(path, quick=True)


def test_a_prompt_or_a_translation_may_lack_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(content: dict[str, Any]) -> None:
        content["prompt"]["instructions"]["relation"] = "Répondez."
        content["translations"]["texts"][first.question_id] = "Quelle date ?"

    first = own_questions()[0]
    language = load_language(broken(tmp_path, change))
    for module in (prompts, translation):
        monkeypatch.setattr(module, "LANGUAGES", {"fr": language})
    with pytest.raises(DataError, match=r"fr\.yaml: prompt.instructions.relation: must hold \{\{o"):
        prompts.load_prompts(["fr"])
    _, [failure] = translation.shipped_rows([first], "fr")
    assert failure.reason == (
        f"data/languages/fr.yaml: translations.texts.{first.question_id}: lost {{d1}}"
    )


# --- what a run makes anew -----------------------------------------------------------------------


def test_a_part_s_digest_changes_with_that_part_alone(tmp_path: Path) -> None:
    def digests(name: str, change: Change) -> dict[str, str]:
        folder = tmp_path / name
        folder.mkdir()
        broken(folder, change)
        return {part: content_digest([part], ["fr"], folder)["fr"] for part in PARTS}

    before = digests("before", lambda _: None)
    assert len(set(before.values())) == len(PARTS)
    for part, change in {
        "answers": put("units/hours", ["heures"]),
        "translation": put("translations/reviewed", True),
        "writing": put("ordinal_days/2", "2e"),
        "probe": put("probe", "Le {date}"),
    }.items():
        after = digests(part, change)
        assert {each for each in PARTS if after[each] != before[each]} == {part}
    # Comments, layout and order do not count.
    assert content_digest(PARTS, ["fr"], EXAMPLES) == content_digest(
        PARTS, ["fr"], tmp_path / "before"
    )


#: Rules whose scripts import the languages and read nothing of them.
READ_NOTHING = {
    "multitempbench_compute_readings",
    "multitempbench_fit_mixed_effects",
    "multitempbench_gather_fragmentation",
    "multitempbench_judge_by_model",
}


def test_every_rule_that_reads_languages_depends_on_what_it_reads() -> None:
    wanted = ROOT / "scripts" / "dates" / "language_files.py"
    reading, declared = set(), set()
    for path in (ROOT / "rules").glob("*.smk"):
        for rule in re.split(r"^(?=(?:use )?rule )", path.read_text(encoding="utf-8"), flags=re.M):
            name = re.match(r"rule (\w+):", rule)
            scripts = re.findall(r'"\.\./(scripts/[\w/]+\.py)"', rule)
            if name and scripts and wanted in import_closure([ROOT / each for each in scripts]):
                reading.add(name[1])
            if name and "language_files=" in rule:
                declared.add(name[1])
    assert declared and reading - READ_NOTHING == declared
    assert all(name.startswith("multitempbench_") for name in reading)


def test_the_table_of_forms_shows_the_patterns_of_the_files() -> None:
    shown = {
        (code, form): tables._pattern(code, form, formats.DEFAULT_OPTIONS)
        for code in SHIPPED
        for form in FORMATS
    }
    assert shown["ar", "iso"] == "\u200eYYYY-MM-DD\u200e" and shown["en", "iso"] == "YYYY-MM-DD"
    assert shown["zh", "long"] == "YYYY年MM月DD日"
    assert shown["en", "calendar"] == "ordinal of Month YYYY"
    assert shown["zh", "calendar"] == "year digit by digit, 年, [闰] month, day"
    assert shown["de", "slash"] == "DD.MM.YYYY" and shown["ar", "long"] == "D Month YYYY"
    hybrid = formats.Options(hausa_hybrid=True, german_am=True)
    assert tables._pattern("ha", "calendar", hybrid) == "DD Hijri month, Gregorian YYYY"
    assert tables._pattern("de", "calendar", hybrid) == "Am DD. Month des Jahres YYYY"
