"""Rule script: names of one thing, never joined across a rejected pair, and their elements.

input: entities, candidates, alias_verdicts, elements. output: clusters, report. params:
minimum_elements.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import read_records, write_records
from scripts.tide.construction.aliases import AliasVerdict
from scripts.tide.construction.candidates import Candidate
from scripts.tide.construction.clusters import build_clusters
from scripts.tide.construction.construction_report import write_report
from scripts.tide.construction.provisions import Corpus
from scripts.tide.rows import Element, EntityRow

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Build the clusters and write them with the contradictions among the verdicts."""
    given = snakemake.input
    clusters, report = build_clusters(
        read_records(given.entities, EntityRow),
        read_records(given.alias_verdicts, AliasVerdict),
        read_records(given.candidates, Candidate),
        Corpus(read_records(given.elements, Element)),
        int(snakemake.params.minimum_elements),
    )
    write_records(snakemake.output.clusters, clusters)
    write_report(snakemake.output.report, report)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
