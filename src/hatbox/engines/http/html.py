"""Reads title and icon of an HTML page, decoded as browsers do. Pure text.

Follows the HTML standard's rules for encodings and its tokenizer, as far as a title and a link need them. One pass, in
time linear to the text, whatever the text is: pages are written by strangers.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from encodings import normalize_encoding
from encodings.aliases import aliases
from typing import Final, NamedTuple
from urllib.parse import urljoin

__all__ = ["HtmlHead", "declared_encoding", "encoding_of", "is_html", "media_type", "read_head", "unescaped"]

_MAX_TITLE: Final = 4096  # characters; Chromium cuts there too
_MAX_ICON: Final = 65536  # an icon may be a data: URL
_DECLARED_WITHIN: Final = 1024  # bytes in which an encoding may be declared

_MAX_LABEL: Final = 40  # characters of the name of an encoding
_PYTHON_LABELS: Final = frozenset({*aliases, *aliases.values(), *("cp874", "koi8_u", "koi8_r")})

_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_LOOKS_LIKE_HTML: Final = re.compile(
    rb"[\t\n\x0c\r ]*<(?:!doctype html|html|head|title|body|script|style|table|div|h1|p|a|!--)[\s>]", re.IGNORECASE
)
_CHARSET: Final = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))

# The encodings of browsers, by what Python calls their labels. All others, utf-7 among them, are unknown.
_ENCODINGS: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "utf-16": "utf-16-le",
    **{f"cp{number}": f"cp{number}" for number in (866, 874, 932, 949, *range(1250, 1259))},
    **{f"iso8859-{number}": f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{
        name: name
        for name in (
            "utf-8",
            "utf-16-le",
            "utf-16-be",
            "koi8-r",
            "koi8-u",
            "mac-roman",
            "mac-cyrillic",
            "gb18030",
            "big5hkscs",
            "euc_jp",
            "iso2022_jp",
        )
    },
}

_TAG: Final = re.compile(
    r"""<(/?)([a-z][^\s/>]*+)((?:[\s/]++|[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+)*+)>""",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"""([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+""")
_WITHOUT_TAGS: Final = frozenset(
    {"title", "textarea", "script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "template"}
)
_OPENING: Final = re.compile(r"<(?=/?[a-z]|[!?])", re.IGNORECASE)
_LEADING_ZEROS: Final = re.compile(r"(?<=&#)0++(?=[0-9])")
_LONG_NUMBER: Final = re.compile(r"&#[0-9]{8,}+;?")  # of no character; Python raises from 4300 digits on
_SPACES: Final = re.compile(r"[\t\n\f\r ]+")


class HtmlHead(NamedTuple):
    """Title and icon of a page."""

    title: str = ""
    icon: str = ""
    """The URL of the icon; empty without one."""


def media_type(content_type: str) -> str:
    """The type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a browser would show this as a page of HTML."""
    kind = media_type(content_type)
    return kind in _HTML_TYPES if kind else _LOOKS_LIKE_HTML.match(body) is not None


def read_head(body: bytes, content_type: str, url: str) -> HtmlHead:
    """Title and icon of a page; `body` may be its beginning."""
    text = body.decode(encoding_of(body, content_type), "replace").removeprefix("\ufeff")
    title: str | None = None
    base, icon, foreign = url, "", 0
    for closing, name, attributes, content in _tags(text):
        if name in ("svg", "math"):
            foreign = max(0, foreign + (-1 if closing else 0 if attributes.endswith("/") else 1))
        elif closing or foreign:
            continue
        elif name == "title" and title is None:
            title = _shown(content)
        elif name == "base" and base == url:
            base = _joined(url, _attribute(attributes, "href") or "") or url
        elif name == "link" and "icon" in (_attribute(attributes, "rel") or "").lower().split():
            icon = _attribute(attributes, "href") or icon
    return HtmlHead(title or "", _joined(base, icon) if icon else "")


def encoding_of(body: bytes, content_type: str = "") -> str:
    """The encoding that a browser uses, by its Python name: from byte order mark, header or page."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return encoding
    if found := declared_encoding(content_type):
        return found
    if media_type(content_type) == "application/xhtml+xml":
        return "utf-8"
    declared = _declared(body[:_DECLARED_WITHIN].decode("latin-1"))
    return "utf-8" if declared.startswith("utf-16") else declared or "cp1252"


def declared_encoding(content_type: str) -> str:
    """The encoding that a Content-Type header declares, by its Python name; empty for one that no browser knows."""
    return _known(_charset(content_type))


def unescaped(text: str) -> str:
    """The text with the characters that its character references name."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", _LEADING_ZEROS.sub("", text)))


def _declared(text: str) -> str:
    for closing, name, attributes, _ in _tags(text):
        if name == "meta" and not closing:
            if found := _known(_attribute(attributes, "charset") or ""):
                return found
            if (_attribute(attributes, "http-equiv") or "").lower() == "content-type" and (
                found := _known(_charset(_attribute(attributes, "content") or ""))
            ):
                return found
    return ""


def _charset(text: str) -> str:
    match = _CHARSET.search(text)
    return next(filter(None, match.groups()), "") if match else ""


def _known(label: str) -> str:
    """The encoding with this label in browsers; empty if unknown."""
    label = label.strip().lower().removeprefix("x-")
    # Python caches every lookup of an encoding forever, also failed ones, so only known names are looked up.
    if len(label) > _MAX_LABEL or normalize_encoding(label) not in _PYTHON_LABELS:
        return ""
    return _ENCODINGS.get(codecs.lookup(label).name, "")


def _tags(text: str) -> Iterator[tuple[bool, str, str, str]]:
    """Each tag: whether it closes, name, attributes, and the content of raw text elements."""
    place = 0
    while opening := _OPENING.search(text, place):
        place = opening.start()
        if text.startswith("<!--", place):
            end = text.find("-->", place + 2)
            place = end + 3 if end >= 0 else len(text)
        elif text[place + 1 : place + 2] in ("!", "?"):
            end = text.find(">", place)
            place = end + 1 if end >= 0 else len(text)
        elif match := _TAG.match(text, place):
            name, place = match[2].lower(), match.end()
            content = ""
            if name in _WITHOUT_TAGS and not match[1]:
                end = _end_of(name, text, place)
                content, place = text[place:end], end
            yield match[1] == "/", name, match[3], content
        else:
            return  # an incomplete tag at the end


def _end_of(name: str, text: str, place: int) -> int:
    match = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, place)
    return match.start() if match else len(text)


def _attribute(attributes: str, wanted: str) -> str | None:
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == wanted:
            return unescaped(next((value for value in match.groups()[1:] if value is not None), "")).strip()
    return None


def _shown(content: str) -> str:
    text = unescaped(content[: 16 * _MAX_TITLE]).replace("\0", "\ufffd")
    return _SPACES.sub(" ", text).strip(" ")[:_MAX_TITLE]


def _joined(base: str, reference: str) -> str:
    try:
        joined = urljoin(base, reference)
    except ValueError:
        return ""
    return joined if joined.startswith(("http:", "https:", "data:")) and len(joined) <= _MAX_ICON else ""
