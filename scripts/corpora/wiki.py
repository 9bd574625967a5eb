"""Pages of a MediaWiki site (Wikipedia, Wiktionary), pinned by revision.

A lock file holds for each title the revision and the SHA-256 of the text taken from it. The first
use of a title *records* what the site gave: it cannot be verified against anything. Every later use
asks for the recorded revision and verifies it; commit the lock file, and all builds read the same
text. API: https://www.mediawiki.org/wiki/API:Parsing_wikitext
"""

from __future__ import annotations

import hashlib
import json
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tqdm import tqdm

from scripts.corpora.download import Retries, TransferError, open_url, retried
from scripts.corpora.sources import CorpusError
from scripts.files import parse_json, read_json, write_json

_PAGE_LIMIT = 32 << 20
_SKIPPED = frozenset({"sup", "style", "script", "table", "math", "figure", "noscript"})
# Refusals that pass by themselves.
_LATER = frozenset({"maxlag", "ratelimited", "readonly"})
_BREAKS = frozenset({"br"})


@dataclass(frozen=True)
class Page:
    """One revision of a page. `title` is the site's own, after redirects; `html` the body."""

    title: str
    revision: int
    html: str


class _Blocks(HTMLParser):
    """Collects the text of one kind of element, without references, tables, styles and formulas."""

    def __init__(self, element: str) -> None:
        super().__init__(convert_charrefs=True)
        self.element = element
        self.blocks: list[str] = []
        self._skipped: list[str] = []
        self._open = 0
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        if tag in _SKIPPED:
            self._skipped.append(tag)
        elif tag == self.element and not self._skipped:
            self._close()
            self._open += 1
        elif tag in _BREAKS and self._open:
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and tag == self._skipped[-1]:
            self._skipped.pop()
        elif tag == self.element and self._open and not self._skipped:
            self._close()
            self._open -= 1

    def handle_data(self, data: str) -> None:
        if self._open and not self._skipped:
            self._text.append(data)

    def _close(self) -> None:
        text = " ".join("".join(self._text).split())
        if text:
            self.blocks.append(text)
        self._text = []


def blocks(html: str, element: str) -> list[str]:
    """Texts of the elements of that name (`p` or `li`), in order, white space collapsed."""
    parser = _Blocks(element)
    parser.feed(html)
    parser.close()
    return parser.blocks


def prose(html: str) -> str:
    """The paragraphs of a page, one a line."""
    return "".join(f"{block}\n" for block in blocks(html, "p"))


def palindrome_lines(html: str) -> str:
    """The list entries of a page that are palindromes once only letters count, one a line."""
    kept: dict[str, None] = {}
    for block in blocks(html, "li"):
        entry = block.split("(")[0].split("\u2013")[0].strip()
        letters = "".join(c for c in entry.casefold() if c.isalnum())
        if letters and letters == letters[::-1] and "#" not in entry:
            kept[entry] = None
    return "".join(f"{entry}\n" for entry in kept)


