"""Content of the documents: the files and modules they name, headings, layers, navigation. Links: test_documents."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import hatbox
from hatbox import errors
from tests.test_layout import LAYERS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
CODE = [
    path
    for folder in ("src", "tests", "benchmarks", "examples")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".js", ".md")
]
DECIDED = [DOCS / name for name in ("decisions.md", "internals.md", "differences.md")]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(document: Path) -> str:
    """Its text without code blocks, in which # is a comment."""
    return re.sub(r"^```.*?^```$|^    [^\n]*$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def headings(document: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", text_of(document), re.MULTILINE)


def test_every_file_and_module_that_a_document_names_exists() -> None:
    missing = []
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        paths = re.findall(r"`((?:src|tests|docs|benchmarks|examples)/[\w./*-]+)`", text)
        missing += [(name_of(document), path) for path in paths if not list(ROOT.glob(path.rstrip("/")))]
        modules = [name.rstrip(".") for name in re.findall(r"python -m ((?:hatbox|tests|benchmarks)[\w.]+)", text)]
        missing += [(name_of(document), name) for name in modules if importlib.util.find_spec(name) is None]
    assert not missing


def test_no_heading_exists_twice() -> None:
    # Each release has the same parts, and a namespace may have two variants.
    others = [document for document in DOCUMENTS if document.name not in ("CHANGELOG.md", "extensions.md")]
    assert [name_of(each) for each in others if len(headings(each)) != len(set(headings(each)))] == []


def test_every_heading_has_text_below_it() -> None:
    without = []
    for document in DOCUMENTS:
        text = re.sub(r"^```.*?^```$", "code", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for level, heading, below in re.findall(r"^(#+) (.*)\n+(?=(#*))", text, re.MULTILINE):
            without += [(name_of(document), heading)] if 0 < len(below) <= len(level) else []
        without += [(name_of(document), heading) for heading in re.findall(r"^#+ (.*)\s*\Z", text, re.MULTILINE)]
    assert not without


def test_each_release_has_each_part_once() -> None:
    for release in text_of(ROOT / "CHANGELOG.md").split("\n## ")[1:]:
        parts = re.findall(r"^### (.*)$", release, re.MULTILINE)
        assert len(parts) == len(set(parts))


def test_no_decision_is_on_two_pages() -> None:
    decided = [re.findall(r"^### (.*)$", text_of(document), re.MULTILINE) for document in DECIDED]
    everything = [heading for each in decided for heading in each]
    assert len(everything) == len(set(everything))


def test_every_table_has_a_head() -> None:
    tables = [
        (name_of(document), table)
        for document in DOCUMENTS
        for table in re.findall(r"(?:^\|.*\n)+", document.read_text("utf-8"), re.MULTILINE)
    ]
    assert [each for each in tables if not re.match(r"\|.*\n\|[-|: ]+\|\n", each[1])] == []


def test_every_document_that_code_names_exists() -> None:
    for path in CODE:
        for named in re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8")):
            assert (ROOT / named).exists(), f"{name_of(path)} names {named}"


def test_every_page_is_in_the_navigation_and_every_picture_in_a_page() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert set(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE)) == {
        str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")
    }
    shown = "".join(document.read_text("utf-8") for document in DOCUMENTS)
    assert [picture.name for picture in DOCS.glob("images/*") if picture.name not in shown] == []


def test_every_picture_that_a_page_shows_exists_and_is_small() -> None:
    for document in DOCUMENTS:
        for named in re.findall(r"!\[[^\]]*\]\(([^):]+\.png)\)", document.read_text("utf-8")):
            picture = document.parent / named
            assert picture.exists(), f"{document.name} shows {named}"
            assert picture.stat().st_size < 200_000, f"{named} is too large for a page"


def test_every_public_name_is_in_the_reference() -> None:
    text = (DOCS / "reference" / "python.md").read_text("utf-8")
    listed = set(re.findall(r"^::: hatbox\.(\w+)$", text, re.MULTILINE)) - {"errors"}
    assert listed == {name for name in hatbox.__all__ if not hasattr(errors, name)}


def test_the_layers_are_drawn_in_their_real_order() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Layers\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`([\w.]+)`", row)] == LAYERS


def test_the_glossary_fits_on_a_screen() -> None:
    assert len((DOCS / "glossary.md").read_text("utf-8").splitlines()) < 50
