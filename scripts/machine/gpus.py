"""GPUs of this machine, lent to one job at a time.

Every device has a lock file in a folder that all users of the machine share; the kernel frees it
however its job ends. The files are named by the devices' UUIDs, because inside a container or a
scheduler's allocation index 0 may be another card. A job sees the devices that it was lent, and no
others, in CUDA_VISIBLE_DEVICES (on AMD in HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES, whichever
says what the job may use).
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.machine.locks import TELL, HeldError, Lock, LockError, Pace

#: Names the folder of the locks, for a machine whose users do not share /tmp.
FOLDER_VARIABLE = "TOKENS_AND_TIME_GPUS"
FOLDER = "tokens-and-time-gpus"
# In this order: what restricts a job to some devices.
_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
#: Seconds for which a job keeps some of its devices while it waits for the others. Two jobs whose
#: devices overlap could otherwise wait for each other.
KEEP = 60.0
#: Seconds to wait until processes that a killed job left on a device have gone.
LEFT_BEHIND = 60.0
_POLL = 1.0
_PACE = Pace(glance=0.0)


class TooFewGpusError(RuntimeError):
    """A job asks for more GPUs than there are."""


@dataclass(frozen=True)
class Device:
    """A GPU: what CUDA_VISIBLE_DEVICES calls it, and what is the same for every user of it."""

    name: str
    key: str


def present() -> list[str]:
    """The devices that this process may use, as CUDA_VISIBLE_DEVICES names them; maybe none."""
    return [device.name for device in _devices()]


@contextmanager
def lease(count: int, purpose: str) -> Iterator[list[str]]:
    """Lend `count` devices for a while and let the process see no others; yields their names.

    Waits while others hold them and says once who does. To be taken before anything looks for GPUs.
    With 0 no device is seen. Raises TooFewGpusError where there are not so many, and LockError
    where the folder of the locks cannot be used. The environment is restored at the end.
    """
    if not count:
        # Nothing has to be known of the machine for that.
        with ExitStack() as hidden:
            for variable in dict.fromkeys((_VARIABLES[0], *_set_variables())):
                hidden.enter_context(_environment(variable, []))
            yield []
        return
    devices = _devices()
    if count > len(devices):
        raise TooFewGpusError(
            f"{purpose}: needs {counted(count)}, {found(devices)}; run it on a machine that has "
            "them, lower tensor_parallel or gpus in the configuration, or let "
            f"{_VARIABLES[0]} (AMD: {_VARIABLES[1]}) name more"
        )
    with ExitStack() as stack:
        chosen = _take(devices, count, purpose, stack)
        names = [device.name for device in chosen]
        stack.enter_context(_environment(_variable(), names))
        _LEASED.append(chosen)
        try:
            yield names
        finally:
            _LEASED.pop()


_LEASED: list[list[Device]] = []


def leased() -> list[dict[str, str]]:
    """Devices that are lent to this process now: their `name` and their `key`, mostly the UUID."""
    return [{"name": device.name, "key": device.key} for held in _LEASED[-1:] for device in held]


def found(devices: Sequence[Device] | None = None) -> str:
    """What there is, for a message."""
    devices = _devices() if devices is None else devices
    if devices:
        names = ", ".join(device.name for device in devices)
        return f"{counted(len(devices))} {'is' if len(devices) == 1 else 'are'} present ({names})"
    variable = _variable()
    if variable in os.environ:
        return f"no GPU is present ({variable} is {os.environ[variable]!r})"
    return f"no GPU is present ({_listing()[1]})"


# ---- which there are ----


def _variable() -> str:
    """The variable that says which devices a process of this machine sees."""
    if _VARIABLES[0] not in os.environ and not _listing()[0]:
        return next(iter(_set_variables()), _VARIABLES[0])
    return _VARIABLES[0]


def _set_variables() -> list[str]:
    return [name for name in _VARIABLES if name in os.environ]


def _devices() -> list[Device]:
    variable = _variable()
    if variable not in os.environ:
        return [Device(index, uuid) for index, uuid in _listing()[0]]
    names: list[str] = []
    for entry in os.environ[variable].split(","):
        name = entry.strip()
        # CUDA takes what stands before the first invalid entry; schedulers write NoDevFiles.
        if not re.fullmatch(r"[0-9]+|(GPU|MIG)-[A-Za-z0-9/-]+", name):
            break
        if name not in names:
            names.append(name)
    vendor = "" if variable == _VARIABLES[0] else "amd-"
    return [Device(name, vendor + _key(name, by_uuid=not vendor)) for name in names]


def _key(name: str, *, by_uuid: bool) -> str:
    """The UUID where it is known. An index means something inside its own allocation only."""
    if by_uuid:
        for index, uuid in _listing()[0]:
            if name == index or (name.startswith("GPU-") and uuid.startswith(name)):
                return uuid
    if not name.isdecimal():
        return name
    allocation = os.environ.get("SLURM_JOB_ID")
    return f"slurm-{allocation}-{name}" if allocation else f"index-{name}"


@cache
def _listing() -> tuple[tuple[tuple[str, str], ...], str]:
    """(index, UUID) of every device that nvidia-smi lists, and why there are none."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return (), "there is no nvidia-smi"
    try:
        rows = _ask(tool, "--query-gpu=index,uuid")
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stdout", None) or str(error)
        return (), f"nvidia-smi fails: {' '.join(str(output).split())[:200]}"
    return tuple((row[0], row[1]) for row in rows if len(row) == 2), "nvidia-smi lists none"


