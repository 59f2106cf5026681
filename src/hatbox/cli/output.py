"""What is printed: tables and sentences for people, plain columns for pipes, JSON for programs.

Knows nothing of commands or profiles. Text from users never goes through Rich's markup, and always through `visible`.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TextIO

import msgspec

from hatbox import palette
from hatbox.cli.text import harmless_json, visible
from hatbox.identities import ContextualIdentity
from hatbox.tabs import Tab

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "document",
    "print_colors",
    "print_cookies",
    "print_icons",
    "print_identities",
    "print_json",
    "print_json_line",
    "print_line",
    "print_rows",
    "print_tabs",
    "say",
    "say_tab",
    "tab_document",
]

# Each is two cells wide in every terminal, because it is an emoji without needing a variation selector.
_GLYPHS: Final = {
    "fingerprint": "👆",
    "briefcase": "💼",
    "dollar": "💲",
    "cart": "🛒",
    "vacation": "🌴",
    "gift": "🎁",
    "food": "🍔",
    "fruit": "🍎",
    "pet": "🐾",
    "tree": "🌲",
    "chill": "😎",
    "circle": "⚪",
    "fence": "🚧",
}
_NEUTRAL_GLYPH: Final = "❔"

_ERROR_STATUS: Final = 400  # and above: the server says that something is wrong

_MANY: Final = 1000  # rows; Rich takes half a millisecond for each, and nobody reads so many


def document(identity: ContextualIdentity) -> dict[str, object]:
    """An identity as JSON shows it. Programs rely on these names and on their order."""
    return {
        "name": identity.name,
        "icon": identity.icon,
        "iconUrl": identity.icon_url,
        "color": identity.color,
        "colorCode": identity.color_code,
        "cookieStoreId": identity.cookie_store_id,
        "hidden": identity.hidden,
    }


def tab_document(tab: Tab, identity: ContextualIdentity | None) -> dict[str, object]:
    """A tab as JSON shows it, in the words of the tabs API where it has them. `identity` is its name."""
    return {
        "id": tab.id,
        "identity": identity.name if identity else None,
        "cookieStoreId": tab.cookie_store_id,
        "windowId": tab.window_id,
        "index": tab.index,
        "url": tab.target or tab.url,
        "title": tab.title,
        "status": tab.status,
        "active": tab.active,
        "pinned": tab.pinned,
        "hidden": tab.hidden,
        "httpStatus": tab.http_status,
        "contentType": tab.content_type,
        "error": tab.error,
    }


def print_json(value: object, stream: TextIO) -> None:
    """One JSON document and a newline; ASCII only where the stream is not UTF-8."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    stream.write(harmless_json(text, ascii_only=not _is_utf8(stream)) + "\n")


def print_json_line(value: object, stream: TextIO) -> None:
    """One JSON document in a line of its own, for a program that reads line by line."""
    stream.write(harmless_json(msgspec.json.encode(value).decode(), ascii_only=not _is_utf8(stream)) + "\n")
    stream.flush()


def print_line(text: str, stream: TextIO) -> None:
    """One line of text, whatever is in it."""
    stream.write(visible(text, _encoding(stream)) + "\n")


def print_identities(identities: Sequence[ContextualIdentity], stream: TextIO) -> None:
    """A table of identities; columns without header or frame where no person is looking."""
    any_hidden = any(each.hidden for each in identities)
    rows = [
        (
            _Cell(each.color, color=each.color_code),
            _Cell(each.icon, glyph=_glyph(each.icon)),
            _Cell(each.name, folds=True),
            _Cell(each.cookie_store_id),
            *([_Cell("hidden" if each.hidden else "")] if any_hidden else []),
        )
        for each in identities
    ]
    _print_table(("Color", "Icon", "Name", "Id", ""), rows, stream)


def print_tabs(tabs: Sequence[tuple[Tab, ContextualIdentity | None]], stream: TextIO) -> None:
    """A table of tabs, each with its identity; those of none have the name of the default store."""
    rows = [
        (
            _Cell(str(tab.id)),
            _whose(tab, identity),
            _Cell(tab.title or tab.error, clips=True),
            _Cell(tab.target or tab.url, clips=True),
            _Cell(_state(tab)),
        )
        for tab, identity in tabs
    ]
    _print_table(("Tab", "Identity", "Title", "Address", ""), rows, stream)


def print_cookies(cookies: Sequence[Mapping[str, Any]], stream: TextIO, *, show_values: bool) -> None:
    """A table of cookies as the cookies API describes them. A value may be as good as a password."""
    rows = [
        (
            _Cell(each["domain"]),
            _Cell(each["path"]),
            _Cell(each["name"], folds=True),
            *([_Cell(each["value"], folds=True)] if show_values else []),
            _Cell(_expiry(each.get("expirationDate"))),
            _Cell(_attributes(each)),
        )
        for each in cookies
    ]
    header = ("Domain", "Path", "Name", *(("Value",) if show_values else ()), "Expires", "")
    _print_table(header, rows, stream)


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO, *, whole: str) -> None:
    """A table of words. What there is little room for folds, but not the words to be typed, below the title `whole`."""
    cells = [[_Cell(text, folds=title != whole) for title, text in zip(header, row, strict=True)] for row in rows]
    _print_table(header, cells, stream)


