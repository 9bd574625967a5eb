"""Rule script: pairs of names that may mean one thing, and units in which every pair is judged.

input.entities. output: candidates, units. params: name and entry (of `embedders`), threshold,
unit_size, store (the stem of the file of kept vectors, no output of the rule).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, exit_on_sigterm
from scripts.files import read_records, write_records
from scripts.retrieval.cache import CachedEmbedder
from scripts.retrieval.embedders import create_embedder
from scripts.tide.construction import candidates, set_cover
from scripts.tide.construction.entities import surface_forms
from scripts.tide.rows import EntityRow

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Embed every name with its concepts, keep the neighbours, pack them into units."""
    exit_on_sigterm()
    params = snakemake.params
    forms = surface_forms(read_records(snakemake.input.entities, EntityRow))
    embedder = CachedEmbedder(create_embedder(params.name, params.entry), params.store)
    pairs = candidates.propose(forms, embedder, float(params.threshold))
    units = set_cover.cover([pair.pair for pair in pairs], int(params.unit_size))
    print(f"{len(forms)} names, {len(pairs)} candidate pairs, {len(units)} units")
    write_records(snakemake.output.candidates, pairs)
    write_records(snakemake.output.units, units)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
