"""A rule script's run: what reaches its log, what reaches the terminal, and how it ends."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.execution import execute, uninterrupted
from scripts.files import DataError
from scripts.machine import gpus


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Stands for the terminal's standard error, which `execute` writes to directly."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", stream)
    return stream


def job(log: Path | None) -> SimpleNamespace:
    return SimpleNamespace(rule="make_table", log=[str(log)] if log else [], params={"answer": 42})


def test_everything_printed_is_in_the_log(tmp_path: Path, terminal: io.StringIO) -> None:
    log = tmp_path / "logs" / "deep" / "rule.log"
    given: list[Any] = []

    def main(job: Any) -> None:
        given.append(job.params["answer"])
        print("ordinary")
        print("to the error stream \ud800", file=sys.stderr)

    standard = (sys.stdout, sys.stderr)
    execute(main, job(log))
    assert given == [42]
    assert (sys.stdout, sys.stderr) == standard
    text = log.read_text(encoding="utf-8")
    assert "ordinary\n" in text
    # What UTF-8 cannot hold is written as an escape: a hostile answer breaks no log.
    assert "to the error stream \\ud800\n" in text
    # The terminal sees the error stream, not the ordinary output.
    assert "ordinary" not in terminal.getvalue()
    assert "to the error stream" in terminal.getvalue()


def test_a_line_is_in_the_log_at_once(tmp_path: Path, terminal: io.StringIO) -> None:
    """A run that is killed leaves what it had said."""
    log = tmp_path / "rule.log"

    def main(_job: Any) -> None:
        print("waiting for somebody")
        assert log.read_text() == "waiting for somebody\n"

    execute(main, job(log))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_held_back_until_the_block_is_done(number: int) -> None:
    done: list[str] = []
    before = signal.signal(number, lambda *_: done.append("signal"))
    own = signal.getsignal(number)
    try:
        with uninterrupted():
            os.kill(os.getpid(), number)
            done.append("block")
        assert done == ["block", "signal"] and signal.getsignal(number) is own
        with pytest.raises(ValueError, match="wrong"), uninterrupted():
            os.kill(os.getpid(), number)
            raise ValueError("wrong")
        assert done == ["block", "signal", "signal"] and signal.getsignal(number) is own
    finally:
        signal.signal(number, before)


def test_other_threads_get_no_signals() -> None:
    done: list[str] = []

    def work() -> None:
        with uninterrupted():
            done.append("block")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["block"]


def test_a_log_is_written_anew(tmp_path: Path, terminal: io.StringIO) -> None:
    log = tmp_path / "rule.log"
    for word in ("first", "second"):
        execute(lambda job, word=word: print(word), job(log))
    assert log.read_text() == "second\n"


@pytest.mark.parametrize(
    ("error", "remedy", "placed"),
    [
        (DataError("items.jsonl, line 3: not valid JSON; correct or remove it"), "", False),
        (FileNotFoundError(2, "No such file", "x"), "; restore it, or delete what was built", True),
        (RuntimeError("the model's server did not start"), "", True),
        (OSError(errno.ENOSPC, "No space left on device", "x"), "; make room on that disk", False),
        (OSError(errno.EROFS, "Read-only file system", "x"), "; that disk is mounted", False),
        (OSError(errno.EIO, "Input/output error", "x"), "", True),
    ],
)
def test_a_known_error_is_one_line(
    tmp_path: Path, terminal: io.StringIO, error: Exception, remedy: str, placed: bool
) -> None:
    def main(job: Any) -> None:
        raise error

    with pytest.raises(SystemExit) as stop:
        execute(main, job(tmp_path / "rule.log"))
    assert stop.value.code == 1
    shown = terminal.getvalue()
    assert shown.startswith(f"error in make_table: {error}{remedy}")
    assert shown.count("\n") == 1 and bool(remedy) is shown.startswith(
        f"error in make_table: {error};"
    )
    # For an error that is not of our own types the log has the place in the code as well; for a
    # full or forbidden disk the code says nothing.
    log = (tmp_path / "rule.log").read_text()
    assert log.endswith(shown)
    assert log.startswith("Traceback") is placed


def test_an_unexpected_error_keeps_its_traceback(tmp_path: Path, terminal: io.StringIO) -> None:
    def main(job: Any) -> None:
        job.params["absent"]

    with pytest.raises(KeyError, match="absent"):
        execute(main, job(tmp_path / "rule.log"))
    log = (tmp_path / "rule.log").read_text()
    assert log.startswith("Traceback") and "KeyError: 'absent'" in log


def test_a_message_of_exit_is_logged(tmp_path: Path, terminal: io.StringIO) -> None:
    def main(job: Any) -> None:
        raise SystemExit("xelatex is missing; install it")

    with pytest.raises(SystemExit, match="xelatex is missing"):
        execute(main, job(tmp_path / "rule.log"))
    assert (tmp_path / "rule.log").read_text() == "xelatex is missing; install it\n"


def test_an_exit_status_is_passed_on(tmp_path: Path, terminal: io.StringIO) -> None:
    def main(job: Any) -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit) as stop:
        execute(main, job(tmp_path / "rule.log"))
    assert stop.value.code == 3
    assert (tmp_path / "rule.log").read_text() == ""


def test_without_a_log_errors_are_as_clear(terminal: io.StringIO) -> None:
    def main(job: Any) -> None:
        raise DataError("bad row")

    with pytest.raises(SystemExit) as stop:
        execute(main, job(None))
    assert stop.value.code == 1
    assert terminal.getvalue() == "error in make_table: bad row\n"


SCRIPT = """
from types import SimpleNamespace
from scripts.execution import execute
from scripts.files import DataError

