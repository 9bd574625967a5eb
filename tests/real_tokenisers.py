"""The real tokenisers of the published tables, where they are at hand; each is read once."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from scripts.tokenisation.tokenisers import Tokeniser, load_file

FOLDER = Path(__file__).parents[1] / "../shared/data/tokenizers"
NEEDED = pytest.mark.skipif(not FOLDER.is_dir(), reason="no tokeniser files")


class DecodedTokeniser(Tokeniser):
    """A tokenizer.json of an OpenAI encoding, treated as the released script treats tiktoken."""

    decodes_alone = True


@cache
def real(name: str) -> Tokeniser:
    """The tokeniser of a file; `decoded:` before the name for the treatment of tiktoken."""
    loaded = load_file(FOLDER / f"{name.removeprefix('decoded:')}.json.gz")
    if not name.startswith("decoded:"):
        return loaded
    return DecodedTokeniser(**{part.name: getattr(loaded, part.name) for part in fields(loaded)})
