# TIDE from PDFs to scores: documents, items, the three settings, the council.


include: "tide_common.smk"


rule tide_parse_document:
    """One PDF as pages with checked text, and as one structured record."""
    input:
        pdf=tide_pdf,
    output:
        pages=f"{TIDE_FOLDER}/documents/{{document}}.pages.jsonl",
        record=f"{TIDE_FOLDER}/documents/{{document}}.record.json",
        report=f"{TIDE_FOLDER}/documents/{{document}}.report.csv",
    log:
        f"{RESULTS}/logs/tide/parse_document/{{document}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/parse_document/{{document}}.tsv"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(120),
    params:
        document=lambda wildcards: wildcards.document,
        entry=lambda wildcards: TIDE_DOCUMENTS[wildcards.document].to_json(),
        engines=TIDE["parsing"]["engines"],
        vision=lambda wildcards: tide_vision(wildcards.document),
        ocr_layer=TIDE["parsing"]["ocr_layer"],
        code=tide_vision_code("scripts/documents/parse_document.py"),
    script:
        "../scripts/documents/parse_document.py"


rule tide_gather_elements:
    """All clauses and metadata of the corpus in one file; what the pages and calendars are like."""
    input:
        manifest=TIDE_MANIFEST,
        records=tide_documents(".record.json"),
        reports=tide_documents(".report.csv"),
    output:
        elements=f"{TIDE_FOLDER}/elements.jsonl",
        parsing=f"{TIDE_FOLDER}/statistics/parsing.csv",
        two_calendars=f"{TIDE_FOLDER}/statistics/two_calendars.csv",
        complexity=f"{TIDE_FOLDER}/statistics/complexity.csv",
    log:
        f"{RESULTS}/logs/tide/gather_elements.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=code_digest("scripts/tide/documents/gather_elements.py"),
    script:
        "../scripts/tide/documents/gather_elements.py"


rule tide_measure_fidelity:
    """Word and character errors of every engine and of the text that was kept."""
    input:
        truth=tide_truth(),
        pdfs=[entry.path for entry in TIDE_DOCUMENTS.values()],
        pages=tide_documents(".pages.jsonl"),
    output:
        fidelity=f"{TIDE_FOLDER}/statistics/fidelity.csv",
    log:
        f"{RESULTS}/logs/tide/measure_fidelity.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        engines=TIDE["parsing"]["engines"],
        code=code_digest("scripts/tide/documents/measure_fidelity.py"),
    script:
        "../scripts/tide/documents/measure_fidelity.py"


rule tide_build_items:
    """The question pairs of one task as items; gold dates are read from the gold answers."""
    input:
        questions=f"{TIDE_FOLDER}/questions.jsonl",
        elements=f"{TIDE_FOLDER}/elements.jsonl",
        parsing=f"{TIDE_FOLDER}/statistics/parsing.csv",
    output:
        item_files=f"{TIDE_FOLDER}/items/{{task}}.jsonl",
    log:
        f"{RESULTS}/logs/tide/build_items/{{task}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        task=lambda wildcards: wildcards.task,
        code=code_digest("scripts/tide/build_items.py"),
    script:
        "../scripts/tide/build_items.py"


rule tide_build_requests:
    """The prompts of one setting; they differ from the others in context and one sentence only."""
    input:
        unpack(tide_retrieved),
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
        elements=f"{TIDE_FOLDER}/elements.jsonl",
        prompts="scripts/tide/prompts.yaml",
    output:
        requests=expand(
            f"{TIDE_FOLDER}/requests/{{knowledge}}/{{task}}.jsonl",
            task=TIDE_TASKS,
            allow_missing=True,
        ),
    log:
        f"{RESULTS}/logs/tide/build_requests/{{knowledge}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        knowledge=lambda wildcards: wildcards.knowledge,
        tasks=TIDE_TASKS,
        embedder=lambda wildcards: tide_retriever(wildcards)[0],
        depth=lambda wildcards: tide_retriever(wildcards)[1],
        decoding=narrow(TIDE["decoding"], "temperature", "top_p", "repetition_penalty"),
        jurisdiction=TIDE["jurisdiction"],
        constrained=TIDE["constrained"],
        reasoning_characters=TIDE["reasoning_characters"],
        context_characters=TIDE["context_characters"],
        code=code_digest("scripts/tide/build_requests.py"),
    script:
        "../scripts/tide/build_requests.py"


