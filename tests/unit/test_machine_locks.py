"""A lock has one holder, is free when that one dies, reaches other machines, says who has it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.machine import locks
from scripts.machine.locks import UNKNOWN, HeldError, Lock, LockError, Owner, Pace, holder

# A live holder is seen at its next sign of life; a dead one is given up after three seconds.
QUICK = Pace(beat=0.1, silence=3.0, watch=0.5, settle=0.1, glance=0.0)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PACE", QUICK)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / ".store.lock"


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Machines whose kernel locks do not reach each other; calling it says on which one we are."""
    monkeypatch.setattr(locks, "_flock", lambda descriptor, operation: None)

    def be(name: str) -> None:
        monkeypatch.setattr(locks, "this_machine", lambda: (name, f"kernel of {name}"))

    be("node03")
    return be


HOLD = """
import sys, time
from scripts.machine import locks
lock = locks.Lock(sys.argv[1], "smollm2 non_thinking")
lock.acquire()
{then}
print("ready", flush=True)
time.sleep(600)
"""


@contextmanager
def process_holding(
    path: Path, repository: Path, then: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock, killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(then=then), str(path)],
        cwd=repository,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()


def record(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes())


def leave_record(path: Path, age: float, **changes: Any) -> None:
    """What a holder on another machine left behind, as old as `age` seconds."""
    row = {
        "host": "node07",
        "machine": "kernel of node07",
        "process": 4711,
        "user": "alice",
        "purpose": "smollm2 non_thinking",
        "started": "2026-12-04 09:12:33 UTC",
        "token": "0" * 16,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(row | changes))
    then = time.time() - age
    os.utime(path, (then, then))


# ---- one machine ----


def test_the_record_says_who_holds_the_lock_and_why(path: Path) -> None:
    with Lock(path, "smollm2 non_thinking") as lock:
        row = record(path)
        assert (row["process"], row["purpose"]) == (os.getpid(), "smollm2 non_thinking")
        assert row["host"] and row["user"] and row["started"].endswith(" UTC")
        lock.check()
        with pytest.raises(HeldError) as refused:
            Lock(path, "another").acquire()
    expected = (
        f"user {row['user']}, process {os.getpid()} on {row['host']}, since {row['started']}: "
        "smollm2 non_thinking"
    )
    assert refused.value.holder == expected
    assert str(refused.value) == f"{path}: held by {expected}; wait for it or stop it"


def test_an_orderly_release_empties_the_file_and_keeps_it(path: Path) -> None:
    lock = Lock(path, "x")
    lock.acquire()
    inode = path.stat().st_ino
    lock.release()
    lock.release()
    assert (path.stat().st_ino, path.read_bytes()) == (inode, b"")
    with lock:
        assert record(path)["process"] == os.getpid()
    with Lock(path, "y") as other:
        assert other.left_behind is None


def test_a_killed_holder_frees_the_lock_at_once(path: Path, repository: Path) -> None:
    with process_holding(path, repository) as process:
        with pytest.raises(HeldError, match=f"process {process.pid} on .*: smollm2 non_thinking;"):
            Lock(path, "x").acquire()
        assert f"process {process.pid} on " in str(holder(path))
        process.kill()
        process.wait()
        assert record(path)["process"] == process.pid
        assert holder(path) is None
        # A record of this machine is not waited for: the kernel knows better.
        with Lock(path, "x", pace=Pace(watch=1e6, silence=1e6)) as lock:
            assert lock.left_behind is not None and lock.left_behind.process == process.pid


@pytest.mark.parametrize(
    "then",
    [
        "import os\nif not os.fork():\n    time.sleep(20); os._exit(0)",
        "import multiprocessing\n"
        "multiprocessing.get_context('fork').Process(target=time.sleep, args=(20,)).start()",
        "import subprocess\nsubprocess.Popen(['sleep', '20'], close_fds=False)",
    ],
    ids=["fork", "multiprocessing", "exec"],
)
def test_a_child_that_outlives_the_holder_holds_nothing(
    path: Path, repository: Path, then: str
) -> None:
    with process_holding(path, repository, then) as process:
        with pytest.raises(HeldError):
            Lock(path, "x").acquire()
        process.kill()
        process.wait()
        # The child closes the file as its first act, which may be a moment away.
        with Lock(path, "x", wait=15):
            pass


