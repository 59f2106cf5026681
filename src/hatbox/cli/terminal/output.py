"""Output: tables and sentences for terminals, plain columns for pipes, JSON for programs.

Text from users is never parsed as Rich markup, and always escaped with `visible`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import msgspec

from hatbox.cli.terminal.proposed_commands import with_profile
from hatbox.cli.terminal.table import Cell, console_of, encoding_of, is_interactive, print_table, styled
from hatbox.cli.terminal.terminal_text import harmless_json, visible
from hatbox.identity import palette
from hatbox.identity.model import ContextualIdentity
from hatbox.tabs import Tab

__all__ = [
    "document",
    "print_colors",
    "print_cookies",
    "print_icons",
    "print_identities",
    "print_identity",
    "print_json",
    "print_json_line",
    "print_line",
    "print_rows",
    "print_tab",
    "print_tabs",
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

_MIN_ERROR_STATUS: Final = 400


def document(identity: ContextualIdentity) -> dict[str, object]:
    """An identity as JSON. Programs rely on these names and on their order."""
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
    """A tab as JSON, with the names of the tabs API where it has them."""
    return {
        "id": tab.id,
        "identity": identity.name if identity else None,
        "cookieStoreId": tab.cookie_store_id,
        "windowId": tab.window_id,
        "index": tab.index,
        "url": tab.pending_url or tab.url,
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
    """Print a JSON document; ASCII only if the stream is not UTF-8."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    stream.write(harmless_json(text, ascii_only=not _is_utf8(stream)) + "\n")


def print_json_line(value: object, stream: TextIO) -> None:
    """Print a JSON document on one line, and flush."""
    stream.write(harmless_json(msgspec.json.encode(value).decode(), ascii_only=not _is_utf8(stream)) + "\n")
    stream.flush()


def print_line(text: str, stream: TextIO) -> None:
    """Print one line of text, with control characters escaped. Commands in it name the profile, if one is given."""
    stream.write(visible(with_profile(text), encoding_of(stream)) + "\n")


def print_identities(identities: Sequence[ContextualIdentity], stream: TextIO, *, empty: str = "") -> None:
    """Print a table of identities."""
    any_hidden = any(each.hidden for each in identities)
    rows = [
        (
            Cell(each.color, color=each.color_code),
            Cell(each.icon, glyph=_glyph(each.icon)),
            Cell(each.name, wraps=True),
            Cell(each.cookie_store_id),
            *([Cell("hidden" if each.hidden else "")] if any_hidden else []),
        )
        for each in identities
    ]
    narrow = [row for each in identities for row in _narrow_rows(each)]
    print_table(("Color", "Icon", "Name", "Id", ""), rows, stream, narrow=(("Name", "Id"), narrow), empty=empty)


def print_tabs(tabs: Sequence[tuple[Tab, ContextualIdentity | None]], stream: TextIO) -> None:
    """Print a table of tabs with their identities."""
    rows = [
        (
            Cell(str(tab.id)),
            _identity_cell(tab, identity),
            Cell(tab.title or tab.error, clips=True),
            Cell(tab.pending_url or tab.url, clips=True),
            Cell(_state(tab)),
        )
        for tab, identity in tabs
    ]
    print_table(("Tab", "Identity", "Title", "URL", ""), rows, stream, empty="No tabs.")


def print_cookies(cookies: Sequence[Mapping[str, Any]], stream: TextIO, *, show_values: bool) -> None:
    """Print a table of cookies, as the cookies API returns them. A value can be as sensitive as a password."""
    rows = [
        (
            Cell(each["domain"]),
            Cell(each["path"], wraps=True),
            Cell(each["name"], wraps=True),
            *([Cell(each["value"], wraps=True)] if show_values else []),
            Cell(_expiry(each.get("expirationDate"))),
            Cell(_attributes(each), wraps=True),
        )
        for each in cookies
    ]
    header = ("Domain", "Path", "Name", *(("Value",) if show_values else ()), "Expires", "")
    print_table(header, rows, stream, empty="No cookies.")


def print_rows(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    stream: TextIO,
    *,
    unwrapped: str,
    narrow: Sequence[str] = (),
    empty: str = "",
) -> None:
    """Print a table of text. Columns wrap if there is not enough room, except the column `unwrapped`.

    `narrow` are the titles of the columns that a narrow terminal shows. Default: all. `empty` is for no rows.
    """
    cells = [[Cell(text, wraps=title != unwrapped) for title, text in zip(header, row, strict=True)] for row in rows]
    places = [header.index(title) for title in narrow]
    fewer = (narrow, [[row[place] for place in places] for row in cells]) if narrow else None
    print_table(header, cells, stream, narrow=fewer, empty=empty)


def print_colors(stream: TextIO) -> None:
    """Print a table of colors."""
    rows = [(Cell(color, color=code), Cell(code)) for color, code in palette.COLORS]
    print_table(("Color", "Code"), rows, stream)


def print_icons(stream: TextIO) -> None:
    """Print a table of icons."""
    rows = [(Cell(icon, glyph=_glyph(icon)), Cell(url)) for icon, url in palette.ICONS]
    print_table(("Icon", "URL"), rows, stream)


def print_identity(what: str, identity: ContextualIdentity, stream: TextIO, more: str = "") -> None:
    """Print a sentence about an identity, such as "Created Work (firefox-container-2)"."""
    name, cookie_store_id = visible(identity.name, encoding_of(stream)), identity.cookie_store_id
    if not is_interactive(stream):
        stream.write(f"{what} {name} ({cookie_store_id}){more}\n")
        return
    from rich.text import Text

    console = console_of(stream)
    mark = styled(Cell("", color=identity.color_code, glyph=_glyph(identity.icon)), console)
    console.print(
        Text.assemble(f"{what} ", mark, (name, "bold"), (f" ({cookie_store_id})", "dim"), more), soft_wrap=True
    )


def print_tab(what: str, tab: Tab, identity: ContextualIdentity | None, stream: TextIO) -> None:
    """Print a sentence about a tab, such as "Opened tab 3 in Work: https://site.example/"."""
    status = str(tab.http_status) if (tab.http_status or 0) >= _MIN_ERROR_STATUS else ""
    details = [tab.title, "" if status in tab.title else status, tab.error]
    page = f": {tab.pending_url or tab.url}" + (f" ({', '.join(filter(None, details))})" if any(details) else "")
    cell, page = _identity_cell(tab, identity), visible(page, encoding_of(stream))
    if not is_interactive(stream):
        stream.write(f"{what} tab {tab.id} in {visible(cell.text, encoding_of(stream))}{page}\n")
        stream.flush()
        return
    from rich.text import Text

    console = console_of(stream)
    console.print(Text.assemble(f"{what} tab {tab.id} in ", styled(cell, console), page), soft_wrap=True)


def _narrow_rows(identity: ContextualIdentity) -> Sequence[tuple[Cell, Cell]]:
    """An identity in two columns: its name and id, and below them what does not fit beside them."""
    details = f"{identity.color} {identity.icon}" + (" hidden" if identity.hidden else "")
    name = Cell(identity.name, color=identity.color_code, glyph=_glyph(identity.icon), wraps=True)
    return [(name, Cell(identity.cookie_store_id)), (Cell(details, wraps=True), Cell(""))]


def _identity_cell(tab: Tab, identity: ContextualIdentity | None) -> Cell:
    if identity is None:
        return Cell(tab.cookie_store_id)
    return Cell(identity.name, color=identity.color_code, glyph=_glyph(identity.icon))


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


def _is_utf8(stream: TextIO) -> bool:
    return codecs.lookup(encoding_of(stream)).name == "utf-8"
