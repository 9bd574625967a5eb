# What the rules of TIDE share: its files, its models, its retrievers.
from scripts.documents.manifest import documents as documents_of
from scripts.tide.tasks import SETTINGS as TIDE_SETTINGS
from scripts.tide.tasks import TASKS as TIDE_TASK_TYPES
from scripts.judging.council_programs import PROGRAMS, program_file

TIDE = config["tide"]
TIDE_FOLDER = f"{RESULTS}/tide"
TIDE_TASKS = list(TIDE_TASK_TYPES)
TIDE_MODELS = TIDE["models"]
TIDE_BASELINES = TIDE["baselines"]
TIDE_RUNS = [
    (model, mode)
    for model, mode in runs_of(TIDE_MODELS + TIDE_BASELINES)
    if mode in TIDE["modes"] or model in TIDE_BASELINES
]
TIDE_TOKENISED = tokenised_models(TIDE_MODELS)
TIDE_MANIFEST = config["corpora"][TIDE["corpus"]]["path"]
# Known once the manifest is there; without it the run says how to get it.
TIDE_DOCUMENTS = documents_of(TIDE_MANIFEST) if Path(TIDE_MANIFEST).is_file() else {}
TIDE_RETRIEVAL = TIDE["retrieval"]
TIDE_COUNCIL = TIDE["judging"]["council"]
TIDE_MODEL_JUDGES = [name for name in TIDE_COUNCIL if name in MODELS]


def tide_variants():
    """Further ways to get at the corpus: name to (embedder, depth, date-aware)."""
    main = (TIDE_RETRIEVAL["embedder"], TIDE_RETRIEVAL["depth"])
    ablation = TIDE_RETRIEVAL["ablation"]
    pairs = [(e, k) for e in ablation["embedders"] for k in ablation["depths"]]
    found = {f"rag-{e}-{k}": (e, k, False) for e, k in pairs if (e, k) != main}
    if TIDE_RETRIEVAL["date_aware"]["use"]:
        found["rag-dated"] = (*main, True)
    return found


TIDE_VARIANTS = tide_variants()
TIDE_KNOWLEDGE = [*TIDE_SETTINGS, *TIDE_VARIANTS]
TIDE_EMBEDDERS = sorted(
    {TIDE_RETRIEVAL["embedder"], *TIDE_RETRIEVAL["ablation"]["embedders"]}
)


def tide_knowledge(model):
    """The ways in which a model gets at the corpus: the three settings, and what it ablates."""
    ablating = TIDE_RETRIEVAL["ablation"]["models"]
    takes_part = model in TIDE_MODELS and (ablating is None or model in ablating)
    return TIDE_KNOWLEDGE if takes_part else list(TIDE_SETTINGS)


ALLOWED["task"] += TIDE_TASKS
ALLOWED["judge"] += TIDE_COUNCIL


wildcard_constraints:
    knowledge=one_of(TIDE_KNOWLEDGE),
    document="[A-Za-z0-9][A-Za-z0-9_-]*",
    embedder=one_of(config["embedders"]),


# Tasks whose answers the council judges.
TIDE_JUDGED = [name for name, task in TIDE_TASK_TYPES.items() if task.judged]


def tide_statistics(names):
    """Statistics files of TIDE."""
    return [f"{TIDE_FOLDER}/statistics/{name}.csv" for name in names]


def tide_pdf(wildcards):
    """The PDF of a document, beside the manifest that names it."""
    entry = TIDE_DOCUMENTS[wildcards.document]
    return entry.path


def tide_documents(pattern):
    """A file per document of the corpus."""
    return [f"{TIDE_FOLDER}/documents/{name}{pattern}" for name in TIDE_DOCUMENTS]


def tide_truth():
    """Exact texts that came with the corpus; only a corpus of our own has them."""
    folder = Path(TIDE_MANIFEST).parent / "truth"
    return sorted(str(path) for path in folder.glob("*.json"))


def tide_responses(runs, tasks=TIDE_TASKS):
    """Every file of answers of these runs: runs outer, then knowledge, then tasks."""
    return [
        f"{TIDE_FOLDER}/responses/{model}/{mode}/{knowledge}/{task}.jsonl"
        for model, mode in runs
        for knowledge in tide_knowledge(model)
        for task in tasks
    ]


def tide_requests(knowledge, tasks=TIDE_TASKS):
    """Every file of requests: knowledge outer, then tasks."""
    return [
        f"{TIDE_FOLDER}/requests/{name}/{task}.jsonl"
        for name in knowledge
        for task in tasks
    ]


def tide_files(pattern, runs):
    """A file per (model, mode) of TIDE."""
    return [f"{TIDE_FOLDER}/{pattern}".format(model=m, mode=k) for m, k in runs]


