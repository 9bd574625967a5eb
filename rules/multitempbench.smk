# MultiTempBench from source questions to scores.


include: "multitempbench_common.smk"


rule multitempbench_curate_questions:
    """Seed questions with full dates, sampled by task and source; what every filter dropped."""
    input:
        sources=[config["corpora"][name]["path"] for name in MTB_SOURCES],
    output:
        questions=f"{MTB_FOLDER}/questions.jsonl",
        curation=f"{MTB_FOLDER}/statistics/curation.csv",
        gold_audit=f"{MTB_FOLDER}/statistics/gold_audit.csv",
    log:
        f"{RESULTS}/logs/multitempbench/curate_questions.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        language_files=language_parts("names", "writing"),
        sources={name: ordered(config["corpora"][name]) for name in MTB_SOURCES},
        quota=ordered(MTB["quota"]),
        curation=ordered(MTB["curation"]),
        calendars=ordered(MTB["calendars"]),
        languages=MTB_LANGUAGES,
        formats=MTB["formats"],
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/curate_questions.py"),
    script:
        "../scripts/multitempbench/curate_questions.py"


rule multitempbench_translate_questions:
    """The seed questions in one language; no date passes through a translator."""
    input:
        unpack(translator_inputs),
        questions=f"{MTB_FOLDER}/questions.jsonl",
        overrides=MTB["translation"]["overrides"],
    output:
        translations=f"{MTB_FOLDER}/translations/{{language}}.jsonl",
    log:
        f"{RESULTS}/logs/multitempbench/translate_questions/{{language}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/translate_questions/{{language}}.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        gpu=translator_gpus,
        mem_mb=growing(lambda wildcards: loading_memory(translator_gpus(wildcards))),
        runtime=growing(720),
    params:
        language_files=lambda wildcards: content_digest(
            ["names", "translation"], [wildcards.language]
        ),
        known_questions=translated_questions(),
        language=lambda wildcards: wildcards.language,
        method=MTB["translation"]["method"],
        name=MTB_TRANSLATOR,
        entry=answering(MTB_TRANSLATOR) if MTB_TRANSLATOR else None,
        local=ordered(MTB["translation"].get("local", {})),
        max_new_tokens=MTB["translation"].get("max_new_tokens", 1024),
        store=lambda wildcards: (
            f"{RESULTS}/store/multitempbench_translation/{wildcards.language}.jsonl"
        ),
        code=code_digest(
            "scripts/multitempbench/translate_questions.py",
            *(
                [backend_file(MODELS[MTB_TRANSLATOR]["backend"])]
                if MTB_TRANSLATOR
                else []
            ),
        ),
    script:
        "../scripts/multitempbench/translate_questions.py"


rule multitempbench_build_items:
    """Every question of one task in every language and date format."""
    input:
        questions=f"{MTB_FOLDER}/questions.jsonl",
        translations=expand(
            f"{MTB_FOLDER}/translations/{{language}}.jsonl", language=MTB_LANGUAGES
        ),
    output:
        item_files=f"{MTB_FOLDER}/items/{{task}}.jsonl",
        unbuilt=f"{MTB_FOLDER}/statistics/unbuilt_items.{{task}}.csv",
    log:
        f"{RESULTS}/logs/multitempbench/build_items/{{task}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        language_files=language_parts("names", "writing", "answers"),
        task=lambda wildcards: wildcards.task,
        languages=MTB_LANGUAGES,
        formats=MTB["formats"],
        calendars=ordered(MTB["calendars"]),
        code=code_digest("scripts/multitempbench/build_items.py"),
    script:
        "../scripts/multitempbench/build_items.py"


