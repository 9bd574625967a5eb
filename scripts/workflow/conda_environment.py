"""Write envs/core.yaml, the conda form of the lock file, for `snakemake --sdm conda`.

Run it as `python -m scripts.workflow.conda_environment` after the lock file changed; a test keeps
both equal. PyTorch's local version label (`+cpu`) is left out: the package index does not know it.
"""

from __future__ import annotations

from scripts.workflow.digest import LOCK_FILE, ROOT, locked_versions

ENVIRONMENT = ROOT / "envs" / "core.yaml"
HEAD = """# The locked packages of envs/core.lock for `snakemake --sdm conda`; written by
# `python -m scripts.workflow.conda_environment`.
channels:
  - conda-forge
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def environment(versions: dict[str, str]) -> str:
    """The YAML text for name → version; where platforms differ, the plain version counts."""
    lines = (
        f"      - {name}=={version.split('|')[0].split('+')[0]}\n"
        for name, version in sorted(versions.items())
    )
    return HEAD + "".join(lines)


if __name__ == "__main__":
    ENVIRONMENT.write_text(environment(locked_versions(ROOT / LOCK_FILE)), encoding="utf-8")
