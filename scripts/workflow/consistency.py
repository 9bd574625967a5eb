"""What the configuration's schema cannot say: names that must exist, limits that must agree.

Each function yields one sentence per problem, beginning with the key that holds it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import MAXYEAR, MINYEAR
from pathlib import Path
from typing import Any

from scripts.inference.registry import ModelEntryError, model_spec
from scripts.inference.spending import is_local
from scripts.records import canonical_digest

Section = Mapping[str, Any]
#: Judges that are no models.
DATE_JUDGE = "date_judge"
COUNCIL_PROGRAMS = ("rule_judge", "overlap_judge")
#: Backends that load weights, whose hidden states can therefore be read.
WITH_WEIGHTS = ("vllm", "transformers")


def benchmark_problems(benchmark: str, config: Section) -> Iterator[str]:
    """All problems of one benchmark's section and of the models that it uses."""
    section = config[benchmark]
    yield from _roster_problems(benchmark, section, config["models"])
    further = list(_further_models(section))
    for key, name in further:
        if name not in config["models"]:
            yield unknown(f"{benchmark}.{key}", name, config["models"], "models")
        elif config["models"][name]["backend"] == "baseline":
            yield f"{benchmark}.{key}: {name!r} has backend 'baseline', which cannot be asked"
    names = dict.fromkeys([*section["models"], *section["baselines"], *(n for _, n in further)])
    known = [name for name in names if name in config["models"]]
    yield from _model_problems(known, config)
    yield from _twin_problems([n for n in section["models"] if n in config["models"]], config)
    yield from _gpu_problems(known, config)
    yield from _price_problems(known, "models", config)
    yield from OWN_PROBLEMS[benchmark](section, config)


def models_of_run(config: Section) -> list[str]:
    """Names of the roster that any benchmark of the run asks, judges and translators included."""
    names: dict[str, None] = {}
    for benchmark in config["run"]["benchmarks"]:
        section = config[benchmark]
        names |= dict.fromkeys([*section["models"], *section["baselines"]])
        names |= dict.fromkeys(name for _, name in _further_models(section))
    return list(names)


def embedders_of_run(config: Section) -> list[str]:
    """Names of the embedders that the run uses."""
    if "tide" not in config["run"]["benchmarks"]:
        return []
    return list(dict.fromkeys(name for _, name in _asked_embedders(config["tide"])))


def _asked_embedders(section: Section) -> list[tuple[str, str]]:
    """(key, name) of the embedders of TIDE."""
    retrieval = section["retrieval"]
    return [
        ("construction.embedder", section["construction"]["embedder"]),
        ("retrieval.embedder", retrieval["embedder"]),
        *(("retrieval.ablation.embedders", name) for name in retrieval["ablation"]["embedders"]),
    ]


def entry_problems(config: Section) -> Iterator[str]:
    """Problems of corpora and embedders, whichever benchmark uses them."""
    for group in ("corpora", "embedders", "embedded_models"):
        yield from _case_problems(group, config[group])
    yield from _corpus_problems(config["corpora"])
    for name, entry in config["embedders"].items():
        if entry["backend"] == "openai" and not entry.get("base_url"):
            yield f"embedders.{name}.base_url: missing; the openai backend needs the server"
        hub = entry["backend"] == "sentence_transformers" and not (
            entry["source"].startswith("package:") or Path(entry["source"]).expanduser().is_dir()
        )
        if hub and not entry.get("revision"):
            yield (
                f"embedders.{name}.revision: missing; {entry['source']!r} is no folder, and a "
                "model of the hub needs a commit to be repeatable"
            )


def _case_problems(group: str, names: Iterable[str]) -> Iterator[str]:
    """Names become folders, which some file systems do not tell apart by capitals."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            yield f"{group}.{name}: differs from {other!r} in capitals only; rename one of them"


def _corpus_problems(corpora: Section) -> Iterator[str]:
    """Sources that are fetched have a checksum and lie in a folder of their own name."""
    for name, entry in corpora.items():
        path = str(entry["path"])
        if path.startswith("data/raw/") and not path.startswith(f"data/raw/{name}/"):
            yield f"corpora.{name}.path: {path!r} must lie in data/raw/{name}/"
        if ".." in path.split("/"):
            yield f"corpora.{name}.path: {path!r} must not hold .."
        if entry.get("url") and not entry.get("sha256"):
            yield f"corpora.{name}.sha256: missing; what is downloaded is checked by it"
        if entry.get("url") and entry.get("mediawiki"):
            yield f"corpora.{name}.url: give url or mediawiki, not both"


def unknown(key: str, name: str, known: Iterable[str], where: str) -> str:
    """The sentence for a name that is not where it should be, with the nearest one that is."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{key}: {name!r} is not in {where}; {hint}known: {', '.join(names)}"


