"""Strict reading, atomic writing, and the same bytes for the same content."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.files import (
    DataError,
    atomic_write,
    dump_line,
    iterate_csv,
    iterate_jsonl,
    parse_json,
    read_csv,
    read_json,
    read_records,
    sha256_file,
    write_csv,
    write_json,
    write_parquet,
    write_records,
    write_text,
)
from scripts.records import Item, Judgement

# Any text that Python can hold: line separators, controls and lone surrogates included.
TEXT = st.text(st.characters(exclude_categories=()))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def judgement(text: str = "raw", **answers: object) -> Judgement:
    return Judgement(request_id="1", judge="j", answers=dict(answers), raw=text)


class TestReading:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b"{\n", "not valid JSON"),
            (b"\n", "not valid JSON"),
            (b"\xff{}\n", "not valid JSON"),
            (b'{"a": 1} {"b": 2}\n', "not valid JSON"),
            (b'{"a": 1, "a": 2}\n', "duplicate key 'a'"),
            (b'{"b": {"a": 1, "a": 2}}\n', "duplicate key 'a'"),
            (b'{"a": NaN}\n', "NaN is not JSON"),
            (b'{"a": [-Infinity]}\n', "-Infinity is not JSON"),
            (b"[1]\n", "expected a JSON object, found list"),
            (b'{"a": 1', "the last line is cut off"),
        ],
    )
    def test_a_bad_row_names_file_and_line(self, tmp_path: Path, line: bytes, message: str) -> None:
        path = tmp_path / "rows.jsonl"
        path.write_bytes(b'{"a": 0}\n' + line)
        rows = iterate_jsonl(path)
        assert next(rows) == (1, {"a": 0})
        with pytest.raises(DataError, match=rf"rows\.jsonl, line 2: .*{message}"):
            list(rows)

    def test_a_cut_line_is_an_error_and_one_without_its_newline_is_not(
        self, tmp_path: Path
    ) -> None:
        whole = dump_line({"a": 12345})
        path = tmp_path / "rows.jsonl"
        path.write_bytes(whole[:-1])
        assert list(iterate_jsonl(path)) == [(1, {"a": 12345})]
        for cut in range(1, len(whole) - 1):
            path.write_bytes(whole[:cut])
            with pytest.raises(DataError, match="line 1: the last line is cut off"):
                list(iterate_jsonl(path))
        path.write_bytes(b"")
        assert list(iterate_jsonl(path)) == []

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"extra": 1}, r"unknown field\(s\) \['extra'\]"),
            ({"raw": 5}, "'raw' is int, expected str"),
            ({"answers": []}, "'answers' is list, expected dict"),
            ({"judge": None}, "'judge' is NoneType, expected str"),
        ],
    )
    def test_a_row_of_the_wrong_shape_names_file_and_line(
        self, tmp_path: Path, change: dict[str, object], message: str
    ) -> None:
        path = tmp_path / "judgements.jsonl"
        good = judgement().to_json()
        path.write_bytes(dump_line(good) + dump_line({**good, **change}))
        with pytest.raises(DataError, match=rf"judgements\.jsonl, line 2: .*{message}"):
            read_records(path, Judgement)

    def test_a_missing_field(self, tmp_path: Path) -> None:
        path = tmp_path / "judgements.jsonl"
        path.write_bytes(dump_line({"request_id": "1", "judge": "j"}))
        with pytest.raises(DataError, match=r"line 1: .*missing field\(s\) \['answers', 'raw'\]"):
            read_records(path, Judgement)

    def test_a_bad_json_file_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "numbers.json"
        path.write_text('{"a": 1, "a": 2}')
        with pytest.raises(DataError, match=r"numbers\.json: not valid JSON \(duplicate key 'a'"):
            read_json(path)


class TestRoundTrips:
    @pytest.mark.parametrize(
        "text",
        [
            "a\u2028b\u2029c",
            "a\nb\r\nc\x85d\x0b\x0c",
            "\ud800 and \udfff",
            "\U0001f600",
            "\x00\x7f",
        ],
    )
    def test_hostile_text_stays_one_row(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "rows.jsonl"
        rows = [judgement(text, **{text: text}), judgement("next")]
        write_records(path, rows)
        assert read_records(path, Judgement) == rows
        assert path.read_bytes().count(b"\n") == 2
        assert path.read_bytes().isascii()

    @given(st.dictionaries(TEXT, JSON_VALUES, max_size=4))
    def test_every_object_is_one_line_and_comes_back(self, row: dict[str, object]) -> None:
        line = dump_line(row)
        assert line.endswith(b"\n") and line.count(b"\n") == 1 and line.isascii()
        assert parse_json(line) == row
        # The order in which a program filled the object does not show.
        assert dump_line(dict(reversed(list(row.items())))) == line

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_what_is_no_json_is_not_written(self, tmp_path: Path, value: float) -> None:
        path = tmp_path / "out.json"
        write_json(path, {"a": 1})
        with pytest.raises(ValueError, match="Out of range float"):
            write_json(path, {"a": value})
        with pytest.raises(ValueError, match="Out of range float"):
            write_records(path, [judgement(score=value)])
        assert json.loads(path.read_text()) == {"a": 1}

    def test_json_file(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "out.json"
        write_json(path, {"b": "é\u2028", "a": [1, None]})
        assert read_json(path) == {"a": [1, None], "b": "é\u2028"}
        assert path.read_bytes().endswith(b"}\n")
        assert path.read_text().index('"a"') < path.read_text().index('"b"')

    def test_item_survives_and_keeps_its_identifier(self, tmp_path: Path) -> None:
        item = Item.create("b", "t", {"c": 1}, {"x": "\ud800"}, {"answer": 3}, {})
        write_records(tmp_path / "i.jsonl", [item])
        assert read_records(tmp_path / "i.jsonl", Item) == [item]


class TestAtomicWriting:
    def test_an_error_keeps_what_was_there(self, tmp_path: Path) -> None:
        path = tmp_path / "file.txt"
        write_text(path, "old")
        with pytest.raises(RuntimeError, match="half way"), atomic_write(path) as handle:
            handle.write("new")
            handle.flush()
            raise RuntimeError("half way")
        assert path.read_text() == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]

    def test_an_error_before_the_first_version_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "new.txt"):
            raise KeyboardInterrupt
        assert list(tmp_path.iterdir()) == []

    def test_readers_see_the_old_or_the_new_file(self, tmp_path: Path) -> None:
        path = tmp_path / "file.txt"
        write_text(path, "old")
        with atomic_write(path) as handle:
            handle.write("new")
            handle.flush()
            assert path.read_text() == "old"
        assert path.read_text() == "new"

    def test_a_killed_writer_leaves_the_old_file(self, tmp_path: Path, repository: Path) -> None:
        path = tmp_path / "file.txt"
        write_text(path, "old")
        code = (
            "import os\nfrom scripts.files import atomic_write\n"
            "with atomic_write('file.txt') as handle:\n"
            "    handle.write('new'); handle.flush(); os._exit(9)\n"
        )
        environment = {"PYTHONPATH": str(repository)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 9
        assert path.read_text() == "old"

    def test_what_a_killed_run_left_is_removed_at_the_next_write(self, tmp_path: Path) -> None:
        old, new, held = (tmp_path / f".file.txt.{word}" for word in ("abcd_123", "b" * 8, "c" * 8))
        other = [tmp_path / name for name in (".file.txt.lock", "file.txt.abcd_123", ".x.abcd_123")]
        for path in (old, new, held, *other):
            path.write_text("half")
        for path in (old, held, *other):
            os.utime(path, (1, 1))
        os.utime(new, (time.time() + 60,) * 2)
        with held.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            write_text(tmp_path / "file.txt", "whole")
        assert not old.exists()
        assert all(path.exists() for path in (new, held, *other))

    def test_a_full_disk_is_told_with_the_file(self, tmp_path: Path) -> None:
        full = pytest.raises(OSError, match=r"No space left on device: .*file\.txt")
        with full, atomic_write(tmp_path / "file.txt"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with pytest.raises(OSError) as caught, atomic_write(tmp_path / "file.txt"):
            raise OSError(errno.ECONNRESET, "somebody hung up")
        assert caught.value.filename is None
        assert list(tmp_path.iterdir()) == []

    def test_line_ends_are_newlines_and_rights_follow_the_mask(self, tmp_path: Path) -> None:
        old = os.umask(0o027)
        try:
            write_text(tmp_path / "file.txt", "a\nb\n")
        finally:
            os.umask(old)
        assert (tmp_path / "file.txt").read_bytes() == b"a\nb\n"
        assert stat.S_IMODE((tmp_path / "file.txt").stat().st_mode) == 0o640


FRAME = {
    "model": ["b", "a", None],
    "ema": [0.1, 2 / 3, math.nan],
    "note": ["None", 'comma, "quote"\nand line', "NA"],
    "n": [1, 2, 3],
}


class TestFrames:
    def test_csv_comes_back_with_every_digit(self, tmp_path: Path) -> None:
        frame = pd.DataFrame(FRAME)
        write_csv(tmp_path / "f.csv", frame)
        back = read_csv(tmp_path / "f.csv")
        # Only the empty field is missing: "None" and "NA" are text.
        assert back["note"].tolist() == FRAME["note"]
        assert back["ema"].tolist()[:2] == [0.1, 2 / 3]
        assert back["model"].isna().tolist() == [False, False, True]
        assert b"\r" not in (tmp_path / "f.csv").read_bytes()

    def test_same_frame_gives_the_same_bytes(self, tmp_path: Path) -> None:
        frame = pd.DataFrame(FRAME)
        # The same rows, reached another way: other index, other history.
        other = pd.concat([frame[2:], frame[:2]]).sort_values("n")
        other.index = pd.Index(range(7, 10))
        for write, name in ((write_csv, "f.csv"), (write_parquet, "f.parquet")):
            for folder, content in (("x", frame), ("y", other)):
                write(tmp_path / folder / name, content)
            assert sha256_file(tmp_path / "x" / name) == sha256_file(tmp_path / "y" / name)

    def test_parquet_comes_back_without_traces_of_pandas(self, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        frame = pd.DataFrame({"a": pd.array([True, None], dtype="boolean"), "b": ["x", "y"]})
        write_parquet(tmp_path / "f.parquet", frame)
        table = pq.read_table(tmp_path / "f.parquet")
        assert table.to_pydict() == {"a": [True, None], "b": ["x", "y"]}
        assert table.schema.metadata is None

    def test_a_frame_that_cannot_be_written_keeps_the_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "f.parquet"
        write_parquet(path, pd.DataFrame(FRAME))
        before = path.read_bytes()
        with pytest.raises(Exception, match="mixed"):
            write_parquet(path, pd.DataFrame({"mixed": [1, "a", b"b"]}))
        assert path.read_bytes() == before
        assert [entry.name for entry in tmp_path.iterdir()] == ["f.parquet"]


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11])
def test_checksum_of_a_file(tmp_path: Path, size: int) -> None:
    data = bytes(range(size))
    (tmp_path / "f").write_bytes(data)
    assert sha256_file(tmp_path / "f", chunk=10) == hashlib.sha256(data).hexdigest()


def test_a_table_of_people_is_numbered_by_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\r\n\r\n1,"two\r\nlines"\r\n,=1+1\n')
    assert list(iterate_csv(path, ("b",))) == [
        (3, {"a": "1", "b": "two\r\nlines"}),
        (5, {"a": "", "b": "=1+1"}),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"row 1: no column b"),
        (b"a,b,b\n1,2,3\n", "row 1: a column stands twice"),
        (b"a,b\n\n1\n", "row 3: 1 cells, expected 2"),
        (b"a,b\n1,2,3\n", "row 2: 3 cells, expected 2"),
        (b"a,b\n1,\xff\n", "no CSV in UTF-8"),
        (b'a,b\n1,2\n"3,4\n', "row 3 or later: no CSV"),
        (b'"a,b\n', "row 1 or later: no CSV"),
    ],
)
def test_a_table_that_people_spoilt(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"people.csv, .*{message}"):
        list(iterate_csv(path, ("b",)))
