"""Locks on files: one holder, free as soon as it dies, and the loser is told who holds it.

A kernel lock (flock) decides between the processes of one machine; the kernel frees it however its
holder ends. Some shared file systems keep flock to each machine or do not have it (NFS mounted with
local_lock or nolock, Lustre with localflock), so the file also holds a record of its holder, whose
modification time the holder renews every few seconds. A record of another machine that is still
renewed is respected, one that is silent is taken over. Times are compared with the file system's
own clock only. A holder that was silent for too long (a suspended laptop) learns from `check` that
its lock is lost.

The file is never removed: whoever waits for a removed file waits for nothing.

As a command: `python -m scripts.machine.locks FILE -- COMMAND…` becomes the command; the lock is
held until the command has ended.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import os
import pwd
import random
import secrets
import select
import signal
import socket
import stat
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from scripts.files import dump_line, parse_json


class LockError(RuntimeError):
    """A file cannot be locked: no right to write it, no space, no such folder."""


class HeldError(LockError):
    """Somebody else holds the lock, or took it over; `holder` says who."""

    def __init__(self, path: Path, holder: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.holder = holder


@dataclass(frozen=True)
class Pace:
    """How often and how long, in seconds.

    `beat`: between two signs of life. `silence`: without one, a holder on another machine is taken
    for dead, after it was watched for `watch` at least. `settle`: a new record is left so long
    before it counts. `glance`: a lock that is held is tried so long before that is reported, since
    somebody may only be asking who holds it.
    """

    beat: float = 5.0
    silence: float = 60.0
    watch: float = 15.0
    settle: float = 3.0
    glance: float = 0.5


PACE = Pace()
_MOUNTS = Path("/proc/self/mountinfo")
#: Seconds after which somebody who waits is told for whom.
TELL = 2.0
_LONGEST_RECORD = 4096
_LONGEST_PURPOSE = 300
# flock is not there: the record alone decides.
_NO_KERNEL_LOCK = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
# On any other file system two machines may write at the same time.
_LOCAL_FILE_SYSTEMS = frozenset(
    (
        "apfs",
        "btrfs",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "hfs",
        "overlay",
        "tmpfs",
        "ufs",
        "xfs",
        "zfs",
    )
)


@dataclass(frozen=True)
class Owner:
    """Who holds a lock; `machine` tells one running kernel from another, `token` one holding."""

    host: str
    machine: str
    process: int
    user: str
    purpose: str
    started: str
    token: str

    def __str__(self) -> str:
        text = (
            f"user {self.user}, process {self.process} on {self.host}, "
            f"since {self.started}: {self.purpose}"
        )
        # Another user wrote it, and it goes to a terminal.
        return "".join(letter if letter.isprintable() else "?" for letter in text)[:500]

    @classmethod
    def read(cls, data: bytes) -> Owner | None:
        """The owner whose record this is; None for an empty or a damaged one."""
        try:
            row = parse_json(data)
            texts = {name: str(row[name]) for name in cls.__annotations__ if name != "process"}
            return cls(process=int(row["process"]), **texts)
        except (ValueError, KeyError, TypeError):
            return None


#: Stands for a record that cannot be read: somebody is writing it, or it is no record of ours.
UNKNOWN = Owner("an unknown machine", "", 0, "unknown", "unknown", "an unknown time", "")


@cache
def this_machine() -> tuple[str, str]:
    """(host name, mark of the running kernel): containers of one machine share its locks."""
    try:
        mark = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        mark = socket.gethostname()
    return socket.gethostname(), mark


def _this_user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # A container's user has a number and no name.
        return str(os.getuid())


def _elapsed() -> float:
    """Seconds of a clock that goes on while the machine is suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _flock(descriptor: int, operation: int) -> None:
    fcntl.flock(descriptor, operation | fcntl.LOCK_NB)


