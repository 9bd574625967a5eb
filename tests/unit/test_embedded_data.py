import gzip
import pickle
import zipfile
from pathlib import Path

import pytest
import yaml

from scripts.corpora import english_words
from scripts.corpora.english_words import words_from_pickle, words_from_wheel, write_word_list
from scripts.corpora.readers import palindromes, read_documents, read_palindromes, read_word_list
from scripts.corpora.sources import verify
from scripts.files import DataError, iterate_jsonl, sha256_file

ROOT = Path(__file__).parents[2]
CORPORA = yaml.safe_load((ROOT / "config.yaml").read_text())["corpora"]
EMBEDDED = {name: entry for name, entry in CORPORA.items() if name.startswith("embedded_")}


@pytest.mark.parametrize("name", sorted(EMBEDDED))
def test_shipped_files_are_the_configured_ones(name):
    verify(ROOT / EMBEDDED[name]["path"], EMBEDDED[name])


def test_enough_distinct_palindromes():
    words = read_word_list(ROOT / EMBEDDED["embedded_words"]["path"])
    assert len(words) == len(set(words)) == EMBEDDED["embedded_words"]["entries"]
    listed = read_palindromes(ROOT / EMBEDDED["embedded_palindromes"]["path"])
    assert len(listed) == EMBEDDED["embedded_palindromes"]["entries"]
    assert all(word == word[::-1] and word.islower() and len(word) >= 3 for word in listed)
    assert not set(listed) & set(palindromes(words, [3, 24]))
    assert len(palindromes([*words, *listed], [3, 24])) >= 215


def test_documents_are_plain_prose():
    path = ROOT / EMBEDDED["embedded_documents"]["path"]
    documents = read_documents(path, [200, 260])
    rows = [row for _, row in iterate_jsonl(path)]
    assert len(documents) == len(rows) >= 20
    assert len({document.title for document in documents}) == len(documents)
    assert all(document.text.isascii() and "<" not in document.text for document in documents)
    assert {row["licence"] for row in rows} == {"CC0-1.0"}


def test_every_source_names_licence_and_attribution():
    readme = (ROOT / "data/README.md").read_text()
    for name, entry in CORPORA.items():
        assert entry["licence"] and entry["attribution"] and entry["label"]
        assert f"`{name}`" in readme
        if "url" in entry:
            assert len(entry["sha256"]) == 64 and entry["size"] > 0


class Hostile:
    def __reduce__(self):
        return (print, ("executed",))


class Counted(set):
    pass


@pytest.mark.parametrize(
    "value",
    [Hostile(), {"a", Path("b").name, 3}, ["a"], Counted({"a"}), {("a",)}],
)
def test_only_a_set_of_strings_is_unpickled(value, capsys):
    with pytest.raises(DataError):
        words_from_pickle(pickle.dumps(value))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("data", [b"", b"\x80\x05", b"garbage", b"Pabc\n."])
def test_broken_pickle(data):
    with pytest.raises(DataError):
        words_from_pickle(data)


def test_word_list_is_made_from_the_wheel(tmp_path):
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(english_words.MEMBER, pickle.dumps({"pear", "apple", "Zoe"}))
    words = words_from_wheel(wheel, sha256_file(wheel))
    assert words == ["Zoe", "apple", "pear"]
    with pytest.raises(DataError, match="take english-words 2"):
        english_words.main([str(wheel), str(tmp_path / "out.gz")])
    for name in ("a.gz", "b.gz"):
        write_word_list(tmp_path / name, words)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"Zoe\napple\npear\n"


def test_shipped_word_list_has_no_name_or_time():
    header = (ROOT / EMBEDDED["embedded_words"]["path"]).read_bytes()[:10]
    assert header[3:8] == bytes(5)
