"""References in documents: links to files and headings, and the decisions that conformance cases refer to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

ROOT: Final = Path(__file__).parents[1]
DOCUMENTS: Final = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")],
)
CASES: Final = sorted((ROOT / "tests" / "conformance").glob("*.json"))

_FENCE: Final = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1[`~]* *$", re.MULTILINE | re.DOTALL)
_INLINE_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINKS: Final = (
    re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'(][^)]*)?\)"),  # [text](target "title")
    re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)", re.MULTILINE),  # [name]: target
    re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"\s]+)"),
)
_EXTERNAL: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_HEADING: Final = re.compile(r"^ {0,3}#{1,6} +(.*?)(?: +#+)? *$", re.MULTILINE)
_EXPLICIT_ID: Final = re.compile(r"\s*\{ *#([\w-]+)[^}]*\}$")
_HTML_ID: Final = re.compile(r"<\w+\b[^>]*?\b(?:id|name)=\"([^\"]+)\"")


@cache
def text_of(document: Path) -> str:
    """A document without its fenced code blocks."""
    return _FENCE.sub("", document.read_text("utf-8"))


def links_of(document: Path) -> set[str]:
    prose = _INLINE_CODE.sub("", text_of(document))
    found = {match[1] for pattern in _LINKS for match in pattern.finditer(prose)}
    return {link for link in found if not _EXTERNAL.match(link)}


@cache
def anchors_of(document: Path) -> frozenset[str]:
    """The ids of a document's headings, as GitHub and as MkDocs generate them."""
    anchors: set[str] = set(_HTML_ID.findall(text_of(document)))
    for heading in _HEADING.findall(text_of(document)):
        if explicit := _EXPLICIT_ID.search(heading):
            anchors.add(explicit[1])
        for slug in _slugs(_EXPLICIT_ID.sub("", heading)):
            anchors.add(_unused(slug, anchors))
    return frozenset(anchors)


def _slugs(heading: str) -> set[str]:
    title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    words = re.sub(r"[^\w\s-]", "", title.lower()).strip()
    return {words.replace(" ", "-"), re.sub(r"[\s-]+", "-", words)}


def _unused(slug: str, used: set[str]) -> str:
    """The slug itself, or with the number that GitHub appends to a repeated heading."""
    number = 0
    while (candidate := f"{slug}-{number}" if number else slug) in used:
        number += 1
    return candidate


def differences_in(value: Any) -> Iterator[str]:
    """The values of all `differs` keys."""
    if isinstance(value, dict):
        if isinstance(differs := value.get("differs"), str):
            yield differs
        for member in value.values():
            yield from differences_in(member)
    elif isinstance(value, list):
        for item in value:
            yield from differences_in(item)


def test_links_lead_to_existing_files_and_headings() -> None:
    assert [
        (document, link) for document in DOCUMENTS for link in links_of(document) if is_broken(document, link)
    ] == []


def is_broken(document: Path, link: str) -> bool:
    path, _, anchor = unquote(link).partition("#")
    target = (document.parent / path).resolve() if path else document
    return not target.exists() or bool(anchor and target.suffix == ".md" and anchor not in anchors_of(target))


def test_differences_from_firefox_refer_to_existing_headings() -> None:
    headings = frozenset().union(*(anchors_of(path) for path in DOCUMENTS if ROOT / "docs" in path.parents))
    differences = {each for cases in CASES for each in differences_in(json.loads(cases.read_text("utf-8")))}
    assert differences <= headings


def test_references_that_do_not_exist_are_found(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text(
        "# The `Head` of it\n[a](b.md) [b](a.md#the-head-of-it) [c](#none) <https://x.example> `[d](code.md)`\n"
        "```\n# No heading\n[e](fence.md)\n```\n## Own {#mine}\n# Own\n[f]: c.md#x\n"
    )
    assert links_of(document) == {"b.md", "a.md#the-head-of-it", "#none", "c.md#x"}
    assert {"the-head-of-it", "mine", "own", "own-1"} <= anchors_of(document)
    assert "no-heading" not in anchors_of(document)
