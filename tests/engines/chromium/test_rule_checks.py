"""Site rules in a real Chromium: what each identity sends to real servers, for each kind of navigation."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.interstitial import CLICK_DELAY
from hatbox.engines.chromium.launch import flags
from hatbox.engines.reopening_limit import MAX_REOPENED_BY_PAGES
from tests.engines.chromium.desktop import Keyboard
from tests.engines.chromium.real import running, with_browser
from tests.engines.rule_matrix import EXPECTED, HOSTS, IDENTITIES, NOBODY, RULE_SETS, URLS, received
from tests.engines.ruled_site import DEFAULT, RuledSite, Sent, sign_in_everywhere
from tests.examples import examples
from tests.waiting import until, until_awaited

WORK, PERSONAL, BANKING = "firefox-container-2", "firefox-container-1", "firefox-container-3"


class Browsing:
    def __init__(self, profile: hatbox.Profile, runner: ChromiumRunner, site: RuledSite) -> None:
        self.profile = profile
        self.runner = runner
        self.site = site

    async def tab(self, identity: str, page: str) -> tuple[int, Page]:
        """A tab that a user has opened, when it has loaded."""
        tab = await self.profile.tabs.open(identity, self.site.at(page))
        return tab.id, await self.runner.page(tab.id)

    async def tabs(self) -> list[tuple[str, str]]:
        """The identities and titles of all tabs, by identity; titles are paths."""
        return sorted((tab.cookie_store_id, tab.title) for tab in await self.profile.tabs.query())

    async def until(self, *expected: tuple[str, str]) -> None:
        """Wait until these are the loaded tabs."""

        async def is_there() -> bool:
            tabs = await self.profile.tabs.query()
            return not any(tab.loading for tab in tabs) and await self.tabs() == sorted(expected)

        try:
            await until_awaited(is_there)
        except AssertionError:
            raise AssertionError(await self.profile.tabs.query()) from None

    async def close(self, cookie_store_id: str) -> None:
        tabs = await self.profile.tabs.query(cookie_store_id)
        await self.profile.tabs.close([tab.id for tab in tabs])
        await self.runner.wait_until_settled()


@contextlib.asynccontextmanager
async def browsing(
    path: Path, browser: str, site: RuledSite, *rules: tuple[str, str], hosts: tuple[str, ...] = HOSTS
) -> AsyncIterator[Browsing]:
    async with hatbox.open(path) as profile:
        await sign_in_everywhere(profile, IDENTITIES, hosts)
        for pattern, identity in rules:
            await profile.rules.add(pattern, identity)
        async with profile.chromium(headless=True, browser=browser) as runner:
            yield Browsing(profile, runner, site)


@pytest.fixture
def ruled() -> Iterator[RuledSite]:
    with RuledSite() as site:
        yield site


# ---------------------------------------------------------------------------------------------- pages start navigations


def start_page(site: RuledSite) -> str:
    """A page with every way to start a navigation to b.localhost."""
    site.page(
        "/start",
        f"""<a id=link href="{site.at("b.localhost/link")}">link</a>
        <a id=blank target=_blank href="{site.at("b.localhost/blank")}">blank</a>
        <a id=noopener target=_blank rel=noopener href="{site.at("b.localhost/noopener")}">noopener</a>
        <a id=named target=other href="{site.at("b.localhost/named")}">named</a>
        <form action="{site.at("b.localhost/form")}"><input name=q value="1 2"><button id=get>get</button></form>
        <form method=post action="{site.at("b.localhost/post")}"><button id=post>post</button></form>
        <iframe src="{site.at("c.localhost/frame")}"></iframe>""",
    )
    site.page("/refresh", f'<meta http-equiv=refresh content="0;url={site.at("b.localhost/meta")}">')
    return "a.localhost/start"


STARTS: dict[str, Callable[[Page, RuledSite], Awaitable[Any]]] = {
    "link": lambda page, _: page.click("#link"),
    "blank": lambda page, _: page.click("#blank"),
    "noopener": lambda page, _: page.click("#noopener"),
    "named": lambda page, _: page.click("#named"),
    "ctrl": lambda page, _: page.click("#link", modifiers=["Control"]),
    "shift": lambda page, _: page.click("#link", modifiers=["Shift"]),
    "middle": lambda page, _: page.click("#link", button="middle"),
    "open": lambda page, site: page.evaluate("url => { window.open(url) }", site.at("b.localhost/open")),
    "popup": lambda page, site: page.evaluate(
        "url => { window.open('about:blank', '', 'width=300').location = url }", site.at("b.localhost/popup")
    ),
    "location": lambda page, site: page.evaluate("url => { location = url }", site.at("b.localhost/location")),
    "replace": lambda page, site: page.evaluate("url => { location.replace(url) }", site.at("b.localhost/replace")),
}
PATHS = {"ctrl": "/link", "shift": "/link", "middle": "/link"}


@with_browser
async def test_whatever_a_page_does_to_open_a_url_the_identity_of_the_rule_opens_it(
    browser: str, path: Path, ruled: RuledSite
) -> None:
    async with browsing(path, browser, ruled, ("b.localhost", "Work")) as web:
        tab_id, page = await web.tab("Personal", start_page(ruled))
        for name, start in STARTS.items():
            ruled.requests.clear()
            await start(page, ruled)
            target = PATHS.get(name, f"/{name}")
            await web.until((PERSONAL, "/start"), (WORK, target))
            assert ruled.sent() == [Sent("Work", f"b.localhost{target}")], name
            assert page.url == ruled.at("a.localhost/start")
            assert await page.evaluate("document.title") == "/start"
            await web.close("Work")
        await page.evaluate("location.href = '/refresh'")
        await web.until((PERSONAL, "/refresh"), (WORK, "/meta"))
        assert {each.identity for each in ruled.sent() if each.page.startswith("b.")} == {"Work"}
        assert (await web.profile.tabs.get(tab_id)).cookie_store_id == PERSONAL


@with_browser
async def test_forms_redirects_reloads_and_history_stay(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled, ("b.localhost", "Work")) as web:
        ruled.page("/away", status=302, headers=[("Location", ruled.at("b.localhost/redirected"))])
        _, page = await web.tab("Personal", start_page(ruled))
        await page.click("#get")
        await web.until((PERSONAL, "/form"))
        await page.go_back()
        await page.go_forward()
        await page.reload()
        await page.go_back()
        await page.click("#post")
        await web.until((PERSONAL, "/post"))
        await page.go_back()
        await page.evaluate("location.href = '/away'")
        await web.until((PERSONAL, "/redirected"))
        await page.evaluate("location.reload()")
        await web.until((PERSONAL, "/redirected"))
        assert {each.identity for each in ruled.sent() if each.page.startswith("b.")} == {"Personal"}
        assert Sent("Personal", "b.localhost/form?q=1+2") in ruled.sent()


@with_browser
async def test_a_sign_in_at_a_provider_of_another_identity_returns(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled, ("idp.localhost", "Personal"), ("a.localhost", "Work")) as web:
        ruled.page("/in", status=302, headers=[("Location", ruled.at("idp.localhost/auth"))])
        ruled.page(
            "/auth", f'<form method=post action="{ruled.at("a.localhost/back")}"><button>sign in</button></form>'
        )
        _, page = await web.tab("Shopping", "c.localhost/start")
        await page.evaluate("url => { location = url }", ruled.at("a.localhost/in"))
        await web.until(("firefox-container-4", "/start"), (WORK, "/auth"))
        (tab,) = await web.profile.tabs.query("Work")
        await (await web.runner.page(tab.id)).click("button")
        await web.until(("firefox-container-4", "/start"), (WORK, "/back"))
        assert {each.identity for each in ruled.sent()[1:]} == {"Work"}


# -------------------------------------------------------------------------------------------- identities that are named


async def refused_starts(web: Browsing, page: Page, store: str, starts: Iterable[str] = STARTS) -> None:
    """Everything that a page can do to open a URL of another identity is refused, and sends nothing."""
    (tab_id,) = [each.id for each in await web.profile.tabs.query(store)]
    for name in starts:
        web.site.requests.clear()
        await STARTS[name](page, web.site)

        async def refused() -> list[hatbox.Tab]:
            return [tab for tab in await web.profile.tabs.query() if "a rule assigns" in tab.error and not tab.loading]

        (tab,) = await until_awaited(refused)
        assert "Work" not in tab.error, name
        assert {each.cookie_store_id for each in await web.profile.tabs.query()} == {store}, name
        assert not [each for each in web.site.sent() if each.page.startswith("b.")], name
        if tab.id == tab_id:  # otherwise its error page may replace the next page
            await until(lambda: page.url.startswith("chrome-error:"))
        await web.profile.tabs.close([each.id for each in await web.profile.tabs.query() if each.id != tab_id])
        await web.runner.wait_until_settled()
        await page.goto(web.site.at("a.localhost/start"))


@with_browser
async def test_pages_of_a_script_are_refused_and_never_moved(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled, ("b.localhost", "Work")) as web:
        page = await web.runner.new_page("Personal", ruled.at("b.localhost/one"))  # an identity that is named
        assert ruled.sent() == [Sent("Personal", "b.localhost/one")]
        await page.reload()
        assert ruled.sent() == [Sent("Personal", "b.localhost/one")] * 2
        await page.goto(ruled.at(start_page(ruled)))
        await refused_starts(web, page, PERSONAL)
        await page.click("#get")  # forms and redirects stay
        await web.until((PERSONAL, "/form"))
        await web.close("Personal")
        context = await web.runner.context("Banking")
        own = await context.new_page()
        with pytest.raises(PlaywrightError, match="ERR_BLOCKED_BY_CLIENT"):
            await own.goto(ruled.at("b.localhost/own"))
        (tab,) = await web.profile.tabs.query()
        assert tab.cookie_store_id == BANKING
        assert "a rule assigns" in await until_awaited(functools.partial(_error, web.profile, tab.id))


@with_browser
async def test_pages_of_a_grant_are_refused_and_never_moved(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled, ("b.localhost", "Work")) as web:
        _, token = await web.profile.grants.create(identities="Personal", actions=["tabs"], hosts=["<all_urls>"])
        grantee = await web.profile.browser(grant=token)
        made = await grantee.tabs.create({"url": ruled.at(start_page(ruled))})
        page = await web.runner.page(made["id"])
        await refused_starts(web, page, PERSONAL)
        with pytest.raises(hatbox.PermissionDenied, match="a rule of the profile"):
            await grantee.tabs.update(made["id"], {"url": ruled.at("b.localhost/two")})
        # The user's own tab, as soon as the grantee has loaded a page in it.
        await web.close("Personal")
        tab_id, page = await web.tab("Personal", "a.localhost/one")
        await grantee.tabs.update(tab_id, {"url": ruled.at("a.localhost/start")})
        await web.until((PERSONAL, "/start"))
        await refused_starts(web, page, PERSONAL, ("link", "open"))


@with_browser
async def test_restored_pages_stay_and_their_links_follow_the_rules(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled) as web:
        await web.tab("Personal", start_page(ruled))
        await web.tab("Personal", "b.localhost/one")
    ruled.requests.clear()
    async with browsing(path, browser, ruled, ("b.localhost", "Work")) as web:
        page, other = [await web.runner.page(tab.id) for tab in await web.profile.tabs.query("Personal")]
        await web.until((PERSONAL, "/one"), (PERSONAL, "/start"))
        assert Sent("Personal", "b.localhost/one") in ruled.sent()
        assert other.url == ruled.at("b.localhost/one")
        await page.click("#link")
        await web.until((PERSONAL, "/one"), (PERSONAL, "/start"), (WORK, "/link"))
        assert Sent("Personal", "b.localhost/link") not in ruled.sent()


# -------------------------------------------------------------------------------------------------------- blocked pages


@with_browser
async def test_the_user_chooses_an_identity_before_anything_is_sent(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled) as web:
        await web.profile.rules.add("b.localhost", ["Work", "Banking"], ask=True)
        await web.runner.wait_until_synced()
        tab_id, page = await web.tab("Personal", start_page(ruled))
        ruled.requests.clear()
        for start, target in (("link", "/link"), ("open", "/open")):
            await STARTS[start](page, ruled)

            async def is_asked() -> list[hatbox.Tab]:
                return [tab for tab in await web.profile.tabs.query("Personal") if "Work or Banking" in tab.error]

            (asked,) = await until_awaited(is_asked)
            assert asked.url == ruled.at(f"b.localhost{target}")
            shown = await web.runner.page(asked.id)
            await shown.wait_for_selector("button >> nth=1")
            assert await shown.locator("button").all_inner_texts() == ["Work", "Banking"]
            assert await shown.evaluate("typeof hatboxChoice + origin") == "undefinednull"
            await shown.evaluate("document.querySelector('button').click()")  # not a click of the user
            with contextlib.suppress(PlaywrightError):
                await shown.reload()
            await until_awaited(is_asked)
            await shown.wait_for_selector("button >> nth=1")
            assert not [each for each in ruled.sent() if each.page.startswith("b.")]
            await shown.evaluate("time => new Promise(done => setTimeout(done, time))", CLICK_DELAY + 50)
            await shown.locator("button").nth(1).click()
            await web.until((PERSONAL, "/start"), (BANKING, target))
            assert [each for each in ruled.sent() if each.page.startswith("b.")] == [
                Sent("Banking", f"b.localhost{target}")
            ]
            ruled.requests.clear()
            await web.close("Banking")
        # Forward leads to the URL that was blocked, and asks again.
        page = await web.runner.page(tab_id)
        await page.evaluate("history.forward()")
        await until_awaited(is_asked)
        assert not [each for each in ruled.sent() if each.page.startswith("b.")]


@with_browser
async def test_a_limited_identity_shows_why_a_page_is_blocked(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled) as web:
        await web.profile.rules.add("a.localhost", "Banking", limit=True)
        await web.profile.rules.add("b.localhost", "Work")
        await web.runner.wait_until_synced()
        tab_id, page = await web.tab("Banking", start_page(ruled))
        await page.click("#link")

        async def blocked() -> str:
            return (await web.profile.tabs.get(tab_id)).error

        assert 'identity "Banking" is limited' in await until_awaited(blocked)
        await page.wait_for_selector("h1")
        assert await page.title() == "This page was not opened"
        assert "hatbox rules list" in await page.inner_text("body")
        assert not [each for each in ruled.sent() if each.page.startswith("b.")]
        assert {tab.cookie_store_id for tab in await web.profile.tabs.query()} == {BANKING}
    ruled.requests.clear()
    async with browsing(path, browser, ruled) as web:  # restored, and blocked again
        await until_awaited(lambda: _error(web.profile, tab_id))
        assert not [each for each in ruled.sent() if each.page.startswith("b.")]


@with_browser
async def test_a_limited_identity_leaves_its_sites_neither_by_forms_nor_by_redirects(
    browser: str, path: Path, ruled: RuledSite
) -> None:
    async with browsing(path, browser, ruled) as web:
        await web.profile.rules.add("a.localhost", "Banking", limit=True)
        await web.runner.wait_until_synced()
        ruled.page("/away", status=302, headers=[("Location", ruled.at("b.localhost/redirected"))])
        leave = {
            "get": "document.querySelector('#get').click()",
            "post": "document.querySelector('#post').click()",
            "submit": "document.forms[1].submit()",
            "redirect": "location.href = '/away'",
        }
        for name, script in leave.items():
            tab_id, page = await web.tab("Banking", start_page(ruled))
            await page.evaluate(f"setTimeout(() => {{ {script} }}, 0)")
            error = await until_awaited(functools.partial(_error, web.profile, tab_id))
            assert 'identity "Banking" is limited' in error, name
        assert not [each for each in ruled.sent() if each.page.startswith("b.")]


@with_browser
async def test_a_reload_is_checked_if_a_script_has_set_the_url(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled, ("a.localhost/job/*", "Work")) as web:
        _, page = await web.tab("Personal", "a.localhost/start")
        await page.evaluate("history.pushState(null, '', '/job/x')")
        await page.evaluate("setTimeout(() => location.reload(), 0)")
        await web.until((PERSONAL, "/start"), (WORK, "/job/x"))
        assert Sent("Personal", "a.localhost/job/x") not in ruled.sent()


async def _error(profile: hatbox.Profile, tab_id: int) -> str:
    tab = await profile.tabs.get(tab_id)
    return "" if tab.loading else tab.error


# ---------------------------------------------------------------------------------------------- extensions, and attacks


@with_browser
async def test_an_extension_that_undoes_every_reopening_does_not_loop(
    browser: str, path: Path, ruled: RuledSite
) -> None:
    async with browsing(path, browser, ruled, ("b.localhost", "Work")) as web:
        script = web.profile.browser(["tabs", "webRequest", "webRequestBlocking", "<all_urls>"])
        undone: list[int] = []

        async def undo(details: Any) -> Any:
            if details["cookieStoreId"] != WORK:
                return None
            undone.append(details["tabId"])
            await script.tabs.create({"url": details["url"]})
            await script.tabs.remove(details["tabId"])
            return {"cancel": True}

        script.webRequest.onBeforeRequest.addListener(undo, {"urls": ["*://b.localhost/*"]}, ["blocking"])
        _, page = await web.tab("Personal", start_page(ruled))
        await page.click("#link")
        await web.until((PERSONAL, "/start"), (DEFAULT, "/link"))
        assert 1 <= len(undone) <= 5
        assert [each for each in ruled.sent() if each.page.startswith("b.")] == [Sent(NOBODY, "b.localhost/link")]


@with_browser
async def test_a_page_cannot_fill_another_identity_with_tabs(
    browser: str, path: Path, ruled: RuledSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with browsing(path, browser, ruled, ("b.localhost", "Work")) as web:
        # On a slow machine, the page needs more than ten seconds.
        monkeypatch.setattr(web.runner.engine._rules._limit, "_clock", lambda: 0.0)
        tab_id, page = await web.tab("Personal", "a.localhost/hostile")
        await page.evaluate(
            """url => {
                let count = 0;
                const next = () => { window.open(`${url}${count}`); location = `${url}${count++}`; };
                const timer = setInterval(() => count < 200 ? next() : clearInterval(timer), 20);
            }""",
            ruled.at("b.localhost/spam"),
        )

        async def is_stopped() -> bool:
            return "too many pages" in (await web.profile.tabs.get(tab_id)).error

        await until_awaited(is_stopped)
        tabs = await web.profile.tabs.query("Work")
        assert 1 <= len(tabs) <= MAX_REOPENED_BY_PAGES
        assert {each.identity for each in ruled.sent() if each.page.startswith("b.")} <= {"Work"}


# ---------------------------------------------------------------------------------------------------- rules that change


@with_browser
async def test_requests_are_intercepted_only_while_rules_exist(browser: str, path: Path, ruled: RuledSite) -> None:
    async with browsing(path, browser, ruled) as web, hatbox.open(path) as terminal:
        interceptor = running(web.runner).interceptor
        _, page = await web.tab("Personal", start_page(ruled))
        assert not interceptor.has_session
        rule = await terminal.rules.add("b.localhost", "Work")
        await web.runner.wait_until_synced()
        assert interceptor.config is not None
        assert [each["resourceType"] for each in interceptor.config.patterns] == ["Document"]
        await page.click("#link")
        await web.until((PERSONAL, "/start"), (WORK, "/link"))
        assert Sent("Personal", "b.localhost/link") not in ruled.sent()
        await terminal.rules.remove(rule)
        await web.runner.wait_until_synced()
        assert not interceptor.has_session
        await page.click("#link")
        await web.until((PERSONAL, "/link"), (WORK, "/link"))


@with_browser
async def test_an_address_that_the_user_types_is_opened_in_its_identity(
    browser: str, desktop: Keyboard, path: Path, ruled: RuledSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = ruled.at("typed.example/").split(":")[2].rstrip("/")
    # The keyboard has no colon. If a key is lost, the browser must not search for the rest.
    resolve = f"--host-resolver-rules=MAP typed.example:80 127.0.0.1:{port},MAP *.com ~NOTFOUND"
    args, ignored = flags(headless=False)
    monkeypatch.setattr("hatbox.engines.chromium.launch.flags", lambda **_: ([*args, resolve], ignored))
    async with hatbox.open(path) as profile:
        await sign_in_everywhere(profile, IDENTITIES, ("typed.example",))
        await profile.rules.add("typed.example", "Work")
        async with profile.chromium(browser=browser, indicator=False) as runner:
            web = Browsing(profile, runner, ruled)
            _, page = await web.tab("Personal", "a.localhost/start")
            await page.bring_to_front()
            await asyncio.to_thread(desktop.type, "\f")

            async def is_address_bar_focused() -> bool:
                return not await page.evaluate("document.hasFocus()")

            await until_awaited(is_address_bar_focused)
            await asyncio.to_thread(desktop.type, "typed.example/typed\n")
            await web.until((PERSONAL, "/start"), (WORK, "/typed"))
    assert [each.identity for each in ruled.sent() if each.page.endswith("/typed")] == ["Work"]


@with_browser
async def test_pages_are_not_loaded_if_rules_cannot_be_applied(
    browser: str, path: Path, ruled: RuledSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with browsing(path, browser, ruled) as web:
        interceptor = running(web.runner).interceptor

        async def reject(_: object) -> None:
            raise PlaywrightError("Protocol error (Fetch.enable): rejected")

        monkeypatch.setattr(interceptor, "_apply_config", reject)
        await web.profile.rules.add("b.localhost", "Work")
        tab = await web.profile.tabs.open("Personal", ruled.at("a.localhost/start"))
        error = (await web.runner.wait_until_loaded(tab.id)).error
        assert "site rules cannot be applied" in error
        assert not ruled.sent()


SERVICE_WORKER = """
addEventListener("install", () => skipWaiting());
addEventListener("activate", event => event.waitUntil(clients.claim()));
addEventListener("fetch", event => {
  const body = "<title>from the worker</title>";
  if (event.request.mode === "navigate" && !event.request.url.endsWith("/start"))
    event.respondWith(new Response(body, {headers: {"Content-Type": "text/html"}}));
});
"""


@with_browser
async def test_a_service_worker_of_the_wrong_identity_does_not_load_the_page(
    browser: str, path: Path, ruled: RuledSite
) -> None:
    async with browsing(path, browser, ruled) as web:
        ruled.file("/worker.js", SERVICE_WORKER, content_type="text/javascript")
        _, page = await web.tab("Personal", "a.localhost/start")
        await page.evaluate(
            "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 1)"
        )
        _, other = await web.tab("Personal", "a.localhost/other")
        assert await other.title() == "from the worker"
        await web.profile.rules.add("a.localhost/job/*", "Work")

        async def is_removed() -> bool:
            return await page.evaluate("navigator.serviceWorker.getRegistration().then(found => !found)") is True

        await until_awaited(is_removed)
        await page.evaluate("location = '/job/x'")
        await web.until((PERSONAL, "/start"), (PERSONAL, "from the worker"), (WORK, "/job/x"))


ADD_SPECULATION_RULE = """kind => document.body.append(Object.assign(document.createElement("script"), {
  type: "speculationrules",
  text: JSON.stringify({[kind]: [{urls: ["/job/" + kind], eagerness: "immediate"}]}),
}))"""


@pytest.mark.parametrize("kind", ["prefetch", "prerender"])
@with_browser
async def test_pages_prefetch_nothing_so_that_a_link_is_opened_in_its_identity(
    kind: str, browser: str, path: Path, ruled: RuledSite
) -> None:
    async with browsing(path, browser, ruled, ("a.localhost/job/*", "Work")) as web:
        ruled.page("/start", f'<a id=link href="/job/{kind}">link</a>')
        _, page = await web.tab("Personal", "a.localhost/start")
        session = await page.context.new_cdp_session(page)
        await session.send("Preload.enable")
        attempted = asyncio.Event()
        session.on("Preload.preloadingAttemptSourcesUpdated", lambda _: attempted.set())
        await page.evaluate(ADD_SPECULATION_RULE, kind)
        await attempted.wait()
        await page.evaluate("fetch('/after').then(() => 1)")  # a prefetch would have been sent meanwhile
        await page.click("#link")

        async def opened() -> list[str]:
            return [store for store, title in await web.tabs() if title == f"/job/{kind}"]

        assert await until_awaited(opened) == [WORK]
        assert Sent("Personal", f"a.localhost/job/{kind}") not in ruled.sent()


@with_browser
async def test_urls_are_requested_only_by_the_identity_of_their_rule(
    browser: str, path: Path, ruled: RuledSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every rule set with a part of the 200 URLs: all of them take minutes in a browser."""
    monkeypatch.setattr("hatbox.engines.reopening_limit.MAX_REOPENED_BY_PAGES", 1000)
    pages = [page for page in URLS if "%77" in page or "/u/1" in page or "/job/" in page or "/a/b/c" in page]
    pages = pages[:: len(pages) // max(3, examples(9))]
    async with browsing(path, browser, ruled) as web:
        _, shown = await web.tab("Personal", "c.localhost/start")
        wrong = []
        for name, rules in RULE_SETS.items():
            await web.profile.rules.clear()
            for pattern, identity in rules:
                await web.profile.rules.add(pattern, identity)
            await web.runner.wait_until_synced()
            ruled.requests.clear()
            expected = {page: EXPECTED[name](page).replace(NOBODY, "Personal") for page in pages}
            for count, page in enumerate(pages, 1):
                await shown.evaluate("url => { location = url }", ruled.at(page))
                await until(functools.partial(_has_received, ruled, count))
                if expected[page] == "Personal":
                    await shown.wait_for_url(ruled.at(received(page)))
            sent = {each.page: each.identity for each in ruled.sent()}
            wrong += [(name, page, sent[received(page)]) for page in pages if sent[received(page)] != expected[page]]
            await web.profile.tabs.close([tab.id for tab in await web.profile.tabs.query() if tab.opener_id])
        assert wrong == []


def _has_received(site: RuledSite, count: int) -> bool:
    return len(site.sent()) == count
