import http.server
import json
import threading
import urllib.parse
from types import SimpleNamespace

import pytest

from scripts.corpora import fetch_corpus
from scripts.corpora.download import Retries
from scripts.corpora.readers import read_documents, read_palindromes
from scripts.corpora.sources import CorpusError
from scripts.corpora.wiki import WikiClient, fetch_texts, palindrome_lines, prose, read_lock
from scripts.files import DataError

PAGES = {
    "Cat": (11, "<p>The <b>cat</b> sleeps.<sup class=ref>[1]</sup></p><table><tr><td>"
            "<p>box</p></td></tr></table>"
            "<p>It &amp; its<br/>kin <style>p{}</style>purr.</p><p></p>"),
    "Appendix:P": (12, "<ul><li><a>Anna</a> (a name)</li><li>not one</li><li>racecar &#8211; a car"
                   "<ul><li>noon</li></ul></li><li>Anna</li></ul><p>text</p>"),
    "Empty": (13, "<div>nothing</div>"),
}  # fmt: skip


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        server = self.server
        server.queries.append(query)
        server.agents.append(self.headers["User-Agent"])
        body = server.plan.pop(0) if server.plan else self.answer(query)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer(self, query):
        pages = self.server.pages
        for title, (revision, html) in pages.items():
            if query.get("page") == title or query.get("oldid") == str(revision):
                return {"parse": {"title": title, "revid": revision, "text": html}}
        return {"error": {"code": "missingtitle", "info": "The page does not exist."}}

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site():
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.plan, running.queries, running.agents = [], [], []
    running.pages = dict(PAGES)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    running.api = f"http://127.0.0.1:{running.server_port}/w/api.php"
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def retries():
    return Retries(tries=3, timeout_s=5, sleep=lambda _: None)


def test_prose_leaves_references_tables_and_styles_out():
    assert prose(PAGES["Cat"][1]) == "The cat sleeps.\nIt & its kin purr.\n"


def test_palindrome_lines():
    assert palindrome_lines(PAGES["Appendix:P"][1]) == "Anna\nracecar\nnoon\n"


def test_first_use_records_and_later_use_asks_for_that_revision(site, retries, tmp_path):
    lock, notes = tmp_path / "lock.json", []
    client = WikiClient(site.api, retries)
    rows = fetch_texts(client, ["Cat"], lock, prose, notes.append)
    assert rows[0]["text"].startswith("The cat") and rows[0]["revision"] == 11
    assert "without verification" in notes[0]
    assert read_lock(lock)["Cat"] == {k: rows[0][k] for k in ("title", "revision", "sha256")}
    assert site.queries[0]["page"] == "Cat" and "oldid" not in site.queries[0]
    site.pages["Cat"] = (99, "<p>new text</p>")
    site.pages["Cat, old"] = PAGES["Cat"]
    again = fetch_texts(client, ["Cat"], lock, prose, notes.append)
    assert again[0]["text"] == rows[0]["text"] and len(notes) == 1
    assert site.queries[1]["oldid"] == "11" and "page" not in site.queries[1]
    assert all("tokens-and-time" in agent for agent in site.agents)


def test_changed_text_of_a_locked_revision_is_an_error(site, retries, tmp_path):
    client = WikiClient(site.api, retries)
    fetch_texts(client, ["Cat"], tmp_path / "l", prose, lambda _: None)
    before = (tmp_path / "l").read_bytes()
    site.pages["Cat"] = (11, "<p>other</p>")
    with pytest.raises(CorpusError, match="now reads differently"):
        fetch_texts(client, ["Cat"], tmp_path / "l", prose, lambda _: None)
    assert (tmp_path / "l").read_bytes() == before


def test_lock_keeps_what_came_before_a_failure(site, retries, tmp_path):
    client = WikiClient(site.api, retries)
    with pytest.raises(CorpusError, match="missingtitle"):
        fetch_texts(client, ["Cat", "Nowhere"], tmp_path / "l", prose, lambda _: None)
    assert list(read_lock(tmp_path / "l")) == ["Cat"]


def test_busy_site_and_garbage_are_retried(site, retries, tmp_path):
    site.plan = [{"error": {"code": "maxlag", "info": "lag"}}, b"<html>oops"]
    page = WikiClient(site.api, retries).page("Cat")
    assert page.revision == 11 and len(site.queries) == 3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"parse": {"title": "Cat"}}, "lacks 'revid'"),
        ([], "lacks"),
        ({"parse": {"title": "Cat", "revid": 5, "text": ""}}, "asked for revision 11, got 5"),
    ],
)
def test_strange_answers(site, retries, answer, message):
    site.plan = [answer]
    with pytest.raises(CorpusError, match=message):
        WikiClient(site.api, retries).page("Cat", 11)


def test_page_without_text(site, retries, tmp_path):
    client = WikiClient(site.api, retries)
    with pytest.raises(CorpusError, match="no text found"):
        fetch_texts(client, ["Empty"], tmp_path / "l", prose, lambda _: None)


@pytest.mark.parametrize("content", ["[]", '{"Cat": {"revision": 1}}', "{", '{"Cat": 3}'])
def test_broken_lock(tmp_path, content):
    (tmp_path / "l").write_text(content)
    with pytest.raises(DataError):
        read_lock(tmp_path / "l")


def test_rule_script_writes_documents_and_palindromes(site, tmp_path):
    def job(name, **entry):
        entry = {"licence": "CC-BY-SA-4.0", **entry}
        entry["mediawiki"] = {
            "api": site.api, "titles": entry.pop("titles"), "lock": tmp_path / f"{name}.json",
        }  # fmt: skip
        return SimpleNamespace(
            params=SimpleNamespace(source=entry),
            output=[tmp_path / name],
            log=[tmp_path / f"{name}.log"],
        )

    fetch_corpus.main(job("docs", reader="documents", titles=["Cat"]))
    document = read_documents(tmp_path / "docs", [5, 10])[0]
    assert document.document_id == "Cat@11" and document.title == "Cat"
    row = json.loads((tmp_path / "docs").read_bytes())
    assert row["url"].endswith("/w/index.php?title=Cat&oldid=11")
    assert row["licence"] == "CC-BY-SA-4.0" and row["revision"] == 11
    fetch_corpus.main(job("pal", reader="palindrome_list", titles=["Appendix:P"]))
    assert read_palindromes(tmp_path / "pal") == ["Anna", "racecar", "noon"]
