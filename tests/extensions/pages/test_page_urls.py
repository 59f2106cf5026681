"""The two spellings of the URLs of extension pages."""

from __future__ import annotations

import pytest

from hatbox.extensions.pages.page_urls import PageUrls

URLS = PageUrls("11111111-2222-4333-8444-555555555555")
MOZ, HTTPS = URLS.extension_origin, URLS.origin


@pytest.mark.parametrize("tail", ["", "/", "/popup.html", "/a/b.html?x=1#y", "?x", "#y"])
def test_a_url_has_both_spellings(tail: str) -> None:
    assert URLS.page_url(MOZ + tail) == HTTPS + tail
    assert URLS.extension_url(HTTPS + tail) == MOZ + tail
    assert URLS.path_of(MOZ + tail) == URLS.path_of(HTTPS + tail) == tail.removeprefix("/")


@pytest.mark.parametrize(
    "url", [f"{MOZ}5/x", f"{HTTPS}.example/x", f"{HTTPS}:444/", "https://site.example/", "about:blank", "", f" {MOZ}/"]
)
def test_another_url_is_unchanged(url: str) -> None:
    assert URLS.page_url(url) == URLS.extension_url(url) == url
    assert URLS.path_of(url) is None


def test_the_host_is_the_one_of_firefox() -> None:
    assert f"https://{URLS.uuid}" == HTTPS  # extensions write `moz-extension://${location.host}/`