rule tide_build_baseline_answers:
    """Answers of a baseline to every request of the three settings."""
    input:
        requests=tide_requests(TIDE_SETTINGS),
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
    output:
        answers=f"{TIDE_FOLDER}/baselines/{{model}}.jsonl",
    log:
        f"{RESULTS}/logs/tide/build_baseline_answers/{{model}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        baseline=lambda wildcards: MODELS[wildcards.model]["source"],
        seed=RUN["seed"],
        code=code_digest("scripts/tide/build_baseline_answers.py"),
    script:
        "../scripts/tide/build_baseline_answers.py"


rule tide_run_model:
    """One process answers every item in the three settings for one model in one mode."""
    input:
        unpack(model_inputs(TIDE_FOLDER)),
        unpack(shard_manifests(f"{RESULTS}/manifests/tide")),
        requests=tide_requests(TIDE_SETTINGS),
    output:
        responses=expand(
            f"{TIDE_FOLDER}/responses/{{model}}/{{mode}}/{{knowledge}}/{{task}}.jsonl",
            knowledge=TIDE_SETTINGS,
            task=TIDE_TASKS,
            allow_missing=True,
        ),
        manifest=f"{RESULTS}/manifests/tide/{{model}}.{{mode}}.json",
    log:
        f"{RESULTS}/logs/tide/run_model/{{model}}.{{mode}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/run_model/{{model}}.{{mode}}.tsv"
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
        benchmark="tide",
        name=lambda wildcards: wildcards.model,
        mode=lambda wildcards: wildcards.mode,
        entry=lambda wildcards: answering(wildcards.model),
        files=True,
        max_new_tokens=lambda wildcards: token_limit(wildcards, TIDE),
        store=lambda wildcards: (
            f"{RESULTS}/store/tide/{wildcards.model}/{wildcards.mode}.jsonl"
        ),
        code=lambda wildcards: code_digest(
            "scripts/inference/run_model.py",
            backend_file(MODELS[wildcards.model]["backend"]),
        ),
    script:
        "../scripts/inference/run_model.py"


use rule tide_run_model as tide_run_shard with:
    """One of the jobs that split the requests of a run; its answers stand in the store."""
    output:
        manifest=temp(f"{RESULTS}/manifests/tide/{SHARD}.json"),
    log:
        f"{RESULTS}/logs/tide/run_model/{SHARD}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/run_model/{SHARD}.tsv"
    params:
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),


rule tide_run_ablation:
    """The same model under further retrievers, depths and the date-aware ranking."""
    input:
        unpack(model_inputs(TIDE_FOLDER)),
        unpack(shard_manifests(f"{RESULTS}/manifests/tide/ablation")),
        requests=tide_requests(TIDE_VARIANTS),
        # Many prompts of a variant are prompts of rag. Asked side by side, a hosted model may give
        # two answers to one of them, and the store takes one answer to a question. (As `ancient`,
        # Snakemake would overlook other changes of this job whenever the settings run again.)
        settings=f"{RESULTS}/manifests/tide/{{model}}.{{mode}}.json",
    output:
        responses=expand(
            f"{TIDE_FOLDER}/responses/{{model}}/{{mode}}/{{knowledge}}/{{task}}.jsonl",
            knowledge=list(TIDE_VARIANTS),
            task=TIDE_TASKS,
            allow_missing=True,
        ),
        manifest=f"{RESULTS}/manifests/tide/ablation/{{model}}.{{mode}}.json",
    log:
        f"{RESULTS}/logs/tide/run_ablation/{{model}}.{{mode}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/run_ablation/{{model}}.{{mode}}.tsv"
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
        benchmark="tide",
        name=lambda wildcards: wildcards.model,
        mode=lambda wildcards: wildcards.mode,
        entry=lambda wildcards: answering(wildcards.model),
        files=True,
        max_new_tokens=lambda wildcards: token_limit(wildcards, TIDE),
        store=lambda wildcards: (
            f"{RESULTS}/store/tide/{wildcards.model}/{wildcards.mode}.ablation.jsonl"
        ),
        code=lambda wildcards: code_digest(
            "scripts/inference/run_model.py",
            backend_file(MODELS[wildcards.model]["backend"]),
        ),
    script:
        "../scripts/inference/run_model.py"


use rule tide_run_ablation as tide_run_ablation_shard with:
    """One of the jobs that split the requests of a run; its answers stand in the store."""
    output:
        manifest=temp(f"{RESULTS}/manifests/tide/ablation/{SHARD}.json"),
    log:
        f"{RESULTS}/logs/tide/run_ablation/{SHARD}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/run_ablation/{SHARD}.tsv"
    params:
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),


