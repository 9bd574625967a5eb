"""Rule script: one corpus from its source to data/raw, verified."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.corpora.download import Retries, download
from scripts.corpora.sources import CorpusError
from scripts.corpora.wiki import WikiClient, document_lines, fetch_texts, palindrome_lines, prose
from scripts.execution import execute
from scripts.files import atomic_write

if TYPE_CHECKING:
    snakemake: Any


def fetch(entry: Mapping[str, Any], path: Path, retries: Retries | None = None) -> None:
    """Fetch the corpus of a configuration entry to `path`; CorpusError where it cannot be had."""
    if "url" in entry:
        download(entry["url"], path, entry["sha256"], entry.get("size"), retries)
        return
    if "mediawiki" not in entry:
        raise CorpusError(f"{path}: is not fetched; put {_wanted(entry)} there (config.yaml)")
    wiki = entry["mediawiki"]
    client = WikiClient(wiki["api"], retries)
    is_prose = entry["reader"] == "documents"
    rows = fetch_texts(
        client,
        wiki["titles"],
        wiki["lock"],
        prose if is_prose else palindrome_lines,
        logging.getLogger(__name__).warning,
    )
    if is_prose:
        data = document_lines(wiki["api"], rows, entry["licence"])
    else:
        data = "".join(row["text"] for row in rows).encode("utf-8")
    with atomic_write(path, "wb") as handle:
        handle.write(data)


def _wanted(entry: Mapping[str, Any]) -> str:
    """What a person must put where nothing can be fetched."""
    if entry["reader"] == "instruments":
        return "the PDFs and this list of them, as docs/data-formats.md describes it,"
    return "the file"


def main(snakemake: Any) -> None:
    """Fetch what the rule's `source` entry describes to the rule's output."""
    logging.basicConfig(filename=str(snakemake.log[0]), level=logging.INFO, format="%(message)s")
    fetch(snakemake.params.source, Path(snakemake.output[0]))


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
