"""Write docs/configuration.md from config/schema.yaml and the schemas of the benchmarks.

Run it as `python -m scripts.workflow.document_configuration`.

One source for the check and for its documentation; a test fails when the two drift apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scripts.workflow.benchmarks import ROOT, whole_schema

DOCUMENT = ROOT / "docs" / "configuration.md"
HEAD = """# Configuration

`config.yaml` holds the papers' full matrix. `config/embedded.yaml` (no GPU, two small models) and
`config/replay.yaml` (the published margins) overlay it: mappings merge, lists and values are
replaced. Use your own overlay the same way: `snakemake --configfile mine.yaml`. An overlay leaves a
language or a task out by setting it to null: `multitempbench: {languages: {ha: null}, quota:
{relation: null}}`, `syntaxbench: {tasks: {edit_distance: null}}`. Unknown keys are errors. In the
table, `*` stands for a name of yours.

Generated from `config/schema.yaml` and, for the sections of the benchmarks, `scripts/*/schema.yaml`
by `python -m scripts.workflow.document_configuration`.

| key | value | meaning |
|---|---|---|
"""


def document(schema: Mapping[str, Any]) -> str:
    """The Markdown page for a schema: one row a key, in the schema's order."""
    rows = (f"| `{key}` | {value} | {meaning} |\n" for key, value, meaning in _rows(schema, schema))
    return HEAD + "".join(rows)


def _rows(
    node: Mapping[str, Any], root: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, str, str]]:
    for name, raw in node.get("properties", {}).items():
        yield from _row(f"{prefix}{name}", raw, root)
    other = node.get("additionalProperties")
    if isinstance(other, Mapping) and other.get("properties"):
        yield from _rows(_resolved(other, root), root, f"{prefix}*.")


def _row(
    key: str, raw: Mapping[str, Any], root: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    entry = _resolved(raw, root)
    yield key, _value(entry).replace("|", "\\|"), str(entry.get("description", ""))
    yield from _rows(entry, root, f"{key}.")
    items = entry.get("items")
    if isinstance(items, Mapping) and items.get("properties"):
        yield from _rows(items, root, f"{key}[].")


def _resolved(entry: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" not in entry:
        return dict(entry)
    target = root["$defs"][entry["$ref"].rsplit("/", 1)[1]]
    return {**target, **{key: value for key, value in entry.items() if key != "$ref"}}


def _value(entry: Mapping[str, Any]) -> str:
    if "enum" in entry:
        return ", ".join(
            f"`{option}`" if option is not None else "empty" for option in entry["enum"]
        )
    if "anyOf" in entry:
        return " or ".join(str(form.get("description", _value(form))) for form in entry["anyOf"])
    kind = entry.get("type", "")
    text = " or ".join(
        "empty" if one == "null" else one for one in ([kind] if isinstance(kind, str) else kind)
    )
    limits = [
        f"{word} {entry[key]}"
        for key, word in (
            ("minimum", "≥"),
            ("exclusiveMinimum", ">"),
            ("maximum", "≤"),
            ("exclusiveMaximum", "<"),
        )
        if key in entry
    ]
    return " ".join([text, ", ".join(limits)]).strip()


if __name__ == "__main__":
    DOCUMENT.write_text(document(whole_schema()), encoding="utf-8")
