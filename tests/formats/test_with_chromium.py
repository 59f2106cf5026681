"""A real Chromium on the other side: its cookies are imported while it runs, and after."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hatbox
from hatbox.cookies import Cookie, SameSite
from hatbox.formats.folder_formats import read_folder
from tests.threaded_site import PageHandler, ThreadedSite
from tests.waiting import block_until

COOKIES = {
    "sid": "sid=abc; Max-Age=99999",
    "session": "session=1",
    "strict": "strict=\u00fc; HttpOnly; SameSite=Strict; Max-Age=1000; Path=/x",
    "lax": "lax=1; SameSite=Lax; Max-Age=1000",
    "none": "none=1; SameSite=None; Secure; Max-Age=1000",
    "part": "part=1; SameSite=None; Secure; Partitioned; Max-Age=1000",
    "empty": "empty=; Max-Age=1000",
}
OTHERS, EACH = 4, 150
"""Sites that set so many cookies. Chromium writes 30 seconds after a change, or at once if there are 512."""


class Handler(PageHandler):
    def respond(self) -> None:
        port = self.headers["Host"].rpartition(":")[2]
        number = int(self.path[1:]) if self.path[1:].isdecimal() else 0
        headers = [("Set-Cookie", line.encode().decode("latin-1")) for line in COOKIES.values() if self.path == "/"]
        headers += [("Set-Cookie", f"{each}=1; Max-Age=1000") for each in range(EACH) if number]
        if self.path == "/" or 0 < number < OTHERS:
            headers.append(("Location", f"http://{number + 1}.test:{port}/{number + 1}"))
        self.send_page("", 302 if headers and "Location" in headers[-1] else 200, headers)


@contextmanager
def chromium(binary: str, user_data: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    arguments = ["--headless=new", "--no-first-run", "--password-store=basic"]
    arguments += ["--host-resolver-rules=MAP *.test 127.0.0.1", f"--user-data-dir={user_data}"]
    process = subprocess.Popen(
        [binary, *sandbox, *arguments, url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadedSite(Handler) as site:
        yield site.url("/", "localhost")


def cookies_of(folder: Path) -> dict[str, Cookie]:
    (entry,) = read_folder(folder).entries
    return {each.name: each for each in entry.cookies if each.domain == "localhost"}


def test_cookies_are_read_while_chromium_runs_and_after(browser: str, url: str, tmp_path: Path) -> None:
    user_data = tmp_path / "user data"
    found: dict[str, Cookie] = {}

    def is_written() -> bool:
        nonlocal found
        assert process.poll() is None, "Chromium has ended"
        with contextlib.suppress(hatbox.ImportExportError):  # it has not created the database yet
            found = cookies_of(user_data)
        return bool(found)

    with chromium(browser, user_data, url) as process:
        block_until(is_written, "Chromium writes its cookies")
    assert set(found) == set(COOKIES)
    assert cookies_of(user_data / "Default") == found, "the same after it has ended"
    assert found["sid"].value == "abc"
    assert (found["strict"].value, found["strict"].path) == ("ü".encode().decode("latin-1"), "/x")
    assert (found["strict"].http_only, found["strict"].same_site) == (True, SameSite.STRICT)
    assert (found["sid"].same_site, found["lax"].same_site) == (SameSite.UNSPECIFIED, SameSite.LAX)
    assert (found["none"].secure, found["none"].same_site) == (True, SameSite.NONE)
    assert (found["session"].expires, found["empty"].value) == (None, "")
    assert found["sid"].domain == "localhost"
    assert found["sid"].host_only
    assert found["part"].partition is not None
    assert found["part"].partition.top_level_site == "http://localhost"
    lifetime = (found["sid"].expires or 0) - time.time()
    assert 99_000 < lifetime <= 99_999

    async def imported() -> dict[str, str]:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            bundle = read_folder(user_data)
            count = len(bundle.entries[0].cookies)  # at least 512: it ended while the last site answered
            report = await profile.import_bundle(bundle)
            assert (report.identities_new, report.cookies_new, report.skipped) == (1, count, {})
            await profile.identities.update("Your Chromium", name="Mine", color="red")
            again = await profile.import_bundle(bundle)
            assert (again.identities_new, again.cookies_unchanged) == (0, count)
            store = await profile.cookie_store("Mine")
            return dict(pair.split("=", 1) for pair in (await store.header(url)).split("; "))

    sent = asyncio.run(imported())
    assert {"sid": "abc", "session": "1", "lax": "1"}.items() <= sent.items()
