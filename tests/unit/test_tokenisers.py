from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError

from scripts.files import DataError
from scripts.tokenisation import tokenisers
from scripts.tokenisation.tokenisers import TokeniserUnavailableError
from tests.small_tokeniser import description, small_encoding

REAL = Path(__file__).parents[2] / "../shared/data/tokenizers"


def test_counts_ids_without_special_tokens_truncation_or_padding() -> None:
    built = tokenisers.from_description("small", description())
    assert built.counts(["undeclared", "", "xyz"]) == [4, 0, 3]
    text = "undeclared"
    assert [text[a:b] for a, b in built.spans(text)] == ["un", "de", "cl", "ared"]


def test_bytes_of_one_character_are_counted_though_their_slices_repeat() -> None:
    built = tokenisers.from_description("small", description())
    assert built.counts(["é", "漢"]) == [2, 3]
    assert built.spans("漢") == [(0, 1)] * 3


def test_fingerprint_ignores_what_does_not_cut_text() -> None:
    first = tokenisers.from_description("a", description()).fingerprint
    assert first == tokenisers.from_description("b", description(special=False)).fingerprint
    assert first != tokenisers.from_description("c", description(("un", "dec"))).fingerprint


def test_reads_file_folder_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(description(), "utf-8")
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(description().encode()))
    for path in (tmp_path, tmp_path / "tokenizer.json", tmp_path / "t.json.gz"):
        assert tokenisers.load_file(path).counts(["unde"]) == [2]


def test_broken_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"model": 3}', "utf-8")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    (tmp_path / "c.json.gz").write_bytes(b"no gzip")
    for name in ("a.json", "b.json", "c.json.gz"):
        with pytest.raises(DataError, match=name):
            tokenisers.load_file(tmp_path / name)
    with pytest.raises(TokeniserUnavailableError, match="no such file"):
        tokenisers.load_file(tmp_path / "absent.json")


def test_the_hub_is_asked_only_where_the_entry_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(description(), "utf-8")
    asked: list[tuple[Any, ...]] = []

    def download(repository: str, name: str, revision: str | None = None) -> str:
        asked.append((repository, name, revision))
        return str(file)

    monkeypatch.setattr(tokenisers, "hf_hub_download", download)
    entry = {"source": "owner/name", "revision": "abc"}
    for tokenizer in ("none", "same"):
        with pytest.raises(TokeniserUnavailableError):
            tokenisers.tokeniser_of({**entry, "tokenizer": tokenizer}, [])
    with pytest.raises(TokeniserUnavailableError):
        tokenisers.tokeniser_of(entry, [])
    tokenisers.tokeniser_of({**entry, "tokenizer": "same"}, [str(file)])
    assert asked == []
    tokenisers.tokeniser_of({**entry, "tokenizer": "hub"}, [])
    tokenisers.tokeniser_of({**entry, "tokenizer": {"hub": "other/name"}}, [])
    assert asked == [
        ("owner/name", "tokenizer.json", "abc"),
        ("other/name", "tokenizer.json", None),
    ]


def test_absent_and_unreachable_are_different(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(error: Exception) -> None:
        def download(*_: Any, **__: Any) -> str:
            raise error

        monkeypatch.setattr(tokenisers, "hf_hub_download", download)

    # Built without a server's reply, which their constructors ask for.
    failing(RemoteEntryNotFoundError.__new__(RemoteEntryNotFoundError))
    with pytest.raises(TokeniserUnavailableError, match="owner/name"):
        tokenisers.load_hub("owner/name")
    for error in (LocalEntryNotFoundError("offline"), ConnectionError("down")):
        failing(error)
        with pytest.raises(DataError, match="cannot be reached"):
            tokenisers.load_hub("owner/name")


@pytest.mark.skipif(not REAL.is_dir(), reason="no tokeniser files")
@pytest.mark.parametrize("name", ["llama2", "mistral_tekken_240911", "olmo_v1_5"])
def test_real_tokenisers_cover_the_word(name: str) -> None:
    built = tokenisers.load_file(REAL / f"{name}.json.gz")
    word = "osphresiology"
    assert "".join(word[a:b] for a, b in built.spans(word)) == word
    assert built.counts([word])[0] == len(built.spans(word))
    assert json.loads(json.dumps(built.fingerprint)) == built.fingerprint


def test_tiktoken_spans_are_code_points() -> None:
    built = tokenisers.from_encoding(small_encoding(b"2034", b" Okt", "أ".encode()[:1]))
    text = "2034 Oktأ"
    assert [(t.start, t.end, t.content) for t in built.tokens(text)] == [
        (0, 4, b"2034"),
        (4, 8, b" Okt"),
        (8, 9, b"\xd8"),
        (8, 9, b"\xa3"),
    ]
    assert built.spans(text) == [(0, 4), (4, 8), (8, 9), (8, 9)]
    assert built.counts([text, "", "x"]) == [4, 0, 1]
    assert [t.spelling for t in built.tokens(text)][-1] == "\ufffd"
    assert built.decodes_alone and not tokenisers.from_description("a", description()).decodes_alone


def test_tiktoken_reads_special_tokens_and_surrogates_as_text() -> None:
    built = tokenisers.from_encoding(small_encoding())
    text = "<|endoftext|>\ud800"
    assert built.counts([text]) == [13 + 3]
    assert built.spans(text)[-3:] == [(13, 14)] * 3


def test_tiktoken_fingerprint_is_over_what_cuts() -> None:
    first = tokenisers.from_encoding(small_encoding(b"20")).fingerprint
    assert first == tokenisers.from_encoding(small_encoding(b"20")).fingerprint
    assert first != tokenisers.from_encoding(small_encoding(b"21")).fingerprint
    assert len(first) == 16


def test_tiktoken_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"source": "owner/name", "tokenizer": {"tiktoken": "o200k_base"}}
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: small_encoding(name.encode()))
    assert tokenisers.tokeniser_of(entry, []).counts(["o200k_base"]) == [1]

    def offline(name: str) -> tiktoken.Encoding:
        raise ConnectionError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", offline)
    with pytest.raises(TokeniserUnavailableError, match=r"o200k_base.*TIKTOKEN_CACHE_DIR"):
        tokenisers.tokeniser_of(entry, [])


@pytest.mark.parametrize("name", ["gpt-5", "gpt-4o", "cl100k", "", "../o200k_base"])
def test_an_unknown_encoding_is_an_error_and_never_another_one(name: str) -> None:
    with pytest.raises(DataError, match=r"no encoding .*known: .*o200k_base"):
        tokenisers.tokeniser_of({"tokenizer": {"tiktoken": name}}, [])


def test_contents_of_tokens() -> None:
    built = tokenisers.from_description("small", description())
    assert built.byte_level and built.unknown is None
    assert [t.content for t in built.tokens("un 漢")] == [b"un", b" ", b"\xe6", b"\xbc", b"\xa2"]
    # An added token is spelled in plain text, with a sign that the alphabet of bytes lacks.
    assert tokenisers.bytes_of_spelling("<漢>") == "<漢>".encode()
    assert sorted(tokenisers.byte_alphabet().values()) == list(range(256))


def test_unknown_tokens_of_every_kind_of_model() -> None:
    assert tokenisers.unknown_token({"unk_token": "[UNK]"}) == "[UNK]"
    assert tokenisers.unknown_token({"unk_id": 1, "vocab": [["a", 0.0], ["<unk>", 0.0]]}) == "<unk>"
    assert tokenisers.unknown_token({"unk_token": None}) is None
    assert tokenisers.unknown_token({}) is None