class Lock:
    """The lock of a file, made where it does not exist; a context manager.

    `purpose` tells others what its holder does. `wait` is for how many seconds to wait while
    somebody else holds it (infinity: until it is free); who that is, is said once. A lock file that
    is `shared` may be written by every user of the machine.
    """

    def __init__(
        self,
        path: Path | str,
        purpose: str,
        *,
        wait: float = 0.0,
        shared: bool = False,
        pace: Pace | None = None,
    ) -> None:
        self.path = Path(path)
        self.purpose = purpose[:_LONGEST_PURPOSE]
        self.wait = wait
        self.shared = shared
        self.pace = pace or PACE
        self.owner: Owner | None = None
        # The record of the last holder, where that one did not give the lock back in order.
        self.left_behind: Owner | None = None
        self._descriptor: int | None = None
        self._lost: str | None = None
        self._successor: Owner | None = None
        self._alive = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock. Raises HeldError naming its holder, LockError where it cannot be made."""
        begin, told, pause = time.monotonic(), False, 0.1
        while True:
            try:
                self._take()
                break
            except HeldError as error:
                waited = time.monotonic() - begin
                if waited >= self.wait:
                    raise
                if not told and waited > TELL:
                    print(f"waiting for {self.path}: held by {error.holder}", file=sys.stderr)
                    told = True
                time.sleep(random.uniform(pause / 2, pause))
                pause = min(2.0, pause * 1.5)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat_until_released, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise HeldError when the lock was lost to another since it was taken."""
        if self._descriptor is None:
            raise LockError(f"{self.path}: the lock is not held by this process")
        if self._lost is None:
            if _elapsed() - self._alive > self.pace.silence / 2:
                # Another may be about to take it over: show a sign of life, and see who prevails.
                self._beat()
                time.sleep(self.pace.settle)
            self._look()
        if self._lost is not None:
            raise HeldError(
                self.path,
                str(self._successor or "nobody"),
                f"{self.path}: this process has lost the lock ({self._lost}); it writes nothing "
                "more, run it again later",
            )

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._descriptor is None:
            return
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._clear()
        _HELD.discard(self)
        _close(self._descriptor)
        self._descriptor = self._thread = None

    # ---- taking ----

    def _take(self) -> None:
        if self._descriptor is not None:
            raise LockError(f"{self.path}: the lock is held by this process already")
        try:
            descriptor, kernel = self._open_and_lock()
            try:
                self.owner = self._new_owner()
                succeeds = self._respect_other_machines(kernel)
                self._write_record(descriptor)
                if succeeds or not kernel or on_network(self.path):
                    self._settle()
            except BaseException:
                _close(descriptor)
                raise
        except HeldError:
            raise
        except OSError as error:
            raise LockError(_explained(self.path, error)) from error
        self._lost = None
        self._descriptor = descriptor
        self._alive = _elapsed()
        _HELD.add(self)

    def _open_and_lock(self) -> tuple[int, bool]:
        """A descriptor of the file, and whether the kernel locked it for this process alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        while True:
            descriptor = open_lock_file(self.path, self.shared)
            try:
                _flock(descriptor, fcntl.LOCK_EX)
                # Whoever removed the file and made a new one would not see a lock on the old one.
                if os.path.samestat(os.fstat(descriptor), os.stat(self.path)):  # noqa: PTH116
                    return descriptor, True
            except FileNotFoundError:
                pass
            except OSError as error:
                if error.errno in _NO_KERNEL_LOCK:
                    return descriptor, False
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    _close(descriptor)
                    raise
                if time.monotonic() - begin >= self.pace.glance:
                    _close(descriptor)
                    raise _held(self.path, _read_owner(self.path) or UNKNOWN) from error
                time.sleep(0.05)
            _close(descriptor)

    def _new_owner(self) -> Owner:
        host, machine = this_machine()
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        token = secrets.token_hex(8)
        return Owner(host, machine, os.getpid(), _this_user(), self.purpose, now, token)

    def _respect_other_machines(self, kernel: bool) -> bool:
        """Raise HeldError if another machine's holder lives; True when a dead one is succeeded."""
        found = self.left_behind = _read_owner(self.path)
        if found is None or (kernel and _of_this_machine(found, self.path)):
            return False
        if _lives(self.path, self.pace):
            raise _held(self.path, _read_owner(self.path) or found)
        print(
            f"{self.path}: taken over from {found}, which has given no sign of life",
            file=sys.stderr,
        )
        return True

    def _write_record(self, descriptor: int) -> None:
        assert self.owner is not None
        record = dump_line(asdict(self.owner))
        os.pwrite(descriptor, record, 0)
        os.ftruncate(descriptor, len(record))
        os.utime(descriptor)
        os.fsync(descriptor)

    def _settle(self) -> None:
        """Wait until what another machine wrote at the same time is seen; the last one holds it."""
        time.sleep(self.pace.settle)
        found = _read_owner(self.path)
        if found is None or self.owner is None or found.token != self.owner.token:
            raise _held(self.path, found or UNKNOWN)

    # ---- holding ----

    def _look(self) -> None:
        """Note it when the record is no longer this holder's."""
        try:
            found = _read_owner(self.path)
        except FileNotFoundError:
            self._lost = "the file was removed"
            return
        except OSError:
            return  # The file system is away for a moment; writing to it fails just as well.
        if found is None or self.owner is None or found.token != self.owner.token:
            self._successor = found
            self._lost = f"taken over by {found}" if found else "the record was removed"

    def _beat(self) -> None:
        descriptor = self._descriptor
        if descriptor is None:
            return
        self._look()
        if self._lost is None:
            with contextlib.suppress(OSError):  # The next beat, or `check`, will tell.
                os.utime(descriptor)
                self._alive = _elapsed()

    def _beat_until_released(self) -> None:
        while self._lost is None and not self._stop.wait(self.pace.beat):
            self._beat()

    def _clear(self) -> None:
        """Empty the record if it is still this holder's."""
        if self._descriptor is None or self._lost is not None:
            return
        with contextlib.suppress(OSError):  # The kernel lock goes in any case.
            found = _read_owner(self.path)
            if found and self.owner and found.token == self.owner.token:
                os.ftruncate(self._descriptor, 0)


