"""A tokeniser as data: token counts and the character spans of tokens, nothing executed.

Reads the `tokenizer.json` of a model, from a local file or folder or from the hub, or an encoding
of tiktoken by its name. No code of a model repository is ever run: the Rust `tokenizers` library
interprets the file. Counts are counts of ids: byte-level tokenisers may give several tokens the
same character, so that the surface slices do not add up.

A lone surrogate is no character that any tokeniser knows; it is read as U+FFFD, which leaves every
position as it was.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import tiktoken
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


SURROGATES = re.compile(r"[\ud800-\udfff]")
#: How SentencePiece vocabularies write a space, and a single byte.
SPACE_MARK = "\u2581"
BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text.

    `spelling`: as the vocabulary writes it (with its marks for spaces and bytes; a tiktoken
    encoding has no spelling but the bytes decoded alone). `start`, `end`: code points of the text.
    `content`: the bytes that it stands for; None for the unknown token, which stands for anything.
    """

    spelling: str
    start: int
    end: int
    content: bytes | None


@dataclass(frozen=True)
class Tokeniser:
    """A loaded tokeniser. `fingerprint` is equal for tokenisers that cut text in the same way.

    `byte_level`: the vocabulary is spelled in the alphabet of bytes (GPT-2). `unknown`: the token
    for what the vocabulary lacks.
    """

    name: str
    fingerprint: str
    backend: Any
    byte_level: bool = False
    unknown: str | None = None

    @property
    def decodes_alone(self) -> bool:
        """Whether the vocabulary has no spelling, so that a token is its bytes decoded alone."""
        return False

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Number of token ids of each text, without special tokens; 0 for the empty text."""
        clean = [readable_text(text) for text in texts]
        encoded = self.backend.encode_batch(clean, add_special_tokens=False)
        return [len(entry.ids) for entry in encoded]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of each token in code points of `text`; start == end for a token that shows
        no character (an inserted space), equal spans for the bytes of one character."""
        return [(token.start, token.end) for token in self.tokens(text)]

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text in order, without special tokens."""
        entry = self.backend.encode(readable_text(text), add_special_tokens=False)
        return [
            Token(spelling, int(start), int(end), self._content(spelling))
            for spelling, (start, end) in zip(entry.tokens, entry.offsets, strict=True)
        ]

    def _content(self, spelling: str) -> bytes | None:
        if spelling == self.unknown:
            return None
        if self.byte_level:
            return bytes_of_spelling(spelling)
        byte = BYTE_TOKEN.fullmatch(spelling)
        if byte:
            return bytes([int(byte[1], 16)])
        return spelling.replace(SPACE_MARK, " ").encode()


class EncodingTokeniser(Tokeniser):
    """A tiktoken encoding as a tokeniser; what looks like a special token is plain text."""

    @property
    def decodes_alone(self) -> bool:
        """Always."""
        return True

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Number of token ids of each text."""
        return [len(self.backend.encode_ordinary(readable_text(text))) for text in texts]

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text; a token with a part of a character spans the whole character."""
        clean = readable_text(text)
        character = [n for n, sign in enumerate(clean) for _ in sign.encode()]
        out, position = [], 0
        for number in self.backend.encode_ordinary(clean):
            content = self.backend.decode_single_token_bytes(number)
            start, last = character[position], character[position + len(content) - 1]
            spelling = content.decode("utf-8", "replace")
            out.append(Token(spelling, start, last + 1, content))
            position += len(content)
        return out


def readable_text(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD; no position changes."""
    return SURROGATES.sub("\ufffd", text)