def _roster_problems(benchmark: str, section: Section, roster: Section) -> Iterator[str]:
    for group in ("models", "baselines"):
        key = f"{benchmark}.{group}"
        for name in section[group]:
            if name not in roster:
                yield unknown(key, name, roster, "models")
            elif (roster[name]["backend"] == "baseline") != (group == "baselines"):
                yield f"{key}: {name!r} has backend {roster[name]['backend']!r}"
        repeated = sorted({n for n in section[group] if section[group].count(n) > 1})
        if repeated:
            yield f"{key}: listed twice: {', '.join(repeated)}"


def _further_models(section: Section) -> Iterator[tuple[str, str]]:
    """(key, name) of roster models that answer for the benchmark itself: judges, a translator."""
    for name in section.get("judging", {}).get("judges", []):
        if name != DATE_JUDGE:
            yield "judging.judges", name
    translation = section.get("translation", {})
    if translation.get("method") == "model" and translation.get("model"):
        yield "translation.model", translation["model"]
    for name in section.get("judging", {}).get("council", []):
        if name not in COUNCIL_PROGRAMS:
            yield "judging.council", name
    construction = section.get("construction", {})
    if construction.get("method") == "model" and construction.get("generator"):
        yield "construction.generator", construction["generator"]
    if section.get("parsing", {}).get("vision"):
        yield "parsing.vision", section["parsing"]["vision"]


def _model_problems(names: Iterable[str], config: Section) -> Iterator[str]:
    """Entries that could not be run as written; only models of the run are looked at."""
    for name in names:
        entry = config["models"][name]
        try:
            model_spec(name, entry)
        except ModelEntryError as error:
            yield str(error)
        if entry["backend"] == "archive" and not entry.get("archive"):
            yield f"models.{name}.archive: missing; name the file of published outputs"
        embedded = entry["source"].removeprefix("embedded:")
        if embedded != entry["source"] and embedded not in config["embedded_models"]:
            known = ", ".join(config["embedded_models"])
            yield f"models.{name}.source: {embedded!r} is not in embedded_models; known: {known}"
        yield from _key_source_problems(name, entry)


def _key_source_problems(name: str, entry: Section) -> Iterator[str]:
    """A hosted model says where its key comes from; whether it is there, its job says."""
    named = entry.get("api_key_environment") or entry.get("api_key_file")
    address = str(entry.get("base_url") or "")
    if entry["backend"] == "openai" and address and not named and not is_local(address):
        yield (
            f"models.{name}.api_key_environment: missing; name the environment variable that holds "
            "the key of this server, or its file in api_key_file"
        )


#: Keys of a roster entry that do not change what its model answers.
INCIDENTAL = frozenset(
    {
        *("label", "access", "parameters", "knowledge_cutoff", "price", "shards", "tokenizer"),
        *("modes", "gpus", "threads", "memory_mb", "concurrency", "requests_per_minute"),
        *("max_attempts", "timeout_seconds", "connect_timeout_seconds", "backoff_seconds"),
        *("longest_backoff_seconds", "longest_wait_seconds", "stop_after_failures"),
        *("api_key_environment", "api_key_file", "gpu_memory_utilization", "expected_model_echo"),
    }
)


def _twin_problems(names: Sequence[str], config: Section) -> Iterator[str]:
    """Two names of one model would be asked, and paid, twice; one label stands in every table."""
    labels: dict[str, str] = {}
    asked: dict[str, str] = {}
    for name in dict.fromkeys(names):
        entry = config["models"][name]
        other = labels.setdefault(entry["label"], name)
        if other != name:
            yield (
                f"models.{name}.label: {entry['label']!r} is the label of {other!r} too; tables "
                "could not tell them apart"
            )
        if entry["backend"] == "archive":
            continue
        answering = {key: value for key, value in entry.items() if key not in INCIDENTAL}
        for mode in entry["modes"]:
            other = asked.setdefault(canonical_digest([mode, answering]), name)
            if other != name:
                yield (
                    f"models.{name}: asks the same model in the same mode ({mode}) as {other!r}, "
                    "so every answer would be paid twice; leave one out, or give it another seed "
                    "or revision"
                )


