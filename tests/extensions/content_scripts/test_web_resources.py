"""Files of an extension in web pages: loaded if the manifest lists them, else a network error as any other."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Frame, Page

from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import A, B, content_lab, script

pytestmark = pytest.mark.browser

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
LOAD = """
  globalThis.load = (tag, keys) => new Promise(resolve => {
    const made = document.createElement(tag);
    made.onload = () => { resolve("load"); };
    made.onerror = () => { resolve("error"); };
    Object.assign(made, keys);
    document.body.append(made);
  });
"""
FILES = {
    "open/image.svg": SVG,
    "open/style.css": "@import 'more.css'; body {color: rgb(1, 2, 3)}",
    "open/more.css": "body {background: url(image.svg) rgb(4, 5, 6)}",
    "open/script.js": "document.documentElement.dataset.script = 'yes';",
    "open/module.js": "import {word} from './exports.js'; document.documentElement.dataset.module = word;",
    "open/exports.js": "export const word = 'imported';",
    "open/text.txt": "text",
    "open/page.html": "<!doctype html><title>Page</title><script src=page.js></script><img src=/closed/image.svg>",
    "open/page.js": """
      const api = ["tabs", "storage", "runtime"].map(name => typeof browser[name]);
      browser.runtime.sendMessage({page: 1}).then(answer => { parent.postMessage({answer, api}, "*"); });
      addEventListener("load", () => {
        const image = document.querySelector("img");
        parent.postMessage({own: image.naturalWidth, top: window === top}, "*");
      });
    """,
    "closed/image.svg": SVG,
    "closed/page.html": "<!doctype html><script src=page.js></script>",
    "closed/page.js": "parent.postMessage('shown', '*')",
    "closed/text.txt": "secret",
}
ECHO = """
  browser.runtime.onMessage.addListener((message, sender) => {
    const {url, origin, frameId, tab, envType} = sender;
    return Promise.resolve({url, origin, isFrame: frameId > 0, tab: tab.url, envType});
  });
  browser.test.sendMessage("base", browser.runtime.getURL(""));