@cache
def byte_alphabet() -> dict[str, int]:
    """The sign for each byte in byte-level vocabularies: printable Latin-1 bytes stand for
    themselves, the others for the signs from U+0100 on, in order (Radford et al. 2019)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(0x100) if byte not in set(printable)]
    signs = {chr(byte): byte for byte in printable}
    return signs | {chr(0x100 + place): byte for place, byte in enumerate(rest)}


@lru_cache(maxsize=1 << 16)
def bytes_of_spelling(spelling: str) -> bytes:
    """The bytes of a byte-level token; an added token is spelled in plain text instead."""
    alphabet = byte_alphabet()
    if all(sign in alphabet for sign in spelling):
        return bytes(alphabet[sign] for sign in spelling)
    return spelling.encode()


def uses_byte_level(part: Any) -> bool:
    """Whether a pre-tokeniser or decoder of a tokenizer.json is, or holds, a byte-level one."""
    if isinstance(part, Mapping):
        return part.get("type") == "ByteLevel" or any(map(uses_byte_level, part.values()))
    return isinstance(part, list) and any(map(uses_byte_level, part))


def unknown_token(model: Mapping[str, Any]) -> str | None:
    """The unknown token of the model part of a tokenizer.json; None where there is none."""
    if isinstance(model.get("unk_id"), int):
        return str(model["vocab"][model["unk_id"]][0])
    token = model.get("unk_token")
    return token if isinstance(token, str) else None


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
        parts = json.loads(description)
        byte_level = uses_byte_level([parts.get("pre_tokenizer"), parts.get("decoder")])
        unknown = unknown_token(parts["model"])
    except Exception as error:  # the library raises bare Exception
        raise DataError(
            f"{name}: not a tokenizer.json ({str(error)[:200]}); get the file again"
        ) from error
    backend.no_truncation()
    backend.no_padding()
    return Tokeniser(name, mark, backend, byte_level, unknown)


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


def from_encoding(encoding: tiktoken.Encoding) -> EncodingTokeniser:
    """A tokeniser from a tiktoken encoding; its fingerprint is over the pattern and the ranks."""
    digest = hashlib.sha256(encoding._pat_str.encode())
    for content, rank in sorted(encoding._mergeable_ranks.items()):
        digest.update(b"%d:%d:%b" % (rank, len(content), content))
    return EncodingTokeniser(encoding.name, digest.hexdigest()[:16], encoding, byte_level=True)


def load_encoding(name: str) -> EncodingTokeniser:
    """A tiktoken encoding by its name (`o200k_base`); its file is fetched once and then cached.

    Raises DataError for a name that tiktoken does not know (never another encoding in its place),
    and TokeniserUnavailableError when the file cannot be fetched.
    """
    if name not in tiktoken.list_encoding_names():
        known = ", ".join(sorted(tiktoken.list_encoding_names()))
        raise DataError(f"tiktoken has no encoding {name!r}; known: {known}")
    try:
        encoding = tiktoken.get_encoding(name)
    except Exception as error:  # requests, OSError, or a ValueError about the file's digest
        raise TokeniserUnavailableError(
            f"tiktoken {name}: its file cannot be fetched ({type(error).__name__}); run again with "
            "network access, or set TIKTOKEN_CACHE_DIR to a folder that holds it"
        ) from error
    return from_encoding(encoding)


def tokeniser_of(entry: Mapping[str, Any], files: Sequence[str]) -> Tokeniser:
    """The tokeniser that a roster entry names.

    `entry`: source, revision, tokenizer (`hub`, `same`, `none`, `{hub: ID}`, `{file: PATH}`,
    `{tiktoken: NAME}`); `files`: local tokenizer.json, given for `same` and `{file: PATH}`. The
    network is asked only where the entry says so. Raises TokeniserUnavailableError where there is
    none.
    """
    wanted = entry.get("tokenizer", "none")
    if files:
        return load_file(files[0])
    if wanted == "hub":
        return load_hub(str(entry["source"]), entry.get("revision"))
    if isinstance(wanted, Mapping) and "hub" in wanted:
        return load_hub(str(wanted["hub"]))
    if isinstance(wanted, Mapping) and "tiktoken" in wanted:
        return load_encoding(str(wanted["tiktoken"]))
    raise TokeniserUnavailableError(f"tokenizer {wanted!r}: no local file and no hub repository")
