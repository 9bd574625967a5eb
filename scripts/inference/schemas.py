"""Response schemas, and how they are sent to a backend.

Rows are written with sorted keys, so a schema read from a file has lost the order of its
properties, while a decoder writes them in the order of the schema. `required` is a list and keeps
it: an answer that reasons first must list the reasoning first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON Schema of an object with exactly these properties, all required, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def in_required_order(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with its properties, at every depth, in the order of `required`.

    Properties that `required` does not name follow in alphabetical order, so that equal schemas
    always give the same text.
    """
    return {key: _ordered(key, value, schema) for key, value in schema.items()}


def _ordered(key: str, value: Any, parent: Mapping[str, Any]) -> Any:
    if key == "properties" and isinstance(value, Mapping):
        listed = parent.get("required")
        first = [name for name in listed if name in value] if isinstance(listed, list) else []
        names = list(dict.fromkeys([*first, *sorted(value)]))
        return {name: _nested(value[name]) for name in names}
    if key in ("enum", "const", "default", "examples"):
        return value
    return _nested(value)


def _nested(value: Any) -> Any:
    if isinstance(value, Mapping):
        return in_required_order(value)
    if isinstance(value, list):
        return [_nested(each) for each in value]
    return value
