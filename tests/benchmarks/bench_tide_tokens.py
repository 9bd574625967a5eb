"""The Bengali-English token tax of tokenisers on the exact texts of the embedded instruments.

Run: python -m tests.benchmarks.bench_tide_tokens ../shared/data/tokenizers [name …]

The folder holds `tokenizer.json` files, `{name}.json.gz` or `{name}.json`; without names all are
measured. A sample is a page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.tide.rows import Element
from scripts.tide.statistics.tokens import sample_frame, tokens_frame
from scripts.tokenisation.tokenisers import load_file

TRUTH = Path(__file__).parents[2] / "data" / "embedded" / "tide" / "truth"
SHOWN = (
    *("bengali_per_word", "english_per_word", "tax_words", "tax_words_low", "tax_words_high"),
    *("bengali_per_character", "english_per_character", "tax_characters", "n"),
)


def truth_elements(folder: Path) -> list[Element]:
    """The true text of every page as an element."""
    out = []
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for page in document["pages"]:
            out.append(
                Element(
                    element_id=f"{path.stem}/page_{page['page']}",
                    document=path.stem,
                    document_type="SRO",
                    type="clause",
                    category="page",
                    number=str(page["page"]),
                    title="",
                    text=page["text"],
                    page_start=page["page"],
                    page_end=page["page"],
                    table_ids=[],
                    dates=[],
                )
            )
    return out


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    files = sorted(path for path in folder.iterdir() if path.name.endswith((".json", ".json.gz")))
    known = {path.name.split(".")[0]: path for path in files}
    elements = truth_elements(TRUTH)
    chosen = names or list(known)
    samples = {name: sample_frame(elements, load_file(known[name])) for name in chosen}
    found = tokens_frame(samples, chosen, 42, {"resamples": 10_000, "level": 0.95})
    print(found.set_index("model")[list(SHOWN)].round(2).to_string())
    first = samples[chosen[0]]
    print(first[[c for c in first if c.endswith(("words", "characters"))]].sum().to_string())


if __name__ == "__main__":
    main()
