"""The table of examples: the choice is deterministic, hostile replies stay text in every form."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import publishing_frames
import pytest
from example_replies import Run, items_of

from scripts.files import DataError
from scripts.publishing import paper
from scripts.publishing.tables import to_frame
from scripts.syntaxbench import make_examples
from scripts.syntaxbench.examples import choose, examples, question
from scripts.syntaxbench.scoring import score_responses, scores_to_frame

STYLE = Path(__file__).parents[2] / "paper" / "tokensandtime.sty"
MODELS = ("smollm2-135m", "gemma3-270m")
# What a reader must see of them, without white space.
SEEN = [
    r"\input{/etc/passwd}100%of_it_\write18{touchowned}",
    "<script>alert(1)</script>]]>&amp;'\"",
    "bidi<U+202E><U+2066>nul<U+0000>lone<U+D800>line<U+2028>end",
    "=HYPERLINK(1)¶|a&b\\\\\\end{document}",
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path, publishing_frames.params("embedded"))


def test_the_first_wrong_reply_is_chosen_else_the_first(run: Run) -> None:
    chosen = {(c.model.key, c.task): c.score for c in choose(run.scores, run.context)}
    assert len(chosen) == 12
    by_id = run.scores.sort_values("item_id")
    for (model, task), score in chosen.items():
        rows = by_id[(by_id["model"] == model) & (by_id["task"] == task)]
        assert score["item_id"] == rows["item_id"].iloc[0]
        assert bool(score["correct"]) == (model == MODELS[1])
    # One wrong reply among right ones is shown wherever it stands.
    last = by_id[(by_id["model"] == MODELS[1]) & (by_id["task"] == "count_chars")].index[-1]
    run.scores.loc[last, "correct"] = False
    again = {(c.model.key, c.task): c.score for c in choose(run.scores, run.context)}
    assert again[MODELS[1], "count_chars"]["item_id"] == run.scores.loc[last, "item_id"]


def test_rows_say_what_was_asked_read_and_expected(run: Run) -> None:
    job = run.write()
    table = examples(run.scores, job.input.item_files, job.input.responses, run.context)
    frame = to_frame(table)
    assert list(frame["task"].head(6)) == list(run.context.tasks)
    assert set(frame["block"]) == {
        "SmolLM2-135M, non-thinking",
        "Gemma 3 270M (base), non-thinking",
    }
    right = frame[frame["block"].str.startswith("Gemma")]
    assert list(right["correct_printed"]) == ["yes"] * 6
    assert list(right["parsed"]) == list(right["gold"])
    wrong = frame[frame["block"].str.startswith("Smol")]
    assert wrong["missing"].iloc[-1] == (
        "reply: the reply is blank; parsed: no answer: the reply is blank"
    )
    assert wrong["missing"].iloc[0] == "parsed: no answer: none could be read"
    assert list(wrong["correct_printed"]) == ["no"] * 6


def test_a_question_is_one_short_line() -> None:
    texts = {task: question(items_of(task)[0]) for task in publishing_frames.TASKS}
    assert texts["edit_distance"] == "first: kitten; second: sitting"
    assert texts["letter_container"] == "string: apple; letter: Q"
    assert texts["longest_string_finder"] == "strings: a, bbb, cc"
    assert re.fullmatch(
        r"document: <b>word .{24}… \[221 more characters\]; start: 3; end: 7",
        texts["index_to_span"],
    )


def test_scores_without_their_files_are_named(run: Run) -> None:
    job = run.write()
    with pytest.raises(DataError, match=r"smollm2-135m.*no item count_chars-"):
        examples(run.scores, [], job.input.responses, run.context)
    with pytest.raises(DataError, match=r"smollm2-135m.*no response"):
        examples(run.scores, job.input.item_files, job.input.responses[1:], run.context)
    with pytest.raises(DataError, match=r"no row of gemma3-270m \(non_thinking\) on count_chars"):
        examples(
            run.scores[run.scores["model"] == MODELS[0]],
            job.input.item_files,
            job.input.responses,
            run.context,
        )
    with job.input.item_files[0].open("a") as handle:
        chosen = choose(run.scores, run.context)[0].score["item_id"]
        handle.write(json.dumps({"item_id": chosen}) + "\n")
    with pytest.raises(DataError, match=r"items.jsonl, line 13: .*missing field"):
        examples(run.scores, job.input.item_files, job.input.responses, run.context)


def test_an_unanswered_request_is_not_run_and_not_wrong(run: Run) -> None:
    first = (MODELS[0], "non_thinking")
    run.responses[first] = [
        replace(r, text="", error="not run: no row") for r in run.responses[first]
    ]
    run.scores = scores_to_frame(
        [
            score
            for replies in run.responses.values()
            for score in score_responses(run.items, run.requests, replies)
        ]
    )
    job = run.write()
    frame = to_frame(examples(run.scores, job.input.item_files, job.input.responses, run.context))
    assert frame["correct"].head(6).isna().all()
    assert frame["missing"].iloc[0] == (
        "reply: no reply: the request failed; parsed: not run; correct: not run"
    )


class Visible(HTMLParser):
    """The elements of a page and the text that a reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") or name == "src" for name, _ in attrs)
        links = [str(value) for name, value in attrs if name == "href"]
        own = ("../../explorer.html#", "examples.csv")
        assert all(link.startswith(own) for link in links)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_replies_are_text_on_the_page_and_in_the_csv(run: Run) -> None:
    job = run.write()
    make_examples.main(job)
    source = job.output.html.read_text(encoding="utf-8")
    page = Visible()
    page.feed(source)
    assert page.tags.isdisjoint({"script", "b", "img", "iframe", "link"})
    assert "default-src 'none'" in html.unescape(source)
    frame = pd.read_csv(job.output.csv, keep_default_na=False)
    replies = re.sub(r"\s", "", "".join(frame["reply"]))
    for piece in SEEN:
        assert piece in re.sub(r"\s", "", page.text), piece
        assert piece in replies, piece
    raw = job.output.csv.read_bytes() + source.encode()
    for hidden in ("\x00", "\u202e", "\u2066", "\u2028"):
        assert hidden.encode() not in raw
    first = {end: path.read_bytes() for end, path in vars(job.output).items()}
    make_examples.main(job)
    assert first == {end: path.read_bytes() for end, path in vars(job.output).items()}


def tex_is_here() -> bool:
    try:
        paper.require_tex()
    except paper.PaperError:
        return False
    return shutil.which("pdftotext") is not None


@pytest.mark.tex
@pytest.mark.skipif(not tex_is_here(), reason="needs xelatex and pdftotext")
def test_hostile_replies_are_text_in_the_pdf(run: Run) -> None:
    job = run.write()
    make_examples.main(job)
    sources = run.folder / "paper"
    sources.mkdir()
    shutil.copy(STYLE, sources)
    shutil.copy(job.output.tex, sources / "examples.tex")
    (sources / "main.tex").write_text(
        "\\documentclass[10pt,a4paper]{article}\\usepackage{tokensandtime}\\begin{document}"
        "\\input{examples}\\end{document}",
        encoding="utf-8",
    )
    report = paper.build(sources, [], run.folder / "build")
    assert report.missing_characters == () and report.overfull == ()
    shown = subprocess.run(
        ["pdftotext", "-raw", run.folder / "build" / "main.pdf", "-"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8")
    flat = re.sub(r"\s", "", shown)
    for piece in SEEN:
        assert piece in flat, piece
    assert flat.count("<U+1F600>") == 12 and "root:" not in flat
    assert not (run.folder / "build" / "owned").exists()
