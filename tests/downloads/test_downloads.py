"""browser.downloads of an extension, with a real site on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from hatbox import Profile
from hatbox.downloads.download_path import check_file_name, name_from_url, reserve_file
from hatbox.errors import ApiError
from hatbox.extensions.extension import Extension
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until

CONTENTS = bytes(range(256)) * 400
HALF = len(CONTENTS) // 2


class FileSite:
    """Serves /file, which stops half-way until `go_on` is set, /small, /echo, /redirect and errors by number."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.etag = '"one"'
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append((self.path, dict(self.headers.items())))
                path = self.path.partition("?")[0]
                if path == "/file":
                    self._file()
                elif path == "/sign-in":
                    self._send(200, b"", **{"Set-Cookie": "who=work"})
                elif path == "/redirect":
                    self._send(302, b"", Location="/small")
                elif path == "/echo":
                    self._send(
                        200, json.dumps([self.command, self.headers.get("Cookie"), self.headers.get("X-A")]).encode()
                    )
                elif path[1:].isdigit():
                    self._send(int(path[1:]), b"error")
                else:
                    self._send(200, b"small", **{"Content-Type": "text/plain; charset=utf-8"})

            do_POST = do_GET  # noqa: N815 - the name that http.server expects

            def _file(self) -> None:
                start = 0
                if self.headers.get("Range") and self.headers.get("If-Range") == site.etag:
                    start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                self.send_response(206 if start else 200)
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("ETag", site.etag)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(CONTENTS) - 1}/{len(CONTENTS)}")
                self.send_header("Content-Length", str(len(CONTENTS) - start))
                self.end_headers()
                try:
                    if start < HALF:
                        self.wfile.write(CONTENTS[start:HALF])
                        site.go_on.wait(30)
                    self.wfile.write(CONTENTS[max(start, HALF) :])
                except OSError:
                    pass

            def _send(self, code: int, body: bytes, **headers: str) -> None:
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://localhost:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def file_site() -> Iterator[FileSite]:
    site = FileSite()
    try:
        yield site
    finally:
        site.close()


def names(found: Any) -> list[str]:
    return [Path(item["filename"]).name for item in found[1]]


BACKGROUND = """
const seen = [];
browser.downloads.onCreated.addListener(item => { seen.push(["created", item.id, item.state]); });
browser.downloads.onChanged.addListener(delta => { seen.push(["changed", delta]); });
browser.downloads.onErased.addListener(id => { seen.push(["erased", id]); });
const outcome = promise => promise.then(value => ["ok", value ?? null], error => ["failed", error.message]);
"""


class Use:
    def __init__(self, profile: Profile, extension: Extension, folder: Path) -> None:
        self.profile = profile
        self.extension = extension
        profile.downloads.folder = folder
        self.folder = folder

    async def call(self, member: str, *arguments: Any) -> Any:
        shown = ", ".join(json.dumps(each) for each in arguments)
        return await self.extension.evaluate(f"outcome(browser.downloads.{member}({shown}))")

    async def download(self, **options: Any) -> int:
        kind, number = await self.call("download", options)
        assert kind == "ok", number
        return int(number)

    async def item(self, number: int) -> dict[str, Any]:
        _, (item,) = await self.call("search", {"id": number})
        return dict(item)

    async def until_state(self, number: int, state: str) -> dict[str, Any]:
        await until(lambda: self.profile.downloads.search({"id": number})[0]["state"] == state)
        return await self.item(number)


def with_downloads(tmp_path: Path, use: Any, permissions: tuple[str, ...] = ("downloads", "cookies")) -> None:
    async def run(profile: Profile, extension: Extension) -> None:
        await use(Use(profile, extension, tmp_path / "downloads"))

    run_made(tmp_path, run, BACKGROUND, permissions=list(permissions))


