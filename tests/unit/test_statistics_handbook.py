"""The statistics handbook: a card for every statistic, and numbers that are so."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from tests.pages import blocks

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "statistics").glob("*.md"))
FIELDS = ("When", "Formula", "Convention", "Source", "Worked example", "Code")
PACKAGE = "scripts.statistics."


def cards(page: Path) -> dict[str, str]:
    """Title and text of every card of a page."""
    _, *parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)
    return {part.split("\n", 1)[0]: part for part in parts}


CARDS = {(page.stem, title): text for page in PAGES for title, text in cards(page).items()}


def named(text: str) -> set[str]:
    """The functions that a card's last field names, with their module in full."""
    _, _, code = text.partition("**Code.**")
    found = re.findall(r"`([a-z_.]+\.[A-Za-z_]+)`", code)
    return {name if name.startswith("scripts.") else PACKAGE + name for name in found}


def public_functions() -> set[str]:
    """Every function of scripts/statistics that another module may call."""
    return {
        f"{PACKAGE}{path.stem}.{node.name}"
        for path in (ROOT / "scripts" / "statistics").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


def resolved(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute, None)


def test_every_public_statistic_has_a_card() -> None:
    functions = public_functions()
    assert len(functions) > 80
    missing = functions - set().union(*map(named, CARDS.values()))
    assert not missing, f"no card of docs/statistics/ names {sorted(missing)}"


@pytest.mark.parametrize("card", CARDS, ids="/".join)
def test_a_card_has_every_field_in_order_and_names_what_exists(card: tuple[str, str]) -> None:
    text = CARDS[card]
    assert tuple(re.findall(r"^\*\*([A-Z][a-z ]+)\.\*\*", text, re.M)) == FIELDS
    bare = re.search(r"\*\*(?:Formula|Convention|Source|When)\.\*\*\s*(?=\*\*|\Z)", text)
    assert bare is None, f"an empty field: {bare}"
    names = named(text)
    assert names
    for name in names:
        assert callable(resolved(name)), f"{name} does not exist"


def examples(page: Path) -> doctest.DocTest:
    """The examples of a page, in one namespace, with the lines on which they stand."""
    parser, out = doctest.DocTestParser(), []
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python":
            for example in parser.get_examples(block.text):
                example.lineno += block.line
                out.append(example)
    return doctest.DocTest(out, {}, page.name, str(page), 0, None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_number_of_the_examples_is_so(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        examples(page), out=said.append
    )
    assert not result.failed, "".join(said)
    assert result.attempted >= len(cards(page))


@pytest.mark.parametrize("card", CARDS, ids="/".join)
def test_a_card_shows_a_number_that_its_own_function_computed(card: tuple[str, str]) -> None:
    text = CARDS[card]
    shown = doctest.DocTestParser().get_examples(
        "\n".join(block.text for block in blocks(text) if block.language == "python")
    )
    assert any(example.want.strip() for example in shown)
    calls = {
        node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        for example in shown
        for node in ast.walk(ast.parse(example.source))
    }
    own = {name.rpartition(".")[2] for name in named(text)}
    assert own & calls, "no function of the card is used"


def test_every_flag_is_explained_where_it_is_defined() -> None:
    from scripts.statistics import flags

    source = (ROOT / "scripts" / "statistics" / "flags.py").read_text(encoding="utf-8")
    for flag in flags.FLAGS:
        assert re.search(rf'^#: .+\n(?:#: .+\n)*[A-Z_]+ = "{flag}"$', source, re.M), flag
