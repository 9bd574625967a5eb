# TIDE's questions: entities, names of one thing, threads that evolve, question pairs.


rule tide_extract_entities:
    """Entities and concepts of every element, under canonical names."""
    input:
        unpack(tide_generator_inputs("entities")),
        elements=f"{TIDE_FOLDER}/elements.jsonl",
    output:
        entities=f"{TIDE_FOLDER}/construction/entities.jsonl",
        report=f"{TIDE_FOLDER}/statistics/construction/entities.csv",
    log:
        f"{RESULTS}/logs/tide/extract_entities.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/extract_entities.tsv"
    conda:
        tide_generator_environment
    resources:
        gpu=tide_generator_gpus,
        mem_mb=growing(tide_generator_memory),
        runtime=growing(2880),
    params:
        method=TIDE["construction"]["method"],
        generator=tide_generator(),
        jurisdiction=TIDE["jurisdiction"],
        code=tide_generator_code("scripts/tide/construction/extract_entities.py"),
    script:
        "../scripts/tide/construction/extract_entities.py"


rule tide_propose_aliases:
    """Names that may mean one thing, packed into units that cover every pair of neighbours."""
    input:
        entities=f"{TIDE_FOLDER}/construction/entities.jsonl",
    output:
        candidates=f"{TIDE_FOLDER}/construction/candidates.jsonl",
        units=f"{TIDE_FOLDER}/construction/units.jsonl",
    log:
        f"{RESULTS}/logs/tide/propose_aliases.log",
    conda:
        "../envs/core.yaml"
    resources:
        gpu=lambda wildcards: gpus_of_embedder(TIDE["construction"]["embedder"]),
        mem_mb=growing(4000),
        runtime=growing(120),
    params:
        name=TIDE["construction"]["embedder"],
        entry=answering(TIDE["construction"]["embedder"], config["embedders"]),
        threshold=TIDE["construction"]["threshold"],
        unit_size=TIDE["construction"]["unit_size"],
        store=f"{RESULTS}/store/embeddings/{TIDE['construction']['embedder']}",
        code=code_digest("scripts/tide/construction/propose_aliases.py"),
    script:
        "../scripts/tide/construction/propose_aliases.py"


rule tide_judge_aliases:
    """Verdicts on the proposed pairs, unit by unit."""
    input:
        unpack(tide_generator_inputs("aliases")),
        candidates=f"{TIDE_FOLDER}/construction/candidates.jsonl",
        units=f"{TIDE_FOLDER}/construction/units.jsonl",
        entities=f"{TIDE_FOLDER}/construction/entities.jsonl",
    output:
        alias_verdicts=f"{TIDE_FOLDER}/construction/alias_verdicts.jsonl",
        report=f"{TIDE_FOLDER}/statistics/construction/aliases.csv",
    log:
        f"{RESULTS}/logs/tide/judge_aliases.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/judge_aliases.tsv"
    conda:
        tide_generator_environment
    resources:
        gpu=tide_generator_gpus,
        mem_mb=growing(tide_generator_memory),
        runtime=growing(2880),
    params:
        method=TIDE["construction"]["method"],
        generator=tide_generator(),
        jurisdiction=TIDE["jurisdiction"],
        code=tide_generator_code("scripts/tide/construction/judge_aliases.py"),
    script:
        "../scripts/tide/construction/judge_aliases.py"


rule tide_cluster_entities:
    """Names of one thing, never joined across a rejected pair, and the elements that use them."""
    input:
        entities=f"{TIDE_FOLDER}/construction/entities.jsonl",
        candidates=f"{TIDE_FOLDER}/construction/candidates.jsonl",
        alias_verdicts=f"{TIDE_FOLDER}/construction/alias_verdicts.jsonl",
        elements=f"{TIDE_FOLDER}/elements.jsonl",
    output:
        clusters=f"{TIDE_FOLDER}/construction/clusters.jsonl",
        report=f"{TIDE_FOLDER}/statistics/construction/clusters.csv",
    log:
        f"{RESULTS}/logs/tide/cluster_entities.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        minimum_elements=TIDE["construction"]["minimum_elements"],
        code=code_digest("scripts/tide/construction/cluster_entities.py"),
    script:
        "../scripts/tide/construction/cluster_entities.py"


rule tide_find_threads:
    """Topics that evolve: a timeline of dated instruments each."""
    input:
        unpack(tide_generator_inputs("threads")),
        clusters=f"{TIDE_FOLDER}/construction/clusters.jsonl",
        entities=f"{TIDE_FOLDER}/construction/entities.jsonl",
        elements=f"{TIDE_FOLDER}/elements.jsonl",
    output:
        threads=f"{TIDE_FOLDER}/construction/threads.jsonl",
        report=f"{TIDE_FOLDER}/statistics/construction/threads.csv",
    log:
        f"{RESULTS}/logs/tide/find_threads.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/find_threads.tsv"
    conda:
        tide_generator_environment
    resources:
        gpu=tide_generator_gpus,
        mem_mb=growing(tide_generator_memory),
        runtime=growing(2880),
    params:
        method=TIDE["construction"]["method"],
        generator=tide_generator(),
        jurisdiction=TIDE["jurisdiction"],
        code=tide_generator_code("scripts/tide/construction/find_threads.py"),
    script:
        "../scripts/tide/construction/find_threads.py"


rule tide_generate_questions:
    """Question pairs that pass every check; what was dropped, and by which check."""
    input:
        unpack(tide_generator_inputs("questions")),
        threads=f"{TIDE_FOLDER}/construction/threads.jsonl",
        entities=f"{TIDE_FOLDER}/construction/entities.jsonl",
        elements=f"{TIDE_FOLDER}/elements.jsonl",
    output:
        questions=f"{TIDE_FOLDER}/questions.jsonl",
        generation=f"{TIDE_FOLDER}/statistics/generation.csv",
    log:
        f"{RESULTS}/logs/tide/generate_questions.log",
    benchmark:
        f"{RESULTS}/benchmarks/tide/generate_questions.tsv"
    conda:
        tide_generator_environment
    resources:
        gpu=tide_generator_gpus,
        mem_mb=growing(tide_generator_memory),
        runtime=growing(2880),
    params:
        method=TIDE["construction"]["method"],
        generator=tide_generator(),
        jurisdiction=TIDE["jurisdiction"],
        sampled_elements=TIDE["construction"]["sampled_elements"],
        per_task=TIDE["construction"]["pairs_per_task"],
        seed=RUN["seed"],
        code=tide_generator_code("scripts/tide/construction/generate_questions.py"),
    script:
        "../scripts/tide/construction/generate_questions.py"


rule tide_verify_questions:
    """The experts' first-pass ratings and their agreement."""
    input:
        questions=f"{TIDE_FOLDER}/questions.jsonl",
        ratings=TIDE["construction"]["ratings"] or [],
    output:
        verification=f"{TIDE_FOLDER}/statistics/verification.csv",
    log:
        f"{RESULTS}/logs/tide/verify_questions.log",
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_digest("scripts/tide/construction/verify_questions.py"),
    script:
        "../scripts/tide/construction/verify_questions.py"
