"""A real Firefox on the other side: what it has made is imported while it runs, and it opens what was exported."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import FirefoxProfileLocked
from hatbox.formats import Bundle, BundleEntry, IdentityAttributes
from hatbox.formats.firefox_profile import read_folder, write_folder
from tests.firefox import Firefox, find_firefox
from tests.marks import starts
from tests.waiting import block_until

PERMISSIONS = ["contextualIdentities", "cookies", "tabs", "https://127.0.0.1/*"]
SECONDS = 20

MAKE = """
const url = "http://127.0.0.1/";
const gifts = await browser.contextualIdentities.create({name: "Gifts", icon: "gift", color: "red"});
const expirationDate = Math.floor(Date.now() / 1000) + 1000;
for (const storeId of ["firefox-default", "firefox-container-2", gifts.cookieStoreId]) {
  await browser.cookies.set({url, storeId, name: "who", value: storeId, expirationDate, httpOnly: true});
}
await browser.cookies.set({url, storeId: gifts.cookieStoreId, name: "session", value: "1"});
await browser.cookies.set({url, storeId: gifts.cookieStoreId, name: "strict", value: "\u00fc", sameSite: "strict",
                           path: "/x", expirationDate});
const partitionKey = {topLevelSite: "https://top.example"};
await browser.cookies.set({url: "https://127.0.0.1/", name: "part", value: "1", storeId: "firefox-container-3",
                           partitionKey, secure: true, sameSite: "no_restriction", expirationDate});
return gifts.cookieStoreId;
"""

VISIT = """
const identities = await browser.contextualIdentities.query({});
const ids = Object.fromEntries(identities.map(each => [each.name, each.cookieStoreId]));
for (const name of ["Gifts", "Work", "Personal"]) {
  await browser.tabs.create({url: "@URL@" + name, cookieStoreId: ids[name]});
}
await browser.tabs.create({url: "@URL@none"});
await host("visited");
const cookies = await browser.cookies.getAll({storeId: ids.Gifts, partitionKey: {}});
return {ids, cookies};
"""


@pytest.fixture
@starts("browser")
def firefox() -> str:
    binary = find_firefox()
    if binary is None:
        missing = "no Firefox is installed: `firefox-esr` or `firefox` on the path, or $FIREFOX"
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            pytest.fail(missing)
        pytest.skip(missing)
    return binary


class Site:
    """Notes the cookies that come with each path."""

    def __init__(self, expected: int) -> None:
        self.seen: dict[str, str | None] = {}
        self._expected = expected
        self._complete = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.note(self.path, self.headers["Cookie"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/x/"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def note(self, path: str, cookies: str | None) -> None:
        if path != "/favicon.ico":
            self.seen[path.removeprefix("/x/")] = cookies
        if len(self.seen) == self._expected:
            self._complete.set()

    def wait(self, _: Any) -> None:
        assert self._complete.wait(SECONDS), self.seen

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    opened = Site(expected=4)
    yield opened
    opened.close()


def settled(folder: Path) -> Bundle:
    """What Firefox has written, when it has written all: the list of containers comes 1.5 s after the last change."""
    bundle = Bundle([])

    def is_written() -> bool:
        nonlocal bundle
        bundle = read_folder(folder) if (folder / "containers.json").exists() else bundle
        return bundle.count == 5

    block_until(is_written, "Firefox writes its cookies")
    return bundle


async def contents(path: Path, bundle: Bundle) -> dict[str, list[Cookie]]:
    async with hatbox.open(path) as profile:
        first = await profile.import_bundle(bundle)
        second = await profile.import_bundle(bundle)
        assert (first.cookies_new, second.cookies_new, second.cookies_changed) == (5, 0, 0)
        assert (first.identities_new, second.identities_new) == (1, 0)
        taken = await profile.export_bundle()
    return {each.label.name if each.label else "": each.cookies for each in taken.entries}


def test_a_profile_is_imported_while_firefox_runs_and_is_not_written_to(firefox: str, tmp_path: Path) -> None:
    with Firefox(firefox) as browser:
        gifts = browser.run(MAKE, permissions=PERMISSIONS)
        bundle = settled(browser.profile)
        with pytest.raises(FirefoxProfileLocked):
            write_folder(bundle, browser.profile)
    found = asyncio.run(contents(tmp_path / "profile.db", bundle))
    assert {name: [each.pair for each in cookies] for name, cookies in found.items()} == {
        "": ["who=firefox-default"],
        "Personal": [],
        "Work": ["who=firefox-container-2"],
        "Banking": ["part=1"],
        "Shopping": [],
        "Gifts": [f"who={gifts}", "strict=\xc3\xbc"],
    }
    who, strict = found["Gifts"]
    assert (who.domain, who.host_only, who.http_only, who.same_site) == ("127.0.0.1", True, True, SameSite.UNSPECIFIED)
    assert (strict.path, strict.same_site) == ("/x", SameSite.STRICT)
    assert found["Banking"][0].partition == Partition("https://top.example", cross_site_ancestor=True)
    assert 900 < (who.expires or 0) - time.time() <= 1000


def test_firefox_opens_what_was_exported_and_sends_the_cookies_in_their_containers(
    firefox: str, tmp_path: Path, site: Site
) -> None:
    def cookie(value: str, **more: Any) -> Cookie:
        return Cookie(name="who", value=value, domain="127.0.0.1", expires=time.time() + 1000, **more)

    partition = Partition("https://top.example", cross_site_ancestor=True)
    gifts = [
        cookie("gifts", http_only=True),
        cookie("deep", path="/x", same_site=SameSite.STRICT),
        cookie("part", secure=True, same_site=SameSite.NONE, partition=partition),
    ]
    holdings = [
        BundleEntry(None, [cookie("none")]),
        BundleEntry(IdentityAttributes("Personal", "fingerprint", "blue")),
        BundleEntry(IdentityAttributes("Work", "briefcase", "orange"), [cookie("work \xc3\xbc")]),
        BundleEntry(IdentityAttributes("Gifts", "gift", "red"), gifts),
    ]

    async def exported() -> Bundle:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            await profile.import_bundle(Bundle(holdings))
            return await profile.export_bundle()

    folder = tmp_path / "firefox"
    write_folder(asyncio.run(exported()), folder)
    with Firefox(firefox, profile=folder) as browser:
        body = VISIT.replace("@URL@", site.url)
        answer = browser.run(body, permissions=PERMISSIONS, host={"visited": site.wait})
    assert site.seen == {
        "Gifts": "who=deep; who=gifts",
        "Work": "who=work \xc3\xbc",
        "Personal": None,
        "none": "who=none",
    }
    assert answer["ids"] == {
        "Personal": "firefox-container-1",
        "Work": "firefox-container-2",
        "Banking": "firefox-container-3",
        "Shopping": "firefox-container-4",
        "Gifts": "firefox-container-6",
    }
    found = {each["value"]: (each["sameSite"], each["partitionKey"]) for each in answer["cookies"]}
    assert found["gifts"] == ("unspecified", None)
    assert found["deep"] == ("strict", None)
    assert found["part"][0] == "no_restriction"
    assert found["part"][1] == {"topLevelSite": "https://top.example", "hasCrossSiteAncestor": True}