def print_colors(stream: TextIO) -> None:
    """A table of the palette's colors."""
    rows = [(_Cell(color, color=code), _Cell(code)) for color, code in palette.COLORS]
    _print_table(("Color", "Code"), rows, stream)


def print_icons(stream: TextIO) -> None:
    """A table of the palette's icons."""
    rows = [(_Cell(icon, glyph=_glyph(icon)), _Cell(url)) for icon, url in palette.ICONS]
    _print_table(("Icon", "Address"), rows, stream)


def say(what: str, identity: ContextualIdentity, stream: TextIO, more: str = "") -> None:
    """A sentence about an identity, such as what has just been done to it."""
    name, cookie_store_id = visible(identity.name, _encoding(stream)), identity.cookie_store_id
    if not _is_for_a_person(stream):
        stream.write(f"{what} {name} ({cookie_store_id}){more}\n")
        return
    from rich.text import Text

    console = _console(stream)
    mark = _marked(_Cell("", color=identity.color_code, glyph=_glyph(identity.icon)), console)
    console.print(
        Text.assemble(f"{what} ", mark, (name, "bold"), (f" ({cookie_store_id})", "dim"), more), soft_wrap=True
    )


def say_tab(what: str, tab: Tab, identity: ContextualIdentity | None, stream: TextIO) -> None:
    """A sentence about a tab, such as what has just become of it."""
    status = str(tab.http_status) if (tab.http_status or 0) >= _ERROR_STATUS else ""
    details = [tab.title, "" if status in tab.title else status, tab.error]
    told = f": {tab.target or tab.url}" + (f" ({', '.join(filter(None, details))})" if any(details) else "")
    whose, told = _whose(tab, identity), visible(told, _encoding(stream))
    if not _is_for_a_person(stream):
        stream.write(f"{what} tab {tab.id} in {visible(whose.text, _encoding(stream))}{told}\n")
        stream.flush()
        return
    from rich.text import Text

    console = _console(stream)
    console.print(Text.assemble(f"{what} tab {tab.id} in ", _marked(whose, console), told), soft_wrap=True)


class _Cell(msgspec.Struct, frozen=True):
    """A word of a table, and what a person may see before it: a block of color, a glyph.

    Where there is little room it folds, or it is clipped with an ellipsis; else it stays whole.
    """

    text: str
    color: str = ""
    glyph: str = ""
    folds: bool = False
    clips: bool = False


def _print_table(header: Sequence[str], rows: Sequence[Sequence[_Cell]], stream: TextIO) -> None:
    if not rows:
        return
    if _is_for_a_person(stream) and len(rows) <= _MANY:
        _print_rich(header, rows, stream)
    else:
        _print_plain(rows, stream)


def _print_plain(rows: Sequence[Sequence[_Cell]], stream: TextIO) -> None:
    from rich.cells import cell_len

    texts = [[visible(cell.text, _encoding(stream)) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True))
        stream.write("  ".join(padded).rstrip() + "\n")


def _print_rich(header: Sequence[str], rows: Sequence[Sequence[_Cell]], stream: TextIO) -> None:
    from rich import box
    from rich.table import Table

    console = _console(stream)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title, cell in zip(header, rows[0], strict=False):
        table.add_column(title, no_wrap=not (cell.folds or cell.clips), overflow="fold" if cell.folds else "ellipsis")
    for row in rows:
        table.add_row(*(_marked(cell, console) for cell in row))
    console.print(table)


def _marked(cell: _Cell, console: Console) -> Text:
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ellipsis") if cell.clips else Text()
    if cell.color and console.color_system and not console.no_color:
        text.append("  ", f"on {cell.color}").append(" ")
    if cell.glyph and _can_show(cell.glyph, console.encoding):
        text.append(f"{cell.glyph} ")
    return text.append(visible(cell.text, console.encoding))


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def _whose(tab: Tab, identity: ContextualIdentity | None) -> _Cell:
    if identity is None:
        return _Cell(tab.cookie_store_id)
    return _Cell(identity.name, color=identity.color_code, glyph=_glyph(identity.icon))


def _state(tab: Tab) -> str:
    words = {
        "active": tab.active,
        "pinned": tab.pinned,
        "hidden": tab.hidden,
        "loading": tab.loading,
        "error": bool(tab.error) and not tab.loading,
    }
    return " ".join(word for word, applies in words.items() if applies)


def _expiry(seconds: float | None) -> str:
    if seconds is None:
        return "session"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return "later"


def _attributes(cookie: Mapping[str, Any]) -> str:
    same_site, partition = cookie["sameSite"], cookie["partitionKey"]
    words = (
        "secure" if cookie["secure"] else "",
        "http-only" if cookie["httpOnly"] else "",
        "" if same_site == "unspecified" else f"same-site={same_site}",
        f"partition={partition['topLevelSite']}" if partition else "",
    )
    return " ".join(filter(None, words))


def _glyph(icon: str) -> str:
    return _GLYPHS.get(icon, _NEUTRAL_GLYPH)


def _is_for_a_person(stream: TextIO) -> bool:
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def _encoding(stream: TextIO) -> str:
    return stream.encoding or "utf-8"


def _is_utf8(stream: TextIO) -> bool:
    return codecs.lookup(_encoding(stream)).name == "utf-8"


def _can_show(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
