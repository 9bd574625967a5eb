"""Rows, columns and tables: no word is lost, and every one stands where it is printed."""

import pymupdf
import pytest
from documents_pdfs import ENGINES, ruled
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.engines import Word, read_pymupdf
from scripts.documents.page_tables import (
    Grid,
    cell_text,
    fill,
    find_grids,
    laid_out,
    line_of,
    reading_rows,
    text_rows,
)
from scripts.documents.reading import read_pdf

CELLS = [["No.", "Goods", "Rate"], ["1", "Ceramic tiles, glazed", "10"], ["2", "", "5"]]


def word(text: str, x: float, y: float, width: float = 20, height: float = 10, **more) -> Word:  # type: ignore[no-untyped-def]
    return Word(
        text, (x, y, x + width, y + height), more.get("size", 10.0), more.get("bold", False)
    )


def texts(rows: list[list[Word]]) -> list[str]:
    return [" ".join(each.text for each in row) for row in rows]


@pytest.mark.parametrize("rotation", [0, 90])
def test_a_ruled_table_and_the_lines_around_it(tmp_path, rotation) -> None:  # type: ignore[no-untyped-def]
    path = ruled(tmp_path / "a.pdf", CELLS, rotation=rotation)
    (page,) = read_pdf(path, "a", ENGINES).pages
    if rotation:
        # The text lies on its side: what matters is that nothing is lost without a word.
        assert page.status == "needs_ocr" or page.characters_out == page.characters_in
        return
    assert [table["rows"] for table in page.tables] == [CELLS]
    assert page.text == "Above\nBelow"
    assert page.tables[0]["bbox"] == pytest.approx([50, 100, 410, 190], abs=1)
    assert page.characters_in == page.characters_out == 46


