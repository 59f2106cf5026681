"""Grants for pages of extensions in frames: bounded, and only for the page and URL that they were made for."""

from __future__ import annotations

import pytest

from hatbox.errors import ApiError
from hatbox.extensions.content_scripts.frame_grants import FrameGrants, FrameOwner

UUID = "01234567-89ab-cdef-0123-456789abcdef"
OWNER = FrameOwner("a@example.org", UUID, "page", "document")
URL = f"moz-extension://{UUID}/prompt.html?a=b#c"
TARGET = f"https://{UUID}/prompt.html?a=b"


def test_a_granted_url_is_redirected_to_the_page_once_for_each_load() -> None:
    grants = FrameGrants()
    granted = grants.grant(OWNER, URL)
    assert grants.redirect(granted, "page", "frame") == f"{TARGET}#c"
    assert not grants.take_redirected(TARGET, "other")
    assert not grants.take_redirected(f"{TARGET}&c", "frame")
    assert grants.take_redirected(TARGET, "frame")
    assert not grants.take_redirected(TARGET, "frame")


def test_a_changed_url_and_another_page_are_refused() -> None:
    grants = FrameGrants()
    granted = grants.grant(OWNER, URL)
    assert grants.redirect(granted, "other", "frame") is None
    for old, new in (("a=b", "a=c"), ("prompt", "other"), (UUID, UUID.replace("0", "1")), ("frames/", "frames/0")):
        assert grants.redirect(granted.replace(old, new), "page", "frame") is None


def test_grants_end_with_the_document() -> None:
    grants = FrameGrants()
    granted = grants.grant(OWNER, URL)
    assert grants
    assert grants.has_extension("a@example.org")
    assert grants.revoke(OWNER)
    assert not grants
    assert grants.redirect(granted, "page", "frame") is None
    assert not grants.revoke(OWNER)


def test_urls_of_others_and_too_many_are_errors() -> None:
    grants = FrameGrants()
    for url in ("", "https://site.test/", "moz-extension://other/a.html", f"moz-extension://{UUID}/{'a' * 70000}"):
        with pytest.raises(ApiError, match="not a page of the extension"):
            grants.grant(OWNER, url)
    for number in range(100):
        grants.grant(OWNER, f"{URL}{number}")
    assert grants.grant(OWNER, f"{URL}1") == grants.grant(OWNER, f"{URL}1")
    with pytest.raises(ApiError, match="100 pages"):
        grants.grant(OWNER, f"{URL}x")
