"""Checking, mending and compacting response stores from the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.inference import store as store_module
from scripts.inference.store import (
    ResponseStore,
    StoreError,
    decode_line,
    encode_line,
    to_stored,
)
from scripts.inference.store_commands import SHOWN, compact, main
from tests.unit.test_store import FAILED, ROOT, filled, key_of, response


def test_compaction_drops_what_is_superseded_and_keeps_the_order(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with ResponseStore(path) as store:
        store.append([(key_of(3), response("", **FAILED))])
        store.append([(key_of(2), response("2")), (key_of(2), response("2"))])
        store.append([(key_of(3), response("3")), (key_of(1), response("", **FAILED))])
    before = ResponseStore(path).load().answers
    assert compact(path).duplicates == 2
    assert ResponseStore(path).load().answers == before
    keys = [decode_line(line)[0] for line in path.read_bytes().splitlines()]
    assert keys == [key_of(2), key_of(3), key_of(1)]
    with pytest.raises(StoreError, match="no such"):
        compact(tmp_path / "absent.jsonl")


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = filled(tmp_path / "deep" / "m.jsonl")
    with path.open("ab") as handle:
        handle.write(b"torn")
    assert main(["verify", str(tmp_path)]) == 0
    assert "3 lines, 3 answers, 0 still in error, 0 superseded" in (out := capsys.readouterr().out)
    assert "is cut" in out
    assert main(["compact", str(path)]) == 0
    assert len(path.read_bytes().splitlines()) == 3
    path.write_bytes(b"{}\n")
    assert main(["verify", str(path)]) == 1
    assert "line 1: not a line" in capsys.readouterr().out


def test_every_bad_line_is_told_and_moved_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = filled(tmp_path / "m.jsonl", 6)
    lines = path.read_bytes().splitlines(keepends=True)
    altered = lines[1].replace(b'"text": "1"', b'"text": "9"')
    hurt = bytes(40) + lines[3][40:]
    path.write_bytes(b"".join([lines[0], altered, lines[2], hurt, b"\n", lines[4], b'{"check']))
    assert main(["verify", str(path)]) == 1
    said = capsys.readouterr().out
    assert "6 lines, 3 answers, 0 still in error, 0 superseded" in said
    assert "line 2: the checksum does not match" in said
    assert "line 4: not a line of a response store; it holds NUL bytes" in said
    assert "line 5: not a line" in said
    assert "the last line is cut (7 bytes)" in said
    assert main(["verify", "--repair", str(path)]) == 0
    assert "moved to" in capsys.readouterr().out
    assert path.read_bytes() == lines[0] + lines[2] + lines[4]
    rejected = (tmp_path / "m.jsonl.rejected").read_bytes()
    assert rejected == b"".join([altered, hurt, b"\n", b'{"check\n'])
    assert main(["verify", str(path)]) == 0
    with ResponseStore(path) as store:
        assert store.answers.keys() == {key_of(n) for n in (0, 2, 4)}


def test_what_was_moved_aside_earlier_stays(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl", 1)
    for text in (b"one", b"two"):
        path.write_bytes(path.read_bytes() + text + b"\n")
        assert main(["verify", "--repair", str(path)]) == 0
    assert (tmp_path / "m.jsonl.rejected").read_bytes() == b"one\ntwo\n"


def test_many_bad_lines_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"bad\n" * (SHOWN + 7))
    assert main(["verify", str(path)]) == 1
    said = capsys.readouterr().out
    assert said.count("not a line") == SHOWN and "and 7 more bad lines" in said


def test_a_tree_of_stores_with_shards_and_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(tmp_path / "one" / "m" / "thinking.jsonl")
    filled(tmp_path / "one" / "m" / "thinking.1.jsonl", 1)
    second = tmp_path / "one" / "m" / "thinking.2.jsonl"
    with ResponseStore(second) as store:
        store.append([(key_of(8), response("", **FAILED)), (key_of(9), response("9"))])
    second.write_bytes(second.read_bytes() + encode_line(key_of(1), to_stored(response("other"))))
    filled(tmp_path / "judges" / "j.jsonl", 2)
    (tmp_path / "spending.jsonl").write_bytes(b"of another kind\n")
    (tmp_path / "embeddings").mkdir()
    (tmp_path / "embeddings" / "e.vectors").write_bytes(b"binary")
    assert main(["verify", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "thinking.2.jsonl: 3 lines, 2 answers, 1 still in error, 0 superseded" in said
    assert "thinking.jsonl: 3 lines, 2 answers, 0 still in error, 0 superseded" in said
    # Files are read in the order of their names, as a run reads them.
    assert f"line 2: a different answer to the same question than {second}, line 3" in said
    assert "spending.jsonl: passed over" in said and "e.vectors: passed over" in said
    assert "2 stores, 1 that a run would refuse" in said
    with pytest.raises(StoreError, match="different answer"):
        ResponseStore(second).load()
    assert main(["verify", "--repair", str(tmp_path)]) == 0
    assert len(ResponseStore(second).load().answers) == 5


def test_files_of_another_kind_are_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, table = tmp_path / "spending.jsonl", tmp_path / "config.yaml"
    for path in (ledger, table):
        path.write_bytes(b"of another kind\n")
    for command in (["verify"], ["verify", "--repair"], ["compact"], ["merge"]):
        assert main([*command, str(ledger)]) == 0
        assert "spending.jsonl: passed over (the ledger" in capsys.readouterr().out
        assert main([*command, str(table)]) == 1
        assert "config.yaml: no store file, which ends in .jsonl" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {ledger.name, table.name}
    assert ledger.read_bytes() == table.read_bytes() == b"of another kind\n"
    (empty := tmp_path / "empty").mkdir()
    for command in ("verify", "compact", "merge"):
        assert main([command, str(empty)]) == 0
        assert f"{empty}: no store file in it" in capsys.readouterr().out
        assert main([command, str(tmp_path / "absent.jsonl")]) == 1


def test_a_model_whose_folder_is_a_link_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (store := tmp_path / "store" / "syntaxbench").mkdir(parents=True)
    path = filled(tmp_path / "scratch" / "thinking.jsonl")
    (store / "m").symlink_to(path.parent)
    (store / "round").symlink_to(store)
    path.write_bytes(path.read_bytes() + b"bad\n")
    assert main(["verify", str(store)]) == 1
    assert "m/thinking.jsonl: 4 lines" in (out := capsys.readouterr().out) and out.count(":") == 2


def test_a_store_that_is_being_written_is_not_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(store_module, "PATIENCE_S", 0.0)
    busy, idle = filled(tmp_path / "a.jsonl"), filled(tmp_path / "b.jsonl")
    with ResponseStore(busy):
        for path in (busy, idle):
            path.write_bytes(path.read_bytes() + b"bad\n")
        assert main(["verify", "--repair", str(tmp_path)]) == 1
        assert "another run is writing" in capsys.readouterr().err
        assert main(["compact", str(tmp_path)]) == 1
        assert "another run is writing" in capsys.readouterr().err
    assert busy.read_bytes().endswith(b"bad\n")
    assert not idle.read_bytes().endswith(b"bad\n")


def test_compaction_mends_line_ends_and_keeps_a_link(tmp_path: Path) -> None:
    path = filled(tmp_path / "elsewhere" / "m.jsonl")
    whole = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n") + b"torn")
    link = tmp_path / "m.jsonl"
    link.symlink_to(path)
    compact(link)
    assert link.is_symlink() and path.read_bytes() == whole
    compact(path)
    assert path.read_bytes() == whole


def test_compaction_of_a_bad_file_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = filled(tmp_path / "m.jsonl")
    path.write_bytes(path.read_bytes() + b"bad\n")
    before = path.read_bytes()
    assert main(["compact", str(path), str(tmp_path / "absent.jsonl")]) == 1
    said = capsys.readouterr().err
    assert "line 4" in said and "absent.jsonl" in said
    assert path.read_bytes() == before


def test_the_commands_are_those_of_the_store_module(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.jsonl")
    for arguments, status in ((["verify"], 0), (["compact"], 0), (["verify", "--nonsense"], 2)):
        command = [sys.executable, "-m", "scripts.inference.store", *arguments, str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
