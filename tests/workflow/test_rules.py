"""Every rule carries what a rule must carry."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.workflow.digest import code_digest

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def rules(repository: Path) -> list:
    """The rules of the full workflow, as Snakemake reads them."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings

    with SnakemakeApi(OutputSettings(quiet=None)) as api:
        workflow_api = api.workflow(
            snakefile=repository / "Snakefile",
            workdir=repository,
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(),
        )
        workflow = workflow_api._workflow
        workflow.include(workflow.main_snakefile, overwrite_default_target=True)
        return list(workflow.rules)


def test_every_script_rule_has_a_digest_of_its_own_script(rules: list) -> None:
    scripts = [rule for rule in rules if rule.script]
    assert len(scripts) >= 15
    for rule in scripts:
        assert hasattr(rule.params, "code"), f"rule {rule.name} has no params: code=code_digest(…)"
        code = rule.params.code
        path = "scripts/" + rule.script.split("scripts/", 1)[1]
        if callable(code):
            continue  # depends on the model's backend; its script is checked in the source below
        assert code == code_digest(path), f"rule {rule.name} carries the digest of another script"


def test_digests_in_the_source_name_the_rules_script(repository: Path) -> None:
    for path in sorted((repository / "rules").glob("*.smk")):
        for block in re.split(r"\n(?=rule )", path.read_text()):
            script = re.search(r'script:\s+"\.\./(scripts/[^"]+)"', block)
            if script:
                digest = re.search(r'code_digest\(\s*"([^"]+)"', block)
                assert digest and digest[1] == script[1], f"{path.name}: {block.splitlines()[0]}"


def test_every_rule_states_resources_and_long_rules_log(rules: list) -> None:
    for rule in rules:
        if rule.script or rule.shellcmd:
            assert "mem_mb" in rule.resources and "runtime" in rule.resources, rule.name
            assert rule.log, f"rule {rule.name} has no log"
        assert rule.docstring, f"rule {rule.name} does not say what it does"


def test_no_absolute_path_in_rules(repository: Path) -> None:
    for path in [repository / "Snakefile", *sorted((repository / "rules").glob("*.smk"))]:
        assert not re.search(r"[\"']/[a-z]", path.read_text()), f"{path.name} has an absolute path"


@pytest.mark.parametrize("config", [None, "config/embedded.yaml", "config/replay.yaml"])
def test_every_matrix_can_be_planned(repository: Path, tmp_path: Path, config: str | None) -> None:
    snakemake = Path(sys.executable).with_name("snakemake")
    command = [str(snakemake), "--cores", "16", "--resources", "gpu=2", "--dry-run", "--nolock"]
    command += ["--forceall"] + (["--configfile", config] if config else [])
    finished = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    runs = len(re.findall(r"^rule syntaxbench_run_model:", finished.stdout + finished.stderr, re.M))
    # 11 or 2 configurations, and three baselines.
    assert runs == (5 if config == "config/embedded.yaml" else 14)


def test_a_model_that_needs_more_gpus_than_there_are_is_refused(repository: Path) -> None:
    snakemake = Path(sys.executable).with_name("snakemake")
    command = [str(snakemake), "--cores", "1", "--resources", "gpu=1", "--dry-run", "--nolock"]
    finished = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert finished.returncode != 0
    assert "needs 2 GPUs but --resources gpu=1" in finished.stdout + finished.stderr
