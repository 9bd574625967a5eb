# What the run says about the findings of the studies: every claim tested, and the words of the text.
# The claims of this project, then those of benchmarks that bring their own.
CLAIM_FILES = ["paper/claims.yaml"] + [
    FOUND[name].parts["claims"] for name in BENCHMARKS if "claims" in FOUND[name].parts
]
# What the claims of a benchmark know of the run.
CLAIM_CONTEXTS = {name: CONTEXTS[name] for name in BENCHMARKS if name in CONTEXTS}


localrules:
    claims,
    judge_claims,


rule judge_claims:
    """A verdict on every finding: supported, not supported, or not estimable with this run."""
    input:
        claims=CLAIM_FILES,
        statistics=[path for name in BENCHMARKS for path in STATISTICS[name]],
    output:
        json=f"{RESULTS}/paper/claims.json",
        csv=f"{RESULTS}/paper/claims.csv",
        tex=f"{RESULTS}/paper/claims.tex",
        html=report(
            f"{RESULTS}/paper/claims.html",
            caption="report/claims.rst",
            category="Paper",
            labels={"page": "findings"},
        ),
        tables=f"{RESULTS}/paper/claims_tables.tex",
    log:
        f"{RESULTS}/logs/paper/judge_claims.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        results=lambda wildcards: RESULTS,
        benchmarks=sorted(FOUND),
        contexts=CLAIM_CONTEXTS,
        labels={name: MODELS[name].get("label", name) for name in sorted(MODELS)},
        titles={name: FOUND[name].title for name in BENCHMARKS},
        code=code_digest("scripts/publishing/judge_claims.py"),
    script:
        "../scripts/publishing/judge_claims.py"


rule claims:
    """The verdicts on the findings of the studies."""
    input:
        rules.judge_claims.output,
