"""Site rules in the HTTP engine: what each identity sends to real servers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.engines.runner import EngineRunner
from hatbox.errors import InvalidTab
from tests.engines.rule_matrix import EXPECTED, HOSTS, IDENTITIES, RULE_SETS, URLS, received
from tests.engines.ruled_site import DEFAULT, RuledSite, Sent, resolving_localhost, sign_in_everywhere
from tests.store.in_loop import in_loop

WORK, PERSONAL, BANKING = "firefox-container-2", "firefox-container-1", "firefox-container-3"


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with resolving_localhost(monkeypatch) as hosts:
        yield hosts


@pytest.fixture
def ruled(resolved: list[str]) -> Iterator[RuledSite]:
    with RuledSite() as site:
        yield site


@contextlib.asynccontextmanager
async def browsing(path: Path, **options: Any) -> AsyncIterator[tuple[hatbox.Profile, EngineRunner]]:
    async with hatbox.open(path) as profile, profile.http_engine(**options) as engine:
        await sign_in_everywhere(profile, IDENTITIES, HOSTS)
        yield profile, engine


async def loaded(profile: hatbox.Profile, engine: EngineRunner) -> list[hatbox.Tab]:
    """All tabs, when nothing is loading any more."""
    while True:
        await engine.wait_until_settled()
        tabs = await profile.tabs.query()
        if not any(tab.loading for tab in tabs):
            return tabs
        for tab in tabs:
            with contextlib.suppress(InvalidTab):
                await engine.wait_until_loaded(tab.id)


def shown(tabs: list[hatbox.Tab]) -> list[tuple[str, str]]:
    return [(tab.cookie_store_id, tab.title or tab.url) for tab in tabs]


@in_loop
async def test_a_url_of_another_identity_is_loaded_there_and_the_old_page_stays(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        tab = await profile.tabs.open("Personal", ruled.at("a.localhost/one"))
        await engine.wait_until_loaded(tab.id)
        await profile.tabs.navigate(tab.id, ruled.at("b.localhost/two"))
        tabs = await loaded(profile, engine)
        assert shown(tabs) == [(PERSONAL, "/one"), (WORK, "/two")]
        assert [each.active for each in tabs] == [False, True]
        assert (tabs[1].index, tabs[1].opener_id) == (1, tab.id)
        assert ruled.sent() == [Sent("Personal", "a.localhost/one"), Sent("Work", "b.localhost/two")]


@in_loop
async def test_a_tab_that_was_opened_for_the_url_is_replaced(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        first = await profile.tabs.open("Personal", ruled.at("a.localhost/one"))
        last = await profile.tabs.open("Personal", ruled.at("a.localhost/three"), active=False)
        await loaded(profile, engine)
        events: list[tuple[str, int]] = []
        script = profile.browser(["tabs"])
        for name in ("onCreated", "onActivated", "onRemoved"):
            getattr(script.tabs, name).addListener(lambda event, *_, name=name: events.append((name, _id(event))))
        opened = await script.tabs.create({"url": ruled.at("b.localhost/two"), "index": 1})
        tabs = await loaded(profile, engine)
        assert shown(tabs) == [(PERSONAL, "/one"), (WORK, "/two"), (PERSONAL, "/three")]
        moved = tabs[1].id
        assert [tab.id for tab in tabs] == [first.id, moved, last.id]
        old = opened["id"]
        assert events == [
            ("onCreated", old),
            ("onActivated", old),
            ("onCreated", moved),
            ("onActivated", moved),
            ("onRemoved", old),
        ]
        assert Sent("nobody", "b.localhost/two") not in ruled.sent()


def _id(event: Any) -> int:
    if isinstance(event, int):
        return event
    return int(event["id"] if "id" in event else event["tabId"])


@in_loop
async def test_a_named_identity_is_not_overridden(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        script = profile.browser(["tabs", "cookies"])
        await profile.tabs.open("Personal", ruled.at("b.localhost/one"))
        await profile.tabs.open(DEFAULT, ruled.at("b.localhost/two"))
        await script.tabs.create({"url": ruled.at("b.localhost/three"), "cookieStoreId": PERSONAL})
        await script.tabs.create({"url": ruled.at("b.localhost/four"), "cookieStoreId": DEFAULT})
        tabs = await loaded(profile, engine)
        assert shown(tabs) == [(PERSONAL, "/one"), (DEFAULT, "/two"), (PERSONAL, "/three"), (DEFAULT, "/four")]
        await script.windows.create({"url": ruled.at("b.localhost/five"), "cookieStoreId": DEFAULT})
        await script.windows.create({"url": ruled.at("b.localhost/six")})
        tabs = await loaded(profile, engine)
        assert shown(tabs)[4:] == [(DEFAULT, "/five"), (WORK, "/six")]
        # The next navigation in such a tab names no identity.
        await profile.tabs.navigate(tabs[0].id, ruled.at("b.localhost/next"))
        tabs = await loaded(profile, engine)
        assert (WORK, "/next") in shown(tabs)
        assert (PERSONAL, "/one") in shown(tabs)


@in_loop
async def test_a_reload_stays_in_its_identity(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        tab = await profile.tabs.open("Personal", ruled.at("b.localhost/one"))
        await engine.wait_until_loaded(tab.id)
        await profile.tabs.reload(tab.id)
        assert shown(await loaded(profile, engine)) == [(PERSONAL, "/one")]
        assert ruled.sent() == [Sent("Personal", "b.localhost/one")] * 2


@in_loop
async def test_redirects_stay_so_that_a_sign_in_returns(path: Path, ruled: RuledSite) -> None:
    """a.localhost redirects to a provider with a rule for another identity, which redirects back."""
    async with browsing(path) as (profile, engine):
        await profile.rules.add("idp.localhost", "Personal")
        await profile.rules.add("a.localhost", "Work")
        ruled.page("/in", status=302, headers=[("Location", ruled.at("idp.localhost/auth"))])
        ruled.page("/auth", status=302, headers=[("Location", ruled.at("a.localhost/back"))])
        script = profile.browser(["tabs"])
        await script.tabs.create({"url": ruled.at("a.localhost/in")})
        assert shown(await loaded(profile, engine)) == [(WORK, "/back")]
        assert ruled.sent() == [
            Sent("Work", "a.localhost/in"),
            Sent("Work", "idp.localhost/auth"),
            Sent("Work", "a.localhost/back"),
        ]


@in_loop
async def test_a_limited_identity_says_why_it_does_not_open_a_page(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("bank.localhost", "Banking", limit=True)
        await profile.rules.add("b.localhost", "Work")
        tab = await profile.tabs.open("Banking", ruled.at("b.localhost/one"))
        blocked = await engine.wait_until_loaded(tab.id)
        assert blocked.error.startswith(
            'not loaded: identity "Banking" is limited to its rules, such as bank.localhost'
        )
        assert not ruled.sent()
        await profile.tabs.reload(tab.id)  # blocked again, and not moved
        assert (await engine.wait_until_loaded(tab.id)).error == blocked.error
        await profile.tabs.navigate(tab.id, ruled.at("bank.localhost/two"))
        assert (await engine.wait_until_loaded(tab.id)).title == "/two"
        await profile.rules.clear("Banking")
        await profile.tabs.navigate(tab.id, ruled.at("a.localhost/three"))
        assert (await engine.wait_until_loaded(tab.id)).title == "/three"


@in_loop
async def test_a_limited_identity_does_not_follow_a_redirect_to_another_site(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("bank.localhost", "Banking", limit=True)
        ruled.page("/away", status=302, headers=[("Location", ruled.at("b.localhost/other"))])
        ruled.page("/within", status=302, headers=[("Location", ruled.at("bank.localhost/two"))])
        tab = await profile.tabs.open("Banking", ruled.at("bank.localhost/away"))
        assert 'identity "Banking" is limited' in (await engine.wait_until_loaded(tab.id)).error
        assert ruled.sent() == [Sent("Banking", "bank.localhost/away")]
        await profile.tabs.navigate(tab.id, ruled.at("bank.localhost/within"))
        assert (await engine.wait_until_loaded(tab.id)).title == "/two"


@in_loop
async def test_a_rule_that_asks_sends_nothing_and_says_how_to_choose(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", ["Work", "Banking"], ask=True)
        script = profile.browser(["tabs"])
        url = ruled.at("b.localhost/it's")
        created = await script.tabs.create({"url": url})
        tab = await engine.wait_until_loaded(created["id"])
        assert "Work or Banking" in tab.error
        assert "hatbox open 'Work' 'http://b.localhost" in tab.error
        assert tab.url == created["url"] or tab.url.startswith("http://b.localhost")
        assert not ruled.sent()
        await profile.tabs.reload(tab.id)
        assert (await engine.wait_until_loaded(tab.id)).error == tab.error
        assert not ruled.sent()
        work = await profile.tabs.open("Work", ruled.at("a.localhost/"))
        await profile.tabs.navigate(work.id, ruled.at("b.localhost/two"))  # Work is one of the choices
        assert (await engine.wait_until_loaded(work.id)).title == "/two"


@in_loop
async def test_a_listener_decides_before_rules(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        script = profile.browser(["tabs", "webRequest", "webRequestBlocking", "<all_urls>"])

        def decide(details: Any) -> Any:
            if "/cancel" in details["url"]:
                return {"cancel": True}
            return {"redirectUrl": ruled.at("b.localhost/redirected")} if "/redirect?" in details["url"] else None

        script.webRequest.onBeforeRequest.addListener(decide, {"urls": ["<all_urls>"]}, ["blocking"])
        tab = await profile.tabs.open("Personal", ruled.at("a.localhost/one"))
        await engine.wait_until_loaded(tab.id)
        for page in ("b.localhost/cancel", "b.localhost/redirect?"):
            await profile.tabs.navigate(tab.id, ruled.at(page))
            await loaded(profile, engine)
        assert shown(await loaded(profile, engine)) == [(PERSONAL, "/redirected")]
        assert ruled.sent()[1:] == [Sent("Personal", "b.localhost/redirected")]


@in_loop
async def test_an_extension_that_undoes_a_reopening_ends_in_one_tab(path: Path, ruled: RuledSite) -> None:
    """The extension wants the page in the default store, the rule in Work."""
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        script = profile.browser(["tabs", "webRequest", "webRequestBlocking", "<all_urls>"])
        reopened: list[str] = []

        async def undo(details: Any) -> Any:
            if details["cookieStoreId"] != WORK:
                return None
            reopened.append(details["url"])
            await script.tabs.create({"url": details["url"]})
            await script.tabs.remove(details["tabId"])
            return {"cancel": True}

        script.webRequest.onBeforeRequest.addListener(undo, {"urls": ["*://b.localhost/*"]}, ["blocking"])
        await script.tabs.create({"url": ruled.at("b.localhost/two")})
        async with asyncio.timeout(30):
            tabs = await loaded(profile, engine)
        assert shown(tabs) == [(DEFAULT, "/two")]
        assert 1 <= len(reopened) <= 5
        assert len(ruled.sent()) == 1


@in_loop
async def test_an_https_only_rule_applies_after_the_upgrade_of_a_redirect() -> None:
    from hatbox.engines.navigation_rules import is_https_upgrade

    assert is_https_upgrade("http://a.example/x?y", "https://a.example/x?y")
    assert is_https_upgrade("http://a.example", "https://a.example/")
    for other in ("https://b.example/x?y", "https://a.example/x", "https://a.example/login?y", "http://a.example/x?y"):
        assert not is_https_upgrade("http://a.example/x?y", other)


@in_loop
async def test_rules_of_another_process_apply_at_once(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine), hatbox.open(path) as other:
        script = profile.browser(["tabs"])
        await script.tabs.create({"url": ruled.at("b.localhost/before")})
        await loaded(profile, engine)
        rule = await other.rules.add("b.localhost", "Work")
        await script.tabs.create({"url": ruled.at("b.localhost/with")})
        await loaded(profile, engine)
        await other.rules.remove(rule)
        await script.tabs.create({"url": ruled.at("b.localhost/after")})
        tabs = await loaded(profile, engine)
        assert shown(tabs) == [(DEFAULT, "/before"), (WORK, "/with"), (DEFAULT, "/after")]


@in_loop
async def test_restored_tabs_stay_where_they_were(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        tab = await profile.tabs.open("Personal", ruled.at("b.localhost/one"))
        await engine.wait_until_loaded(tab.id)
    async with hatbox.open(path) as profile:
        await profile.rules.add("b.localhost", "Work")
        async with profile.http_engine() as engine:
            assert shown(await loaded(profile, engine)) == [(PERSONAL, "/one")]
            await profile.tabs.reload(tab.id)
            assert shown(await loaded(profile, engine)) == [(PERSONAL, "/one")]


@in_loop
async def test_a_hidden_identity_is_shown_to_open_its_page(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        await profile.identities.hide("Work")
        script = profile.browser(["tabs"])
        await script.tabs.create({"url": ruled.at("b.localhost/one")})
        assert shown(await loaded(profile, engine)) == [(WORK, "/one")]
        assert not (await profile.tabs.query("Work"))[0].hidden


@in_loop
async def test_a_page_of_an_identity_that_no_engine_serves_says_so(path: Path, ruled: RuledSite) -> None:
    async with browsing(path, identities=["Personal"]) as (profile, engine):
        await profile.rules.add("b.localhost", "Work")
        tab = await profile.tabs.open("Personal", ruled.at("a.localhost/one"))
        await engine.wait_until_loaded(tab.id)
        await profile.tabs.navigate(tab.id, ruled.at("b.localhost/two"))
        error = (await engine.wait_until_loaded(tab.id)).error
        assert "no running engine serves it. Start one with: hatbox browse --identity 'Work'" in error
        assert ruled.sent() == [Sent("Personal", "a.localhost/one")]
        async with profile.http_engine(identities=["Work"]):
            await profile.tabs.reload(tab.id)
            assert (WORK, "/two") in shown(await loaded(profile, engine))
        assert ruled.sent()[-1] == Sent("Work", "b.localhost/two")


@in_loop
async def test_a_removed_identity_takes_its_rules_with_it(path: Path, ruled: RuledSite) -> None:
    async with browsing(path) as (profile, engine):
        await profile.rules.add("b.localhost", "Shopping")
        await profile.identities.remove("Shopping")
        script = profile.browser(["tabs"])
        await script.tabs.create({"url": ruled.at("b.localhost/one")})
        assert shown(await loaded(profile, engine)) == [(DEFAULT, "/one")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name if name in ("wildcards", "paths") else pytest.param(name, marks=pytest.mark.slow) for name in RULE_SETS],
)
@in_loop
async def test_200_urls_are_requested_only_by_the_identity_of_their_rule(
    path: Path, ruled: RuledSite, name: str
) -> None:
    """The server counts what each identity has sent."""
    async with browsing(path) as (profile, engine):
        for pattern, identity in RULE_SETS[name]:
            await profile.rules.add(pattern, identity)
        script = profile.browser(["tabs"])
        for page in URLS:
            await script.tabs.create({"url": ruled.at(page)})
        assert not [tab.error for tab in await loaded(profile, engine) if tab.error]
        sent = {each.page: each.identity for each in ruled.sent()}
        assert len(ruled.sent()) == len(URLS) == len(sent) == 200
        found = {page: sent[received(page)] for page in URLS}
        assert [(page, found[page]) for page in URLS if found[page] != EXPECTED[name](page)] == []


@in_loop
async def test_a_tab_of_a_grant_is_refused_by_whichever_engine_loads_it(path: Path, ruled: RuledSite) -> None:
    """The rule is added after the call was checked, and the tab is loaded by another process than the grantee's."""
    async with hatbox.open(path) as profile:
        await sign_in_everywhere(profile, IDENTITIES, HOSTS)
        _, token = await profile.grants.create(identities="Personal", actions=["tabs"], hosts=["<all_urls>"])
        grantee = await profile.browser(grant=token)
        made = [(await grantee.tabs.create({"url": ruled.at("b.localhost/one")}))["id"]]
        made.append((await profile.browser(["tabs"]).tabs.duplicate(made[0]))["id"])
        await profile.rules.add("b.localhost", "Work")
        with pytest.raises(hatbox.PermissionDenied, match="a rule of the profile does not open"):
            await grantee.tabs.create({"url": ruled.at("b.localhost/two")})
    async with browsing(path) as (profile, engine):
        tabs = await loaded(profile, engine)
        assert [tab.id for tab in tabs] == made
        assert {tab.cookie_store_id for tab in tabs} == {PERSONAL}
        for tab in tabs:
            assert "a rule assigns" in tab.error and "Work" not in tab.error
        assert ruled.sent() == []
        user = await profile.tabs.open("Personal", ruled.at("a.localhost/one"))  # the user's own tabs are moved
        await loaded(profile, engine)
        await profile.tabs.navigate(user.id, ruled.at("b.localhost/three"))
        await loaded(profile, engine)
        assert ruled.sent()[-1] == Sent("Work", "b.localhost/three")
