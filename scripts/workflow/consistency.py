"""What the configuration's schema cannot say: names that must exist, limits that must agree.

Each function yields one sentence per problem, beginning with the key that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from scripts.inference.registry import ModelEntryError, model_spec
from scripts.inference.spending import is_local
from scripts.records import canonical_digest
from scripts.workflow.benchmarks import found
from scripts.workflow.section_checks import Section, above_gpu_limit, price_problems, unknown


def benchmark_problems(benchmark: str, config: Section) -> Iterator[str]:
    """All problems of one benchmark's section and of the models that it uses."""
    section, own = config[benchmark], found()[benchmark]
    yield from _roster_problems(benchmark, section, config["models"])
    further = list(own.hook("further_models")(section))
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
    yield from price_problems(known, "models", config)
    for key, name in own.hook("corpora")(section):
        if name not in config["corpora"]:
            yield unknown(f"{benchmark}.{key}", name, config["corpora"], "corpora")
    yield from _embedder_problems(benchmark, list(own.hook("embedders")(section)), config)
    yield from own.hook("check")(section, config)


def _embedder_problems(
    benchmark: str, asked: Sequence[tuple[str, str]], config: Section
) -> Iterator[str]:
    known = config["embedders"]
    for key, name in asked:
        if name not in known:
            yield unknown(f"{benchmark}.{key}", name, known, "embedders")
    names = dict.fromkeys(name for _, name in asked if name in known)
    yield from price_problems(names, "embedders", config)
    for name in names:
        needed = int(known[name].get("gpus", 0))
        yield from above_gpu_limit(f"embedders.{name}", needed, config)


def models_of_run(config: Section) -> list[str]:
    """Names of the roster that any benchmark of the run asks, judges and translators included."""
    names: dict[str, None] = {}
    for benchmark in config["run"]["benchmarks"]:
        section = config[benchmark]
        names |= dict.fromkeys([*section["models"], *section["baselines"]])
        further = found()[benchmark].hook("further_models")(section)
        names |= dict.fromkeys(name for _, name in further)
    return list(names)


def embedders_of_run(config: Section) -> list[str]:
    """Names of the embedders that the run uses."""
    return list(dict.fromkeys(_named("embedders", config)))


def corpora_of_run(config: Section) -> list[str]:
    """Names of the corpora that the run reads, sorted."""
    return sorted(set(_named("corpora", config)))


def _named(hook: str, config: Section) -> Iterator[str]:
    for benchmark in config["run"]["benchmarks"]:
        yield from (name for _, name in found()[benchmark].hook(hook)(config[benchmark]))


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
        elif entry["backend"] == "archive":
            yield from _archive_problems(name, str(entry["archive"]))
        if not str(entry["label"]).strip():
            yield f"models.{name}.label: only blanks; write the name that tables print"
        embedded = entry["source"].removeprefix("embedded:")
        if embedded != entry["source"] and embedded not in config["embedded_models"]:
            known = ", ".join(config["embedded_models"])
            yield f"models.{name}.source: {embedded!r} is not in embedded_models; known: {known}"
        yield from _key_source_problems(name, entry)


def _archive_problems(name: str, path: str) -> Iterator[str]:
    """The file of an archive may have a model's name and mode in its path, and nothing else."""
    remedy = "{model} and {mode} may stand in it, a bracket of its own is written twice"
    try:
        path.format(model=name, mode="non_thinking")
    except (AttributeError, IndexError, KeyError, ValueError):
        yield f"models.{name}.archive: {path!r} cannot be read as a path; {remedy}"


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
        *("label", "access", "parameters", "knowledge_cutoff", "licence", "price", "shards"),
        *(
            "tokenizer",
            "modes",
            "gpus",
            "threads",
            "memory_mb",
            "concurrency",
            "requests_per_minute",
        ),
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
    if entry["backend"] == "archive":
        return 0
    if entry["backend"] == "vllm":
        # `gpus: 0` says that it is a build of vLLM for the CPU.
        return 0 if entry.get("gpus") == 0 else split
    if entry["backend"] == "transformers" and split > 1:
        return max(split, own)
    return own


def _gpu_problems(names: Iterable[str], config: Section) -> Iterator[str]:
    for name in names:
        needed = gpus_needed(config["models"][name])
        yield from above_gpu_limit(f"models.{name}", needed, config)
