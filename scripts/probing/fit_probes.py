"""Rule script: probes, path geometry and principal components of one model's hidden states.

input.states, input.index; output.probes, output.geometry, output.pca (CSV).
params: name, headline_token, folds, repetitions, permutations, penalties, seed.
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute
from scripts.files import write_csv
from scripts.probing.analysis import geometry_frame, pca_frame, probe_frame
from scripts.probing.probes import ProbeSettings
from scripts.probing.state_files import open_states

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Fit everything that one model's states serve for."""
    params = snakemake.params
    output = snakemake.output
    settings = ProbeSettings(
        folds=int(params.folds),
        repetitions=int(params.repetitions),
        permutations=int(params.permutations),
        penalties=tuple(float(penalty) for penalty in params.penalties),
        seed=int(params.seed),
    )
    with open_states(snakemake.input.states, snakemake.input.index) as states:
        write_csv(output.probes, probe_frame(params.name, states, settings))
        write_csv(output.geometry, geometry_frame(params.name, states))
        write_csv(output.pca, pca_frame(params.name, states, params.headline_token))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
