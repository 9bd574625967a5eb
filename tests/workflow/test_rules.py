"""Every rule carries what a rule must carry."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.inference.backends import backend_file
from scripts.judging.council_programs import PROGRAMS, program_file
from scripts.workflow.digest import code_digest
from tests.workflow.conftest import run_snakemake

pytestmark = pytest.mark.workflow

# Steps of TIDE's construction in which a model answers.
ASK_THE_GENERATOR = (
    *("tide_extract_entities", "tide_judge_aliases", "tide_find_threads"),
    "tide_generate_questions",
)


@pytest.fixture(scope="module")
def workflow(repository: Path, checkout: Path) -> Iterator[Any]:
    """The full workflow as Snakemake reads it, in a folder without results."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import OutputSettings, ResourceSettings

    # The Snakefile extends the path and the environment, for the processes of its jobs.
    path, variables, folder = list(sys.path), dict(os.environ), Path.cwd()
    try:
        with SnakemakeApi(OutputSettings()) as api:
            yield api.workflow(
                snakefile=repository / "Snakefile",
                workdir=checkout,
                resource_settings=ResourceSettings(cores=1),
            )._workflow
    finally:
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(folder)


@pytest.fixture(scope="module")
def rules(workflow: Any) -> list[Any]:
    found = list(workflow.rules)
    assert len(found) >= 20
    return found


def script_of(rule: Any) -> str:
    return "scripts/" + rule.script.split("scripts/", 1)[1]


def test_every_script_rule_has_a_digest_of_its_own_script(rules: list[Any], workflow: Any) -> None:
    scripts = [rule for rule in rules if rule.script]
    assert len(scripts) >= 15
    models = workflow.globals["MODELS"]
    # Backends of the models that the configuration names for one job stand in a fixed digest.
    asked = {
        "multitempbench_translate_questions": workflow.globals["MTB_TRANSLATOR"],
        "tide_parse_document": workflow.globals["TIDE"]["parsing"]["vision"],
        **dict.fromkeys(ASK_THE_GENERATOR, workflow.globals["TIDE"]["construction"]["generator"]),
    }
    of_models = set()
    for rule in scripts:
        assert hasattr(rule.params, "code"), f"rule {rule.name} has no params: code=code_digest(…)"
        code = rule.params.code
        if not callable(code):
            name = asked.pop(rule.name, None)
            more = [backend_file(models[name]["backend"])] if name else []
            own = code_digest(script_of(rule), *more)
            assert code == own, f"rule {rule.name} has a foreign digest"
            continue
        if rule.name == "tide_judge_by_program":
            # A judge that is a program is a module of its own.
            for judge in PROGRAMS:
                own = code_digest(script_of(rule), program_file(judge))
                assert code(SimpleNamespace(judge=judge)) == own, f"judge {judge}"
            continue
        # Where a model's backend is code of the run, it is in the digest too.
        of_models.add(rule.name)
        for name, entry in models.items():
            own = code_digest(script_of(rule), backend_file(entry["backend"]))
            wildcards = SimpleNamespace(model=name, judge=name)
            assert code(wildcards) == own, f"rule {rule.name}, model {name}"
            assert own != code_digest(script_of(rule))
    assert asked == {}
    assert of_models == {
        "syntaxbench_run_model",
        "syntaxbench_run_shard",
        "multitempbench_run_model",
        "multitempbench_run_shard",
        "multitempbench_judge_by_model",
        "tide_run_model",
        "tide_run_shard",
        "tide_run_ablation",
        "tide_run_ablation_shard",
        "tide_run_explanations",
        "tide_run_explanations_shard",
        "tide_judge_by_model",
    }


def test_no_rule_runs_code_that_no_digest_covers(rules: list[Any]) -> None:
    for rule in rules:
        assert not rule.shellcmd and not rule.is_run and not rule.wrapper and not rule.notebook, (
            f"rule {rule.name}: put its code in a script with a digest"
        )


