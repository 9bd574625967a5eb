# Raw corpora: fetched once, verified by checksum, kept in data/raw. What ships with the project
# lies in data/embedded and is verified when it is read.


# On a cluster this runs where Snakemake runs: nodes often have no way to the internet.
localrules:
    fetch_corpus,


rule fetch_corpus:
    """Download one source; a wrong checksum is an error and keeps nothing."""
    output:
        "data/raw/{source}/{file}",
    log:
        "logs/fetch_corpus/{source}/{file}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(500),
        runtime=growing(60),
    params:
        source=lambda wildcards: ordered(config["corpora"][wildcards.source]),
        code=code_digest("scripts/corpora/fetch_corpus.py"),
    script:
        "../scripts/corpora/fetch_corpus.py"
