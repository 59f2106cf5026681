"""A program with a grant uses its identities on its hosts, and nothing else of the profile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError, ArgumentError, Grant, GrantRefused, GrantRevoked, PermissionDenied
from hatbox.api.browser import dispatcher_and_caller
from hatbox.api.granted_functions import GRANTED_EVENTS, GRANTED_FUNCTIONS, GRANTED_SCHEMAS
from hatbox.grants.grant import ACTIONS
from hatbox.schema import load
from tests.api.grantee import SECRET, Grantee, grantee
from tests.postgres import address_of
from tests.store.in_loop import in_loop
from tests.waiting import until

SITE, OTHER = "https://app.site.example/", "https://other.example/"
HOSTS = ["*.site.example"]


def test_the_table_names_members_and_actions_that_exist() -> None:
    schemas = {each.file: each for each in load() if each.file in GRANTED_SCHEMAS}
    assert set(schemas) == GRANTED_SCHEMAS
    by_namespace = {each.namespace: each for each in schemas.values()}
    for table, members in ((GRANTED_FUNCTIONS, "functions"), (GRANTED_EVENTS, "events")):
        for path, granted in table.items():
            namespace, member = path.split(".")
            assert member in getattr(by_namespace[namespace], members)
            assert granted.actions <= set(ACTIONS)


@in_loop
async def test_a_grantee_sees_only_its_namespaces_and_identities(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        assert dir(use.browser) == ["contextualIdentities", "cookies", "tabs"]
        assert [each["name"] for each in await use.browser.contextualIdentities.query({})] == ["Work"]
        assert (await use.browser.contextualIdentities.get(use.work))["name"] == "Work"
        assert await use.browser.contextualIdentities.query({"name": f"{SECRET} Banking"}) == []
        stores = await use.browser.cookies.getAllCookieStores()
        assert [each["id"] for each in stores] == [use.work]
        with pytest.raises(AttributeError):
            _ = use.browser.history
        with pytest.raises(PermissionDenied, match=r"bookmarks is not available with a grant\. Available are"):
            await use.call("bookmarks.getTree")
        with pytest.raises(PermissionDenied, match=r"tabs\.captureTab is not available"):
            await use.call("tabs.captureTab")


@in_loop
async def test_an_identity_outside_the_grant_is_refused_like_one_that_does_not_exist(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        for store in (use.banking, "firefox-container-999", "firefox-default", ""):
            with pytest.raises(PermissionDenied, match="does not include cookieStoreId") as refused:
                await use.browser.contextualIdentities.get(store)
            assert use.work in str(refused.value)
            with pytest.raises(PermissionDenied, match="does not include storeId"):
                await use.browser.cookies.getAll({"storeId": store})
            with pytest.raises(PermissionDenied, match="does not include cookieStoreId"):
                await use.browser.tabs.create({"cookieStoreId": store})


@in_loop
async def test_partitioned_cookies_of_a_host_that_is_named_with_a_port(tmp_path: Path) -> None:
    async with grantee(tmp_path, ["*.site.example:8000"]) as use:
        for site in ("https://site.example", "https://other.example"):
            await use.cookie(
                use.work, SITE, "one", "1", secure=True, sameSite="no_restriction", partitionKey={"topLevelSite": site}
            )
        keys: list[dict[str, str]] = [{}, {"topLevelSite": "https://site.example"}]
        for key in keys:
            found = await use.call("cookies.getAll", {"partitionKey": key})
            assert [each["partitionKey"]["topLevelSite"] for each in found] == ["https://site.example"]
        with pytest.raises(PermissionDenied, match="topLevelSite"):
            await use.call("cookies.getAll", {"partitionKey": {"topLevelSite": "https://other.example"}})


@in_loop
async def test_cookies_of_the_identity_and_hosts_only(tmp_path: Path) -> None:
    async with grantee(tmp_path, HOSTS) as use:
        await use.cookie(use.work, SITE, "mine", "1")
        await use.cookie(use.work, OTHER, "elsewhere", SECRET)
        await use.cookie(use.banking, SITE, "foreign", SECRET)
        partition: Any = {"partitionKey": {"topLevelSite": OTHER}}
        await use.cookie(use.work, SITE, "embedded", SECRET, secure=True, sameSite="no_restriction", **partition)
        found = await use.browser.cookies.getAll({"partitionKey": {}})
        assert [(each["name"], each["value"]) for each in found] == [("mine", "1")]
        with pytest.raises(PermissionDenied, match=r"does not include url 'https://other.example/'.*site\.example"):
            await use.browser.cookies.get({"url": OTHER, "name": "elsewhere"})
        with pytest.raises(PermissionDenied, match="topLevelSite"):
            await use.call("cookies.get", {"url": SITE, "name": "embedded", **partition})
        await use.browser.cookies.set({"url": SITE, "name": "new", "value": "2"})
        written = await use.owner.cookies.get({"url": SITE, "name": "new", "storeId": use.work})
        assert written is not None and written["value"] == "2"
        await use.browser.cookies.remove({"url": SITE, "name": "new"})
        assert await use.browser.cookies.get({"url": SITE, "name": "new"}) is None


@in_loop
async def test_without_cookie_values_no_value_is_shown_or_written(tmp_path: Path) -> None:
    async with grantee(tmp_path, actions=["cookies"]) as use:
        seen: list[Any] = []
        use.browser.cookies.onChanged.addListener(seen.append)
        await use.cookie(use.work, SITE, "session", SECRET)
        assert [(each["name"], each["value"]) for each in await use.browser.cookies.getAll({})] == [("session", "")]
        shown = await use.browser.cookies.get({"url": SITE, "name": "session"})
        assert shown is not None and shown["value"] == ""
        await until(lambda: seen)
        assert seen[0]["cookie"]["name"] == "session" and SECRET not in str(seen)
        for change in (use.browser.cookies.set, use.browser.cookies.remove):
            with pytest.raises(PermissionDenied, match="needs a grant with cookieValues"):
                await change({"url": SITE, "name": "session"})


@in_loop
async def test_tabs_of_the_identity_and_pages_of_the_hosts(tmp_path: Path) -> None:
    async with grantee(tmp_path, HOSTS) as use:
        mine = await use.tab(use.work, SITE, "App")
        hidden = await use.tab(use.work, OTHER, SECRET)
        foreign = await use.tab(use.banking, SITE, SECRET)
        found = await use.browser.tabs.query({})
        assert [(each["id"], each.get("title")) for each in found] == [(mine, "App"), (hidden, None)]
        assert OTHER not in str(found) and {each["index"] for each in found} == {-1}
        assert await use.browser.tabs.query({"title": SECRET}) == []
        messages = set()
        for tab_id in (foreign, 9999):
            for call in (use.browser.tabs.get, use.browser.tabs.reload, use.browser.tabs.remove):
                with pytest.raises(ApiError, match="Invalid tab ID") as refused:
                    await call(tab_id)
                messages.add(str(refused.value).replace(str(tab_id), "ID"))
        assert len(messages) == 1
        with pytest.raises(ApiError, match="Invalid tab ID"):
            await use.browser.tabs.remove([mine, foreign])
        with pytest.raises(PermissionDenied, match="outside the hosts"):
            await use.browser.tabs.remove(hidden)
        with pytest.raises(ArgumentError, match="tabId is required"):
            await use.browser.tabs.update({"active": True})
        with pytest.raises(PermissionDenied, match="does not allow openerTabId"):
            await use.browser.tabs.update(mine, {"openerTabId": foreign})
        with pytest.raises(PermissionDenied, match="does not include url"):
            await use.browser.tabs.update(mine, {"url": OTHER})
        await use.browser.tabs.remove(mine)
        assert sorted(each["id"] for each in await use.owner.tabs.query({"url": "*://*/*"})) == [hidden, foreign]


@in_loop
async def test_a_host_with_a_port_shows_its_tabs_and_the_cookies_of_all_ports(tmp_path: Path) -> None:
    async with grantee(tmp_path, ["localhost:8000"]) as use:
        own = await use.tab(use.work, "http://localhost:8000/a", "Own")
        other = await use.tab(use.work, f"http://localhost:9000/{SECRET}", SECRET)
        await use.cookie(use.work, "http://localhost:9000/", "sid", "1")
        await use.cookie(use.work, "http://other.localhost:8000/", SECRET, "1")
        assert (await use.browser.tabs.get(own)).get("title") == "Own"
        assert SECRET not in str(await use.browser.tabs.get(other))
        assert other not in [each["id"] for each in await use.browser.tabs.query({"title": f"*{SECRET}*"})]
        assert [each["id"] for each in await use.browser.tabs.query({"url": "*://localhost/*"})] == [own]
        assert [each["name"] for each in await use.browser.cookies.getAll({})] == ["sid"]
        own_cookie = await use.browser.cookies.get({"url": "http://localhost:8000/", "name": "sid"})
        assert own_cookie
        assert own_cookie["value"] == "1"
        with pytest.raises(PermissionDenied, match="localhost:9000"):
            await use.browser.cookies.get({"url": "http://localhost:9000/", "name": "sid"})


@in_loop
async def test_a_grant_without_hosts_sees_no_private_pages_and_cookies(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        tab = await use.tab(use.work, f"http://localhost:9000/{SECRET}", SECRET)
        await use.cookie(use.work, "http://192.168.1.1/", SECRET, SECRET)
        await use.cookie(use.work, "https://site.example/", "sid", "1")
        assert SECRET not in str(await use.browser.tabs.query({}))
        assert [each["name"] for each in await use.browser.cookies.getAll({})] == ["sid"]
        for path, argument in (
            ("tabs.create", {"url": "http://localhost:9000/"}),
            ("tabs.reload", tab),
            ("cookies.get", {"url": "http://192.168.1.1/", "name": SECRET}),
        ):
            with pytest.raises(PermissionDenied, match="have to be named"):
                await use.call(path, argument)


@in_loop
async def test_a_new_tab_belongs_to_the_identity(tmp_path: Path) -> None:
    async with grantee(tmp_path, HOSTS) as use:
        await use.owner.tabs.create({"cookieStoreId": use.banking})  # the first tab of a window is always active
        made = await use.browser.tabs.create({"url": SITE})
        assert made["cookieStoreId"] == use.work and not made["active"]
        blank = await use.browser.tabs.create({})
        for url in (OTHER, "file:///etc/passwd", "about:config", "javascript:1", "https://site.example.evil.example/"):
            with pytest.raises(PermissionDenied, match="does not include url"):
                await use.browser.tabs.create({"url": url})
        assert (await use.browser.tabs.update(blank["id"], {"url": SITE}))["cookieStoreId"] == use.work
        await use.browser.tabs.remove([made["id"], blank["id"]])


@in_loop
async def test_a_page_that_a_rule_opens_elsewhere_is_refused(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        await use.profile.rules.add("other.example", use.banking)
        tab_id = await use.tab(use.work, SITE)
        with pytest.raises(PermissionDenied, match="a rule of the profile does not open") as refused:
            await use.browser.tabs.update(tab_id, {"url": OTHER})
        assert use.banking not in str(refused.value) and SECRET not in str(refused.value)
        await use.profile.rules.add("site.example", use.work, limit=True)
        with pytest.raises(PermissionDenied, match="a rule of the profile"):
            await use.browser.tabs.create({"url": "https://third.example/"})


@in_loop
async def test_a_reload_that_a_rule_would_open_elsewhere_is_refused(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        tab_id = await use.tab(use.work, OTHER)
        blank = await use.browser.tabs.create({})
        await use.browser.tabs.reload(tab_id)
        await use.profile.rules.add("other.example", use.banking)
        before = await use.profile.tabs.get(tab_id)
        with pytest.raises(PermissionDenied, match="a rule of the profile does not open"):
            await use.browser.tabs.reload(tab_id)
        assert await use.profile.tabs.get(tab_id) == before
        await use.profile.rules.add("site.example", use.work, limit=True)
        await use.browser.tabs.reload(blank["id"])


@in_loop
async def test_settings_are_colors_and_icons_and_never_names(tmp_path: Path) -> None:
    async with grantee(tmp_path, actions=["settings"]) as use:
        assert (await use.browser.contextualIdentities.update(use.work, {"color": "red"}))["color"] == "red"
        with pytest.raises(PermissionDenied, match="does not allow name"):
            await use.browser.contextualIdentities.update(use.work, {"name": f"{SECRET} Banking"})
        with pytest.raises(PermissionDenied):
            await use.browser.contextualIdentities.update(use.banking, {"color": "red"})
        with pytest.raises(PermissionDenied, match=r"tabs\.query needs a grant with tabs"):
            await use.browser.tabs.query({})


@in_loop
async def test_a_grant_with_several_identities_requires_one_for_cookies(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        _, token = await use.profile.grants.create(identities=["Work", "Personal"], actions=["cookies", "tabs"])
        browser = await use.profile.browser(grant=token)
        with pytest.raises(ArgumentError, match="storeId is required"):
            await browser.cookies.getAll({})
        assert await browser.cookies.getAll({"storeId": use.work}) == []
        await use.tab(use.banking, SITE)
        tab_id = await use.tab(use.work, SITE)
        assert [each["id"] for each in await browser.tabs.query({})] == [tab_id]


@in_loop
async def test_a_revoked_grant_ends_calls_and_listeners_also_from_another_program(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use, hatbox.open(address_of(tmp_path / "profile.db")) as other:
        seen: list[Any] = []
        event = use.browser.cookies.onChanged
        event.addListener(seen.append)
        await other.grants.revoke(use.grant.id)
        await until(lambda: not event.hasListener(seen.append))
        await use.cookie(use.work, SITE, "later", SECRET)
        await use.owner.cookies.getAll({"storeId": use.work})
        assert seen == []
        with pytest.raises(PermissionDenied, match="was revoked"):
            await use.browser.cookies.getAll({})
        with pytest.raises(PermissionDenied, match="was revoked"):
            event.addListener(seen.append)


@in_loop
async def test_a_call_in_progress_gets_nothing_after_the_grant_has_ended(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        tab_id = await use.tab(use.work, SITE)
        replies = [use.browser.tabs.get(tab_id), use.browser.tabs.remove(tab_id), use.browser.tabs.reload(tab_id)]

        def ended(grant_id: str) -> Grant:
            raise GrantRevoked(grant_id)

        use.profile.grants.check = ended
        for reply in replies:
            with pytest.raises(PermissionDenied, match="was revoked"):
                await reply
        assert (await use.owner.tabs.get(tab_id))["id"] == tab_id


@in_loop
async def test_a_browser_without_listeners_is_not_stored_until_the_grant_ends(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        watchers = use.profile.grants._cache._watchers
        assert not watchers
        event = use.browser.cookies.onChanged
        for _ in range(2):
            event.addListener(print)
            assert len(watchers[use.grant.id]) == 1
            event.removeListener(print)
            assert not watchers


@in_loop
async def test_a_wrong_token_gets_no_browser(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        for token in ("", "hatbox_" + "A" * 43, use.grant.id):
            with pytest.raises(GrantRefused):
                await use.profile.browser(grant=token)
        with pytest.raises(TypeError):
            use.profile.browser(["tabs"], grant="x")  # type: ignore[call-overload]


@in_loop
async def test_each_call_is_recorded_with_host_identity_and_outcome(tmp_path: Path) -> None:
    async with grantee(tmp_path, HOSTS) as use:
        await use.browser.cookies.set({"url": f"{SITE}path?query", "name": "a", "value": SECRET})
        tab_id = await use.tab(use.work, SITE)
        await use.browser.tabs.get(tab_id)
        calls: list[list[Any]] = [
            ["cookies.get", {"url": OTHER, "name": "a"}],
            ["cookies.get", {"unknown": 1}],
            ["history.search", {"text": ""}],
            ["tabs.get", 9999],
            ["tabs.not a function"],
        ]
        for path, *arguments in calls:
            with pytest.raises(ApiError):
                await use.call(path, *arguments)
        use.browser.tabs.onCreated.addListener(print)
        rows = await use.profile.activity_log.query(grant=use.grant.id)
        assert {(each.action, each.host, each.outcome) for each in rows} == {
            ("cookies.set", "app.site.example", "ok"),
            ("tabs.get", "", "ok"),
            ("cookies.get", "other.example", "refused"),
            ("cookies.get", "", "failed"),
            ("history", "", "refused"),
            ("tabs.get", "", "failed"),
            ("unknown", "", "refused"),
            ("tabs.onCreated", "", "ok"),
        }
        assert {each.identity for each in rows} == {use.work}
        assert SECRET not in str(rows)


async def outcomes(use: Grantee) -> set[tuple[str, str, str, int]]:
    rows = await use.profile.activity_log.query(grant=use.grant.id)
    assert SECRET not in str(rows)
    return {(each.action, each.host, each.outcome, each.times) for each in rows}


@in_loop
async def test_a_call_is_recorded_although_the_program_cancels_it(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        tab_id = await use.tab(use.work, SITE)
        replies: list[Any] = [
            use.browser.cookies.set({"url": SITE, "name": "a", "value": SECRET}),
            use.browser.tabs.remove(tab_id),
        ]
        for reply in replies:
            reply.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reply
        recorded = await outcomes(use)
        assert recorded == {("cookies.set", "app.site.example", "cancelled", 1), ("tabs.remove", "", "cancelled", 1)}


@in_loop
async def test_a_call_that_is_not_awaited_is_recorded_when_the_profile_is_closed(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        use.browser.cookies.set({"url": SITE, "name": "a", "value": SECRET})
    async with hatbox.open(address_of(tmp_path / "profile.db")) as profile:
        (row,) = await profile.activity_log.query(grant=use.grant.id)
        assert (row.action, row.host, row.outcome) == ("cookies.set", "app.site.example", "ok")


@in_loop
async def test_a_call_that_fails_unexpectedly_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with grantee(tmp_path) as use:
        dispatcher, caller = dispatcher_and_caller(use.browser)
        namespace: Any = dispatcher.namespace(caller, "cookies")
        function, _ = namespace._methods["getAll"]

        def fail(*_: object) -> Any:
            raise ZeroDivisionError

        async def fail_later(*_: object) -> Any:
            raise KeyError(SECRET)

        async def call() -> Any:
            return await use.browser.cookies.getAll({})

        for method, error in ((fail, ZeroDivisionError), (fail_later, KeyError)):
            monkeypatch.setitem(namespace._methods, "getAll", (function, method))
            with pytest.raises(error):
                await call()
        assert await outcomes(use) == {("cookies.getAll", "", "failed", 2)}


@in_loop
async def test_each_delivered_event_and_each_refused_listener_is_recorded(tmp_path: Path) -> None:
    async with grantee(tmp_path, HOSTS) as use:
        seen: list[Any] = []
        use.browser.cookies.onChanged.addListener(seen.append)
        use.browser.tabs.onCreated.addListener(seen.append)
        use.browser.tabs.onRemoved.addListener(lambda *given: seen.append(given))
        use.browser.contextualIdentities.onUpdated.addListener(seen.append)
        updated: Any = use.browser.tabs.onUpdated
        updated.addListener(lambda *given: seen.append(given))
        with pytest.raises(ArgumentError):
            updated.addListener(lambda *_: None, {"unknown": 1})
        with pytest.raises(PermissionDenied):
            use.browser.tabs.onActivated.addListener(print)
        await use.cookie(use.work, SITE, "a", SECRET)
        await use.cookie(use.work, OTHER, "a", SECRET)
        tab_id = await use.tab(use.work, SITE)
        await use.owner.tabs.update(tab_id, {"muted": True})
        await use.owner.tabs.remove(tab_id)
        await use.owner.contextualIdentities.update(use.work, {"color": "red"})
        await until(lambda: len(seen) >= 5)
        recorded = await outcomes(use)
        assert recorded >= {
            ("cookies.onChanged", "", "ok", 1),
            ("cookies.onChanged", "app.site.example", "delivered", 1),
            ("tabs.onCreated", "app.site.example", "delivered", 1),
            ("tabs.onUpdated", "", "ok", 2),
            ("tabs.onRemoved", "", "delivered", 1),
            ("tabs.onActivated", "", "refused", 1),
            ("contextualIdentities.onUpdated", "", "delivered", 1),
        }
        assert ("tabs.onUpdated", "app.site.example", "delivered") in {each[:3] for each in recorded}
        assert "other.example" not in {host for _, host, _, _ in recorded}


@in_loop
async def test_names_are_no_way_to_fill_the_log_and_missing_ones_are_recorded(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        for number in range(500):
            with pytest.raises(PermissionDenied):
                await use.call(f"n{number}.m{number}")
            with pytest.raises(PermissionDenied):
                await use.call(f"tabs.m{number}")
        for owner, name in ((use.browser, "history"), (use.browser.tabs, "nothing")):
            with pytest.raises(AttributeError):
                getattr(owner, name)
        assert dir(use.browser.tabs) and repr(use.browser)
        assert await outcomes(use) == {("unknown", "", "refused", 1001), ("history", "", "refused", 1)}
