"""Fetching a file over HTTP: resumable, retried, size-limited, verified, and atomic.

What has arrived stands in `<name>.part` beside the target, so that an interrupted run goes on where
it stopped (HTTP Range). The target appears only once its SHA-256 is right; a file whose checksum is
wrong is removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from scripts.corpora.sources import CorpusError
from scripts.files import sync_path

USER_AGENT = "tokens-and-time (research pipeline; Python urllib)"
_CHUNK = 1 << 16
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
# A server that asks for a longer pause than this is not waited for.
_LONGEST_PAUSE_S = 120.0


@dataclass(frozen=True)
class Retries:
    """How often and how patiently to try again: pauses of `pause_s` doubling from try to try."""

    tries: int = 5
    pause_s: float = 1.0
    timeout_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def wait(self, failed: int, asked_s: float | None = None) -> None:
        """Pause after the `failed`-th failure, as long as the server asked for within reason."""
        pause = self.pause_s * 2 ** (failed - 1)
        self.sleep(min(max(pause, asked_s or 0.0), _LONGEST_PAUSE_S))


class TransferError(Exception):
    """The transfer stopped before the end; what came is kept and the rest asked for."""

    def __init__(self, reason: str, asked_s: float | None = None) -> None:
        super().__init__(reason)
        self.asked_s = asked_s


class _StalePartError(Exception):
    """The kept part does not belong to the file on the server; start from nothing."""


def open_url(
    url: str, retries: Retries, headers: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    """Open an http(s) URL once; CorpusError for what no retry can cure, else TransferError."""
    if not url.lower().startswith(("http://", "https://")):
        raise CorpusError(f"{url}: only http and https are fetched; correct the url in config.yaml")
    request = urllib.request.Request(url, headers={"User-Agent": USER_AGENT} | (headers or {}))  # noqa: S310
    try:
        return urllib.request.urlopen(request, timeout=retries.timeout_s)  # type: ignore[no-any-return]  # noqa: S310
    except urllib.error.HTTPError as error:
        with error:
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise _StalePartError from error
            if error.code not in _TRANSIENT:
                raise CorpusError(f"{url}: HTTP {error.code} {error.reason}") from error
            raise TransferError(f"HTTP {error.code}", _asked_pause(error.headers)) from error
    except (OSError, http.client.HTTPException) as error:
        raise TransferError(str(error) or type(error).__name__) from error


def _asked_pause(headers: Any) -> float | None:
    value = headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None


def retried(what: str, attempt: Callable[[], Any], retries: Retries) -> Any:
    """The attempt's result, tried again after interruptions; CorpusError when all tries failed."""
    for failed in range(1, retries.tries + 1):
        try:
            return attempt()
        except TransferError as error:
            if failed == retries.tries:
                raise CorpusError(
                    f"{what}: given up after {failed} tries ({error}); "
                    "check the network (and HTTPS_PROXY, where there is a proxy) and run again, "
                    "which goes on from here"
                ) from error
            retries.wait(failed, error.asked_s)
    raise CorpusError(f"{what}: no tries allowed")


def _start_of(response: http.client.HTTPResponse, have: int) -> int:
    """Offset at which the body starts: `have` if the server honours the range, else 0."""
    if response.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    unit, _, rest = response.headers.get("Content-Range", "").partition(" ")
    if unit != "bytes" or rest.partition("-")[0] != str(have):
        raise _StalePartError
    return have


def _transfer(url: str, part: Path, limit: int | None, retries: Retries) -> None:
    """Append to the part what is missing; TransferError when the body ends early."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {}
    with open_url(url, retries, headers) as response:
        start = _start_of(response, have)
        length = response.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        if limit is not None and total is not None and total > limit:
            raise CorpusError(f"{url}: {total} bytes, more than the {limit} allowed")
        try:
            with part.open("ab" if start else "wb") as handle:
                for block in _blocks(response, start, total):
                    handle.write(block)
                    if limit is not None and handle.tell() > limit:
                        raise CorpusError(f"{url}: more than the {limit} bytes allowed")
                handle.flush()
                os.fsync(handle.fileno())
                have = handle.tell()
        except OSError as error:
            error.filename = error.filename or str(part)  # A full disk does not say which.
            raise
    if total is not None and have < total:
        raise TransferError(f"{have} of {total} bytes came")


def _blocks(response: http.client.HTTPResponse, start: int, total: int | None) -> Iterator[bytes]:
    """The body in pieces, with a progress bar on a terminal; TransferError when it breaks off."""
    with tqdm(initial=start, total=total, unit="B", unit_scale=True, disable=None) as bar:
        while True:
            try:
                block = response.read(_CHUNK)
            except (OSError, http.client.HTTPException) as error:
                raise TransferError(str(error) or type(error).__name__) from error
            if not block:
                return
            bar.update(len(block))
            yield block


def _checksum(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def download(
    url: str,
    path: Path | str,
    sha256: str,
    size: int | None = None,
    retries: Retries | None = None,
) -> None:
    """Fetch `url` to `path` and verify it.

    `size` in bytes, where known, is also the upper limit. Raises CorpusError and leaves neither
    target nor part when checksum or size is wrong; keeps the part when the network failed. One
    process at a time fetches a file: what a killed run left running is waited for.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with _claimed(part):
        if path.is_file() and not part.stat().st_size and _checksum(path) == sha256:
            part.unlink()  # The process that was waited for has fetched it.
            return
        try:
            _fetch(url, part, sha256, size, retries or Retries())
            sync_path(part)
            part.replace(path)
            sync_path(path.parent)
        finally:
            if part.is_file() and not part.stat().st_size:
                part.unlink()


@contextmanager
def _claimed(part: Path) -> Iterator[None]:
    """Hold the part, made where it is not there, as its only writer."""
    while True:
        with part.open("ab") as handle:
            with suppress(OSError):  # A file system without locks.
                fcntl.flock(handle, fcntl.LOCK_EX)
            # Whoever held it has renamed it by now, unless it failed.
            if part.exists() and os.path.samestat(os.fstat(handle.fileno()), part.stat()):
                yield
                return


def _fetch(url: str, part: Path, sha256: str, size: int | None, retries: Retries) -> None:
    """Make the part the whole file that `sha256` tells; the part stays the same file on disk."""
    resumed = part.stat().st_size > 0

    def attempt() -> None:
        try:
            if size is None or part.stat().st_size < size:
                _transfer(url, part, size, retries)
        except _StalePartError as error:
            os.truncate(part, 0)
            raise TransferError("the part kept from before does not fit the file") from error

    try:
        retried(url, attempt, retries)
        found = _checksum(part)
        if found != sha256 and resumed:
            # The part may have been of an older file: once more from nothing.
            os.truncate(part, 0)
            retried(url, attempt, retries)
            found = _checksum(part)
    except CorpusError as error:
        if not isinstance(error.__cause__, TransferError):
            os.truncate(part, 0)
        raise
    if found != sha256:
        os.truncate(part, 0)
        raise CorpusError(
            f"{url}: sha256 {found}, expected {sha256}; nothing was kept. The file has changed at "
            "its source or on the way: try again, or check the source and update config.yaml"
        )
