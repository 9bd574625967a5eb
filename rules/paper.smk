# From statistics, tables and figures to the printed paper.
from scripts.publishing.roster import roster_params
from scripts.publishing.shared_axis import inputs as shared_axis_inputs
from scripts.workflow.benchmarks import texts_of


report: "report/workflow.rst"


PAPER_SOURCES = sorted(
    str(path)
    for path in Path("paper").rglob("*")
    if path.suffix in (".tex", ".bib", ".sty")
)
# Pieces of the paper that the benchmarks of the run declare: piece to files.
PAPER_PARTS = texts_of(BENCHMARKS)
# Benchmarks with numbers in the text, and those with columns in the table that joins them.
NUMBERED = [name for name in BENCHMARKS if "numbers" in FOUND[name].parts]
AXES = {name: FOUND[name].shared_axis for name in BENCHMARKS if FOUND[name].shared_axis}
ROSTER = ordered(roster_params(config, {name: FOUND[name].title for name in FOUND}))


# Seconds each, the paper a minute: on a cluster they run where Snakemake runs, instead of queueing.
localrules:
    collect_numbers,
    make_setup,
    make_roster,
    make_shared_axis,
    make_index,
    compile_paper,


rule collect_numbers:
    """Every number of the running text as a macro, with the file and cell that it was read from."""
    input:
        declarations=[FOUND[name].parts["numbers"] for name in NUMBERED],
        statistics=[path for name in BENCHMARKS for path in STATISTICS[name]],
    output:
        tex=f"{RESULTS}/paper/numbers.tex",
        json=f"{RESULTS}/paper/numbers.json",
    log:
        f"{RESULTS}/logs/paper/collect_numbers.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        results=lambda wildcards: RESULTS,
        contexts={name: CONTEXTS[name] for name in NUMBERED},
        origins=lambda wildcards, input: origins(workflow, input.statistics, RELEASED),
        code=code_digest("scripts/publishing/collect_numbers.py"),
    script:
        "../scripts/publishing/collect_numbers.py"


rule make_setup:
    """What the paper must know of the run: its kind, its benchmarks, their pieces of the paper."""
    output:
        tex=f"{RESULTS}/paper/setup.tex",
    log:
        f"{RESULTS}/logs/paper/make_setup.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        kind=RUN["kind"],
        benchmarks={name: name in BENCHMARKS for name in FOUND},
        parts=PAPER_PARTS,
        shared_axis=bool(AXES),
        code=code_digest("scripts/publishing/make_setup.py"),
    script:
        "../scripts/publishing/make_setup.py"


rule make_roster:
    """The table of all models and the benchmarks that they answer."""
    output:
        tex=f"{RESULTS}/paper/roster.tex",
        csv=f"{RESULTS}/paper/roster.csv",
        html=report(
            f"{RESULTS}/paper/roster.html",
            caption="report/roster.rst",
            category="Paper",
            labels={"page": "models"},
        ),
    log:
        f"{RESULTS}/logs/paper/make_roster.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        roster=ROSTER,
        code=code_digest("scripts/publishing/make_roster.py"),
    script:
        "../scripts/publishing/make_roster.py"


rule make_shared_axis:
    """What every benchmark says about a model's tokeniser, in one table."""
    input:
        **shared_axis_inputs(RESULTS, AXES),
    output:
        tex=f"{RESULTS}/paper/shared_axis.tex",
        csv=f"{RESULTS}/paper/shared_axis.csv",
        html=report(
            f"{RESULTS}/paper/shared_axis.html",
            caption="report/shared_axis.rst",
            category="Paper",
            labels={"page": "tokenisers"},
        ),
    log:
        f"{RESULTS}/logs/paper/make_shared_axis.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        roster=ROSTER,
        axes=ordered(AXES),
        code=code_digest("scripts/publishing/make_shared_axis.py"),
    script:
        "../scripts/publishing/make_shared_axis.py"


SHARED_AXIS = list(rules.make_shared_axis.output) if AXES else []
PAPER_TABLES += [rules.make_roster.output.tex, *SHARED_AXIS[:1]]


rule make_index:
    """Where every number, table and figure of the paper comes from."""
    input:
        numbers=rules.collect_numbers.output.json,
        shown=shown_results,
    output:
        tex=f"{RESULTS}/paper/index.tex",
        csv=f"{RESULTS}/paper/index.csv",
        html=report(
            f"{RESULTS}/paper/index_numbers.html",
            caption="report/index.rst",
            category="Paper",
            labels={"page": "index of numbers"},
        ),
        results_html=report(
            f"{RESULTS}/paper/index_results.html",
            caption="report/index.rst",
            category="Paper",
            labels={"page": "index of tables and figures"},
        ),
    log:
        f"{RESULTS}/logs/paper/make_index.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        results=lambda wildcards: RESULTS,
        origins=origins_of_shown,
        code=code_digest("scripts/publishing/make_index.py"),
    script:
        "../scripts/publishing/make_index.py"


rule compile_paper:
    """The paper as PDF; a missing glyph or an undefined reference is an error."""
    input:
        sources=PAPER_SOURCES,
        parts=sorted(
            {path for each in PAPER_PARTS.values() for path in each} - {*PAPER_SOURCES}
        ),
        artefacts=[path for name in BENCHMARKS for path in ARTEFACTS[name]],
        tables=PAPER_TABLES,
        reproduction=rules.gather_reproduction.output.tables,
        index=rules.make_index.output.tex,
        numbers=rules.collect_numbers.output.tex,
        setup=rules.make_setup.output.tex,
        claims=rules.judge_claims.output.tex,
        claim_tables=rules.judge_claims.output.tables,
    output:
        pdf=report(
            f"{RESULTS}/paper/paper.pdf",
            caption="report/paper.rst",
            category="Paper",
            labels={"page": "paper (PDF)"},
        ),
    log:
        f"{RESULTS}/logs/paper/compile_paper.log",
    benchmark:
        f"{RESULTS}/benchmarks/paper/compile_paper.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        results=lambda wildcards: RESULTS,
        code=code_digest("scripts/publishing/compile_paper.py"),
    script:
        "../scripts/publishing/compile_paper.py"


rule items:
    """Items and prompts only."""
    input:
        [path for name in BENCHMARKS for path in REQUESTS[name]],


rule responses:
    """All inference, nothing else."""
    input:
        [path for name in BENCHMARKS for path in MANIFESTS[name]],


rule statistics:
    """Everything up to the statistics."""
    input:
        [path for name in BENCHMARKS for path in STATISTICS[name]],


rule artefacts:
    """Every table, figure and number, and the data sets: everything but the PDF."""
    input:
        [path for name in BENCHMARKS for path in ARTEFACTS[name]],
        [path for name in BENCHMARKS for path in DATASETS[name]],
        rules.make_roster.output,
        SHARED_AXIS,
        rules.reproduction.input,
        rules.collect_numbers.output,
        rules.make_index.output,
        rules.make_explorer.output,
        rules.judge_claims.output,
