# What every file of this folder uses: the checked configuration, names, and functions of wildcards.
import os
import re
from pathlib import Path

from scripts.inference.backends import backend_file
from scripts.workflow.configuration import (
    ConfigurationError,
    check_configuration,
    read_yaml,
)
from scripts.workflow.consistency import gpus_needed
from scripts.workflow.digest import code_digest
from scripts.workflow.provenance import adopt_once, export

# Scripts import the package by name, wherever Snakemake copies them to.
os.environ.update(PYTHONPATH=workflow.basedir)

try:
    for file in workflow.configfiles:
        read_yaml(Path(file))
    check_configuration(config)
except ConfigurationError as error:
    raise WorkflowError(str(error)) from None

RESULTS = config["run"]["results"]
RUN = config["run"]
MODELS = config["models"]

# Results that came with this checkout bring the record of how they were made.
if message := adopt_once(RESULTS):
    logger.info(message)


onsuccess:
    export(RESULTS)


SB = config["syntaxbench"]
SB_FOLDER = f"{RESULTS}/syntaxbench"
SB_SETTINGS = [f"{shots}shot" for shots in SB["shots"]]
SB_TASKS = sorted(SB["tasks"])
SB_MODELS = SB["models"]
SB_BASELINES = SB["baselines"]
# One pair a run: a model's mode. The paper's 11 configurations are the pairs of its models.
SB_RUNS = [
    (model, mode)
    for model in SB_MODELS + SB_BASELINES
    for mode in MODELS[model]["modes"]
]


wildcard_constraints:
    model="|".join(re.escape(name) for name in MODELS),
    mode="thinking|non_thinking",
    task="|".join(SB_TASKS),
    source="|".join(re.escape(name) for name in config["corpora"]),


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


def environment(wildcards):
    """The environment of a model's inference job under --sdm conda: vLLM pins its own packages."""
    name = "vllm" if MODELS[wildcards.model]["backend"] == "vllm" else "core"
    return f"../envs/{name}.yaml"


def gpus(wildcards):
    """GPUs of a model's inference job; counted by Snakemake, so never more than the limit."""
    needed = gpus_needed(MODELS[wildcards.model])
    limit = workflow.global_resources.get("gpu")
    limit = getattr(limit, "value", limit)
    if limit is not None and needed > limit:
        raise WorkflowError(
            f"model {wildcards.model} needs {needed} GPUs but --resources gpu={limit}: "
            "raise the limit or lower tensor_parallel in config.yaml"
        )
    return needed


def token_limit(wildcards, section):
    """Most tokens that a model may generate: its own limit, else the benchmark's, per mode."""
    own = MODELS[wildcards.model].get("max_new_tokens", {})
    return own.get(
        wildcards.mode, section["decoding"]["max_new_tokens"][wildcards.mode]
    )


def corpus_file(role):
    """The file of the corpus that plays a role (vocabulary, palindromes, documents)."""
    return config["corpora"][SB["corpora"][role]]["path"]


def model_inputs(wildcards):
    """Files that a model's backend reads: converted weights, an archive, baseline answers."""
    entry = MODELS[wildcards.model]
    if entry["backend"] == "baseline":
        return {"answers": f"{SB_FOLDER}/baselines/{wildcards.model}.jsonl"}
    if entry["backend"] == "archive":
        path = entry["archive"].format(model=wildcards.model, mode=wildcards.mode)
        return {"answers": path}
    if entry["source"].startswith("embedded:"):
        name = entry["source"].removeprefix("embedded:")
        return {"weights": [f"{RESULTS}/models/{name}/{file}" for file in MODEL_FILES]}
    return {}


def sb_statistics(names):
    return [f"{SB_FOLDER}/statistics/{name}.csv" for name in names]


def tokenised_models():
    """Models of the run whose tokeniser is at hand."""
    return [
        name for name in SB_MODELS if MODELS[name].get("tokenizer", "none") != "none"
    ]


def tokenizer_files(wildcards):
    """Local files of a model's tokeniser; none when it comes from the hub."""
    entry = MODELS[wildcards.model]
    tokenizer = entry.get("tokenizer")
    if tokenizer == "same" and entry["source"].startswith("embedded:"):
        return [
            f"{RESULTS}/models/{entry['source'].removeprefix('embedded:')}/tokenizer.json"
        ]
    if isinstance(tokenizer, dict) and "file" in tokenizer:
        return [tokenizer["file"]]
    return []