@needs_deno
def test_a_file_is_downloaded_into_the_folder_and_its_item_is_that_of_firefox(tmp_path: Path) -> None:
    async def use(api: Use) -> None:
        number = await api.download(url=f"{site.origin}/a%20file.txt?x=1")
        item = await api.until_state(number, "complete")
        path = api.folder / "a file.txt"
        assert path.read_bytes() == b"small"
        started = item.pop("startTime")
        assert started.endswith("Z")
        assert item == {
            "id": 1,
            "url": f"{site.origin}/a%20file.txt?x=1",
            "filename": str(path),
            "incognito": False,
            "cookieStoreId": "firefox-default",
            "danger": "safe",
            "mime": "text/plain",
            "endTime": None,
            "state": "complete",
            "paused": False,
            "canResume": False,
            "error": None,
            "bytesReceived": 5,
            "totalBytes": 5,
            "fileSize": 5,
            "exists": True,
            "byExtensionId": "made@example.org",
            "byExtensionName": "made",
        }
        assert await api.extension.evaluate("seen") == [
            ["created", 1, "in_progress"],
            [
                "changed",
                {
                    "state": {"previous": "in_progress", "current": "complete"},
                    "exists": {"previous": False, "current": True},
                    "id": 1,
                },
            ],
        ]

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
def test_a_download_has_the_cookies_of_its_identity_only(tmp_path: Path) -> None:
    async def use(api: Use) -> None:
        async with api.profile.httpx("Work") as client:
            await client.get(f"{site.origin}/sign-in")
        work: dict[str, Any] = {"cookieStoreId": "firefox-container-2", "method": "POST", "body": "x"}
        headers = [{"name": "X-A", "value": "1"}]
        number = await api.download(url=f"{site.origin}/echo", filename="w.json", headers=headers, **work)
        assert (await api.until_state(number, "complete"))["cookieStoreId"] == "firefox-container-2"
        assert json.loads((api.folder / "w.json").read_text()) == ["POST", "who=work", "1"]
        await api.until_state(await api.download(url=f"{site.origin}/echo", filename="d.json"), "complete")
        assert json.loads((api.folder / "d.json").read_text()) == ["GET", None, None]

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
def test_pause_resume_and_cancel(tmp_path: Path) -> None:
    async def use(api: Use) -> None:
        number = await api.download(url=f"{site.origin}/file")
        await until(lambda: api.profile.downloads.search({})[0]["bytesReceived"] == HALF)
        assert await api.call("pause", number) == ["ok", None]
        item = await api.item(number)
        assert (item["state"], item["paused"], item["canResume"], item["error"]) == (
            "interrupted",
            True,
            True,
            "USER_CANCELED",
        )
        assert await api.call("pause", number) == [
            "failed",
            f"Download {number} cannot be paused since it is in state interrupted",
        ]
        site.go_on.set()
        assert await api.call("resume", number) == ["ok", None]
        await api.until_state(number, "complete")
        assert (api.folder / "file").read_bytes() == CONTENTS
        assert [headers.get("Range") for path, headers in site.requests] == [None, f"bytes={HALF}-"]
        assert await api.call("resume", number) == ["failed", f"Download {number} cannot be resumed"]
        assert await api.call("cancel", number) == ["failed", f"Download {number} is already complete"]
        site.go_on.clear()
        second = await api.download(url=f"{site.origin}/file")
        await until(lambda: api.profile.downloads.search({"id": second})[0]["bytesReceived"] == HALF)
        assert await api.call("cancel", second) == ["ok", None]
        item = await api.item(second)
        assert (item["state"], item["paused"], item["canResume"]) == ("interrupted", False, False)
        assert sorted(path.name for path in api.folder.iterdir()) == ["file"]

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
def test_a_file_that_has_changed_on_the_server_is_downloaded_from_its_start(tmp_path: Path) -> None:
    async def use(api: Use) -> None:
        number = await api.download(url=f"{site.origin}/file")
        await until(lambda: api.profile.downloads.search({})[0]["bytesReceived"] == HALF)
        await api.call("pause", number)
        site.etag = '"two"'
        site.go_on.set()
        await api.call("resume", number)
        await api.until_state(number, "complete")
        assert (api.folder / "file").read_bytes() == CONTENTS

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
@pytest.mark.parametrize(
    ("code", "error"),
    [(404, "SERVER_BAD_CONTENT"), (403, "SERVER_FORBIDDEN"), (402, "SERVER_UNAUTHORIZED"), (500, "SERVER_FAILED")],
)
def test_an_http_error_interrupts_a_download_and_leaves_no_file(tmp_path: Path, code: int, error: str) -> None:
    async def use(api: Use) -> None:
        item = await api.until_state(await api.download(url=f"{site.origin}/{code}"), "interrupted")
        assert item["error"] == error
        assert list(api.folder.iterdir()) == []
        allowed = await api.download(url=f"{site.origin}/{code}", allowHttpErrors=True)
        await api.until_state(allowed, "complete")

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
def test_search_erase_and_remove_file(tmp_path: Path) -> None:
    async def use(api: Use) -> None:
        for name in ("b.txt", "a.txt", "c.pdf"):
            await api.until_state(await api.download(url=f"{site.origin}/{name}"), "complete")
        assert names(await api.call("search", {})) == ["b.txt", "a.txt", "c.pdf"]
        assert names(await api.call("search", {"orderBy": ["filename"]})) == ["a.txt", "b.txt", "c.pdf"]
        assert names(await api.call("search", {"orderBy": ["-filename"], "limit": 1})) == ["c.pdf"]
        assert names(await api.call("search", {"query": [".txt", "-a.txt"]})) == ["b.txt"]
        assert names(await api.call("search", {"filenameRegex": r"\.(TXT|x)$"})) == ["b.txt", "a.txt"]
        assert names(await api.call("search", {"totalBytesGreater": 5})) == []
        assert names(await api.call("search", {"startedAfter": "2000-01-01"})) == ["b.txt", "a.txt", "c.pdf"]
        assert (await api.call("search", {"orderBy": ["frob"]})) == ["failed", "Invalid orderBy field frob"]
        assert (await api.call("search", {"urlRegex": "("}))[0] == "failed"
        assert await api.call("removeFile", 1) == ["ok", None]
        assert not (api.folder / "b.txt").exists()
        assert await api.call("removeFile", 1) == [
            "failed",
            "Could not remove download id 1 because the file doesn't exist",
        ]
        assert await api.call("erase", {"query": ["pdf"]}) == ["ok", [3]]
        assert (api.folder / "c.pdf").exists()
        assert await api.call("removeFile", 3) == ["failed", "Invalid download id 3"]
        assert ["erased", 3] in await api.extension.evaluate("seen")

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
def test_browsing_data_removes_downloads_that_have_ended(tmp_path: Path) -> None:
    async def use(api: Use) -> None:
        await api.until_state(await api.download(url=f"{site.origin}/a.txt"), "complete")
        running = await api.download(url=f"{site.origin}/file")
        remove = "outcome(browser.browsingData.removeDownloads({}))"
        assert await api.extension.evaluate(remove.format("{since: Date.now() + 60000}")) == ["ok", None]
        assert names(await api.call("search", {})) == ["a.txt", "file"]
        assert await api.extension.evaluate(remove.format("{}")) == ["ok", None]
        assert [each["id"] for each in api.profile.downloads.search({})] == [running]
        assert ["erased", 1] in await api.extension.evaluate("seen")
        assert (api.folder / "a.txt").exists()

    with file_site() as site:
        with_downloads(tmp_path, use, ("downloads", "browsingData"))


