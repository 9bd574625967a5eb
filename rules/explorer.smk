# The explorer: every item, prompt, reply, verdict and gold answer of the run in one page.
localrules:
    make_explorer,


rule make_explorer:
    """The page, from the rows that the benchmarks of the run bring; several where it gets large."""
    input:
        template="scripts/publishing/explorer/page.html",
        style="scripts/publishing/explorer/style.css",
        scripts=[
            f"scripts/publishing/explorer/{name}.js"
            for name in ("data", "selection", "texts", "view", "start")
        ],
        signpost="scripts/publishing/explorer/signpost.js",
        rows=[EXPLORER_ROWS[name] for name in BENCHMARKS if name in EXPLORER_ROWS],
    output:
        page=f"{RESULTS}/explorer.html",
        pages=directory(f"{RESULTS}/explorer"),
    log:
        f"{RESULTS}/logs/paper/make_explorer.log",
    benchmark:
        f"{RESULTS}/benchmarks/paper/make_explorer.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        run=narrow(RUN, "kind", "seed"),
        code=code_digest("scripts/publishing/make_explorer.py"),
    script:
        "../scripts/publishing/make_explorer.py"
