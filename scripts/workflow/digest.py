"""What a rule's code is: a digest of the script, its import closure and the locked packages.

Snakemake follows a script's modification time and none of the modules that it imports. A rule
therefore carries ``params: code=code_digest("scripts/….py")``. The digest is taken over the syntax
tree without comments, docstrings and layout, so a cosmetic edit reruns nothing, and over the pinned
versions of the third-party packages that the closure imports, so an upgrade reruns what uses it.
Nothing is imported or executed.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "scripts"
LOCK_FILE = Path("envs") / "core.lock"

# Where the name that is imported differs from the name under which a package is distributed.
DISTRIBUTIONS = {"yaml": "pyyaml", "sklearn": "scikit-learn"}


class DigestError(ValueError):
    """A file of the closure is missing or is not Python."""


def code_digest(*paths: str, root: Path = ROOT) -> str:
    """Digest of the code that runs for the given files (relative to the repository root).

    Returns 16 hexadecimal characters. Raises DigestError naming the file that cannot be read.
    """
    closure = import_closure([root / path for path in paths], root)
    digest = hashlib.sha256()
    packages: set[str] = set()
    for path in closure:
        tree_digest, imported = _summary(path, root)
        digest.update(f"{path.relative_to(root).as_posix()}={tree_digest}\n".encode())
        packages |= imported
    versions = locked_versions(root / LOCK_FILE)
    for name in sorted(packages):
        digest.update(f"{name}=={versions.get(name, 'unlocked')}\n".encode())
    return digest.hexdigest()[:16]


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


@cache
def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except FileNotFoundError as error:
        raise DigestError(f"{path}: no such file; correct the rule that names it") from error
    except SyntaxError as error:
        raise DigestError(f"{path}, line {error.lineno}: not valid Python ({error.msg})") from error


@cache
def _summary(path: Path, root: Path) -> tuple[str, frozenset[str]]:
    """Digest of one file's syntax tree, and the distributions that it imports."""
    tree = _parse(path)
    packages = {
        DISTRIBUTIONS.get(name, name).replace("_", "-").lower()
        for name in {module.split(".")[0] for module in _imported_modules(path, root)}
        if name not in sys.stdlib_module_names and name not in (PACKAGE, "")
    }
    dump = ast.dump(_without_docstrings(tree))
    return hashlib.sha256(dump.encode("utf-8", "surrogatepass")).hexdigest(), frozenset(packages)


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


@cache
def _imported_modules(path: Path, root: Path) -> frozenset[str]:
    """Dotted names of everything a file imports, wherever the statement stands."""
    names: set[str] = set()
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_base(node, path, root)
            names.add(base)
            # `from package import module` names a module; `from module import name` does not, and
            # then the longer name is simply not found.
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return frozenset(names)


def _absolute_base(node: ast.ImportFrom, path: Path, root: Path) -> str:
    if not node.level:
        return node.module or ""
    package = path.relative_to(root).parent.parts
    package = package[: len(package) - (node.level - 1)]
    return ".".join([*package, *([node.module] if node.module else [])])


@cache
def _local_imports(path: Path, root: Path) -> tuple[Path, ...]:
    found: set[Path] = set()
    for name in _imported_modules(path, root):
        parts = name.split(".")
        if parts[0] != PACKAGE:
            continue
        # Importing a.b.c runs a/__init__, a/b/__init__ and a/b/c.
        for depth in range(1, len(parts) + 1):
            stem = root.joinpath(*parts[:depth])
            for candidate in (stem.with_suffix(".py"), stem / "__init__.py"):
                if candidate.exists():
                    found.add(candidate.resolve())
    return tuple(sorted(found))
