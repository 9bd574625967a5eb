"""A key is read from where it belongs, and a server that says it again is not repeated."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.inference.api_keys import (
    PLACEHOLDER_KEY,
    REMOVED,
    ApiKeyError,
    Redactor,
    find_key,
    is_secret,
    shown,
)

KEY = "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"
ADDRESS = "https://host.invalid/v1"


def found(variable: str | None = "A_KEY", file: Path | str | None = None) -> str:
    return find_key(variable, file and str(file), local=False, address=ADDRESS)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", " \t\n\n"])
def test_white_space_around_a_key_is_not_part_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    monkeypatch.setenv("A_KEY", KEY + ending)
    assert found() == KEY
    monkeypatch.delenv("A_KEY")
    file = tmp_path / "key"
    for start in (b"", b"\xef\xbb\xbf"):
        file.write_bytes(start + (KEY + ending).encode())
        assert found(file=file) == KEY


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (KEY[:20] + " " + KEY[20:], "must hold the key and nothing else"),
        (KEY[:20] + "\r\n" + KEY[20:], "must hold the key and nothing else"),
        ("\u201c" + KEY + "\u201d", "characters that no key has"),
        (KEY + "\x07", "characters that no key has"),
    ],
)
def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str, words: str
) -> None:
    monkeypatch.setenv("A_KEY", key)
    with pytest.raises(ApiKeyError, match=words) as caught:
        found()
    assert "A_KEY" in str(caught.value) and KEY[:12] not in str(caught.value)
    monkeypatch.delenv("A_KEY")
    file = tmp_path / "key"
    file.write_text(key, encoding="utf-8", newline="")
    with pytest.raises(ApiKeyError, match=words) as caught:
        found(file=file)
    assert str(file) in str(caught.value) and KEY[:12] not in str(caught.value)


def test_no_key_says_where_to_put_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(ApiKeyError, match="set the environment variable A_KEY, or name a file"):
        found()
    with pytest.raises(ApiKeyError, match=r"cannot be read .FileNotFoundError.; put the key"):
        found(file=tmp_path / "none")
    with pytest.raises(ApiKeyError, match="inside the repository; move the key out"):
        found(file=Path(__file__))
    link = tmp_path / "link"
    link.symlink_to(Path(__file__))
    with pytest.raises(ApiKeyError, match="inside the repository"):
        found(file=link)
    local = find_key("A_KEY", None, local=True, address="http://localhost:1")
    assert local == PLACEHOLDER_KEY


@pytest.mark.parametrize("pasted", [KEY, "0a1b2c3d4e5f60718293a4b5", "hf_" + "aB3" * 8])
def test_a_key_in_the_place_of_its_name_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, pasted: str
) -> None:
    for variable, file in ((pasted, None), (None, pasted)):
        with pytest.raises(ApiKeyError) as caught:
            found(variable, file)
        assert pasted not in str(caught.value) and "a key stands where" in str(caught.value)
    assert shown("OPENROUTER_API_KEY") == "OPENROUTER_API_KEY"
    assert shown("/home/me/keys/open-router-and-others.txt").startswith("/home/me")


def written(key: str) -> dict[str, str]:
    """A key as a careless server may write it."""
    middle = len(key) // 2
    return {
        "plain": key,
        "upper": key.upper(),
        "swapped": key.swapcase(),
        "backwards": key[::-1],
        "url": quote(key, safe=""),
        "json": json.dumps(key)[1:-1],
        "escapes": "".join(f"\\u{ord(c):04x}" for c in key),
        "entities": html.escape(key),
        "decimal entities": "".join(f"&#{ord(c)};" for c in key),
        "hex": key.encode().hex(),
        "hex in capitals": key.encode().hex().upper(),
        "line": key[:middle] + "\n" + key[middle:],
        "lines": "\n".join(key[i : i + 9] for i in range(0, len(key), 9)),
        "escaped line": key[:middle] + "\\n    " + key[middle:],
        "mail": key[:middle] + "=\n" + key[middle:],
        "base64": base64.b64encode(key.encode()).decode(),
        "basic": base64.b64encode(f"user:{key}".encode()).decode(),
        "bearer": base64.urlsafe_b64encode(f"Bearer {key}\n".encode()).decode(),
        "encoded lines": base64.encodebytes(f"k={key}".encode()).decode(),
    }


@pytest.mark.parametrize("form", sorted(written(KEY)))
@pytest.mark.parametrize("key", [KEY, "a.b+c(d)[e]$f^9|g\\h*i?", "/w+3/x=y&z%20", "abc12345"])
def test_a_key_is_taken_out_in_every_spelling(key: str, form: str) -> None:
    text = written(key)[form]
    said = Redactor(key).answer(f"The key is {text}, thank you.")
    assert text not in said and REMOVED in said
    assert said.startswith("The key is ") and said.endswith(", thank you.")
    assert text not in Redactor(key).message(f"<b>{text}</b>")
    assert text.encode() not in Redactor(key).body(f"\xff {text}".encode("latin-1"))


@given(text=st.text(), key=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8))
def test_a_text_without_the_key_stays_as_it_is(text: str, key: str) -> None:
    if key.casefold() not in "".join(text.split()).casefold():
        assert Redactor(key).answer(text) == text


@pytest.mark.parametrize("word", ["ollama", "EMPTY", "lm-studio", "x", PLACEHOLDER_KEY])
def test_a_plain_word_may_stand_in_an_answer(word: str) -> None:
    assert not is_secret(word)
    redactor = Redactor(word)
    assert redactor.answer(f"I run on {word}.") == f"I run on {word}."
    assert redactor.body(word.encode()) == word.encode()
    shown = redactor.message(f"refused: {word}, exactly")
    assert shown == f"refused: {word if word == PLACEHOLDER_KEY else REMOVED}, exactly"


def test_messages_lose_what_providers_quote_of_a_key() -> None:
    message = Redactor(KEY).message
    for part in ("sk-or-v1-0a1b…e8f9", "Bearer abc.def", "AIzaSyBx0****", "hf_" + "aB3" * 8):
        assert part.split()[-1] not in message(f"wrong key: {part}!")
    # Names of functions and models are no keys.
    assert message("hf_hub_download failed for z-ai/glm-4.6") == (
        "hf_hub_download failed for z-ai/glm-4.6"
    )
