# SyntaxBench from corpora to scores.


include: "syntaxbench_common.smk"


rule syntaxbench_build_items:
    """Test items and held-out demonstrations of one task."""
    input:
        vocabulary=corpus_file("vocabulary"),
        palindromes=corpus_file("palindromes"),
        documents=corpus_file("documents"),
    output:
        item_files=f"{SB_FOLDER}/items/{{task}}.jsonl",
        demonstrations=f"{SB_FOLDER}/demonstrations/{{task}}.jsonl",
    log:
        f"{RESULTS}/logs/syntaxbench/build_items/{{task}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        task=lambda wildcards: ordered(SB["tasks"][wildcards.task]),
        corpora={
            role: ordered(config["corpora"][name])
            for role, name in sorted(SB["corpora"].items())
        },
        document_words=SB["document_words"],
        documents_reused=SB["documents_reused"],
        demonstrations=SB["demonstration_pool"],
        seed=RUN["seed"],
        code=code_digest("scripts/syntaxbench/build_items.py"),
    script:
        "../scripts/syntaxbench/build_items.py"


rule syntaxbench_build_requests:
    """One prompt per item and number of shots, independent of the model."""
    input:
        item_files=f"{SB_FOLDER}/items/{{task}}.jsonl",
        demonstrations=f"{SB_FOLDER}/demonstrations/{{task}}.jsonl",
        prompt="scripts/syntaxbench/prompts/{task}.yaml",
    output:
        requests=f"{SB_FOLDER}/requests/{{task}}.jsonl",
    log:
        f"{RESULTS}/logs/syntaxbench/build_requests/{{task}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        shots=SB["shots"],
        decoding=narrow(SB["decoding"], "temperature", "top_p", "repetition_penalty"),
        constrained=SB["constrained"],
        code=code_digest("scripts/syntaxbench/build_requests.py"),
    script:
        "../scripts/syntaxbench/build_requests.py"


rule syntaxbench_build_baseline_answers:
    """Answers of a baseline to every request: majority, uniform or library solver."""
    input:
        requests=expand(f"{SB_FOLDER}/requests/{{task}}.jsonl", task=SB_TASKS),
        item_files=expand(f"{SB_FOLDER}/items/{{task}}.jsonl", task=SB_TASKS),
        demonstrations=expand(
            f"{SB_FOLDER}/demonstrations/{{task}}.jsonl", task=SB_TASKS
        ),
    output:
        answers=f"{SB_FOLDER}/baselines/{{model}}.jsonl",
    log:
        f"{RESULTS}/logs/syntaxbench/build_baseline_answers/{{model}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        baseline=lambda wildcards: MODELS[wildcards.model]["source"],
        tasks=SB_TASKS,
        seed=RUN["seed"],
        code=code_digest("scripts/syntaxbench/build_baseline_answers.py"),
    script:
        "../scripts/syntaxbench/build_baseline_answers.py"


rule syntaxbench_run_model:
    """One process answers every task, shot count and item for one model in one mode."""
    input:
        unpack(model_inputs(SB_FOLDER)),
        unpack(shard_manifests(f"{RESULTS}/manifests/syntaxbench")),
        requests=expand(f"{SB_FOLDER}/requests/{{task}}.jsonl", task=SB_TASKS),
    output:
        responses=expand(
            f"{SB_FOLDER}/responses/{{model}}/{{mode}}/{{task}}.{{setting}}.jsonl",
            task=SB_TASKS,
            setting=SB_SETTINGS,
            allow_missing=True,
        ),
        manifest=f"{RESULTS}/manifests/syntaxbench/{{model}}.{{mode}}.json",
    log:
        f"{RESULTS}/logs/syntaxbench/run_model/{{model}}.{{mode}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/syntaxbench/run_model/{{model}}.{{mode}}.tsv"
    # The longest jobs first, so that the short ones fill the gaps.
    priority: 10
    conda:
        environment
    threads: run_threads
    resources:
        gpu=run_gpus,
        mem_mb=growing(run_memory),
        runtime=growing(run_minutes),
    params:
        benchmark="syntaxbench",
        name=lambda wildcards: wildcards.model,
        mode=lambda wildcards: wildcards.mode,
        entry=lambda wildcards: answering(wildcards.model),
        tasks=SB_TASKS,
        shots=SB["shots"],
        max_new_tokens=lambda wildcards: token_limit(wildcards, SB),
        store=lambda wildcards: (
            f"{RESULTS}/store/syntaxbench/{wildcards.model}/{wildcards.mode}.jsonl"
        ),
        code=lambda wildcards: code_digest(
            "scripts/inference/run_model.py",
            backend_file(MODELS[wildcards.model]["backend"]),
        ),
    script:
        "../scripts/inference/run_model.py"


use rule syntaxbench_run_model as syntaxbench_run_shard with:
    """One of the jobs that split the requests of a run; its answers stand in the store."""
    output:
        manifest=temp(f"{RESULTS}/manifests/syntaxbench/{SHARD}.json"),
    log:
        f"{RESULTS}/logs/syntaxbench/run_model/{SHARD}.log",
    benchmark:
        f"{RESULTS}/benchmarks/syntaxbench/run_model/{SHARD}.tsv"
    params:
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),


rule syntaxbench_score_responses:
    """Parse and score every response of one model in one mode."""
    input:
        item_files=expand(f"{SB_FOLDER}/items/{{task}}.jsonl", task=SB_TASKS),
        requests=expand(f"{SB_FOLDER}/requests/{{task}}.jsonl", task=SB_TASKS),
        responses=expand(
            f"{SB_FOLDER}/responses/{{model}}/{{mode}}/{{task}}.{{setting}}.jsonl",
            task=SB_TASKS,
            setting=SB_SETTINGS,
            allow_missing=True,
        ),
    output:
        scores=f"{SB_FOLDER}/scores/{{model}}.{{mode}}.parquet",
    log:
        f"{RESULTS}/logs/syntaxbench/score_responses/{{model}}.{{mode}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        tolerance=SB["statistics"]["relaxed_tolerance"],
        code=code_digest("scripts/syntaxbench/score_responses.py"),
    script:
        "../scripts/syntaxbench/score_responses.py"


rule syntaxbench_gather_scores:
    """All scores in one file."""
    input:
        scores=[f"{SB_FOLDER}/scores/{model}.{mode}.parquet" for model, mode in SB_RUNS],
    output:
        scores=f"{SB_FOLDER}/scores.parquet",
    log:
        f"{RESULTS}/logs/syntaxbench/gather_scores.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        code=code_digest("scripts/syntaxbench/gather_scores.py"),
    script:
        "../scripts/syntaxbench/gather_scores.py"


rule syntaxbench_build_replay:
    """Archives with the published margins: simulated item vectors, one file a configuration."""
    input:
        item_files=expand(f"{SB_FOLDER}/items/{{task}}.jsonl", task=SB_TASKS),
        published=[
            SB.get("replay", {}).get(name, [])
            for name in ("counts", "names", "parse_errors")
        ],
    output:
        archives=[
            f"{RESULTS}/archive/{model}.{mode}.jsonl"
            for model, mode in SB_RUNS
            if model in SB_MODELS
        ],
    log:
        f"{RESULTS}/logs/syntaxbench/build_replay.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        replay=ordered(SB.get("replay", {})),
        runs=[[model, mode] for model, mode in SB_RUNS if model in SB_MODELS],
        seed=RUN["seed"],
        code=code_digest("scripts/syntaxbench/build_replay.py"),
    script:
        "../scripts/syntaxbench/build_replay.py"


include: "syntaxbench_results.smk"
