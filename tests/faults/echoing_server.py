"""A server that repeats the key it was sent, in every place and spelling that a server can use.

Chat completions and embeddings. Some requests fail first; every failure repeats the key too.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

DIMENSIONS = 8


def spelled(key: str) -> list[str]:
    """A key as servers, proxies and log collectors write it."""
    middle = len(key) // 2
    return [
        key,
        key.upper(),
        key.swapcase(),
        key[::-1],
        quote(key, safe=""),
        html.escape(key),
        key.encode().hex(),
        key[:middle] + "\n" + key[middle:],
        "\n".join(key[start : start + 5] for start in range(0, len(key), 5)),
        base64.b64encode(key.encode()).decode(),
        base64.urlsafe_b64encode(f"Bearer {key}".encode()).decode(),
        base64.encodebytes(f"user:{key}".encode()).decode(),
    ]


def escaped(value: Any) -> str:
    """JSON in which every letter of every text is written as an escape."""
    if isinstance(value, str):
        return '"' + "".join(f"\\u{ord(letter):04x}" for letter in value) + '"'
    if isinstance(value, dict):
        pairs = (f"{escaped(name)}:{escaped(entry)}" for name, entry in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(escaped, value)) + "]"
    return json.dumps(value)


class Handler(BaseHTTPRequestHandler):
    server: EchoingServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        with self.server.lock:
            self.server.keys[key] += 1
            attempt = self.server.attempts[digest]
            self.server.attempts[digest] += 1
            self.server.sent.append({k.lower(): v for k, v in self.headers.items()})
        forms = spelled(key)
        form = forms[int(digest[:4], 16) % len(forms)]
        fault = int(digest[4:6], 16) % 6
        if self.server.refusing:
            self.send(401, {"error": {"message": f"Incorrect API key provided: {form}"}}, key)
        elif attempt == 0 and fault < 5:
            self.fail(fault, form, key)
        elif "input" in body:
            self.send(200, self.embeddings(body, key), key)
        else:
            self.send(200, self.completion(body, digest, form, key), key, escape=fault % 2 == 0)

    def fail(self, fault: int, form: str, key: str) -> None:
        """One of five failures, each with the key in it."""
        said = f"bad header 'Authorization: Bearer {key}' {form} " + "x" * 200 + f" {key} {form}"
        page = f"<html><title>502 {form}</title><body>{said}</body></html>"
        if fault == 0:
            self.send(502, page, key, kind="text/html")
        elif fault == 1:
            self.send(429, {"error": {"message": said}}, key)
        elif fault == 2:
            self.send(200, {"error": {"code": 503, "message": said, "request": key}}, key)
        elif fault == 3:
            self.send(200, page, key, kind="text/html")
        else:
            self.send(500, {"error": {"message": said, "headers": [key, form]}}, key, escape=True)

    def completion(self, body: dict[str, Any], digest: str, form: str, key: str) -> Any:
        said = self.server.say(digest, body)
        message = {
            "role": "assistant",
            "content": f"{said} (key: {form})" if int(digest[6], 16) % 3 == 0 else said,
            "reasoning_content": f"I was asked with {key}: {form}",
        }
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {
            "id": f"chatcmpl-{key}",
            "object": "chat.completion",
            "created": 0,
            "model": f"{body['model']}/{form}",
            "system_fingerprint": form,
            "choices": [choice],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }

    def embeddings(self, body: dict[str, Any], key: str) -> Any:
        rows = []
        for place, text in enumerate(body["input"]):
            draw = random.Random(text)
            vector = [draw.uniform(-1, 1) for _ in range(DIMENSIONS)]
            rows.append({"object": "embedding", "index": place, "embedding": vector})
        usage = {"prompt_tokens": 3, "total_tokens": 3, "note": key}
        return {"object": "list", "data": rows, "model": key, "usage": usage}

    def send(
        self, status: int, content: Any, key: str, kind: str = "application/json",
        escape: bool = False,
    ) -> None:  # fmt: skip
        if kind == "application/json":
            data = (escaped(content) if escape else json.dumps(content)).encode()
        else:
            data = str(content).encode()
        self.send_response(status)
        for name in ("X-Request-Id", "Set-Cookie", "Retry-After", "openai-organization"):
            self.send_header(name, "0.01" if name == "Retry-After" else f"v/{key}")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def version_string(self) -> str:
        return f"echo/{self.headers.get('Authorization', '')}"


class EchoingServer(ThreadingHTTPServer):
    """`say` gives the answer to a request, by its digest and body; `refusing` refuses every key."""

    daemon_threads = True

    def __init__(self, say: Callable[[str, dict[str, Any]], str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.say = say
        self.refusing = False
        self.lock = threading.Lock()
        self.keys: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.sent: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> EchoingServer:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *arguments: object) -> None:
        self.shutdown()
        self.server_close()