rule multitempbench_build_requests:
    """One prompt per item, in the item's language, the same for every model."""
    input:
        item_files=f"{MTB_FOLDER}/items/{{task}}.jsonl",
    output:
        requests=f"{MTB_FOLDER}/requests/{{task}}.jsonl",
    log:
        f"{RESULTS}/logs/multitempbench/build_requests/{{task}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        languages=MTB_LANGUAGES,
        language_files=language_parts("answers", "prompt"),
        decoding=narrow(MTB["decoding"], "temperature", "top_p", "repetition_penalty"),
        code=code_digest("scripts/multitempbench/build_requests.py"),
    script:
        "../scripts/multitempbench/build_requests.py"


rule multitempbench_build_baseline_answers:
    """Answers of a baseline to every request: majority, uniform or library solver."""
    input:
        requests=expand(f"{MTB_FOLDER}/requests/{{task}}.jsonl", task=MTB_TASKS),
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
    output:
        answers=f"{MTB_FOLDER}/baselines/{{model}}.jsonl",
    log:
        f"{RESULTS}/logs/multitempbench/build_baseline_answers/{{model}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        language_files=language_parts("names", "writing", "answers", "prompt"),
        baseline=lambda wildcards: MODELS[wildcards.model]["source"],
        calendars=ordered(MTB["calendars"]),
        seed=RUN["seed"],
        code=code_digest("scripts/multitempbench/build_baseline_answers.py"),
    script:
        "../scripts/multitempbench/build_baseline_answers.py"


rule multitempbench_run_model:
    """One process answers every item for one model in one mode."""
    input:
        unpack(model_inputs(MTB_FOLDER)),
        unpack(shard_manifests(f"{RESULTS}/manifests/multitempbench")),
        requests=expand(f"{MTB_FOLDER}/requests/{{task}}.jsonl", task=MTB_TASKS),
    output:
        responses=expand(
            f"{MTB_FOLDER}/responses/{{model}}/{{mode}}/{{task}}.0shot.jsonl",
            task=MTB_TASKS,
            allow_missing=True,
        ),
        manifest=f"{RESULTS}/manifests/multitempbench/{{model}}.{{mode}}.json",
    log:
        f"{RESULTS}/logs/multitempbench/run_model/{{model}}.{{mode}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/run_model/{{model}}.{{mode}}.tsv"
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
        benchmark="multitempbench",
        name=lambda wildcards: wildcards.model,
        mode=lambda wildcards: wildcards.mode,
        entry=lambda wildcards: answering(wildcards.model),
        tasks=MTB_TASKS,
        shots=MTB["shots"],
        max_new_tokens=lambda wildcards: token_limit(wildcards, MTB),
        store=lambda wildcards: (
            f"{RESULTS}/store/multitempbench/{wildcards.model}/{wildcards.mode}.jsonl"
        ),
        code=lambda wildcards: code_digest(
            "scripts/inference/run_model.py",
            backend_file(MODELS[wildcards.model]["backend"]),
        ),
    script:
        "../scripts/inference/run_model.py"


use rule multitempbench_run_model as multitempbench_run_shard with:
    """One of the jobs that split the requests of a run; its answers stand in the store."""
    output:
        manifest=temp(f"{RESULTS}/manifests/multitempbench/{SHARD}.json"),
    log:
        f"{RESULTS}/logs/multitempbench/run_model/{SHARD}.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/run_model/{SHARD}.tsv"
    params:
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),


rule multitempbench_judge_by_rule:
    """Verdicts of the date judge: every date, time, relation or number of an answer is read."""
    input:
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
        responses=expand(
            f"{MTB_FOLDER}/responses/{{model}}/{{mode}}/{{task}}.0shot.jsonl",
            task=MTB_TASKS,
            allow_missing=True,
        ),
    output:
        judgements=f"{MTB_FOLDER}/judgements/date_judge/{{model}}.{{mode}}.jsonl",
    log:
        f"{RESULTS}/logs/multitempbench/judge_by_rule/{{model}}.{{mode}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        languages=MTB_LANGUAGES,
        language_files=all_language_parts(
            "writing", "reading", "answers", "replies", "prompt"
        ),
        judge="date_judge",
        code=code_digest("scripts/multitempbench/judge_responses.py"),
    script:
        "../scripts/multitempbench/judge_responses.py"


