"""Finds the tags of an HTML page, as the tokenizer of a browser does. Pure text.

Pages of extensions are untrusted, so this takes linear time: a failed search is the last one, because an unclosed
construct extends to the end of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final, NamedTuple

__all__ = ["Tag", "tags"]

_RAW: Final = frozenset({"script", "style", "title", "textarea", "noscript", "iframe", "noembed", "noframes", "xmp"})
_NAME: Final = re.compile(r"[A-Za-z][^\s/>]*+")
_COMMENT: Final = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_BETWEEN: Final = re.compile(r"[\s/]*+")
_ATTRIBUTE: Final = re.compile(r"[^\s/>][^\s/>=]*+")
_EQUALS: Final = re.compile(r"\s*+=\s*+")
_UNQUOTED: Final = re.compile(r"[^\s>]*+")


class Tag(NamedTuple):
    """A start tag or an end tag."""

    name: str
    ends: bool = False
    attributes: Mapping[str, str] = {}
    text: str | None = None
    """The contents of a raw text element; None without an end tag."""
    line: int = 0
    """The line of the end tag of a raw text element."""


def tags(html: str) -> Iterator[Tag]:
    """The tags of a page, in order."""
    at, line, counted = 0, 1, 0
    while (at := html.find("<", at)) >= 0:
        ends = html.startswith("/", at + 1)
        name = _NAME.match(html, at + 1 + ends)
        if name is None:
            at = _after_other(html, at)
            continue
        found = _attributes(html, name.end())
        if found is None:
            return
        attributes, at = found
        tag = Tag(name[0].lower(), ends, attributes)
        if tag.name in _RAW and not ends:
            end = re.compile(rf"</{tag.name}(?=[\s/>])", re.IGNORECASE).search(html, at)
            if end is None:
                yield tag
                return
            line, counted = line + html.count("\n", counted, end.start()), end.start()
            tag = tag._replace(text=html[at : end.start()], line=line)
            at = end.start()
        yield tag


def _after_other(html: str, at: int) -> int:
    """The position after a `<` that does not start a tag: a comment, a declaration or text."""
    if html.startswith("<!--", at):
        comment = _COMMENT.match(html, at)
        return comment.end() if comment else len(html)
    if html.startswith(("!", "?", "/"), at + 1):
        end = html.find(">", at)
        return end + 1 if end >= 0 else len(html)
    return at + 1


def _attributes(html: str, at: int) -> tuple[dict[str, str], int] | None:
    """The attributes of a tag and its end position; None without an end. The first of duplicate attributes counts."""
    found: dict[str, str] = {}
    while True:
        at = _end(_BETWEEN.match(html, at), at)
        if html.startswith(">", at):
            return found, at + 1
        name = _ATTRIBUTE.match(html, at)
        if name is None:
            return None
        value, at = "", name.end()
        if equals := _EQUALS.match(html, at):
            at = equals.end()
            quote = html[at : at + 1]
            if quote in ('"', "'"):
                end = html.find(quote, at + 1)
                if end < 0:
                    return None
                value, at = html[at + 1 : end], end + 1
            else:
                end = _end(_UNQUOTED.match(html, at), at)
                value, at = html[at:end], end
        found.setdefault(name[0].lower(), unescape(value))


def _end(found: re.Match[str] | None, otherwise: int) -> int:
    return found.end() if found else otherwise
