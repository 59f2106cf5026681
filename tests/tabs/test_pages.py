from __future__ import annotations

import pytest

from hatbox import InvalidTab
from hatbox.tabs.pages import (
    PageState,
    navigate,
    navigation_started,
    page_navigated_itself,
    reload,
    save_page_snapshot,
    update_page,
)
from tests.tabs.desk import Desk

SITE = "http://site.example"
PAGE = PageState(f"{SITE}/page", "Page", f"{SITE}/icon", 200, "text/html")


def desk_at_page() -> Desk:
    desk = Desk()
    desk.open(url=f"{SITE}/page")
    desk.do(update_page, 1, 1, PAGE)
    _ = desk.heard
    return desk


def test_a_load_is_told_from_its_beginning_to_its_end() -> None:
    desk = Desk()
    desk.open(url=f"{SITE}/page")
    _ = desk.heard
    assert desk.do(navigation_started, 1, 1).status == "loading"  # type: ignore[union-attr]
    desk.do(update_page, 1, 1, PAGE, done=False)
    assert desk.tab(1).status == "loading"
    desk.do(update_page, 1, 1, PAGE)
    assert desk.heard == [
        "updated 1 status=loading",
        f"updated 1 status=loading, url={SITE}/page",
        "updated 1 title=Page",
        f"updated 1 icon={SITE}/icon",
        "updated 1 status=complete",
    ]
    tab = desk.tab(1)
    assert (tab.url, tab.title, tab.icon, tab.http_status, tab.content_type) == (
        f"{SITE}/page",
        "Page",
        f"{SITE}/icon",
        200,
        "text/html",
    )
    assert (tab.pending_url, tab.loading, tab.status) == ("", False, "complete")


def test_an_engine_that_reports_the_end_only_is_told_of_in_the_same_order() -> None:
    desk = Desk()
    desk.open(url=f"{SITE}/page")
    _ = desk.heard
    desk.do(update_page, 1, 1, PageState(f"{SITE}/page", "Page"))
    assert desk.heard == [
        "updated 1 status=loading",
        f"updated 1 status=loading, url={SITE}/page",
        "updated 1 title=Page",
        "updated 1 status=complete",
    ]


def test_until_the_next_page_is_there_the_old_one_stays_and_then_its_title_goes_first() -> None:
    desk = desk_at_page()
    asked = desk.do(navigate, 1, f"{SITE}/other")
    assert (asked.url, asked.title, asked.status, asked.pending_url) == (
        f"{SITE}/page",
        "Page",
        "complete",
        f"{SITE}/other",
    )
    assert desk.heard == ["navigated 1"]
    desk.do(navigation_started, 1, 2)
    assert desk.tab(1).display_title == "Page"
    desk.do(update_page, 1, 2, PageState(f"{SITE}/other", "Other"))
    assert desk.heard == [
        "updated 1 status=loading",
        "updated 1 title=",
        f"updated 1 status=loading, url={SITE}/other",
        "updated 1 title=Other",
        "updated 1 icon=",
        "updated 1 status=complete",
    ]


def test_a_page_that_is_loaded_again_keeps_its_title() -> None:
    desk = desk_at_page()
    desk.do(reload, 1)
    assert desk.tab(1).pending_url == f"{SITE}/page"
    desk.do(update_page, 1, 2, PAGE)
    assert desk.heard == [
        "navigated 1",
        "updated 1 status=loading",
        f"updated 1 status=loading, url={SITE}/page",
        "updated 1 status=complete",
    ]


def test_the_title_and_icon_of_a_page_that_is_loaded_again_stay_until_it_has_loaded() -> None:
    desk = desk_at_page()
    desk.do(reload, 1)
    desk.do(update_page, 1, 2, PageState(PAGE.url), done=False)
    tab = desk.tab(1)
    assert (tab.title, tab.icon, tab.loading) == (PAGE.title, PAGE.icon, True)
    desk.do(update_page, 1, 2, PageState(PAGE.url, error="the server is gone"))
    tab = desk.tab(1)
    assert (tab.title, tab.icon, tab.error) == (PAGE.title, PAGE.icon, "the server is gone")
    desk.do(reload, 1)
    desk.do(update_page, 1, 3, PageState(PAGE.url))  # now it has none
    assert (desk.tab(1).title, desk.tab(1).icon) == ("", "")