rule multitempbench_judge_by_model:
    """Verdicts of a model of the roster on every run; its answers are kept in a store of its own."""
    input:
        unpack(judge_inputs),
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
        responses=[
            f"{MTB_FOLDER}/responses/{model}/{mode}/{task}.0shot.jsonl"
            for model, mode in MTB_RUNS
            for task in MTB_TASKS
        ],
    output:
        judgements=[
            f"{MTB_FOLDER}/judgements/{{judge}}/{model}.{mode}.jsonl"
            for model, mode in MTB_RUNS
        ],
        answers=f"{MTB_FOLDER}/judge_answers/{{judge}}.jsonl",
        manifest=f"{RESULTS}/manifests/multitempbench/judges/{{judge}}.json",
    log:
        f"{RESULTS}/logs/multitempbench/judge_by_model/{{judge}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/multitempbench/judge_by_model/{{judge}}.tsv"
    wildcard_constraints:
        judge=one_of(MTB_MODEL_JUDGES),
    # The longest jobs first, so that the short ones fill the gaps.
    priority: 10
    conda:
        judge_environment
    threads: lambda wildcards: MODELS[wildcards.judge].get("threads", 1)
    resources:
        gpu=lambda wildcards: gpus_of(wildcards.judge),
        mem_mb=growing(lambda wildcards: memory_of(wildcards.judge)),
        runtime=growing(2880),
    params:
        benchmark="multitempbench",
        judge=lambda wildcards: wildcards.judge,
        runs=[list(run) for run in MTB_RUNS],
        entry=lambda wildcards: answering(wildcards.judge),
        mode=lambda wildcards: MODELS[wildcards.judge]["modes"][0],
        max_new_tokens=MTB["judging"]["max_new_tokens"],
        decoding=narrow(MTB["decoding"], "temperature", "top_p", "repetition_penalty"),
        store=lambda wildcards: (
            f"{RESULTS}/store/multitempbench_judges/{wildcards.judge}.jsonl"
        ),
        code=lambda wildcards: code_digest(
            "scripts/multitempbench/judge_responses.py",
            backend_file(MODELS[wildcards.judge]["backend"]),
        ),
    script:
        "../scripts/multitempbench/judge_responses.py"


rule multitempbench_score_responses:
    """The primary judge's verdicts on one run as scores."""
    input:
        item_files=expand(f"{MTB_FOLDER}/items/{{task}}.jsonl", task=MTB_TASKS),
        requests=expand(f"{MTB_FOLDER}/requests/{{task}}.jsonl", task=MTB_TASKS),
        responses=expand(
            f"{MTB_FOLDER}/responses/{{model}}/{{mode}}/{{task}}.0shot.jsonl",
            task=MTB_TASKS,
            allow_missing=True,
        ),
        judgements=f"{MTB_FOLDER}/judgements/{MTB['judging']['primary']}/{{model}}.{{mode}}.jsonl",
    output:
        scores=f"{MTB_FOLDER}/scores/{{model}}.{{mode}}.parquet",
    log:
        f"{RESULTS}/logs/multitempbench/score_responses/{{model}}.{{mode}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        judge=MTB["judging"]["primary"],
        code=code_digest("scripts/multitempbench/score_responses.py"),
    script:
        "../scripts/multitempbench/score_responses.py"


rule multitempbench_gather_scores:
    """All scores in one file."""
    input:
        scores=mtb_files("scores/{model}.{mode}.parquet", MTB_RUNS),
    output:
        scores=f"{MTB_FOLDER}/scores.parquet",
    log:
        f"{RESULTS}/logs/multitempbench/gather_scores.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(10),
    params:
        code=code_digest("scripts/multitempbench/gather_scores.py"),
    script:
        "../scripts/multitempbench/gather_scores.py"


include: "multitempbench_tokenisation.smk"
include: "multitempbench_probing.smk"
include: "multitempbench_results.smk"
