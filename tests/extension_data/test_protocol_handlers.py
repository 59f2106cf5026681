"""Links that a running extension handles, such as ext+container, in tabs.create, tabs.update and windows.create."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatbox import Profile
from hatbox.errors import ApiError
from hatbox.extension_data.protocol_handlers import MAX_LINK_LENGTH, handled_url
from hatbox.extensions.extension import Extension
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno

HANDLERS = [
    {"protocol": "ext+hat", "name": "Hat", "uriTemplate": "/open.html#%s-%s"},
    {"protocol": "magnet", "name": "Hat", "uriTemplate": "https://torrents.example/?u=%s"},
]

# Each link, and what Firefox 153 puts in place of %s.
ESCAPED = {
    "ext+hat:name=A B&url=http://a/?x=1#y": "ext%2Bhat%3Aname%3DA%20B%26url%3Dhttp%3A%2F%2Fa%2F%3Fx%3D1%23y",
    'ext+hat:hello world é"<>`{}^|\\x%zz%20?a b\'é#f "<>é`': (
        "ext%2Bhat%3Ahello%20world%20%25C3%25A9%22%3C%3E%60%7B%7D%5E%7C%5Cx%25zz%2520%3Fa%2520b'%25C3%25A9%23"
        "f%2520%2522%253C%253E%25C3%25A9%2560"
    ),
    " EXT+Hat:\x01\x7f a\tb ": "ext%2Bhat%3A%2501%257F%20ab",
}


@pytest.mark.parametrize("link", ESCAPED)
def test_a_link_reaches_the_page_of_the_extension_as_in_firefox(tmp_path: Path, link: str) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        page = await profile.extensions.handler_page(link)
        assert page == f"{extension.manifest.base_url}open.html#{ESCAPED[link]}-%s"

    run_made(tmp_path, use, protocol_handlers=HANDLERS)


def test_a_tab_opens_a_link_with_the_page_of_the_extension(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        page = f"{extension.manifest.base_url}open.html#ext%2Bhat%3Ax-%s"
        tab = await extension.browser.tabs.create({"url": "ext+hat:x", "cookieStoreId": "firefox-container-2"})
        opened = await profile.tabs.get(tab["id"])
        assert (opened.pending_url, opened.cookie_store_id) == (page, "firefox-container-2")
        await extension.browser.tabs.update(tab["id"], {"url": "magnet:?xt=1"})
        assert (await profile.tabs.get(tab["id"])).pending_url == "https://torrents.example/?u=magnet%3A%3Fxt%3D1"
        window = await extension.browser.windows.create({"url": ["ext+hat:x", "https://site.example/"]})
        urls = [tab.pending_url for tab in await profile.tabs.query() if tab.window_id == window["id"]]
        assert urls == [page, "https://site.example/"]

    run_made(tmp_path, use, permissions=["tabs", "cookies"], protocol_handlers=HANDLERS)


def test_a_link_that_no_running_extension_handles_is_refused(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        for link in ("ext+other:x", "hat:x", "ext+hat:" + "x" * MAX_LINK_LENGTH):
            assert await profile.extensions.handler_page(link) is None
            with pytest.raises(ApiError, match="Illegal URL"):
                await extension.browser.tabs.create({"url": link})
        await profile.extensions.stop(extension)
        assert await profile.extensions.handler_page("ext+hat:x") is None
        await profile.extensions.start(make(tmp_path, name="without"))
        assert await profile.extensions.handler_page("ext+hat:x") is None

    run_made(tmp_path, use, permissions=["tabs"], protocol_handlers=HANDLERS)


def test_a_web_address_is_never_handled(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        manifest = {"protocol_handlers": [{"protocol": "https", "uriTemplate": "/steal.html#%s"}]}
        record = extension.manifest.for_scripts() | manifest  # a record of another program, which cannot be trusted

        def lie(transaction: Any) -> list[str | None]:
            from hatbox.extension_data.run_records import register_run

            register_run(transaction, extension.area, "x", record, is_same_version=True)
            return [handled_url(transaction, url) for url in ("https://site.example/", "about:blank", "")]

        assert await profile.store.write(lie) == [None, None, None]

    run_made(tmp_path, use)
