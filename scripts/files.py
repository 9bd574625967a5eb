"""Reading that trusts nothing and writing that leaves no half file.

JSONL is split on the newline byte only (a U+2028 inside an answer is text, not a line end), keys
are sorted and text is ASCII-escaped, so the same rows give the same bytes.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from scripts.records import Record, RecordError

R = TypeVar("R", bound=Record)
# What the system says of a write without saying of which file.
_NAMELESS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
# Seconds after which an unfinished file that nobody holds is taken for a killed run's: a writer may
# have made it and not locked it yet.
_LEFT_BEHIND_S = 2.0


# How a file begins that was saved as UTF-16 ("Unicode" in some editors).
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class DataError(ValueError):
    """A file holds something that it must not; the message names file, row and remedy."""


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"duplicate key {key!r}")
        out[key] = value
    return out


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def parse_json(text: str | bytes) -> Any:
    """Strict JSON: duplicate keys and NaN/Infinity raise ValueError instead of passing silently."""
    return json.loads(
        text, object_pairs_hook=_reject_duplicate_keys, parse_constant=_reject_constant
    )


def dump_line(row: dict[str, Any]) -> bytes:
    """One JSONL line, newline included."""
    return (
        json.dumps(row, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(", ", ": "))
        + "\n"
    ).encode("ascii")


def iterate_jsonl(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of a JSONL file.

    Raises DataError naming file and line for a line that is not one JSON object. A last line
    without a newline is read where its object is whole: editors leave it so.
    """
    path = Path(path)
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            where = f"{path}, line {number}"
            if number == 1 and line.startswith(_UTF16_MARKS):
                raise DataError(f"{path}: UTF-16 text; save it as UTF-8")
            try:
                row = parse_json(line)
            except ValueError as error:
                if not line.endswith(b"\n"):
                    raise DataError(
                        f"{where}: the last line is cut off; complete it, or build or fetch the "
                        "file again"
                    ) from error
                raise DataError(
                    f"{where}: not valid JSON ({error}); correct or remove it"
                ) from error
            if not isinstance(row, dict):
                raise DataError(f"{where}: expected a JSON object, found {type(row).__name__}")
            yield number, row


def read_records(path: Path | str, kind: type[R]) -> list[R]:
    """All rows of a JSONL file as records of one kind; a bad row is a DataError naming it."""
    out: list[R] = []
    for number, row in iterate_jsonl(path):
        try:
            out.append(kind.from_json(row))
        except (RecordError, TypeError) as error:
            raise DataError(
                f"{path}, line {number}: {error}; correct the row, or delete the file where a rule "
                "builds it"
            ) from error
    return out


def write_records(path: Path | str, records: Iterable[Record]) -> None:
    """Write records as JSONL in the order given, atomically."""
    with atomic_write(path, "wb") as handle:
        for record in records:
            handle.write(dump_line(record.to_json()))