class WikiClient:
    """Asks one site for pages, one request at a time with a pause between them."""

    def __init__(
        self,
        api: str,
        retries: Retries | None = None,
        pause_s: float = 0.5,
    ) -> None:
        self.api = api
        self.retries = retries or Retries()
        self.pause_s = pause_s

    def page(self, title: str, revision: int | None = None) -> Page:
        """The page at that revision, or the present one. CorpusError for a missing page."""
        which: dict[str, str | int] = (
            {"page": title, "redirects": 1} if revision is None else {"oldid": revision}
        )
        query = {
            "action": "parse",
            "format": "json",
            "formatversion": 2,
            "prop": "text|revid",
            "disabletoc": 1,
            "disableeditsection": 1,
            "maxlag": 5,
            **which,
        }
        url = f"{self.api}?{urllib.parse.urlencode(query)}"
        answer = retried(f"{self.api}, {title}", lambda: self._ask(url, title), self.retries)
        self.retries.sleep(self.pause_s)
        try:
            parsed = answer["parse"]
            page = Page(str(parsed["title"]), int(parsed["revid"]), str(parsed["text"]))
        except (KeyError, TypeError, ValueError) as error:
            raise CorpusError(f"{self.api}, {title}: the answer lacks {error}") from error
        if revision is not None and page.revision != revision:
            raise CorpusError(
                f"{self.api}, {title}: asked for revision {revision}, got {page.revision}"
            )
        return page

    def _ask(self, url: str, title: str) -> Any:
        with open_url(url, self.retries) as response:
            try:
                data = response.read(_PAGE_LIMIT + 1)
                answer = parse_json(data)
            except (OSError, ValueError) as error:
                raise TransferError(f"unreadable answer ({error})") from error
        if len(data) > _PAGE_LIMIT:
            raise CorpusError(f"{self.api}, {title}: an answer of more than {_PAGE_LIMIT} bytes")
        refusal = answer.get("error") if isinstance(answer, dict) else None
        if isinstance(refusal, dict):
            code = str(refusal.get("code"))
            if code in _LATER:
                raise TransferError(code)
            raise CorpusError(f"{self.api}, {title}: {code}: {refusal.get('info')}")
        return answer


def read_lock(path: Path | str) -> dict[str, dict[str, Any]]:
    """The lock file's entries by title; none where the file is not there yet."""
    path = Path(path)
    if not path.exists():
        return {}
    content = read_json(path)
    fields = {"title", "revision", "sha256"}
    if not isinstance(content, dict) or any(
        not isinstance(entry, dict) or set(entry) != fields for entry in content.values()
    ):
        raise CorpusError(f"{path}: every entry needs exactly {sorted(fields)}; restore the file")
    return content


def fetch_texts(
    client: WikiClient,
    titles: Sequence[str],
    lock: Path | str,
    extract: Callable[[str], str],
    report: Callable[[str], None],
) -> list[dict[str, Any]]:
    """The text of each title in order: rows with title, revision, sha256, text.

    Titles in the lock are fetched at their revision and verified; others are fetched as they stand
    today, recorded in the lock, and reported. The lock is written after each new title, so that an
    interrupted run pins what it has seen. A text that differs is a CorpusError.
    """
    locked = read_lock(lock)
    rows = []
    for title in tqdm(titles, desc="pages", disable=None):
        known: Mapping[str, Any] | None = locked.get(title)
        page = client.page(title, known["revision"] if known else None)
        text = extract(page.html)
        if not text:
            raise CorpusError(f"{client.api}, {title}: no text found; leave the title out")
        entry = {
            "title": page.title,
            "revision": page.revision,
            "sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        }
        if known is None:
            locked[title] = entry
            write_json(lock, locked)
            report(f"{title}: first use, recorded revision {page.revision} without verification")
        elif entry["sha256"] != known["sha256"]:
            raise CorpusError(
                f"{client.api}, {title}: revision {page.revision} now reads differently "
                f"(sha256 {entry['sha256']}, recorded {known['sha256']}): a template that it uses "
                f"has changed. Remove the title from {lock} to accept the new text"
            )
        rows.append({**entry, "text": text})
    return rows


def page_url(api: str, title: str, revision: int) -> str:
    """The permanent address of a revision, for attribution."""
    base = api.rsplit("/", 1)[0]
    query = urllib.parse.urlencode({"title": title, "oldid": revision})
    return f"{base}/index.php?{query}"


def document_lines(api: str, rows: Sequence[Mapping[str, Any]], licence: str) -> bytes:
    """Rows as JSONL for `readers.read_documents`: id, title, text, licence, revision, url."""
    out = []
    for row in rows:
        document = {
            "id": f"{row['title']}@{row['revision']}",
            "title": row["title"],
            "revision": row["revision"],
            "url": page_url(api, row["title"], row["revision"]),
            "licence": licence,
            "text": row["text"],
        }
        out.append(json.dumps(document, sort_keys=True, ensure_ascii=True) + "\n")
    return "".join(out).encode("ascii")
