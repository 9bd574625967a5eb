import fcntl
import hashlib
import http.server
import threading
import time
from pathlib import Path

import pytest

from scripts.corpora.download import Retries, download
from scripts.corpora.fetch_corpus import fetch
from scripts.corpora.sources import CorpusError

BODY = bytes(range(256)) * 1200
SHA = hashlib.sha256(BODY).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves BODY; the server's `plan` says how each request goes wrong, in order."""

    def do_GET(self) -> None:
        server = self.server
        server.ranges.append(self.headers.get("Range"))
        fault = server.plan.pop(0) if server.plan else None
        if isinstance(fault, int):
            self.send_response(fault)
            if fault == 429:
                self.send_header("Retry-After", "7")
            self.end_headers()
            return
        body, start = server.body, 0
        wanted = self.headers.get("Range")
        if wanted and server.has_ranges:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                self.send_response(416)
                self.end_headers()
                return
            self.send_response(206)
            shown = 0 if fault == "wrong range" else start
            self.send_header("Content-Range", f"bytes {shown}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        if server.has_length:
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = (start + len(body)) // 2 if fault == "cut" else len(body)
        self.wfile.write(body[start:end])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server():
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.plan, running.ranges, running.body = [], [], BODY
    running.has_ranges = running.has_length = True
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    running.url = f"http://127.0.0.1:{running.server_port}/file"
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def slept():
    return []


@pytest.fixture
def retries(slept):
    return Retries(tries=3, pause_s=1.0, timeout_s=5.0, sleep=slept.append)


def test_whole_file(server, tmp_path, retries):
    target = tmp_path / "folder" / "file.bin"
    download(server.url, target, SHA, len(BODY), retries)
    assert target.read_bytes() == BODY
    assert [path.name for path in target.parent.iterdir()] == ["file.bin"]


def test_a_download_that_a_killed_run_left_running_is_waited_for(server, tmp_path, retries):
    """Two writers of one part would spoil it."""
    target, part = tmp_path / "f", tmp_path / "f.part"
    with part.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(BODY[:1000])
        other.flush()
        second = threading.Thread(
            target=download, args=(server.url, target, SHA, len(BODY), retries)
        )
        second.start()
        time.sleep(0.3)
        assert server.ranges == [] and second.is_alive()
        other.write(BODY[1000:])
        other.flush()
        part.replace(target)
    second.join(30)
    assert target.read_bytes() == BODY
    assert server.ranges == []  # nothing was fetched again
    assert list(tmp_path.iterdir()) == [target]


def test_interrupted_transfer_goes_on_where_it_stopped(server, tmp_path, retries, slept):
    server.plan = ["cut"]
    download(server.url, tmp_path / "f", SHA, len(BODY), retries)
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.ranges == [None, f"bytes={len(BODY) // 2}-"]
    assert slept == [1.0]


def test_next_run_goes_on_where_the_last_gave_up(server, tmp_path, retries):
    server.plan = ["cut", 503, 503]
    with pytest.raises(CorpusError, match=r"given up after 3 tries \(HTTP 503\)"):
        download(server.url, tmp_path / "f", SHA, len(BODY), retries)
    assert not (tmp_path / "f").exists()
    assert (tmp_path / "f.part").read_bytes() == BODY[: len(BODY) // 2]
    download(server.url, tmp_path / "f", SHA, len(BODY), retries)
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.ranges[-1] == f"bytes={len(BODY) // 2}-"


def test_server_without_ranges_starts_over(server, tmp_path, retries):
    server.has_ranges, server.plan = False, ["cut"]
    download(server.url, tmp_path / "f", SHA, len(BODY), retries)
    assert (tmp_path / "f").read_bytes() == BODY
    assert len(server.ranges) == 2


def test_wrong_checksum_keeps_nothing(server, tmp_path, retries):
    with pytest.raises(CorpusError, match="nothing was kept"):
        download(server.url, tmp_path / "f", "0" * 64, len(BODY), retries)
    assert list(tmp_path.iterdir()) == []


def test_wrong_checksum_leaves_an_older_good_file(server, tmp_path, retries):
    (tmp_path / "f").write_bytes(b"good")
    with pytest.raises(CorpusError):
        download(server.url, tmp_path / "f", "0" * 64, len(BODY), retries)
    assert (tmp_path / "f").read_bytes() == b"good"


def test_part_of_another_file_is_replaced(server, tmp_path, retries):
    (tmp_path / "f.part").write_bytes(b"x" * 1000)
    download(server.url, tmp_path / "f", SHA, len(BODY), retries)
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.ranges == ["bytes=1000-", None]


@pytest.mark.parametrize("size", [len(BODY), None])
def test_part_longer_than_the_file(server, tmp_path, retries, size):
    (tmp_path / "f.part").write_bytes(b"x" * (len(BODY) + 5))
    download(server.url, tmp_path / "f", SHA, size, retries)
    assert (tmp_path / "f").read_bytes() == BODY


def test_complete_part_is_not_fetched_again(server, tmp_path, retries):
    (tmp_path / "f.part").write_bytes(BODY)
    download(server.url, tmp_path / "f", SHA, len(BODY), retries)
    assert server.ranges == []


def test_wrong_content_range_is_not_appended(server, tmp_path, retries):
    server.plan = ["cut", "wrong range"]
    download(server.url, tmp_path / "f", SHA, len(BODY), retries)
    assert (tmp_path / "f").read_bytes() == BODY
    assert server.ranges[-1] is None


def test_missing_file_is_not_retried(server, tmp_path, retries, slept):
    server.plan = [404]
    with pytest.raises(CorpusError, match="HTTP 404"):
        download(server.url, tmp_path / "f", SHA, None, retries)
    assert slept == [] and list(tmp_path.iterdir()) == []


def test_backoff_doubles_and_heeds_retry_after(server, tmp_path, retries, slept):
    server.plan = [429, 500]
    download(server.url, tmp_path / "f", SHA, None, retries)
    assert slept == [7.0, 2.0]


@pytest.mark.parametrize("has_length", [True, False])
def test_larger_than_allowed(server, tmp_path, retries, has_length):
    server.has_length = has_length
    with pytest.raises(CorpusError, match="allowed"):
        download(server.url, tmp_path / "f", SHA, 1000, retries)
    assert list(tmp_path.iterdir()) == []


def test_nobody_listens(server, tmp_path, retries, slept):
    server.server_close()
    with pytest.raises(CorpusError, match="given up after 3 tries"):
        download(server.url, tmp_path / "f", SHA, None, retries)
    assert slept == [1.0, 2.0]


def test_only_http(tmp_path, retries):
    with pytest.raises(CorpusError, match="only http"):
        download(Path("/etc/hostname").as_uri(), tmp_path / "f", SHA, None, retries)


def test_fetch_by_entry(server, tmp_path, retries):
    entry = {"url": server.url, "sha256": SHA, "size": len(BODY), "reader": "word_list"}
    fetch(entry, tmp_path / "f", retries)
    assert (tmp_path / "f").read_bytes() == BODY
    with pytest.raises(CorpusError, match=r"g: is not fetched; put the file there"):
        fetch({"reader": "word_list"}, tmp_path / "g", retries)
    with pytest.raises(CorpusError, match="put the PDFs and this list of them"):
        fetch({"reader": "instruments"}, tmp_path / "g", retries)
