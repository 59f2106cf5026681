"""fetch() in content scripts: the host reaches other origins that the extension may access, the page its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import content_lab, script

pytestmark = pytest.mark.browser

OTHER = "127.0.0.1"


@with_browser
async def test_fetch_reaches_permitted_origins_without_cookies_and_the_page_with_them(
    tmp_path: Path, browser: str
) -> None:
    code = "const text = url => fetch(url).then(answer => answer.text(), error => error.name);"
    permissions = ["http://a.localhost/*", f"http://{OTHER}/*"]
    async with content_lab(tmp_path, browser, [script(code)], permissions=permissions) as lab:
        lab.page("/data", "the data")
        page = await lab.open(lab.page("/", headers=[("Set-Cookie", "session=mine; Path=/")]))
        assert "the data" in await lab.value(page, f"text('{lab.site.url('/data', OTHER)}')")
        request = lab.site.requests[-1]
        assert (request.host, request.cookies) == (OTHER, {})
        assert "the data" in await lab.value(page, "text('/data')")
        request = lab.site.requests[-1]
        assert (request.host, request.cookies) == ("a.localhost", {"session": "mine"})
        assert await lab.value(page, f"text('{lab.site.url('/data', 'c.localhost')}')") == "TypeError"


@with_browser
async def test_fetch_reads_all_files_of_the_extension_as_in_firefox(tmp_path: Path, browser: str) -> None:
    code = (
        "const text = path => fetch(browser.runtime.getURL(path)).then(answer => answer.text(), error => error.name);"
    )
    files = {"shown/a.txt": "shown", "hidden.txt": "hidden"}
    keys: dict[str, Any] = {"web_accessible_resources": ["/shown/*"]}
    async with content_lab(tmp_path, browser, [script(code)], files=files, **keys) as lab:
        page = await lab.open(lab.page("/"))
        assert await lab.value(page, "text('shown/a.txt')") == "shown"
        assert await lab.value(page, "text('hidden.txt')") == "hidden"
        assert await lab.value(page, "text('missing.txt')") == "TypeError"