rule tide_build_explanations:
    """The second step, only for statements that the model called incorrect."""
    input:
        item_files=f"{TIDE_FOLDER}/items/perturbation_detection.jsonl",
        requests=lambda wildcards: tide_requests(
            tide_knowledge(wildcards.model), ["perturbation_detection"]
        ),
        responses=lambda wildcards: tide_responses(
            [(wildcards.model, wildcards.mode)], ["perturbation_detection"]
        ),
        prompts="scripts/tide/prompts.yaml",
    output:
        explanations=f"{TIDE_FOLDER}/explanations/{{model}}.{{mode}}.jsonl",
    log:
        f"{RESULTS}/logs/tide/build_explanations/{{model}}.{{mode}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        decoding=narrow(TIDE["decoding"], "temperature", "top_p", "repetition_penalty"),
        code=code_digest("scripts/tide/build_explanations.py"),
    script:
        "../scripts/tide/build_explanations.py"


rule tide_build_baseline_explanations:
    """What a baseline says about the statements that it called incorrect."""
    input:
        requests=[f"{TIDE_FOLDER}/explanations/{{model}}.{{mode}}.jsonl"],
        item_files=[f"{TIDE_FOLDER}/items/perturbation_detection.jsonl"],
    output:
        answers=f"{TIDE_FOLDER}/baselines/{{model}}.{{mode}}.explanations.jsonl",
    log:
        f"{RESULTS}/logs/tide/build_baseline_explanations/{{model}}.{{mode}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        baseline=lambda wildcards: MODELS[wildcards.model]["source"],
        seed=RUN["seed"],
        code=code_digest("scripts/tide/build_baseline_answers.py"),
    script:
        "../scripts/tide/build_baseline_answers.py"


rule tide_run_explanations:
    """Why and where a statement is wrong, from the model that called it incorrect."""
    input:
        unpack(explanation_inputs),
        unpack(shard_manifests(f"{RESULTS}/manifests/tide/explanations")),
        requests=[f"{TIDE_FOLDER}/explanations/{{model}}.{{mode}}.jsonl"],
    output:
        responses=[f"{TIDE_FOLDER}/explanation_answers/{{model}}/{{mode}}.jsonl"],
        manifest=f"{RESULTS}/manifests/tide/explanations/{{model}}.{{mode}}.json",
    log:
        f"{RESULTS}/logs/tide/run_explanations/{{model}}.{{mode}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/run_explanations/{{model}}.{{mode}}.tsv"
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
        benchmark="tide",
        name=lambda wildcards: wildcards.model,
        mode=lambda wildcards: wildcards.mode,
        entry=lambda wildcards: answering(wildcards.model),
        files=True,
        max_new_tokens=lambda wildcards: token_limit(wildcards, TIDE),
        store=lambda wildcards: (
            f"{RESULTS}/store/tide/{wildcards.model}/{wildcards.mode}.explanations.jsonl"
        ),
        code=lambda wildcards: code_digest(
            "scripts/inference/run_model.py",
            backend_file(MODELS[wildcards.model]["backend"]),
        ),
    script:
        "../scripts/inference/run_model.py"


use rule tide_run_explanations as tide_run_explanations_shard with:
    """One of the jobs that split the requests of a run; its answers stand in the store."""
    output:
        manifest=temp(f"{RESULTS}/manifests/tide/explanations/{SHARD}.json"),
    log:
        f"{RESULTS}/logs/tide/run_explanations/{SHARD}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/run_explanations/{SHARD}.tsv"
    params:
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),


rule tide_judge_by_program:
    """A program of the council answers its questions about every answer that needs judging."""
    input:
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
        responses=tide_responses(TIDE_RUNS, TIDE_JUDGED),
        explanations=tide_files("explanations/{model}.{mode}.jsonl", TIDE_RUNS),
        explanation_answers=tide_files(
            "explanation_answers/{model}/{mode}.jsonl", TIDE_RUNS
        ),
    output:
        judgements=[
            f"{TIDE_FOLDER}/judgements/{{judge}}/{model}.{mode}.jsonl"
            for model, mode in TIDE_RUNS
        ],
    log:
        f"{RESULTS}/logs/tide/judge/{{judge}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/judge/{{judge}}.tsv"
    wildcard_constraints:
        judge=one_of(PROGRAMS),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        judge=lambda wildcards: wildcards.judge,
        runs=[list(run) for run in TIDE_RUNS],
        code=lambda wildcards: code_digest(
            "scripts/tide/judge_responses.py", program_file(wildcards.judge)
        ),
    script:
        "../scripts/tide/judge_responses.py"


