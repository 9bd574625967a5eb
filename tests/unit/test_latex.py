"""Hostile text reaches LaTeX as text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.publishing import latex, paper
from scripts.publishing.tables import Cell, Column, Row, Table, to_latex

STYLE = Path(__file__).parents[2] / "paper" / "tokensandtime.sty"

HOSTILE = [
    r"\input{/etc/passwd}",
    r"\write18{touch owned}",
    r"100% of _it_ & #1 $x^2$ {a} ~b~",
    r"\end{document}",
    "^^5cinput{x}",
    'quotes `a\' "b" ,, -- --- <<c>> ?` !`',
    "bidi \u202e evil \u2066 mark \u200f",
    "nul \x00 bell \x07 escape \x1b",
    "lone \ud800 surrogate \udfff",
    "line\nbreak\r\n\n\nparagraph\ttab \u2028 \u2029",
    "emoji 😀 zalgo a\u0301\u0302 private \ue000 last \U0010ffff",
    "<script>alert(1)</script>",
    "العربية ٢٧ রাজস্ব ১৪৩০ 二零二三年 Größe ƙasar",
    "]} \\\\ [2cm] \\hline",
]


@given(st.text(st.characters(), max_size=80))
def test_escaped_text_has_no_command_of_its_own_and_balanced_braces(text: str) -> None:
    out = latex.escape(text)
    out.encode("utf-8")
    assert "\n" not in out and "\r" not in out
    commands = set(re.findall(r"\\([A-Za-z]+)", out))
    assert commands <= {
        "textbackslash",
        "textasciicircum",
        "textasciitilde",
        "textasciigrave",
        "textquotesingle",
        "textquotedbl",
        "textless",
        "textgreater",
        "texttt",
        "textarabic",
        "textbengali",
        "latinrun",
        "latinsign",
        "directionmark",
        "ensuremath",
        "approx",
        "neq",
        "leq",
        "geq",
        "infty",
        "to",
    }
    bare = re.sub(r"\\[{}$&#%_]", "", out)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[$&#%_^~]", bare)


BACK = {
    "textbackslash": "\\",
    "textasciicircum": "^",
    "textasciitilde": "~",
    "textasciigrave": "`",
    "textquotesingle": "'",
    "textquotedbl": '"',
    "textless": "<",
    "textgreater": ">",
}


def read_back(source: str) -> str:
    """What TeX would print of escaped ASCII text."""
    pieces = re.findall(r"\\[a-z]+\{\}|\\.|\{\}|.", source)
    return "".join(
        BACK[p[1:-2]] if p.endswith("{}") and len(p) > 2 else "" if p == "{}" else p[-1]
        for p in pieces
    )


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=60))
def test_plain_ascii_is_read_back_from_its_escape(text: str) -> None:
    assert read_back(latex.escape(text)) == text


def test_code_points_are_shown() -> None:
    assert "U+202E" in latex.escape("\u202e")
    assert "U+D800" in latex.escape("\ud800")
    assert "U+0000" in latex.escape("\x00")


def test_arabic_phrases_keep_their_spaces_and_numbers_run_from_left_to_right() -> None:
    assert latex.escape("٣ يوليو ٢٠٢٣") == r"\textarabic{٣ يوليو ٢٠٢٣}"
    assert latex.escape("see ٣ رجب, or") == r"see \textarabic{٣ رجب}, or"
    assert latex.escape("ما بعد 2023-07-03؟ (هو)") == (
        r"\textarabic{ما بعد \latinrun{2023-07-03}؟ \latinsign{)}هو\latinsign{(}}"
    )
    assert (
        latex.escape("رجب \u202e")
        == r"\textarabic{رجب \latinrun{\texttt{\textless{}U+202E\textgreater{}}}}"
    )


def test_direction_marks_are_named_and_hausa_and_chinese_letters_are_drawn() -> None:
    marked = r"\directionmark{LRM}2023-07-03\directionmark{LRM}"
    assert latex.escape("\u200e2023-07-03\u200e") == marked
    for text in ("ƙasar ɗan ɓauna ƴar", "二零二三年，〇？（甲）"):
        assert latex.escape(text) == text


def test_arabic_and_chinese_words_are_not_cut() -> None:
    assert latex.escape_breakable("الميلادية" * 3) == rf"\textarabic{{{'الميلادية' * 3}}}"
    assert latex.BREAK not in latex.escape_breakable("二零二三年闰二月十一" * 4)


def test_double_hyphens_and_commas_stay_double() -> None:
    assert latex.escape("a--b,,c") == "a-{}-b,{},c"


def test_prose_gets_typographic_apostrophes() -> None:
    assert latex.escape_prose("McNemar's 5%") == r"McNemar’s 5\%"


def test_long_words_may_break() -> None:
    assert latex.escape_breakable("a" * 17).count(r"\allowbreak{}") == 2
    assert latex.escape_breakable("a b") == "a b"


@pytest.mark.parametrize("name", ["", "A1", "a b", r"\x", "ä"])
def test_macro_names_are_letters_only(name: str) -> None:
    with pytest.raises(ValueError, match="letters"):
        latex.macro_name(name)


def test_new_command_and_label() -> None:
    assert latex.new_command("Seed", "42") == r"\newcommand{\Seed}{42}"
    assert latex.label("main_thinking Ärger") == "main-thinking-arger"


@pytest.mark.skipif(shutil.which("fc-match") is None, reason="needs fontconfig")
def test_the_fonts_have_every_character_that_is_not_shown_as_a_code_point() -> None:
    from matplotlib.ft2font import FT2Font

    for family, ranges in (
        ("Noto Serif", latex._MAIN),
        ("Noto Naskh Arabic", latex._ARABIC),
        ("Noto Serif Bengali", latex._BENGALI),
    ):
        found = subprocess.run(
            ["fc-match", "-f", "%{family}|%{file}", family],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        name, file = found.split("|")
        if family not in name:
            pytest.skip(f"{family} is not installed")
        charmap = FT2Font(file).get_charmap()
        lacking = [hex(p) for low, high in ranges for p in range(low, high + 1) if p not in charmap]
        assert lacking == []


def tex_is_here() -> bool:
    try:
        paper.require_tex()
    except paper.PaperError:
        return False
    return shutil.which("pdftotext") is not None


@pytest.mark.tex
@pytest.mark.skipif(not tex_is_here(), reason="needs xelatex and pdftotext")
def test_hostile_cells_appear_as_text_in_the_pdf(tmp_path: Path) -> None:
    table = Table(
        "hostile",
        "Caption with " + HOSTILE[0],
        ("Stub",),
        (Column("text", "Te_xt", align="p{9cm}"),),
        tuple(Row((str(i),), (Cell(text, text),)) for i, text in enumerate(HOSTILE)),
        notes=(HOSTILE[2],),
        stub_align="l",
    )
    sources = tmp_path / "paper"
    sources.mkdir()
    shutil.copy(STYLE, sources)
    (sources / "table.tex").write_text(to_latex(table), encoding="utf-8")
    (sources / "main.tex").write_text(
        "\\documentclass{article}\\usepackage{tokensandtime}\\begin{document}"
        "\\input{table}\\end{document}",
        encoding="utf-8",
    )
    report = paper.build(sources, [], tmp_path / "build")
    assert report.missing_characters == ()
    text = subprocess.run(
        ["pdftotext", "-raw", tmp_path / "build" / "main.pdf", "-"], capture_output=True, check=True
    ).stdout.decode("utf-8")
    flat = re.sub(r"\s+", "", text)
    for piece in (
        r"\input{/etc/passwd}",
        r"\write18{touchowned}",
        r"100%of_it_&#1$x^2${a}~b~",
        r"\end{document}",
        "^^5cinput{x}",
        "<U+202E>",
        "<U+0000>",
        "<U+D800>",
        "<U+1F600>",
        "<script>alert(1)</script>",
        ",,-----<<c>>",
        "二零二三年",
        "Größe",
    ):
        assert piece in flat, piece
    assert not (tmp_path / "build" / "owned").exists()
