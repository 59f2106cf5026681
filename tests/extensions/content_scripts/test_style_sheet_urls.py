"""Style sheets of content scripts find the files of their package, in whatever page they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.extensions.content_scripts.extension_world import resolve_style_urls
from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import A, content_lab

BASE = "moz-extension://u/"
FILES = {"img/a.png": b"png", "css/b c.svg": b"svg", "big.png": b"x" * 40000}


def resolved(text: str) -> str:
    return resolve_style_urls(text, "css/style.css", BASE, FILES.get)


def test_files_are_embedded_relative_to_the_style_sheet() -> None:
    png = 'url("data:image/png;base64,cG5n")'
    for url in ("/img/a.png", "../img/a.png", "'../img/a.png?x'", '"/img/a.png"', f"{BASE}img/a.png", " /img/a.png "):
        assert resolved(f"a {{background: url({url}) red}}") == f"a {{background: {png} red}}", url
    assert resolved("url('b c.svg#part')") == 'url("data:image/svg+xml;base64,c3Zn#part")'


def test_large_and_missing_files_have_their_absolute_url() -> None:
    assert resolved("url(/big.png)") == f'url("{BASE}big.png")'
    assert resolved("url(none.png#x)") == f'url("{BASE}css/none.png#x")'
    text = "".join(f"url(/{number}.png)" for number in range(20))
    found = resolve_style_urls(text, "a.css", BASE, lambda _: b"x" * 32768)
    assert found.count("data:") == 8


def test_a_fragment_does_not_end_the_url() -> None:
    assert resolved("url('/img/a.png#a\"b')") == 'url("data:image/png;base64,cG5n#a%22b")'
    assert resolved("url('none.svg#a b\")')") == f'url("{BASE}css/none.svg#a%20b%22)")'


def test_other_urls_are_unchanged() -> None:
    for url in ("https://site.test/a.png", "data:image/png;base64,AA", "#part", "//site.test/a.png", '""', "a\\62.png"):
        assert resolved(f"url({url})") == f"url({url})", url
    assert resolved("curl(/img/a.png)") == "curl(/img/a.png)"


@pytest.mark.browser
@with_browser
async def test_images_of_a_style_sheet_are_drawn_in_the_page(tmp_path: Path, browser: str) -> None:
    image = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'
    text = "body {background: url(/image.svg)} p {--name: '__MSG_@@extension_id__'}"
    files = {"css/style.css": text, "image.svg": image}
    entry = {"matches": [f"http://{A}/*"], "css": ["css/style.css"], "run_at": "document_start"}
    async with content_lab(tmp_path, browser, content_scripts=[entry], files=files) as lab:
        page = await lab.open(lab.page("/", "<p>text"))
        background = await page.evaluate("getComputedStyle(document.body).backgroundImage")
        assert background.startswith('url("data:image/svg+xml;base64,')
        name = await page.evaluate("getComputedStyle(document.querySelector('p')).getPropertyValue('--name')")
        assert name.strip("' ") == lab.extension.manifest.uuid
