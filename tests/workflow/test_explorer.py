"""The explorer in a real browser: what it shows, counts, links and refuses to run."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest

from scripts.files import write_records
from scripts.publishing.captions import ModelInfo
from scripts.publishing.explorer.rows import Adapter, Sources, write_rows
from scripts.publishing.layouts import answer_link, pair_link, run_link
from scripts.publishing.report_links import SCRIPT, with_links
from scripts.publishing.tables import Cell, Column, Row, Table, absent
from scripts.publishing.web import to_html
from scripts.records import Item, Request, Response
from scripts.syntaxbench.analysis import compute_frames
from scripts.syntaxbench.explorer_rows import ADAPTER as SYNTAXBENCH
from scripts.syntaxbench.score_index import Settings
from scripts.tide.explorer_rows import ADAPTER as TIDE
from scripts.tide.statistics import comparisons
from scripts.tide.tasks import IDENTIFICATION, TASKS
from tests.explorer_pages import SENTENCES, answer, build, header, item, many, prompt, write
from tests.synthetic_scores import scores_frame
from tests.synthetic_tide_scores import Design, by_chance, frame

CHROMIUM = "/usr/bin/chromium"
pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="no Chromium on this machine")
MODEL = ("alpha", "non_thinking")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page at an address; an error in it, or a request to anything else, is a failure."""
    contexts, wrong = [], []

    def opened(page: Path, address: str = "", **options: Any) -> Any:
        context = browser.new_context(viewport={"width": 1400, "height": 800}, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(30_000)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on(
            "request",
            lambda request: request.url.startswith("file:") or wrong.append(request.url),
        )
        tab.on("dialog", lambda dialog: wrong.append(dialog.message))
        tab.goto(page.as_uri() + address)
        tab.wait_for_selector("#list")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def status(tab: Any) -> str:
    return str(tab.locator("#status").inner_text())


def settled(tab: Any, text: str) -> None:
    waits = "text => document.getElementById('status').textContent.includes(text)"
    tab.wait_for_function(waits, arg=text)


# ---- the same counts as the statistics -----------------------------------------------------------


def gathered(
    folder: Path, adapter: Adapter, scores: pd.DataFrame, make: Callable[[Any], Item]
) -> Path:
    """The rows file of a score frame whose items, requests and responses are made up."""
    rows = list(scores.itertuples(index=False))
    items = {row.item_id: make(row) for row in rows if row.task != IDENTIFICATION}
    requests = {
        row.request_id: Request(
            row.request_id,
            row.item_id,
            {name: getattr(row, name, None) for name in ("shots", "knowledge")},
            [{"role": "user", "content": "?"}],
            {},
        )
        for row in rows
    }
    replies = [
        Response(r.request_id, r.item_id, r.model, r.mode, "x", "stop", {}, "b", "1", 1)
        for r in rows
    ]
    folder.mkdir()
    paths = [str(folder / name) for name in ("items", "requests", "responses")]
    for path, records in zip(paths, (items.values(), requests.values(), replies), strict=True):
        write_records(path, records)
    sources = Sources([paths[0]], [paths[1]], [paths[2]], scores)
    assert write_rows(folder / "rows.jsonl", adapter, sources) == len(scores)
    return folder / "rows.jsonl"


RUNS = [(model, mode) for model in ("m-a", "m-b") for mode in ("non_thinking", "thinking")]
SB_TASKS = {"count_chars": 9, "letter_container": 12}


def syntaxbench_scores() -> pd.DataFrame:
    scores = scores_frame(RUNS, SB_TASKS, (0, 1))
    unscored = np.random.default_rng(3).random(len(scores)) < 0.05
    scores.loc[unscored, ["correct", "valid", "category"]] = [pd.NA, False, "not_run"]
    return scores


def syntaxbench_item(row: Any) -> Item:
    inputs = {"string": row.item_id, "letter": "a"}
    known = ({"condition": row.condition}, inputs, {"answer": row.gold}, {"corpus": "test"})
    return Item(row.item_id, "syntaxbench", row.task, *known)


def tide_scores() -> pd.DataFrame:
    chance = by_chance()

    def rule(model: str, knowledge: str, task: str, number: int) -> bool | None:
        return None if (model, number) == ("beta", 3) else chance(model, knowledge, task, number)

    return frame(Design(models=("alpha", "beta"), items=5), rule)


def tide_item(row: Any) -> Item:
    lists = ("options", "events_shuffled")
    inputs = {n: ["a", "b"] if n in lists else n for n in TASKS[row.task].shown}
    gold = {"answer": "x", "answer_index": 0, "order": [1, 0], "dates": []}
    gold["is_perturbed"] = bool(row.perturbed) if row.task == "perturbation_detection" else False
    source = {"question_id": row.item_id, "clause_ids": ["c"]}
    return Item(row.item_id, "tide", row.task, {"thread": row.thread}, inputs, gold, source)


COUNTS = """links => links.map(link => {
  const { data } = explorer;
  const selection = Selection.read(link, data);
  if (selection.unknown.length) throw new Error(`${link}: ${selection.unknown}`);
  const { pairs } = pairRows(data, selection, null);
  return Object.values(pairs).map(list => list.length);
})"""


def test_discordant_pairs_are_those_of_the_statistics(
    tmp_path: Path, visit: Callable[..., Any]
) -> None:
    scores, tide = syntaxbench_scores(), tide_scores()
    page = build(
        tmp_path,
        gathered(tmp_path / "sb", SYNTAXBENCH, scores, syntaxbench_item),
        gathered(tmp_path / "tide", TIDE, tide, tide_item),
    )
    families = ("between_models_cell", "between_models_pair", "between_modes", "english_random")
    settings = Settings(
        *(1, SB_TASKS, (0, 1), ["m-a", "m-b"], [], {name: [] for name in families}),
        resamples=20,
    )
    frames = compute_frames(scores, settings)
    expected, links = [], []

    def compare(row: Any, link: dict[str, Any]) -> None:
        links.append("#" + urlencode({name: value for name, value in link.items() if value != ""}))
        expected.append((row.n, row.b01, row.b10))

    for name in ("mcnemar_models", "mcnemar_modes"):
        for row in frames[name].itertuples():
            cell = {"task": row.task, "shots": row.shots}
            cell["condition"] = "" if row.condition == "all" else row.condition
            if name == "mcnemar_models":
                pair = pair_link((row.model_a, row.mode), (row.model_b, row.mode))
            else:
                pair = pair_link((row.model, "non_thinking"), (row.model, "thinking"))
            compare(row, {"benchmark": "syntaxbench", **cell, **dict(pair)})
    design = comparisons.Settings([("alpha", "non_thinking"), ("beta", "non_thinking")])
    for row in comparisons.models_frame(tide, design).itertuples():
        pair = pair_link((row.model_a, row.mode_a), (row.model_b, row.mode_b))
        compare(
            row, {"benchmark": "tide", "step": "answer", "knowledge": row.knowledge} | dict(pair)
        )
    for row in comparisons.settings_frame(tide, design).itertuples():
        run = (row.model, row.mode)
        sides = {"a.knowledge": row.knowledge_a, "b.knowledge": row.knowledge_b}
        task = "" if row.task == "all" else row.task
        compare(
            row,
            {"benchmark": "tide", "step": "answer", "task": task, **sides}
            | dict(pair_link(run, run)),
        )
    tab = visit(page)
    found = tab.evaluate(COUNTS, links)
    assert len(found) == len(expected) > 80
    assert [(sum(each[:4]), each[0], each[1]) for each in found] == expected
    assert any(each[4] for each in found) and any(each[0] and each[1] for each in found)
    # And the same through the page itself.
    tab.evaluate("link => { location.hash = link }", links[0])
    settled(tab, f"{expected[0][1]} of ")
    shown = [tab.locator(f"#pairs-{name}").inner_text() for name in ("only_a", "only_b")]
    assert [int(text) for text in shown] == list(expected[0][1:])
    tab.get_by_label("A wrong, B right").check()
    settled(tab, f"{expected[0][2]} of ")
    assert "pair=only_b" in tab.url
    tab.get_by_role("button", name="Stop comparing").click()
    first = frames["mcnemar_models"].iloc[0]
    keys = ["task", "shots", "condition"]
    cell = scores[(scores[keys] == first[keys].to_list()).all(axis=1)]
    settled(tab, f"{len(cell)} of {len(scores) + len(tide):,} answers")
    assert "&pair=" not in tab.url


# ---- filters, keys, texts ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models' answers to twelve items in four languages, some wrong, with votes."""
    folder = tmp_path_factory.mktemp("trial")
    rows: list[Any] = [header()]
    for number in range(12):
        language = list(SENTENCES)[number % 4]
        name, text = f"i{number:02d}", f"{SENTENCES[language]} {number}"
        rows.append(item(name, title=text, facets={"language": language}, language=language))
        rows.append(prompt(name, content=text))
        votes = [{"judge": "rule", "vote": "correct", "details": {"spans": text}, "raw": text}]
        for model in ("alpha", "beta"):
            right = model == "alpha" or number % 3 == 0
            more = {"reasoning": "thought", "votes": votes, "correct": right}
            rows.append(answer(name, model, text=f"{text} {model}-{number}", **more))
    return build(folder, write(folder / "rows.jsonl", rows))


def test_filters_counts_and_links(trial: Path, visit: Callable[..., Any]) -> None:
    tab = visit(trial)
    assert status(tab) == "24 of 24 answers"
    tab.get_by_label("beta 12").check()
    assert status(tab) == "12 of 24 answers"
    # A facet counts what its own other values would add; another one what is left.
    assert tab.get_by_label("alpha 12").is_visible() and tab.get_by_label("wrong 8").is_visible()
    tab.get_by_label("wrong 8").check()
    assert status(tab) == "8 of 24 answers"
    assert tab.url.endswith("#model=beta&outcome=wrong")
    again = visit(trial, "#model=beta&outcome=wrong&model=nobody&colour=red")
    assert status(again) == "8 of 24 answers"
    warning = again.locator("#warning").inner_text()
    assert "model = nobody; colour = red" in warning
    again.get_by_role("button", name="Clear all filters").click()
    assert status(again) == "24 of 24 answers"
    # What every object of the language has is no facet and no kind of pairs.
    odd = visit(trial, "#a=alpha%7Cnon_thinking&b=beta%7Cnon_thinking&pair=toString&constructor=1")
    assert status(odd).startswith("8 of 12 pairs")
    assert "pair = toString; constructor = 1" in odd.locator("#warning").inner_text()
    # An answer has an address of its own.
    one = visit(trial, "#" + urlencode(answer_link("trial", "count", "i01.0", *MODEL)))
    one.wait_for_selector("#detail h2")
    assert one.locator("#detail .answer pre.text").first.inner_text().endswith("alpha-1")
    one.get_by_text("Other answers to this item (1)").click()
    one.get_by_role("link", name="beta, non_thinking, 0").click()
    one.wait_for_selector("#detail[data-answer*='beta']")


def test_an_answer_stands_beside_its_question(trial: Path, visit: Callable[..., Any]) -> None:
    tab = visit(trial, "#" + urlencode(answer_link("trial", "count", "i02.0", *MODEL)))
    tab.wait_for_selector("#detail h2")
    heads = tab.locator("#detail h3, #detail h4, #detail summary").all_inner_texts()
    for wanted in ("Prompt", "system", "user", "Gold answer", "Raw output", "Reasoning", "Judges"):
        assert wanted in heads
    boxes = [tab.locator(f"#detail .{name}").bounding_box() for name in ("question", "answer")]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] < boxes[1]["x"]
    pair = visit(trial, "#a=alpha%7Cnon_thinking&b=beta%7Cnon_thinking")
    pair.keyboard.press("j")
    pair.wait_for_selector("#detail .of-3")
    assert pair.locator("#detail .answer .who").count() == 2


