"""Tests of the container switcher extension. The fixtures come with Hatbox."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
NONE, PERSONAL, WORK = "firefox-default", "firefox-container-1", "firefox-container-2"


@pytest.fixture
def mail(site):
    """A page that sets a cookie."""
    return site.page("/mail", title="Mail", headers=[("Set-Cookie", "visitor=known")])


def in_containers(*wanted):
    """A condition: the tabs are in these containers, in this order."""
    return lambda tabs: [tab.cookie_store_id for tab in tabs] == list(wanted)


def offers(*titles):
    """A condition: these are the items below `Reopen in container`."""
    return lambda ui: ui.menus and [item.title for item in ui.menus if item.parent] == list(titles)


async def test_the_menu_reopens_a_page_in_another_container(extension, site, mail):
    switcher = await extension(HERE)
    await switcher.wait_for_ui(offers("No container", "Personal", "Work", "Banking", "Shopping"))
    await switcher.open(mail, "Personal")
    await switcher.click_menu(WORK)
    [tab] = await switcher.wait_for_tabs(in_containers(WORK))
    assert (tab.url, tab.active) == (mail, True)
    await switcher.click_menu(PERSONAL)
    await switcher.wait_for_tabs(in_containers(PERSONAL))
    # The first visit in Work, and the second one in Personal.
    assert [request.cookies for request in site.requests] == [{}, {}, {"visitor": "known"}]
    assert switcher.errors == []


async def test_the_tab_stays_where_it_was_in_the_row(extension, site):
    switcher = await extension(HERE)
    await switcher.wait_for_ui(offers("No container", "Personal", "Work", "Banking", "Shopping"))
    first = await switcher.open(site.url("/first"))
    await switcher.open(site.url("/second"))
    await switcher.click_menu(WORK, tab_id=first.id)
    tabs = await switcher.wait_for_tabs(in_containers(WORK, NONE))
    assert [(tab.title, tab.active) for tab in tabs] == [("/first", False), ("/second", True)]


async def test_the_key_goes_through_all_containers_and_back_to_none(extension, mail):
    switcher = await extension(HERE)
    await switcher.open(mail, "Shopping")
    await switcher.run_command("next-container")
    await switcher.wait_for_tabs(in_containers(NONE))
    await switcher.run_command("next-container")
    await switcher.wait_for_tabs(in_containers(PERSONAL))
    await switcher.run_command("next-container")
    await switcher.wait_for_tabs(in_containers(WORK))


async def test_a_new_tab_is_reopened_too(extension):
    switcher = await extension(HERE)
    await switcher.open("about:blank")
    await switcher.run_command("next-container")
    await switcher.wait_for_tabs(in_containers(PERSONAL))
    assert switcher.errors == []


async def test_the_button_tells_the_container_of_the_active_tab(extension, profile, mail):
    switcher = await extension(HERE)
    await switcher.open(mail, "Work")
    ui = await switcher.wait_for_ui(lambda ui: ui.action["title"] == "Work")
    assert ui.action["badgeText"] == "Wor"
    await profile.identities.update(WORK, name="Office")
    await switcher.wait_for_ui(lambda ui: ui.action["badgeText"] == "Off" and ui.action["title"] == "Office")
    await switcher.open(mail)
    await switcher.wait_for_ui(lambda ui: (ui.action["badgeText"], ui.action["title"]) == ("", "No container"))


async def test_the_menu_follows_the_containers(extension, profile):
    switcher = await extension(HERE)
    await switcher.wait_for_ui(offers("No container", "Personal", "Work", "Banking", "Shopping"))
    await profile.identities.create("Travel", color="blue", icon="vacation")
    await profile.identities.update(WORK, name="Office")
    await profile.identities.remove("firefox-container-3")
    await switcher.wait_for_ui(offers("No container", "Personal", "Office", "Shopping", "Travel"))
    assert switcher.errors == []


async def test_it_works_the_same_after_a_sleep(extension, mail):
    switcher = await extension(HERE)
    await switcher.open(mail, "Shopping")
    assert await switcher.extension.suspend()
    await switcher.run_command("next-container")
    await switcher.wait_for_tabs(in_containers(NONE))
