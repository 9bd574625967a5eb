"""An embeddings endpoint that misbehaves on order: the script gives the steps of its requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 4


def vector(text: str) -> list[float]:
    """A vector that tells the text: a mixed-up order shows."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0, float(ord(text[0]) % 13)]


def reply(texts: list[str], **changes: Any) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": place, "embedding": vector(text)}
        for place, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)}
    return {"object": "list", "data": data, "model": "tiny", "usage": usage, **changes}


Step = tuple[int, Callable[[list[str]], Any] | bytes, dict[str, str]]


def status(code: int, message: str = "no", headers: dict[str, str] | None = None) -> Step:
    body = json.dumps({"error": {"message": message}}).encode()
    return code, body, headers or {}


class EmbeddingServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, steps: list[Step] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.steps = list(steps or [])
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> EmbeddingServer:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.seen.append(sent)
            self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
            step: Step = self.server.steps.pop(0) if self.server.steps else (200, reply, {})
        code, body, headers = step
        if callable(body):
            made = body(sent["input"])
            body = made if isinstance(made, bytes) else json.dumps(made).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)
