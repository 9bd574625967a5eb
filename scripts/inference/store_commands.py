"""Commands for response stores: `python -m scripts.inference.store verify|compact|merge PATH…`.

PATH is a store file, or a folder of which every store file is taken. `verify` reads every line and
tells all that is wrong; the exit status is 1 where a run would refuse the store. With `--repair`
bad lines go to `<name>.rejected` beside the file, so that their answers are generated again and
nothing is lost silently. `compact` drops errors that were answered later and repeated answers.
`merge` does the same and puts the segments of a split run (`<mode>.<shard>.jsonl`) into its one
file, `<mode>.jsonl`, in the order of the keys: the same answers give the same bytes, however many
jobs gave them.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scripts.files import DataError, atomic_write, sync_path
from scripts.inference.interface import MODES
from scripts.inference.store import (
    Contents,
    Line,
    StoreError,
    locked,
    read_file,
    read_lines,
    store_files,
    take_segment,
    writing,
)

REJECTED = ".rejected"
# Lines that are shown of each file; the rest is counted.
SHOWN = 20
# Files below a folder of stores that are read by others, by the end of their name.
OTHERS = {
    ".vectors": "kept vectors, see `python -m scripts.retrieval.cache_commands verify`",
    "spending.jsonl": "the ledger, see `python -m scripts.inference.spending report`",
    REJECTED: "lines that were moved aside",
}


@dataclass
class Findings:
    """What `verify` found in one store file; `bad` are (line number, what is wrong with it)."""

    path: Path
    lines: int = 0
    answered: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    bad: list[tuple[int, str]] = field(default_factory=list)
    torn: int = 0

    def describe(self) -> str:
        """One line of counts and one for everything that is wrong."""
        keys = len(self.answered | self.failed)
        counts = (
            f"{self.path}: {self.lines} lines, {len(self.answered)} answers, "
            f"{len(self.failed - self.answered)} still in error, "
            f"{self.lines - len(self.bad) - keys} superseded or repeated"
        )
        notes = [f"  line {number}: {problem}" for number, problem in self.bad[:SHOWN]]
        if len(self.bad) > SHOWN:
            notes.append(f"  and {len(self.bad) - SHOWN} more bad lines")
        if self.torn:
            notes.append(
                f"  the last line is cut ({self.torn} bytes), or is being written: its answer is "
                "generated again"
            )
        return "\n".join([counts, *notes])


def examine(group: Sequence[Path]) -> list[Findings]:
    """What the files of one store (`<mode>.jsonl` and its shards) hold, file by file.

    An answer that contradicts one in an earlier line or file is a bad line.
    """
    whole = Contents()
    found = []
    for path in group:
        findings = Findings(path)
        for line in read_lines(path):
            _take_in(line, findings, whole)
        found.append(findings)
    return found


def _take_in(line: Line, findings: Findings, whole: Contents) -> None:
    if line.torn:
        findings.torn = len(line.content)
        return
    findings.lines += 1
    problem = line.problem
    if not problem:
        try:
            whole.add(line.key, line.stored, findings.path, line.number)
        except StoreError:
            first, number = whole.origin[line.key]
            problem = f"a different answer to the same question than {first}, line {number}"
    if problem:
        findings.bad.append((line.number, problem))
    else:
        (findings.failed if "error" in line.stored else findings.answered).add(line.key)


def repair(path: Path, bad: Iterable[int]) -> Path:
    """Move the lines with these numbers, and a torn last line, to `<name>.rejected`; return it.

    The side file is on the disk before the store is replaced. The caller holds the store's lock.
    """
    path = path.resolve()
    aside = path.with_name(path.name + REJECTED)
    numbers = set(bad)
    with writing(path), aside.open("ab") as rejected, atomic_write(path, "wb") as kept:
        for line in read_lines(path):
            to = rejected if line.torn or line.number in numbers else kept
            to.write(line.bare + b"\n")
        rejected.flush()
        os.fsync(rejected.fileno())
    return aside


def compact(path: Path | str) -> Contents:
    """Rewrite one store file without errors that were answered later and without duplicates.

    Keeps the order of the lines, which stand as they were, and leaves shards as they are. Returns
    what the file held before. A bad line is a StoreError; then the file stays as it is.
    """
    path = Path(path).resolve()
    if not path.is_file():
        raise StoreError(f"{path}: no such store file")
    with locked(path):
        contents = Contents()
        read_file(path, contents)
        kept = {number for _, number in contents.origin.values()}
        with writing(path), atomic_write(path, "wb") as handle:
            for line in read_lines(path):
                if line.number in kept:
                    handle.write(line.bare + b"\n")
    return contents


# A store file of a run, with its number if it is a segment. A judge's name may end in a number too.
_OF_A_RUN = re.compile(rf"((?:{'|'.join(MODES)})(?:\.[a-z]+)?)(?:\.(\d+))?\.jsonl")


def segments(path: Path) -> tuple[Path, list[Path]]:
    """The one file of a run and its segments, given any of them, by their number.

    Raises StoreError for a name that is not of a run's store.
    """
    name = _OF_A_RUN.fullmatch(path.name)
    if name is None:
        raise StoreError(f"{path}: not the store of a run, which is named after its mode")
    numbers = {}
    for file in path.parent.glob(f"{name[1]}.*.jsonl"):
        found = _OF_A_RUN.fullmatch(file.name)
        if found and found[1] == name[1] and found[2]:
            numbers[int(found[2])] = file
    return path.with_name(f"{name[1]}.jsonl"), [numbers[number] for number in sorted(numbers)]


def merge(path: Path | str) -> tuple[Path, Contents]:
    """Put the segments of a run into its one file and remove them; returns it and what they held.

    The file is on the disk before the segments go, so a crash leaves each answer at least once.
    Answers, and errors that nothing superseded, stand as they were, ordered by key; of two equal
    answers the first stays (the one file before segments, these by number). Raises StoreError while
    a run writes any of the files, and for a bad line; then all stay as they are.
    """
    whole, parts = segments(Path(path).resolve())
    if not parts and not whole.is_file():
        raise StoreError(f"{path}: no such store file")
    lock = take_segment(whole, "merge")
    try:
        # Who held the lock before may have added files, and `whole` itself.
        parts = segments(whole)[1]
        files = [file for file in (whole, *parts) if file.is_file()]
        contents = Contents()
        lines: dict[tuple[Path, int], bytes] = {}
        for file in files:
            read_file(file, contents)
            lines.update(((file, line.number), line.bare) for line in read_lines(file))
        with writing(whole):
            with atomic_write(whole, "wb") as handle:
                for key in sorted(contents.answers):
                    handle.write(lines[contents.origin[key]] + b"\n")
            sync_path(whole.parent)
            for file in parts:
                file.unlink()
    finally:
        lock.release()
    return whole, contents


def _files_below(folder: Path) -> Iterator[Path]:
    """Files of a folder and of folders in it, linked ones too, each folder once."""
    seen = set()
    for root, folders, files in os.walk(folder, followlinks=True):
        if (real := Path(root).resolve()) in seen:
            folders.clear()
            continue
        seen.add(real)
        yield from (path for name in files if (path := Path(root, name)).is_file())


def _store_files(given: Path) -> Iterator[Path]:
    """The store files of a path; those that others read are named and passed over.

    StoreError for a file of any other kind, of which `--repair` would leave nothing.
    """
    if given.is_dir():
        files = sorted(_files_below(given))
    elif given.suffix == ".jsonl" or given.name.endswith(tuple(OTHERS)) or not given.exists():
        files = [given]
    else:
        raise StoreError(f"{given}: no store file, which ends in .jsonl")
    found = False
    for file in files:
        other = next((what for end, what in OTHERS.items() if file.name.endswith(end)), None)
        if other is not None:
            print(f"{file}: passed over ({other})")
        elif file == given or file.suffix == ".jsonl":
            found = True
            yield file
    if given.is_dir() and not found:
        print(f"{given}: no store file in it")


def verify(given: Path, mend: bool) -> bool:
    """Print what the stores of a path hold; True when a run would refuse none of them."""
    files = list(_store_files(given))
    # A file that was named alone is still compared with its shards.
    groups = {tuple(store_files(file)) or (file,): None for file in files}
    found = [_verify_group(group, mend) for group in groups]
    if len(found) > 1:
        print(f"{len(found)} stores, {found.count(False)} that a run would refuse")
    return all(found)


def _verify_group(group: Sequence[Path], mend: bool) -> bool:
    """Print what the files of one store hold, and mend them if asked."""
    fine = True
    with ExitStack() as stack, told() as problems:
        if mend:
            for path in group:
                stack.enter_context(locked(path.resolve()))
        for findings in examine(group):
            print(findings.describe())
            if mend and (findings.bad or findings.torn):
                aside = repair(findings.path, (number for number, _ in findings.bad))
                print(f"  moved to {aside}")
            elif findings.bad:
                fine = False
    return fine and not problems


@contextmanager
def told() -> Iterator[list[Exception]]:
    """Print an error that names its file, and go on; the list then holds it."""
    problems: list[Exception] = []
    try:
        yield problems
    except (OSError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        problems.append(error)


def compact_all(given: Path) -> bool:
    """Compact every store file of a path and print what it held before; True when all went well."""
    fine = True
    for file in _store_files(given):
        with told() as problems:
            before = file.stat().st_size
            contents = compact(file)
            print(
                f"{file}: {contents.lines} lines, {contents.duplicates} superseded or repeated "
                f"dropped; {before} bytes, now {file.stat().st_size}"
            )
        fine &= not problems
    return fine


def merge_all(given: Path) -> bool:
    """Merge the segments of every run of a path and print what they held."""
    done = set()
    for file in _store_files(given):
        if given.is_dir():
            name = _OF_A_RUN.fullmatch(file.name)
            if name is None or name[2] is None:
                continue
        if (whole := segments(file)[0]) not in done:
            done.add(whole)
            merged, contents = merge(file)
            number = len(contents.whole.keys() - {merged})
            print(
                f"{whole}: {len(contents.answers)} answers of {contents.lines} lines, "
                f"{number} segments merged into it"
            )
    return True


def main(arguments: list[str] | None = None) -> int:
    """Run a command; exit status 1 where something is wrong and was not mended."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.inference.store",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("verify", help="read every line and tell what is wrong")
    checking.add_argument("--repair", action="store_true", help="move bad lines aside")
    rewriting = commands.add_parser("compact", help="drop what is superseded or repeated")
    merging = commands.add_parser("merge", help="put the segments of a split run into one file")
    for command in (checking, rewriting, merging):
        command.add_argument("path", type=Path, nargs="+")
    chosen = parser.parse_args(arguments)
    fine = True
    for given in chosen.path:
        with told() as problems:
            if chosen.command == "verify":
                fine &= verify(given, chosen.repair)
            elif chosen.command == "compact":
                fine &= compact_all(given)
            else:
                fine &= merge_all(given)
        fine &= not problems
    return 0 if fine else 1
