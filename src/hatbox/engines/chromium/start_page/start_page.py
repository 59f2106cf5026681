"""The start page of one page of the browser: draws what has changed, and does what the user requests in it.

The script in the page reports kinds and keys. A key counts only if the page was given it: a tab of its own identity, or
the action of a running extension.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_sites import CookieSite, cookie_sites
from hatbox.engines.chromium.browser_environment import ProfileServices
from hatbox.engines.chromium.debounce import Debouncer, log_exceptions
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.start_page.page_content import read_content
from hatbox.engines.chromium.start_page.typed_verdict import address_error, typed_verdict
from hatbox.errors import HatboxError
from hatbox.identity.glyphs import glyph
from hatbox.identity.ids import user_context_id_of
from hatbox.store.base import Transaction
from hatbox.tabs.pages import navigate
from hatbox.tabs.tab_model import Tab
from hatbox.tabs.tab_updates import row_of
from hatbox.tabs.visibility import show_and_activate
from hatbox.tasks import Tasks
from hatbox.urls.typed_address import parse_typed_address

__all__ = [
    "MAX_ADDRESS",
    "ChosenTab",
    "StartPage",
    "TypedAddress",
    "decode_message",
    "navigate_blank",
    "page_source",
    "signed_in_sites",
]

_WORLD: Final = "hatbox"  # that of page_observer.js, whose indicator the page replaces
_BINDING: Final = "hatboxStart"
_GLOBAL: Final = "hatboxStartPage"
_DELAY: Final = 0.05  # seconds in which changes are collected
_encode = msgspec.json.encode
_SCRIPT_FILES: Final = ("elements.js", "sections.js", "address.js", "page.js")
_GLYPHS: Final = {"CHECK": "ui-check", "CROSS": "ui-x", "PIN": "ui-pin", "WARN": "ui-warn"}
_MAX_SITES: Final = 20
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

MAX_ADDRESS: Final = 2048
"""Characters of a typed address."""


class StartPage:
    """Shown in the blank document of a tab until another document replaces it. Then `on_ended` is called."""

    def __init__(
        self, page: LivePage, tab: Tab, services: ProfileServices, tasks: Tasks, on_ended: Callable[[StartPage], None]
    ) -> None:
        self.cookie_store_id = tab.cookie_store_id
        self.target_id = page.target_id
        self._page = page
        self._tab_id = tab.id
        self._services = services
        self._tasks = tasks
        self._on_ended = on_ended
        self._context_id: int | None = None
        self._is_visible = True
        self._drawn: dict[str, Any] = {}
        self._sites: dict[str, Any] = signed_in_sites([], 0)
        self._are_cookies_outdated = True
        self._rule_changes = 0
        self._redraw = Debouncer(self._draw, _DELAY)
        page.session.on("Runtime.bindingCalled", log_exceptions(self._on_binding_called))
        page.session.on("Page.frameNavigated", log_exceptions(self._on_navigated))
        page.page.on("close", log_exceptions(lambda _: self.end()))

    async def show(self) -> None:
        """Create the page in the current document."""
        session, frame_id = self._page.session, self._page.target_id
        with contextlib.suppress(PlaywrightError, HatboxError):  # closed, or a navigation has started
            parts, _, world = await asyncio.gather(
                self._parts(),
                session.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD}),
                session.send("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": _WORLD}),
            )
            self._context_id = world["executionContextId"]
            self._drawn = parts
            create = f"globalThis.{_GLOBAL} = {page_source()}(globalThis.{_BINDING}); "
            await self._evaluate(f"{create}{_GLOBAL}.draw({_encode(parts).decode()});")

    def changed(self) -> None:
        """What the page shows may have changed: draw it soon, or when the user sees the page again."""
        if self._is_visible:
            self._redraw.schedule()

    def rules_changed(self) -> None:
        """The typed address may open in another identity now."""
        self._rule_changes += 1
        self.changed()

    def cookies_changed(self) -> None:
        """The identity may be signed in to other sites now."""
        self._are_cookies_outdated = True
        self.changed()

    def end(self) -> None:
        """Another document is shown, or the page is closed."""
        self._redraw.cancel()
        self._context_id = None
        self._on_ended(self)

    async def _parts(self) -> dict[str, Any]:
        """All parts of the page, by the name that page.js has for them."""
        tab_id, store_id = self._tab_id, self.cookie_store_id
        content = await self._services.store.read(lambda each: read_content(each, store_id, tab_id))
        buttons = [] if self._services.buttons is None else await self._services.buttons.buttons(tab_id)
        drawn = [
            {
                "key": each.extension,
                "title": each.title,
                "badge": each.badge,
                "badgeColor": each.badge_color,
                "icon": each.icon,
                "isEnabled": each.is_enabled,
            }
            for each in buttons
        ]
        others = {"signedIn": await self._signed_in(), "buttons": drawn, "verdict": self._rule_changes}
        return msgspec.structs.asdict(content) | others

    async def _signed_in(self) -> dict[str, Any]:
        """Read again only after a change: a store can have thousands of cookies."""
        if self._are_cookies_outdated:
            self._are_cookies_outdated = False  # a change from now on is read again
            number, now = user_context_id_of(self.cookie_store_id) or 0, self._services.store.time()
            self._sites = await self._services.store.read(lambda each: _read_sites(each, number, now))
        return self._sites

    async def _draw(self) -> None:
        with contextlib.suppress(HatboxError):  # the tab or its identity was removed
            parts = await self._parts()
            changed = {name: part for name, part in parts.items() if part != self._drawn.get(name)}
            self._drawn = parts
            if changed:
                await self._call("draw", changed)

    async def _call(self, function: str, argument: object) -> None:
        with contextlib.suppress(PlaywrightError):
            await self._evaluate(f"{_GLOBAL}.{function}({_encode(argument).decode()})")

    async def _evaluate(self, expression: str) -> None:
        if self._context_id is not None:
            params = {"expression": expression, "contextId": self._context_id}
            await self._page.session.send("Runtime.evaluate", params)

    def _on_navigated(self, event: dict[str, Any]) -> None:
        if not event["frame"].get("parentId"):
            self.end()

    def _on_binding_called(self, event: dict[str, Any]) -> None:
        if event["name"] != _BINDING or self._context_id is None or event["executionContextId"] != self._context_id:
            return
        match decode_message(event["payload"]):
            case _Visibility(visible=visible):
                self._set_visible(visible)
            case _ClickedButton(key=key):
                self._tasks.spawn(self._click(key))
            case ChosenTab(key=key):
                self._tasks.spawn(self._activate(key))
            case TypedAddress(number=number, text=text, is_entered=is_entered):
                self._tasks.spawn(self._navigate(number, text) if is_entered else self._test(number, text))

    def _set_visible(self, visible: bool) -> None:
        self._is_visible = visible
        if visible:  # also if no change was recorded: a process on another machine may have ended
            self._redraw.schedule()

    # ----------------------------------------------------------------------------------------- requests of the user

    async def _click(self, extension: str) -> None:
        if self._services.buttons is not None and any(each["key"] == extension for each in self._drawn["buttons"]):
            await self._services.buttons.click(extension, self._tab_id)
            await self._draw()

    async def _activate(self, tab_id: int) -> None:
        if not any(each["key"] == tab_id for each in self._drawn["tabs"]["shown"]):
            return
        with contextlib.suppress(HatboxError):  # closed meanwhile
            await self._services.store.write(lambda each: show_and_activate(each, row_of(each, tab_id)))

    async def _test(self, number: int, text: str) -> None:
        verdict = await typed_verdict(self._services.store, self._services.rules, self.cookie_store_id, text)
        await self._call("show", verdict | {"number": number})

    async def _navigate(self, number: int, text: str) -> None:
        if error := address_error(text):
            await self._call("show", {"number": number, "error": error})
            return
        url = parse_typed_address(text)
        with contextlib.suppress(HatboxError):  # the tab was closed
            await self._services.store.write(lambda each: navigate_blank(each, self._tab_id, url))


def _read_sites(transaction: Transaction, user_context_id: int, now: float) -> dict[str, Any]:
    """The same sites as on the card of the identity. No value of a cookie is read."""
    time = cookie_time(transaction, now)
    sites = cookie_sites(transaction.cookies.metadata([user_context_id]), time)
    return signed_in_sites(sites.get(user_context_id, ()), time)


def navigate_blank(transaction: Transaction, tab_id: int, url: str) -> None:
    """Navigate a blank tab. Rules apply, as to an address in the address bar: the URL is not that of a new tab."""
    if row_of(transaction, tab_id).navigation == 0:
        transaction.tabs.update(tab_id, navigation=1, begun=1, loaded=1)
    navigate(transaction, tab_id, url)


@cache
def page_source() -> str:
    """A JavaScript function expression: it takes the function that sends messages, and creates the start page."""
    folder = files(__package__)
    constants: dict[str, object] = {"CSS_TEXT": folder.joinpath("style.css").read_text("utf-8")}
    constants |= {name: glyph(symbol) for name, symbol in _GLYPHS.items()}
    parts = [f"const {name} = {json.dumps(value)};\n" for name, value in constants.items()]
    parts += [folder.joinpath(name).read_text("utf-8") for name in _SCRIPT_FILES]
    return f'(post => {{\n"use strict";\n{"".join(parts)}\nreturn createPage(post);\n}})'


def signed_in_sites(sites: Iterable[CookieSite], now: float) -> dict[str, Any]:
    """The part of the page: a summary, the first sites by name with the date, and how many more exist."""
    found = sorted((site.host, site.signed_in_since) for site in sites if site.signed_in_since is not None)
    rows = [{"host": host, "since": f"since {_date(created, now)}"} for host, created in found[:_MAX_SITES]]
    return {"line": _summary(len(found)), "shown": rows, "more": len(found) - len(rows)}


def _summary(count: int) -> str:
    if not count:
        return "Signed in nowhere."
    return f"Signed in on {count:,} {'site' if count == 1 else 'sites'}."


def _date(time: float, now: float) -> str:
    """`5 Feb`, with the year if it is not the current one. In the time zone of this machine."""
    date, today = datetime.fromtimestamp(time).astimezone(), datetime.fromtimestamp(now).astimezone()
    year = "" if date.year == today.year else f" {date.year}"
    return f"{date.day} {_MONTHS[date.month - 1]}{year}"


class _Visibility(msgspec.Struct, frozen=True, tag="visibility", tag_field="kind"):
    """Whether the user sees the page now."""

    visible: bool


class _ClickedButton(msgspec.Struct, frozen=True, tag="click", tag_field="kind"):
    """The user has clicked the action of an extension."""

    key: str


class ChosenTab(msgspec.Struct, frozen=True, tag="activate", tag_field="kind"):
    """The user has clicked a tab."""

    key: int


class TypedAddress(msgspec.Struct, frozen=True, tag="address", tag_field="kind", rename="camel"):
    """The text of the address field. `number` identifies the answer."""

    number: int
    text: Annotated[str, msgspec.Meta(max_length=MAX_ADDRESS)]
    is_entered: bool
    """Whether the user has pressed Enter."""


_StartPageMessage: TypeAlias = _Visibility | _ClickedButton | ChosenTab | TypedAddress

_decoder: msgspec.json.Decoder[_StartPageMessage] = msgspec.json.Decoder(_StartPageMessage)


def decode_message(payload: str) -> _StartPageMessage:
    """Decode a message. Raises msgspec.ValidationError."""
    return _decoder.decode(payload)
