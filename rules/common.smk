# What every file of this folder uses: the checked configuration, names, and functions of wildcards.
import re
import sys
from pathlib import Path

from scripts.inference.backends import backend_file
from scripts.machine.locks import LockError
from scripts.workflow.benchmarks import found
from scripts.workflow.checkout import CheckoutError, hold
from scripts.workflow.command_line import check_profile, check_results
from scripts.workflow.config_files import ConfigurationError, read_config
from scripts.workflow.configuration import check_configuration, leave_out
from scripts.workflow.consistency import gpus_needed
from scripts.workflow.digest import code_digest
from scripts.workflow.job_environment import find_package, tell_terms
from scripts.workflow.packing import Packing, PackingError
from scripts.workflow.producers import origins
from scripts.workflow.provenance import adopt_once, export
from scripts.workflow.release.given import given_files

find_package(str(workflow.basedir))

try:
    check_profile(sys.argv)
    # Files of the command line come first, and win over those of the Snakefile; later ones win over
    # earlier ones.
    files = list(map(str, workflow.configfiles))
    first = len(files) - len(DEFAULTS) - 1
    sources = {file: Path(file) for file in [*files[first:], *files[:first]]}
    for file in sources.values():
        read_config(file)
    leave_out(config)
    given = {"--config on the command line": workflow.config_settings.config}
    check_configuration(config, sources=sources | given)
    check_results(config["run"]["results"], writing=False)
except ConfigurationError as error:
    raise WorkflowError(str(error)) from None

tell_terms(config)

RESULTS = config["run"]["results"]
RUN = config["run"]
# Names of the run's benchmarks in the order of the paper, and what the folder of each declares.
BENCHMARKS = RUN["benchmarks"]
FOUND = found()
MODELS = config["models"]

# Of a replay: the files that its release gives (path to checksum), and how they were made.
GIVEN, RELEASED = given_files(RUN["release"]) if "release" in RUN else ({}, {})

# Results that came with this checkout bring the record of how they were made.
if message := adopt_once(RESULTS):
    logger.info(message)


PACKING = Packing(workflow, logger.info)


onstart:
    try:
        if workflow.is_main_process and workflow.execution_settings.lock:
            hold(Path(".snakemake"))
        check_results(RESULTS, writing=True)
        PACKING.begin()
    except (CheckoutError, ConfigurationError, LockError, PackingError) as error:
        raise WorkflowError(str(error)) from None


onsuccess:
    export(RESULTS)


# What each benchmark of the run hands to rules/paper.smk, by its name.
CONTEXTS, STATISTICS, ARTEFACTS, DATASETS, REQUESTS, MANIFESTS = {}, {}, {}, {}, {}, {}
# Tables and figures of the paper that belong to no single benchmark, as LaTeX below RESULTS/paper or
# elsewhere; a file of rules that makes one adds it here, before rules/paper.smk is read. The text
# shows one as \papertable{NAME}, or \showresult{PATH}, so that its caption links to the index.
PAPER_TABLES = []
# Values of the wildcards that several benchmarks have; each adds its own.
ALLOWED = {"judge": [], "task": []}
# Its rows for rules/explorer.smk; one without rows is not in the explorer.
EXPLORER_ROWS = {}


def one_of(values):
    """The pattern of a wildcard that has one of these values; of none, where there is none."""
    return "|".join(map(re.escape, sorted(set(values)))) or "none"


wildcard_constraints:
    model=one_of(MODELS),
    mode="thinking|non_thinking",
    source=one_of(config["corpora"]),
    shard="[1-9][0-9]*",
    shards="[1-9][0-9]*",


def runs_of(models):
    """(model, mode) of everything that answers."""
    return [(model, mode) for model in models for mode in MODELS[model]["modes"]]


def tokenised_models(models):
    """Those models of a benchmark whose tokeniser is at hand."""
    return [name for name in models if MODELS[name].get("tokenizer", "none") != "none"]


def narrow(section, *keys):
    """The part of a section that a rule reads, in one order whatever the order in the file."""
    return {key: section[key] for key in sorted(keys) if key in section}


def ordered(value):
    """The same value with every mapping sorted: reordering the configuration changes nothing."""
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [ordered(entry) for entry in value]
    return value


# Keys of a roster entry that say how its jobs are cut or what they cost, not what it answers: no
# param changes with them. Another price reruns nothing; other shards ask nothing anew.
OPERATIONAL = {"licence", "memory_mb", "price", "shards"}


def answering(name, roster=MODELS):
    """A model's entry as its jobs read it; `roster` may be the embedders."""
    entry = ordered(roster[name])
    return {key: value for key, value in entry.items() if key not in OPERATIONAL}


def environment_of(name):
    """The environment of a model's job under --sdm conda: vLLM pins its own packages."""
    packages = "vllm" if MODELS[name]["backend"] == "vllm" else "core"
    return f"../envs/{packages}.yaml"


def environment(wildcards):
    """The environment of a model's inference job."""
    return environment_of(wildcards.model)


def admitted(who, needed, served=False):
    """GPUs of a job; counted by Snakemake, so never more than the limit."""
    try:
        return PACKING.admit(who, needed, served=served)
    except PackingError as error:
        raise WorkflowError(str(error)) from None


