"""How a rule script is run: its output goes to the rule's log, a known error is one message."""

from __future__ import annotations

import errno
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
from pathlib import Path
from typing import Any

from scripts.machine.gpus import lease

# Errors whose message already names the file, the row and the remedy. A traceback adds nothing.
CLEAR = (ValueError, OSError, RuntimeError)


# What to do about errors of the operating system.
REMEDIES: dict[int | None, str] = {
    errno.ENOSPC: "make room on that disk and run again; what is finished is kept",
    errno.EDQUOT: "free some of the quota and run again; what is finished is kept",
    errno.EROFS: "that disk is mounted for reading only; write elsewhere, or mount it for writing",
    errno.EACCES: "give this user the right to it (owner or mode of the file and its folder)",
    errno.ENOENT: "restore it, or delete what was built from it and run again",
    errno.ENOTDIR: "a file stands where a folder should be; move it away",
    errno.EISDIR: "a folder stands where a file should be; move it away",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}


class _Tee:
    """A stream that writes to the log and, for warnings and errors, to the terminal too."""

    def __init__(self, *streams: Any) -> None:
        self.streams = streams

    def write(self, text: str) -> int:
        """Write to every stream."""
        for stream in self.streams:
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush every stream."""
        for stream in self.streams:
            stream.flush()

    def isatty(self) -> bool:
        """Progress bars look at the last stream, the terminal."""
        return bool(self.streams[-1].isatty())


def execute(main: Callable[[Any], None], job: Any) -> None:
    """Run a rule script's `main` with the object that Snakemake gives it.

    Everything printed goes to the rule's log file, standard error also to the terminal. An error
    ends the job with exit status 1: a ValueError, OSError or RuntimeError as its message, anything
    else with its traceback. The log has the traceback of every error that is not of our own types.

    A job whose resources ask for `gpu` holds so many devices while it runs and sees no others; one
    that asks for 0 sees none, since it would take memory that another job counts on.
    """
    with ExitStack() as stack:
        log = None
        if job.log:
            path = Path(str(job.log[0]))
            path.parent.mkdir(parents=True, exist_ok=True)
            # Line by line: a run that is killed leaves what it had said, and others can look on.
            log = stack.enter_context(
                path.open("w", buffering=1, encoding="utf-8", errors="backslashreplace")
            )
            stack.enter_context(redirect_stdout(log))
            stack.enter_context(redirect_stderr(_Tee(log, sys.__stderr__)))
        try:
            stack.enter_context(_gpus(job))
            main(job)
        except SystemExit as stop:
            if log is not None and isinstance(stop.code, str):
                print(stop.code, file=log)
            raise
        except Exception as error:
            # Our own errors name the file, the row and the remedy; others keep their traceback.
            ours = type(error).__module__.startswith("scripts.") or _full_or_forbidden(error)
            if log is not None and not ours:
                traceback.print_exc(file=log)
            if not isinstance(error, CLEAR):
                raise
            message = f"error in {job.rule}: {error}{_remedy(error)}"
            if log is not None:
                print(message, file=log)
            print(message, file=sys.__stderr__)
            raise SystemExit(1) from error


def _full_or_forbidden(error: Exception) -> bool:
    """Whether the machine, not the code, is at fault: a full disk, a missing right."""
    return isinstance(error, OSError) and error.errno in {
        *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES),
    }


def _remedy(error: Exception) -> str:
    """What to do about an error of the operating system, which names the file and no remedy."""
    number = error.errno if isinstance(error, OSError) else None
    return f"; {REMEDIES[number]}" if number in REMEDIES else ""


def _gpus(job: Any) -> AbstractContextManager[Any]:
    """The lease of the job's devices; nothing for a rule that says nothing of GPUs."""
    count = getattr(job, "resources", {}).get("gpu")
    if count is None:
        return nullcontext()
    return lease(int(count), " ".join(map(str, (job.rule, *getattr(job, "wildcards", ())))))


def file_list(named: Any) -> list[str]:
    """The files of a named input or output: Snakemake gives one file as text, several as a list."""
    return [named] if isinstance(named, str) else [str(path) for path in named]


def exit_on_sigterm() -> None:
    """Turn SIGTERM into an ordinary exit from here on, so that open files are closed in order."""

    def stop(number: int, _frame: Any) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, stop)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGTERM and Ctrl-C back until the block is done; then they take effect.

    For what is short and must be whole: an answer that was paid for is written before the process
    goes. Only the main thread gets signals, so elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {}
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            handler = signal.getsignal(number)
            if handler is not None:  # None: set by other than Python, not ours to replace
                before[number] = handler
                signal.signal(number, lambda received, _frame: came.append(received))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
