"""The file of a release: a gzipped tar that has the same bytes whenever and wherever it is written.

A release that is unpacked may come from anybody: it holds plain files of one folder and nothing
else, and every one of them is listed in SHA256SUMS with its checksum.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.files import DataError, atomic_write, read_json, sha256_file
from scripts.publishing.paper import EPOCH
from scripts.workflow.release.given import FACTS, FILES

SUMS = "SHA256SUMS"
#: Version of the layout; a release of another one is refused.
FORMAT = 1
Content = Path | bytes
# What single facts must look like: they name folders, and are printed.
_TEXTS = {
    "results": r"results(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*",
    "commit": r"[0-9a-f]{7,64}|None",
    "version": r"[\w.+-]{1,40}",
    "base": r"[0-9a-f]{64}",
    "code": r"[0-9a-f]{64}",
}
_SUM = re.compile(r"([0-9a-f]{64})  (\S.*)")


def checksum(content: Content) -> str:
    """Hexadecimal SHA-256 of a file, or of bytes."""
    if isinstance(content, Path):
        return sha256_file(content)
    return hashlib.sha256(content).hexdigest()


def as_json(value: object) -> bytes:
    """A value as an indented JSON file with sorted keys."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def write(path: Path, folder: str, members: Mapping[str, Content]) -> None:
    """Write members (name in the folder to content) and their checksums as one file, atomically."""
    lines = [f"{checksum(members[name])}  {name}\n" for name in sorted(members)]
    whole: dict[str, Content] = {**members, SUMS: "".join(lines).encode()}
    with (
        atomic_write(path, "wb") as handle,
        gzip.GzipFile(filename="", mode="wb", fileobj=handle, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(whole):
            _add(archive, f"{folder}/{name}", whole[name])


def _add(archive: tarfile.TarFile, name: str, content: Content) -> None:
    """One member without owner, and with one time and mode for all."""
    entry = tarfile.TarInfo(name)
    entry.mtime, entry.mode = EPOCH, 0o644
    if isinstance(content, bytes):
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    else:
        entry.size = content.stat().st_size
        with content.open("rb") as handle:
            archive.addfile(entry, handle)


def unpack(path: Path, folder: Path) -> None:
    """Unpack a release as `folder` (replaced where it is there) once it is verified.

    Raises DataError for what is no release, is not whole, or was altered; then nothing is changed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking.") as place:
        inner = _extract(path, Path(place))
        verify(inner)
        if folder.exists():
            shutil.rmtree(folder)
        inner.rename(folder)


def check(path: Path) -> dict[str, Any]:
    """Verify a release without keeping what is in it; its facts."""
    with tempfile.TemporaryDirectory() as place:
        return verify(_extract(path, Path(place)))


def _extract(path: Path, place: Path) -> Path:
    """Extract a release's members; the folder that holds all of them."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; give the release that make release wrote")
    try:
        with tarfile.open(path, "r:gz") as archive:
            members = archive.getmembers()
            top = _top(path, members)
            _refuse_larger_than_room(path, members, place)
            archive.extractall(place, members, filter="data")
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(
            f"{path}: not a release, or not whole ({error}); download it again"
        ) from error
    return place / top


def _top(path: Path, members: list[tarfile.TarInfo]) -> str:
    """The one folder of all members; DataError for a name or a kind that a release never has."""
    tops, seen = set(), set()
    for member in members:
        parts = PurePosixPath(member.name).parts
        # A sparse file of a few bytes can claim any size.
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.sparse is not None:
            raise DataError(
                f"{path}: {member.name!r} is no plain file (a link, a device, a folder)"
            )
        unsafe = member.name.startswith("/") or {"..", "."} & {*member.name.split("/")}
        if unsafe or "\\" in member.name or len(parts) < 2:
            raise DataError(f"{path}: {member.name!r} would be written outside of the release")
        if member.name.casefold() in seen:
            raise DataError(f"{path}: {member.name!r} stands twice")
        seen.add(member.name.casefold())
        tops.add(parts[0])
    if len(tops) != 1:
        raise DataError(f"{path}: holds {len(tops)} folders; a release is one")
    return str(tops.pop())


def _refuse_larger_than_room(path: Path, members: list[tarfile.TarInfo], place: Path) -> None:
    size, room = sum(member.size for member in members), shutil.disk_usage(place).free
    if size > room:
        raise DataError(
            f"{path}: unpacked it has {size:,} bytes, and {place.parent} has room for {room:,}"
        )


def verify(folder: Path) -> dict[str, Any]:
    """The facts of an unpacked release; DataError names the first file that is not as listed."""
    facts = _facts(folder)
    listed = dict(_listed(folder / SUMS))
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {SUMS}
    for name in sorted(listed.keys() | there):
        if name not in there:
            raise DataError(f"{folder.name}/{name}: listed in {SUMS}, but not there")
        if name not in listed:
            raise DataError(f"{folder.name}/{name}: not listed in {SUMS}")
        if sha256_file(folder / name) != listed[name]:
            raise DataError(f"{folder.name}/{name}: not the bytes that were released (checksum)")
    for name, known in facts["given"].items():
        if listed.get(f"{FILES}/{name}") != known:
            raise DataError(f"{folder.name}/{FACTS}: gives {name}, which is not in the release")
    return facts


def _facts(folder: Path) -> dict[str, Any]:
    """What release.json says; DataError where it is none of this version."""
    path = folder / FACTS
    if not path.is_file():
        raise DataError(f"{folder.name}: holds no {FACTS}; this is no release")
    facts = read_json(path)
    version = facts.get("format") if isinstance(facts, dict) else None
    if version != FORMAT:
        raise DataError(
            f"{folder.name}/{FACTS}: format {version!r}, this version reads {FORMAT}; "
            "use the version of the project that the release names"
        )
    for key, pattern in _TEXTS.items():
        if not re.fullmatch(pattern, str(facts.get(key))):
            raise DataError(f"{folder.name}/{FACTS}: {key} is {facts.get(key)!r}")
    for key in ("given", "remade", "answers"):
        entries = facts.get(key)
        if not isinstance(entries, dict) or not all(map(_is_entry, entries.items())):
            raise DataError(f"{folder.name}/{FACTS}: {key} must map paths to checksums")
    made = facts.get("origins")
    given = {f"{facts.get('results')}/{name}" for name in facts["given"]}
    known = isinstance(made, dict) and made.keys() == given
    if not known or not all(map(_is_origin, made.values())):
        raise DataError(f"{folder.name}/{FACTS}: origins must tell how every given file was made")
    return dict(facts)


def _is_origin(origin: object) -> bool:
    return (
        isinstance(origin, dict)
        and isinstance(origin.get("rule"), str)
        and isinstance(origin.get("inputs"), dict)
    )


def _is_entry(entry: tuple[object, object]) -> bool:
    name, known = entry
    parts = PurePosixPath(str(name)).parts
    safe = isinstance(name, str) and parts and ".." not in parts and not name.startswith("/")
    return bool(safe and re.fullmatch(r"[0-9a-f]{64}", str(known)))


def _listed(path: Path) -> Iterator[tuple[str, str]]:
    """(name, checksum) of every line of SHA256SUMS."""
    if not path.is_file():
        raise DataError(f"{path.parent.name}: holds no {SUMS}; this is no release")
    # Bytes that are no text stay in a line that is then refused, or names a file that is not there.
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, start=1):
        found = _SUM.fullmatch(line)
        if found is None:
            raise DataError(f"{path.parent.name}/{SUMS}, line {number}: no checksum and name")
        yield found[2], found[1]
