"""The digest changes with what the code does, and with nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.workflow import digest
from scripts.workflow.digest import MEMORY, DigestError, code_digest, import_closure, remember


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "scripts"
    (package / "statistics").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "statistics" / "__init__.py").write_text("")
    (package / "rule.py").write_text("from scripts.statistics import bootstrap\nbootstrap.run()\n")
    (package / "statistics" / "bootstrap.py").write_text(
        'import numpy as np\n\n\ndef run():\n    """Draw."""\n'
        "    from .seeds import seed\n    return np.ones(seed)\n"
    )
    (package / "statistics" / "seeds.py").write_text("seed = 42\n")
    (package / "statistics" / "unrelated.py").write_text("x = 1\n")
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "core.lock").write_text(
        "numpy==2.0 ; python_version < '4' \\\n    --hash=x\npandas==3.0\n"
    )
    return tmp_path


def fresh_digest(root: Path) -> str:
    """The digest as a new process takes it, which leaves what it learnt to the next."""
    for cached in vars(digest).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()
    found = code_digest("scripts/rule.py", root=root)
    remember(root)
    return found


def test_closure_follows_every_form_of_import(project: Path) -> None:
    names = [p.name for p in import_closure([project / "scripts" / "rule.py"], project)]
    assert names == ["__init__.py", "rule.py", "__init__.py", "bootstrap.py", "seeds.py"]


@pytest.mark.parametrize(
    ("file", "text", "changes"),
    [
        ("scripts/statistics/seeds.py", "seed = 43\n", True),
        ("scripts/statistics/seeds.py", "# the seed\nseed = (42)\n", False),
        ("scripts/statistics/unrelated.py", "x = 2\n", False),
        ("scripts/statistics/__init__.py", '"""Statistics."""\n', False),
        ("scripts/statistics/__init__.py", "import json\n", True),
        ("envs/core.lock", "numpy==2.1\npandas==3.0\n", True),
        ("envs/core.lock", "numpy==2.0\npandas==3.1\n", False),
    ],
)
def test_digest_follows_behaviour(project: Path, file: str, text: str, changes: bool) -> None:
    before = fresh_digest(project)
    (project / file).write_text(text)
    assert (fresh_digest(project) != before) is changes


def test_digest_does_not_depend_on_time_or_place(project: Path, tmp_path: Path) -> None:
    import os
    import shutil

    before = fresh_digest(project)
    os.utime(project / "scripts" / "rule.py", (1, 1))
    copy = tmp_path / "elsewhere"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("elsewhere"))
    assert fresh_digest(project) == before == fresh_digest(copy)


def test_missing_and_broken_files_are_named(project: Path) -> None:
    with pytest.raises(DigestError, match=r"absent\.py: no such file"):
        code_digest("scripts/absent.py", root=project)
    (project / "scripts" / "rule.py").write_text("def (:\n")
    with pytest.raises(DigestError, match=r"rule\.py, line 1: not valid Python"):
        fresh_digest(project)


def test_real_rule_script_includes_the_files_it_uses(repository: Path) -> None:
    closure = import_closure([repository / "scripts" / "files.py"], repository)
    assert repository / "scripts" / "records.py" in closure


def test_conda_environment_equals_the_lock_file(repository: Path) -> None:
    from scripts.workflow.conda_environment import environment
    from scripts.workflow.digest import locked_versions

    versions = locked_versions(repository / "envs" / "core.lock")
    text = (repository / "envs" / "core.yaml").read_text()
    assert text == environment(versions), "run: python -m scripts.workflow.conda_environment"
    assert len(versions) > 80 and "      - torch==2.13.0\n" in text


def counted_parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    parsed: list[str] = []
    parse = digest._parse

    def counting(path: Path, content: bytes) -> Any:
        parsed.append(path.name)
        return parse(path, content)

    monkeypatch.setattr(digest, "_parse", counting)
    return parsed


def test_a_later_process_parses_only_what_has_other_bytes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fresh_digest(project)
    parsed = counted_parses(monkeypatch)
    assert fresh_digest(project) == before
    assert parsed == []
    (project / "scripts" / "statistics" / "seeds.py").write_text("seed = 43\n")
    changed = fresh_digest(project)
    assert changed != before
    assert parsed == ["seeds.py"]
    (project / MEMORY).unlink()
    digest._memory.cache_clear()
    assert fresh_digest(project) == changed


def test_the_memory_is_written_while_the_process_runs_and_once(project: Path) -> None:
    code_digest("scripts/rule.py", root=project)
    assert not (project / MEMORY).exists()
    remember(project)
    written = (project / MEMORY).stat()
    assert len(json.loads((project / MEMORY).read_text())["files"]) == 5
    remember(project)
    assert (project / MEMORY).stat() == written


@pytest.mark.parametrize("text", ["", "{", "[]", '{"made_by": 1}', '{"files": {}}', "\udc80"])
def test_a_damaged_memory_is_passed_over(
    project: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fresh_digest(project)
    (project / MEMORY).write_bytes(text.encode("utf-8", "surrogateescape"))
    digest._memory.cache_clear()
    parsed = counted_parses(monkeypatch)
    assert digest._memory(project).files == {}
    assert fresh_digest(project) == before
    assert len(parsed) == 5


def test_the_memory_of_another_digest_is_not_used(project: Path) -> None:
    before = fresh_digest(project)
    memory = json.loads((project / MEMORY).read_text())
    memory["made_by"] = "another version of this module"
    memory["files"] = {name: [row[0], "wrong", []] for name, row in memory["files"].items()}
    (project / MEMORY).write_text(json.dumps(memory))
    digest._memory.cache_clear()
    assert fresh_digest(project) == before


def test_without_a_place_for_the_memory_the_digest_is_the_same(project: Path) -> None:
    before = fresh_digest(project)
    (project / MEMORY).unlink()
    (project / MEMORY).parent.rmdir()
    (project / MEMORY).parent.write_text("a file stands where the folder should")
    digest._memory.cache_clear()
    assert fresh_digest(project) == before
