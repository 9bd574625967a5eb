# Toy: from sums to a table of the paper.
from scripts.publishing.captions import publication_params

TOY = config["toy"]
TOY_FOLDER = f"{RESULTS}/toy"
TOY_RUNS = runs_of(TOY["models"])
# What the paper and its captions read of the configuration.
TOY_CONTEXT = publication_params(
    config,
    "toy",
    items={"sum": TOY["items"] * len(TOY["digits"])},
    options={"digits": TOY["digits"], "variants": 1},
)

# What rules/paper.smk takes from every benchmark of the run.
CONTEXTS["toy"] = ordered(TOY_CONTEXT)
STATISTICS["toy"] = [f"{TOY_FOLDER}/statistics/accuracy.csv"]
ARTEFACTS["toy"] = [f"{TOY_FOLDER}/tables/accuracy.tex"]
DATASETS["toy"] = []
REQUESTS["toy"] = [f"{TOY_FOLDER}/requests.jsonl"]
MANIFESTS["toy"] = [f"{RESULTS}/manifests/toy/{m}.{mode}.json" for m, mode in TOY_RUNS]


rule toy_build_items:
    """The sums, drawn with the seed of the run, and one prompt for each."""
    output:
        item_file=f"{TOY_FOLDER}/items.jsonl",
        requests=f"{TOY_FOLDER}/requests.jsonl",
    log:
        f"{RESULTS}/logs/toy/build_items.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        digits=TOY["digits"],
        each=TOY["items"],
        seed=RUN["seed"],
        decoding=narrow(TOY["decoding"], "temperature", "top_p", "repetition_penalty"),
        code=code_digest("scripts/toy/build_items.py"),
    script:
        "../scripts/toy/build_items.py"


rule toy_run_model:
    """One process answers every item for one model in one mode."""
    input:
        unpack(model_inputs(TOY_FOLDER)),
        unpack(shard_manifests(f"{RESULTS}/manifests/toy")),
        requests=[f"{TOY_FOLDER}/requests.jsonl"],
    output:
        responses=[f"{TOY_FOLDER}/responses/{{model}}.{{mode}}.jsonl"],
        manifest=f"{RESULTS}/manifests/toy/{{model}}.{{mode}}.json",
    log:
        f"{RESULTS}/logs/toy/run_model/{{model}}.{{mode}}.log",
    conda:
        environment
    threads: run_threads
    resources:
        gpu=run_gpus,
        mem_mb=growing(run_memory),
        runtime=growing(run_minutes),
    params:
        benchmark="toy",
        name=lambda wildcards: wildcards.model,
        mode=lambda wildcards: wildcards.mode,
        entry=lambda wildcards: answering(wildcards.model),
        files=True,
        max_new_tokens=lambda wildcards: token_limit(wildcards, TOY),
        store=lambda wildcards: (
            f"{RESULTS}/store/toy/{wildcards.model}/{wildcards.mode}.jsonl"
        ),
        code=lambda wildcards: code_digest(
            "scripts/inference/run_model.py",
            backend_file(MODELS[wildcards.model]["backend"]),
        ),
    script:
        "../scripts/inference/run_model.py"


use rule toy_run_model as toy_run_shard with:
    """One of the jobs that split the requests of a run; its answers stand in the store."""
    output:
        manifest=temp(f"{RESULTS}/manifests/toy/{SHARD}.json"),
    log:
        f"{RESULTS}/logs/toy/run_model/{SHARD}.log",
    params:
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),


rule toy_score_responses:
    """Every reply of every model, right or wrong, and the accuracy of each model."""
    input:
        item_file=f"{TOY_FOLDER}/items.jsonl",
        responses=[f"{TOY_FOLDER}/responses/{m}.{mode}.jsonl" for m, mode in TOY_RUNS],
    output:
        scores=f"{TOY_FOLDER}/scores.parquet",
        accuracy=f"{TOY_FOLDER}/statistics/accuracy.csv",
    log:
        f"{RESULTS}/logs/toy/score_responses.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        statistics=narrow(TOY["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/toy/score_responses.py"),
    script:
        "../scripts/toy/score_responses.py"


rule toy_make_table:
    """The table as LaTeX, as CSV and as a page of the report."""
    input:
        accuracy=f"{TOY_FOLDER}/statistics/accuracy.csv",
    output:
        tex=f"{TOY_FOLDER}/tables/accuracy.tex",
        csv=report(
            f"{TOY_FOLDER}/tables/accuracy.csv",
            caption="report/table.rst",
            category="Toy",
            labels={"table": "accuracy", "form": "values (CSV)"},
        ),
        html=report(
            f"{TOY_FOLDER}/tables/accuracy.html",
            caption="report/table.rst",
            category="Toy",
            labels={"table": "accuracy", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/toy/make_table.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        context=CONTEXTS["toy"],
        code=code_digest("scripts/toy/make_table.py"),
    script:
        "../scripts/toy/make_table.py"
