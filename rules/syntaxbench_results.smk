# SyntaxBench from scores to statistics, tables and figures.
from scripts.publishing.captions import publication_params
from scripts.syntaxbench.artefacts import FIGURES, TABLES

SB_STATISTICS = [
    "cells",
    "leaderboard",
    "mcnemar_models",
    "mcnemar_summary",
    "mcnemar_modes",
    "english_random",
    "kendall",
    "effect_sizes",
    "tolerance",
    "families",
]
SB_TOKEN_STATISTICS = [
    "tokens_headline",
    "tokens_summary",
    "tokens_bins",
    "tokens_off_by_one",
]
SB_CONTEXT = ordered(publication_params(config, "syntaxbench"))
# What the paper takes from this benchmark.
CONTEXTS["syntaxbench"] = SB_CONTEXT
STATISTICS["syntaxbench"] = sb_statistics(
    SB_STATISTICS + SB_TOKEN_STATISTICS + ["readings"]
)
ARTEFACTS["syntaxbench"] = expand(
    f"{SB_FOLDER}/tables/{{name}}.tex", name=sorted([*TABLES, "examples"])
) + expand(
    f"{SB_FOLDER}/figures/{{name}}.{{form}}", name=sorted(FIGURES), form=["pdf", "tex"]
)
DATASETS["syntaxbench"] = [f"{SB_FOLDER}/dataset/croissant.json"]
REQUESTS["syntaxbench"] = expand(f"{SB_FOLDER}/requests/{{task}}.jsonl", task=SB_TASKS)
MANIFESTS["syntaxbench"] = [
    f"{RESULTS}/manifests/syntaxbench/{model}.{mode}.json" for model, mode in SB_RUNS
]
EXPLORER_ROWS["syntaxbench"] = f"{SB_FOLDER}/explorer.jsonl"


# Seconds each: on a cluster they run where Snakemake runs, instead of waiting in the queue.
localrules:
    syntaxbench_make_table,
    syntaxbench_make_examples,
    syntaxbench_make_figure,
    syntaxbench_export_dataset,


rule syntaxbench_compute_statistics:
    """Every cell, confidence interval, paired test and family, from the scores."""
    input:
        scores=f"{SB_FOLDER}/scores.parquet",
    output:
        **{name: f"{SB_FOLDER}/statistics/{name}.csv" for name in SB_STATISTICS},
    log:
        f"{RESULTS}/logs/syntaxbench/compute_statistics.log",
    benchmark:
        f"{RESULTS}/benchmarks/syntaxbench/compute_statistics.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        models=SB_MODELS,
        baselines=SB_BASELINES,
        modes={
            name: sorted(MODELS[name]["modes"])
            for name in sorted(SB_MODELS + SB_BASELINES)
        },
        tasks={task: SB["tasks"][task]["items"] for task in SB_TASKS},
        shots=SB["shots"],
        headline_shots=SB["headline_shots"],
        statistics=ordered(SB["statistics"]),
        seed=RUN["seed"],
        code=code_digest("scripts/syntaxbench/compute_statistics.py"),
    script:
        "../scripts/syntaxbench/compute_statistics.py"


rule syntaxbench_compute_readings:
    """The statistics in every reading of what the paper leaves open."""
    input:
        **{
            name: f"{SB_FOLDER}/statistics/{name}.csv"
            for name in ("cells", "mcnemar_models", "english_random", "kendall")
        },
        scores=f"{SB_FOLDER}/scores.parquet",
    output:
        readings=f"{SB_FOLDER}/statistics/readings.csv",
    log:
        f"{RESULTS}/logs/syntaxbench/compute_readings.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        models=SB_MODELS,
        headline_shots=SB["headline_shots"],
        statistics=narrow(
            SB["statistics"], "alpha", "level", "resamples", "yates_below"
        ),
        seed=RUN["seed"],
        code=code_digest("scripts/syntaxbench/compute_readings.py"),
    script:
        "../scripts/syntaxbench/compute_readings.py"


rule syntaxbench_tokenise_inputs:
    """What one model's tokeniser makes of the raw inputs."""
    input:
        tokenizer=lambda wildcards: tokenizer_files(wildcards.model),
        item_files=expand(f"{SB_FOLDER}/items/{{task}}.jsonl", task=SB_TASKS),
    output:
        tokens=f"{SB_FOLDER}/tokenisation/{{model}}.csv",
    log:
        f"{RESULTS}/logs/syntaxbench/tokenise_inputs/{{model}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        entry=lambda wildcards: narrow(
            MODELS[wildcards.model], "source", "revision", "tokenizer"
        ),
        code=code_digest("scripts/syntaxbench/tokenise_inputs.py"),
    script:
        "../scripts/syntaxbench/tokenise_inputs.py"


rule syntaxbench_analyse_tokenisation:
    """Accuracy by token count, tokens per character, and errors inside sub-words."""
    input:
        scores=f"{SB_FOLDER}/scores.parquet",
        tokens=[
            f"{SB_FOLDER}/tokenisation/{model}.csv"
            for model in tokenised_models(SB_MODELS)
        ],
    output:
        **{name: f"{SB_FOLDER}/statistics/{name}.csv" for name in SB_TOKEN_STATISTICS},
    log:
        f"{RESULTS}/logs/syntaxbench/analyse_tokenisation.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        models=tokenised_models(SB_MODELS),
        statistics=narrow(SB["statistics"], "resamples", "level", "token_bins"),
        seed=RUN["seed"],
        code=code_digest("scripts/syntaxbench/analyse_tokenisation.py"),
    script:
        "../scripts/syntaxbench/analyse_tokenisation.py"


