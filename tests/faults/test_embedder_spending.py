"""Hosted embedders under a spend cap and behind failing servers: what was paid is kept."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.inference.spending import ASSUMED, ENVIRONMENT, REFUSED, REPORTED, Ledger
from scripts.retrieval.cache import CachedEmbedder
from scripts.retrieval.embedders import create_embedder
from scripts.retrieval.embedders.interface import EmbeddingError
from scripts.retrieval.embedders.openai_compatible import SPECIAL_TOKENS
from tests.unit.embedding_server import DIMENSIONS, EmbeddingServer, status, vector

TEXTS = [f"text {number:02d}" for number in range(24)]
# What the server reports for a text, and what is reserved for it.
TOKENS, BOUND = 3, len(TEXTS[0]) + SPECIAL_TOKENS


def terms(folder: Path, tokens: int | None = None, cost: float | None = None) -> str:
    prices = {"embedders.hosted": [0.13, 0]}
    return json.dumps(
        {
            **{"ledger": str(folder / "spending.jsonl"), "currency": "USD"},
            **{"tokens": tokens, "cost": cost, "prices": prices},
        }
    )


def cached(server: EmbeddingServer, folder: Path, **changes: Any) -> CachedEmbedder:
    entry = {
        **{"backend": "openai", "source": "tiny", "dimensions": DIMENSIONS},
        **{"base_url": server.base_url, "provider": "test", "backoff_seconds": 0.01},
        **{"max_attempts": 2, "timeout_seconds": 20.0, "texts_per_request": 2, "concurrency": 3},
        **changes,
    }
    return CachedEmbedder(create_embedder("hosted", entry), folder / "store")


def sent(server: EmbeddingServer) -> Counter[str]:
    return Counter(text for body in server.seen for text in body["input"])


def test_the_cap_stops_and_what_was_paid_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cap = 10 * TOKENS + 2 * BOUND
    monkeypatch.setenv(ENVIRONMENT, terms(tmp_path, tokens=cap))
    with EmbeddingServer() as server:
        with pytest.raises(EmbeddingError, match=r"raise run\.spend_cap\.tokens.*are kept"):
            cached(server, tmp_path).embed_passages(TEXTS)
        asked = sum(sent(server).values())
        whole = Ledger(tmp_path / "spending.jsonl").read()
        assert 6 <= asked < len(TEXTS) and whole.open == {}
        assert whole.spent.tokens == TOKENS * asked <= cap
        monkeypatch.setenv(ENVIRONMENT, terms(tmp_path))
        again = cached(server, tmp_path)
        out = again.embed_passages(TEXTS)
        assert again.counts.computed == len(TEXTS) - asked
    assert sent(server) == dict.fromkeys(TEXTS, 1)
    rows = np.array([vector(text) for text in TEXTS])
    assert np.allclose(out, rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-6)
    spent = Ledger(tmp_path / "spending.jsonl").read().spent
    assert spent.cost == TOKENS * len(TEXTS) * Decimal("0.13") / 1_000_000
    facts = again.embedder.facts()["spent"]
    assert facts["prompt_tokens"] == TOKENS * again.counts.computed


@pytest.mark.parametrize(
    ("step", "basis"), [(status(401), REFUSED), (status(500), ASSUMED)], ids=["401", "500"]
)
def test_a_failing_group_loses_no_vectors_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Any, basis: str
) -> None:
    monkeypatch.setenv(ENVIRONMENT, terms(tmp_path))
    with EmbeddingServer([step]) as server:
        with pytest.raises(EmbeddingError, match="Finished vectors are kept"):
            cached(server, tmp_path, max_attempts=1).embed_passages(TEXTS)
        first = sent(server)
        again = cached(server, tmp_path)
        again.embed_passages(TEXTS)
        twice = [text for text, count in sent(server).items() if count > 1]
    # Only the group of two texts that failed is asked again.
    assert len(twice) == 2 and again.counts.computed == len(TEXTS) - sum(first.values()) + 2
    used = Ledger(tmp_path / "spending.jsonl").read().models["embedders.hosted"]
    assert used.attempts[basis] == 1 and used.attempts[REPORTED] == len(TEXTS) // 2
    assert used.by_basis[ASSUMED].tokens == (2 * BOUND if basis == ASSUMED else 0)


def test_a_damaged_ledger_and_a_missing_price_are_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spending.jsonl").write_text("nothing\n")
    monkeypatch.setenv(ENVIRONMENT, terms(tmp_path))
    with EmbeddingServer() as server:
        with pytest.raises(EmbeddingError, match=r"spending\.jsonl, line 1"):
            cached(server, tmp_path).embed_passages(TEXTS)
        assert server.seen == []
    monkeypatch.setenv(ENVIRONMENT, terms(tmp_path, cost=1))
    entry = {"backend": "openai", "source": "tiny", "dimensions": DIMENSIONS}
    with pytest.raises(EmbeddingError, match=r"embedders\.unpriced\.price: missing"):
        create_embedder("unpriced", {**entry, "base_url": "https://api.example.com/v1"})