def test_search_goes_through_every_text(trial: Path, visit: Callable[..., Any]) -> None:
    tab = visit(trial, "#q=ALPHA-11")
    settled(tab, "1 of 24")
    tab.fill("#search", "কার্যকর")
    settled(tab, "6 of 24")
    assert tab.locator("#found").inner_text() == "6 found"
    tab.fill("#search", "in no text")
    settled(tab, "0 of 24")
    assert tab.locator("#detail").inner_text() == "No answer has all of this."
    # How an answer ended and how it was read are no texts of it.
    for word in ("stop", "json"):
        tab.fill("#search", word)
        settled(tab, "0 of 24")
        assert tab.locator("#found").inner_text() == "0 found"


def focused(tab: Any) -> str:
    return str(tab.evaluate("document.activeElement.id || document.activeElement.tagName"))


def test_the_keyboard_is_enough(trial: Path, visit: Callable[..., Any]) -> None:
    tab = visit(trial)
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    assert "i00.0%7Cbeta" in tab.url or "i00.0|beta" in tab.url
    tab.keyboard.press("k")
    tab.keyboard.press("/")
    assert focused(tab) == "search"
    tab.keyboard.type("alpha-3j")
    settled(tab, "0 of 24")
    tab.keyboard.press("Escape")
    settled(tab, "24 of 24")
    tab.keyboard.press("Escape")
    assert focused(tab) == "list"
    tab.keyboard.press("End")
    box = tab.locator("#list")
    active = box.get_attribute("aria-activedescendant")
    assert (
        active == "entry-23" and tab.locator(f"#{active}").get_attribute("aria-selected") == "true"
    )
    assert tab.locator(f"#{active}").get_attribute("aria-posinset") == "24"
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") == "entry-1"
    outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    tab.keyboard.press("Enter")
    assert focused(tab) == "detail"
    tab.keyboard.press("Escape")
    assert focused(tab) == "list"
    # Tab goes through everything and out again: no trap.
    tab = visit(trial, "#" + urlencode(answer_link("trial", "count", "i01.0", *MODEL)))
    tab.wait_for_selector("#detail h2")
    seen: list[str] = []
    for _ in range(80):
        tab.keyboard.press("Tab")
        seen.append(focused(tab))
        if len(seen) > 1 and seen[-1] == "BODY":
            break
    assert seen[0] == "A" and seen[-1] == "BODY"
    assert seen.index("search") < seen.index("clear") < seen.index("list") < seen.index("PRE")
    roles = {"#list": "listbox", "#list .entry": "option", "#status": "status"}
    for selector, role in roles.items():
        assert tab.locator(selector).first.get_attribute("role") == role


