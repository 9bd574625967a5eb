# Retrieval of clauses for TIDE.


rule tide_embed_corpus:
    """Every clause, and the chunks of long ones, as vectors in a Chroma collection."""
    input:
        elements=f"{TIDE_FOLDER}/elements.jsonl",
    output:
        vectors=f"{TIDE_FOLDER}/retrieval/{{embedder}}.vectors.npz",
        index=directory(f"{TIDE_FOLDER}/retrieval/{{embedder}}"),
        manifest=f"{RESULTS}/manifests/tide/embedders/{{embedder}}.json",
    log:
        f"{RESULTS}/logs/tide/embed_corpus/{{embedder}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/embed_corpus/{{embedder}}.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        gpu=embedder_gpus,
        mem_mb=growing(lambda wildcards: loading_memory(embedder_gpus(wildcards))),
        runtime=growing(720),
    params:
        name=lambda wildcards: wildcards.embedder,
        entry=lambda wildcards: answering(wildcards.embedder, config["embedders"]),
        chunks=ordered(TIDE_RETRIEVAL["chunks"]),
        store=lambda wildcards: f"{RESULTS}/store/embeddings/{wildcards.embedder}",
        code=code_digest("scripts/retrieval/embed_corpus.py"),
    script:
        "../scripts/retrieval/embed_corpus.py"


rule tide_retrieve_clauses:
    """The nearest clauses of every question at every depth, by exact cosine similarity."""
    input:
        vectors=f"{TIDE_FOLDER}/retrieval/{{embedder}}.vectors.npz",
        index=f"{TIDE_FOLDER}/retrieval/{{embedder}}",
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
        elements=f"{TIDE_FOLDER}/elements.jsonl",
    output:
        retrieved=f"{TIDE_FOLDER}/retrieval/{{embedder}}.retrieved.jsonl",
        statistics=f"{TIDE_FOLDER}/statistics/retrieval/{{embedder}}.csv",
    log:
        f"{RESULTS}/logs/tide/retrieve_clauses/{{embedder}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        gpu=embedder_gpus,
        mem_mb=growing(lambda wildcards: loading_memory(embedder_gpus(wildcards))),
        runtime=growing(120),
    params:
        name=lambda wildcards: wildcards.embedder,
        entry=lambda wildcards: answering(wildcards.embedder, config["embedders"]),
        depths=lambda wildcards: tide_depths(wildcards.embedder),
        main_depth=TIDE_RETRIEVAL["depth"],
        overfetch=TIDE_RETRIEVAL["overfetch"],
        date_aware=ordered(TIDE_RETRIEVAL["date_aware"]),
        store=lambda wildcards: f"{RESULTS}/store/embeddings/{wildcards.embedder}",
        code=code_digest("scripts/tide/retrieve_clauses.py"),
    script:
        "../scripts/tide/retrieve_clauses.py"
