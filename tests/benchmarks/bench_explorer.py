"""The explorer with 50,000 answers: size, time to first use, of a filter, a frame, and a search.

Prints ratios against the limits that it is built for. Needs Chromium:
`PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_explorer.py [ANSWERS]`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.explorer_pages import build, many, write

CHROMIUM = "/usr/bin/chromium"
#: Milliseconds: the most that each may take.
LIMITS = {"first list": 3000, "filter": 100, "compare": 200, "frame": 16, "open": 100}
WORDS = 60

FILTER = """() => {
  const times = [];
  for (const model of explorer.data.facet.model.values.map(([value]) => value)) {
    const begin = performance.now();
    explorer.selection.facets.clear();
    explorer.selection.choose("model", model, true);
    explorer.selection.choose("outcome", "wrong", true);
    explorer.update();
    explorer.list.box.getBoundingClientRect();
    times.push(performance.now() - begin);
  }
  explorer.selection.facets.clear();
  explorer.update();
  return times;
}"""
COMPARE = """() => {
  const runs = explorer.data.runs().map(([value]) => value);
  return runs.slice(1).map(run => {
    const begin = performance.now();
    Object.assign(explorer.selection, { a: runs[0], b: run });
    explorer.update();
    return performance.now() - begin;
  });
}"""
FRAME = """() => {
  Object.assign(explorer.selection, { a: "", b: "" });
  explorer.update();
  const box = explorer.list.box;
  const times = [];
  for (let step = 0; step < 200; step++) {
    box.scrollTop = (box.scrollHeight * step) / 200;
    const begin = performance.now();
    explorer.list.draw();
    box.getBoundingClientRect();
    times.push(performance.now() - begin);
  }
  return times;
}"""
OPEN = """async () => {
  const times = [];
  for (let row = 0; row < explorer.data.size; row += Math.ceil(explorer.data.size / 40)) {
    const begin = performance.now();
    await explorer.showDetail(row);
    times.push(performance.now() - begin);
  }
  return times;
}"""
SEARCH = """async query => {
  const begin = performance.now();
  await explorer.find(query);
  return performance.now() - begin;
}"""


def middle(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def measure(page: Path) -> dict[str, float]:
    """Milliseconds, medians over many."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab: Any = browser.new_page(viewport={"width": 1400, "height": 900})
        tab.set_default_timeout(120_000)
        begin = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_selector("#list .entry")
        out = {"first list": 1000 * (time.perf_counter() - begin)}
        for name, code in (("filter", FILTER), ("compare", COMPARE), ("frame", FRAME)):
            out[name] = middle(tab.evaluate(code))
        out["open"] = middle(tab.evaluate(OPEN))
        out["search, first"] = tab.evaluate(SEARCH, "needle")
        out["search, next"] = tab.evaluate(SEARCH, "needles")
        out["heap (MB)"] = tab.evaluate("performance.memory.usedJSHeapSize") / 1e6
        browser.close()
    return out


def main(answers: int) -> None:
    """Build a page of so many answers, open it, print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        rows = write(Path(folder) / "rows.jsonl", many(answers, length=WORDS))
        begin = time.perf_counter()
        page = build(Path(folder), rows, limit=1 << 40)
        took = time.perf_counter() - begin
        sizes = [path.stat().st_size / 1e6 for path in (rows, page)]
        print(f"{answers:,} answers: rows {sizes[0]:.0f} MB, page {sizes[1]:.0f} MB, {took:.0f} s")
        for name, value in measure(page).items():
            limit = LIMITS.get(name)
            ratio = f", {value / limit:.2f} of the limit of {limit} ms" if limit else ""
            unit = "" if "MB" in name else " ms"
            print(f"{name}: {value:.1f}{unit}{ratio}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
