"""Tests of the site assignment extension. The fixtures come with Hatbox."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
NONE, WORK = "firefox-default", "firefox-container-2"


@pytest.fixture
def bank(site):
    """A site that sets a cookie. `127.0.0.1` is another site on the same server."""
    return site.page("/bank", headers=[("Set-Cookie", "visitor=known")])


def in_containers(*wanted):
    """A condition: the tabs are in these containers, in this order."""
    return lambda tabs: [tab.cookie_store_id for tab in tabs] == list(wanted)


async def assign(extension, bank):
    """Run the extension, open the bank in Work, and choose from the menu that it always opens there."""
    assignment = await extension(HERE)
    await assignment.open(bank, "Work")
    await assignment.click_menu("assign")
    await assignment.wait_for("browser.storage.local.get('localhost').then(found => 'localhost' in found)")
    return assignment


async def test_an_assigned_site_opens_in_its_container(extension, site, bank):
    assignment = await assign(extension, bank)
    assert await assignment.open(bank, "Personal") is None  # that tab was closed
    tabs = await assignment.wait_for_tabs(in_containers(WORK, WORK))
    assert tabs[1].url == bank
    assert tabs[1].active
    # No request was sent from Personal: the second visit is in Work too.
    assert [request.cookies for request in site.requests] == [{}, {"visitor": "known"}]
    assert assignment.errors == []


async def test_a_link_in_a_page_leaves_the_page_where_it_is(extension, profile, site, bank):
    assignment = await assign(extension, bank)
    news = await assignment.open(site.url("/news", host="127.0.0.1"))
    await profile.tabs.navigate(news.id, bank)
    tabs = await assignment.wait_for_tabs(in_containers(WORK, NONE, WORK))
    assert [tab.url for tab in tabs] == [bank, site.url("/news", host="127.0.0.1"), bank]


async def test_a_redirect_to_an_assigned_site_is_moved_too(extension, site, bank):
    site.page("/go", status=302, headers=[("Location", bank)])
    assignment = await assign(extension, bank)
    await assignment.open(site.url("/go", host="127.0.0.1"))
    await assignment.wait_for_tabs(in_containers(WORK, WORK))
    assert [(request.path, request.cookies) for request in site.requests] == [
        ("/bank", {}),
        ("/go", {}),
        ("/bank", {"visitor": "known"}),
    ]


async def test_other_sites_open_anywhere(extension, site, bank):
    assignment = await assign(extension, bank)
    tab = await assignment.open(site.url("/", host="127.0.0.1"), "Personal")
    assert tab.cookie_store_id == "firefox-container-1"


async def test_a_site_that_is_released_opens_anywhere(extension, bank):
    assignment = await assign(extension, bank)
    await assignment.click_menu("release")
    await assignment.wait_for("browser.storage.local.get('localhost').then(found => !('localhost' in found))")
    tab = await assignment.open(bank)
    assert tab.cookie_store_id == NONE


async def test_a_site_whose_container_is_gone_opens_anywhere(extension, profile, bank):
    assignment = await assign(extension, bank)
    await profile.identities.remove(WORK)
    await assignment.wait_for("browser.storage.local.get('localhost').then(found => !('localhost' in found))")
    tab = await assignment.open(bank)
    assert tab.cookie_store_id == NONE
    assert assignment.errors == []


async def test_assignments_are_there_at_the_next_start(extension, profile, bank):
    assignment = await assign(extension, bank)
    await profile.extensions.stop(assignment.extension)
    again = await extension(HERE)
    assert await again.open(bank) is None
    await again.wait_for_tabs(in_containers(WORK, WORK))