def test_a_page_without_a_title_is_called_by_its_address() -> None:
    desk = Desk()
    desk.open(url="https://www.site.example/x?y")
    desk.do(update_page, 1, 1, PageState("https://www.site.example/x?y"))
    assert desk.tab(1).display_title == "site.example/x?y"


def test_what_changes_later_is_told_too() -> None:
    desk = desk_at_page()
    desk.do(update_page, 1, 1, PageState(f"{SITE}/page#there", "Page (1)", f"{SITE}/icon", 200, "text/html"))
    assert desk.heard == [f"updated 1 url={SITE}/page#there", "updated 1 title=Page (1)"]


def test_a_blank_page_is_told_by_its_status_only() -> None:
    desk = Desk()
    desk.open(url="about:blank")
    _ = desk.heard
    assert desk.do(navigation_started, 1, 1).status == "complete"  # type: ignore[union-attr]
    desk.do(update_page, 1, 1, PageState("about:blank"))
    assert desk.heard == ["updated 1 status=loading", "updated 1 status=complete"]


def test_an_error_is_a_state() -> None:
    desk = Desk()
    desk.open(url=f"{SITE}/page")
    desk.do(update_page, 1, 1, PageState(f"{SITE}/page", error="no answer"))
    tab = desk.tab(1)
    assert (tab.url, tab.error, tab.status) == (f"{SITE}/page", "no answer", "complete")
    desk.do(navigate, 1, f"{SITE}/page")
    desk.do(update_page, 1, 2, PAGE)
    assert desk.tab(1).error == ""


def test_a_page_that_goes_somewhere_by_itself_begins_a_load_of_its_own() -> None:
    desk = desk_at_page()
    tab = desk.do(page_navigated_itself, 1, 1, f"{SITE}/next")
    assert tab is not None
    assert (tab.navigation_id, tab.pending_url, tab.status) == (2, f"{SITE}/next", "loading")
    assert desk.heard == ["updated 1 status=loading"]


@pytest.mark.parametrize("tab_id", [1, 99])
def test_a_report_about_a_load_that_was_overtaken_or_a_tab_that_is_gone_changes_nothing(tab_id: int) -> None:
    desk = desk_at_page()
    desk.do(navigate, 1, f"{SITE}/other")
    assert desk.do(navigation_started, tab_id, 1) is None
    assert desk.do(update_page, tab_id, 1, PageState(f"{SITE}/late")) is None
    assert desk.do(page_navigated_itself, tab_id, 1, f"{SITE}/late") is None
    desk.do(save_page_snapshot, 99, b"x")
    assert desk.heard == ["navigated 1"]
    assert desk.tab(1).url == f"{SITE}/page"


def test_only_a_tab_that_is_there_can_be_navigated() -> None:
    for rule, arguments in ((navigate, ("about:blank",)), (reload, ())):
        with pytest.raises(InvalidTab):
            Desk().do(rule, 1, *arguments)


def test_a_load_that_came_to_nothing_leaves_the_page_as_it_was() -> None:
    desk = desk_at_page()
    before = desk.tab(1)
    desk.do(navigate, 1, f"{SITE}/other")
    desk.do(navigation_started, 1, 2)
    desk.do(update_page, 1, 2, PageState(f"{SITE}/page", stopped=True))
    after = desk.tab(1)
    assert (after.url, after.title, after.icon, after.http_status) == (before.url, "Page", before.icon, 200)
    assert (after.pending_url, after.loading) == ("", False)
    assert desk.heard == ["navigated 1", "updated 1 status=loading", "updated 1 status=complete"]


def test_a_title_that_is_no_text_or_too_long_is_made_to_fit() -> None:
    desk = desk_at_page()
    desk.do(update_page, 1, 1, PageState(f"{SITE}/page", "half \ud800"))
    assert desk.tab(1).title == "half \ufffd"
    desk.do(update_page, 1, 1, PageState(f"{SITE}/page", "x" * 20_000_000))
    assert desk.tab(1).title == "x" * 4096
