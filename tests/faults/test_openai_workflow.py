"""The rule script run_model against a server that misbehaves: what is kept, asked again and paid.

Whatever happens, an answer stands in the store once, an error stands there with its cause, and the
spending ledger never passes the cap.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.files import read_records, write_records
from scripts.inference import run_model
from scripts.inference.backends.openai_compatible import worst_case
from scripts.inference.spending import ASSUMED, ENVIRONMENT, REFUSED, REPORTED, Ledger, release
from scripts.inference.store import ResponseStore, decode_line
from scripts.records import Request, Response
from tests.faults.fault_server import FaultServer, Step, error, html, raw

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-secret-0123456789abcdef"
# What a good answer of the fault server reports, and costs at the prices below.
PROMPT, COMPLETION = 7, 5
PRICE = {"prompt": 0.3, "completion": 1.1}
COST = (PROMPT * Decimal("0.3") + COMPLETION * Decimal("1.1")) / 1_000_000
LIMIT = 8


class Inputs(SimpleNamespace):
    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


def request(name: str) -> Request:
    decoding = {"temperature": 0.0, "top_p": 1.0, "repetition_penalty": 1.0}
    return Request.create(f"item-{name}", {}, [{"role": "user", "content": name}], decoding)


def job(
    folder: Path, base_url: str, names: list[str], model: str = "m", **entry: Any
) -> SimpleNamespace:
    """A stand-in for Snakemake's object: one model, one file of requests."""
    requests = folder / f"requests/{model}.jsonl"
    write_records(requests, [request(name) for name in names])
    whole = {
        **{"label": "M", "backend": "openai", "source": "tiny", "revision": "1"},
        **{"precision": "hosted", "modes": ["non_thinking"], "thinking": {"switch": "none"}},
        **{"base_url": base_url, "provider": "test", "api_key_environment": "TEST_API_KEY"},
        **{"concurrency": 4, "max_attempts": 2, "timeout_seconds": 20, "backoff_seconds": 0.01},
        **entry,
    }
    params = {
        **{"name": model, "entry": whole, "mode": "non_thinking", "benchmark": "test"},
        **{"files": True, "max_new_tokens": LIMIT},
        "store": str(folder / f"store/test/{model}/non_thinking.jsonl"),
    }
    return SimpleNamespace(
        input=Inputs(requests=[str(requests)]),
        output=SimpleNamespace(
            responses=[f"{folder}/responses/{model}.jsonl"],
            manifest=f"{folder}/manifests/{model}.json",
        ),
        params=SimpleNamespace(**params),
    )


def terms(folder: Path, **cap: Any) -> str:
    """What the workflow would set: prices of both models of these tests, and a cap."""
    price = [PRICE["prompt"], PRICE["completion"]]
    return json.dumps(
        {
            **{"ledger": str(folder / "store/spending.jsonl"), "currency": "USD"},
            **{"tokens": None, "cost": None, "prices": {"models.m": price, "models.n": price}},
            **cap,
        }
    )


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TEST_API_KEY", KEY)
    monkeypatch.setenv(ENVIRONMENT, terms(tmp_path))
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def stored(folder: Path, model: str = "m") -> list[dict[str, Any]]:
    """Every line of a store, in order."""
    lines = (folder / f"store/test/{model}/non_thinking.jsonl").read_bytes().splitlines()
    return [decode_line(line)[1] for line in lines]


def good(folder: Path, model: str = "m") -> Counter[str]:
    """How often each good answer stands in the store."""
    return Counter(row["text"] for row in stored(folder, model) if "error" not in row)


def responses(folder: Path, model: str = "m") -> dict[str, Response]:
    rows = read_records(folder / f"responses/{model}.jsonl", Response)
    assert len({row.request_id for row in rows}) == len(rows)
    return {row.item_id.removeprefix("item-"): row for row in rows}


def ledger(folder: Path) -> Ledger:
    return Ledger(folder / "store/spending.jsonl").read()


def bound(name: str) -> int:
    """Tokens that are reserved for a request of these tests."""
    sent = {
        **{"model": "tiny", "messages": [{"role": "user", "content": name}]},
        **{"temperature": 0.0, "top_p": 1.0, "max_tokens": LIMIT},
    }
    return sum(worst_case(sent, "max_tokens"))


