# MultiTempBench from scores, tokenisation and probes to statistics, tables and figures.
from scripts.multitempbench.artefacts import FIGURES as MTB_FIGURES
from scripts.multitempbench.artefacts import TABLES as MTB_TABLES
from scripts.multitempbench.artefacts import context_params, inputs as mtb_inputs

MTB_CONTEXT = ordered(context_params(config))
MTB_STATISTICS = [
    "curation",
    "dataset",
    "accuracy",
    "mdfr",
    "mdfr_as_published",
    "fragmentation_examples",
    "weights",
    "metric_correlation",
    "ratings",
    "probes",
    "geometry",
    "pca",
    "linearity",
    "correlation_points",
    "correlations",
    "regression",
    "regression_fits",
    "regression_variances",
    "regression_slopes",
    "judge_agreement",
    "judge_confusion",
    "readings",
]
# What the paper takes from this benchmark.
CONTEXTS["multitempbench"] = MTB_CONTEXT
STATISTICS["multitempbench"] = mtb_statistics(MTB_STATISTICS)
ARTEFACTS["multitempbench"] = expand(
    f"{MTB_FOLDER}/tables/{{name}}.tex", name=sorted([*MTB_TABLES, "judge_examples"])
) + expand(
    f"{MTB_FOLDER}/figures/{{name}}.{{form}}",
    name=sorted(MTB_FIGURES),
    form=["pdf", "tex"],
)
DATASETS["multitempbench"] = [f"{MTB_FOLDER}/dataset/croissant.json"]
REQUESTS["multitempbench"] = expand(
    f"{MTB_FOLDER}/requests/{{task}}.jsonl", task=MTB_TASKS
)
MANIFESTS["multitempbench"] = mtb_manifests()
EXPLORER_ROWS["multitempbench"] = f"{MTB_FOLDER}/explorer.jsonl"


# Seconds each: on a cluster they run where Snakemake runs, instead of waiting in the queue.
localrules:
    multitempbench_make_table,
    multitempbench_make_judge_examples,
    multitempbench_make_figure,
    multitempbench_export_dataset,


