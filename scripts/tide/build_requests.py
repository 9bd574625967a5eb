"""Rule script: the prompts of every task in one setting.

input: `item_files` (one file a task, in the order of params.tasks), `elements`, `prompts`, and
`retrieved` where clauses are retrieved; output: `requests` (one file a task); params: `knowledge`,
`tasks`, `embedder` and `depth` (null where nothing is retrieved), `decoding`, `constrained`,
`context_characters` (null: no limit), `reasoning_characters` (longest reasoning inside a
constrained answer, null: no limit; without the param a short one), `jurisdiction` (whose law it is;
without the param Bangladesh's).
"""

from typing import TYPE_CHECKING, Any

from scripts.execution import execute, file_list
from scripts.files import DataError, read_records, write_records
from scripts.records import Item
from scripts.tide.contexts import Corpus
from scripts.tide.prompts import JURISDICTION, REASONING_CHARACTERS, load_prompts
from scripts.tide.requests import Setting, build_requests, read_retrieved
from scripts.tide.rows import Element

if TYPE_CHECKING:
    snakemake: Any


def main(snakemake: Any) -> None:
    """Read items, documents and prompts; write one request file a task."""
    given, params = snakemake.input, snakemake.params
    setting = Setting(
        params.knowledge, params.embedder, params.depth, limit=params.context_characters
    )
    jurisdiction = getattr(params, "jurisdiction", JURISDICTION)
    prompts = load_prompts(str(given.prompts), jurisdiction)
    corpus = Corpus.of(read_records(given.elements, Element))
    retrieved = read_retrieved(str(given.retrieved)) if setting.retrieves else None
    files = zip(
        params.tasks,
        file_list(given.item_files),
        file_list(snakemake.output.requests),
        strict=True,
    )
    for task, item_file, path in files:
        items = read_records(item_file, Item)
        if {item.task for item in items} - {task}:
            raise DataError(f"{item_file}: expected items of {task} only; build the items again")
        requests = build_requests(
            items,
            setting,
            prompts,
            corpus,
            retrieved,
            decoding=params.decoding,
            constrained=params.constrained,
            reasoning_characters=getattr(params, "reasoning_characters", REASONING_CHARACTERS),
        )
        write_records(path, requests)


if "snakemake" in globals():
    execute(main, snakemake)  # noqa: F821
