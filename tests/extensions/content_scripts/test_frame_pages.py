"""Pages of an extension in frames that its content scripts make: shown without web_accessible_resources too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import B, content_lab, script

pytestmark = pytest.mark.browser

FILES = {
    "prompt.html": "<!doctype html><script src=prompt.js></script><button>Allow</button><img src=image.svg>",
    "prompt.js": """
      const word = new URL(location).searchParams.get("word");
      addEventListener("load", async () => {
        const {url, frameId, tab} = await browser.runtime.sendMessage("who");
        const width = document.querySelector("img").naturalWidth;
        parent.postMessage({word, url, isFrame: frameId > 0, tab: tab.url, width}, "*");
      });
    """,
    "image.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
}
BACKGROUND = "browser.runtime.onMessage.addListener((_, sender) => Promise.resolve(sender));"
SHOW = """
  globalThis.show = (path, set) => new Promise(resolve => {
    const url = browser.runtime.getURL(path), frame = document.createElement("iframe");
    addEventListener("message", ({data, origin}) => { resolve([data, url.startsWith(origin), frame.src, url]); });
    set(frame, url);
    if (frame.src !== url) throw new Error(frame.src);
    document.body.append(frame);
  });
"""
WAYS = ("(frame, url) => { frame.src = url; }", "(frame, url) => { frame.setAttribute('src', url); }")
EXTENSION: dict[str, Any] = {"files": FILES, "background": BACKGROUND}


@with_browser
async def test_a_content_script_shows_a_page_of_its_extension_in_the_page(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script(SHOW)], **EXTENSION) as lab:
        for number, way in enumerate(WAYS):
            url = lab.page(f"/{number}")
            page = await lab.open(url)
            found, is_own, read_back, expected = await lab.value(page, f"show('prompt.html?word=a%20b#c', {way})")
            assert found == {"word": "a b", "url": expected, "isFrame": True, "tab": url, "width": 1}
            assert is_own
            assert read_back == expected


@with_browser
async def test_the_url_of_such_a_frame_shows_no_other_page_and_works_in_no_other_tab(
    tmp_path: Path, browser: str
) -> None:
    async with content_lab(tmp_path, browser, [script(SHOW)], **EXTENSION) as lab:
        page = await lab.open(lab.page("/"))
        await lab.value(page, f"show('prompt.html?word=x', {WAYS[0]})")
        granted = await page.evaluate("document.querySelector('iframe').src")
        load = """url => new Promise(resolve => {
          const frame = document.createElement("iframe");
          frame.onload = resolve;
          frame.src = url;
          document.body.append(frame);
        }).then(() => 0)"""
        plain = granted.replace(granted.split("/")[5] + "/", "").replace("_generated_hatbox/frames/", "")
        for url in (granted.replace("word=x", "word=y"), granted.replace("prompt.html", "image.svg"), plain):
            assert url != granted
            await page.evaluate(load, url)
            assert page.frames[-1].url == "chrome-error://chromewebdata/", url
        other = await lab.open(lab.site.url("/other", B))
        await other.evaluate(load, granted)
        assert other.frames[-1].url == "chrome-error://chromewebdata/"


@with_browser
async def test_a_web_page_in_the_same_frame_finds_nothing_of_the_extension(tmp_path: Path, browser: str) -> None:
    names = "Reflect.ownKeys(window).filter(name => typeof name === 'string' && /hatbox/i.test(name))"
    show = """new Promise(resolve => {
      onmessage = ({data}) => { if (data.word) resolve(data.word); };
      document.querySelector("iframe").src = browser.runtime.getURL("prompt.html?word=shown");
    })"""
    async with content_lab(tmp_path, browser, [script(SHOW)], **EXTENSION) as lab:
        lab.site.page("/inner")
        web = lab.site.url("/inner", B)
        page = await lab.open(lab.page("/", f"<iframe src='{web}'></iframe>"))
        frame = page.frames[1]
        for _ in range(3):
            await frame.wait_for_url(web)
            assert await lab.value(page, show) == "shown"
            await page.evaluate("url => { document.querySelector('iframe').src = url; }", web)
            await frame.wait_for_url(web)
            assert await frame.evaluate(names) == []


@with_browser
async def test_nothing_is_intercepted_before_and_after_such_frames(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script(SHOW)], **EXTENSION) as lab:
        page = await lab.open(lab.page("/"))
        running = lab.chrome.engine.running
        assert running is not None
        assert running.interceptor.config is None
        await lab.value(page, f"show('prompt.html?word=x', {WAYS[0]})")
        assert running.interceptor.config is not None
        await page.goto("about:blank")
        while running.interceptor.config is not None:
            await lab.value(await lab.open(lab.page("/next")), "1")
            await running.interceptor.wait_until_ready()