rule multitempbench_compute_accuracy:
    """Accuracy of every cell and margin with intervals over seed questions."""
    input:
        scores=f"{MTB_FOLDER}/scores.parquet",
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
    output:
        accuracy=f"{MTB_FOLDER}/statistics/accuracy.csv",
        dataset=f"{MTB_FOLDER}/statistics/dataset.csv",
    log:
        f"{RESULTS}/logs/multitempbench/compute_accuracy.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/compute_accuracy.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        language_files=language_parts("names"),
        modes={name: MODELS[name]["modes"] for name in MTB_MODELS + MTB_BASELINES},
        languages=MTB_LANGUAGES,
        tasks=MTB_TASKS,
        formats=MTB["formats"],
        statistics=narrow(MTB["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/compute_accuracy.py"),
    script:
        "../scripts/multitempbench/compute_accuracy.py"


rule multitempbench_compute_correlations:
    """Accuracy against fragmentation and linearity, by task and language."""
    input:
        accuracy=f"{MTB_FOLDER}/statistics/accuracy.csv",
        mdfr=f"{MTB_FOLDER}/statistics/mdfr.csv",
        linearity=f"{MTB_FOLDER}/statistics/linearity.csv",
        published="data/published/multitempbench_correlations.csv",
    output:
        correlation_points=f"{MTB_FOLDER}/statistics/correlation_points.csv",
        correlations=f"{MTB_FOLDER}/statistics/correlations.csv",
    log:
        f"{RESULTS}/logs/multitempbench/compute_correlations.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        language_files=language_parts("names"),
        models=MTB_MODELS,
        languages=MTB_LANGUAGES,
        tasks=MTB_TASKS,
        statistics=narrow(MTB["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/compute_correlations.py"),
    script:
        "../scripts/multitempbench/compute_correlations.py"


rule multitempbench_fit_mixed_effects:
    """Crossed mixed-effects regression of right answers on fragmentation and linearity."""
    input:
        scores=f"{MTB_FOLDER}/scores.parquet",
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
        tokenisation=[f"{MTB_FOLDER}/tokenisation/{name}.csv" for name in MTB_PROBED],
        linearity=f"{MTB_FOLDER}/statistics/linearity.csv",
    output:
        **{
            name: f"{MTB_FOLDER}/statistics/{name}.csv"
            for name in (
                "regression",
                "regression_fits",
                "regression_variances",
                "regression_slopes",
            )
        },
    log:
        f"{RESULTS}/logs/multitempbench/fit_mixed_effects.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/fit_mixed_effects.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        models=MTB_PROBED,
        languages=ordered(MTB["languages"]),
        statistics=ordered(MTB["statistics"]),
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/fit_mixed_effects.py"),
    script:
        "../scripts/multitempbench/fit_mixed_effects.py"


rule multitempbench_compare_judges:
    """Agreement of the judges with each other and with people's verdicts."""
    input:
        judgements=[
            path
            for judge in MTB["judging"]["judges"]
            for path in mtb_files(
                f"judgements/{judge}/{{model}}.{{mode}}.jsonl", MTB_RUNS
            )
        ],
        human_labels=MTB["judging"]["human_labels"] or [],
    output:
        judge_agreement=f"{MTB_FOLDER}/statistics/judge_agreement.csv",
        judge_confusion=f"{MTB_FOLDER}/statistics/judge_confusion.csv",
    log:
        f"{RESULTS}/logs/multitempbench/compare_judges.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        judges=MTB["judging"]["judges"],
        runs=[list(run) for run in MTB_RUNS],
        statistics=narrow(MTB["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/compare_judges.py"),
    script:
        "../scripts/multitempbench/compare_judges.py"


rule multitempbench_compute_readings:
    """The results in every reading of what the paper leaves open."""
    input:
        **{
            name: f"{MTB_FOLDER}/statistics/{name}.csv"
            for name in (
                "accuracy",
                "correlations",
                "judge_agreement",
                "linearity",
                "mdfr",
                "metric_correlation",
                "regression",
            )
        },
        scores=f"{MTB_FOLDER}/scores.parquet",
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
        responses=[
            path
            for task in MTB_TASKS
            for path in mtb_files(
                f"responses/{{model}}/{{mode}}/{task}.0shot.jsonl",
                [run for run in MTB_RUNS if run[0] in MTB_MODELS],
            )
        ],
        tokenisation=[f"{MTB_FOLDER}/tokenisation/{name}.csv" for name in MTB_PROBED],
    output:
        readings=f"{MTB_FOLDER}/statistics/readings.csv",
    log:
        f"{RESULTS}/logs/multitempbench/compute_readings.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/compute_readings.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        models=MTB_MODELS,
        probed=MTB_PROBED,
        languages=ordered(MTB["languages"]),
        level=MTB["statistics"]["level"],
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/compute_readings.py"),
    script:
        "../scripts/multitempbench/compute_readings.py"


rule multitempbench_make_table:
    """One table, as LaTeX, as CSV and as a page of the report, all with the same content."""
    input:
        unpack(
            lambda wildcards: mtb_inputs(
                "table", wildcards.name, MTB_FOLDER, MTB["analyses"]["pca"]
            )
        ),
    output:
        tex=f"{MTB_FOLDER}/tables/{{name}}.tex",
        csv=report(
            f"{MTB_FOLDER}/tables/{{name}}.csv",
            caption="report/table.rst",
            category="MultiTempBench",
            subcategory="Tables",
            labels={"table": "{name}", "form": "values (CSV)"},
        ),
        html=report(
            f"{MTB_FOLDER}/tables/{{name}}.html",
            caption="report/table.rst",
            category="MultiTempBench",
            subcategory="Tables",
            labels={"table": "{name}", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/multitempbench/make_table/{{name}}.log",
    wildcard_constraints:
        name="|".join(MTB_TABLES),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        language_files=language_parts("names", "writing"),
        context=MTB_CONTEXT,
        code=code_digest("scripts/multitempbench/make_table.py"),
    script:
        "../scripts/multitempbench/make_table.py"


rule multitempbench_make_judge_examples:
    """One reply of every language and verdict, chosen by a rule."""
    input:
        scores=f"{MTB_FOLDER}/scores.parquet",
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
        responses=[
            path
            for task in MTB_TASKS
            for path in mtb_files(
                f"responses/{{model}}/{{mode}}/{task}.0shot.jsonl",
                [run for run in MTB_RUNS if run[0] in MTB_MODELS],
            )
        ],
    output:
        tex=f"{MTB_FOLDER}/tables/judge_examples.tex",
        csv=report(
            f"{MTB_FOLDER}/tables/judge_examples.csv",
            caption="report/table.rst",
            category="MultiTempBench",
            subcategory="Tables",
            labels={"table": "judge_examples", "form": "values (CSV)"},
        ),
        html=report(
            f"{MTB_FOLDER}/tables/judge_examples.html",
            caption="report/table.rst",
            category="MultiTempBench",
            subcategory="Tables",
            labels={"table": "judge_examples", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/multitempbench/make_judge_examples.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(10),
    params:
        language_files=language_parts("names", "writing"),
        context=MTB_CONTEXT,
        code=code_digest("scripts/multitempbench/make_judge_examples.py"),
    script:
        "../scripts/multitempbench/make_judge_examples.py"


rule multitempbench_make_figure:
    """One figure, as vector PDF and as PNG."""
    input:
        unpack(
            lambda wildcards: mtb_inputs(
                "figure", wildcards.name, MTB_FOLDER, MTB["analyses"]["pca"]
            )
        ),
    output:
        pdf=f"{MTB_FOLDER}/figures/{{name}}.pdf",
        tex=f"{MTB_FOLDER}/figures/{{name}}.tex",
        png=report(
            f"{MTB_FOLDER}/figures/{{name}}.png",
            caption="report/figure.rst",
            category="MultiTempBench",
            subcategory="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{RESULTS}/logs/multitempbench/make_figure/{{name}}.log",
    wildcard_constraints:
        name="|".join(MTB_FIGURES),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        language_files=language_parts("names", "writing"),
        context=MTB_CONTEXT,
        code=code_digest("scripts/multitempbench/make_figure.py"),
    script:
        "../scripts/multitempbench/make_figure.py"


rule multitempbench_export_dataset:
    """The items as a data set: JSONL, licences, and a Croissant record."""
    input:
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
    output:
        croissant=f"{MTB_FOLDER}/dataset/croissant.json",
        licences=f"{MTB_FOLDER}/dataset/LICENSES.md",
        item_files=expand(f"{MTB_FOLDER}/dataset/{{task}}.jsonl", task=MTB_TASKS),
    log:
        f"{RESULTS}/logs/multitempbench/export_dataset.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        language_files=language_parts("names"),
        corpora={name: ordered(config["corpora"][name]) for name in MTB_SOURCES},
        languages=MTB_LANGUAGES,
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/export_dataset.py"),
    script:
        "../scripts/multitempbench/export_dataset.py"


rule multitempbench_gather_explorer_rows:
    """Items, prompts, answers and what was made of them, for the explorer."""
    input:
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
        requests=expand(f"{MTB_FOLDER}/requests/{{task}}.jsonl", task=MTB_TASKS),
        responses=[
            f"{MTB_FOLDER}/responses/{model}/{mode}/{task}.0shot.jsonl"
            for model, mode in MTB_RUNS
            for task in MTB_TASKS
        ],
        judgements=[
            path
            for judge in MTB["judging"]["judges"]
            for path in mtb_files(
                f"judgements/{judge}/{{model}}.{{mode}}.jsonl", MTB_RUNS
            )
        ],
        scores=f"{MTB_FOLDER}/scores.parquet",
    output:
        rows=EXPLORER_ROWS["multitempbench"],
    log:
        f"{RESULTS}/logs/multitempbench/gather_explorer_rows.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
    params:
        language_files=language_parts("names"),
        judges=MTB["judging"]["judges"],
        runs=[list(run) for run in MTB_RUNS],
        code=code_digest("scripts/multitempbench/gather_explorer_rows.py"),
    script:
        "../scripts/multitempbench/gather_explorer_rows.py"