def stopped(made: SimpleNamespace) -> str:
    """The message with which the rule ends."""
    with pytest.raises(SystemExit) as caught:
        run_model.main(made)
    return str(caught.value)


# Steps that every attempt of a request gets, the cause with which its error begins, and the basis
# on which each of its attempts is settled.
FAULTS: dict[str, tuple[Step, str, str]] = {
    "rate": (error(429, "slow down"), "http 429 after 2 attempts", REFUSED),
    "wait": (error(429, headers={"Retry-After": "0.2"}), "http 429 after 2", REFUSED),
    "oops": (error(500, "oops"), "http 500 after 2 attempts: oops", ASSUMED),
    "busy": (error(503, "overloaded"), "http 503 after 2 attempts", REFUSED),
    "page": (html(502), "http 502 after 2 attempts: Bad Gateway", ASSUMED),
    "drip": (Step("drip"), "timeout after 2 attempts", ASSUMED),
    "hang": (Step("hang"), "timeout after 2 attempts", ASSUMED),
    "drop": (Step("drop"), "connection lost after 2 attempts", ASSUMED),
    "half": (Step("truncate"), "bad json after 2 attempts", ASSUMED),
    "none": (raw(b'{"choices": []}'), "empty choices after 2 attempts", ASSUMED),
    "ban": (Step("good", change={"finish": "content_filter"}), "content filter after 1", REPORTED),
    "other": (Step("good", change={"model": "other"}), "wrong model after 2", REPORTED),
    "twice": (Step("twice"), "bad json after 2 attempts", ASSUMED),
}


def tries(cause: str) -> int:
    """How many attempts an error message tells of."""
    return int(cause.partition("after ")[2][0])


FINE = [f"fine{number}" for number in range(6)]


def test_every_fault_is_an_error_with_its_cause_and_only_errors_are_asked_again(
    tmp_path: Path,
) -> None:
    names = [*FINE, *FAULTS]
    options = {"expected_model_echo": "tiny", "timeout_seconds": 3}
    script = {name: [step] * tries(cause) for name, (step, cause, _) in FAULTS.items()}
    with FaultServer(script) as server:
        run_model.main(job(tmp_path, server.base_url, names, **options))
        first = Counter(name for name, *_ in server.seen)
        found = responses(tmp_path)
        assert list(found) == names
        for name in FINE:
            assert (found[name].text, found[name].error, first[name]) == (name.upper(), None, 1)
        for name, (_, cause, _) in FAULTS.items():
            assert (found[name].text, found[name].finish_reason) == ("", "error")
            assert str(found[name].error).startswith(cause), name
            assert first[name] == found[name].attempts == tries(cause)
        assert len(stored(tmp_path)) == len(names)
        used = ledger(tmp_path)
        check_ledger(used, found)
        manifest = json.loads((tmp_path / "manifests/m.json").read_text())
        spent = manifest["facts"]["spent"]
        assert (Decimal(spent["cost"]), spent["currency"]) == (used.spent.cost, "USD")
        assert spent["prompt_tokens"] + spent["completion_tokens"] == used.spent.tokens

        # Everything works again: only what failed is asked, and then nothing is.
        server.seen.clear()
        run_model.main(job(tmp_path, server.base_url, names, **options))
        assert Counter(name for name, *_ in server.seen) == dict.fromkeys(FAULTS, 1)
        run_model.main(job(tmp_path, server.base_url, names, **options))
        assert len(server.seen) == len(FAULTS)
    assert {name: row.text for name, row in responses(tmp_path).items()} == {
        name: name.upper() for name in names
    }
    assert good(tmp_path) == {name.upper(): 1 for name in names}
    again = json.loads((tmp_path / "manifests/m.json").read_text())["facts"]["spent"]
    assert (again["prompt_tokens"], again["cost"]) == (0, "0")
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()
    assert b"fine0" not in (tmp_path / "store/spending.jsonl").read_bytes().lower()


def check_ledger(used: Ledger, found: dict[str, Response]) -> None:
    """Every attempt is settled, on the basis that its fault implies."""
    model = used.models["models.m"]
    attempts = Counter({REPORTED: len(FINE)})
    for name, (*_, basis) in FAULTS.items():
        attempts[basis] += found[name].attempts
    assert model.attempts == attempts
    assert used.open == {} and used.reserved.tokens == 0
    assert model.by_basis[REPORTED].cost == attempts[REPORTED] * COST
    assert model.by_basis[REFUSED].tokens == 0
    assumed = sum(
        found[name].attempts * bound(name)
        for name, (*_, basis) in FAULTS.items()
        if basis == ASSUMED
    )
    assert model.by_basis[ASSUMED].tokens == assumed


