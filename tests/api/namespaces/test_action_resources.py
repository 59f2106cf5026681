from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest

from hatbox import ApiError
from hatbox.api.namespaces.browser_action.action_resources import base_url, icon_urls, popup_url
from hatbox.javascript.wire_codec import Opaque

ROOT = "moz-extension://3c079a9e-0c5c-4d0b-8a4e-2d9f7b0c5a11/"
OTHER = "moz-extension://00000000-0000-0000-0000-000000000000/a.html"


@pytest.mark.parametrize(
    ("url", "own_only"),
    [
        *((url, True) for url in ("https://site.example/", "about:blank", OTHER)),
        *((url, False) for url in (OTHER, "about:config", "chrome://browser/", "file:///etc/passwd", "javascript:1")),
        *((url, False) for url in ("data:text/html,x", "http://", "blob:x")),
    ],
)
def test_a_popup_is_a_page_of_the_extension_or_with_version_2_of_the_web(url: str, own_only: bool) -> None:
    with pytest.raises(ApiError) as raised:
        popup_url(url, ROOT, own_only=own_only)
    assert str(raised.value) == f"Access denied for URL {url}"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", ""),
        ("popup.html?a=1#b", f"{ROOT}popup.html?a=1#b"),
        ("/sub/../popup.html", f"{ROOT}popup.html"),
        ("../../popup.html", f"{ROOT}popup.html"),
        (" popup.html ", f"{ROOT}popup.html"),
        (f"{ROOT}x.html", f"{ROOT}x.html"),
    ],
)
def test_a_popup_has_an_absolute_url(text: str, url: str) -> None:
    assert popup_url(text, ROOT, own_only=True) == url


def test_what_is_relative_is_relative_to_the_page_of_the_background() -> None:
    base = base_url("x", {"background": {"page": f"{ROOT}bg/page.html"}})
    assert popup_url("popup.html", base, own_only=True) == f"{ROOT}bg/popup.html"
    assert base_url("x", {"background": None}) == "moz-extension://x/"


@pytest.mark.parametrize("url", ["chrome://browser/x.png", "about:logo", "file:///x.png", "javascript:1", OTHER])
def test_an_icon_is_not_taken_from_just_anywhere(url: str) -> None:
    with pytest.raises(ApiError) as raised:
        icon_urls({"imageData": None, "path": {"16": "a.png", "32": url}}, ROOT)
    assert str(raised.value) == f"Illegal URL {url}"


def test_icons_have_sizes() -> None:
    assert icon_urls({"imageData": None, "path": None}, ROOT) is None
    assert icon_urls({"imageData": {}, "path": "a.png"}, ROOT) == {"19": f"{ROOT}a.png"}
    assert icon_urls({"imageData": None, "path": {"16": "", "32": "data:image/png,x"}}, ROOT) == {
        "16": "",
        "32": "data:image/png,x",
    }


def test_image_data_is_stored_as_png() -> None:
    pixels = bytes(range(16))  # two by two, four bytes each
    image: Any = Opaque((2, 2, base64.b64encode(pixels).decode()))
    urls = icon_urls({"imageData": {"16": image}, "path": None}, ROOT)
    assert urls is not None
    png = base64.b64decode(urls["16"].removeprefix("data:image/png;base64,"))
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (2, 2)
    start = png.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", png[start - 8 : start - 4])
    assert zlib.decompress(png[start : start + length]) == b"\0" + pixels[:8] + b"\0" + pixels[8:]
