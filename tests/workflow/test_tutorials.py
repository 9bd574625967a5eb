"""The pages that say what to type are followed from top to bottom, and print what they show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.pages import (
    Block,
    Command,
    PageError,
    blocks,
    commands,
    edit,
    follow,
    reader_environment,
)
from tests.workflow.conftest import ROOT, copy_project, environment

pytestmark = pytest.mark.workflow

DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
#: These build the corpus of TIDE, which takes a while: the second finds it built by the first.
ON_ONE_CORPUS = ("add-a-judge", "add-a-retriever")


def reader_copy(root: Path) -> Path:
    """The project as a reader has it, with the documentation."""
    copy_project(root)
    shutil.copytree(DOCS, root / "docs")
    return root


@pytest.fixture(scope="module")
def with_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reader_copy(tmp_path_factory.mktemp("tutorials") / "project")


@pytest.mark.parametrize(
    "page", [DOCS / "getting-started.md", *TUTORIALS], ids=lambda page: page.stem
)
def test_a_reader_can_follow(page: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if page.stem in ON_ONE_CORPUS:
        root = request.getfixturevalue("with_corpus")
    else:
        root = reader_copy(tmp_path / "project")
    steps = list(follow(page, root, reader_environment(environment())))
    assert sum(step.startswith("$") for step, _ in steps) >= 3


def test_a_tutorial_for_each_extension_is_there() -> None:
    extensions = ("benchmark", "judge", "language", "model", "retriever", "task")
    assert [page.stem for page in TUTORIALS] == [f"add-a-{name}" for name in extensions]


# ---- What follows the pages ---------------------------------------------------------------------


def test_the_blocks_of_a_page_are_read_with_their_place() -> None:
    page = 'a\n\n```yaml title="b.yaml"\nc: 1\n```\n\n```console\n$ d\ne\n```\n'
    assert blocks(page) == [
        Block(3, "yaml", "b.yaml", "c: 1\n"),
        Block(7, "console", "", "$ d\ne\n"),
    ]


def test_commands_go_on_after_a_backslash_and_have_their_output() -> None:
    assert commands("$ a \\\n    b\nc\n$ d\n") == [Command("a b", ["c"]), Command("d", [])]
    with pytest.raises(PageError, match="begins with a command"):
        commands("a\n")


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```console\n$ echo one\ntwo\n```\n", r"p\.md, line 1: \$ echo one\nprints\none"),
        ("```console\n$ false\n```\n", "ends with 1"),
        ("```console\n$ printf 'a\\nb\\nc\\n'\na\nc\n```\n", "and the page shows\na\nc"),
        ("```console\n$ printf 'a\\nb\\n'\na\n```\n", "and the page shows\na"),
        ('x\n```diff title="f"\n-a\n+b\n```\n', r"line 2: .*f"),
    ],
)
def test_a_page_that_is_wrong_is_told_where(tmp_path: Path, page: str, complaint: str) -> None:
    (tmp_path / "p.md").write_text(page)
    with pytest.raises(PageError, match=complaint):
        list(follow(tmp_path / "p.md", tmp_path, reader_environment(environment())))


def test_an_ellipsis_stands_for_any_text_or_any_lines(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("```console\n$ printf 'a\\nb 1 c\\nd\\n'\n…\nb … c\n…\n```\n")
    assert len(list(follow(tmp_path / "p.md", tmp_path, reader_environment(environment())))) == 1


def test_an_edit_replaces_one_place(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("a\nb\nc\n")
    edit(path, " a\n-b\n+x\n+y\n")
    assert path.read_text() == "a\nx\ny\nc\n"
    path.write_text("a\na\n")
    with pytest.raises(PageError, match="has 2 places"):
        edit(path, "-a\n+b\n")
