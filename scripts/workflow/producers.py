"""Which rule makes a file, and from what: read from the rules themselves, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from snakemake.iocontainers import Wildcards


def origins(workflow: Any, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """For each file the `rule` that makes it and that rule's `inputs`; one without is left out.

    Of several rules that could make a file the first one declared counts; the project has none
    such (Snakemake would call them ambiguous).
    """
    found = {}
    for path in sorted(set(map(str, paths))):
        rule = next((rule for rule in workflow.rules if rule.is_producer(path)), None)
        if rule is not None:
            wildcards = Wildcards(fromdict=rule.get_wildcards(path))
            inputs, *_ = rule.expand_input(wildcards)
            found[path] = {"rule": rule.name, "inputs": sorted(set(map(str, inputs)))}
    return found
