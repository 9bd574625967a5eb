"""The paper compiles from any run's results, twice to the same bytes, and says which run it is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import publishing_frames
import pymupdf
import pytest
import tide_frames
from example_replies import Run

from scripts import files
from scripts.multitempbench import artefacts as dates
from scripts.publishing import (
    collect_numbers,
    compile_paper,
    gather_reproduction,
    judge_claims,
    make_index,
    make_roster,
    make_setup,
    make_shared_axis,
    paper,
    shared_axis,
)
from scripts.syntaxbench import artefacts, make_examples, make_figure, make_table
from scripts.syntaxbench.tokens import OFF_BY_ONE_COLUMNS
from scripts.tide import artefacts as documents
from scripts.tide import make_figure as make_tide_figure
from scripts.tide import make_table as make_tide_table
from scripts.workflow import benchmarks

ROOT = Path(__file__).parents[2]
SOURCES = [p for p in sorted((ROOT / "paper").rglob("*")) if p.is_file()]


def tex_is_here() -> bool:
    try:
        paper.require_tex()
    except paper.PaperError:
        return False
    return shutil.which("pdftotext") is not None


needs_tex = pytest.mark.skipif(not tex_is_here(), reason="needs xelatex and pdftotext")


@pytest.fixture(scope="module")
def embedded_figures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures of the embedded run, drawn once; every run's paper has the same file names."""
    results = tmp_path_factory.mktemp("figures")
    build_results("embedded", "embedded", results)
    return results / "syntaxbench" / "figures"


def build_results(kind: str, run_kind: str, results: Path, figures: Path | None = None) -> None:
    """All tables, figures and numbers of a synthetic run, by the rule scripts."""
    params = publishing_frames.params(kind)
    params["run"]["kind"] = run_kind
    folder = results / "syntaxbench"
    for name, frame in publishing_frames.frames(params, holes=kind == "full").items():
        files.write_csv(folder / "statistics" / f"{name}.csv", frame)
    files.write_csv(folder / "statistics" / "tokens_summary.csv", tokens_summary(params))
    off_by_one = pd.DataFrame(columns=OFF_BY_ONE_COLUMNS)
    files.write_csv(folder / "statistics" / "tokens_off_by_one.csv", off_by_one)
    for script, names, part, endings in (
        (make_table, artefacts.TABLES, "tables", ("tex", "csv", "html")),
        (make_figure, artefacts.FIGURES, "figures", ("pdf", "png", "tex")),
    ):
        if part == "figures" and figures is not None:
            shutil.copytree(figures, folder / "figures")
            continue
        for name, needs in names.items():
            output = {end: folder / part / f"{name}.{end}" for end in endings}
            script.main(
                SimpleNamespace(
                    input=[folder / "statistics" / f"{stem}.csv" for stem in needs],
                    output=SimpleNamespace(**output),
                    params=SimpleNamespace(context=params),
                    wildcards=SimpleNamespace(name=name),
                )
            )
    examples = Run(results / "replies", params).write()
    for end in ENDS:
        setattr(examples.output, end, folder / "tables" / f"examples.{end}")
    make_examples.main(examples)
    build_joint_parts(results, {"syntaxbench": params})


def tokens_summary(params: dict[str, Any]) -> pd.DataFrame:
    """Characters per token of every model, for the table that joins the benchmarks."""
    rows = [
        (model, "count_chars", condition, 10, 3.5 - place / 10, 1 / (3.5 - place / 10))
        for place, model in enumerate(params["syntaxbench"]["models"])
        for condition in ("english", "random")
    ]
    columns = ["model", "task", "condition", "n", "characters_per_token", "tokens_per_character"]
    return pd.DataFrame(rows, columns=columns)


def build_tide(results: Path) -> None:
    """All tables, figures and numbers of a synthetic run of the third benchmark."""
    params, folder = tide_frames.params("full"), results / "tide"
    for name, frame in tide_frames.frames("full").items():
        files.write_csv(folder / "statistics" / f"{name}.csv", frame)
    for script, names, part, endings in (
        (make_tide_table, documents.TABLES, "tables", ENDS),
        (make_tide_figure, documents.FIGURES, "figures", ("pdf", "png", "tex")),
    ):
        for name, needs in names.items():
            script.main(
                SimpleNamespace(
                    input={stem: str(folder / "statistics" / f"{stem}.csv") for stem in needs},
                    output=SimpleNamespace(
                        **{end: folder / part / f"{name}.{end}" for end in endings}
                    ),
                    params=SimpleNamespace(context=params),
                    wildcards=SimpleNamespace(name=name),
                )
            )
    # tests/unit/test_tide_examples.py has these with hostile texts.
    files.write_text(folder / "tables" / "examples.tex", EXAMPLES)
    build_joint_parts(results, {"tide": params})


