"""The manifest of instruments is read strictly: a slip is an error with file, row and remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.documents.manifest import documents, read_manifest
from scripts.files import DataError

HEADER = "file,url,sha256,type,date,licence"
SUM = "a" * 64


def manifest(folder: Path, *rows: str, header: str = HEADER) -> Path:
    for name in ("a.pdf", "b-1.pdf", "c_2.pdf"):
        (folder / name).write_bytes(b"%PDF-1.7\n")
    path = folder / "manifest.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_entries_in_order_and_documents_sorted(tmp_path: Path) -> None:
    path = manifest(
        tmp_path,
        f"b-1.pdf,https://example.org/b,{SUM},SRO,2020-06-11,CC0-1.0",
        "a.pdf,,,Act,,government text",
    )
    entries = read_manifest(path)
    assert [entry.document for entry in entries] == ["b-1", "a"]
    assert entries[0].to_json() == {
        "file": "b-1.pdf",
        "url": "https://example.org/b",
        "sha256": SUM,
        "type": "SRO",
        "date": "2020-06-11",
        "licence": "CC0-1.0",
        "title": "",
    }
    assert Path(entries[1].path) == tmp_path / "a.pdf"
    assert list(documents(path)) == ["a", "b-1"]


def test_title_is_optional_and_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    path = manifest(
        tmp_path,
        "An Act,Act,a.pdf,,,2020-01-01,CC0",
        header="title,type,file,url,sha256,date,licence",
    )
    assert read_manifest(path)[0].title == "An Act"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a.pdf,,,Law,,x", "unknown type 'Law'; known: Act"),
        (",,,Act,,x", "no file is named"),
        ("../a.pdf,,,Act,,x", "is a path"),
        ("/etc/a.pdf,,,Act,,x", "is a path"),
        ("sub\\a.pdf,,,Act,,x", "is a path"),
        ("..,,,Act,,x", "is a path"),
        ("a.txt,,,Act,,x", r"does not end in \.pdf"),
        ("a b.pdf,,,Act,,x", "rename the file"),
        (".pdf,,,Act,,x", "rename the file"),
        ("-rf.pdf,,,Act,,x", "rename the file"),
        ("আইন.pdf,,,Act,,x", "rename the file"),
        ("missing.pdf,,,Act,,x", "does not exist"),
        ("a.pdf,,123,Act,,x", "not 64 hexadecimal"),
        (f"a.pdf,,{'A' * 64},Act,,x", "not 64 hexadecimal"),
        ("a.pdf,,,Act,2020-02-30,x", "no day"),
        ("a.pdf,,,Act,11/06/2020,x", "no day"),
        ("a.pdf,,,Act,২০২০-০১-০১,x", "no day"),
        ("a.pdf,,,Act,x", "5 cells"),
        ("b-1.pdf,,,Act,,x", "stands in row 2 already"),
    ],
)
def test_slips_name_file_and_row(tmp_path: Path, row: str, said: str) -> None:
    path = manifest(tmp_path, "b-1.pdf,,,SRO,,x", row)
    with pytest.raises(DataError, match=said) as error:
        read_manifest(path)
    assert f"{path}, row 3" in str(error.value)


def test_same_stem_in_other_letters(tmp_path: Path) -> None:
    (tmp_path / "A.pdf").write_bytes(b"%PDF")
    with pytest.raises(DataError, match="already"):
        read_manifest(manifest(tmp_path, "a.pdf,,,Act,,x", "A.pdf,,,Act,,x"))


def test_columns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column licence"):
        read_manifest(manifest(tmp_path, "a.pdf,,,Act,", header="file,url,sha256,type,date"))
    with pytest.raises(DataError, match="unknown column"):
        read_manifest(manifest(tmp_path, "a.pdf,,,Act,,x,y", header=f"{HEADER},note"))
    with pytest.raises(DataError, match="no such manifest"):
        read_manifest(tmp_path / "none.csv")


def test_link_that_leaves_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.pdf").write_bytes(b"%PDF")
    folder = tmp_path / "corpus"
    folder.mkdir()
    path = manifest(folder, "link.pdf,,,Act,,x")
    (folder / "link.pdf").symlink_to(outside / "secret.pdf")
    with pytest.raises(DataError, match="a link that leaves"):
        read_manifest(path)


def test_reading_a_manifest_loads_nothing_heavy(repository: Path) -> None:
    code = (
        "import sys, scripts.documents.manifest\n"
        "heavy = {'pandas', 'pymupdf', 'numpy', 'pypdfium2', 'jsonschema', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_embedded_manifest(repository: Path) -> None:
    path = repository / "data" / "embedded" / "tide" / "manifest.csv"
    if not path.is_file():
        pytest.skip("no embedded instruments here")
    assert len(documents(path)) >= 12
