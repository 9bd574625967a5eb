"""What is wrong with a value by its JSON Schema, in sentences a person can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

import jsonschema

# Keys that once existed, and what to write instead.
RETIRED_KEYS: dict[str, str] = {}


def schema_problems(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """One sentence per violation: the key, the value, and what is allowed.

    Keys that are no words come first and alone: no schema knows them.
    """
    if odd := list(_no_words(config)):
        yield from odd
        return
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    # Several missing keys are one sentence, though each is an error.
    yield from dict.fromkeys(sentence for error in errors for sentence in _explain(error))


def _no_words(value: Any, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Keys that YAML reads as yes or no, as numbers or as dates."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            path = (*above, str(key))
            if not isinstance(key, str):
                yield (
                    f"{'.'.join(path)}: YAML reads this key as {key!r}; put what stands there in "
                    "quotation marks"
                )
            yield from _no_words(inner, path)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _no_words(inner, (*above, str(place)))


def _explain(error: jsonschema.ValidationError) -> Iterator[str]:
    key = ".".join(str(part) for part in error.absolute_path) or "(top level)"
    schema: Any = error.schema
    allowed: Any = error.validator_value
    if error.validator == "additionalProperties":
        known = sorted(schema.get("properties", {}))
        for name in sorted(set(error.instance) - set(known)):  # type: ignore[arg-type]
            path = name if key == "(top level)" else f"{key}.{name}"
            if path in RETIRED_KEYS:
                yield f"{path}: this key was retired; {RETIRED_KEYS[path]}"
                continue
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            yield f"{path}: unknown key; {hint}allowed here: {', '.join(known)}"
    elif error.validator == "enum":
        options = ", ".join(map(repr, allowed))
        near = difflib.get_close_matches(str(error.instance), map(str, allowed), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        yield f"{key}: {error.instance!r} is not allowed; {hint}allowed: {options}"
    elif error.validator == "required":
        missing = sorted(set(allowed) - set(error.instance))  # type: ignore[arg-type]
        yield f"{key}: missing key(s) {', '.join(missing)}"
    elif error.validator == "type":
        names = [allowed] if isinstance(allowed, str) else allowed
        wanted = " or ".join(TYPE_NAMES.get(name, name) for name in names)
        shown = _short(repr(error.instance))
        hint = _type_hint(error.instance, names)
        yield f"{key}: {shown} is {_type_name(error.instance)}, expected {wanted}{hint}"
    elif error.validator in ("anyOf", "oneOf"):
        yield f"{key}: {_short(error.instance)} fits none of the forms allowed; " + _forms(schema)
    elif error.validator == "pattern" and "propertyNames" in error.absolute_schema_path:
        yield (
            f"{key}.{error.instance}: no name; it becomes a file name: small letters, digits, "
            "'.', '_' and '-', beginning with a letter or digit"
        )
    elif key.endswith("api_key_environment"):
        # Whatever stands there may be a key pasted by mistake: it is not repeated.
        yield (
            f"{key}: must be the NAME of an environment variable (capital letters, digits, "
            "underscores), never the key itself"
        )
    else:
        yield f"{key}: {_short(error.message, 200)}"


def _type_hint(value: Any, wanted: Sequence[str]) -> str:
    """What makes a value of the type that is wanted out of one that YAML read otherwise."""
    if value is None:
        return "; give it a value, or remove the line"
    if isinstance(value, str) and {"number", "integer"} & set(wanted):
        with suppress(ValueError):
            number = float(value)
            shown = int(number) if number.is_integer() else number
            return f"; write {shown} without quotes"
    if "string" in wanted and not isinstance(value, (list, dict)):
        return "; put it in quotes"
    return ""


def _forms(schema: Mapping[str, Any]) -> str:
    forms = schema.get("anyOf") or schema.get("oneOf") or []
    return "allowed: " + "; or ".join(
        str(form.get("description") or form.get("enum") or form.get("type") or form)
        for form in forms
    )


def _short(value: Any, limit: int = 80) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


# How types are called in YAML.
TYPE_NAMES = {"object": "a mapping", "array": "a list"}


def _type_name(value: Any) -> str:
    names = {bool: "a boolean", str: "a string", int: "an integer", float: "a number"}
    names |= {list: "a list", dict: "a mapping", type(None): "empty", date: "a date"}
    return names.get(type(value), type(value).__name__)