@pytest.mark.parametrize(
    ("step", "advice"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "check TEST_API_KEY"),
        (error(429, "quota", code="insufficient_quota"), "add credit"),
        (error(402, "Insufficient credits"), "add credit"),
    ],
    ids=["401", "quota", "402"],
)
def test_a_refused_key_or_quota_stops_early_and_the_rest_is_asked_later(
    tmp_path: Path, step: Step, advice: str
) -> None:
    names = ["a", "b", "c", *(f"n{number}" for number in range(40))]
    with FaultServer({"c": [step]}) as server:
        made = job(tmp_path, server.base_url, names, concurrency=1)
        said = stopped(made)
        assert advice in said and "Finished answers are kept" in said and KEY not in said
        assert [name for name, *_ in server.seen] == ["a", "b", "c"]
        assert not (tmp_path / "responses").exists()
        used = ledger(tmp_path)
        assert used.spent.cost == 2 * COST and used.open == {}
        run_model.main(made)
        assert Counter(name for name, *_ in server.seen) == {**dict.fromkeys(names, 1), "c": 2}
    assert good(tmp_path) == {name.upper(): 1 for name in names}


def test_concurrency_and_rate_limit_hold(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(8)]
    with FaultServer(delay=0.1) as server:
        limits = {"concurrency": 2, "requests_per_minute": 600}
        begun = time.monotonic()
        run_model.main(job(tmp_path, server.base_url, names, **limits))
        assert time.monotonic() - begun >= 7 * 0.1
        assert server.most_open <= 2 and len(server.seen) == 8


def test_an_answer_after_the_time_limit_counts_once(tmp_path: Path) -> None:
    """The first try may be billed, so its worst case is assumed; its late answer is nobody's."""
    with FaultServer({"a": [Step("late")]}) as server:
        run_model.main(job(tmp_path, server.base_url, ["a"], timeout_seconds=0.7))
        time.sleep(1.2)
    assert (responses(tmp_path)["a"].text, responses(tmp_path)["a"].attempts) == ("A", 2)
    assert len(stored(tmp_path)) == 1
    used = ledger(tmp_path).models["models.m"]
    assert used.attempts == {REPORTED: 1, ASSUMED: 1, REFUSED: 0}
    assert used.amount.tokens == PROMPT + COMPLETION + bound("a")


def test_no_server_costs_nothing(tmp_path: Path) -> None:
    with FaultServer() as server:
        gone = server.base_url
    assert "no server answers there: start it" in stopped(job(tmp_path, gone, ["a"]))
    used = ledger(tmp_path)
    assert used.spent.tokens == 0 and used.open == {}


# --- the cap ------------------------------------------------------------------------------------

NAMES = [f"q{number:02d}" for number in range(30)]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("kind", ["tokens", "cost"])
def test_stopping_at_the_cap_and_going_on_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrency: int, kind: str
) -> None:
    calm, capped = tmp_path / "calm", tmp_path / "capped"
    # Room for about ten answers beside the worst cases of those under way.
    tokens = 10 * (PROMPT + COMPLETION) + bound("q00")
    cap = {"tokens": tokens} if kind == "tokens" else {"cost": tokens * 0.3e-6 + 10e-6}
    with FaultServer() as server:
        monkeypatch.setenv(ENVIRONMENT, terms(calm))
        run_model.main(job(calm, server.base_url, NAMES, concurrency=concurrency))
        server.seen.clear()
        made = job(capped, server.base_url, NAMES, concurrency=concurrency)
        monkeypatch.setenv(ENVIRONMENT, terms(capped, **cap))
        said = stopped(made)
        asked = len(server.seen)
        assert 5 <= asked < len(NAMES)
        assert f"raise run.spend_cap.{kind} in config.yaml and run again" in said
        assert f"{len(NAMES) - asked} of this job's requests remain to be asked" in said
        assert f"({asked * 12} tokens) spent" in said
        assert "Finished answers are kept" in said
        whole = ledger(capped)
        assert whole.spent.tokens == asked * 12 and whole.open == {}
        assert sum(good(capped).values()) == asked
        # With the same cap nothing at all is sent.
        stopped(made)
        assert len(server.seen) == asked
        monkeypatch.setenv(ENVIRONMENT, terms(capped, **{kind: 10**9}))
        run_model.main(made)
    assert Counter(name for name, *_ in server.seen) == dict.fromkeys(NAMES, 1)
    file = "responses/m.jsonl"
    assert (capped / file).read_bytes() == (calm / file).read_bytes()
    assert ledger(capped).spent == ledger(calm).spent


