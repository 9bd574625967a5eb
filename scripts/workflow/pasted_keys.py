"""Keys of hosted models do not belong into the configuration: it is copied, logged and published.

Found are what looks like a key of a known provider, what has the value of a key in the environment,
and fields whose name says that a key stands there. A message never repeats what it found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from scripts.inference.api_keys import KEY_LIKE, LONG_KEY, REMOVED, inside_repository

# Fields in which a server expects a key.
KEY_FIELD = re.compile(
    r"(?i)(x[-_])?(api[-_]?key|access[-_]?key|(access[-_]?|auth[-_]?)?token|authorization|bearer"
    r"|secret|client[-_]?secret|password|key)"
)
# Variables of the environment whose values are keys.
KEY_VARIABLE = re.compile(r"(?i).*(key|token|secret|password)$")
# Keys of ours with such a name whose value is no key.
OURS = {"api_key_environment", "api_key_file"}
REMEDY = (
    "keys come from the environment (api_key_environment: NAME) or from a file outside the "
    "checkout (api_key_file); take it out here, and replace it at the provider if this file was "
    "shared"
)


def key_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for every place of the configuration where a key stands."""
    yield from _walk(config, "", _known_keys())


def without_keys(text: str) -> str:
    """A message without anything that looks like a key."""
    for key in _known_keys():
        text = text.replace(key, REMOVED)
    return KEY_LIKE.sub(REMOVED, text)


def _known_keys() -> set[str]:
    """Values of the environment that are keys."""
    values = {value.strip() for name, value in os.environ.items() if KEY_VARIABLE.fullmatch(name)}
    return {value for value in values if len(value) >= LONG_KEY and "/" not in value}


def _walk(value: Any, key: str, known: set[str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            path = f"{key}.{name}" if key else str(name)
            if _is_key(str(name), known):
                yield f"{key or '(top level)'}: a key of a provider stands here as a name; {REMEDY}"
            elif isinstance(entry, str):
                yield from _text_problems(str(name), entry, path, known)
            else:
                yield from _walk(entry, path, known)
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from _walk({position: entry}, key, known)


def _text_problems(name: str, text: str, path: str, known: set[str]) -> Iterator[str]:
    if _is_key(text, known) or (name not in OURS and KEY_FIELD.fullmatch(name) and text.strip()):
        yield f"{path}: an API key stands here; {REMEDY}"
    elif name == "base_url" and _has_credentials(text):
        yield f"{path}: a user, password, query or fragment stands in the address; {REMEDY}"
    elif name == "api_key_file" and inside_repository(text):
        yield (
            f"{path}: {text} lies inside the repository, where it could be committed or packed "
            "with the results; move the key out of it"
        )


def _is_key(text: str, known: set[str]) -> bool:
    return bool(KEY_LIKE.search(text)) or any(key in text for key in known)


def _has_credentials(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return bool(parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        return False