_HELD: weakref.WeakSet[Lock] = weakref.WeakSet()
_DESCRIPTORS: set[int] = set()


def _forget_all() -> None:
    """In a forked child: the locks stay its parent's alone."""
    for descriptor in _DESCRIPTORS:
        os.close(descriptor)
    _DESCRIPTORS.clear()
    for lock in list(_HELD):
        lock._descriptor = lock._thread = None
    _HELD.clear()


os.register_at_fork(after_in_child=_forget_all)


def beside(path: Path) -> Path:
    """The lock file of a file or folder, hidden next to it."""
    return path.with_name(f".{path.name}.lock")


def holder(path: Path | str, pace: Pace | None = None) -> str | None:
    """Who holds the lock of a file now; None when nobody does.

    A record of another machine is watched for some seconds, unless it is old.
    """
    path, pace = Path(path), pace or PACE
    begin, kernel = time.monotonic(), True
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            _flock(descriptor, fcntl.LOCK_SH)
        except OSError as error:
            kernel = error.errno not in _NO_KERNEL_LOCK
            if kernel:
                found = _read_owner(path)
                # Without a record somebody is just taking the lock, or has just let go of it.
                if found is None and time.monotonic() - begin < pace.glance:
                    time.sleep(0.05)
                    continue
                return str(found or UNKNOWN)
        finally:
            os.close(descriptor)
        break
    found = _read_owner(path)
    if found is None or (kernel and _of_this_machine(found, path)):
        return None
    return str(found) if _lives(path, pace) else None


def open_lock_file(path: Path, shared: bool = False) -> int:
    """Open or make a lock file; never through a link, never another kind of file."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    while True:
        # Not O_CREAT at once: in a folder that everybody may write, the kernel refuses it for a
        # file of another user (fs.protected_regular).
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, flags)
            break
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
            if shared:
                os.fchmod(descriptor, 0o666)
            break
    _DESCRIPTORS.add(descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        _close(descriptor)
        raise LockError(f"{path}: not an ordinary file; remove it")
    return descriptor


def _close(descriptor: int) -> None:
    _DESCRIPTORS.discard(descriptor)
    os.close(descriptor)


def _read_owner(path: Path) -> Owner | None:
    """The record of a lock file; opened anew, so that other machines' writes are seen."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        data = os.pread(descriptor, _LONGEST_RECORD, 0)
    finally:
        os.close(descriptor)
    # Anything but the beginning of a record is no record: nobody holds the lock by it.
    return (Owner.read(data) or UNKNOWN) if data.startswith(b"{") else None


def _touched(path: Path) -> float:
    """Modification time of the file, asked of the file system and not of its cache."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)


def _file_system_time(folder: Path) -> float:
    """Now, as the file system's clock has it: the time of a file that is written there."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".clock.") as probe:
        os.utime(probe.fileno())
        return os.fstat(probe.fileno()).st_mtime