def test_every_rule_says_what_it_does(rules: list[Any]) -> None:
    for rule in rules:
        assert rule.docstring and rule.docstring.strip().endswith("."), rule.name


def test_every_script_rule_states_resources_environment_and_log(rules: list[Any]) -> None:
    for rule in rules:
        if rule.script:
            assert {"mem_mb", "runtime"} <= set(rule.resources), rule.name
            assert len(rule.log) == 1, f"rule {rule.name} has no log"
            assert rule.conda_env, f"rule {rule.name} names no environment"
        else:
            # A collection of targets. It shows that nothing above is there by default.
            assert not {"mem_mb", "runtime"} & set(rule.resources), rule.name
            assert not rule.output, rule.name


def test_no_two_rules_write_the_same_log_or_benchmark(rules: list[Any]) -> None:
    logs = [str(log) for rule in rules for log in rule.log]
    benchmarks = [str(rule.benchmark) for rule in rules if rule.benchmark]
    assert len(set(logs)) == len(logs)
    assert len(set(benchmarks)) == len(benchmarks) >= 3


def test_profiles_agree_on_what_triggers_a_rerun(repository: Path) -> None:
    import yaml

    profiles = sorted((repository / "profiles").glob("*/config.yaml"))
    assert len(profiles) >= 3
    settings = [yaml.safe_load(path.read_text()) for path in profiles]
    for entry in settings:
        assert entry["rerun-triggers"] == ["mtime", "params", "input", "software-env"]
        # The larger embedded model has 1.07 GB of weights; touching them must rerun nothing.
        assert entry["max-checksum-file-size"] >= 2_000_000_000
        assert entry["rerun-incomplete"] is True


def test_no_absolute_path_in_rules(repository: Path) -> None:
    for path in [repository / "Snakefile", *sorted((repository / "rules").glob("*.smk"))]:
        assert not re.search(r"[\"']/[a-z]", path.read_text()), f"{path.name} has an absolute path"


BENCHMARKS = ("syntaxbench", "multitempbench", "tide")


@pytest.mark.parametrize(
    # 11 or 2 configurations of SyntaxBench, 23 or 2 of MultiTempBench, 9 or 2 of TIDE, and the
    # baselines: three, three and four.
    ("config", "runs"),
    [(None, (14, 26, 13)), ("config/embedded.yaml", (5, 5, 6)), ("config/replay.yaml", (14, 0, 0))],
)
def test_every_matrix_can_be_planned(
    checkout: Path, config: str | None, runs: tuple[int, ...]
) -> None:
    arguments = ["--cores", "16", "--resources", "gpu=2", "--dry-run"]
    finished = run_snakemake(checkout, *arguments, *(["--configfile", config] if config else []))
    assert finished.returncode == 0, finished.stdout
    found = [
        len(re.findall(rf"^rule {name}_run_model:", finished.stdout, re.M)) for name in BENCHMARKS
    ]
    assert tuple(found) == runs
    assert not (checkout / "results").exists()


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_one_benchmark_can_be_planned_alone(checkout: Path, benchmark: str, tmp_path: Path) -> None:
    overlay = tmp_path / "alone.yaml"
    overlay.write_text(f"run: {{benchmarks: [{benchmark}]}}\n")
    files = ["config/embedded.yaml", str(overlay)]
    finished = run_snakemake(checkout, "all", "--cores", "1", "--dry-run", "--configfile", *files)
    assert finished.returncode == 0, finished.stdout
    ran = set(re.findall(r"^rule ([a-z]+)_run_model:", finished.stdout, re.M))
    assert ran == {benchmark}


def test_a_model_that_needs_more_gpus_than_there_are_is_refused(checkout: Path) -> None:
    finished = run_snakemake(checkout, "--cores", "1", "--resources", "gpu=1", "--dry-run")
    assert finished.returncode != 0
    assert "needs 2 GPUs but --resources gpu=1" in finished.stdout
