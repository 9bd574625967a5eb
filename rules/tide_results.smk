# TIDE from scores to statistics, tables and figures.
from scripts.tide.artefacts import FIGURES as TIDE_FIGURES
from scripts.tide.artefacts import OWN_RULE as TIDE_OWN_TABLES
from scripts.tide.artefacts import TABLES as TIDE_TABLES
from scripts.tide.artefacts import context_params as tide_context_params
from scripts.tide.artefacts import inputs as tide_frames

TIDE_CONTEXT = ordered(tide_context_params(config))
TIDE_STATISTICS = [
    "parsing",
    "two_calendars",
    "complexity",
    "fidelity",
    "generation",
    "verification",
    "dataset",
    "accuracy",
    "perturbation",
    "outcomes",
    "meaning_vs_date",
    "misalignment",
    "setting_differences",
    "mcnemar_settings",
    "mcnemar_models",
    "retrieval",
    "ablation_by_task",
    "ablation_by_model",
    "council",
    "human_validation",
    "tokens",
    "review",
    "readings",
    "summary",
]
# What the paper takes from this benchmark.
CONTEXTS["tide"] = TIDE_CONTEXT
STATISTICS["tide"] = tide_statistics(TIDE_STATISTICS)
ARTEFACTS["tide"] = expand(
    f"{TIDE_FOLDER}/tables/{{name}}.tex", name=sorted([*TIDE_TABLES, *TIDE_OWN_TABLES])
) + expand(
    f"{TIDE_FOLDER}/figures/{{name}}.{{form}}",
    name=sorted(TIDE_FIGURES),
    form=["pdf", "tex"],
)
DATASETS["tide"] = [f"{TIDE_FOLDER}/dataset/croissant.json"]
REQUESTS["tide"] = tide_requests(TIDE_KNOWLEDGE)
MANIFESTS["tide"] = tide_manifests()
EXPLORER_ROWS["tide"] = f"{TIDE_FOLDER}/explorer.jsonl"


# Seconds each: on a cluster they run where Snakemake runs, instead of waiting in the queue.
localrules:
    tide_compute_dataset,
    tide_compute_retrieval,
    tide_compute_summary,
    tide_gather_tokens,
    tide_make_table,
    tide_make_examples,
    tide_make_figure,
    tide_export_dataset,