"""
OPEN: dict[str, Any] = {"web_accessible_resources": ["open/*"]}
EVERY: dict[str, Any] = {"files": FILES, "background": ECHO}


async def until_frame(page: Page, url: str) -> Frame:
    """The first frame of a page, when it has loaded this URL."""
    await page.frames[1].wait_for_url(url)
    return page.frames[1]


@with_browser
async def test_elements_of_a_content_script_and_of_the_page_load_files_of_the_manifest(
    tmp_path: Path, browser: str
) -> None:
    async with content_lab(tmp_path, browser, [script(LOAD)], **EVERY, **OPEN) as lab:
        base = await lab.message("base")
        for at, run in (("content", lab.value), ("page", lambda page, code: page.evaluate(LOAD + code))):
            page = await lab.open(lab.page(f"/{at}"))
            assert await run(page, f"load('img', {{src: '{base}open/image.svg'}})") == "load"
            assert await run(page, f"load('img', {{src: '{base}closed/image.svg'}})") == "error"
            assert await run(page, f"load('link', {{rel: 'stylesheet', href: '{base}open/style.css'}})") == "load"
            style = "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
            assert await run(page, style) == ["rgb(1, 2, 3)", "rgb(4, 5, 6)"]
            assert await run(page, f"load('script', {{src: '{base}open/script.js'}})") == "load"
            assert await run(page, "document.documentElement.dataset.script") == "yes"
            assert await run(page, f"load('script', {{src: '{base}manifest.json'}})") == "error"


@with_browser
async def test_a_content_script_adds_modules_and_reads_back_the_url_that_it_has_set(
    tmp_path: Path, browser: str
) -> None:
    async with content_lab(tmp_path, browser, [script(LOAD)], **EVERY, **OPEN) as lab:
        base = await lab.message("base")
        page = await lab.open(lab.page("/"))
        module = "load('script', {type: 'module', src: browser.runtime.getURL('open/module.js')})"
        assert await lab.value(page, module) == "load"
        assert await lab.value(page, "document.documentElement.dataset.module") == "imported"
        assert await lab.value(page, "document.querySelector('script[type=module]').src") == f"{base}open/module.js"


@with_browser
async def test_a_page_of_the_extension_in_a_frame_has_the_api_of_content_scripts(tmp_path: Path, browser: str) -> None:
    frame = """
      new Promise(resolve => {
        const found = [];
        addEventListener("message", event => {
          found.push([event.data, event.origin]);
          if (found.length === 2) resolve(found);
        });
        HOW
      })
    """
    ways = (
        "const made = document.createElement('iframe'); made.src = browser.runtime.getURL('open/page.html');"
        "document.body.append(made);",
        "document.body.innerHTML = `<div><iframe src='${browser.runtime.getURL('open/page.html')}'></iframe></div>`;",
        "document.body.attachShadow({mode: 'closed'}).innerHTML ="
        "`<p><iframe src='${browser.runtime.getURL('open/page.html')}'></iframe>`;",
    )
    async with content_lab(tmp_path, browser, [script("0")], **EVERY, **OPEN) as lab:
        base = await lab.message("base")
        for number, way in enumerate(ways):
            url = lab.page(f"/{number}")
            found = await lab.value(await lab.open(url), frame.replace("HOW", way))
            where = {"url": f"{base}open/page.html", "origin": base[:-1], "isFrame": True, "tab": url}
            expected = {"answer": {**where, "envType": "content_child"}, "api": ["undefined", "object", "object"]}
            assert sorted(found, key=lambda each: "own" in each[0]) == [
                [expected, base[:-1]],
                [{"own": 1, "top": False}, base[:-1]],
            ]


@with_browser
async def test_a_page_finds_out_nothing_by_guessing(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script("browser.runtime")], **EVERY, **OPEN) as lab:
        base = await lab.message("base")
        https = base.replace("moz-extension://", "https://")
        page = await lab.open(lab.page("/"))
        unknown = "https://11111111-2222-3333-4444-555555555555/open/text.txt"
        fetched = "url => fetch(url).then(answer => answer.text(), error => `${error}`)"
        refused = await page.evaluate(fetched, unknown)
        assert refused == "TypeError: Failed to fetch"
        for path in (
            "closed/text.txt",
            "manifest.json",
            "background.js",
            "none",
            "",
            "open/../closed/text.txt",
            "open/%2e%2e/closed/text.txt",
            "open%2f..%2fclosed/text.txt",
            "open/%2e%2e%2fclosed/text.txt",
            "open//../../closed/text.txt",
            "open/..%5cclosed/text.txt",
            "_generated_hatbox/blank.html",
            "open/text.txt/../../closed/text.txt?open/text.txt",
        ):
            assert await page.evaluate(fetched, https + path) == refused, path
        assert await page.evaluate(fetched, f"{https}open/text.txt?closed/text.txt#x") == "text"
        posted = "url => fetch(url, {method: 'POST', mode: 'no-cors'}).then(() => 'sent', error => `${error}`)"
        assert await page.evaluate(posted, f"{https}open/text.txt") == refused
        for url in (f"{base}none.svg", f"{base}closed/image.svg", "moz-extension://unknown/open/image.svg"):
            assert await page.evaluate(f"url => {{ {LOAD}; return load('img', {{src: url}}); }}", url) == "error", url


@with_browser
async def test_a_page_cannot_show_a_page_of_the_extension_that_is_not_listed(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script("browser.runtime")], **EVERY, **OPEN) as lab:
        base = await lab.message("base")
        https = base.replace("moz-extension://", "https://")
        page = await lab.open(lab.page("/"))
        await page.evaluate("() => { globalThis.messages = []; onmessage = ({data}) => { messages.push(data); }; }")
        load = f"url => {{ {LOAD}; return load('iframe', {{src: url}}); }}"
        assert await page.evaluate(load, f"{https}closed/page.html") == "load"  # of the error page
        assert [each.url for each in page.frames[1:]] == ["chrome-error://chromewebdata/"]
        assert await page.evaluate(load, f"{https}open/page.html") == "load"
        await page.wait_for_function("messages.length === 2")
        assert "shown" not in await page.evaluate("messages")


@with_browser
async def test_files_of_version_3_load_in_the_pages_that_match_only(tmp_path: Path, browser: str) -> None:
    keys: dict[str, Any] = {
        "manifest_version": 3,
        "host_permissions": ["<all_urls>"],
        "permissions": ["storage"],
        "web_accessible_resources": [
            {"resources": ["open/*"], "matches": [f"http://{A}/*"]},
            {"resources": ["closed/text.txt"], "extension_ids": ["*"]},
        ],
    }
    async with content_lab(tmp_path, browser, [script(LOAD)], files=FILES, **keys) as lab:
        base = lab.extension.manifest.base_url
        load = f"url => {{ {LOAD}; return load('img', {{src: url}}); }}"
        page = await lab.open(lab.page("/", f"<iframe src='{lab.site.url('/inner', B)}'></iframe>"))
        assert await page.evaluate(load, f"{base}open/image.svg") == "load"
        assert await page.frames[1].evaluate(load, f"{base}open/image.svg") == "error"
        other = await lab.open(lab.site.url("/other", B))
        assert await other.evaluate(load, f"{base}open/image.svg") == "error"
        https = base.replace("moz-extension://", "https://")
        fetched = "url => fetch(url).then(answer => answer.text(), error => error.name)"
        assert await page.evaluate(fetched, f"{https}closed/text.txt") == "TypeError"


@with_browser
async def test_a_page_does_not_pass_as_another_site_by_a_load_that_shows_nothing(tmp_path: Path, browser: str) -> None:
    background = """
      browser.webRequest.onBeforeRequest.addListener(
        ({url, documentUrl}) => { browser.test.sendMessage("document", documentUrl); }, {urls: ["*://*/image"]});
      browser.test.sendMessage("ready");
    """
    keys: dict[str, Any] = {
        "manifest_version": 3,
        "host_permissions": ["<all_urls>"],
        "permissions": ["webRequest"],
        "web_accessible_resources": [{"resources": ["open/*"], "matches": [f"http://{A}/*"]}],
    }
    attachment = [("Content-Type", "application/octet-stream"), ("Content-Disposition", "attachment; filename=a.bin")]
    async with content_lab(tmp_path, browser, background=background, files=FILES, **keys) as lab:
        await lab.message("ready")
        download = lab.page("/download", headers=attachment)
        nothing = lab.page("/nothing", status=204)
        load = f"url => {{ {LOAD}; return load('img', {{src: url}}); }}"
        image = f"{lab.extension.manifest.base_url}open/image.svg"
        lab.site.page("/stopped", "x" * 10**6)
        there = lab.site.url("/stopped", A)
        own = lab.site.url("/own", B)
        for at in ("top", "frame"):
            page = await lab.open(own)
            where = page.main_frame
            if at == "frame":
                await page.evaluate("document.body.innerHTML = `<iframe src='/own'></iframe>`")
                where = await until_frame(page, own)
            for url in (nothing, download):
                async with page.expect_download() if url == download else contextlib.nullcontext():
                    await where.evaluate("url => { location.href = url; }", url)
                assert await where.evaluate(load, image) == "error", url
                assert await where.evaluate(load, "/image") == "error"
                assert await lab.message("document") == own
            await where.evaluate("url => { location.href = url; stop(); }", there)
            assert await where.evaluate(load, image) == "error"
            await where.evaluate("url => { location.href = url; }", lab.page("/shown"))
            await where.wait_for_url("**/shown")
            assert await where.evaluate(load, image) == "load"


@with_browser
async def test_nothing_is_intercepted_without_an_extension_that_lists_files(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script("0")], files=FILES) as lab:
        page = await lab.open(lab.page("/"))
        running = lab.chrome.engine.running
        assert running is not None
        assert running.interceptor.config is None
        load = f"url => {{ {LOAD}; return load('img', {{src: url}}); }}"
        assert await page.evaluate(load, f"{lab.extension.manifest.base_url}open/image.svg") == "error"


@with_browser
async def test_files_are_gone_with_the_extension(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script(LOAD)], **EVERY, **OPEN) as lab:
        base = await lab.message("base")
        page = await lab.open(lab.page("/"))
        load = f"url => {{ {LOAD}; return load('img', {{src: url}}); }}"
        assert await page.evaluate(load, f"{base}open/image.svg") == "load"
        await lab.profile.extensions.stop(lab.extension)
        running = lab.chrome.engine.running
        assert running is not None
        await running.interceptor.wait_until_ready()
        assert running.interceptor.config is None
        assert await page.evaluate(load, f"{base}open/image.svg?again") == "error"


@with_browser
async def test_a_listener_redirects_a_request_to_a_listed_file(tmp_path: Path, browser: str) -> None:
    background = """
      browser.webRequest.onBeforeRequest.addListener(
        ({url}) => ({redirectUrl: browser.runtime.getURL(new URL(url).searchParams.get("to"))}),
        {urls: ["*://*/redirected*"]}, ["blocking"]);
      browser.test.sendMessage("ready");
    """
    permissions = ["<all_urls>", "webRequest", "webRequestBlocking"]
    async with content_lab(
        tmp_path, browser, background=background, files=FILES, permissions=permissions, **OPEN
    ) as lab:
        await lab.message("ready")
        page = await lab.open(lab.page("/"))
        load = f"url => {{ {LOAD}; return load('img', {{src: url}}); }}"
        assert await page.evaluate(load, "/redirected?to=open/image.svg") == "load"
        assert await page.evaluate(load, "/redirected?to=closed/image.svg") == "error"
        fetched = "url => fetch(url).then(answer => answer.text(), error => error.name)"
        assert await page.evaluate(fetched, "/redirected?to=open/text.txt") == "text"
        assert await page.evaluate(fetched, "/redirected?to=closed/text.txt") == "TypeError"


@with_browser
async def test_a_page_of_the_extension_in_a_frame_has_its_policy_and_the_page_cannot_reach_into_it(
    tmp_path: Path, browser: str
) -> None:
    files = {
        **FILES,
        "open/page.html": "<!doctype html><script>window.inline = 1</script><script src=page.js></script>",
        "open/page.js": """
          const evaluated = () => { try { return eval("1"); } catch (error) { return error.name; } };
          addEventListener("message", ({data, origin, source}) => {
            const names = Reflect.ownKeys(window).filter(name => typeof name === "string" && /hatbox/i.test(name));
            source.postMessage({inline: typeof inline, evaluated: evaluated(), names}, origin);
          });
        """,
    }
    async with content_lab(tmp_path, browser, [script("browser.runtime")], files=files, background=ECHO, **OPEN) as lab:
        base = await lab.message("base")
        https = base.replace("moz-extension://", "https://")
        page = await lab.open(lab.page("/"))
        found = await page.evaluate(
            """async url => {
              const frame = document.createElement("iframe");
              const loaded = new Promise(resolve => { frame.onload = resolve; });
              frame.src = url;
              document.body.append(frame);
              await loaded;
              let reached;
              try { reached = frame.contentWindow.browser; } catch (error) { reached = error.name; }
              const answer = new Promise(resolve => { onmessage = ({data}) => { resolve(data); }; });
              frame.contentWindow.postMessage("x", "*");
              return [reached, await answer];
            }""",
            f"{https}open/page.html",
        )
        assert found == ["SecurityError", {"inline": "undefined", "evaluated": "EvalError", "names": []}]
