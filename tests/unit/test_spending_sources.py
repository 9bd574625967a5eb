"""Where the spend cap gets its numbers: requests, replies, configuration; and who tells them."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.inference.backends.chat_completions import billed_tokens, read_completion, status_fault
from scripts.inference.backends.openai_compatible import (
    IMAGE_TOKENS,
    TEMPLATE_TOKENS,
    unsent,
    worst_case,
)
from scripts.inference.spending import Account, Price, Terms
from scripts.workflow.config_files import read_yaml
from scripts.workflow.configuration import ConfigurationError, check_configuration
from scripts.workflow.explain import PlannedJob, spending
from tests.small_tokeniser import small_encoding

# --- requests -----------------------------------------------------------------------------------


def sent(*contents: Any, **changes: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": content} for content in contents]
    return {"model": "m", "messages": messages, "max_tokens": 100, **changes}


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_no_prompt_has_more_tokens_than_its_bound(texts: list[str]) -> None:
    """An encoding of single bytes makes the most tokens that any can."""
    encoding = small_encoding()
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    tokens = sum(len(encoding.encode_ordinary(text)) for text in clean)
    prompt, completion = worst_case(sent(*texts), "max_tokens")
    assert tokens + TEMPLATE_TOKENS <= prompt and completion == 100


def test_all_that_is_sent_is_counted() -> None:
    plain, _ = worst_case(sent("a"), "max_tokens")
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"x": "y" * 500}}}
    assert worst_case(sent("a", response_format=schema), "max_tokens")[0] > plain + 500
    tools = {"tools": [{"description": "z" * 700}]}
    assert worst_case(sent("a", extra_body=tools), "max_tokens")[0] > plain + 700
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 10**6}}
    prompt, _ = worst_case(sent([{"type": "text", "text": "Read it."}, image, image]), "max_tokens")
    assert 2 * IMAGE_TOKENS < prompt < 2 * IMAGE_TOKENS + 2000


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ({}, 100),
        ({"max_completion_tokens": 300}, 300),
        ({"extra_body": {"max_tokens": 50}}, 50),
        ({"extra_body": {"max_completion_tokens": 900}}, 900),
        ({"extra_body": {"n": 3}}, 300),
        ({"extra_body": {"n": None}}, 100),
    ],
)
def test_the_limit_of_an_answer_is_the_largest_that_is_sent(
    changes: dict[str, Any], most: int
) -> None:
    assert worst_case(sent("a", **changes), "max_tokens")[1] == most


# --- replies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, (None, None)),
        ([], (None, None)),
        ({"prompt_tokens": 7, "completion_tokens": 5}, (7, 5)),
        ({"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}, (7, 5)),
        # Reasoning that only the total has.
        ({"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 40}, (7, 33)),
        ({"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 3}, (7, 5)),
        ({"prompt_tokens": 7, "total_tokens": 12}, (7, None)),
        ({"prompt_tokens": -1, "completion_tokens": True}, (None, None)),
    ],
)
def test_billed_tokens(usage: Any, expected: tuple[int | None, int | None]) -> None:
    assert billed_tokens(json.dumps({"choices": [], "usage": usage}).encode()) == expected


@pytest.mark.parametrize("body", [b"", b"[1]", b"<html>", b'{"usage": {"prompt_tokens": 3}'])
def test_a_reply_that_cannot_be_read_bills_nothing_known(body: bytes) -> None:
    assert billed_tokens(body) == (None, None)


@pytest.mark.parametrize(
    ("status", "refused"),
    [
        *((status, True) for status in (400, 401, 402, 403, 404, 409, 413, 422, 425, 429)),
        *((status, True) for status in (503, 529)),
        *((status, False) for status in (408, 499, 500, 502, 504, 520, 524)),
    ],
)
def test_what_a_server_may_have_billed(status: int, refused: bool) -> None:
    assert status_fault(status, {}, b"{}").refused is refused
    inside = json.dumps({"error": {"code": status, "message": "x"}}).encode()
    with pytest.raises(Exception, match=f"http {status}") as caught:
        read_completion(inside)
    assert caught.value.refused is refused  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (httpx.ConnectError("refused"), True),
        (httpx.ConnectTimeout("slow"), True),
        (httpx.PoolTimeout("busy"), True),
        (httpx.ReadTimeout("slow"), False),
        (httpx.RemoteProtocolError("dropped"), False),
        (None, False),
    ],
)
def test_only_without_a_connection_was_nothing_sent(cause: Any, expected: bool) -> None:
    error = openai.APITimeoutError(request=httpx.Request("POST", "http://x"))
    error.__cause__ = cause
    assert unsent(error) is expected


# --- the configuration --------------------------------------------------------------------------


@pytest.fixture
def config(repository: Path) -> dict[str, Any]:
    return copy.deepcopy(read_yaml(repository / "config.yaml"))


def problems(config: dict[str, Any]) -> list[str]:
    try:
        check_configuration(config)
    except ConfigurationError as error:
        return [problem for problem in error.problems if "price" in problem]
    return []


def test_a_cost_cap_needs_the_price_of_everything_hosted(config: dict[str, Any]) -> None:
    assert problems(config) == []
    config["run"]["spend_cap"]["tokens"] = 10**9
    assert problems(config) == []
    config["run"]["spend_cap"]["cost"] = 25.5
    lacking = {problem.partition(": ")[0] for problem in problems(config)}
    asked = {
        name
        for part in ("syntaxbench", "multitempbench", "tide")
        for name in config[part]["models"]
    }
    hosted = {
        name
        for name, entry in config["models"].items()
        if entry["backend"] == "openai" and "localhost" not in entry["base_url"]
    }
    assert {f"models.{name}.price" for name in asked & hosted} <= lacking
    assert {name.split(".")[0] for name in lacking} == {"models", "embedders"}
    assert not any(
        f"models.{name}.price" in lacking for name in config["models"] if name not in hosted
    )
    for name in hosted:
        config["models"][name]["price"] = {"prompt": 0, "completion": 0.5}
    for entry in config["embedders"].values():
        if entry["backend"] == "openai":
            entry["price"] = 0.02
    assert problems(config) == []


def test_the_embedded_run_is_free(repository: Path, config: dict[str, Any]) -> None:
    from snakemake.utils import update_config

    update_config(config, read_yaml(repository / "config" / "embedded.yaml"))
    config["run"]["spend_cap"] = {"cost": 0}
    assert problems(config) == []


# --- who tells ----------------------------------------------------------------------------------


def test_explain_tells_what_was_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = PlannedJob("syntaxbench_run_model", ["results/x/syntaxbench/responses/m/a.jsonl"])
    assert list(spending([job, job])) == []
    path = Path("results/x/store/spending.jsonl")
    prices = {"models.m": Price(Decimal(1), Decimal(2))}
    account = Account("models.m", Terms(path, cost=Decimal("2.50"), prices=prices), local=False)
    entry = account.reservation(account.worst(100, 50))
    account.exchange([entry])
    account.exchange([account.settlement(entry, "reported", account.price.of(90, 5))])
    (line,) = spending([job, job])
    assert line == (
        "Hosted models so far: 0.0001 USD (95 tokens) spent, 0 USD (0 tokens) reserved, "
        "cap 2.5 USD (results/x/store/spending.jsonl)"
    )
    path.write_text("x\n")
    (line,) = spending([job])
    assert "spending.jsonl, line 1: not a line" in line
