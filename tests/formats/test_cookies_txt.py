from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from http.cookiejar import MozillaCookieJar
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


@pytest.mark.slow
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


ODD = [
    Cookie(name="plain", value="a b=c", domain="127.0.0.1", expires=4e9),
    Cookie(name="empty", value="", domain="127.0.0.1"),
    Cookie(name="quoted", value='"q"', domain="127.0.0.1"),
    Cookie(name="utf8", value="\xc3\xbc", domain="127.0.0.1"),
    Cookie(name="separator", value="\xc2\x85\xe2\x80\xa8", domain="127.0.0.1"),
    Cookie(name="#hash", value="$", domain="127.0.0.1"),
    Cookie(name="elsewhere", value="1", domain="site.example", host_only=False),
    # What follows is left out: to one of the readers it would be unreadable, or make the file unreadable.
    Cookie(name="", value="nameless", domain="127.0.0.1"),
    Cookie(name="tab", value="a\tb", domain="127.0.0.1"),
    Cookie(name="latin", value="\xff", domain="127.0.0.1"),
    Cookie(name="break", value="a\rb", domain="127.0.0.1"),
    Cookie(name="long", value="v" * 4092, path="/" + "x" * 1000, domain="127.0.0.1"),
]
SENT = ["#hash=$", "empty=", "plain=a b=c", 'quoted="q"', "separator=\xc2\x85\xe2\x80\xa8", "utf8=\xc3\xbc"]


@pytest.fixture
def requested() -> Iterator[tuple[str, list[str]]]:
    """An address, and the Cookie headers of the requests to it."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Cookie"] or "")
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", seen
        server.shutdown()
        thread.join()


@pytest.mark.process
@pytest.mark.parametrize(
    "command",
    [["curl", "--noproxy", "*", "-s", "-b"], ["wget", "--no-proxy", "-q", "-O", os.devnull, "--load-cookies"]],
    ids=["curl", "wget"],
)
def test_programs_send_what_was_written(tmp_path: Path, requested: tuple[str, list[str]], command: list[str]) -> None:
    if which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    url, seen = requested
    hidden = Cookie(name="hidden", value="1", domain="127.0.0.1", http_only=True)
    file = tmp_path / "cookies.txt"
    file.write_bytes(write(Bundle([BundleEntry(None, [*ODD, hidden])])).data)
    subprocess.run([*command, str(file), url], check=True, timeout=60)
    # wget takes HttpOnly cookies for comments.
    assert sorted(seen[0].split("; ")) == sorted([*SENT, *(["hidden=1"] if command[0] == "curl" else [])])


@pytest.mark.process
@pytest.mark.skipif(which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("size", [4998, 4999, 5000])
def test_the_longest_line_is_the_longest_that_curl_reads(tmp_path: Path, size: int) -> None:
    def sized(length: int) -> Cookie:
        return Cookie(name="long", value="v" * length, path="/" + "x" * 1000, domain="127.0.0.1", expires=4e9)

    header = len(write(Bundle([])).data)
    length = size - (len(write(Bundle([BundleEntry(None, [sized(0)])])).data) - header)
    written = write(Bundle([BundleEntry(None, [sized(length)])]))
    assert (written.cookies, len(written.data) - header) == ((1, size) if size < 5000 else (0, 0))
    file = tmp_path / "cookies.txt"
    file.write_bytes(written.data)
    command = ["curl", "--noproxy", "*", "-s", "-b", str(file), "-c", "-", "http://127.0.0.1:1/"]
    jar = subprocess.run(command, capture_output=True, timeout=60).stdout
    assert (b"\tlong\t" in jar) == (size < 5000)


def test_python_reads_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_bytes(write(Bundle([BundleEntry(None, ODD)])).data)
    jar = MozillaCookieJar()
    jar.load(str(file), ignore_discard=True, ignore_expires=True)  # 0 is a session cookie to all others
    found = sorted(f"{each.name}={each.value}".encode().decode("latin-1") for each in jar)
    assert found == sorted([*SENT, "elsewhere=1"])


def test_the_lines_are_what_yt_dlp_accepts(tmp_path: Path) -> None:
    # Its rules: UTF-8, seven fields, digits or nothing as expiry time, a comment starts with # unless it is #HttpOnly_.
    written = write(Bundle([BundleEntry(None, [*ODD, Cookie(name="h", value="", domain="a.example", http_only=True)])]))
    for line in written.data.decode().split("\n")[3:-1]:
        fields = line.removeprefix("#HttpOnly_").split("\t")
        assert len(fields) == 7
        assert fields[4].isdigit()
        assert line.startswith("#HttpOnly_") == (fields[0] == "a.example")


def test_an_ipv6_address_is_written_as_curl_knows_it_and_comes_back() -> None:
    cookie = Cookie(name="n", value="v", domain="[::1]")
    written = write(Bundle([BundleEntry(None, [cookie])])).data
    assert written.endswith(b"\n::1\tFALSE\t/\tFALSE\t0\tn\tv\n")
    assert read(written, "x").entries[0].cookies[0].domain == "[::1]"
