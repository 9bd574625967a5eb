"""The hand-off to a vision model: what is sent, what is taken, what is paid for once."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pymupdf
import pytest
from documents_pdfs import EMBEDDED, ENGINES, scan
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents import parse_document as rule
from scripts.documents import vision as module
from scripts.documents.pages import Page
from scripts.documents.reading import read_pdf
from scripts.documents.vision import (
    SCHEMA,
    Reader,
    ReplyError,
    build_request,
    parse_reply,
    picture,
    read_flagged,
)
from scripts.files import read_csv, read_records, sha256_file
from scripts.inference.backends import create_backend
from scripts.inference.registry import model_spec

GOOD = {
    "lines": ["প্রজ্ঞাপন", "Printed  words", ""],
    "tables": [{"after_line": 1, "rows": [["১", "পণ্য", "১০"], ["২", "চিনি"]]}],
}


class Server(ThreadingHTTPServer):
    """A chat-completions server that gives the texts of `replies`, the last one for ever."""

    def __init__(self, replies):  # type: ignore[no-untyped-def]
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies, self.seen = list(replies), []
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments) -> None:  # type: ignore[no-untyped-def]
        """Silent."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(sent)  # type: ignore[attr-defined]
        replies = self.server.replies  # type: ignore[attr-defined]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        status, text, finish = reply if isinstance(reply, tuple) else (200, reply, "stop")
        message = {"role": "assistant", "content": text}
        body = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "see",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
        }
        data = json.dumps(body if status == 200 else {"error": {"message": "no"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def serve():  # type: ignore[no-untyped-def]
    servers = []

    def start(*replies):  # type: ignore[no-untyped-def]
        servers.append(Server(replies))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def entry(url: str) -> dict:  # type: ignore[type-arg]
    return {
        "backend": "openai",
        "source": "see",
        "revision": "1",
        "precision": "bf16",
        "modes": ["non_thinking"],
        "base_url": url,
        "provider": "test",
        "max_attempts": 1,
        "backoff_seconds": 0.01,
    }


def reader(server, tmp_path, **more) -> Reader:  # type: ignore[no-untyped-def]
    spec = model_spec("seer", entry(server.url))
    backend = create_backend(spec, "non_thinking")
    return Reader(backend, tmp_path / "store" / "non_thinking.jsonl", 500, **more)


def flagged(tmp_path) -> tuple:  # type: ignore[type-arg, no-untyped-def]
    path = scan(tmp_path / "a.pdf")
    return path, read_pdf(path, "a", ENGINES).pages


def test_a_scan_is_read_and_paid_for_once(serve, tmp_path) -> None:  # type: ignore[no-untyped-def]
    server = serve(json.dumps(GOOD, ensure_ascii=False))
    path, pages = flagged(tmp_path)
    (page,), run = read_flagged(path, pages, reader(server, tmp_path))
    assert run is not None
    assert (run.generated, run.from_store) == (1, 0)
    assert (page.status, page.engine, page.reason) == ("vision", "seer", "no text layer")
    assert page.text == "প্রজ্ঞাপন\nPrinted words"
    assert page.tables[0]["rows"] == [["১", "পণ্য", "১০"], ["২", "চিনি", ""]]
    # The table stands between the two lines.
    tops = [line["bbox"][1] for line in page.lines]
    assert tops[0] < page.tables[0]["bbox"][1] < tops[1]
    assert page.characters_in == page.characters_out > 20
    Page.from_json(page.to_json())
    (again,), run = read_flagged(path, pages, reader(server, tmp_path))
    assert run is not None
    assert (again, run.generated, len(server.seen)) == (page, 0, 1)


def test_what_is_sent(serve, tmp_path) -> None:  # type: ignore[no-untyped-def]
    server = serve(json.dumps(GOOD))
    path, pages = flagged(tmp_path)
    read_flagged(path, pages, reader(server, tmp_path))
    (sent,) = server.seen
    text, image = sent["messages"][0]["content"]
    assert text == {"type": "text", "text": module.INSTRUCTION}
    head, _, data = image["image_url"]["url"].partition(",")
    assert (image["type"], head) == ("image_url", "data:image/png;base64")
    png = pymupdf.Pixmap(base64.b64decode(data))
    assert (png.width, png.height) == (1112, 834)
    assert sent["temperature"] == 0.0
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    unbound = serve(json.dumps(GOOD))
    read_flagged(path, pages, reader(unbound, tmp_path / "b", constrained=False))
    assert "response_format" not in unbound.seen[0]


def test_another_picture_is_another_question(tmp_path) -> None:  # type: ignore[no-untyped-def]
    def request(png: bytes, number: int = 1):  # type: ignore[no-untyped-def]
        return build_request("a", number, png, constrained=True)

    assert request(b"1").messages == request(b"1", 2).messages
    assert request(b"1").request_id != request(b"2").request_id
    assert request(b"1").request_id != request(b"1", 2).request_id


def test_a_huge_page_is_drawn_within_bounds() -> None:
    with pymupdf.open() as pdf:
        big = pdf.new_page(width=14400, height=7200)
        png = pymupdf.Pixmap(picture(big))
        assert (png.width, png.height) == (module.LONGEST_SIDE, module.LONGEST_SIDE // 2)
        assert picture(big) == picture(big)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I cannot read this.", "no JSON"),
        ('{"lines": ["a"], "tables": []} and more', "no JSON"),
        ('{"lines": ["a"], "lines": ["b"], "tables": []}', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"lines": ["a"]}', "schema"),
        ('{"lines": [1], "tables": []}', "schema"),
        ('{"lines": ["a"], "tables": [], "note": "done"}', "schema"),
        ('{"lines": [], "tables": []}', "empty"),
        ('{"lines": ["' + "a" * 5000 + '"], "tables": []}', "longer"),
        (json.dumps({"lines": ["ok"] * 1001, "tables": []}), "longer"),
        ('{"lines": ["ধারা \ufffd"], "tables": []}', "without a meaning"),
        (json.dumps({"lines": ["evsjv‡`k miKvi cÖÁvcb"], "tables": []}), "without a meaning"),
        (json.dumps({"lines": ["েবাডর্ িক্রমক তািরখ"], "tables": []}), "order of Bengali"),
        ('{"lines": ["a [illegible] b"], "tables": []}', "1 places"),
    ],
)
def test_replies_that_are_refused(reply: str, said: str, serve, tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ReplyError, match=said):
        parse_reply(reply)
    path, pages = flagged(tmp_path)
    (page,), _ = read_flagged(path, pages, reader(serve(reply), tmp_path))
    assert (page.status, page.text, page.lines) == ("needs_ocr", "", [])
    assert page.reason.startswith("no text layer; seer: ")
    assert said in page.reason


def test_replies_that_are_taken() -> None:
    plain = json.dumps(GOOD, ensure_ascii=False)
    for reply in (plain, f"```json\n{plain}\n```", f"  {plain}\n"):
        assert parse_reply(reply)["lines"] == ["প্রজ্ঞাপন", "Printed words", ""]
    late = {
        "lines": ["a"],
        "tables": [{"after_line": 9, "rows": [["x", "y"]]}, {"after_line": 0, "rows": []}],
    }
    assert parse_reply(json.dumps(late))["tables"] == [{"after_line": 1, "rows": [["x", "y"]]}]


@given(st.text(max_size=60))
def test_any_reply_is_a_page_or_refused(text: str) -> None:
    try:
        value = parse_reply(text)
    except ReplyError as error:
        assert str(error)
    else:
        assert value["lines"] or value["tables"]


def test_no_answer_and_a_cut_answer(serve, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path, pages = flagged(tmp_path)
    (page,), _ = read_flagged(path, pages, reader(serve((500, "", "")), tmp_path))
    assert page.reason == "no text layer; seer: the model gave no answer"
    # An error is asked again at the next run, and the cut answer is told from a whole one.
    cut = serve((200, json.dumps(GOOD)[:50], "length"))
    (page,), _ = read_flagged(path, pages, reader(cut, tmp_path))
    assert page.reason == "no text layer; seer: the reply was cut off"
    assert len(cut.seen) == 1


def test_pages_with_text_are_not_sent(serve, tmp_path) -> None:  # type: ignore[no-untyped-def]
    server = serve(json.dumps(GOOD))
    path = EMBEDDED / "sro-125-2023.pdf"
    if not path.is_file():
        pytest.skip("the embedded corpus is not built")
    pages = read_pdf(path, "s", ENGINES).pages
    out, _ = read_flagged(path, pages, reader(server, tmp_path))
    assert out[0] == pages[0]
    assert (out[1].status, len(server.seen)) == ("vision", 1)
    assert read_flagged(path, out, reader(server, tmp_path)) == (out, None)


def test_pages_go_in_batches(serve, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "BATCH", 2)
    server = serve(json.dumps(GOOD))
    with pymupdf.open(scan(tmp_path / "a.pdf")) as one, pymupdf.open() as pdf:
        for n in range(5):
            pdf.insert_pdf(one)
            pdf[n].draw_rect((n * 10, 5, n * 10 + 9, 9), fill=(0, 0, 0))
        pdf.save(tmp_path / "five.pdf")
    pages = read_pdf(tmp_path / "five.pdf", "five", ENGINES).pages
    out, _ = read_flagged(tmp_path / "five.pdf", pages, reader(server, tmp_path))
    assert [page.status for page in out] == ["vision"] * 5
    assert len(server.seen) == 5


class Named(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__


def test_the_rule_hands_flagged_pages_over(serve, tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    server = serve(json.dumps(GOOD))
    path, _ = flagged(tmp_path)
    row = {"file": "a.pdf", "sha256": sha256_file(path), "type": "SRO", "date": "", "title": ""}
    work = SimpleNamespace(
        input=Named(pdf=str(path)),
        output=Named(
            pages=tmp_path / "p.jsonl", record=tmp_path / "r.json", report=tmp_path / "t.csv"
        ),
        params=Named(
            document="a",
            entry=row,
            engines=ENGINES,
            vision={
                "name": "seer",
                "entry": entry(server.url),
                "mode": "non_thinking",
                "max_new_tokens": 400,
                "store": str(tmp_path / "store" / "non_thinking.jsonl"),
            },
        ),
    )
    rule.main(work)
    (page,) = read_records(work.output.pages, Page)
    assert (page.status, page.engine) == ("vision", "seer")
    assert server.seen[0]["max_tokens"] == 400
    assert list(read_csv(work.output.report)["status"]) == ["vision"]
    assert "1 pages (1 vision)" in capsys.readouterr().out