@pytest.mark.parametrize(
    ("number", "direction", "language"),
    [(0, "ltr", "en"), (1, "rtl", "ar"), (2, "ltr", "bn"), (3, "ltr", "zh")],
)
def test_a_text_has_its_own_direction_and_language(
    trial: Path, visit: Callable[..., Any], number: int, direction: str, language: str
) -> None:
    link = urlencode(answer_link("trial", "count", f"i{number:02d}.0", *MODEL))
    tab = visit(trial, f"#{link}")
    tab.wait_for_selector("#detail h2")
    block = tab.locator("#detail .message pre.text").last
    found = block.evaluate(
        "node => { const style = getComputedStyle(node);"
        " return [style.direction, node.lang, style.unicodeBidi, style.letterSpacing]; }"
    )
    assert found == [direction, language, "plaintext", "normal"]
    # The page's own words stay left to right.
    assert tab.locator("#detail h3").first.evaluate("n => getComputedStyle(n).direction") == "ltr"


# ---- hostile texts -------------------------------------------------------------------------------

EVIL = (
    "<script>globalThis.owned=1</script></script><img src=x onerror='globalThis.owned=2'>"
    "<a href='javascript:globalThis.owned=3'>x</a><style>*{display:none}</style>"
    "<iframe srcdoc='<script>parent.owned=4</script>'></iframe><!-- <![CDATA["
    "\u2028\u2029\ud800\x00\x1b[31m\u202eabc\u2066 ${7*7} {{script}} <base href=//evil.example/>"
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>"
)


