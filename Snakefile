# Tokens & Time: from raw corpora to the printed paper. docs/architecture.md describes every arrow.
import sys
from pathlib import Path

sys.path.insert(0, str(workflow.basedir))

if not Path("config.yaml").is_file():
    raise WorkflowError(
        f"run in the project's folder, where data/ and results/ are: cd {workflow.basedir}"
    )

from snakemake.utils import min_version

from scripts.workflow.digest import remember

min_version("9.27")


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/corpora.smk"
include: "rules/models.smk"


if "syntaxbench" in BENCHMARKS:

    include: "rules/syntaxbench.smk"
    include: "rules/syntaxbench_results.smk"


if "multitempbench" in BENCHMARKS:

    include: "rules/multitempbench.smk"
    include: "rules/multitempbench_tokenisation.smk"
    include: "rules/multitempbench_probing.smk"
    include: "rules/multitempbench_results.smk"


if "tide" in BENCHMARKS:

    include: "rules/tide_common.smk"
    include: "rules/tide.smk"
    include: "rules/tide_construction.smk"
    include: "rules/tide_retrieval.smk"
    include: "rules/tide_results.smk"


include: "rules/paper.smk"


# Every script's code was read by now; jobs that start from here on need not read it again.
remember()


localrules:
    all,
    artefacts,
    items,
    responses,
    statistics,


rule all:
    """The paper, and every table and figure."""
    default_target: True
    input:
        rules.artefacts.input,
        f"{RESULTS}/paper/paper.pdf",
