"""The documentation as it is built: strictly, readable from the disk, with no request elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.conftest import ROOT, environment

pytestmark = pytest.mark.workflow

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    finished = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env=environment() | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield running
        running.close()


def opened(browser: Any, site: Path, page: str, width: int = 1280) -> tuple[Any, list[str]]:
    """A page from the disk, and what it asked for that does not lie there, or complained of."""
    tab = browser.new_page(viewport={"width": width, "height": 900})
    seen: list[str] = []
    tab.on("request", lambda request: None if local(request.url) else seen.append(request.url))
    tab.on("pageerror", lambda error: seen.append(str(error)))
    tab.goto((site / page).as_uri())
    return tab, seen


def local(url: str) -> bool:
    return url.startswith(("file:", "data:", "blob:", "about:"))


def test_every_page_of_the_docs_is_in_the_site(site: Path) -> None:
    docs = ROOT / "docs"
    for page in docs.rglob("*.md"):
        assert (site / page.relative_to(docs)).with_suffix(".html").is_file()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "page", ["index.html", "statistics/comparisons.html", "tutorials/add-a-model.html"]
)
def test_a_page_asks_for_nothing_elsewhere_and_fits(
    site: Path, browser: Any, page: str, width: int
) -> None:
    tab, seen = opened(browser, site, page, width)
    tab.wait_for_load_state("networkidle")
    assert seen == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


def test_formulas_are_drawn(site: Path, browser: Any) -> None:
    tab, _ = opened(browser, site, "statistics/comparisons.html")
    drawn = tab.locator("svg.formula")
    text = (ROOT / "docs/statistics/comparisons.md").read_text(encoding="utf-8")
    assert drawn.count() >= text.count("```math") >= 5
    for place in range(drawn.count()):
        box = drawn.nth(place).bounding_box()
        assert box["width"] > 20 and box["height"] > 8
        assert drawn.nth(place).get_attribute("aria-label")
    colours = tab.evaluate(
        "[getComputedStyle(document.querySelector('svg.formula')).fill,"
        " getComputedStyle(document.querySelector('.md-content p')).color]"
    )
    assert colours[0] == colours[1]
    tab.close()


def test_the_search_works_from_the_disk(site: Path, browser: Any) -> None:
    tab, seen = opened(browser, site, "index.html")
    field = tab.locator("input[name=query]")
    field.click()
    field.press_sequentially("McNemar")
    found = tab.locator(".md-search-result__link").first
    found.wait_for(state="attached", timeout=60_000)
    assert ".html" in found.get_attribute("href")
    assert seen == []
    tab.close()


def test_the_navigation_names_every_page_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"[\w/-]+\.md", text.partition("\nnav:")[2])
    docs = ROOT / "docs"
    there = {str(page.relative_to(docs)) for page in docs.rglob("*.md")}
    assert sorted(named) == sorted(there)