def test_hostile_texts_are_only_text(tmp_path: Path, visit: Callable[..., Any]) -> None:
    head = header(f"trial{EVIL}", EVIL)
    head.facets["language"] = {"label": EVIL, "values": {EVIL: EVIL}}
    vote = {"judge": EVIL, "vote": EVIL, "details": {EVIL: EVIL}, "raw": EVIL}
    rows = [
        head,
        item(
            EVIL,
            **{"task": EVIL, "title": EVIL, "gold": EVIL, "language": EVIL},
            facets={"language": EVIL},
            details={EVIL: EVIL, "__proto__": EVIL},
        ),
        prompt(EVIL, EVIL, EVIL),
        *(
            answer(
                EVIL,
                f"{EVIL}{number}",
                **dict.fromkeys(("task", "mode", "category", "route", "text", "parsed"), EVIL),
                **dict.fromkeys(("reasoning", "error", "finish_reason"), EVIL),
                prompt_id=f"{EVIL}.{EVIL}",
                votes=[vote],
                details={EVIL: [EVIL, {"deep": EVIL}]},
                correct=bool(number),
            )
            for number in range(2)
        ),
    ]
    page = build(tmp_path, write(tmp_path / "rows.jsonl", rows))
    tab = visit(page, f"#q=globalThis&{urlencode({'x': EVIL[:300]}, errors='replace')}")
    settled(tab, "2 of 2")
    tab.keyboard.press("j")
    tab.wait_for_selector("#detail h2")
    tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    tab.get_by_label("A", exact=True).select_option(index=2)
    tab.get_by_label("B", exact=True).select_option(index=1)
    tab.keyboard.press("j")
    tab.wait_for_selector("#detail .of-3")
    tab.wait_for_timeout(200)
    assert tab.evaluate("globalThis.owned") is None
    # Only what the page makes itself is an element: none of the texts' own.
    assert tab.locator("#app :is(script, img, iframe, style, base, meta, object)").count() == 0
    assert tab.evaluate("[...document.querySelectorAll('a')].every(a => a.protocol === 'file:')")
    shown = tab.locator("#detail .answer pre.text").first.inner_text()
    for part in (
        "</script>",
        "onerror=",
        "<U+2028>",
        "<U+D800>",
        "<U+0000>",
        "<U+001B>",
        "<U+202E>",
    ):
        assert part in shown
    assert tab.evaluate("({}).deep") is None