def test_a_forked_child_cannot_give_the_lock_back(path: Path) -> None:
    with Lock(path, "x") as lock:
        child = os.fork()
        if not child:
            try:
                lock.check()
                os._exit(1)
            except LockError:
                lock.release()
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        lock.check()
        with pytest.raises(HeldError):
            Lock(path, "y").acquire()


def test_waiting_says_once_for_whom(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(locks, "TELL", 0.2)
    first = Lock(path, "first")
    first.acquire()
    timer = threading.Timer(1.5, first.release)
    timer.start()
    with Lock(path, "second", wait=60):
        assert first._descriptor is None
    timer.join()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith(f"waiting for {path}: held by user ")


def test_waiting_ends(path: Path) -> None:
    with Lock(path, "first"), pytest.raises(HeldError):
        Lock(path, "second", wait=0.3).acquire()


def test_who_only_asks_for_the_holder_disturbs_nobody(path: Path) -> None:
    """Asking takes a shared lock for a moment: who wants the lock meanwhile tries again."""
    lock = Lock(path, "x")
    with lock:
        pass
    descriptor = os.open(path, os.O_RDONLY)
    locks._flock(descriptor, locks.fcntl.LOCK_SH)
    timer = threading.Timer(0.3, os.close, (descriptor,))
    timer.start()
    with Lock(path, "y", pace=Pace(glance=30)):
        pass
    timer.join()


def test_a_lock_is_taken_once_and_checked_while_held(path: Path) -> None:
    lock = Lock(path, "x")
    with pytest.raises(LockError, match="not held by this process"):
        lock.check()
    with lock, pytest.raises(LockError, match="held by this process already"):
        lock.acquire()


def test_nobody_holds_a_file_that_is_not_there(path: Path) -> None:
    assert holder(path) is None
    assert not path.exists()


def test_a_file_that_was_replaced_while_it_was_locked_does_not_count(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = locks._flock, []

    def replace_first(descriptor: int, operation: int) -> None:
        real(descriptor, operation)
        if not calls:
            path.unlink()
        elif len(calls) == 1:
            path.unlink()
            path.touch()
        calls.append(descriptor)

    monkeypatch.setattr(locks, "_flock", replace_first)
    with Lock(path, "x") as lock:
        assert len(calls) == 3
        assert record(path)["token"] == lock.owner.token  # type: ignore[union-attr]


# ---- two machines ----


def test_a_live_holder_on_another_machine_is_respected(
    path: Path, machines: Callable[[str], None]
) -> None:
    with Lock(path, "first") as lock:
        machines("node07")
        with pytest.raises(HeldError, match=r"on node03, since .*: first;"):
            Lock(path, "second").acquire()
        assert "on node03" in str(holder(path))
        lock.check()


def test_a_silent_holder_is_succeeded_and_learns_it(
    path: Path, machines: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    first = Lock(path, "first", pace=Pace(beat=1e6))  # Suspended: no sign of life.
    first.acquire()
    machines("node07")
    with Lock(path, "second") as second:
        assert "taken over from user" in capsys.readouterr().err
        second.check()
        with pytest.raises(HeldError, match=r"lost the lock .taken over by .* on node07") as lost:
            first.check()
        assert "on node07" in lost.value.holder
        first.release()  # The record is its successor's by now.
        second.check()


def test_a_beating_heart_stops_at_a_foreign_record(
    path: Path, machines: Callable[[str], None]
) -> None:
    lock = Lock(path, "x")
    lock.acquire()
    leave_record(path, age=1000)
    assert lock._thread is not None
    lock._thread.join(60)
    assert not lock._thread.is_alive()
    assert time.time() - path.stat().st_mtime > 900  # Nothing renewed what is not ours.
    with pytest.raises(HeldError, match="on node07"):
        lock.check()
    lock.release()
    assert record(path)["user"] == "alice"


@pytest.mark.parametrize("age", [1.0, 1e6, -1e6], ids=["seconds", "days", "in the future"])
def test_a_dead_holders_record_is_taken_over(
    path: Path, age: float, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_record(path, age)
    assert holder(path) is None
    with Lock(path, "x") as lock:
        assert lock.left_behind is not None
    expected = "user alice, process 4711 on node07, since 2026-12-04 09:12:33 UTC: smollm2"
    assert f"{path}: taken over from {expected}" in capsys.readouterr().err


@pytest.mark.parametrize("network", [False, True])
def test_a_record_from_before_a_restart_holds_nothing_on_a_disk_of_ones_own(
    path: Path, monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    """On a network file system another machine may have the same name."""
    watched: list[Path] = []
    monkeypatch.setattr(locks, "_lives", lambda path, pace: watched.append(path))
    monkeypatch.setattr(locks, "on_network", lambda path: network)
    leave_record(path, age=1, host=locks.this_machine()[0])
    assert holder(path) is None
    with Lock(path, "x"):
        assert watched == [path, path] * network


def test_age_is_told_by_the_file_system_not_by_our_clock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day between this machine's clock and the server's changes nothing."""
    day = 86_400
    leave_record(path, age=day + 10)
    monkeypatch.setattr(locks, "_file_system_time", lambda folder: time.time() - day)
    watched: list[float] = []

    def sleep(seconds: float) -> None:
        watched.append(seconds)
        now[0] += seconds

    now = [0.0]
    monkeypatch.setattr(locks.time, "sleep", sleep)
    monkeypatch.setattr(locks.time, "monotonic", lambda: now[0])
    assert not locks._lives(path, Pace(silence=60, watch=15))
    assert 49 <= sum(watched) <= 52  # 10 seconds old: 50 more until it counts as dead.


def test_a_holder_that_gives_up_while_it_is_watched_is_not_alive(
    path: Path, machines: Callable[[str], None]
) -> None:
    first = Lock(path, "first", pace=Pace(beat=1e6))
    first.acquire()
    timer = threading.Timer(0.3, first.release)
    timer.start()
    machines("node07")
    with Lock(path, "second", pace=Pace(silence=1e6, settle=0.1)):
        pass
    timer.join()


def test_of_two_that_write_at_the_same_time_the_last_one_holds(
    path: Path, machines: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "on_network", lambda path: True)
    monkeypatch.setattr(locks.time, "sleep", lambda seconds: leave_record(path, age=0))
    with pytest.raises(HeldError, match="user alice, process 4711 on node07"):
        Lock(path, "x").acquire()
    assert record(path)["user"] == "alice"


def test_a_holder_that_woke_up_shows_itself_before_it_writes(
    path: Path, machines: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = Lock(path, "x", pace=Pace(beat=1e6, silence=60, settle=0.1))
    lock.acquire()
    os.utime(path, (0, 0))
    lock.check()
    assert path.stat().st_mtime == 0  # A short while ago it was alive: nothing to prove.
    lock._alive -= 31
    lock.check()
    assert path.stat().st_mtime > 0
    # Another machine wrote its record just then.
    lock._alive -= 31
    monkeypatch.setattr(locks.time, "sleep", lambda seconds: leave_record(path, age=0))
    with pytest.raises(HeldError, match="taken over by user alice"):
        lock.check()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_without_kernel_locks_the_record_decides(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def unsupported(descriptor: int, operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(locks, "_flock", unsupported)
    with Lock(path, "first") as lock:
        with pytest.raises(HeldError, match=": first;"):
            Lock(path, "second").acquire()
        assert str(lock.owner) == holder(path)
    assert holder(path) is None
    leave_record(path, age=10, host="here", machine=locks.this_machine()[1])
    with Lock(path, "third"):
        pass


def test_what_was_removed_or_emptied_is_lost(path: Path) -> None:
    for change, reason in ((path.unlink, "the file was removed"), (None, "the record was removed")):
        with Lock(path, "x", pace=Pace(beat=1e6)) as lock:
            change() if change else os.truncate(path, 0)
            with pytest.raises(HeldError, match=reason) as lost:
                lock.check()
            assert lost.value.holder == "nobody"


def test_a_file_system_that_is_away_for_a_moment_loses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Lock(path, "x", pace=Pace(beat=1e6)) as lock:
        with monkeypatch.context() as away:
            away.setattr(locks, "_read_owner", failing(errno.EIO))
            away.setattr(locks.os, "utime", failing(errno.EIO))
            lock._beat()
            lock.check()
        lock.check()


# ---- file systems ----

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
23 22 0:5 / {0}/home rw - nfs4 server:/home rw,vers=4.2
24 23 0:6 / {0}/home/alice/local\\040disk rw - xfs /dev/sdb rw
25 22 0:7 / {0}/odd rw - ext4 /dev/sdc rw
26 22 0:8 / {0}/odd rw - fuse.sshfs host:/ rw
malformed
"""


@pytest.mark.parametrize(
    ("place", "network"),
    [
        ("x", False),
        ("home/alice/x", True),
        ("home/alice/local disk/x", False),
        ("homework/x", False),
        ("odd/x", True),
    ],
)
def test_network_file_systems_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, network: bool
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.format(tmp_path))
    monkeypatch.setattr(locks, "_MOUNTS", mounts)
    assert locks.on_network(tmp_path / place) is network
    mounts.unlink()
    assert locks.on_network(tmp_path / place) is False


@pytest.mark.parametrize("network", [False, True])
def test_a_new_record_on_a_network_file_system_is_left_to_settle(
    path: Path, monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(locks, "on_network", lambda path: network)
    monkeypatch.setattr(locks.time, "sleep", slept.append)
    with Lock(path, "x"):
        assert slept == ([QUICK.settle] if network else [])


def failing(code: int) -> Callable[..., Any]:
    def fail(*arguments: Any, **named: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize(
    ("function", "code", "words"),
    [
        ("open", errno.EACCES, "ask for the right to write there"),
        ("open", errno.EROFS, "the file system is read-only; use another folder"),
        ("pwrite", errno.ENOSPC, "the disk is full; free some space"),
        ("pwrite", errno.EDQUOT, "your quota is used up"),
        ("fsync", errno.EIO, "see that the folder is there"),
    ],
)
def test_a_lock_that_cannot_be_written_is_explained(
    path: Path, monkeypatch: pytest.MonkeyPatch, function: str, code: int, words: str
) -> None:
    path.parent.mkdir()
    monkeypatch.setattr(locks.os, function, failing(code))
    with pytest.raises(LockError, match=words) as refused:
        Lock(path, "x").acquire()
    assert str(path) in str(refused.value) and not isinstance(refused.value, HeldError)
    monkeypatch.undo()
    with Lock(path, "x"):  # Nothing was left locked.
        pass


def test_a_kernel_that_fails_is_explained(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_flock", failing(errno.EIO))
    with pytest.raises(LockError, match="cannot be locked"):
        Lock(path, "x").acquire()


def test_links_and_other_kinds_of_files_are_refused(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LockError, match="symbolic link"):
        Lock(path, "x").acquire()
    assert not (tmp_path / "elsewhere").exists()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LockError, match="not an ordinary file"):
        Lock(path, "x").acquire()


def test_a_shared_file_may_be_written_by_every_user(path: Path) -> None:
    before = os.umask(0o077)
    try:
        with Lock(path, "x", shared=True), Lock(path.with_name("own"), "x"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o666
            assert stat.S_IMODE(path.with_name("own").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_another_users_file_is_opened_as_the_kernel_allows(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fs.protected_regular, O_CREAT on another's file in a sticky folder is refused."""
    with Lock(path, "x"):
        pass
    real = os.open

    def guarded(file: Any, flags: int, *mode: int, **named: Any) -> int:
        if Path(file) == path and flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(file, flags, *mode, **named)

    monkeypatch.setattr(locks.os, "open", guarded)
    with Lock(path, "x"):
        pass


# ---- records ----


@pytest.mark.parametrize("text", ["", "process 12 on vm\n", "\x00\x00", "[1]"])
def test_what_is_no_record_holds_nothing(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    assert holder(path) is None
    with Lock(path, "x", pace=Pace(watch=1e6, silence=1e6)):
        pass


@pytest.mark.parametrize("text", ['{"host": ', '{"host": "a", "process": "x"}', "{}"])
def test_half_a_record_is_watched_like_any_other(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with Lock(path, "x") as lock:
        assert lock.left_behind == UNKNOWN
    assert "unknown" in str(UNKNOWN)


def test_a_hostile_record_cannot_write_to_the_terminal(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_record(path, age=1000, user="eve\x1b[2J\nroot", purpose="long " * 500)
    with Lock(path, "x"):
        pass
    said = capsys.readouterr().err
    assert "\x1b" not in said and len(said.splitlines()) == 1 and len(said) < 1000


def test_a_long_purpose_does_not_lose_the_lock(path: Path) -> None:
    with Lock(path, "\U0001f600" * 10_000) as lock:
        lock.check()


def test_a_user_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> Any:
        raise KeyError(uid)

    monkeypatch.setattr(locks.pwd, "getpwuid", unknown)
    assert locks._this_user() == str(os.getuid())


def test_a_machine_without_a_mark_goes_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", failing(errno.ENOENT))
    locks.this_machine.cache_clear()
    try:
        name, mark = locks.this_machine()
        assert name == mark
    finally:
        locks.this_machine.cache_clear()


def test_an_owner_survives_its_record() -> None:
    owner = Owner("h", "m", 1, "u", "p", "s", "t")
    assert Owner.read(json.dumps(owner.__dict__).encode()) == owner
    assert Owner.read(b"{}") is None


# ---- as a command ----


def command(path: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "scripts.machine.locks", str(path), "--", *words]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("true",), 0),
        (("sh", "-c", "exit 7"), 7),
        (("sh", "-c", "kill -9 $$"), -9),
        (("sh", "-c", "kill -TERM $$"), -15),
        (("no-such-command-here",), 127),
    ],
)
def test_the_commands_status_is_its_own(
    path: Path, repository: Path, words: tuple[str, ...], status: int
) -> None:
    finished = subprocess.run(command(path, *words), cwd=repository, check=False)
    assert finished.returncode == status
    # Its helper may be emptying the record just now.
    with Lock(path, "x", wait=60):
        pass


@pytest.fixture
def running(path: Path, repository: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command(path, "sh", "-c", "echo ready; sleep 600"),
        cwd=repository,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    with contextlib.suppress(ProcessLookupError):  # The test may have ended it.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def eventually(met: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not met() and time.monotonic() < end:
        time.sleep(0.05)
    return met()


def test_a_second_command_is_told_who_runs_the_first(
    path: Path, repository: Path, running: subprocess.Popen[str]
) -> None:
    finished = subprocess.run(
        command(path, "true"), cwd=repository, check=False, capture_output=True, text=True
    )
    assert finished.returncode == 1
    assert "another run is active here: " in finished.stderr
    assert f"process {running.pid} on " in finished.stderr and ": sh;" in finished.stderr
    # The lock is the command's, with all that it started; its record is emptied behind it.
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert eventually(lambda: path.read_bytes() == b"")
    assert eventually(lambda: holder(path) is None)


def test_a_command_that_lost_its_lock_is_asked_to_stop(path: Path, repository: Path) -> None:
    """Its helper sees the other's record at its next sign of life."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from scripts.machine import locks; locks.PACE = locks.Pace(beat=0.2);"
            "sys.exit(locks.main(sys.argv[1:]))",
            *command(path, "sh", "-c", "echo ready; exec sleep 600")[3:],
        ],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    leave_record(path, age=0)
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert "taken over by user alice" in said and "stopping the command" in said
    assert record(path)["user"] == "alice"


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lets the helper of a command run in this process; its exit statuses are collected."""
    statuses: list[int] = []
    monkeypatch.setattr(locks.os, "_exit", statuses.append)
    monkeypatch.setattr(locks, "_detach", lambda: None)
    return statuses


def test_the_helper_renews_the_record_and_empties_it_at_the_end(
    path: Path, helper: list[int]
) -> None:
    held = Lock(path, "x")
    held._take()
    ended, alive = os.pipe()
    os.utime(path, (0, 0))
    beside = Lock(path, "x")
    beside.owner = held.owner
    thread = threading.Thread(target=locks._attend, args=(beside, ended))
    thread.start()
    assert eventually(lambda: path.stat().st_mtime > 0)
    assert record(path)["purpose"] == "x"
    locks._close(held._descriptor)  # type: ignore[arg-type]
    os.close(alive)
    thread.join(60)
    assert (helper, path.read_bytes()) == ([0], b"")


def test_the_helper_leaves_the_next_holders_record_alone(path: Path, helper: list[int]) -> None:
    gone = Lock(path, "gone")
    gone._take()
    owner = gone.owner
    gone.release()
    ended, alive = os.pipe()
    os.close(alive)
    with Lock(path, "next"):
        beside = Lock(path, "gone")
        beside.owner = owner
        locks._attend(beside, ended)
        assert (helper, record(path)["purpose"]) == ([0], "next")


def test_a_command_takes_the_locks_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(locks.os, "fork", lambda: 1)
    monkeypatch.setattr(locks.os, "execvp", lambda file, words: became.append((file, words)))
    assert locks.main([str(path), "--purpose", "all of it", "--", "echo", "-n"]) == 0
    assert became == [("echo", ["echo", "-n"])]
    assert record(path)["purpose"] == "all of it"


def test_a_command_is_not_run_while_another_holds_the_lock(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Lock(path, "first"):
        assert locks.main([str(path), "--", "true"]) == 1
    assert "another run is active here" in capsys.readouterr().err


def test_a_lock_that_cannot_be_made_ends_the_command(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.parent.mkdir()
    path.symlink_to("nowhere")
    assert locks.main([str(path), "--", "true"]) == 1
    assert "symbolic link" in capsys.readouterr().err