def gpus_needed(entry: Section) -> int:
    """GPUs that one process of this model occupies (0 for a remote server or a CPU model)."""
    split, own = int(entry.get("tensor_parallel", 1)), int(entry.get("gpus", 0))
    if entry["backend"] == "vllm":
        # `gpus: 0` says that it is a build of vLLM for the CPU.
        return 0 if entry.get("gpus") == 0 else split
    if entry["backend"] == "transformers" and split > 1:
        return max(split, own)
    return own


def _gpu_problems(names: Iterable[str], config: Section) -> Iterator[str]:
    for name in names:
        needed = gpus_needed(config["models"][name])
        yield from _above_gpu_limit(f"models.{name}", needed, config)


def _above_gpu_limit(key: str, needed: int, config: Section) -> Iterator[str]:
    limit = config["run"]["gpu_limit"]
    if limit is not None and needed > limit:
        yield (
            f"{key}: needs {needed} GPUs but run.gpu_limit is {limit}; "
            "raise the limit or lower tensor_parallel or gpus"
        )


def _price_problems(names: Iterable[str], roster: str, config: Section) -> Iterator[str]:
    """A cost cap needs the price of everything hosted; a server on this machine is free."""
    cap = config["run"].get("spend_cap") or {}
    for name in names if cap.get("cost") is not None else ():
        entry = config[roster][name]
        hosted = entry["backend"] == "openai" and not is_local(str(entry.get("base_url") or ""))
        if hosted and entry.get("price") is None:
            yield (
                f"{roster}.{name}.price: missing; run.spend_cap.cost needs the price of every "
                "hosted model of the run (0 for one that costs nothing)"
            )


# ---- SyntaxBench -------------------------------------------------------------------------------


def _syntaxbench_problems(section: Section, config: Section) -> Iterator[str]:
    for role, name in section["corpora"].items():
        if name not in config["corpora"]:
            yield unknown(f"syntaxbench.corpora.{role}", name, config["corpora"], "corpora")
    shots, headline = section["shots"], section["headline_shots"]
    if shots != sorted(set(shots)):
        yield f"syntaxbench.shots: {shots} must be increasing without repetition"
    if headline not in shots:
        yield f"syntaxbench.headline_shots: {headline!r} is not one of shots {shots}"
    if section["demonstration_pool"] < max(shots):
        yield (
            f"syntaxbench.demonstration_pool: {section['demonstration_pool']} is fewer than the "
            f"{max(shots)} demonstrations that shots ask for"
        )
    yield from _range_problems("syntaxbench.document_words", section["document_words"])


def _range_problems(key: str, bounds: list[Any]) -> Iterator[str]:
    low, high = bounds
    if low > high:
        yield f"{key}: {low} is above {high}"


def _year_problems(key: str, years: list[Any]) -> Iterator[str]:
    if not MINYEAR <= min(years) <= max(years) <= MAXYEAR:
        yield f"{key}: {years} must lie in {MINYEAR} to {MAXYEAR}"


# ---- MultiTempBench ----------------------------------------------------------------------------

#: The released design takes this many dates of every year that it draws.
DATES_OF_A_YEAR = 16
#: Which readers of corpora hold questions of which task.
QUESTION_READERS = {
    "date_arithmetic": ("tram_arithmetic", "test_of_time", "seed_questions"),
    "time_zone": ("tram_arithmetic", "seed_questions"),
    "relation": ("tram_relation", "freshbench", "seed_questions"),
}


def _multitempbench_problems(section: Section, config: Section) -> Iterator[str]:
    yield from _analysis_problems(section, config["models"])
    yield from _quota_problems(section["quota"], config["corpora"])
    if "en" not in section["languages"]:
        yield "multitempbench.languages: en is missing; the seed questions are English"
    translation = section["translation"]
    wanted = {"model": "model", "local": "local"}.get(translation["method"])
    if wanted and not translation.get(wanted):
        yield f"multitempbench.translation.{wanted}: missing; method {wanted} needs it"
    if translation["method"] == "local" and translation.get("local"):
        needed = int(translation["local"].get("gpus", 0))
        yield from _above_gpu_limit("multitempbench.translation.local", needed, config)
    judging = section["judging"]
    if judging["primary"] not in judging["judges"]:
        yield f"multitempbench.judging.primary: {judging['primary']!r} is not one of judges"
    weights = section["tokenisation"]["weights"]
    if not math.isclose(math.fsum(weights), 1.0, abs_tol=1e-9):
        yield f"multitempbench.tokenisation.weights: {weights} must sum to 1"
    years = section["tokenisation"]["released_design"]["years"]
    yield from _range_problems("multitempbench.tokenisation.released_design.years", years)
    yield from _year_problems("multitempbench.tokenisation.released_design.years", years)
    dates = section["tokenisation"]["released_design"]["dates"]
    if dates % DATES_OF_A_YEAR:
        yield (
            f"multitempbench.tokenisation.released_design.dates: {dates} is not a multiple of "
            f"{DATES_OF_A_YEAR} (the design has 4 months of 4 days in every year)"
        )
    yield from _probing_problems(section["probing"])


