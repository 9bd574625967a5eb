"""A chat-completions server that misbehaves on order.

Every request names itself in its last user message; the script gives, per name, the list of steps
that its successive attempts get. After the last step (or without a script) the server answers well:
the text is the name in upper case, so that a mixed-up answer shows.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Step:
    """What one attempt gets. `kind` is a method of the handler without its `do_` prefix."""

    kind: str
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    change: dict[str, Any] = field(default_factory=dict)


def error(
    status: int, message: str = "no", headers: dict[str, str] | None = None, **extra: Any
) -> Step:
    body = json.dumps({"error": {"message": message, **extra}}).encode()
    return Step("reply", status, body, {"Content-Type": "application/json", **(headers or {})})


def html(status: int = 502) -> Step:
    page = b"<html><head><style>b{}</style></head><body><h1>Bad Gateway</h1></body></html>"
    return Step("reply", status, page, {"Content-Type": "text/html"})


def raw(body: bytes, content_type: str = "application/json") -> Step:
    return Step("reply", 200, body, {"Content-Type": content_type})


def completion(text: str, **changes: Any) -> dict[str, Any]:
    """A well-formed reply; `changes` replace its fields (`message`, `finish`: the choice's)."""
    message = changes.pop("message", {"role": "assistant", "content": text})
    reply = {
        "id": changes.pop("id", f"chatcmpl-{text}"),
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": [
            {"index": 0, "message": message, "finish_reason": changes.pop("finish", "stop")}
        ],
        "usage": {
            "prompt_tokens": 7,
            "completion_tokens": 5,
            "total_tokens": 12,
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    }
    return {**reply, **changes}


class Handler(BaseHTTPRequestHandler):
    server: FaultServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Silent: the tests read `server.seen`."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = sent["messages"][-1]["content"]
        with self.server.lock:
            step = self.server.next_step(name)
            headers = {key.lower(): value for key, value in self.headers.items()}
            self.server.seen.append((name, time.monotonic(), sent, headers))
            self.server.open_now += 1
            self.server.most_open = max(self.server.most_open, self.server.open_now)
        try:
            getattr(self, f"step_{step.kind}")(name, step)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.server.lock:
                self.server.open_now -= 1

    def send(
        self, status: int, body: bytes, headers: dict[str, str], claim: int | None = None
    ) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body) if claim is None else claim))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def good(self, name: str, step: Step) -> bytes:
        return json.dumps(completion(name.upper(), **dict(step.change))).encode()

    def step_good(self, name: str, step: Step) -> None:
        time.sleep(self.server.delay)
        self.send(200, self.good(name, step), {"Content-Type": "application/json", **step.headers})

    def step_reply(self, name: str, step: Step) -> None:
        assert step.body is not None
        self.send(step.status, step.body, step.headers)

    def step_hang(self, name: str, step: Step) -> None:
        self.server.released.wait(20)
        self.close_connection = True

    def step_late(self, name: str, step: Step) -> None:
        """A whole good answer, 1.5 s later."""
        self.server.released.wait(1.5)
        self.send(200, self.good(name, step), {"Content-Type": "application/json"})

    def step_drop(self, name: str, step: Step) -> None:
        """Close without a word."""
        self.close_connection = True
        self.connection.close()

    def step_cut(self, name: str, step: Step) -> None:
        """Announce the whole body, send half of it and close."""
        body = self.good(name, step)
        self.send(200, body[: len(body) // 2], {"Content-Type": "application/json"}, len(body))
        self.close_connection = True

    def step_truncate(self, name: str, step: Step) -> None:
        """Half of the JSON under a matching Content-Length: HTTP sees nothing wrong."""
        body = self.good(name, step)
        self.send(200, body[: len(body) // 2], {"Content-Type": "application/json"})

    def step_twice(self, name: str, step: Step) -> None:
        """The same answer two times in one body."""
        self.send(200, self.good(name, step) * 2, {"Content-Type": "application/json"})

    def step_drip(self, name: str, step: Step) -> None:
        """One byte at a time, each well within any read timeout, for ever."""
        body = self.good(name, step)
        self.send(200, b"", {"Content-Type": "application/json"}, len(body) + 10_000)
        for _ in range(400):
            if self.server.released.wait(0.05):
                break
            self.wfile.write(b" ")
            self.wfile.flush()
        self.close_connection = True

    def step_slow(self, name: str, step: Step) -> None:
        """A drip that ends in time."""
        body = self.good(name, step)
        self.send(200, b"", {"Content-Type": "application/json"}, len(body))
        for start in range(0, len(body), 64):
            time.sleep(0.01)
            self.wfile.write(body[start : start + 64])
            self.wfile.flush()


class FaultServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, script: dict[str, list[Step]] | None = None, delay: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = defaultdict(list, {k: list(v) for k, v in (script or {}).items()})
        self.always: Step | None = None
        self.delay = delay
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.seen: list[tuple[str, float, dict[str, Any], dict[str, str]]] = []
        self.open_now = 0
        self.most_open = 0

    def next_step(self, name: str) -> Step:
        steps = self.script[name]
        return steps.pop(0) if steps else (self.always or Step("good"))

    def handle_error(self, *arguments: Any) -> None:
        """Clients hang up on purpose here."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def times(self, name: str) -> list[float]:
        return [when for seen, when, _, _ in self.seen if seen == name]

    def __enter__(self) -> FaultServer:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *arguments: Any) -> None:
        self.released.set()
        self.shutdown()
        self.server_close()
