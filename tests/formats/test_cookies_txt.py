from __future__ import annotations

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from shutil import which
from typing import Any

import msgspec
import pytest
from hypothesis import given

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.formats import Bundle, BundleEntry
from hatbox.formats.cookies_txt import CONTROL, NAMELESS, NOT_UTF8, PARTITIONED, SAME_SITE, TABS, TOO_LONG, read, write
from tests.formats.strategies import holdings_cookies, timeless
from tests.formats.test_storage_state import is_utf8

GOOD = b".site.example\tTRUE\t/\tTRUE\t2000000000\tsid\tabc\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"some text", "found no TAB"),
        (b".site.example\tTRUE\t/\tTRUE", "found 4 fields"),
        (b".site.example\tTRUE\t/\tTRUE\t0\tn\tv\tmore", "found 8 fields"),
        (b".site.example\tYES\t/\tTRUE\t0\tn\tv", "expected TRUE or FALSE, not 'YES'"),
        (b".site.example\tTRUE\t/\tsecure\t0\tn\tv", "expected TRUE or FALSE"),
        (b".site.example\tTRUE\t/\tTRUE\ttomorrow\tn\tv", "invalid expiry time"),
        (b".site.example\tTRUE\t/\tTRUE\tnan\tn\tv", "invalid expiry time"),
        (b".site.example\tTRUE\t/\tTRUE\t1e999\tn\tv", "invalid expiry time"),
        (b"\x00\xff", "found no TAB"),
    ],
)
def test_a_broken_line_is_named_by_file_and_number(line: bytes, problem: str) -> None:
    with pytest.raises(InvalidInputFile, match=problem) as caught:
        read(b"# a comment\n\n" + GOOD + line + b"\n" + GOOD, "my.txt")
    assert caught.value.line == 4
    assert str(caught.value).startswith("my.txt, line 4: ")


def test_a_file_that_was_cut_off_in_the_middle_of_a_line_is_refused() -> None:
    with pytest.raises(InvalidInputFile):
        read(GOOD + GOOD[:20], "my.txt")


def test_lines_are_read_as_curl_reads_them() -> None:
    data = (
        b"# Netscape HTTP Cookie File\r\n\r\n   \n"
        b".Site.Example\tTRUE\t/\tTRUE\t2000000000\tsid\tabc\r\n"
        b"#HttpOnly_host.example\tFALSE\t/x\tFALSE\t0\tn\tv w\n"
        b"#httponly_host.example\tfalse\t/x\tFALSE\t\tm\n"
        b"site.example\tTRUE\t/\tFALSE\t2000000000.5\tb\t\x85\xe9"
    )
    (holding,) = read(data, "my.txt").entries
    first, second, third, fourth = holding.cookies
    assert (first.domain, first.host_only, first.secure, first.expires) == ("site.example", False, True, 2e9)
    assert (second.domain, second.host_only, second.http_only, second.expires) == ("host.example", True, True, None)
    assert (second.path, second.pair, third.pair, third.http_only) == ("/x", "n=v w", "m=", True)
    assert (fourth.host_only, fourth.value, fourth.expires) == (False, "\x85\xe9", 2000000000.5)
    assert [each.sequence for each in holding.cookies] == [1, 2, 3, 4]


def test_what_cannot_be_carried_is_left_out_and_counted() -> None:
    cookies = [
        Cookie(name="tab", value="a\tb", domain="site.example"),
        Cookie(name="", value="v", domain="site.example"),
        Cookie(name="part", value="v", domain="site.example", secure=True, partition=Partition("https://top.example")),
        Cookie(name="lax", value="v", domain="site.example", same_site=SameSite.LAX, expires=2e9 + 0.5),
        Cookie(name="break", value="a\rb", domain="site.example"),
        Cookie(name="latin", value="\xff", domain="site.example"),
        Cookie(name="long", value="v" * 4092, path="/" + "x" * 1000, domain="site.example"),
    ]
    written = write(Bundle([BundleEntry(None, cookies)]))
    assert written.data.endswith(b"\n\nsite.example\tFALSE\t/\tFALSE\t2000000000\tlax\tv\n")
    assert written.cookies == 1
    omitted = {TABS: "tab", NAMELESS: "", PARTITIONED: "part", CONTROL: "break", NOT_UTF8: "latin", TOO_LONG: "long"}
    assert written.dropped == dict.fromkeys([*omitted, SAME_SITE], 1)
    assert {reason: each.name for reason, (each,) in written.left_out.items()} == omitted


@given(holdings_cookies())
@timeless
def test_what_is_written_comes_back_but_for_what_is_said_to_be_lost(cookies: list[Cookie]) -> None:
    written = write(Bundle([BundleEntry(None, cookies)]))
    carried = [each for each in cookies if each.partition is None and "\t" not in each.value and is_utf8(each)]
    assert written.cookies == len(carried) == len(cookies) - sum(map(len, written.left_out.values()))
    assert {*written.left_out} <= {PARTITIONED, TABS, NOT_UTF8}
    assert written.dropped[SAME_SITE] == sum(each.same_site is not SameSite.UNSPECIFIED for each in carried)
    (back,) = read(written.data, "my.txt").entries
    assert back.cookies == [
        msgspec.structs.replace(
            each,
            same_site=SameSite.UNSPECIFIED,
            expires=each.expires and float(int(each.expires)),
            sequence=place,
            created=0.0,
            last_access=0.0,
        )
        for place, each in enumerate(carried, 1)
    ]


@pytest.mark.skipif(which("curl") is None, reason="curl is not installed")
def test_curl_sends_what_was_written(tmp_path: Path) -> None:
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Cookie"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    cookies = [
        Cookie(name="plain", value="a b=c", domain="127.0.0.1", expires=4e9),
        Cookie(name="empty", value="", domain="127.0.0.1"),
        Cookie(name="hidden", value='"q"', domain="127.0.0.1", http_only=True),
        Cookie(name="elsewhere", value="1", domain="site.example", host_only=False),
        Cookie(name="", value="nameless", domain="127.0.0.1"),
    ]
    file = tmp_path / "cookies.txt"
    file.write_bytes(write(Bundle([BundleEntry(None, cookies)])).data)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        subprocess.run(["curl", "--noproxy", "*", "-s", "-b", str(file), url], check=True, timeout=30)
        thread.join()
    assert sorted((seen[0] or "").split("; ")) == ["empty=", 'hidden="q"', "plain=a b=c"]
