from __future__ import annotations

from typing import Any

import pytest

from hatbox.extension_data.content_script import ContentScript
from hatbox.extension_data.content_script_matching import FrameDocument, script_matches
from hatbox.urls.match_patterns import host_permissions

SITE = "https://site.example/page"
NO_HOSTS = host_permissions(frozenset())


def matches(url: str, *, hosts: tuple[str, ...] = (), document: dict[str, Any] | None = None, **script: Any) -> bool:
    described = {"url": url, "top_url": url, "is_top": True, "cookie_store_id": "firefox-default", **(document or {})}
    permissions = host_permissions(frozenset(hosts)) if hosts else NO_HOSTS
    made = ContentScript(**{"matches": ("https://site.example/*",), **script})
    return script_matches(made, FrameDocument(**described), permissions)


@pytest.mark.parametrize(
    ("script", "is_injected"),
    [
        ({}, True),
        ({"matches": ("https://site.example/page",)}, True),
        ({"matches": ("https://site.example/pag",)}, False),
        ({"matches": ("*://*/*",)}, True),
        ({"matches": ("<all_urls>",)}, True),
        ({"matches": ("nonsense", "https://site.example/*")}, True),
        ({"exclude_matches": ("*://*.other.example/page",)}, True),
        ({"exclude_matches": ("*://site.example/page",)}, False),
        ({"include_globs": ("*/pag?",)}, True),
        ({"include_globs": ("*/elsewhere",)}, False),
        ({"include_globs": ()}, False),
        ({"exclude_globs": ("*/page",)}, False),
        ({"exclude_globs": ("*/pa?",)}, True),
        ({"cookie_store_ids": ("firefox-default",)}, True),
        ({"cookie_store_ids": ("firefox-container-1",)}, False),
        ({"cookie_store_ids": ()}, False),
        ({"check_permissions": True}, False),
    ],
)
def test_a_script_is_injected_where_it_says(script: dict[str, Any], is_injected: bool) -> None:
    assert matches(SITE, **script) == is_injected


def test_the_fragment_is_ignored_and_the_query_is_not() -> None:
    assert matches(f"{SITE}?q#f", include_globs=("*/page?q",))
    assert not matches(f"{SITE}?q", matches=("https://site.example/page",))


def test_a_permission_that_was_revoked_ends_the_scripts_of_version_3() -> None:
    assert matches(SITE, check_permissions=True, hosts=("https://site.example/*",))
    assert not matches(SITE, check_permissions=True, hosts=("https://other.example/*",))


@pytest.mark.parametrize(
    ("url", "plain", "blank", "fallback"),
    [
        ("https://site.example/inner", True, True, True),
        ("about:blank", False, True, True),
        ("about:srcdoc", False, True, True),
        ("about:blank?x", False, True, True),
        ("about:config", False, False, False),
        ("data:text/html,x", False, False, True),
        ("blob:https://site.example/uuid", True, True, True),
        ("https://other.example/inner", False, False, False),
    ],
)
def test_frames_that_inherit_their_origin_are_matched_by_their_creator(
    url: str, plain: bool, blank: bool, fallback: bool
) -> None:
    frame = {"top_url": SITE, "is_top": False, "creator_url": SITE}
    assert not matches(url, document=frame)
    assert matches(url, document=frame, all_frames=True) == plain
    assert matches(url, document=frame, all_frames=True, match_about_blank=True) == blank
    assert matches(url, document=frame, all_frames=True, match_origin_as_fallback=True) == fallback


def test_a_sandboxed_blank_frame_is_matched_only_as_a_fallback() -> None:
    frame = {"top_url": SITE, "is_top": False, "creator_url": SITE, "has_opaque_origin": True}
    assert not matches("about:srcdoc", document=frame, all_frames=True, match_about_blank=True)
    assert matches("about:srcdoc", document=frame, all_frames=True, match_origin_as_fallback=True)


def test_no_pattern_matches_pages_of_the_browser_or_of_extensions() -> None:
    for url in ("moz-extension://uuid/x.html", "chrome://settings/", "about:config", "https://addons.mozilla.org/"):
        assert not matches(url, matches=("<all_urls>", "about:*", "moz-extension://uuid/*", "chrome://settings/*"))