rule tide_compute_accuracy:
    """Strict, partial and graded accuracy, and what the settings change, on the matched set."""
    input:
        scores=f"{TIDE_FOLDER}/scores.parquet",
    output:
        **{
            name: f"{TIDE_FOLDER}/statistics/{name}.csv"
            for name in (
                "accuracy",
                "perturbation",
                "outcomes",
                "meaning_vs_date",
                "misalignment",
                "setting_differences",
                "ablation_by_task",
                "ablation_by_model",
            )
        },
    log:
        f"{RESULTS}/logs/tide/compute_accuracy.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/compute_accuracy.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        models=TIDE_MODELS,
        baselines=TIDE_BASELINES,
        runs=[list(run) for run in TIDE_RUNS],
        main=[TIDE_RETRIEVAL["embedder"], TIDE_RETRIEVAL["depth"]],
        variants=ordered(TIDE_VARIANTS),
        statistics=narrow(TIDE["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/tide/statistics/compute_accuracy.py"),
    script:
        "../scripts/tide/statistics/compute_accuracy.py"


rule tide_compute_readings:
    """The results in every reading of what the paper leaves open."""
    input:
        scores=f"{TIDE_FOLDER}/scores.parquet",
    output:
        readings=f"{TIDE_FOLDER}/statistics/readings.csv",
    log:
        f"{RESULTS}/logs/tide/compute_readings.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        models=TIDE_MODELS,
        baselines=TIDE_BASELINES,
        runs=[list(run) for run in TIDE_RUNS],
        main=[TIDE_RETRIEVAL["embedder"], TIDE_RETRIEVAL["depth"]],
        date_weight=TIDE["judging"]["date_weight"],
        statistics=narrow(TIDE["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/tide/compute_readings.py"),
    script:
        "../scripts/tide/compute_readings.py"


rule tide_compute_summary:
    """Means over models and ranges that the paper's text speaks of."""
    input:
        **{
            name: f"{TIDE_FOLDER}/statistics/{name}.csv"
            for name in (
                "accuracy",
                "perturbation",
                "setting_differences",
                "complexity",
            )
        },
    output:
        summary=f"{TIDE_FOLDER}/statistics/summary.csv",
    log:
        f"{RESULTS}/logs/tide/compute_summary.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        models=TIDE_MODELS,
        code=code_digest("scripts/tide/statistics/compute_summary.py"),
    script:
        "../scripts/tide/statistics/compute_summary.py"


rule tide_compare_systems:
    """McNemar's test between settings and between models, corrected for multiple comparisons."""
    input:
        scores=f"{TIDE_FOLDER}/scores.parquet",
    output:
        mcnemar_settings=f"{TIDE_FOLDER}/statistics/mcnemar_settings.csv",
        mcnemar_models=f"{TIDE_FOLDER}/statistics/mcnemar_models.csv",
    log:
        f"{RESULTS}/logs/tide/compare_systems.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        models=TIDE_MODELS,
        runs=[list(run) for run in TIDE_RUNS],
        statistics=narrow(TIDE["statistics"], "alpha", "exact_below"),
        code=code_digest("scripts/tide/statistics/compare_systems.py"),
    script:
        "../scripts/tide/statistics/compare_systems.py"


rule tide_compute_dataset:
    """Pairs, threads, clusters and lengths of every task."""
    input:
        questions=f"{TIDE_FOLDER}/questions.jsonl",
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
    output:
        dataset=f"{TIDE_FOLDER}/statistics/dataset.csv",
    log:
        f"{RESULTS}/logs/tide/compute_dataset.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        code=code_digest("scripts/tide/statistics/compute_dataset.py"),
    script:
        "../scripts/tide/statistics/compute_dataset.py"


rule tide_compute_retrieval:
    """How many of the gold clauses each retriever finds."""
    input:
        statistics=[
            f"{TIDE_FOLDER}/statistics/retrieval/{name}.csv" for name in TIDE_EMBEDDERS
        ],
    output:
        retrieval=f"{TIDE_FOLDER}/statistics/retrieval.csv",
    log:
        f"{RESULTS}/logs/tide/compute_retrieval.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        embedders=TIDE_EMBEDDERS,
        code=code_digest("scripts/tide/statistics/compute_retrieval.py"),
    script:
        "../scripts/tide/statistics/compute_retrieval.py"


rule tide_compare_judges:
    """Agreement of the council's judges, and experts' scores of its decisions."""
    input:
        judgements=[
            path
            for judge in TIDE_COUNCIL
            for path in tide_files(
                f"judgements/{judge}/{{model}}.{{mode}}.jsonl", TIDE_RUNS
            )
        ],
        human_validation=TIDE["judging"]["human_validation"] or [],
    output:
        council=f"{TIDE_FOLDER}/statistics/council.csv",
        human_validation=f"{TIDE_FOLDER}/statistics/human_validation.csv",
    log:
        f"{RESULTS}/logs/tide/compare_judges.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        judges=TIDE_COUNCIL,
        statistics=narrow(TIDE["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/tide/compare_judges.py"),
    script:
        "../scripts/tide/compare_judges.py"


rule tide_measure_tokens:
    """Tokens that one model spends on the Bengali and the English words of every clause."""
    input:
        tokenizer=lambda wildcards: tokenizer_files(wildcards.model),
        elements=f"{TIDE_FOLDER}/elements.jsonl",
    output:
        tokens=f"{TIDE_FOLDER}/tokenisation/{{model}}.csv",
    log:
        f"{RESULTS}/logs/tide/measure_tokens/{{model}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        entry=lambda wildcards: narrow(
            MODELS[wildcards.model], "source", "revision", "tokenizer"
        ),
        code=code_digest("scripts/tide/statistics/measure_tokens.py"),
    script:
        "../scripts/tide/statistics/measure_tokens.py"


rule tide_gather_tokens:
    """The Bengali-English token tax of every tokeniser."""
    input:
        tokens=[f"{TIDE_FOLDER}/tokenisation/{name}.csv" for name in TIDE_TOKENISED],
    output:
        tokens=f"{TIDE_FOLDER}/statistics/tokens.csv",
    log:
        f"{RESULTS}/logs/tide/gather_tokens.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        models=TIDE_MODELS,
        tokenised=TIDE_TOKENISED,
        statistics=narrow(TIDE["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/tide/statistics/gather_tokens.py"),
    script:
        "../scripts/tide/statistics/gather_tokens.py"


rule tide_make_table:
    """One table, as LaTeX, as CSV and as a page of the report, all with the same content."""
    input:
        unpack(lambda wildcards: tide_frames("table", wildcards.name, TIDE_FOLDER)),
    output:
        tex=f"{TIDE_FOLDER}/tables/{{name}}.tex",
        csv=report(
            f"{TIDE_FOLDER}/tables/{{name}}.csv",
            caption="report/table.rst",
            category="TIDE",
            subcategory="Tables",
            labels={"table": "{name}", "form": "values (CSV)"},
        ),
        html=report(
            f"{TIDE_FOLDER}/tables/{{name}}.html",
            caption="report/table.rst",
            category="TIDE",
            subcategory="Tables",
            labels={"table": "{name}", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/tide/make_table/{{name}}.log",
    wildcard_constraints:
        name="|".join(TIDE_TABLES),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        context=TIDE_CONTEXT,
        code=code_digest("scripts/tide/make_table.py"),
    script:
        "../scripts/tide/make_table.py"


rule tide_make_examples:
    """One question answered in every setting for each outcome, chosen by a rule."""
    input:
        scores=f"{TIDE_FOLDER}/scores.parquet",
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
        responses=tide_responses(
            [run for run in TIDE_RUNS if run[0] in TIDE_MODELS], TIDE_JUDGED
        ),
    output:
        tex=f"{TIDE_FOLDER}/tables/examples.tex",
        csv=report(
            f"{TIDE_FOLDER}/tables/examples.csv",
            caption="report/table.rst",
            category="TIDE",
            subcategory="Tables",
            labels={"table": "examples", "form": "values (CSV)"},
        ),
        html=report(
            f"{TIDE_FOLDER}/tables/examples.html",
            caption="report/table.rst",
            category="TIDE",
            subcategory="Tables",
            labels={"table": "examples", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/tide/make_examples.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(10),
    params:
        context=TIDE_CONTEXT,
        code=code_digest("scripts/tide/make_examples.py"),
    script:
        "../scripts/tide/make_examples.py"


rule tide_make_figure:
    """One figure, as vector PDF and as PNG."""
    input:
        unpack(lambda wildcards: tide_frames("figure", wildcards.name, TIDE_FOLDER)),
    output:
        pdf=f"{TIDE_FOLDER}/figures/{{name}}.pdf",
        tex=f"{TIDE_FOLDER}/figures/{{name}}.tex",
        png=report(
            f"{TIDE_FOLDER}/figures/{{name}}.png",
            caption="report/figure.rst",
            category="TIDE",
            subcategory="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{RESULTS}/logs/tide/make_figure/{{name}}.log",
    wildcard_constraints:
        name="|".join(TIDE_FIGURES),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        context=TIDE_CONTEXT,
        code=code_digest("scripts/tide/make_figure.py"),
    script:
        "../scripts/tide/make_figure.py"


rule tide_export_dataset:
    """The items as a data set: JSONL, licences, and a Croissant record."""
    input:
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
    output:
        croissant=f"{TIDE_FOLDER}/dataset/croissant.json",
        licences=f"{TIDE_FOLDER}/dataset/LICENSES.md",
        item_files=expand(f"{TIDE_FOLDER}/dataset/{{task}}.jsonl", task=TIDE_TASKS),
    log:
        f"{RESULTS}/logs/tide/export_dataset.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        corpus=ordered(config["corpora"][TIDE["corpus"]]),
        seed=RUN["seed"],
        code=code_digest("scripts/tide/export_dataset.py"),
    script:
        "../scripts/tide/export_dataset.py"


rule tide_gather_explorer_rows:
    """Items, prompts, answers and what was made of them, for the explorer."""
    input:
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
        requests=tide_requests(TIDE_KNOWLEDGE)
        + tide_files("explanations/{model}.{mode}.jsonl", TIDE_RUNS),
        responses=tide_responses(TIDE_RUNS)
        + tide_files("explanation_answers/{model}/{mode}.jsonl", TIDE_RUNS),
        judgements=[
            path
            for judge in TIDE_COUNCIL
            for path in tide_files(
                f"judgements/{judge}/{{model}}.{{mode}}.jsonl", TIDE_RUNS
            )
        ],
        scores=f"{TIDE_FOLDER}/scores.parquet",
    output:
        rows=EXPLORER_ROWS["tide"],
    log:
        f"{RESULTS}/logs/tide/gather_explorer_rows.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
    params:
        judges=TIDE_COUNCIL,
        runs=[list(run) for run in TIDE_RUNS],
        code=code_digest("scripts/tide/gather_explorer_rows.py"),
    script:
        "../scripts/tide/gather_explorer_rows.py"
