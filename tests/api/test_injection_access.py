from __future__ import annotations

from typing import Any

import pytest

from hatbox.api.namespaces.tabs.tab_injection import InjectionAccess
from hatbox.extension_data.content_script_matching import FrameDocument
from hatbox.urls.match_patterns import host_permissions

SITE = "https://site.example/page"


def document(url: str, **members: Any) -> FrameDocument:
    return FrameDocument(
        **{"url": url, "top_url": url, "is_top": True, "cookie_store_id": "firefox-default", **members}
    )


def access(*patterns: str, **members: Any) -> InjectionAccess:
    return InjectionAccess(host_permissions(frozenset(patterns)), **members)


def test_a_host_permission_allows_its_hosts_only() -> None:
    allowed = access("https://site.example/*")
    assert allowed.allows(document(SITE))
    assert not allowed.allows(document("http://site.example/page"))
    assert not allowed.allows(document("https://other.example/"))


@pytest.mark.parametrize(
    "url",
    [
        "about:config",
        "chrome://settings/",
        "chrome-error://chromewebdata/",
        "chrome-extension://abc/x.html",
        "moz-extension://uuid/page.html",
        "resource://gre/x",
        "https://addons.mozilla.org/firefox/",
        "https://accounts.firefox.com/",
        "devtools://devtools/x",
    ],
)
def test_no_permission_allows_pages_of_the_browser(url: str) -> None:
    assert not access("<all_urls>").allows(document(url))
    assert not access("<all_urls>", active_url=url).allows(document(url))


def test_active_tab_allows_the_page_that_the_user_chose_and_its_frames_of_the_same_origin() -> None:
    allowed = access(active_url=SITE)
    assert allowed.allows(document("https://site.example/other"))
    assert allowed.allows(document("https://site.example/inner", top_url=SITE, is_top=False))
    assert not allowed.allows(document("https://other.example/inner", top_url=SITE, is_top=False))


@pytest.mark.parametrize(
    "url", [SITE, "about:srcdoc", "about:blank", "data:text/html,x", "blob:https://site.example/1"]
)
def test_active_tab_does_not_allow_a_sandboxed_frame_of_the_page(url: str) -> None:
    frame = document(url, creator_url=SITE, top_url=SITE, is_top=False, has_opaque_origin=True)
    wide = {"match_about_blank": True, "match_origin_as_fallback": True}
    assert not access(active_url=SITE, **wide).allows(frame)
    page = document(SITE, has_opaque_origin=True)  # its server has sandboxed it
    assert access(active_url=SITE, **wide).allows(page)


def test_active_tab_ends_when_the_tab_has_navigated_to_another_site() -> None:
    assert not access(active_url=SITE).allows(document("https://other.example/"))


def test_a_blank_frame_belongs_to_the_document_that_created_it() -> None:
    frame = document("about:blank", creator_url=SITE, top_url=SITE, is_top=False)
    assert not access("https://site.example/*").allows(frame)
    assert access("https://site.example/*", match_about_blank=True).allows(frame)
    assert not access("https://other.example/*", match_about_blank=True).allows(frame)


def test_a_data_frame_is_included_only_by_the_origin_as_fallback() -> None:
    frame = document("data:text/html,x", creator_url=SITE, top_url=SITE, is_top=False, has_opaque_origin=True)
    assert not access("https://site.example/*", match_about_blank=True).allows(frame)
    assert access("https://site.example/*", match_origin_as_fallback=True).allows(frame)


def test_a_blank_tab_belongs_to_nobody() -> None:
    everything = access("<all_urls>", match_about_blank=True, match_origin_as_fallback=True)
    assert not everything.allows(document("about:blank"))
