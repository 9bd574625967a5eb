# How tokenisers break dates: the multilingual date fragmentation ratio (mDFR).


rule multitempbench_measure_fragmentation:
    """What one model's tokeniser makes of every date of the items, in both profiles."""
    input:
        tokenizer=lambda wildcards: tokenizer_files(wildcards.model),
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
    output:
        tokens=f"{MTB_FOLDER}/tokenisation/{{model}}.csv",
        released=f"{MTB_FOLDER}/tokenisation/{{model}}.released.csv",
    log:
        f"{RESULTS}/logs/multitempbench/measure_fragmentation/{{model}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        language_files=all_language_parts("writing"),
        entry=lambda wildcards: narrow(
            MODELS[wildcards.model], "source", "revision", "tokenizer"
        ),
        weights=MTB["tokenisation"]["weights"],
        released_design=ordered(MTB["tokenisation"]["released_design"]),
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/measure_fragmentation.py"),
    script:
        "../scripts/multitempbench/measure_fragmentation.py"


rule multitempbench_gather_fragmentation:
    """Means by language and calendar, and the released formula beside the paper's table 4."""
    input:
        tokens=[f"{MTB_FOLDER}/tokenisation/{name}.csv" for name in MTB_TOKENISED],
        released=[
            f"{MTB_FOLDER}/tokenisation/{name}.released.csv" for name in MTB_TOKENISED
        ],
        published="data/published/multitempbench_table4.csv",
    output:
        mdfr=f"{MTB_FOLDER}/statistics/mdfr.csv",
        mdfr_as_published=f"{MTB_FOLDER}/statistics/mdfr_as_published.csv",
    log:
        f"{RESULTS}/logs/multitempbench/gather_fragmentation.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        models=MTB_TOKENISED,
        published_rows={
            name: row
            for name, row in sorted(MTB["tokenisation"]["published_rows"].items())
            if name in MTB_TOKENISED
        },
        code=code_digest("scripts/multitempbench/gather_fragmentation.py"),
    script:
        "../scripts/multitempbench/gather_fragmentation.py"


rule multitempbench_measure_examples:
    """The printed and the rated date strings under one model's tokeniser."""
    input:
        tokenizer=tokenizer_files(MTB["analyses"]["examples"]),
        examples=MTB["tokenisation"]["examples"],
        ratings=MTB["tokenisation"]["ratings"],
        corrections=MTB["tokenisation"]["corrections"],
    output:
        examples=f"{MTB_FOLDER}/statistics/fragmentation_examples.csv",
    log:
        f"{RESULTS}/logs/multitempbench/measure_examples.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        language_files=all_language_parts("names", "writing"),
        model=MTB["analyses"]["examples"],
        entry=narrow(
            MODELS[MTB["analyses"]["examples"]], "source", "revision", "tokenizer"
        ),
        weights=MTB["tokenisation"]["weights"],
        code=code_digest("scripts/multitempbench/measure_examples.py"),
    script:
        "../scripts/multitempbench/measure_examples.py"


rule multitempbench_calibrate_weights:
    """Weights from people's ratings, where these can carry them, and rival metrics."""
    input:
        tokenizer=tokenizer_files(MTB["analyses"]["examples"]),
        ratings=MTB["tokenisation"]["ratings"],
        corrections=MTB["tokenisation"]["corrections"],
        published_correlations="data/published/multitempbench_table6.csv",
        published_weights="data/published/multitempbench_table7.csv",
    output:
        weights=f"{MTB_FOLDER}/statistics/weights.csv",
        metric_correlation=f"{MTB_FOLDER}/statistics/metric_correlation.csv",
        ratings=f"{MTB_FOLDER}/statistics/ratings.csv",
    log:
        f"{RESULTS}/logs/multitempbench/calibrate_weights.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        language_files=all_language_parts("names", "writing"),
        entry=narrow(
            MODELS[MTB["analyses"]["examples"]], "source", "revision", "tokenizer"
        ),
        weights=MTB["tokenisation"]["weights"],
        statistics=narrow(MTB["statistics"], "resamples", "level"),
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/calibrate_weights.py"),
    script:
        "../scripts/multitempbench/calibrate_weights.py"