def main(job):
    print("before")
    raise {error}

execute(main, SimpleNamespace(rule="r", log=["rule.log"]))
"""


@pytest.mark.parametrize(
    ("error", "lines", "traced"),
    [("DataError('bad row')", 1, False), ("KeyError('bad row')", None, True)],
)
def test_status_and_terminal_of_a_process(
    tmp_path: Path, repository: Path, error: str, lines: int | None, traced: bool
) -> None:
    """What the workflow sees of a failed script: exit status 1 and, where known, one line."""
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(error=error)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stdout) == (1, "")
    assert "bad row" in finished.stderr
    assert ("Traceback" in finished.stderr) is traced
    if lines:
        assert len(finished.stderr.splitlines()) == lines
    log = (tmp_path / "rule.log").read_text()
    assert log.startswith("before\n") and "bad row" in log
    assert ("Traceback" in log) is traced


def test_progress_bars_ask_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    seen: list[bool] = []
    for stream in (Screen(), io.StringIO()):
        monkeypatch.setattr(sys, "__stderr__", stream)
        execute(lambda job: seen.append(sys.stderr.isatty()), job(tmp_path / "rule.log"))
    assert seen == [True, False]


def asking(log: Path, **resources: int) -> SimpleNamespace:
    made = job(log)
    made.resources, made.wildcards = resources, ["qwen", "thinking"]
    return made


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that gave this process its GPUs 2 and 5."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    monkeypatch.setenv(gpus.FOLDER_VARIABLE, str(tmp_path / "leases"))


@pytest.mark.parametrize(
    ("resources", "seen"),
    [({"gpu": 1}, "2"), ({"gpu": 2}, "2,5"), ({"gpu": 0}, ""), ({"mem_mb": 1}, "2,5")],
)
def test_a_job_sees_the_gpus_that_it_asks_for(
    tmp_path: Path,
    terminal: io.StringIO,
    machine: None,
    resources: dict[str, int],
    seen: str,
) -> None:
    visible: list[str] = []
    execute(
        lambda job: visible.append(os.environ["CUDA_VISIBLE_DEVICES"]),
        asking(tmp_path / "rule.log", **resources),
    )
    assert (visible, os.environ["CUDA_VISIBLE_DEVICES"]) == ([seen], "2,5")


def test_too_few_gpus_are_one_line(tmp_path: Path, terminal: io.StringIO, machine: None) -> None:
    with pytest.raises(SystemExit) as stop:
        execute(lambda job: pytest.fail("it ran"), asking(tmp_path / "rule.log", gpu=3))
    assert stop.value.code == 1
    (line,) = terminal.getvalue().splitlines()
    assert line.startswith(
        "error in make_table: make_table qwen thinking: needs 3 GPUs, 2 GPUs are present (2, 5); "
    )
    assert (tmp_path / "rule.log").read_text() == line + "\n"
