"""The pages as files: the template with its style and script, and the packed blocks.

The policy of a page names its one script and its one style by their SHA-256 and forbids everything
else: connections, images, frames, forms, and any script or style that a text might bring.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scripts.files import atomic_write, write_json
from scripts.publishing.explorer.pages import PageBuilder, pack, totals

#: The list of pages in their folder, which is therefore never empty: archives may drop such ones.
LIST = "pages.json"


@dataclass(frozen=True, slots=True)
class Assets:
    """Template, style, script of a page of answers, script of the page that leads to the others."""

    template: str
    style: str
    script: str
    signpost: str

    @classmethod
    def read(
        cls, template: Path | str, style: Path | str, scripts: Iterable[Path | str], signpost: str
    ) -> Assets:
        """Read the files; the scripts become one, in the order given."""
        joined = "\n".join(Path(path).read_text(encoding="utf-8") for path in scripts)
        texts = [Path(path).read_text(encoding="utf-8") for path in (template, style, signpost)]
        return cls(texts[0], texts[1], joined, texts[2])


def source(text: str) -> str:
    """A style or script as the policy names it."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def policy(style: str, script: str) -> str:
    """The content security policy of a page with this style and this script."""
    return (
        f"default-src 'none'; script-src {source(script)}; style-src {source(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def write_page(
    handle: IO[bytes], assets: Assets, script: str, title: str, blocks: Mapping[str, str]
) -> None:
    """Write a page; the blocks go one by one, since they may be large."""
    head, place, tail = assets.template.partition("<!-- blocks -->\n")
    if not place:
        raise ValueError("the template has no place for the blocks; restore it")
    filled = {
        "{{policy}}": html.escape(policy(assets.style, script), quote=True),
        "{{title}}": html.escape(title),
        "{{style}}": assets.style,
        "{{script}}": script,
    }
    for mark, text in filled.items():
        head, tail = head.replace(mark, text), tail.replace(mark, text)
    handle.write(head.encode("utf-8"))
    for name, data in blocks.items():
        handle.write(f'<script type="application/gzip" id="{name}">{data}</script>\n'.encode())
    handle.write(tail.encode("utf-8"))


def page_name(key: tuple[str, ...]) -> str:
    """The file of a page that does not hold everything."""
    return ".".join(key) + ".html"


def write_pages(
    pages: Mapping[tuple[str, ...], PageBuilder],
    assets: Assets,
    note: str,
    page: Path | str,
    folder: Path | str,
) -> list[str]:
    """Write the explorer, and the pages that it leads to where there are several.

    Returns what was written, in words.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    title = "Explorer – Tokens & Time"
    if set(pages) <= {()}:
        builder = pages.get((), PageBuilder())
        with atomic_write(page, "wb") as handle:
            write_page(handle, assets, assets.script, title, builder.blocks(note))
        write_json(Path(folder) / LIST, [])
        return [_words(Path(page), (), builder)]
    said, entries = [], []
    for key, builder in pages.items():
        path = Path(folder) / page_name(key)
        with atomic_write(path, "wb") as handle:
            words = f"{title}: {', '.join(key)}"
            write_page(handle, assets, assets.script, words, builder.blocks(note))
        said.append(_words(path, key, builder))
        entries.append(
            {
                "file": f"{Path(folder).name}/{path.name}",
                "of": list(key),
                "answers": builder.answers,
                "bytes": path.stat().st_size,
            }
        )
    write_json(Path(folder) / LIST, entries)
    items, answers = totals(pages.values())
    content = {"note": note, "items": items, "answers": answers, "pages": entries}
    with atomic_write(page, "wb") as handle:
        write_page(handle, assets, assets.signpost, title, {"index": pack(content)})
    return said


def _words(path: Path, key: tuple[str, ...], builder: PageBuilder) -> str:
    what = ", ".join(key) or "everything"
    return (
        f"{path.name}: {what}; {len(builder.items):,} items, {builder.answers:,} answers, "
        f"{path.stat().st_size / 1e6:.1f} MB"
    )