@contextmanager
def atomic_write(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`; on success fsync it and rename it into place.

    On any error the temporary file is removed and what stood at `path` stays as it was. The name is
    on the disk when this returns. What a killed run left of an earlier try is removed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with suppress(OSError):  # The lock says that the writer lives; it goes with the writer.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text_options = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
        with os.fdopen(descriptor, mode, **text_options) as handle:  # type: ignore[call-overload]
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
        sync_path(path.parent)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None and error.errno in _NAMELESS:
            error.filename = str(path)
        raise


def _clear_leftovers(path: Path) -> None:
    """Remove temporary files of `path` whose writer is gone: no lock on them, and not new."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}")
    for entry in os.scandir(path.parent):
        if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            with suppress(OSError), open(entry.path, "rb") as handle:  # noqa: PTH123
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - os.fstat(handle.fileno()).st_mtime > _LEFT_BEHIND_S:
                    Path(entry.path).unlink()


def sync_path(path: Path | str) -> None:
    """Return when a file's bytes, or a folder's names, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path | str, text: str) -> None:
    """Write a UTF-8 text file atomically with newline line ends."""
    with atomic_write(path) as handle:
        handle.write(text)


def write_json(path: Path | str, value: Any) -> None:
    """Write an indented JSON file with sorted keys, atomically; NaN is an error."""
    write_text(
        path,
        json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n",
    )


def read_json(path: Path | str) -> Any:
    """Read a JSON file strictly; errors name the file."""
    path = Path(path)
    try:
        return parse_json(path.read_bytes())
    except ValueError as error:
        raise DataError(f"{path}: not valid JSON ({error})") from error


def sha256_file(path: Path | str, chunk: int = 1 << 20) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as handle:
        while block := handle.read(chunk):
            digest.update(block)
    return digest.hexdigest()


def write_csv(path: Path | str, frame: Any) -> None:
    """Write a pandas frame as CSV with `\\n` line ends and no index; floats keep repr precision."""
    with atomic_write(path) as handle:
        frame.to_csv(handle, index=False, lineterminator="\n")


def read_csv(path: Path | str, columns: Iterable[str] = (), **options: Any) -> Any:
    """Read a CSV written by `write_csv`. Only the empty string is missing ("None" is text).

    Raises DataError naming the file when it is empty, lacks one of `columns`, or is no CSV in
    UTF-8.
    """
    import pandas as pd  # noqa: PLC0415 - a heavy import that most readers do not need

    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], **options)
    except pd.errors.EmptyDataError:
        raise DataError(
            f"{path}: empty, not even a header; delete it where a rule builds it, else restore it"
        ) from None
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"{path}: no CSV in UTF-8 ({reason}); build it again or restore it"
        ) from error
    lost = [name for name in columns if name not in frame.columns]
    if lost:
        raise DataError(
            f"{path}: no column {', '.join(lost)}; add it (the first row is the header)"
        )
    return frame


def read_yaml(path: Path | str) -> Any:
    """Read a YAML file of plain values; DataError names file and line of what is none."""
    import yaml  # noqa: PLC0415 - most readers do not need it

    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark is not None else ""
        reason = " ".join(str(getattr(error, "problem", None) or error).split())
        raise DataError(f"{path}: not valid YAML in UTF-8 ({line}{reason}); correct it") from error


def iterate_csv(path: Path | str, columns: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number from 1, cells by column) of a CSV file that people wrote.

    UTF-8, with or without a byte order mark; the header is the first line, blank lines are skipped,
    and a row is numbered by the line on which it begins. Raises DataError naming file and row for
    a header that lacks one of `columns` or names a column twice, a row of more or fewer cells, and
    anything that is no CSV in UTF-8.
    """
    end = 0
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as handle:
            reader = csv.reader(handle, strict=True)
            header = next(reader, [])
            lost = [name for name in columns if name not in header]
            if lost or len(set(header)) < len(header):
                problem = f"no column {', '.join(lost)}" if lost else "a column stands twice"
                raise DataError(f"{path}, row 1: {problem} in the header {header}; correct it")
            end = reader.line_num
            for cells in reader:
                start, end = end + 1, reader.line_num
                if cells and len(cells) != len(header):
                    raise DataError(
                        f"{path}, row {start}: {len(cells)} cells, expected {len(header)}; quote "
                        "cells that hold commas"
                    )
                if cells:
                    yield start, dict(zip(header, cells, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(
            f"{path}, row {end + 1} or later: no CSV in UTF-8 ({error}); correct or save it again"
        ) from error


def write_parquet(path: Path | str, frame: Any) -> None:
    """Write a pandas frame as Parquet, atomically and with the same bytes for the same frame."""
    import pyarrow as pa  # noqa: PLC0415 - a heavy import that most readers do not need
    import pyarrow.parquet as pq  # noqa: PLC0415 - a heavy import that most readers do not need

    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    with atomic_write(path, "wb") as handle:
        pq.write_table(table, handle, compression="zstd")
