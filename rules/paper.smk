# From statistics, tables and figures to the printed paper.
report: "report/workflow.rst"


SB_TABLES = expand(
    f"{SB_FOLDER}/tables/{{name}}.tex", name=sorted([*TABLES, "examples"])
)
SB_FIGURES = expand(
    f"{SB_FOLDER}/figures/{{name}}.{{form}}", name=sorted(FIGURES), form=["pdf", "tex"]
)
PAPER_SOURCES = sorted(
    str(path)
    for path in Path("paper").rglob("*")
    if path.suffix in (".tex", ".bib", ".sty")
)


rule collect_numbers:
    """Every number of the running text as a macro, with the file and cell that it was read from."""
    input:
        declarations="paper/numbers.yaml",
        statistics=sb_statistics(SB_STATISTICS + SB_TOKEN_STATISTICS),
    output:
        tex=f"{RESULTS}/paper/numbers.tex",
        json=f"{RESULTS}/paper/numbers.json",
        setup=f"{RESULTS}/paper/setup.tex",
    log:
        f"{RESULTS}/logs/paper/collect_numbers.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        results=lambda wildcards: RESULTS,
        context=SB_CONTEXT,
        code=code_digest("scripts/publishing/collect_numbers.py"),
    script:
        "../scripts/publishing/collect_numbers.py"


rule compile_paper:
    """The paper as PDF; a missing glyph or an undefined reference is an error."""
    input:
        sources=PAPER_SOURCES,
        tables=SB_TABLES,
        figures=SB_FIGURES,
        numbers=rules.collect_numbers.output.tex,
        setup=rules.collect_numbers.output.setup,
    output:
        pdf=report(
            f"{RESULTS}/paper/paper.pdf",
            caption="report/paper.rst",
            category="Paper",
        ),
    log:
        f"{RESULTS}/logs/paper/compile_paper.log",
    benchmark:
        f"{RESULTS}/benchmarks/paper/compile_paper.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        results=lambda wildcards: RESULTS,
        code=code_digest("scripts/publishing/compile_paper.py"),
    script:
        "../scripts/publishing/compile_paper.py"


rule items:
    """Items and prompts only."""
    input:
        expand(f"{SB_FOLDER}/requests/{{task}}.jsonl", task=SB_TASKS),


rule responses:
    """All inference, nothing else."""
    input:
        [
            f"{RESULTS}/manifests/syntaxbench/{model}.{mode}.json"
            for model, mode in SB_RUNS
        ],


rule statistics:
    """Everything up to the statistics."""
    input:
        sb_statistics(SB_STATISTICS + SB_TOKEN_STATISTICS),


rule artefacts:
    """Every table, figure and number, and the data set: everything but the PDF."""
    input:
        SB_TABLES,
        SB_FIGURES,
        rules.collect_numbers.output,
        rules.syntaxbench_export_dataset.output,
