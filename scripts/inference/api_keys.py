"""Keys of hosted models: where they are read from, and their removal from what a server says.

A key comes from an environment variable or from a file outside the checkout. It is sent to the
server and written nowhere; a server that says it again, in whatever spelling, is not repeated.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

REPOSITORY = Path(__file__).resolve().parents[2]
#: What is sent to a server on this machine that asks for no key.
PLACEHOLDER_KEY = "not-needed"
REMOVED = "[key removed]"
#: A key at least this long is a secret; a shorter one from `SHORT_KEY` on only where it has both
#: letters and digits. Other words ("ollama") may belong to an answer and are left there.
LONG_KEY = 16
SHORT_KEY = 8
# Keys of known providers.
KEY_LIKE = re.compile(
    r"(?<![\w-])(?:(?:sk|rk|pk|gsk|csk|xai|nvapi|pplx|hf|r8|ghp|github_pat|glpat)[-_]"
    r"[\w.-]{16,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[\w-]{10,}\.[\w.-]{10,})"
)
# Parts of them, as providers quote them in their error texts.
_QUOTED = re.compile(r"\b(?:sk|rk|pk)-[\w*.…-]{4,}|\bAIza[\w*-]{8,}")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+(?!\[)[^\s\"',;<>\\]+")
# What may stand between two characters of a key that was broken over lines.
_GAP = r"(?:\s|\\[nrt]|=\r?\n)*"


class ApiKeyError(RuntimeError):
    """There is no usable key; the message says where it was looked for, never what was found."""


def find_key(variable: str | None, file: str | None, *, local: bool, address: str) -> str:
    """The key from the environment variable, else from the file; a local server may do without.

    Raises ApiKeyError saying what to set.
    """
    if variable and os.environ.get(variable, "").strip():
        return _usable(os.environ[variable].strip(), f"the environment variable {shown(variable)}")
    if file:
        return _from_file(file)
    if local:
        return PLACEHOLDER_KEY
    named = (
        f"set the environment variable {shown(variable)}"
        if variable
        else "name an environment variable in the option api_key_environment"
    )
    raise ApiKeyError(
        f"{address} needs an API key; {named}, or name a file outside the repository in "
        "api_key_file"
    )


def _from_file(name: str) -> str:
    path, where = Path(name).expanduser().resolve(), f"api_key_file {shown(name)}"
    if inside_repository(name):
        raise ApiKeyError(f"{where} is inside the repository; move the key out of it")
    try:
        key = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ApiKeyError(
            f"{where} cannot be read ({type(error).__name__}); put the key, and nothing else, "
            "into a text file at that path"
        ) from None
    return _usable(key, where)


def _usable(key: str, where: str) -> str:
    """The key when it can be sent in a header; the message does not repeat it."""
    if not key or len(key.split()) != 1:
        raise ApiKeyError(f"{where} must hold the key and nothing else")
    if not (key.isascii() and key.isprintable()):
        raise ApiKeyError(
            f"{where} holds characters that no key has; copy the key again, as plain text"
        )
    return key


def inside_repository(name: str) -> bool:
    """Whether a path lies in this checkout, where it might be committed or packed with results."""
    return Path(name).expanduser().resolve().is_relative_to(REPOSITORY)


def shown(name: str | None) -> str:
    """A name or path for a message; what looks like a key pasted in its place is not repeated."""
    text = str(name)
    bare = "/" not in text and "." not in text and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", text)
    if KEY_LIKE.search(text) or (bare and len(text) >= LONG_KEY and re.search(r"\d", text)):
        return "(a key stands where its place should be named)"
    return text


def is_secret(key: str) -> bool:
    """Whether a key may be taken out of answers: long, or no word of a language."""
    if key == PLACEHOLDER_KEY or len(key) < SHORT_KEY:
        return False
    mixed = any(c.isdigit() for c in key) and any(c.isalpha() for c in key)
    return mixed or len(key) >= LONG_KEY


def spellings(key: str) -> Iterator[str]:
    """The ways in which a key may be written down: plain, encoded, backwards."""
    data = key.encode("utf-8")
    yield key
    yield key[::-1]
    yield quote(key, safe="")
    yield html.escape(key)
    yield json.dumps(key)[1:-1]
    yield data.hex()
    yield key.encode("unicode_escape").decode("ascii")
    yield "".join(f"\\u{ord(c):04x}" for c in key)
    yield "".join(f"&#{ord(c)};" for c in key)
    yield "".join(f"&#x{ord(c):x};" for c in key)
    # Base64 of a text that holds the key: three alignments, without the characters at either end
    # that its neighbours share.
    for shift in range(3):
        for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
            text = alphabet(b"\0" * shift + data).decode("ascii").rstrip("=")
            whole = (shift + len(data)) * 8 // 6
            yield text[(0, 2, 3)[shift] : whole]


class Redactor:
    """Takes one key out of texts of a server, whatever way the server writes it."""

    def __init__(self, key: str) -> None:
        self.key = key
        forms = sorted({form for form in spellings(key) if form}, key=len, reverse=True)
        self._pattern = re.compile(
            "|".join(_GAP.join(map(re.escape, form)) for form in forms), re.IGNORECASE
        )
        self._secret = is_secret(key)

    def answer(self, text: str) -> str:
        """An answer without the key. A key that is a plain word is left: it may belong to it."""
        return self._pattern.sub(REMOVED, text) if self._secret else text

    def message(self, text: str) -> str:
        """Error text without the key, or parts of it as providers quote them."""
        if self._secret:
            text = self._pattern.sub(REMOVED, text)
        elif self.key != PLACEHOLDER_KEY:
            text = re.sub(rf"(?<!\w){re.escape(self.key)}(?!\w)", REMOVED, text)
        text = _BEARER.sub(lambda match: f"{match[1]} {REMOVED}", text)
        return KEY_LIKE.sub(REMOVED, _QUOTED.sub(REMOVED, text))

    def body(self, body: bytes) -> bytes:
        """The bytes of a reply without the key, before anything is cut out of them."""
        text = body.decode("utf-8", "surrogateescape")
        return self.answer(text).encode("utf-8", "surrogateescape")