RUN = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from scripts.inference import run_model
from tests.faults.test_openai_workflow import job
run_model.main(job(Path({folder!r}), {base_url!r}, {names!r}, **{entry!r}))
"""


def start(folder: Path, server: FaultServer, names: list[str], **entry: Any) -> Any:
    """The rule script in a process of its own."""
    code = RUN.format(
        **{"root": str(ROOT), "folder": str(folder), "base_url": server.base_url},
        **{"names": names, "entry": entry},
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


def test_two_jobs_at_once_share_one_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {model: [f"{model}{number:02d}" for number in range(40)] for model in "mn"}
    # Answers of 308 tokens; room for some thirty of the eighty.
    usage = {"prompt_tokens": 300, "completion_tokens": 8, "total_tokens": 308}
    tokens = 30 * 308 + 100
    monkeypatch.setenv(ENVIRONMENT, terms(tmp_path, tokens=tokens))
    with FaultServer(delay=0.02) as server:
        server.always = Step("good", change={"usage": usage})
        running = [start(tmp_path, server, names[m], model=m, concurrency=3) for m in "mn"]
        most = 0
        while any(process.poll() is None for process in running):
            whole = ledger(tmp_path)
            most = max(most, whole.spent.tokens + whole.reserved.tokens)
            time.sleep(0.01)
        said = [process.communicate()[1] for process in running]
        assert [process.returncode for process in running] == [1, 1], said
        assert all("raise run.spend_cap.tokens" in message for message in said)
        assert 0 < most <= tokens
        asked = len(server.seen)
        assert 20 < asked <= 30
        assert ledger(tmp_path).spent.tokens == asked * 308 <= tokens
        assert sum(good(tmp_path, "m").values()) + sum(good(tmp_path, "n").values()) == asked
        monkeypatch.setenv(ENVIRONMENT, terms(tmp_path))
        for model in "mn":
            run_model.main(job(tmp_path, server.base_url, names[model], model=model))
    assert Counter(name for name, *_ in server.seen) == dict.fromkeys(names["m"] + names["n"], 1)
    assert ledger(tmp_path).spent.tokens == 80 * 308


def test_a_killed_run_pays_again_only_for_what_was_under_way(tmp_path: Path) -> None:
    with FaultServer(delay=0.1) as server:
        process = start(tmp_path, server, NAMES, concurrency=3)
        store = tmp_path / "store/test/m/non_thinking.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (store.exists() and store.stat().st_size > 900):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = ResponseStore(store).load().answers
        asked = len(server.seen)
        assert 0 < len(kept) < len(NAMES) and asked - len(kept) <= 2 * 3
        dead = ledger(tmp_path)
        # What was under way counts until it is released: nobody knows whether it was billed.
        assert 0 < len(dead.open) <= 3
        assert dead.reserved.tokens == len(dead.open) * bound("q00")
        server.delay = 0.0
        run_model.main(job(tmp_path, server.base_url, NAMES))
        again = Counter(name for name, *_ in server.seen)
    assert set(again) == set(NAMES) and set(again.values()) <= {1, 2}
    assert len(server.seen) - len(NAMES) == asked - len(kept)
    assert good(tmp_path) == {name.upper(): 1 for name in NAMES}
    assert ledger(tmp_path).reserved == dead.reserved
    assert release(ledger(tmp_path))[0] == f"{len(dead.open)} open reservations given back"
    assert ledger(tmp_path).reserved.tokens == 0


def test_a_damaged_ledger_stops_before_anything_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "store/spending.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    with FaultServer() as server:
        said = stopped(job(tmp_path, server.base_url, ["a"]))
        assert server.seen == []
    assert "spending.jsonl, line 1: not a line of a spending ledger" in said
    assert "Traceback" not in said
