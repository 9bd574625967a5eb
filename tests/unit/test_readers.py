import gzip
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.corpora.readers import (
    excerpts,
    is_palindrome,
    palindromes,
    read_documents,
    read_nltk_words,
    read_palindromes,
    read_word_list,
    read_words,
    vocabulary,
)
from scripts.corpora.sources import CorpusError, verify
from scripts.files import DataError

SHARED = Path(__file__).parents[2] / "../shared/data"


def test_word_list_plain_and_gzip(tmp_path):
    (tmp_path / "w.txt").write_text("one\r\n\n two \nthree")
    (tmp_path / "w.gz").write_bytes(gzip.compress(b"one\ntwo\nthree\n"))
    assert read_word_list(tmp_path / "w.txt") == read_word_list(tmp_path / "w.gz")
    assert read_words(tmp_path / "w.txt", "word_list", 3) == ["one", "two", "three"]


@pytest.mark.parametrize(
    "data", [b"not gzip", gzip.compress(b"word\n" * 99, mtime=0)[:-9], b"\x1f\x8b"]
)
def test_broken_gzip(tmp_path, data):
    (tmp_path / "w.gz").write_bytes(data)
    with pytest.raises(DataError, match=r"w\.gz"):
        read_word_list(tmp_path / "w.gz")


def test_gzip_bomb_and_bad_text(tmp_path, monkeypatch):
    monkeypatch.setattr("scripts.corpora.readers._UNPACKED_LIMIT", 1000)
    (tmp_path / "w.gz").write_bytes(gzip.compress(b"a\n" * 1000))
    with pytest.raises(DataError, match="unpacks to more"):
        read_word_list(tmp_path / "w.gz")
    (tmp_path / "w.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_word_list(tmp_path / "w.txt")


def words_zip(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"words/{name.replace('_', '-')}", text)
    return path


def test_nltk_archive(tmp_path, monkeypatch):
    path = words_zip(tmp_path / "w.zip", en="a\nAaron\n", en_basic="able\n")
    assert read_words(path, "nltk_words", 3) == ["a", "Aaron", "able"]
    with pytest.raises(DataError, match="3 entries, expected 4"):
        read_nltk_words(path, 4)
    monkeypatch.setattr("scripts.corpora.readers._UNPACKED_LIMIT", 4)
    with pytest.raises(DataError, match="larger than"):
        read_nltk_words(path)


def test_not_the_nltk_archive(tmp_path):
    with pytest.raises(DataError, match=r"words\.zip"):
        read_nltk_words(words_zip(tmp_path / "w.zip", en="a\n"))
    (tmp_path / "x.zip").write_bytes(b"PK no")
    with pytest.raises(DataError):
        read_nltk_words(tmp_path / "x.zip")


def test_unknown_reader_and_wrong_number(tmp_path):
    (tmp_path / "w").write_text("a\n")
    with pytest.raises(DataError, match="no reader 'csv'"):
        read_words(tmp_path / "w", "csv")
    with pytest.raises(DataError, match="1 entries, expected 2"):
        read_words(tmp_path / "w", "word_list", 2)


def test_real_nltk_archive():
    path = SHARED / "nltk_words/words.zip"
    if not path.exists():
        pytest.skip("the NLTK archive is not at hand")
    words = read_nltk_words(path, 236736)
    known = (SHARED / "nltk_words/nltk_palindromes.txt").read_text().split()
    assert palindromes(words, [3, 24]) == known


def test_vocabulary_folds_and_filters():
    words = ["Paris", "paris", "don't", "co-op", "caf\u00e9", "ab", "zebra", "x" * 9]
    assert vocabulary(words, [3, 8]) == ["paris", "zebra"]


@given(st.lists(st.text(max_size=8)))
def test_vocabulary_is_clean(words):
    found = vocabulary(words, [1, 8])
    assert found == sorted(set(found))
    assert all(word.isascii() and word.isalpha() and word.islower() for word in found)


@given(st.text(alphabet="abcXYZ", max_size=10))
def test_is_palindrome_ignores_case(text):
    assert is_palindrome(text + text[::-1].swapcase())
    assert not is_palindrome("q" + text + "w")


def test_palindrome_file(tmp_path):
    (tmp_path / "p").write_text("# title\nAnna # name\n\nnever odd or even\n")
    assert read_palindromes(tmp_path / "p") == ["Anna", "never odd or even"]
    assert read_words(tmp_path / "p", "palindrome_list", 2) == ["Anna", "never odd or even"]
    assert palindromes(read_palindromes(tmp_path / "p"), [3, 24]) == ["anna"]
    for line in ("palindrome", "!!"):
        (tmp_path / "p").write_text(f"noon\n{line}\n")
        with pytest.raises(DataError, match="line 2"):
            read_palindromes(tmp_path / "p")


def test_excerpts():
    assert excerpts("one  two\nthree", [2, 3]) == ["one two three"]
    long = "a b\nc d\ne f g h i j k\nl m n o\n"
    assert excerpts(long, [4, 5], limit=5) == ["a b c d", "l m n o"]
    assert excerpts(long, [4, 5]) == ["a b c d"]
    assert excerpts("one", [2, 3]) == []


def rows(path, *entries):
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def test_documents(tmp_path):
    text = {"id": "x", "title": "X", "text": "a b c d\ne f g h\n"}
    path = rows(tmp_path / "d", text, {"id": "y", "title": "Y", "text": "short"})
    found = read_documents(path, [3, 5], limit=2)
    assert [(d.document_id, d.text) for d in found] == [("x", "a b c d"), ("x#2", "e f g h")]
    with pytest.raises(DataError, match="no passage of 50 to 60"):
        read_documents(path, [50, 60])
    with pytest.raises(DataError, match="line 2: the id 'x' stands twice"):
        read_documents(rows(tmp_path / "d", text, text), [3, 5])
    with pytest.raises(DataError, match="line 1: needs the texts"):
        read_documents(rows(tmp_path / "d", {"id": "x", "title": 3, "text": "t"}), [1, 5])


def test_verify(tmp_path):
    path = tmp_path / "f"
    entry = {"sha256": hashlib.sha256(b"data").hexdigest(), "size": 4}
    with pytest.raises(CorpusError, match="ships with the project"):
        verify(path, entry)
    path.write_bytes(b"data")
    verify(path, entry)
    verify(path, {})
    with pytest.raises(CorpusError, match="4 bytes, expected 5"):
        verify(path, entry | {"size": 5})
    with pytest.raises(CorpusError, match=r"expected 0+; delete it and run"):
        verify(path, {"sha256": "0" * 64, "url": "https://example.org"})
