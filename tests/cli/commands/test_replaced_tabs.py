"""`hatbox open` while an extension assigns sites to identities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands.run.test_extension_runner import extension_in, lines_until, running
from tests.cli.conftest import Cli
from tests.site import Site

pytestmark = pytest.mark.process

PERMISSIONS = ["tabs", "cookies", "contextualIdentities", "webRequest", "webRequestBlocking", "<all_urls>"]
# %s is what it does with the tab `old` and the options of the new one.
ASSIGN = """
browser.webRequest.onBeforeRequest.addListener(async ({ tabId, url, cookieStoreId }) => {
  if (cookieStoreId === "firefox-container-1" || !/[?]assigned=1/.test(url)) return {};
  const old = await browser.tabs.get(tabId);
  const options = { url, cookieStoreId: "firefox-container-1", windowId: old.windowId, index: old.index + 1 };
  %s
  return { cancel: true };
}, { urls: ["<all_urls>"], types: ["main_frame"] }, ["blocking"]);
"""
ORDERS = {
    "the new tab comes first": "await browser.tabs.create(options); await browser.tabs.remove(tabId);",
    "the old tab goes first": "await browser.tabs.remove(tabId); await browser.tabs.create(options);",
    "the new tab is somewhere else": "delete options.windowId; delete options.index;"
    " await browser.tabs.create(options); await browser.tabs.remove(tabId);",
}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def assigner(tmp_path: Path, what: str) -> Path:
    return extension_in(tmp_path / "assigner", ASSIGN % what, permissions=PERMISSIONS)


@pytest.mark.parametrize("order", ORDERS)
def test_open_says_which_identity_an_extension_has_moved_the_page_to(
    cli: Cli, tmp_path: Path, site: Site, order: str
) -> None:
    with running(str(assigner(tmp_path, ORDERS[order]))) as process:
        lines_until(process, "is running")
        cli("open", "Banking", site.url("/page/2"))
        result = cli("open", "Work", site.url("/page/1", assigned=1), "--engine", "http")
        (kept, tab) = cli("tabs", "--json").json
        assert (kept["identity"], tab["identity"], tab["url"]) == (
            "Banking",
            "Personal",
            site.url("/page/1", assigned=1),
        )
        assert result.out == f"Opened tab {tab['id']} in Personal: {tab['url']} (Page 1)\n"
        assert result.err == (
            f"The page is in Personal, not in Work: an extension replaced tab {kept['id'] + 1} with tab {tab['id']}.\n"
        )
        assert result.status == 0
        again = cli("open", "Work", site.url("/page/3", assigned=1), "--engine", "http", "--json")
        assert ([each["identity"] for each in again.json], again.err) == (["Personal"], "")


def test_a_redirect_to_an_assigned_site_is_followed_too(cli: Cli, tmp_path: Path, site: Site) -> None:
    with running(str(assigner(tmp_path, ORDERS["the new tab comes first"]))) as process:
        lines_until(process, "is running")
        result = cli(
            "open", "Work", site.url("/go", to=site.url("/page/1", assigned=1, host="localhost")), site.url("/page/5")
        )
        assert "in Personal: " in result.out
        assert "(Page 5)" in result.out
        assert result.err.count("in Personal, not in Work") == 1


def test_a_tab_that_is_closed_while_it_loads_is_an_error_that_says_so(cli: Cli, tmp_path: Path, site: Site) -> None:
    with running(str(assigner(tmp_path, "await browser.tabs.remove(tabId);"))) as process:
        lines_until(process, "is running")
        result = cli("open", "Work", site.url("/page/1", assigned=1), "--engine", "http")
        assert result == (
            1,
            "",
            "hatbox: tab 2 was closed before its page was loaded, by an extension or by the user\n",
        )
        both = cli("open", "Work", site.url("/page/2"), site.url("/page/1", assigned=1), "--json")
        assert (both.status, [each["url"] for each in both.json]) == (1, [site.url("/page/2")])
        assert both.error["type"] == "TabClosed"
