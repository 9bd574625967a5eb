# Hidden states of sentences with dates, and what linear probes read from them.


rule multitempbench_extract_states:
    """One forward pass per sentence: the states of all layers at the tokens of interest."""
    input:
        weights=weights_of,
    output:
        states=f"{MTB_FOLDER}/states/{{model}}.safetensors",
        index=f"{MTB_FOLDER}/states/{{model}}.jsonl",
        manifest=f"{RESULTS}/manifests/multitempbench/states/{{model}}.json",
    log:
        f"{RESULTS}/logs/multitempbench/extract_states/{{model}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/extract_states/{{model}}.tsv"
    # The longest jobs first, so that the short ones fill the gaps.
    priority: 10
    conda:
        "../envs/core.yaml"
    threads: lambda wildcards: MODELS[wildcards.model].get("threads", 1)
    resources:
        gpu=gpus,
        mem_mb=growing(lambda wildcards: memory_of(wildcards.model)),
        runtime=growing(240),
    params:
        language_files=language_parts("writing", "probe"),
        benchmark="multitempbench",
        name=lambda wildcards: wildcards.model,
        entry=lambda wildcards: answering(wildcards.model),
        languages=MTB_LANGUAGES,
        seed=RUN["seed"],
        years=MTB["probing"]["years"],
        dates_per_year=MTB["probing"]["dates_per_year"],
        formats=MTB["probing"]["formats"],
        tokens=MTB["probing"]["tokens"],
        precision=MTB["probing"]["precision"],
        code=code_digest("scripts/probing/extract_states.py"),
    script:
        "../scripts/probing/extract_states.py"


rule multitempbench_fit_probes:
    """Cross-validated probes with their controls, the path of the years, and its projection."""
    input:
        states=f"{MTB_FOLDER}/states/{{model}}.safetensors",
        index=f"{MTB_FOLDER}/states/{{model}}.jsonl",
    output:
        probes=f"{MTB_FOLDER}/probes/{{model}}.csv",
        geometry=f"{MTB_FOLDER}/probes/{{model}}.geometry.csv",
        pca=f"{MTB_FOLDER}/probes/{{model}}.pca.csv",
    log:
        f"{RESULTS}/logs/multitempbench/fit_probes/{{model}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/fit_probes/{{model}}.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        name=lambda wildcards: wildcards.model,
        seed=RUN["seed"],
        headline_token=MTB["probing"]["headline_token"],
        folds=MTB["probing"]["folds"],
        repetitions=MTB["probing"]["repetitions"],
        permutations=MTB["probing"]["permutations"],
        penalties=MTB["probing"]["penalties"],
        code=code_digest("scripts/probing/fit_probes.py"),
    script:
        "../scripts/probing/fit_probes.py"


rule multitempbench_gather_probes:
    """All models together, and the linearity of each model and language drawn from them."""
    input:
        probes=[f"{MTB_FOLDER}/probes/{name}.csv" for name in MTB_PROBED],
        geometry=[f"{MTB_FOLDER}/probes/{name}.geometry.csv" for name in MTB_PROBED],
        pca=[f"{MTB_FOLDER}/probes/{name}.pca.csv" for name in MTB_PROBED],
    output:
        **{
            name: f"{MTB_FOLDER}/statistics/{name}.csv"
            for name in ("probes", "geometry", "pca", "linearity")
        },
    log:
        f"{RESULTS}/logs/multitempbench/gather_probes.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        headline_token=MTB["probing"]["headline_token"],
        held_out_format=MTB["probing"]["held_out_format"],
        code=code_digest("scripts/probing/gather_probes.py"),
    script:
        "../scripts/probing/gather_probes.py"