def _ask(tool: str, query: str) -> list[list[str]]:
    command = [tool, query, "--format=csv,noheader"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    lines = [line for line in finished.stdout.splitlines() if line.strip()]
    return [[cell.strip() for cell in line.split(",")] for line in lines]


# ---- lending ----


def folder() -> Path:
    """Where the locks stand: one place for all users of the machine, whatever their TMPDIR."""
    given = os.environ.get(FOLDER_VARIABLE)
    path = Path(given) if given else Path("/tmp") / FOLDER  # noqa: S108 - to be shared
    try:
        with suppress(FileExistsError):
            path.mkdir(parents=bool(given))
            path.chmod(0o1777)
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise LockError(f"{path}: not a folder; remove it, or name one in {FOLDER_VARIABLE}")
    except OSError as error:
        raise LockError(
            f"{path}: the locks of the GPUs cannot be kept there ({error.strerror}); name a folder "
            f"that all users of the machine may write in {FOLDER_VARIABLE}"
        ) from error
    return path


def _take(devices: Sequence[Device], count: int, purpose: str, stack: ExitStack) -> list[Device]:
    """Hold the locks of `count` of the devices until `stack` ends."""
    where = folder()
    names = sorted(device.key for device in devices)
    crowd = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
    # Who wants two of the same devices is not overtaken forever by those who want one.
    line = Lock(where / f"queue-{crowd}.lock", purpose, wait=math.inf, shared=True)
    with line:
        held = _gather(where, devices, count, purpose)
    for lock in held.values():
        stack.callback(lock.release)
    chosen = [device for device in devices if device in held]
    for device in chosen:
        if held[device].left_behind is not None:
            _await_processes(device)
    return chosen


def _gather(where: Path, devices: Sequence[Device], count: int, purpose: str) -> dict[Device, Lock]:
    """Locks of `count` devices, taken one by one as they become free."""
    held: dict[Device, Lock] = {}
    begin, kept_since, told = time.monotonic(), time.monotonic(), False
    try:
        while True:
            others = _try_each(where, devices, count, purpose, held)
            if len(held) == count:
                return held
            now = time.monotonic()
            if not told and now - begin > TELL:
                print(
                    f"{purpose}: waiting for {counted(count)}; {'; '.join(others)}", file=sys.stderr
                )
                told = True
            if held and now - kept_since > KEEP:
                _release(held)
                time.sleep(random.uniform(_POLL, 5 * _POLL))
            if not held:
                kept_since = time.monotonic()
            time.sleep(_POLL)
    except BaseException:
        _release(held)
        raise


def _try_each(
    where: Path, devices: Sequence[Device], count: int, purpose: str, held: dict[Device, Lock]
) -> list[str]:
    """Take what is free, up to `count` in all; returns who holds the others."""
    others = []
    for device in devices:
        if len(held) == count:
            break
        if device in held:
            continue
        name = re.sub(r"[^A-Za-z0-9._-]", "_", device.key)
        lock = Lock(where / f"{name}.lock", purpose, shared=True, pace=_PACE)
        try:
            lock.acquire()
        except HeldError as error:
            others.append(f"{device.name} is held by {error.holder}")
        else:
            held[device] = lock
    return others


def _release(held: dict[Device, Lock]) -> None:
    while held:
        held.popitem()[1].release()


def _await_processes(device: Device) -> None:
    """A job that was killed may leave a process on its device for a moment: wait until it ends.

    One that stays is left to its owner: the device is used all the same, and the log names it.
    """
    begin = time.monotonic()
    while there := _processes(device):
        if time.monotonic() - begin > LEFT_BEHIND:
            print(
                f"warning: GPU {device.name} was left by a job that was killed, and is still used "
                f"by process {', '.join(there)}; if memory runs out, stop it",
                file=sys.stderr,
            )
            return
        time.sleep(_POLL)


def _processes(device: Device) -> list[str]:
    """Process ids that compute on a device, as far as nvidia-smi sees them."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    try:
        rows = _ask(tool, "--query-compute-apps=gpu_uuid,pid,process_name")
    except (OSError, subprocess.SubprocessError):
        return []
    return [
        row[1]
        for row in rows
        if len(row) >= 3 and row[0] == device.key and "nvidia-cuda-mps" not in row[2]
    ]


@contextmanager
def _environment(variable: str, names: Sequence[str]) -> Iterator[None]:
    # Indices are those of nvidia-smi.
    new = {variable: ",".join(names), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    old = {name: os.environ.get(name) for name in new}
    os.environ.update(new)
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def counted(count: int) -> str:
    """So many GPUs, for a message."""
    return f"{count} GPU" if count == 1 else f"{count} GPUs"
