"""Pages of the documentation as a reader follows them, from top to bottom.

- A fenced block with a title is a file: it is written. With the language `diff` it is an edit of
  that file: lines that begin with a space or a minus stand in it, once, and are replaced.
- A block `console` holds commands (`$ `, continued after a backslash) and what they print. Without
  a printed line only the exit status counts; else every line is compared, where `…` stands for any
  text, a line of `…` alone for any lines, and blanks for any number of them.
- Every other block is only read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(
    r'^( *)```(\w*)(?: +title="([^"]+)")?[^\n`]*\n(.*?)^\1```$', re.MULTILINE | re.DOTALL
)
ANY = "…"


@dataclass
class Block:
    """One fenced block of a page: its line, language, title and text."""

    line: int
    language: str
    title: str
    text: str


@dataclass
class Command:
    """A command and the lines that the page shows below it."""

    text: str
    shown: list[str] = field(default_factory=list)


class PageError(AssertionError):
    """A page says what is not so."""


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page in their order."""
    out = []
    for match in FENCE.finditer(page):
        indent, language, title, text = match.groups()
        lines = [line.removeprefix(indent) for line in text.splitlines()]
        number = page.count("\n", 0, match.start()) + 1
        out.append(Block(number, language, title or "", "\n".join(lines) + "\n"))
    return out


def commands(text: str) -> list[Command]:
    """The commands of a console block, each with what is shown of its output."""
    out: list[Command] = []
    lines = iter(text.rstrip("\n").split("\n"))
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            out.append(Command(command))
        elif not out:
            raise PageError(f"a console block begins with a command, not with {line!r}")
        else:
            out[-1].shown.append(line)
    return out


def squeezed(text: str) -> str:
    """A text whose lines have single blanks within and none around: columns differ in width."""
    return "\n".join(re.sub(r"[ \t]+", " ", line).strip() for line in text.split("\n"))


def as_pattern(shown: list[str]) -> re.Pattern[str]:
    """What the output of a command must look like, with `…` for anything."""
    parts = []
    for line in shown:
        if line.strip() == ANY:
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(map(re.escape, squeezed(line).split(ANY))) + "\n")
    return re.compile("".join(parts))


def edit(path: Path, text: str) -> None:
    """Apply an edit to a file that is there."""
    rows = text.rstrip("\n").split("\n")
    old, new = (
        "\n".join(row[1:] for row in rows if row[:1] in (kept, " ", "")) for kept in ("-", "+")
    )
    before = path.read_text(encoding="utf-8")
    if before.count(old) != 1:
        raise PageError(f"{path.name} has {before.count(old)} places like this:\n{old}")
    path.write_text(before.replace(old, new), encoding="utf-8")


def run(command: Command, root: Path, environment: dict[str, str]) -> str:
    """Run a command and compare its output with what is shown; returns the output."""
    finished = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command.text],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise PageError(f"$ {command.text}\nends with {finished.returncode}:\n{finished.stdout}")
    output = finished.stdout if finished.stdout.endswith("\n") else finished.stdout + "\n"
    if command.shown and not as_pattern(command.shown).fullmatch(squeezed(output)):
        shown = "\n".join(command.shown)
        raise PageError(f"$ {command.text}\nprints\n{output}\nand the page shows\n{shown}")
    return output


def follow(page: Path, root: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Do in `root` what a page says; yields every step and its output. PageError says where."""
    for block in blocks(page.read_text(encoding="utf-8")):
        try:
            if block.title and block.language == "diff":
                edit(root / block.title, block.text)
                yield f"edited {block.title}", ""
            elif block.title:
                (root / block.title).parent.mkdir(parents=True, exist_ok=True)
                (root / block.title).write_text(block.text, encoding="utf-8")
                yield f"wrote {block.title}", ""
            elif block.language == "console":
                for command in commands(block.text):
                    yield f"$ {command.text}", run(command, root, environment)
        except (PageError, OSError) as error:
            raise PageError(f"{page.name}, line {block.line}: {error}") from error


def reader_environment(base: dict[str, str]) -> dict[str, str]:
    """The environment of someone who activated the virtual environment of this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{base.get('PATH', '')}"
    return base | {"PATH": path, "NO_COLOR": "1"}


if __name__ == "__main__":
    import time

    begun = time.monotonic()
    for step, printed in follow(
        Path(sys.argv[1]), Path(sys.argv[2]), reader_environment(dict(os.environ))
    ):
        print(f"== {time.monotonic() - begun:.1f} s  {step}\n{printed}", flush=True)