def test_a_page_without_drawings_has_no_grid(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((50, 50), "a b c")
        assert find_grids(page) == []
        page.draw_rect((40, 30, 200, 80))
        assert find_grids(page) == []
        assert [each.text for each in read_pymupdf(page).words] == ["a", "b", "c"]


def test_words_in_no_cell_go_to_the_nearest() -> None:
    grid = Grid((0, 0, 100, 40), (((0, 0, 40, 20), (60, 0, 100, 20)), (None, (60, 20, 100, 40))))
    words = [word("left", 5, 5), word("gap", 45, 5, 6), word("right", 70, 5), word("under", 5, 25)]
    tables, rest = fill([grid], [*words, word("out", 150, 5)])
    assert tables == [
        {"bbox": [0, 0, 100, 40], "rows": [["left gap under", "right"], ["", ""]]}
    ] or tables[0]["rows"] == [["left gap", "right"], ["", "under"]]
    assert [each.text for each in rest] == ["out"]
    held = " ".join(cell for row in tables[0]["rows"] for cell in row).split()
    assert sorted(held) == ["gap", "left", "right", "under"]


def test_a_frame_is_no_table() -> None:
    grid = Grid((0, 0, 100, 40), (((0, 0, 50, 40), (50, 0, 100, 40)),))
    words = [word("all", 5, 5), word("here", 28, 5)]
    assert fill([grid], words) == ([], words)


def test_cells_of_several_rows_are_read_row_by_row() -> None:
    assert cell_text([word("b", 30, 0), word("c", 0, 14), word("a", 0, 0)]) == "a b c"
    assert cell_text([]) == ""


def test_small_boxes_stay_in_their_row() -> None:
    row = [
        word("ধারা", 0, 0, 20, 12),
        word(",", 21, 8, 2, 4),
        word("“", 30, 0, 3, 3),
        word("৫", 34, 2),
    ]
    below = [word("x", 0, 14, 20, 12), word("2", 21, 12, 4, 5)]
    assert texts(text_rows([*below, *row])) == ["ধারা , “ ৫", "x 2"]


def columns(rows: int) -> list[Word]:
    left = [word(f"l{r}{c}", 40 * c, 14 * r, 38) for r in range(rows) for c in range(4)]
    right = [word(f"r{r}{c}", 220 + 40 * c, 14 * r, 38) for r in range(rows) for c in range(4)]
    return left + right


def test_two_columns_are_read_one_after_the_other() -> None:
    head = [word("Heading", 150, -20, 60)]
    foot = [word("Foot", 0, 14 * 8 + 20, 60)]
    found = texts(reading_rows([*foot, *columns(8), *head]))
    assert found[0] == "Heading"
    assert [line.split()[0] for line in found[1:-1]] == [f"l{r}0" for r in range(8)] + [
        f"r{r}0" for r in range(8)
    ]
    assert found[-1] == "Foot"


def test_few_rows_or_short_cells_are_no_columns() -> None:
    assert len(texts(reading_rows(columns(4)))) == 4
    table = [word(f"c{r}{c}", 100 * c, 14 * r, 30) for r in range(9) for c in range(3)]
    assert len(reading_rows(table)) == 9
    assert reading_rows([]) == []


def unruled(rows: int = 4, columns: int = 3, words: int = 2) -> list[Word]:
    return [
        word(f"c{r}{c}{w}", 120 * c + 24 * w, 14 * r, 22)
        for r in range(rows)
        for c in range(columns)
        for w in range(words)
    ]


def test_a_table_without_rules_is_told_by_its_columns() -> None:
    lines = [word("Heading", 100, -40, 60), word("after", 0, 90), word("it", 25, 90)]
    tables, rest = laid_out([], [*unruled(), *lines])
    assert tables[0]["rows"] == [[f"c{r}{c}0 c{r}{c}1" for c in range(3)] for r in range(4)]
    assert [line["text"] for line in rest] == ["Heading", "after it"]
    # Cells that share their right edge or their middle are aligned too.
    right = [
        word(f"{r}{c}", 120 * c - 9 * r, 14 * r, 20 + 9 * r) for r in range(4) for c in range(3)
    ]
    assert len(laid_out([], right)[0][0]["rows"]) == 4


@pytest.mark.parametrize(
    "words",
    [unruled(rows=2), unruled(columns=2), unruled(words=4), columns(8), [], unruled(1, 1, 4)],
    ids=["two rows", "two columns", "long cells", "running text", "nothing", "one line"],
)
def test_what_is_no_table(words) -> None:  # type: ignore[no-untyped-def]
    tables, lines = laid_out([], words)
    assert tables == []
    assert sum(len(line["text"].split()) for line in lines) == len(words)


BOXES = st.lists(
    st.tuples(*[st.floats(0, 500) for _ in range(2)], st.floats(0, 80), st.floats(0, 20)),
    max_size=40,
)


@given(BOXES)
def test_every_word_is_in_one_row(boxes) -> None:  # type: ignore[no-untyped-def]
    words = [word(str(n), *box) for n, box in enumerate(boxes)]
    for rows in (text_rows(words), reading_rows(words)):
        assert sorted(each.text for row in rows for each in row) == sorted(w.text for w in words)
        assert all(rows)
    grid = Grid((100, 100, 400, 400), (((100, 100, 250, 400), (250, 100, 400, 400)),))
    tables, lines = laid_out([grid], words)
    held = [t for table in tables for row in table["rows"] for cell in row for t in cell.split()]
    held += [text for line in lines for text in line["text"].split()]
    assert sorted(held) == sorted(each.text for each in words)


def test_a_line_has_the_size_and_weight_of_most_of_its_letters() -> None:
    row = [word("Heading", 0, 0, size=14.0, bold=True), word("1", 40, 2, size=8.0)]
    assert line_of(row) == {"text": "Heading 1", "bbox": [0, 0, 60, 12], "size": 14.0, "bold": True}
    assert not line_of([word("ab", 0, 0, bold=True), word("cd", 30, 0)])["bold"]
