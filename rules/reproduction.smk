# Measured against published: every figure that the papers print beside the one of this run.
from scripts.workflow.config_files import load_quickly

COMPARED_FOLDER = f"{RESULTS}/reproduction"
# Benchmark to declaration; a benchmark without one has no comparison.
COMPARISONS = {
    name: FOUND[name].parts["reproduction"]
    for name in BENCHMARKS
    if "reproduction" in FOUND[name].parts
}
DECLARED = {name: load_quickly(Path(path)) for name, path in COMPARISONS.items()}
PUBLISHED_FOLDER = "data/published"
PUBLISHED = {
    name: [f"{PUBLISHED_FOLDER}/{entry['published']}" for entry in part["files"]]
    for name, part in DECLARED.items()
}
# The file of the models' published names; none where no model is named.
PUBLISHED_NAMES = {
    name: [part["models"]] if "models" in part else []
    for name, part in DECLARED.items()
}


localrules:
    compare_published,
    gather_reproduction,
    reproduction,


rule compare_published:
    """Every published figure of a benchmark beside the measured one, or why there is none."""
    input:
        declaration=lambda wildcards: COMPARISONS[wildcards.benchmark],
        published=lambda wildcards: PUBLISHED[wildcards.benchmark],
        names=lambda wildcards: PUBLISHED_NAMES[wildcards.benchmark],
        statistics=lambda wildcards: STATISTICS[wildcards.benchmark],
    output:
        tex=f"{COMPARED_FOLDER}/{{benchmark}}.tex",
        csv=report(
            f"{COMPARED_FOLDER}/{{benchmark}}.csv",
            caption="report/reproduction.rst",
            category="Measured against published",
            labels={"benchmark": "{benchmark}", "form": "every figure (CSV)"},
        ),
        html=report(
            f"{COMPARED_FOLDER}/{{benchmark}}.html",
            caption="report/reproduction.rst",
            category="Measured against published",
            labels={"benchmark": "{benchmark}", "form": "page"},
        ),
    log:
        f"{RESULTS}/logs/reproduction/compare_published/{{benchmark}}.log",
    wildcard_constraints:
        benchmark=one_of(COMPARISONS),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        benchmark=lambda wildcards: wildcards.benchmark,
        results=lambda wildcards: RESULTS,
        published=PUBLISHED_FOLDER,
        context=lambda wildcards: CONTEXTS[wildcards.benchmark],
        code=code_digest("scripts/publishing/compare_published.py"),
    script:
        "../scripts/publishing/compare_published.py"


rule gather_reproduction:
    """One plot over all benchmarks, and the list of their tables."""
    input:
        **{name: f"{COMPARED_FOLDER}/{name}.csv" for name in COMPARISONS},
    output:
        pdf=f"{COMPARED_FOLDER}/measured_against_published.pdf",
        tex=f"{COMPARED_FOLDER}/measured_against_published.tex",
        tables=f"{COMPARED_FOLDER}/tables.tex",
        png=report(
            f"{COMPARED_FOLDER}/measured_against_published.png",
            caption="report/reproduction.rst",
            category="Measured against published",
            labels={"benchmark": "all", "form": "plot"},
        ),
    log:
        f"{RESULTS}/logs/reproduction/gather_reproduction.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        titles={name: FOUND[name].title for name in COMPARISONS},
        context=CONTEXTS[BENCHMARKS[0]],
        code=code_digest("scripts/publishing/gather_reproduction.py"),
    script:
        "../scripts/publishing/gather_reproduction.py"


PAPER_TABLES += [f"{COMPARED_FOLDER}/{name}.tex" for name in COMPARISONS]
PAPER_TABLES.append(rules.gather_reproduction.output.tex)


rule reproduction:
    """Measured against published, and nothing else."""
    input:
        [
            f"{COMPARED_FOLDER}/{name}.{form}"
            for name in COMPARISONS
            for form in ("csv", "tex", "html")
        ],
        rules.gather_reproduction.output,