EXAMPLES = r"\begin{table}\caption{Examples.}\label{tab:tide-examples}\end{table}"


def build_joint_parts(results: Path, contexts: dict[str, dict[str, Any]]) -> None:
    """What one paper has of all benchmarks: numbers, models, tokenisers."""
    made = results / "paper"
    collect_numbers.main(
        SimpleNamespace(
            input=SimpleNamespace(
                declarations=[ROOT / "paper" / "numbers" / f"{name}.yaml" for name in contexts]
            ),
            output=SimpleNamespace(tex=made / "numbers.tex", json=made / "numbers.json"),
            params=SimpleNamespace(contexts=contexts, results=results, origins={}),
        )
    )
    forms = ("json", "csv", "tex", "html")
    judge_claims.main(
        SimpleNamespace(
            input=SimpleNamespace(claims=[ROOT / "paper" / "claims.yaml"]),
            output=SimpleNamespace(
                tables=made / "claims_tables.tex", **{end: made / f"claims.{end}" for end in forms}
            ),
            params=SimpleNamespace(
                benchmarks=["multitempbench", "syntaxbench", "tide"],
                contexts=contexts,
                labels={},
                titles={name: benchmarks.found()[name].title for name in contexts},
                results=results,
            ),
        )
    )
    axes = {name: benchmarks.found()[name].shared_axis for name in contexts}
    make_setup.main(
        SimpleNamespace(
            output=SimpleNamespace(tex=made / "setup.tex"),
            params=SimpleNamespace(
                kind=next(iter(contexts.values()))["run"]["kind"],
                benchmarks={name: name in contexts for name in benchmarks.found()},
                parts=benchmarks.texts_of(contexts),
                shared_axis=True,
            ),
        )
    )
    for script, name, given in (
        (make_roster, "roster", {}),
        (make_shared_axis, "shared_axis", shared_axis.inputs(str(results), axes)),
    ):
        roster = {
            "entries": [
                {**entry, "name": model, "label": contexts[first]["models"][model]["label"]}
                for first in contexts
                for model in contexts[first][first]["models"]
                for entry in ROSTER["entries"]
            ],
            "benchmarks": list(contexts),
            "titles": {name: benchmarks.found()[name].title for name in contexts},
        }
        script.main(
            SimpleNamespace(
                input=given,
                output=SimpleNamespace(**{end: made / f"{name}.{end}" for end in ENDS}),
                params=SimpleNamespace(roster=roster, axes=axes),
            )
        )

    compared = results / "reproduction"
    plot = compared / "measured_against_published"
    gather_reproduction.main(
        SimpleNamespace(
            input={},
            output=SimpleNamespace(
                tables=compared / "tables.tex",
                **{end: plot.with_suffix(f".{end}") for end in ("pdf", "png", "tex")},
            ),
            params=SimpleNamespace(titles={}, context=contexts[min(contexts)]),
        )
    )
    make_index.main(
        SimpleNamespace(
            input=SimpleNamespace(
                numbers=made / "numbers.json",
                shown=[
                    *(path for name in contexts for path in (results / name).rglob("*.tex")),
                    made / "roster.tex",
                    made / "shared_axis.tex",
                    plot.with_suffix(".tex"),
                ],
            ),
            output=SimpleNamespace(
                results_html=made / "index_results.html",
                **{end: made / f"index.{end}" for end in ENDS},
            ),
            params=SimpleNamespace(results=results, origins={}),
        )
    )


ENDS = ("tex", "csv", "html")
ROSTER = {
    "entries": [
        {
            "backend": "vllm",
            "source": "some/tiny_1",
            "revision": "main",
            "precision": "bfloat16",
            "modes": ["thinking"],
            "benchmarks": ["syntaxbench", "tide"],
        }
    ],
}


def compile_results(results: Path) -> bytes:
    made = results / "paper"
    job = SimpleNamespace(
        input=SimpleNamespace(
            sources=SOURCES,
            parts=[],
            **{name: made / f"{name}.tex" for name in ("numbers", "setup", "claims")},
        ),
        output=SimpleNamespace(pdf=made / "paper.pdf"),
    )
    compile_paper.main(job)
    return (made / "paper.pdf").read_bytes()


