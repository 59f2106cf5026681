"""A profile as a person might have it: nine identities with tabs, cookies, rules, extensions and a trash."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from hatbox import Profile
from hatbox.cookies.cookie import Cookie, SameSite
from hatbox.extensions.extension import Extension
from hatbox.identity.palette import Color, Icon
from hatbox.store.base import Transaction
from hatbox.tabs.pages import PageState, navigation_started, update_page

__all__ = ["fill", "show_as_loaded", "start_extension"]

_EXAMPLES: Final = Path(__file__).parents[2] / "examples"
_DAY: Final = 86_400.0


class _Site(NamedTuple):
    host: str
    days: float
    """Since when it is signed in, in days; 0 if it has cookies only."""
    used: float
    """When it was last used, in days."""


class _Sample(NamedTuple):
    name: str
    color: Color
    icon: Icon
    tabs: list[tuple[str, str]]
    """Titles and addresses."""
    sites: list[_Site]


_SAMPLES: Final = [
    _Sample(
        "Personal",
        "blue",
        "fingerprint",
        [
            ("Inbox (3)", "https://mail.example/inbox"),
            ("Front page", "https://news.example/"),
            ("Watch later: 12 videos", "https://video.example/list/later"),
            ("Photos from the lake, shared album", "https://mail.example/albums/lake"),
            ("Pull request #41: fix time zones", "https://forge.example/me/dotfiles/pull/41"),
        ],
        [
            _Site("mail.example", 280, 0.001),
            _Site("forge.example", 278, 1),
            _Site("video.example", 230, 0.05),
            _Site("news.example", 0, 0.003),
        ],
    ),
    _Sample(
        "Work",
        "orange",
        "briefcase",
        [
            ("Team inbox", "https://mail.example/team/inbox"),
            ("acme/platform: issues", "https://forge.example/acme/platform/issues"),
            ("Release checklist 4.2", "https://docs.example/d/release-4-2"),
            ("On call: week 46", "https://tickets.example/ops/calendar"),
            ("#incidents", "https://chat.example/acme/incidents"),
            ("TCK-1184 Sign-in loop on staging", "https://tickets.example/ops/TCK-1184"),
            ("acme/platform: pull request #902", "https://forge.example/acme/platform/pull/902"),
        ],
        [
            _Site("forge.example", 279, 0.002),
            _Site("mail.example", 279, 0.001),
            _Site("docs.example", 275, 0.006),
            _Site("chat.example", 275, 0.001),
            _Site("tickets.example", 45, 0.014),
        ],
    ),
    _Sample(
        "Banking",
        "green",
        "dollar",
        [("Accounts overview", "https://bank.example/accounts")],
        [_Site("bank.example", 3, 1), _Site("ledger.example", 75, 3)],
    ),
    _Sample(
        "Shopping",
        "pink",
        "cart",
        [
            ("Basket (2 items)", "https://shop.example/basket"),
            ("Order 77-1032: on its way", "https://shop.example/orders/77-1032"),
            ("Walking boots, size 43", "https://shop.example/p/boots-43"),
        ],
        [_Site("shop.example", 270, 0.02), _Site("news.example", 0, 14)],
    ),
    _Sample(
        "Lumen Studio",
        "violet",
        "chill",
        [
            ("lumen/site: board", "https://forge.example/lumen/site/board"),
            ("Brand guidelines", "https://docs.example/lumen/brand"),
            ("#website", "https://chat.example/lumen/website"),
        ],
        [
            _Site("forge.example", 180, 0.01),
            _Site("docs.example", 180, 0.04),
            _Site("chat.example", 179, 0.001),
        ],
    ),
    _Sample(
        "Travel",
        "cyan",
        "vacation",
        [
            ("Berlin to Vienna, 21 Nov", "https://rail.example/trip/8841"),
            ("Your stay in Vienna", "https://stay.example/booking/55-1"),
        ],
        [_Site("rail.example", 166, 0.13), _Site("stay.example", 166, 0.13)],
    ),
    _Sample(
        "Family",
        "purple",
        "gift",
        [("Calendar: swimming, 16:00", "https://mail.example/family/calendar")],
        [_Site("mail.example", 127, 0.2), _Site("shop.example", 113, 6)],
    ),
    _Sample(
        "Side project",
        "yellow",
        "fruit",
        [("Deploys", "https://forge.example/side/app/deploys")],
        [_Site("forge.example", 77, 0.04)],
    ),
    _Sample(
        "Test buyer",
        "gray",
        "fence",
        [
            ("Checkout, step 2 of 3", "https://shop.example/checkout"),
            ("Test cards", "https://docs.example/test-cards"),
        ],
        [_Site("shop.example", 12, 12)],
    ),
]

_RULES: Final = [
    ("*.forge.example", ["Work"]),
    ("forge.example/lumen/*", ["Lumen Studio"]),
    ("forge.example/side/*", ["Side project"]),
    ("docs.example/lumen/*", ["Lumen Studio"]),
    ("chat.example/lumen/*", ["Lumen Studio"]),
    ("*.tickets.example", ["Work"]),
    ("bank.example", ["Banking"]),
    ("*.ledger.example", ["Banking"]),
    ("shop.example", ["Shopping", "Family"]),
    ("rail.example", ["Travel"]),
    ("stay.example", ["Travel"]),
]
_PINNED: Final = ("Inbox (3)", "Team inbox")
_MINUTES: Final = (1, 4, 12, 35, 90, 170, 400, 1_500, 4_400)  # since tabs were used, in turn
_REMOVED: Final = [
    _Sample(
        "Old agency",
        "red",
        "tree",
        [("Invoices", "https://docs.example/agency/invoices"), ("#general", "https://chat.example/agency")],
        [_Site("docs.example", 200, 9), _Site("chat.example", 190, 9), _Site("forge.example", 0, 20)],
    ),
    _Sample(
        "Conference 2026",
        "yellow",
        "food",
        [("Schedule", "https://news.example/conference")],
        [_Site("news.example", 30, 12)],
    ),
    _Sample("Trial account", "gray", "circle", [], [_Site("video.example", 8, 8)]),
]
_STARTED: Final = "container-switcher"


async def fill(profile: Profile) -> None:
    """Replace the identities of a new profile by the sample."""
    for identity in await profile.identities.query():
        await profile.identities.remove(identity, forever=True)
    for sample in _SAMPLES:
        await _create(profile, sample)
    for pattern, names in _RULES:
        await profile.rules.add(pattern, names, ask=len(names) > 1)
    await profile.identities.hide("Test buyer")
    await profile.identities.set_settings(
        "Lumen Studio", proxy="socks5://127.0.0.1:9050", locale="de-DE", timezone="Europe/Berlin"
    )
    await profile.browser(["hatbox"]).hatbox.archives.backup({"name": "before-the-trip"})
    for sample in _REMOVED:
        await _create(profile, sample)
        await profile.identities.remove(sample.name)
    for folder in ("container-switcher", "site-assignment", "temporary-containers"):
        await profile.extensions.install(_EXAMPLES / folder)


async def start_extension(profile: Profile) -> Extension:
    """Run one of the extensions: its button has a badge."""
    extension = await profile.extensions.start(await profile.extensions.package(f"{_STARTED}@hatbox.example"))
    await extension.evaluate('console.log("ready, 9 containers"); console.log("Team inbox is in Work");')
    tab = (await profile.tabs.query("Work"))[1]
    await profile.browser(["tabs"]).windows.update(tab.window_id, {"focused": True})
    await profile.tabs.activate(tab.id)
    return extension


async def show_as_loaded(profile: Profile, name: str) -> None:
    """Record the pages of an identity again, after a browser could not load them: the sites do not exist."""
    titles = {url: title for sample in _SAMPLES for title, url in sample.tabs}
    for tab in await profile.tabs.query(name):
        if tab.url in titles:
            page = PageState(tab.url, titles[tab.url])
            await profile.store.write(partial(_load, tab_id=tab.id, page=page))


async def _create(profile: Profile, sample: _Sample) -> None:
    await profile.identities.create(sample.name, color=sample.color, icon=sample.icon)
    store = await profile.cookie_store(sample.name)
    await store.put(cookie for site in sample.sites for cookie in _cookies(site))
    for title, url in sample.tabs:
        tab = await profile.tabs.open(sample.name, url, active=False)
        await profile.store.write(partial(_load, tab_id=tab.id, page=PageState(url, title)))
        if title in _PINNED:
            await profile.browser(["tabs"]).tabs.update(tab.id, {"pinned": True})
    used = time.time() - len(sample.name) * 30
    tabs = [tab.id for tab in await profile.tabs.query(sample.name)]
    await profile.store.write(partial(_use, tabs=tabs, now=used))


def _use(transaction: Transaction, tabs: Sequence[int], now: float) -> None:
    """Record when tabs were last used: the first ones last."""
    for tab_id, minutes in zip(tabs, _MINUTES, strict=False):
        transaction.tabs.update(tab_id, last_accessed=now - minutes * 60)


def _load(transaction: Transaction, tab_id: int, page: PageState) -> None:
    """Record a page as an engine does that has loaded it."""
    row = transaction.tabs.get(tab_id)
    if row is not None:
        navigation_started(transaction, tab_id, row.navigation)
        update_page(transaction, tab_id, row.navigation, page)


def _cookies(site: _Site) -> list[Cookie]:
    now = time.time()
    created, used = now - max(site.days, site.used) * _DAY, now - site.used * _DAY

    def cookie(name: str, value: str, days: float | None, *, http_only: bool) -> Cookie:
        return Cookie(
            name=name,
            value=value,
            domain=site.host,
            secure=True,
            http_only=http_only,
            same_site=SameSite.LAX,
            expires=None if days is None else now + days * _DAY,
            sequence=int(created * 1_000_000) + len(name),
            created=created,
            last_access=used,
        )

    usual = [cookie("lang", "en", 330, http_only=False), cookie("theme", "auto", None, http_only=False)]
    signed_in = [cookie("session", "b9e07755aa12c0", 29, http_only=True)] if site.days else []
    return [*signed_in, *usual]