@needs_deno
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"filename": ""}, "filename must not be empty"),
        ({"filename": "/etc/passwd"}, "filename must not be an absolute path"),
        ({"filename": "../x"}, "filename must not contain back-references (..)"),
        ({"filename": "a/../../x"}, "filename must not contain back-references (..)"),
        ({"filename": ".bashrc"}, "filename must not contain illegal characters"),
        ({"filename": "a\u0000b"}, "filename must not contain illegal characters"),
        ({"filename": "a:b"}, "filename must not contain illegal characters"),
        ({"incognito": True}, "private browsing access not allowed"),
        ({"conflictAction": "prompt"}, "conflictAction prompt not yet implemented"),
        ({"headers": [{"name": "Cookie", "value": "a=b"}]}, "Forbidden request header name"),
        ({"headers": [{"name": "Sec-X", "value": "a"}]}, "Forbidden request header name"),
        ({"cookieStoreId": "firefox-container-99"}, "No cookie store exists with ID firefox-container-99"),
    ],
)
def test_a_refused_download_writes_and_sends_nothing(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    async def use(api: Use) -> None:
        assert await api.call("download", {"url": f"{site.origin}/small", **options}) == ["failed", problem]
        assert site.requests == []
        assert not api.folder.exists()
        assert await api.call("search", {}) == ["ok", []]

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
def test_an_existing_file_is_never_overwritten_unless_it_is_asked_for(tmp_path: Path) -> None:
    async def use(api: Use) -> None:
        api.folder.mkdir()
        (api.folder / "x.txt").write_text("mine")
        await api.until_state(await api.download(url=f"{site.origin}/x.txt"), "complete")
        assert (api.folder / "x.txt").read_text() == "mine"
        assert (api.folder / "x(1).txt").read_text() == "small"
        await api.until_state(await api.download(url=f"{site.origin}/x.txt", conflictAction="overwrite"), "complete")
        assert (api.folder / "x.txt").read_text() == "small"

    with file_site() as site:
        with_downloads(tmp_path, use)


@needs_deno
def test_without_the_permission_there_are_no_downloads(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert await extension.evaluate("typeof browser.downloads") == "undefined"

    run_made(tmp_path, use)


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    with pytest.raises(PermissionError):
        reserve_file(folder, PurePosixPath("link/file"), overwrite=False)
    (folder / "file").symlink_to(outside / "file")
    assert reserve_file(folder, PurePosixPath("file"), overwrite=True).path.name == "file(1)"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.example/", "download"),
        ("https://a.example/x/..%2f..%2fetc%2fpasswd", "_.._etc_passwd"),
        ("https://a.example/a%00b.txt", "a_b.txt"),
        ("https://a.example/.bashrc", "bashrc"),
        ("https://a.example/" + "x" * 500, "x" * 200),
    ],
)
def test_the_name_from_a_url_is_a_plain_file_name(url: str, name: str) -> None:
    assert str(name_from_url(url)) == name


def test_a_percent_sign_in_a_name_is_replaced() -> None:
    assert check_file_name("a/100%.txt") == PurePosixPath("a/100_.txt")
    with pytest.raises(ApiError):
        check_file_name("a/")
