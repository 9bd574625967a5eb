"""What a rule's code is: a digest of the script, its import closure and the locked packages.

Snakemake follows a script's modification time and none of the modules that it imports. A rule
therefore carries ``params: code=code_digest("scripts/….py")``. The digest is taken over the syntax
tree without comments, docstrings and layout, so a cosmetic edit reruns nothing, and over the pinned
versions of the third-party packages that the closure imports, so an upgrade reruns what uses it.
Nothing is imported or executed.
"""

from __future__ import annotations

import ast
import atexit
import hashlib
import json
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.files import atomic_write

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "scripts"
LOCK_FILE = Path("envs") / "core.lock"
MEMORY = Path(".snakemake") / "code_digests.json"

# Where the name that is imported differs from the name under which a package is distributed.
DISTRIBUTIONS = {"yaml": "pyyaml", "sklearn": "scikit-learn"}


class DigestError(ValueError):
    """A file of the closure is missing or is not Python."""


@cache
def code_digest(*paths: str, root: Path = ROOT) -> str:
    """Digest of the code that runs for the given files (relative to the repository root).

    Returns 16 hexadecimal characters. Raises DigestError naming the file that cannot be read.
    """
    closure = import_closure([root / path for path in paths], root)
    digest = hashlib.sha256()
    packages: set[str] = set()
    for path in closure:
        digest.update(f"{path.relative_to(root).as_posix()}={_file(path, root).tree}\n".encode())
        packages |= _packages(path, root)
    versions = locked_versions(root / LOCK_FILE)
    for name in sorted(packages):
        digest.update(f"{name}=={versions.get(name, 'unlocked')}\n".encode())
    return digest.hexdigest()[:16]


def remember(root: Path = ROOT) -> None:
    """Write what was learnt of the files now: jobs start while the process that read them runs."""
    _memory(root).write()


def import_closure(paths: list[Path], root: Path = ROOT) -> list[Path]:
    """The files and every module of this repository that they import, directly or not, sorted."""
    seen: set[Path] = set()
    waiting = [path.resolve() for path in paths]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        waiting.extend(_local_imports(path, root))
    return sorted(seen)


@cache
def locked_versions(lock_file: Path) -> dict[str, str]:
    """Package name → pinned version(s) of a lock file; several platforms' pins are joined."""
    if not lock_file.exists():
        return {}
    versions: dict[str, list[str]] = {}
    for line in lock_file.read_text(encoding="utf-8").splitlines():
        match = re.match(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^ ;\\]+)", line)
        if match:
            name = re.sub(r"[-_.]+", "-", match[1]).lower()
            versions.setdefault(name, []).append(match[2])
    return {name: "|".join(sorted(found)) for name, found in versions.items()}


def _parse(path: Path, content: bytes) -> ast.Module:
    try:
        return ast.parse(content, filename=str(path))
    except SyntaxError as error:
        raise DigestError(f"{path}, line {error.lineno}: not valid Python ({error.msg})") from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DigestError(f"{path}: no such file; correct the rule that names it") from error


@dataclass(frozen=True, slots=True)
class _File:
    """What is known of a file: SHA-256 of its bytes and of its syntax tree, names it imports."""

    content: str
    tree: str
    modules: tuple[str, ...]


@cache
def _file(path: Path, root: Path) -> _File:
    """One file of the closure; parsed only where the memory of earlier runs has other bytes."""
    content = _content(path)
    checksum = hashlib.sha256(content).hexdigest()
    memory, name = _memory(root), path.relative_to(root).as_posix()
    known = memory.files.get(name)
    if known is None or known.content != checksum:
        tree = _parse(path, content)
        modules = _imports(tree, path, root)
        dump = ast.dump(_without_docstrings(tree))
        digest = hashlib.sha256(dump.encode("utf-8", "surrogatepass")).hexdigest()
        known = _File(checksum, digest, modules)
        memory.learn(name, known)
    return known


@cache
def _packages(path: Path, root: Path) -> frozenset[str]:
    """The distributions that one file imports."""
    return frozenset(
        DISTRIBUTIONS.get(name, name).replace("_", "-").lower()
        for name in {module.split(".")[0] for module in _imported_modules(path, root)}
        if name not in sys.stdlib_module_names and name not in (PACKAGE, "")
    )


def _without_docstrings(tree: ast.Module) -> ast.Module:
    clean = ast.parse(ast.unparse(tree))
    for node in ast.walk(clean):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return clean


def _imported_modules(path: Path, root: Path) -> tuple[str, ...]:
    """Dotted names of everything a file imports, wherever the statement stands, sorted."""
    return _file(path, root).modules


def _imports(tree: ast.Module, path: Path, root: Path) -> tuple[str, ...]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_base(node, path, root)
            names.add(base)
            # `from package import module` names a module; `from module import name` does not, and
            # then the longer name is simply not found.
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return tuple(sorted(names))


def _absolute_base(node: ast.ImportFrom, path: Path, root: Path) -> str:
    if not node.level:
        return node.module or ""
    package = path.relative_to(root).parent.parts
    package = package[: len(package) - (node.level - 1)]
    return ".".join([*package, *([node.module] if node.module else [])])


@cache
def _local_imports(path: Path, root: Path) -> tuple[Path, ...]:
    files = (_module_files(name, root) for name in _imported_modules(path, root))
    return tuple(sorted({file for found in files for file in found}))


@cache
def _module_files(name: str, root: Path) -> tuple[Path, ...]:
    """Files of this repository that importing a dotted name runs."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return ()
    # Importing a.b.c runs a/__init__, a/b/__init__ and a/b/c.
    package, _, _ = name.rpartition(".")
    outer = _module_files(package, root) if package else ()
    stem = root.joinpath(*parts)
    candidates = (stem.with_suffix(".py"), stem / "__init__.py")
    return (*outer, *(file.resolve() for file in candidates if file.exists()))


class _Memory:
    """What earlier runs learnt of the files, in `.snakemake` of the checkout.

    Parsing three hundred files takes seconds, which every job of a cluster would spend again. An
    entry holds only for the very bytes of the file, this module as it is and this Python. The file
    may be deleted at any time; where it cannot be read or written, everything is parsed anew.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / MEMORY
        self.made_by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest() + sys.version
        self.files: dict[str, _File] = {}
        self._new = 0
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
            if known["made_by"] == self.made_by:
                for name, (content, tree, modules) in known["files"].items():
                    self.files[name] = _File(content, tree, tuple(modules))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self.files = {}

    def learn(self, name: str, file: _File) -> None:
        """Take a file in; it is written by `write`, at the latest when the process ends."""
        self.files[name] = file
        if not self._new:
            atexit.register(self.write)
        self._new += 1

    def write(self) -> None:
        """Write what is known of the files that exist, where that is more than was read."""
        if not self._new:
            return
        atexit.unregister(self.write)
        self._new = 0
        files = {
            name: (file.content, file.tree, file.modules)
            for name, file in sorted(self.files.items())
            if (self.root / name).is_file()
        }
        with suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            with atomic_write(self.path, "wb") as handle:
                handle.write(json.dumps({"made_by": self.made_by, "files": files}).encode())


@cache
def _memory(root: Path) -> _Memory:
    return _Memory(root)