rule syntaxbench_make_table:
    """One table, as LaTeX, as CSV and as a page of the report, all with the same content."""
    input:
        lambda wildcards: sb_statistics(TABLES[wildcards.name]),
    output:
        tex=f"{SB_FOLDER}/tables/{{name}}.tex",
        csv=report(
            f"{SB_FOLDER}/tables/{{name}}.csv",
            caption="report/table.rst",
            category="SyntaxBench",
            subcategory="Tables",
            labels={"table": "{name}", "form": "values (CSV)"},
        ),
        html=report(
            f"{SB_FOLDER}/tables/{{name}}.html",
            caption="report/table.rst",
            category="SyntaxBench",
            subcategory="Tables",
            labels={"table": "{name}", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/syntaxbench/make_table/{{name}}.log",
    wildcard_constraints:
        name="|".join(TABLES),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        context=SB_CONTEXT,
        code=code_digest("scripts/syntaxbench/make_table.py"),
    script:
        "../scripts/syntaxbench/make_table.py"


rule syntaxbench_make_examples:
    """One reply of every model and mode to every task, chosen by a rule."""
    input:
        scores=f"{SB_FOLDER}/scores.parquet",
        item_files=expand(f"{SB_FOLDER}/items/{{task}}.jsonl", task=SB_TASKS),
        responses=[
            f"{SB_FOLDER}/responses/{model}/{mode}/{task}.{SB['headline_shots']}shot.jsonl"
            for model, mode in SB_RUNS
            if model in SB_MODELS
            for task in SB_TASKS
        ],
    output:
        tex=f"{SB_FOLDER}/tables/examples.tex",
        csv=report(
            f"{SB_FOLDER}/tables/examples.csv",
            caption="report/examples.rst",
            category="SyntaxBench",
            subcategory="Tables",
            labels={"table": "examples", "form": "values (CSV)"},
        ),
        html=report(
            f"{SB_FOLDER}/tables/examples.html",
            caption="report/examples.rst",
            category="SyntaxBench",
            subcategory="Tables",
            labels={"table": "examples", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/syntaxbench/make_examples.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        context=SB_CONTEXT,
        code=code_digest("scripts/syntaxbench/make_examples.py"),
    script:
        "../scripts/syntaxbench/make_examples.py"


rule syntaxbench_make_figure:
    """One figure, as vector PDF and as PNG."""
    input:
        lambda wildcards: sb_statistics(FIGURES[wildcards.name]),
    output:
        pdf=f"{SB_FOLDER}/figures/{{name}}.pdf",
        tex=f"{SB_FOLDER}/figures/{{name}}.tex",
        png=report(
            f"{SB_FOLDER}/figures/{{name}}.png",
            caption="report/figure.rst",
            category="SyntaxBench",
            subcategory="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{RESULTS}/logs/syntaxbench/make_figure/{{name}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        context=SB_CONTEXT,
        code=code_digest("scripts/syntaxbench/make_figure.py"),
    script:
        "../scripts/syntaxbench/make_figure.py"


rule syntaxbench_export_dataset:
    """The items as a data set: JSONL, licences, and a Croissant record."""
    input:
        item_files=expand(f"{SB_FOLDER}/items/{{task}}.jsonl", task=SB_TASKS),
        demonstrations=expand(
            f"{SB_FOLDER}/demonstrations/{{task}}.jsonl", task=SB_TASKS
        ),
    output:
        croissant=f"{SB_FOLDER}/dataset/croissant.json",
        licences=f"{SB_FOLDER}/dataset/LICENSES.md",
        item_files=expand(f"{SB_FOLDER}/dataset/{{task}}.jsonl", task=SB_TASKS),
    log:
        f"{RESULTS}/logs/syntaxbench/export_dataset.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        corpora={
            role: ordered(config["corpora"][name])
            for role, name in sorted(SB["corpora"].items())
        },
        seed=RUN["seed"],
        code=code_digest("scripts/syntaxbench/export_dataset.py"),
    script:
        "../scripts/syntaxbench/export_dataset.py"


rule syntaxbench_gather_explorer_rows:
    """Items, prompts, answers and what was made of them, for the explorer."""
    input:
        item_files=expand(f"{SB_FOLDER}/items/{{task}}.jsonl", task=SB_TASKS),
        requests=expand(f"{SB_FOLDER}/requests/{{task}}.jsonl", task=SB_TASKS),
        responses=[
            f"{SB_FOLDER}/responses/{model}/{mode}/{task}.{setting}.jsonl"
            for model, mode in SB_RUNS
            for task in SB_TASKS
            for setting in SB_SETTINGS
        ],
        scores=f"{SB_FOLDER}/scores.parquet",
    output:
        rows=EXPLORER_ROWS["syntaxbench"],
    log:
        f"{RESULTS}/logs/syntaxbench/gather_explorer_rows.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
    params:
        code=code_digest("scripts/syntaxbench/gather_explorer_rows.py"),
    script:
        "../scripts/syntaxbench/gather_explorer_rows.py"
