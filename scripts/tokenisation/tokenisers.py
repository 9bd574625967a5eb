"""A tokeniser as data: token counts and the character spans of tokens, nothing executed.

Reads the `tokenizer.json` of a model, from a local file or folder or from the hub. No code of a
model repository is ever run: the Rust `tokenizers` library interprets the file. Counts are counts
of ids: byte-level tokenisers may give several tokens the same character, so that the surface slices
do not add up.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tokenizers import Tokenizer

from scripts.files import DataError

FILE_NAME = "tokenizer.json"
#: The hub answered, and has nothing for us.
ABSENT = (
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    GatedRepoError,
    RevisionNotFoundError,
)
#: What determines the pieces of a text without special tokens.
DETERMINING_PARTS = ("normalizer", "pre_tokenizer", "model")


class TokeniserUnavailableError(RuntimeError):
    """The model has no readable tokeniser; it is left out, with this message as the note."""


@dataclass(frozen=True)
class Tokeniser:
    """A loaded tokeniser. `fingerprint` is equal for tokenisers that cut text in the same way."""

    name: str
    fingerprint: str
    backend: Any

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Number of token ids of each text, without special tokens; 0 for the empty text."""
        encoded = self.backend.encode_batch(list(texts), add_special_tokens=False)
        return [len(entry.ids) for entry in encoded]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of each token in code points of `text`; start == end for a token that shows
        no character (an inserted space), equal spans for the bytes of one character."""
        entry = self.backend.encode(text, add_special_tokens=False)
        return [(int(start), int(end)) for start, end in entry.offsets]


def fingerprint(description: str) -> str:
    """16 hexadecimal digits over the parts of a tokenizer.json that determine the pieces."""
    parts = json.loads(description)
    chosen = {name: parts.get(name) for name in DETERMINING_PARTS}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]


def from_description(name: str, description: str) -> Tokeniser:
    """A tokeniser from the text of its tokenizer.json; DataError when it is none."""
    try:
        backend = Tokenizer.from_str(description)
        mark = fingerprint(description)
    except Exception as error:  # the library raises bare Exception
        raise DataError(
            f"{name}: not a tokenizer.json ({str(error)[:200]}); get the file again"
        ) from error
    backend.no_truncation()
    backend.no_padding()
    return Tokeniser(name, mark, backend)


def load_file(path: Path | str) -> Tokeniser:
    """A tokeniser from a tokenizer.json (also gzipped), or from the folder that holds one.

    Raises DataError for a broken file, TokeniserUnavailableError when there is no file.
    """
    path = Path(path)
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        raise TokeniserUnavailableError(f"{file}: no such file")
    data = file.read_bytes()
    try:
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read as text ({error}); get the file again") from error
    return from_description(str(file), text)


def load_hub(repository: str, revision: str | None = None) -> Tokeniser:
    """A tokeniser from the hub: downloads `tokenizer.json` of a repository, and nothing else.

    Raises TokeniserUnavailableError when the repository has no such file or is not public, and
    DataError when the hub cannot be reached (the run can be repeated then).
    """
    try:
        path = hf_hub_download(repository, FILE_NAME, revision=revision)
    except ABSENT as error:
        raise TokeniserUnavailableError(
            f"{repository}: no public {FILE_NAME} on the hub ({type(error).__name__})"
        ) from error
    except (LocalEntryNotFoundError, OSError) as error:
        raise DataError(
            f"{repository}: the hub cannot be reached ({type(error).__name__}); run again, or set "
            "the model's tokenizer to {file: PATH} or none"
        ) from error
    return load_file(path)


def tokeniser_of(entry: Mapping[str, Any], files: Sequence[str]) -> Tokeniser:
    """The tokeniser that a roster entry names.

    `entry`: source, revision, tokenizer (`hub`, `same`, `none`, `{hub: ID}`, `{file: PATH}`);
    `files`: local tokenizer.json, given for `same` and `{file: PATH}`. The hub is asked only where
    the entry says so. Raises TokeniserUnavailableError where there is none.
    """
    wanted = entry.get("tokenizer", "none")
    if files:
        return load_file(files[0])
    if wanted == "hub":
        return load_hub(str(entry["source"]), entry.get("revision"))
    if isinstance(wanted, Mapping) and "hub" in wanted:
        return load_hub(str(wanted["hub"]))
    raise TokeniserUnavailableError(f"tokenizer {wanted!r}: no local file and no hub repository")
