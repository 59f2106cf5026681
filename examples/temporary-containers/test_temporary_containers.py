"""Tests of the temporary containers extension. The fixtures come with Hatbox."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def shop(site):
    """A page that sets a cookie."""
    return site.page("/shop", headers=[("Set-Cookie", "visitor=known")])


async def names(profile):
    """The names of all containers."""
    return [identity.name for identity in await profile.identities.query()]


async def open_temporary(temporary, profile, number):
    """Click the action. Returns the new tab; there are `number` temporary containers then."""
    if not await profile.tabs.query():
        await temporary.open("about:blank")  # the action needs a window
    before = {tab.id for tab in await profile.tabs.query()}
    await temporary.click_action()
    tabs = await temporary.wait_for_tabs(lambda tabs: len(tabs) > len(before))
    await temporary.wait_for(f"browser.storage.local.getKeys().then(keys => keys.length === {number})")
    return next(tab for tab in tabs if tab.id not in before)


async def test_each_tab_has_its_own_cookies(extension, profile, engine, site, shop):
    temporary = await extension(HERE)
    for number in (1, 2):
        tab = await open_temporary(temporary, profile, number)
        for _ in range(2):
            await profile.tabs.navigate(tab.id, shop)
            await engine.wait_until_loaded(tab.id)
    known = {"visitor": "known"}
    assert [request.cookies for request in site.requests] == [{}, known, {}, known]
    assert (await names(profile))[4:] == ["Temporary 1", "Temporary 2"]
    assert temporary.errors == []


async def test_the_key_does_what_the_button_does(extension, profile):
    temporary = await extension(HERE)
    await temporary.open("about:blank")
    await temporary.run_command("new-temporary-tab")
    tabs = await temporary.wait_for_tabs(lambda tabs: len(tabs) == 2)
    container = await profile.identities.get(tabs[1].cookie_store_id)
    assert container.name == "Temporary 1"


async def test_the_container_goes_with_its_last_tab(extension, profile, site):
    temporary = await extension(HERE)
    tab = await open_temporary(temporary, profile, 1)
    second = await temporary.open(site.url("/more"), tab.cookie_store_id)
    await profile.tabs.close(tab.id)
    assert "Temporary 1" in await names(profile)
    await profile.tabs.close(second.id)
    await temporary.wait_for("browser.contextualIdentities.query({}).then(all => all.length === 4)")
    assert await names(profile) == ["Personal", "Work", "Banking", "Shopping"]
    assert temporary.errors == []


async def test_containers_of_the_user_stay_when_their_tabs_are_closed(extension, profile, site):
    temporary = await extension(HERE)
    theirs = await temporary.open(site.url("/"), "Work")
    tab = await open_temporary(temporary, profile, 1)
    await profile.tabs.close([theirs.id, tab.id])
    await temporary.wait_for("browser.storage.local.getKeys().then(keys => keys.length === 0)")
    await temporary.wait_for("browser.contextualIdentities.query({}).then(all => all.length === 4)")
    assert "Work" in await names(profile)


async def test_what_was_closed_while_it_did_not_run_goes_at_the_next_start(extension, profile):
    temporary = await extension(HERE)
    tab = await open_temporary(temporary, profile, 1)
    await profile.extensions.stop(temporary.extension)
    await profile.tabs.close(tab.id)
    assert "Temporary 1" in await names(profile)
    again = await extension(HERE)
    await again.wait_for("browser.contextualIdentities.query({}).then(all => all.length === 4)")


async def test_no_two_have_the_same_name(extension, profile):
    temporary = await extension(HERE)
    first = await open_temporary(temporary, profile, 1)
    await open_temporary(temporary, profile, 2)
    await profile.tabs.close(first.id)
    await temporary.wait_for("browser.contextualIdentities.query({}).then(all => all.length === 5)")
    await open_temporary(temporary, profile, 2)
    assert (await names(profile))[4:] == ["Temporary 2", "Temporary 1"]


async def test_one_that_the_user_removes_is_forgotten(extension, profile):
    temporary = await extension(HERE)
    tab = await open_temporary(temporary, profile, 1)
    await profile.identities.remove(tab.cookie_store_id)
    await temporary.wait_for("browser.storage.local.getKeys().then(keys => keys.length === 0)")
    assert temporary.errors == []