rule tide_judge_by_model:
    """A model of the council answers the questions; equal answers to an item are asked once."""
    input:
        unpack(judge_inputs),
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
        responses=tide_responses(TIDE_RUNS, TIDE_JUDGED),
        explanations=tide_files("explanations/{model}.{mode}.jsonl", TIDE_RUNS),
        explanation_answers=tide_files(
            "explanation_answers/{model}/{mode}.jsonl", TIDE_RUNS
        ),
    output:
        judgements=[
            f"{TIDE_FOLDER}/judgements/{{judge}}/{model}.{mode}.jsonl"
            for model, mode in TIDE_RUNS
        ],
        answers=f"{TIDE_FOLDER}/judge_answers/{{judge}}.jsonl",
        manifest=f"{RESULTS}/manifests/tide/judges/{{judge}}.json",
    log:
        f"{RESULTS}/logs/tide/judge/{{judge}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/judge/{{judge}}.tsv"
    wildcard_constraints:
        judge=one_of(TIDE_MODEL_JUDGES),
    priority: 10
    conda:
        judge_environment
    threads: lambda wildcards: MODELS[wildcards.judge].get("threads", 1)
    resources:
        gpu=lambda wildcards: gpus_of(wildcards.judge),
        mem_mb=growing(lambda wildcards: memory_of(wildcards.judge)),
        runtime=growing(2880),
    params:
        judge=lambda wildcards: wildcards.judge,
        runs=[list(run) for run in TIDE_RUNS],
        benchmark="tide",
        entry=lambda wildcards: answering(wildcards.judge),
        mode=lambda wildcards: MODELS[wildcards.judge]["modes"][0],
        max_new_tokens=TIDE["judging"]["max_new_tokens"],
        rationale_characters=TIDE["judging"]["rationale_characters"],
        decoding=narrow(TIDE["decoding"], "temperature", "top_p", "repetition_penalty"),
        store=lambda wildcards: (f"{RESULTS}/store/tide_judges/{wildcards.judge}.jsonl"),
        code=lambda wildcards: code_digest(
            "scripts/tide/judge_responses.py",
            backend_file(MODELS[wildcards.judge]["backend"]),
        ),
    script:
        "../scripts/tide/judge_responses.py"


rule tide_score_responses:
    """One run as scores: choices, orders and verdicts by rule, the rest by the council's majority."""
    input:
        item_files=expand(f"{TIDE_FOLDER}/items/{{task}}.jsonl", task=TIDE_TASKS),
        requests=lambda wildcards: tide_requests(tide_knowledge(wildcards.model)),
        responses=lambda wildcards: tide_responses([(wildcards.model, wildcards.mode)]),
        explanations=f"{TIDE_FOLDER}/explanations/{{model}}.{{mode}}.jsonl",
        explanation_answers=f"{TIDE_FOLDER}/explanation_answers/{{model}}/{{mode}}.jsonl",
        judgements=expand(
            f"{TIDE_FOLDER}/judgements/{{judge}}/{{model}}.{{mode}}.jsonl",
            judge=TIDE_COUNCIL,
            allow_missing=True,
        ),
    output:
        scores=f"{TIDE_FOLDER}/scores/{{model}}.{{mode}}.parquet",
        undecided=f"{TIDE_FOLDER}/statistics/undecided/{{model}}.{{mode}}.csv",
    log:
        f"{RESULTS}/logs/tide/score_responses/{{model}}.{{mode}}.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        judges=TIDE_COUNCIL,
        date_weight=TIDE["judging"]["date_weight"],
        code=code_digest("scripts/tide/score_responses.py"),
    script:
        "../scripts/tide/score_responses.py"


rule tide_gather_scores:
    """All scores in one file, and what experts should look at."""
    input:
        scores=tide_files("scores/{model}.{mode}.parquet", TIDE_RUNS),
        undecided=tide_files("statistics/undecided/{model}.{mode}.csv", TIDE_RUNS),
    output:
        scores=f"{TIDE_FOLDER}/scores.parquet",
        review=f"{TIDE_FOLDER}/statistics/review.csv",
    log:
        f"{RESULTS}/logs/tide/gather_scores.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(10),
    params:
        code=code_digest("scripts/tide/gather_scores.py"),
    script:
        "../scripts/tide/gather_scores.py"


include: "tide_construction.smk"
include: "tide_retrieval.smk"
include: "tide_results.smk"
