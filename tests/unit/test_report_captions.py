"""The texts beside the report's results: every template fits the rules that name it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.workflow.digest import ROOT

RULE = re.compile(r"^(?:rule|checkpoint) (\w+):\n((?:(?:[ \t].*)?\n)*)", re.MULTILINE)


def captioned() -> Iterator[tuple[str, str, Path]]:
    """Name and text of every rule with a caption, and the template."""
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for name, body in RULE.findall(path.read_text(encoding="utf-8")):
            for caption in sorted(set(re.findall(r'caption="([^"]+)"', body))):
                yield name, body, path.parent / caption


@pytest.mark.parametrize(
    ("body", "template"), [pytest.param(b, t, id=n) for n, b, t in captioned()]
)
def test_a_caption_asks_for_what_its_rule_has(body: str, template: Path) -> None:
    """An empty name in double backticks is an error message in the report."""
    text = template.read_text(encoding="utf-8")
    outputs = body.partition("    output:\n")[2]
    for name in re.findall(r"snakemake\.wildcards\.(\w+)", text):
        assert re.search(rf"\{{{{?{name}\b", outputs), f"no wildcard {name}"
    for name in re.findall(r"snakemake\.output(?:\.|\[\")(\w+)", text):
        assert re.search(rf"^        {name}=", outputs, re.MULTILINE), f"no output {name}"


def test_captions_are_found() -> None:
    assert len({name for name, _, _ in captioned()}) > 12