def tide_generator_inputs(step):
    """A function of wildcards: the shipped answers of a step, or what the generator needs."""

    def inputs(wildcards):
        construction = TIDE["construction"]
        if construction["method"] == "shipped":
            return {"shipped": construction["shipped"][step]}
        name = construction["generator"]
        needed = backend_inputs(name, MODELS[name]["modes"][0])
        return {"prompts": "scripts/tide/construction/prompts.yaml", **needed}

    return inputs


def tide_generator():
    """The roster entry and limits of the model that builds the questions; None where none does."""
    construction = TIDE["construction"]
    if construction["method"] == "shipped":
        return None
    name = construction["generator"]
    return {
        "name": name,
        "entry": answering(name),
        "mode": MODELS[name]["modes"][0],
        "max_new_tokens": construction["max_new_tokens"],
        "store": f"{RESULTS}/store/tide_construction/{name}/{MODELS[name]['modes'][0]}.jsonl",
    }


def tide_generator_code(script):
    """Code of a construction step, with the backend of the model that it asks."""
    generator = tide_generator()
    used = [backend_file(generator["entry"]["backend"])] if generator else []
    return code_digest(script, *used)


def tide_manifests():
    """Manifests of all inference of TIDE: answers, explanations, embedders, judging models."""
    folder = f"{RESULTS}/manifests/tide"
    runs = [f"{model}.{mode}" for model, mode in TIDE_RUNS]
    names = [*runs, *(f"explanations/{run}" for run in runs)]
    names += [f"embedders/{name}" for name in TIDE_EMBEDDERS]
    names += [f"judges/{name}" for name in TIDE_MODEL_JUDGES]
    return [f"{folder}/{name}.json" for name in names]


def tide_vision(document):
    """The model that reads pages without usable text, with the store of its answers; or None."""
    parsing = TIDE["parsing"]
    if parsing["vision"] is None:
        return None
    name = parsing["vision"]
    return {
        "name": name,
        "entry": answering(name),
        "mode": MODELS[name]["modes"][0],
        "max_new_tokens": parsing["max_new_tokens"],
        # One writer a store: every document has its own.
        "store": f"{RESULTS}/store/tide_vision/{name}/{document}.jsonl",
    }


def tide_vision_code(script):
    """Code of the parser, with the backend of the model that reads images."""
    name = TIDE["parsing"]["vision"]
    used = [backend_file(MODELS[name]["backend"])] if name else []
    return code_digest(script, *used)


def tide_retriever(wildcards):
    """(embedder, depth) of a setting; (None, None) where nothing is retrieved."""
    if wildcards.knowledge == "rag":
        return TIDE_RETRIEVAL["embedder"], TIDE_RETRIEVAL["depth"]
    return TIDE_VARIANTS.get(wildcards.knowledge, (None, None, False))[:2]


def tide_retrieved(wildcards):
    """The retrieved clauses that a setting's prompts show; nothing for the others."""
    embedder, _ = tide_retriever(wildcards)
    if embedder is None:
        return {}
    return {"retrieved": f"{TIDE_FOLDER}/retrieval/{embedder}.retrieved.jsonl"}


def tide_depths(embedder):
    """Depths at which clauses of an embedder are needed."""
    retrieval = TIDE_RETRIEVAL
    depths = set()
    if embedder == retrieval["embedder"]:
        depths.add(retrieval["depth"])
    if embedder in retrieval["ablation"]["embedders"]:
        depths.update(retrieval["ablation"]["depths"])
    return sorted(depths)


def tide_generator_environment(wildcards):
    """The environment of a construction step under --sdm conda."""
    generator = tide_generator()
    return environment_of(generator["name"]) if generator else "../envs/core.yaml"


def tide_generator_gpus(wildcards):
    """GPUs of a construction step."""
    generator = tide_generator()
    return gpus_of(generator["name"]) if generator else 0


def tide_generator_memory(wildcards):
    """Megabytes of a construction step."""
    return loading_memory(tide_generator_gpus(wildcards))


def gpus_of_embedder(name):
    """GPUs of a job that embeds with this model."""
    entry = config["embedders"][name]
    served = entry["backend"] == "openai"
    return admitted(f"embedder {name}", int(entry.get("gpus", 0)), served)


def embedder_gpus(wildcards):
    """GPUs of an embedder's job."""
    return gpus_of_embedder(wildcards.embedder)


def explanation_inputs(wildcards):
    """What a model needs for the second step: weights, an archive, or a baseline's answers."""
    model, mode = wildcards.model, wildcards.mode
    if MODELS[model]["backend"] == "baseline":
        return {"answers": f"{TIDE_FOLDER}/baselines/{model}.{mode}.explanations.jsonl"}
    return backend_inputs(model, mode)