def _analysis_problems(section: Section, roster: Section) -> Iterator[str]:
    key, analyses = "multitempbench.analyses", section["analyses"]
    for name in analyses["probing"]:
        if name not in section["models"]:
            yield unknown(f"{key}.probing", name, section["models"], "multitempbench.models")
        elif name in roster and roster[name]["backend"] not in WITH_WEIGHTS:
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
            if not count:
                continue
            if name not in corpora:
                yield unknown(f"{key}.{name}", name, corpora, "corpora")
            elif corpora[name]["reader"] not in QUESTION_READERS[task]:
                yield (
                    f"{key}.{name}: its reader {corpora[name]['reader']!r} has no such questions; "
                    f"readers that have: {', '.join(QUESTION_READERS[task])}"
                )


def _probing_problems(probing: Section) -> Iterator[str]:
    key = "multitempbench.probing"
    yield from _range_problems(f"{key}.years", probing["years"])
    yield from _year_problems(f"{key}.years", probing["years"])
    for name, group in (("headline_token", "tokens"), ("held_out_format", "formats")):
        if probing[name] not in probing[group]:
            yield f"{key}.{name}: {probing[name]!r} is not one of {group} {probing[group]}"
    first, last = probing["years"]
    if probing["folds"] * 2 > last - first + 1:
        yield (
            f"{key}.folds: {probing['folds']} folds need at least {2 * probing['folds']} years, "
            f"there are {last - first + 1}"
        )


# ---- TIDE --------------------------------------------------------------------------------------


def _tide_problems(section: Section, config: Section) -> Iterator[str]:
    corpora = config["corpora"]
    if section["corpus"] not in corpora:
        yield unknown("tide.corpus", section["corpus"], corpora, "corpora")
    elif corpora[section["corpus"]]["reader"] != "instruments":
        yield f"tide.corpus: {section['corpus']!r} is no manifest of instruments"
    for name in [*section["models"], *section["baselines"]]:
        has = config["models"].get(name, {}).get("modes")
        if name in section["models"] and has and not set(has) & set(section["modes"]):
            yield f"tide.modes: {name!r} has none of {section['modes']}, it has {has}"
    construction, retrieval = section["construction"], section["retrieval"]
    if construction["method"] == "model" and not construction["generator"]:
        yield "tide.construction.generator: missing; method model needs it"
    if config["models"].get(section["parsing"]["vision"] or "", {}).get("backend") not in (
        None,
        "openai",
    ):
        yield "tide.parsing.vision: only a model behind an OpenAI-compatible server reads images"
    ablation = retrieval["ablation"]
    asked = _asked_embedders(section)
    for key, name in asked:
        if name not in config["embedders"]:
            yield unknown(f"tide.{key}", name, config["embedders"], "embedders")
    embedders = dict.fromkeys(name for _, name in asked if name in config["embedders"])
    yield from _price_problems(embedders, "embedders", config)
    for name in embedders:
        needed = int(config["embedders"][name].get("gpus", 0))
        yield from _above_gpu_limit(f"embedders.{name}", needed, config)
    for name in ablation["models"] or []:
        if name not in section["models"]:
            yield unknown("tide.retrieval.ablation.models", name, section["models"], "tide.models")
    if retrieval["chunks"]["overlap"] >= retrieval["chunks"]["characters"]:
        yield "tide.retrieval.chunks.overlap: must be smaller than characters"


OWN_PROBLEMS: dict[str, Callable[[Section, Section], Iterator[str]]] = {
    "syntaxbench": _syntaxbench_problems,
    "multitempbench": _multitempbench_problems,
    "tide": _tide_problems,
}