def text_of(pdf: Path) -> str:
    run = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, check=True)
    return " ".join(run.stdout.decode("utf-8").split())


def check_links(path: Path) -> None:
    """Every link has its place, and a page of the index is where the number stands first."""
    with pymupdf.open(path) as pdf:
        places = pdf.resolve_names()
        links = [(page, link) for page in pdf for link in page.get_links() if "nameddest" in link]
        assert {link["nameddest"] for _, link in links} <= set(places)
        first: dict[str, tuple[int, float]] = {}
        for page, link in links:
            kind, _, name = link["nameddest"].partition(":")
            if kind == "number":
                first.setdefault(name, (page.number, page.rect.height - link["from"].y0))
        back = [name for name in places if name.startswith("printed:")]
        assert {name.partition(":")[2] for name in back} == set(first)
        assert set(back) <= {link["nameddest"] for _, link in links}
        for name in back:
            number, height = first[name.partition(":")[2]]
            assert places[name]["page"] == number, name
            assert places[name]["to"][1] == pytest.approx(height, abs=8), name


@pytest.mark.tex
@needs_tex
@pytest.mark.parametrize(
    ("kind", "run_kind", "sentence"),
    [
        ("embedded", "embedded", "It is not the result of the published paper"),
        ("full", "replay", "It is not a new measurement"),
    ],
)
def test_the_paper_compiles_and_names_its_run(
    tmp_path: Path,
    embedded_figures: Path,
    *,
    kind: str,
    run_kind: str,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    results = tmp_path / "results"
    build_results(kind, run_kind, results, embedded_figures)
    capsys.readouterr()
    first = compile_results(results)
    assert capsys.readouterr().out == ""  # no box that is too wide
    text = text_of(results / "paper" / "paper.pdf")
    assert sentence in text and text.index(sentence) < text.index("Introduction")
    assert "??" not in text
    numbers = json.loads((results / "paper" / "numbers.json").read_text())
    assert numbers["macros"]["BestNonThinkingEma"]["printed"] in text
    assert ("not available: the model has no thinking switch" in text) == (kind == "embedded")
    check_links(results / "paper" / "paper.pdf")
    if kind == "embedded":
        moved = tmp_path / "elsewhere" / "results"
        shutil.copytree(results, moved)
        assert compile_results(moved) == first


@pytest.mark.tex
@needs_tex
def test_the_paper_of_the_third_benchmark_compiles_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    build_tide(results)
    capsys.readouterr()
    compile_results(results)
    assert capsys.readouterr().out == ""  # no box that is too wide
    text = text_of(results / "paper" / "paper.pdf")
    assert "??" not in text and "SyntaxBench" not in text and "MultiTempBench" not in text
    check_links(results / "paper" / "paper.pdf")
    found = json.loads((results / "paper" / "numbers.json").read_text())["macros"]
    for name in ("TideBestIcl", "TideGapClosed", "TideKappaMeaning", "TideTaxHighest"):
        assert found[name]["printed"] in text, name


@pytest.mark.tex
@needs_tex
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (r"\undefinedcommand", "Undefined control sequence"),
        (r"See \ref{nowhere}.", "undefined: Reference"),
        (r"A glyph: ^^^^2603", "without a glyph"),
        (r"\immediate\write18{touch owned}Text", ""),
    ],
)
def test_faults_of_a_source_are_named(tmp_path: Path, body: str, message: str) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "main.tex").write_text(
        f"\\documentclass{{article}}\\begin{{document}}{body}\\end{{document}}"
    )
    if message:
        with pytest.raises(paper.PaperError, match=message):
            paper.build(sources, [], tmp_path / "build")
    else:
        paper.build(sources, [], tmp_path / "build")
        assert not (tmp_path / "build" / "owned").exists()


def test_without_tex_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(paper.PaperError, match=r"apt-get install .*envs/tex.txt"):
        paper.require_tex()
    packages = (ROOT / paper.PACKAGES_FILE).read_text().splitlines()
    assert "texlive-xetex" in packages and "latexmk" in packages