def _lives(path: Path, pace: Pace) -> bool:
    """True as soon as the holder renews its record; False once it has been silent for too long."""
    seen = _touched(path)
    age = max(0.0, _file_system_time(path.parent) - seen)
    watch = max(pace.watch, pace.silence - age)
    begin = time.monotonic()
    while time.monotonic() - begin < watch:
        time.sleep(min(1.0, pace.beat / 2))
        if _read_owner(path) is None:
            return False
        if _touched(path) != seen:
            return True
    return False


def _of_this_machine(owner: Owner, path: Path) -> bool:
    """True when this kernel decides about the owner's lock; it may have started again since."""
    host, machine = this_machine()
    return owner.machine == machine or (owner.host == host and not on_network(path))


def _held(path: Path, owner: Owner) -> HeldError:
    return HeldError(path, str(owner), f"{path}: held by {owner}; wait for it or stop it")


def _explained(path: Path, error: OSError) -> str:
    remedy = {
        errno.EACCES: "ask for the right to write there, or use a folder of your own",
        errno.EPERM: "ask for the right to write there, or use a folder of your own",
        errno.EROFS: "the file system is read-only; use another folder",
        errno.ENOSPC: "the disk is full; free some space and run again",
        errno.EDQUOT: "your quota is used up; free some space and run again",
        errno.ELOOP: "it is a symbolic link; remove it",
    }.get(error.errno or 0, "see that the folder is there and may be written")
    return f"{path}: cannot be locked ({error.strerror or error}); {remedy}"


def on_network(path: Path) -> bool:
    """True unless the file lies on a file system of this machine alone; False where unknown."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    where, best, kind = Path(path).resolve(), -1, ""
    for line in lines.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        mount = Path(fields[4].replace("\\040", " "))
        # A later line mounts over an earlier one.
        if where.is_relative_to(mount) and len(mount.parts) >= best:
            best, kind = len(mount.parts), right.split(" ")[0]
    return bool(kind) and kind not in _LOCAL_FILE_SYSTEMS


def become(lock: Lock, command: Sequence[str]) -> None:
    """Replace this process by a command that holds the lock until it has ended; never returns.

    Exit status, signals and the terminal are the command's own. A small process beside it renews
    the record and empties it at the end; it holds no lock, and it asks the command to stop
    (SIGTERM) should the lock be lost. Raises HeldError, LockError, or OSError where there is no
    such command.
    """
    lock._take()
    descriptor = lock._descriptor
    assert descriptor is not None
    ended, alive = os.pipe()
    if not os.fork():
        os.close(alive)
        _attend(lock, ended)
    os.close(ended)
    # Whatever the command starts and leaves behind may inherit both: then the lock lasts as long.
    os.set_inheritable(descriptor, True)
    os.set_inheritable(alive, True)
    os.execvp(command[0], list(command))  # noqa: S606 - the command is the caller's


def _attend(lock: Lock, ended: int) -> NoReturn:
    """Keep the record of a command that runs until nobody holds the other end of `ended`."""
    command, status = os.getppid(), 0
    try:
        _detach()
        lock._descriptor = open_lock_file(lock.path, lock.shared)
        while not select.select([ended], [], [], lock.pace.beat)[0]:
            lock._beat()
            if lock._lost is not None:
                print(f"{lock.path}: {lock._lost}; stopping the command", file=sys.stderr)
                os.kill(command, signal.SIGTERM)
                break
        else:
            _clear_behind(lock)
    except OSError:
        status = 1
    finally:
        os._exit(status)


def _detach() -> None:
    """Leave the terminal: Control-C is for the command, and its output ends with it."""
    os.setsid()
    for standard in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR), standard)


def _clear_behind(lock: Lock) -> None:
    """Empty the record of a command that has ended, unless somebody holds the lock by now."""
    assert lock._descriptor is not None
    for _ in range(10):
        try:
            _flock(lock._descriptor, fcntl.LOCK_EX)
        except OSError:
            time.sleep(0.05)
        else:
            lock._clear()
            return


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command as the only one that holds a file's lock; exit status 1 where it is held."""
    parser = argparse.ArgumentParser(prog="python -m scripts.machine.locks", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--purpose", help="what others are told (default: the command's name)")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="after --")
    chosen = parser.parse_args(arguments)
    purpose = chosen.purpose or Path(chosen.command[0]).name
    try:
        become(Lock(chosen.file, purpose), chosen.command)
    except HeldError as error:
        print(f"another run is active here: {error}", file=sys.stderr)
        return 1
    except (LockError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
