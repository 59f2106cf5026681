"""hatbox.sites: curl commands, export to a file, and import of a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.errors import InvalidIdentity
from tests.manager_api.page_errors import refused
from tests.manager_api.test_sites import DEFAULT, KEY, SITE, put, rows_of, sites_of
from tests.store.in_loop import in_loop

COOKIES_TXT = "# Netscape HTTP Cookie File\n.site.example\tTRUE\t/\tTRUE\t4000000000\tsid\tnew\n"


UNSET = {"what": "SameSite attributes that were not set, and are Lax now", "count": 1}


@pytest.mark.parametrize(
    ("format_name", "left_out"), [("cookies.txt", []), ("json-lines", []), ("storage-state", [UNSET])]
)
@in_loop
async def test_an_exported_file_can_be_imported_into_another_identity(
    tmp_path: Path, format_name: str, left_out: list[Any]
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=caf\xc3\xa9; Max-Age=1000; Domain=site.example; Secure; Path=/")
        personal = (await profile.identities.get("Personal")).cookie_store_id
        await profile.tabs.open("Work", "https://site.example/")  # no file of cookies has tabs
        sites = sites_of(profile)
        file = await sites.exportFile(work, format_name)
        assert file["name"].startswith("work-")
        assert (file["cookies"], file["leftOut"]) == (1, left_out)
        report = await sites.importFile(personal, file["name"], file["text"])
        assert (report["added"], report["changed"], report["unchanged"]) == (1, 0, 0)
        (cookie,) = await sites.cookies(personal)
        assert await sites.value(personal, cookie["id"]) == "café"
        again = await sites.importFile(personal, file["name"], file["text"])
        assert (again["added"], again["unchanged"], again["undo"]) == (0, 1, None)


@in_loop
async def test_an_import_can_be_undone_and_newer_cookies_stay(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=old; Domain=site.example; Secure; Path=/", "other=1")
        before = await rows_of(profile)
        sites = sites_of(profile)
        text = COOKIES_TXT + "b.example\tFALSE\t/\tFALSE\t0\tadded\t1\n" + "c.example\tFALSE\t/\tFALSE\t0\tlater\t1\n"
        text += "d.example\tFALSE\t/\tFALSE\t5\texpired\t1\n"
        report = await sites.importFile(work, "cookies.txt", text)
        assert (report["added"], report["changed"], report["origins"]) == (2, 1, 0)
        assert report["leftOut"] == [{"what": "expired cookies", "count": 1}]
        await put(profile, "Work", "later=2; Path=/", url="https://c.example/")
        assert await sites.undo(report["undo"]) == {"restored": 2, "superseded": 1}
        assert [row for row in await rows_of(profile) if row[3] != "later"] == before


@in_loop
async def test_imported_cookies_were_not_used_until_a_request_sends_them(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=old; Domain=site.example; Secure; Path=/")
        personal = (await profile.identities.get("Personal")).cookie_store_id
        sites = sites_of(profile)

        async def last_used(identity: str) -> tuple[float | None, float | None]:
            (cookie,) = await sites.cookies(identity)
            (site,) = await sites.list({"cookieStoreIds": [identity]})
            return cookie["lastUsed"], site["identities"][0]["lastUsed"]

        for identity in (work, personal):  # one is changed, one is new
            await sites.importFile(identity, "cookies.txt", COOKIES_TXT)
            assert await last_used(identity) == (None, None)
        (row,) = await rows_of(profile)
        assert time.time() - 600 < row[-1] <= time.time()  # it is not the first to be evicted
        await sites.importFile(personal, "a.jsonl", (await sites.exportFile(work, "json-lines"))["text"])
        assert await last_used(personal) == (None, None)
        store = await profile.cookie_store("Personal")
        assert await store.header(SITE) == "sid=new"
        await store.flush()
        assert None not in await last_used(personal)


@pytest.mark.parametrize("text", ["", "no cookies here", "{}", "[1]", "a\tb", "x" * (16 * 2**20 + 1)])
@in_loop
async def test_a_file_that_has_no_cookies_changes_nothing(tmp_path: Path, text: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=1")
        with refused(r"^notes\.txt.*Nothing was\simported"):
            await sites_of(profile).importFile(work, "notes.txt", text)
        assert len(await sites_of(profile).cookies(work)) == 1
        with pytest.raises(InvalidIdentity):
            await sites_of(profile).importFile("Work", "cookies.txt", COOKIES_TXT)


@in_loop
async def test_the_name_of_a_file_is_safe_whatever_the_name_of_the_identity(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        made = await profile.identities.create("../..\\<img src=x>:Über\u202etxt.exe", color="red", icon="pet")
        await put(profile, made.cookie_store_id, "sid=1")
        await put(profile, DEFAULT, "sid=1")
        sites = sites_of(profile)
        assert (await sites.exportFile(made.cookie_store_id, "cookies.txt"))["name"] == (
            "img-src-x-über-txt-exe-cookies.txt"
        )
        assert (await sites.exportFile(DEFAULT, "json-lines"))["name"] == "no-identity-cookies.jsonl"
        with refused(r"Unknown format: 'firefox'\. Allowed values: cookies\.txt, json-lines"):
            await sites.exportFile(DEFAULT, "firefox")


@in_loop
async def test_cookies_of_an_encrypted_profile_are_exported_only_if_the_caller_insists(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db", key=KEY) as profile:
        work = await put(profile, "Work", "sid=secret")
        with refused(r"would be plain text\. Nothing was exported"):
            await sites_of(profile).exportFile(work, "cookies.txt")
        assert "secret" in (await sites_of(profile).exportFile(work, "cookies.txt", True))["text"]


@pytest.mark.parametrize(
    ("url", "header", "expected"),
    [
        (SITE, "sid=1; HttpOnly; Domain=site.example; Path=/", "https://site.example/"),
        (SITE, "sid=1; HttpOnly; Path=/", "https://accounts.site.example/"),
        ("http://localhost/", "sid=1; HttpOnly; Path=/", "http://localhost/"),
        ("http://[::1]/", "sid=1; HttpOnly; Path=/", "http://[::1]/"),
        ("http://10.0.0.1/", "sid=1; HttpOnly; Path=/", "https://10.0.0.1/"),
    ],
)
@in_loop
async def test_a_curl_command_requests_the_host_that_is_signed_in(
    tmp_path: Path, url: str, header: str, expected: str
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", header, "theme=dark; Path=/", url=url)
        (site,) = await sites_of(profile).list()
        command = await sites_of(profile).curl(work, site["host"])
        assert command.replace("--globoff ", "").startswith(f"curl '{expected}' -H 'Cookie: sid=1")


@in_loop
async def test_a_curl_command_has_the_settings_of_the_identity_and_never_cookies_of_other_sites(
    tmp_path: Path,
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=1; Secure; Path=/")
        await put(profile, "Work", "other=1", url="https://other.example/")
        await profile.identities.set_settings("Work", proxy="socks5://127.0.0.1:9050", user_agent="Agent/1")
        sites = sites_of(profile)
        command: Any = await sites.curl(work, "site.example", SITE + "a?b")
        assert command == (
            f"curl '{SITE}a?b' -H 'Cookie: sid=1' -H 'User-Agent: Agent/1' --proxy 'socks5h://127.0.0.1:9050'"
        )
        await profile.identities.set_settings("Work", proxy="http://me:hunter2@127.0.0.1:9050")
        command = await sites.curl(work, "site.example")
        assert command.endswith("--proxy 'http://127.0.0.1:9050' --proxy-user 'me'")  # curl asks for the password
        with refused("No cookies are sent to http://accounts"):
            await sites.curl(work, "site.example", "http://accounts.site.example/")
        for wrong in ("https://other.example/", "file:///etc/passwd", "https://site.example.evil.example/"):
            with refused(r"is not a URL of site\.example"):
                await sites.curl(work, "site.example", wrong)
        with refused(r"No cookies of missing\.example"):
            await sites.curl(work, "missing.example")
