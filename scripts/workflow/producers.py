"""Which rule makes a file, and from what: read from the rules themselves, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from snakemake.iocontainers import Wildcards


def origins(
    workflow: Any, paths: Iterable[str], released: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, dict[str, Any]]:
    """For each file the `rule` that makes it and that rule's `inputs`; one without is left out.

    Of several rules that could make a file the first one declared counts; the project has none
    such (Snakemake would call them ambiguous). `released`: the same of files that a release gives,
    whose inputs, here path to checksum, are not in this checkout.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(set(map(str, paths))):
        if made := (released or {}).get(path):
            known = dict(made["inputs"])
            found[path] = {"rule": made["rule"], "inputs": sorted(known), "known": known}
            continue
        rule = next((rule for rule in workflow.rules if rule.is_producer(path)), None)
        if rule is not None:
            wildcards = Wildcards(fromdict=rule.get_wildcards(path))
            inputs, *_ = rule.expand_input(wildcards)
            found[path] = {"rule": rule.name, "inputs": sorted(set(map(str, inputs)))}
    return found