def test_a_huge_text_is_shown_on_demand(tmp_path: Path, visit: Callable[..., Any]) -> None:
    huge = "x\u0000" * 400_000 + "end"
    rows = [header(), item("a"), prompt("a"), answer("a", text=huge)]
    tab = visit(build(tmp_path, write(tmp_path / "rows.jsonl", rows)))
    tab.keyboard.press("j")
    button = tab.get_by_role("button", name="of 800,003 characters; show more")
    button.wait_for()
    block = tab.locator("#detail .answer pre.text").first
    length = "node => node.textContent.length"
    assert block.evaluate(length) < 200_000
    button.click()
    assert 200_000 < block.evaluate(length) < 500_000
    assert "70,000 of" in button.inner_text()


def test_a_part_of_a_text_ends_with_a_whole_character(
    tmp_path: Path, visit: Callable[..., Any]
) -> None:
    text = "x" * 19_999 + "😀" + "y" * 49_999 + "\r\n" + "z" * 50_000
    rows = [header(), item("a"), prompt("a"), answer("a", text=text)]
    tab = visit(build(tmp_path, write(tmp_path / "rows.jsonl", rows)))
    tab.keyboard.press("j")
    button = tab.get_by_role("button", name="show more")
    button.click()
    button.click()
    shown = tab.locator("#detail .answer pre.text").first.evaluate("node => node.textContent")
    assert shown == text.replace("\r\n", "\n")


# ---- size ----------------------------------------------------------------------------------------