def test_log_reading() -> None:
    log = (
        "Missing character: There is no X in font Y!\n"
        "Missing character: There is no X in font Y!\n"
        "LaTeX Warning: Reference `a' on page 1 undefined on input line 2.\n"
        "Package natbib Warning: Citation `b' on page 1 undefined on input line 3.\n"
        "Overfull \\hbox (4.9pt too wide) in paragraph at lines 1--2\n"
        "Overfull \\hbox (12.5pt too wide) in paragraph at lines 3--4\n"
    )
    report = paper.read_log(log)
    assert len(report.missing_characters) == 1 and len(report.undefined) == 2
    assert [size for size, _ in report.overfull] == [12.5]


def test_what_runs_over_the_foot_of_a_page_is_found(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for text in ("", "a row too many"):
            page = document.new_page(width=595, height=842)
            page.insert_text((290, 842 - 28), str(page.number + 1))
            page.insert_text((100, 842 - 70), "the last line of the text")
            page.insert_text((100, 842 - 40), text)
        document.save(tmp_path / "p.pdf")
    assert paper.over_the_foot(tmp_path / "p.pdf") == [(2, "2 a row too many")]


def test_the_sources_must_hold_one_main_file(tmp_path: Path) -> None:
    job = SimpleNamespace(
        input=SimpleNamespace(sources=[], parts=[], numbers="n", setup="s"),
        output=SimpleNamespace(pdf=tmp_path / "paper.pdf"),
    )
    with pytest.raises(paper.PaperError, match=r"expected one main\.tex"):
        compile_paper.main(job)


def test_the_first_error_of_a_broken_log() -> None:
    assert paper.first_error("a\n! Bad\nl.1", b"") == "! Bad\nl.1"
    assert paper.first_error("", b"no log") == "no log"
    absent = (
        "! LaTeX Error: File `siunitx.sty' not found.\n\nType X to quit\nl.9 x\n! Emergency stop."
    )
    first, place, remedy = paper.first_error(absent, b"").splitlines()
    assert first.endswith("`siunitx.sty' not found.") and place == "l.9 x"
    assert "apt-get install" in remedy and "envs/tex.txt" in remedy


@pytest.mark.parametrize("name", ["table", "figure", "examples", "paper", "statistics", "workflow"])
def test_report_captions_render_from_the_parameters(name: str) -> None:
    import jinja2

    source = (ROOT / "rules" / "report" / f"{name}.rst").read_text()
    job = SimpleNamespace(
        params=SimpleNamespace(context=publishing_frames.params("full")),
        wildcards=SimpleNamespace(name="shots"),
        output={"tex": "results/syntaxbench/tables/shots.tex"},
        rule="r",
        config={"run": {"kind": "replay", "seed": 42}},
    )
    text = (
        jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
        .from_string(source)
        .render(snakemake=job)
    )
    assert "{{" not in text
    if name in ("table", "figure"):
        assert "seed\n42" in text or "seed 42" in text
        assert "10000 bootstrap resamples" in text


def test_every_table_and_figure_stands_in_the_paper_once() -> None:
    text = "\n".join(path.read_text() for path in sorted((ROOT / "paper").rglob("*.tex")))
    for benchmark, tables, figures in (
        ("syntaxbench", {*artefacts.TABLES, "examples"}, set(artefacts.FIGURES)),
        ("multitempbench", {*dates.TABLES, *dates.OWN_RULE}, set(dates.FIGURES)),
        ("tide", {*documents.TABLES, *documents.OWN_RULE}, set(documents.FIGURES)),
    ):
        for kind, names in (("table", tables), ("figure", figures)):
            found = re.findall(rf"\\result{kind}\{{{benchmark}\}}\{{(\w+)\}}", text)
            assert set(found) == names, f"{benchmark}, {kind}s"
            # A table that the kind of run moves to the appendix is named twice, under a condition.
            assert max(map(found.count, found)) <= 2


def test_every_section_stands_in_the_paper_of_its_benchmark() -> None:
    """What all runs read names no benchmark; the pieces of each are those that it declares."""
    named = [
        Path(file).stem
        for files_of_piece in benchmarks.texts_of(benchmarks.found()).values()
        for file in files_of_piece
    ]
    for path in sorted((ROOT / "paper").rglob("*.tex")):
        for name in re.findall(r"\\input\{sections/(\w+)\}", path.read_text()):
            named.append(name)
            for benchmark in benchmarks.found():
                own = path.stem.startswith(benchmark)
                assert own or benchmark not in name.split("_"), f"{path.name}: {name}"
    sections = {path.stem for path in (ROOT / "paper" / "sections").glob("*.tex")}
    assert sorted(named) == sorted(sections)
