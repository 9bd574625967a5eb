"""A benchmark is a folder with a declaration: it is found, and what it lacks is said."""

from __future__ import annotations

import copy
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.workflow.benchmarks import (
    HOOKS,
    SHARED_ROOMS,
    TAKEN,
    default_files,
    found,
    texts_of,
    whole_schema,
)
from scripts.workflow.config_files import ConfigurationError, read_yaml
from scripts.workflow.configuration import check_configuration
from scripts.workflow.schemas import schema_problems

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "benchmark"
THREE = ["multitempbench", "syntaxbench", "tide"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the example of the documentation as its only benchmark."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "config").mkdir(exist_ok=True)
    shutil.copy(ROOT / "config" / "schema.yaml", tmp_path / "config")
    return tmp_path


def problems(project: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        found(project)
    return str(refused.value)


def test_the_benchmarks_of_this_project() -> None:
    assert list(found()) == THREE
    assert default_files() == []
    assert texts_of(["tide", "syntaxbench"])["section"] == [
        "paper/sections/tide.tex",
        "paper/sections/syntaxbench.tex",
    ]


def test_the_example_is_a_benchmark(project: Path) -> None:
    (toy,) = found(project).values()
    assert (toy.name, toy.title, toy.shared_axis, toy.removable) == ("toy", "Toy", None, ())
    assert default_files(project) == ["scripts/toy/config.yaml"]
    # It has no configuration.py, so nothing of its own is checked.
    assert [list(toy.hook(name)({}, {})) for name in HOOKS] == [[]] * len(HOOKS)
    section = yaml.safe_load((project / "scripts/toy/config.yaml").read_text())["toy"]
    schema = whole_schema(project)
    assert not list(schema_problems(section, {**schema["properties"]["toy"], **only_defs(schema)}))


def only_defs(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$defs": schema["$defs"]}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("itemz", 3, "toy.itemz: unknown key; did you mean 'items'? allowed here: baselines"),
        ("items", 82, "toy.items: 82 is greater than the maximum of 81"),
        ("items", "3", "toy.items: '3' is a string, expected integer; write 3 without quotes"),
        ("digits", [], "toy.digits: [] should be non-empty"),
        ("baselines", ["majority"], "toy.baselines: ['majority'] is expected to be empty"),
        ("statistics", {"level": 0.9}, "toy.statistics: missing key(s) alpha, resamples"),
    ],
)
def test_a_mistake_in_a_new_section_is_explained(
    project: Path, key: str, value: object, words: str
) -> None:
    section = yaml.safe_load((project / "scripts/toy/config.yaml").read_text())["toy"]
    schema = whole_schema(project)
    part = {"type": "object", "properties": {"toy": schema["properties"]["toy"]}}
    said = "\n".join(schema_problems({"toy": {**section, key: value}}, part | only_defs(schema)))
    assert words in said


def test_definitions_of_two_benchmarks_do_not_meet(project: Path) -> None:
    """Both call something `task`; each means its own, and `range` is everybody's."""
    for name, limit in (("toy", 5), ("other", 7)):
        folder = project / "scripts" / name
        if name == "other":
            shutil.copytree(project / "scripts" / "toy", folder)
            shutil.copy(project / "rules" / "toy.smk", project / "rules" / "other.smk")
        schema = read_yaml(folder / "schema.yaml")
        schema["properties"]["items"] = {"$ref": "#/$defs/task"}
        schema["properties"]["digits"] = {"$ref": "#/$defs/range"}
        schema["$defs"] = {"task": {"type": "integer", "maximum": limit}}
        (folder / "schema.yaml").write_text(yaml.safe_dump(schema))
    whole = whole_schema(project)
    assert whole["properties"]["toy"]["properties"]["items"] == {"$ref": "#/$defs/toy.task"}
    assert whole["$defs"]["toy.task"]["maximum"] == 5
    assert whole["$defs"]["other.task"]["maximum"] == 7
    assert whole["properties"]["other"]["properties"]["digits"] == {"$ref": "#/$defs/range"}


@pytest.mark.parametrize("room", ["publishing", "workflow", "inference"])
def test_a_folder_that_all_share_is_no_benchmark(project: Path, room: str) -> None:
    (project / "scripts" / room).mkdir()
    shutil.copy(project / "scripts/toy/benchmark.yaml", project / "scripts" / room)
    said = problems(project)
    assert f"scripts/{room}/benchmark.yaml: scripts/{room} is shared by all benchmarks" in said
    assert "(benchmarks: toy; shared: corpora" in said and room in SHARED_ROOMS


@pytest.mark.parametrize("name", ["paper", "models", "Toy", "toy2", "my_toy", "ab"])
def test_a_name_that_means_something_else_is_refused(project: Path, name: str) -> None:
    (project / "scripts" / "toy").rename(project / "scripts" / name)
    said = problems(project)
    assert f"scripts/{name}: {name!r} cannot be the name of a benchmark; small letters" in said
    assert all(taken in said for taken in TAKEN)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("rules/toy.smk", None, "rules/toy.smk: missing; scripts/toy has a benchmark.yaml, so it"),
        ("scripts/toy/schema.yaml", None, "needs the JSON Schema of its section"),
        ("scripts/toy/schema.yaml", "required: [models]", "required: baselines is missing"),
        ("scripts/toy/section.tex", None, "paper.section: scripts/toy/section.tex: no such file"),
        ("scripts/toy/benchmark.yaml", "titel: T", "titel: unknown key; did you mean 'title'?"),
        ("scripts/toy/benchmark.yaml", "{}", "(top level): missing key(s) title"),
        ("scripts/toy/benchmark.yaml", "title: [", "toy/benchmark.yaml, line 2: not valid"),
        ("scripts/toy/benchmark.yaml", "title: T\npaper: {abstract: a.md}", "'a.md' does not mat"),
    ],
)
def test_what_a_benchmark_lacks_is_said(
    project: Path, file: str, content: str | None, words: str
) -> None:
    if content is None:
        (project / file).unlink()
    else:
        (project / file).write_text(content)
    assert words in problems(project)


def test_a_benchmark_that_is_not_there() -> None:
    config = copy.deepcopy(read_yaml(ROOT / "config.yaml"))
    config["run"]["benchmarks"] = ["syntaxbench", "tidee"]
    with pytest.raises(ConfigurationError) as refused:
        check_configuration(config)
    said = str(refused.value)
    assert "run.benchmarks.1: 'tidee' is not allowed; did you mean 'tide'?" in said
    assert "allowed: 'multitempbench', 'syntaxbench', 'tide'" in said


def test_what_all_benchmarks_share_names_none_of_them() -> None:
    """Shared code, rules and texts know no benchmark; what they know, the benchmark declares."""
    shared = [path for room in SHARED_ROOMS for path in (ROOT / "scripts").glob(f"{room}*")]
    files = [p for path in shared for p in (path.rglob("*.py") if path.is_dir() else [path])]
    own = tuple(found())
    files += [p for p in (ROOT / "rules").glob("*.smk") if not p.name.startswith(own)]
    files += [ROOT / "Snakefile", ROOT / "config" / "schema.yaml", ROOT / "paper" / "main.tex"]
    assert len(files) > 100
    for path in files:
        code = re.sub(r'"""[\s\S]*?"""|#.*', "", path.read_text())
        # A message may name the key of the configuration that is wrong.
        names = sorted(name for name in own if re.search(rf"\b{name}\b(?!\.\w)", code))
        assert not names, f"{path.relative_to(ROOT)} names {', '.join(names)}"