def gpus_of(name):
    """GPUs of a model's job."""
    served = MODELS[name]["backend"] == "openai"
    return admitted(f"model {name}", gpus_needed(MODELS[name]), served)


def gpus(wildcards):
    """GPUs of a model's inference job."""
    return gpus_of(wildcards.model)


def loading_memory(gpus):
    """Megabytes of a job that loads a model onto so many GPUs (0: into memory, or asks a server)."""
    return max(6000, 64000 * gpus)


def memory_of(name):
    """Megabytes of a model's job: its own `memory_mb`, else what loading it may take."""
    entry = MODELS[name]
    own = None if entry["backend"] == "archive" else entry.get("memory_mb")
    return own or loading_memory(gpus_needed(entry))


def growing(amount):
    """A resource of which a job gets more whenever it is tried again: `amount`, twice that, …"""

    def grown(wildcards, attempt):
        return attempt * (amount(wildcards) if callable(amount) else amount)

    return grown


def token_limit(wildcards, section):
    """Most tokens that a model may generate: its own limit, else the benchmark's, per mode."""
    own = MODELS[wildcards.model].get("max_new_tokens", {})
    return own.get(
        wildcards.mode, section["decoding"]["max_new_tokens"][wildcards.mode]
    )


def embedded_folder(source):
    """The folder of a source `embedded:<name>` once it is converted; None for any other source."""
    name = source.removeprefix("embedded:")
    return None if name == source else f"{RESULTS}/models/{name}"


def backend_inputs(name, mode):
    """Files that a model of the roster needs to answer: converted weights, or an archive."""
    entry = MODELS[name]
    if entry["backend"] == "archive":
        return {"answers": entry["archive"].format(model=name, mode=mode)}
    if folder := embedded_folder(entry["source"]):
        return {"weights": [f"{folder}/{file}" for file in MODEL_FILES]}
    return {}


# A shard of a run, and what it leaves: only a manifest, its answers stand in the store.
SHARD = "{model}.{mode}.shard-{shard}-of-{shards}"


def shards_of(name):
    """Jobs over which a model's requests are split; answers that cost nothing never are."""
    entry = MODELS[name]
    costs_nothing = entry["backend"] in ("archive", "baseline")
    return 1 if costs_nothing else entry.get("shards", 1)


def loads_model(wildcards):
    """Whether a job of a run answers itself; where shards do, the run only gathers."""
    return hasattr(wildcards, "shard") or shards_of(wildcards.model) == 1


def run_gpus(wildcards):
    """GPUs of a run's job."""
    return gpus(wildcards) if loads_model(wildcards) else 0


def run_memory(wildcards):
    """Megabytes of a run's job."""
    return memory_of(wildcards.model) if loads_model(wildcards) else 6000


def run_minutes(wildcards):
    """Minutes that a run's job may take: two days where a model answers, else an hour."""
    asks = MODELS[wildcards.model]["backend"] not in ("archive", "baseline")
    return 2880 if asks and loads_model(wildcards) else 60


def run_threads(wildcards):
    """Cores of a run's job."""
    return MODELS[wildcards.model].get("threads", 1) if loads_model(wildcards) else 1


def shard_manifests(folder):
    """A function of wildcards: what the shards of a run leave in this folder; nothing without."""

    def inputs(wildcards):
        if loads_model(wildcards):
            return {}
        total = shards_of(wildcards.model)
        known = {"model": wildcards.model, "mode": wildcards.mode, "shards": total}
        numbers = range(1, total + 1)
        names = [SHARD.format(shard=number, **known) for number in numbers]
        return {"shards": [f"{folder}/{name}.json" for name in names]}

    return inputs


def model_inputs(folder):
    """A function of wildcards: what a model's job of the benchmark in this folder reads."""

    def inputs(wildcards):
        if MODELS[wildcards.model]["backend"] == "baseline":
            return {"answers": f"{folder}/baselines/{wildcards.model}.jsonl"}
        return backend_inputs(wildcards.model, wildcards.mode)

    return inputs


def tokenizer_files(name):
    """Local files of a model's tokeniser; none when it comes from the hub."""
    entry = MODELS[name]
    tokenizer, source = entry.get("tokenizer"), entry["source"]
    folder = embedded_folder(source) or source
    if tokenizer == "same" and (folder != source or Path(source).is_dir()):
        return [f"{folder}/tokenizer.json"]
    if isinstance(tokenizer, dict) and "file" in tokenizer:
        return [tokenizer["file"]]
    return []


def judge_inputs(wildcards):
    """What the model that judges reads besides the answers."""
    return backend_inputs(wildcards.judge, MODELS[wildcards.judge]["modes"][0])


def judge_environment(wildcards):
    """The environment of a judge's job under --sdm conda."""
    return environment_of(wildcards.judge)


def shown_results(wildcards):
    """Every table and figure of the paper, as LaTeX."""
    artefacts = [path for name in BENCHMARKS for path in ARTEFACTS[name]]
    return [path for path in artefacts if path.endswith(".tex")] + PAPER_TABLES


def origins_of_shown(wildcards, input):
    """How the data of every table (its CSV) and figure (its PDF) is made."""
    stems = [path.removesuffix(".tex") for path in input.shown]
    return origins(
        workflow,
        [f"{stem}{form}" for stem in stems for form in (".csv", ".pdf")],
        RELEASED,
    )
