# Tokens & Time: from raw corpora to the printed paper. docs/architecture.md describes every arrow.
import sys
from pathlib import Path

sys.path.insert(0, str(workflow.basedir))

if not Path("config.yaml").is_file():
    raise WorkflowError(
        f"run in the project's folder, where data/ and results/ are: cd {workflow.basedir}"
    )

from snakemake.utils import min_version

from scripts.workflow.benchmarks import default_files
from scripts.workflow.digest import remember

min_version("9.27")

# The configuration that the folders of the benchmarks bring; everything else wins over it.
DEFAULTS = default_files()

for file in DEFAULTS:

    configfile: file


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/corpora.smk"
include: "rules/models.smk"


# A benchmark is a folder scripts/NAME with a benchmark.yaml, and rules/NAME.smk:
# docs/tutorials/add-a-benchmark.md.
for name in BENCHMARKS:

    include: f"rules/{name}.smk"


include: "rules/claims.smk"
include: "rules/explorer.smk"
include: "rules/reproduction.smk"
include: "rules/paper.smk"
include: "rules/release.smk"


# Every script's code was read by now; jobs that start from here on need not read it again.
remember()


wildcard_constraints:
    **{name: one_of(values) for name, values in ALLOWED.items() if values},


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
