"""Rule script: the hidden states of one model for the sentences with dates.

input.weights: the files of the model's prepared folder, where the model has one. The sentence of
each language stands in the language's file.
output.states (safetensors), output.index (JSONL), output.manifest (JSON).
params: name, entry (the model's roster entry), benchmark, years, dates_per_year, formats,
languages, tokens, precision, seed.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from scripts.execution import execute
from scripts.files import write_json
from scripts.inference import manifest, models
from scripts.inference.interface import ModelSpec
from scripts.inference.registry import model_spec, prepared_path
from scripts.probing import states, texts
from scripts.probing.state_files import layer_name
from scripts.records import canonical_digest

if TYPE_CHECKING:
    snakemake: Any

SETTINGS = ("years", "dates_per_year", "formats", "languages", "tokens", "precision", "seed")


def facts(  # noqa: PLR0917
    spec: ModelSpec,
    settings: dict[str, Any],
    benchmark: str,
    positions: list[states.Position],
    read: dict[str, torch.Tensor],
    device: str,
) -> dict[str, Any]:
    """What the manifest says beside times and hosts."""
    entry = {
        "name": spec.name,
        "source": spec.source,
        "revision": spec.revision,
        "precision": spec.precision,
        "options": dict(spec.options),
    }
    first = next(iter(read.values()))
    return {
        "benchmark": benchmark,
        "stage": "hidden_states",
        "model": entry,
        "settings": settings,
        "config_sha256": canonical_digest({"model": entry, "settings": settings}),
        "device": device,
        "threads": torch.get_num_threads(),
        "texts": len(positions),
        "tokens": {"prompt": sum(len(position.ids) for position in positions)},
        # Special tokens before the text, as the model's own tokenizer adds them (BOS or nothing).
        "special_tokens_before": sorted({position.leading_special for position in positions}),
        "positions": list(read),
        "layers": first.shape[1],
        "layer_names": [layer_name(i, first.shape[1] - 1) for i in range(first.shape[1])],
        "width": first.shape[2],
        "stored_as": str(first.dtype).removeprefix("torch."),
    }


def main(snakemake: Any) -> None:
    """Write the sentences, run the model over them, store what is read."""
    params = snakemake.params
    watch = manifest.Stopwatch()
    settings = {name: params[name] for name in SETTINGS}
    spec = replace(
        model_spec(params.name, params.entry, prepared_path(snakemake.input)),
        precision=settings["precision"],
    )
    if "threads" in spec.options:
        torch.set_num_threads(int(spec.options["threads"]))
    days = texts.draw_dates(settings["years"], settings["dates_per_year"], settings["seed"])
    sentences = texts.date_sentences(
        texts.load_templates(settings["languages"]),
        days,
        settings["languages"],
        settings["formats"],
    )
    model, tokenizer = models.load(spec)
    positions = [states.locate(tokenizer, sentence) for sentence in sentences]
    read = states.extract(model, sentences, positions, settings["tokens"])
    states.write_states(snakemake.output.states, read)
    states.write_index(snakemake.output.index, sentences, positions)
    about = facts(spec, settings, params.benchmark, positions, read, str(model.device))
    write_json(
        snakemake.output.manifest,
        {
            **about,
            "started": watch.started.isoformat(timespec="seconds"),
            "wall_seconds": watch.seconds(),
            "peak_memory_bytes": manifest.peak_memory(),
            "host": manifest.host_facts(),
            "packages": manifest.package_versions(),
            "git": manifest.git_state(),
        },
    )


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
