"""Reading raw corpora: word lists, palindrome lists, prose.

One function per `reader` of the corpora in config.yaml.

What leaves this module is clean: words are case-folded ASCII letters, documents have one space
between words and a length inside the band asked for.
"""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.files import DataError, iterate_jsonl

_WORD = re.compile(r"[a-z]+\Z")
# The largest corpus is 2.5 MB unpacked; a member that grows beyond this is not a word list.
_UNPACKED_LIMIT = 64 << 20
NLTK_MEMBERS = ("words/en", "words/en-basic")


@dataclass(frozen=True)
class Document:
    """One passage of prose: `document_id` is unique, `text` has single spaces between words."""

    document_id: str
    title: str
    text: str


def _text_lines(data: bytes, where: str) -> list[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 text ({error}); fetch the file again") from error
    return [line.strip() for line in text.split("\n") if line.strip()]


def read_word_list(path: Path | str) -> list[str]:
    """Lines of a text file, plain or gzip (by its name), stripped, without the empty ones."""
    path = Path(path)
    if path.suffix != ".gz":
        return _text_lines(path.read_bytes(), str(path))
    try:
        with gzip.open(path, "rb") as handle:
            data = handle.read(_UNPACKED_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a whole gzip file ({error}); fetch it again") from error
    if len(data) > _UNPACKED_LIMIT:
        raise DataError(f"{path}: unpacks to more than {_UNPACKED_LIMIT} bytes; not a word list")
    return _text_lines(data, str(path))


def read_nltk_words(path: Path | str, entries: int | None = None) -> list[str]:
    """Words of NLTK's words.zip: `en` and then `en-basic`, as the NLTK reader counts them.

    `entries`: the number of lines that must come out (236,736 for the published archive);
    another number is a DataError.
    """
    words: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            for member in NLTK_MEMBERS:
                if archive.getinfo(member).file_size > _UNPACKED_LIMIT:
                    raise DataError(f"{path}, {member}: larger than {_UNPACKED_LIMIT} bytes")
                words.extend(_text_lines(archive.read(member), f"{path}, {member}"))
    except (zipfile.BadZipFile, KeyError, zlib.error) as error:
        raise DataError(f"{path}: not NLTK's words.zip ({error}); fetch it again") from error
    if entries is not None and len(words) != entries:
        raise DataError(f"{path}: {len(words)} entries, expected {entries}; fetch it again")
    return words


def read_words(path: Path | str, reader: str, entries: int | None = None) -> list[str]:
    """Raw entries of a word corpus by the name of its reader.

    Readers: `word_list`, `nltk_words`, `palindrome_list`. `entries`, where given, is the number
    that must come out. Raises DataError for another number and for an unknown reader.
    """
    if reader == "nltk_words":
        return read_nltk_words(path, entries)
    readers = {"word_list": read_word_list, "palindrome_list": read_palindromes}
    if reader not in readers:
        known = ", ".join(sorted([*readers, "nltk_words"]))
        raise DataError(f"{path}: no reader {reader!r} for words; use one of {known}")
    words = readers[reader](path)
    if entries is not None and len(words) != entries:
        raise DataError(f"{path}: {len(words)} entries, expected {entries}; restore the file")
    return words


def vocabulary(words: Iterable[str], length: Sequence[int]) -> list[str]:
    """Sorted distinct words: case-folded, only the letters a-z, `length[0]` to `length[1]` letters.

    Case is folded because the tasks are defined without it (paper A.2), entries with apostrophes,
    hyphens or accents are left out because the random strings hold only a-z (paper A.1.2).
    """
    low, high = length
    folded = {word.casefold() for word in words}
    return sorted(word for word in folded if low <= len(word) <= high and _WORD.match(word))


def is_palindrome(text: str) -> bool:
    """Whether a text reads the same backwards once case is folded."""
    folded = text.casefold()
    return folded == folded[::-1]


def palindromes(words: Iterable[str], length: Sequence[int]) -> list[str]:
    """The palindromes among the words, cleaned and sorted as by `vocabulary`."""
    return [word for word in vocabulary(words, length) if is_palindrome(word)]


def read_palindromes(path: Path | str) -> list[str]:
    """A list file with one palindrome a line, `#` starts a comment; another line is a DataError.

    Phrases are allowed in the file (only letters count); single words are what the task uses.
    """
    out: list[str] = []
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text ({error}); save it as UTF-8") from error
    for number, line in enumerate(text.split("\n"), start=1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        letters = "".join(c for c in word.casefold() if c.isalnum())
        if not letters or letters != letters[::-1]:
            raise DataError(f"{path}, line {number}: {word!r} is no palindrome; remove it")
        out.append(word)
    return out


def excerpts(text: str, words: Sequence[int], limit: int = 1) -> list[str]:
    """Passages of `words[0]` to `words[1]` words: the whole text where it fits, else paragraphs.

    Paragraphs (separated by line ends) are joined in order until the lower bound is reached; a
    passage that overshoots the upper bound is skipped. At most `limit` passages; any run of white
    space becomes one space, so that a code-point offset never falls on layout.
    """
    low, high = words
    if low <= len(text.split()) <= high:
        return [" ".join(text.split())]
    found: list[str] = []
    collected: list[str] = []
    for paragraph in text.split("\n"):
        collected.extend(paragraph.split())
        if len(collected) < low:
            continue
        if len(collected) <= high:
            found.append(" ".join(collected))
        collected = []
        if len(found) == limit:
            break
    return found


def read_documents(path: Path | str, words: Sequence[int], limit: int = 1) -> list[Document]:
    """Passages of a JSONL file with `id`, `title`, `text` per row, inside the band of words.

    A row gives at most `limit` passages (`id`, then `id#2`, ...). Rows without a passage in the
    band are left out; none at all, a missing field or a repeated id is a DataError.
    """
    out: list[Document] = []
    seen: set[str] = set()
    for number, row in iterate_jsonl(path):
        fields = [row.get(name) for name in ("id", "title", "text")]
        if not all(isinstance(value, str) and value for value in fields):
            raise DataError(f"{path}, line {number}: needs the texts id, title and text")
        name, title, text = (str(value) for value in fields)
        if name in seen:
            raise DataError(f"{path}, line {number}: the id {name!r} stands twice")
        seen.add(name)
        for index, passage in enumerate(excerpts(text, words, limit), start=1):
            suffix = f"#{index}" if index > 1 else ""
            out.append(Document(name + suffix, title, passage))
    if not out:
        raise DataError(f"{path}: no passage of {words[0]} to {words[1]} words")
    return out