def test_fifty_thousand_answers(tmp_path: Path, visit: Callable[..., Any]) -> None:
    page = build(tmp_path, write(tmp_path / "rows.jsonl", many(50_000, length=4)))
    tab = visit(page)
    assert status(tab) == "50,000 of 50,000 answers"
    assert tab.locator("#list .entry").count() < 60
    tab.get_by_label("model-3 5,000").check()
    assert status(tab) == "5,000 of 50,000 answers"
    tab.focus("#list")
    tab.keyboard.press("End")
    tab.wait_for_selector("#detail[data-answer*='item-02499']")
    assert tab.locator("#list .entry").count() < 60
    tab.get_by_role("button", name="Clear all filters").click()
    tab.fill("#search", "Needle")
    settled(tab, "1 of 50,000")
    tab.evaluate("location.hash = '#a=model-1|non_thinking&b=model-2|non_thinking&pair=both_right'")
    tab.wait_for_function(
        "document.getElementById('status').textContent.includes('of 5,000 pairs')"
    )


def test_a_run_that_is_too_large_for_a_page(tmp_path: Path, visit: Callable[..., Any]) -> None:
    page = build(tmp_path, write(tmp_path / "rows.jsonl", many(240)), limit=20_000)
    context = visit(tmp_path / "explorer" / "trial.task-0.html").context
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("main.signpost li")
    assert tab.locator("main.signpost li").count() == 6
    assert "240 answers to 12 items, on 6 pages" in tab.locator("main").inner_text()
    tab.goto("about:blank")
    tab.goto(page.as_uri() + "#benchmark=trial&task=task-2&model=model-1")
    tab.wait_for_selector("#list")
    assert tab.url.endswith("explorer/trial.task-2.html#benchmark=trial&task=task-2&model=model-1")
    assert status(tab) == "4 of 40 answers"


# ---- links of the tables -------------------------------------------------------------------------


def linked_table() -> Table:
    columns = (Column("count", "Count", link=(("task", "count"),)), Column("none", "None"))
    link = run_link(ModelInfo("beta", "Beta", ("non_thinking",)), "non_thinking")
    cells = (Cell(1, "1.0", link=(("outcome", "wrong"), ("task", ""))), absent("not run"))
    return Table(
        "t",
        "Caption",
        ("Model",),
        columns,
        (Row(("Beta",), cells, link=link),),
        link=(("benchmark", "trial"),),
    )


# Enough of Snakemake's report for its script: how it shows a page.
REPORT = """<!doctype html><body><div id="app"></div><script>
const React = { createElement: (tag, props) => ({ tag, props }) };
class ContentDisplay extends Object {
  renderContent() {
    return React.createElement("iframe", { src: this.props.app.state.contentPath });
  }
}
const show = (state) => {
  const node = ContentDisplay.prototype.renderContent.call({ props: { app: { state } } });
  const frame = document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.props)) frame.setAttribute(name, value);
  document.getElementById("app").replaceChildren(frame);
};
</script>
</body>"""


def test_a_value_of_a_table_opens_its_answers(
    trial: Path, tmp_path: Path, visit: Callable[..., Any]
) -> None:
    results = tmp_path / "results"
    (results / "trial" / "tables").mkdir(parents=True)
    shutil.copy(trial, results / "explorer.html")
    table = results / "trial" / "tables" / "t.html"
    table.write_text(to_html(linked_table()), encoding="utf-8")
    context = visit(results / "explorer.html").context
    tab = context.new_page()
    tab.goto(table.as_uri())
    assert tab.locator("td a").count() == 1

    def follow(link: Any) -> None:
        with context.expect_page() as opened:
            link.click()
        opened.value.wait_for_selector("#list")
        assert opened.value.url.endswith(
            "#benchmark=trial&model=beta&mode=non_thinking&outcome=wrong"
        )
        assert status(opened.value) == "8 of 24 answers"

    follow(tab.locator("td a"))
    # In the report the page is embedded.
    report = results / "report.html"
    report.write_text(with_links(REPORT, "results"), encoding="utf-8")
    tab.goto(report.as_uri())
    tab.evaluate(
        "page => show({ content: 'html', resultPath: 'results/trial/tables/t.html',"
        " contentPath: 'data:text/html;charset=utf8;base64,' + page })",
        base64.b64encode(table.read_bytes()).decode(),
    )
    follow(tab.frame_locator("iframe").locator("td a"))
    assert "allow-scripts" not in tab.locator("iframe").get_attribute("sandbox")
    assert SCRIPT.is_file()
