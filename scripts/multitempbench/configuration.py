"""What the schema of MultiTempBench's section cannot say, and whom it asks beside its models."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from scripts.dates.language_files import SOURCE_LANGUAGE, codes, language_file, load_language, named
from scripts.files import DataError
from scripts.inference.interface import origin
from scripts.workflow.section_checks import (
    Section,
    above_gpu_limit,
    range_problems,
    unknown,
    year_problems,
)

#: The judge that is no model.
DATE_JUDGE = "date_judge"
#: Backends that load weights, whose hidden states can therefore be read.
WITH_WEIGHTS = ("vllm", "transformers")
#: The released design takes this many dates of every year that it draws.
DATES_OF_A_YEAR = 16
#: Which readers of corpora hold questions of which task.
QUESTION_READERS = {
    "date_arithmetic": ("tram_arithmetic", "test_of_time", "seed_questions"),
    "time_zone": ("tram_arithmetic", "seed_questions"),
    "relation": ("tram_relation", "freshbench", "seed_questions"),
}


def further_models(section: Section) -> Iterator[tuple[str, str]]:
    """(key, name) of the models that judge or translate."""
    for name in section["judging"]["judges"]:
        if name != DATE_JUDGE:
            yield "judging.judges", name
    translation = section["translation"]
    if translation["method"] == "model" and translation.get("model"):
        yield "translation.model", translation["model"]


def corpora(section: Section) -> Iterator[tuple[str, str]]:
    """(key, name) of the sources of questions that have a quota."""
    for task, sources in section["quota"].items():
        yield from ((f"quota.{task}.{name}", name) for name, count in sources.items() if count)


def given(section: Section, fetched: bool) -> Iterator[str]:
    """Rules whose outputs a release gives: what tokenisers, weights and translators make.

    The probes stand for the hidden states, which are gigabytes.
    """
    yield from ("multitempbench_measure_fragmentation", "multitempbench_measure_examples")
    yield from ("multitempbench_calibrate_weights", "multitempbench_fit_probes")
    if fetched:
        yield "multitempbench_curate_questions"
    if section["translation"]["method"] != "shipped":
        yield "multitempbench_translate_questions"


def check(section: Section, config: Section) -> Iterator[str]:
    """Models, sources and limits of single steps that do not fit."""
    yield from _analysis_problems(section, config["models"])
    yield from _quota_problems(section["quota"], config["corpora"])
    yield from _language_problems(section["languages"])
    translation = section["translation"]
    wanted = {"model": "model", "local": "local"}.get(translation["method"])
    if wanted and not translation.get(wanted):
        yield f"multitempbench.translation.{wanted}: missing; method {wanted} needs it"
    if translation["method"] == "local" and translation.get("local"):
        needed = int(translation["local"].get("gpus", 0))
        yield from above_gpu_limit("multitempbench.translation.local", needed, config)
    judging = section["judging"]
    if judging["primary"] not in judging["judges"]:
        yield f"multitempbench.judging.primary: {judging['primary']!r} is not one of judges"
    weights = section["tokenisation"]["weights"]
    if not math.isclose(math.fsum(weights), 1.0, abs_tol=1e-9):
        yield f"multitempbench.tokenisation.weights: {weights} must sum to 1"
    years = section["tokenisation"]["released_design"]["years"]
    yield from range_problems("multitempbench.tokenisation.released_design.years", years)
    yield from year_problems("multitempbench.tokenisation.released_design.years", years)
    dates = section["tokenisation"]["released_design"]["dates"]
    if dates % DATES_OF_A_YEAR:
        yield (
            f"multitempbench.tokenisation.released_design.dates: {dates} is not a multiple of "
            f"{DATES_OF_A_YEAR} (the design has 4 months of 4 days in every year)"
        )
    yield from _probing_problems(section["probing"])


def _language_problems(languages: Section) -> Iterator[str]:
    """Languages without a file, and mistakes in the files; one round trip of every form."""
    if SOURCE_LANGUAGE not in languages:
        yield f"multitempbench.languages: {SOURCE_LANGUAGE} is missing; the questions are English"
    known = codes()
    for code in languages:
        if code not in known:
            yield (
                f"multitempbench.languages.{code}: there is no {named(code)}; write "
                f"it (docs/data-formats.md), or use one of {', '.join(known)}"
            )
    try:
        # Their words are read while these modules are imported.
        from scripts.dates.formats import check_language  # noqa: PLC0415
        from scripts.multitempbench.prompts import load_prompts  # noqa: PLC0415

        used = [code for code in languages if code in known]
        for code in used:
            load_language(language_file(code))
            check_language(code)
        load_prompts(used)
    except DataError as error:
        yield f"multitempbench.languages: {error}"


def sized(languages: Section) -> dict[str, dict[str, Any]]:
    """The languages of a run by code: `resource` and `corpus_gb` of their files, or the run's own.

    Raises LanguageError for a file that cannot be read.
    """
    out = {}
    for code, entry in languages.items():
        language = load_language(language_file(code))
        out[code] = {"resource": language.resource, "corpus_gb": language.corpus_gb, **entry}
    return out


def _analysis_problems(section: Section, roster: Section) -> Iterator[str]:
    key, analyses = "multitempbench.analyses", section["analyses"]
    for name in analyses["probing"]:
        if name not in section["models"]:
            yield unknown(f"{key}.probing", name, section["models"], "multitempbench.models")
        elif name in roster and origin(roster[name]) not in WITH_WEIGHTS:
            yield (
                f"{key}.probing: {name!r} has backend {roster[name]['backend']!r}, which gives no "
                "hidden states; leave it out"
            )
    if analyses["pca"] not in analyses["probing"]:
        yield unknown(f"{key}.pca", analyses["pca"], analyses["probing"], f"{key}.probing")
    name = analyses["examples"]
    if name not in section["models"]:
        yield unknown(f"{key}.examples", name, section["models"], "multitempbench.models")
    elif name in roster and roster[name].get("tokenizer", "none") == "none":
        yield f"{key}.examples: {name!r} has no tokenizer; set models.{name}.tokenizer"


def _quota_problems(quota: Section, corpora: Section) -> Iterator[str]:
    for task, sources in quota.items():
        key = f"multitempbench.quota.{task}"
        if not sum(sources.values()):
            yield f"{key}: no source has any question; leave the task out, or give it a number"
        for name, count in sources.items():
            if not count or name not in corpora:
                continue
            if corpora[name]["reader"] not in QUESTION_READERS[task]:
                yield (
                    f"{key}.{name}: its reader {corpora[name]['reader']!r} has no such questions; "
                    f"readers that have: {', '.join(QUESTION_READERS[task])}"
                )


def _probing_problems(probing: Section) -> Iterator[str]:
    key = "multitempbench.probing"
    yield from range_problems(f"{key}.years", probing["years"])
    yield from year_problems(f"{key}.years", probing["years"])
    for name, group in (("headline_token", "tokens"), ("held_out_format", "formats")):
        if probing[name] not in probing[group]:
            yield f"{key}.{name}: {probing[name]!r} is not one of {group} {probing[group]}"
    first, last = probing["years"]
    if probing["folds"] * 2 > last - first + 1:
        yield (
            f"{key}.folds: {probing['folds']} folds need at least {2 * probing['folds']} years, "
            f"there are {last - first + 1}"
        )
