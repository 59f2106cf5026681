"""curl commands for a shell: hostile cookie values reach the site as they are, and nothing else happens."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatbox.clients.curl_command import curl_command
from hatbox.errors import ApiError
from hatbox.identity.settings import IdentitySettings
from tests.clients.recording_proxy import RecordingProxy, RecordingSite

needs_curl = pytest.mark.skipif(which("curl") is None, reason="curl is not installed")

HOSTILE = (
    "a='; touch stolen; echo '",
    "a=$(touch stolen)`touch stolen`",
    'a="$HOME"; b=\\\\; c=!!; d=%s%n%%; e=%b\\007',
    "@/etc/passwd=1",
    "a=-o stolen --next http://127.0.0.1:1/",
    "a=tab\there",
    "a=caf\xc3\xa9 \xff\x9b31m\xe2\x80\xae",
    "a=1\\",
    "a=\\n\\c\\0",
)


@contextmanager
def recording_server() -> Iterator[tuple[str, list[tuple[str, Message]]]]:
    """The address of a server on loopback, and the path and headers of each request, however odd they are."""
    received: list[tuple[str, Message]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append((self.path, self.headers))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run_in_shell(command: str, folder: Path, shell: str = "sh") -> None:
    done = subprocess.run([shell], input=command + "\n", cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.process
@needs_curl
@pytest.mark.parametrize("shell", [each for each in ("sh", "bash", "zsh") if which(each)])
def test_a_pasted_command_sends_hostile_cookies_unchanged_and_runs_nothing_else(tmp_path: Path, shell: str) -> None:
    with recording_server() as (address, received):
        for cookies in HOSTILE:
            command = curl_command(f"{address}/?a[1]={{b}}", cookies)
            assert command.isascii()
            assert command.isprintable()
            run_in_shell(command, tmp_path, shell)
            path, headers = received.pop()
            assert headers["cookie"] == cookies
            assert path == "/?a[1]={b}"
        assert received == []
    assert list(tmp_path.iterdir()) == []


@given(cookies=st.text(st.characters(max_codepoint=255, exclude_characters="\0\r\n"), min_size=1))
@settings(max_examples=200)
def test_a_command_is_the_words_of_its_arguments_whatever_the_value(cookies: str) -> None:
    command = curl_command("https://site.example/", cookies)
    header = command.removeprefix("curl 'https://site.example/' -H ")
    if header.startswith("'"):  # no character can end the quotes but the escaped quote itself
        assert "'" not in header[1:-1].replace("'\\''", "")
    else:
        inner = header.removeprefix("\"$(printf '").removesuffix("')\"")
        assert "'" not in inner
        assert "%" not in inner


@pytest.mark.process
@needs_curl
def test_a_command_has_the_user_agent_language_and_proxy_of_the_identity(tmp_path: Path) -> None:
    with RecordingSite() as site, RecordingProxy(site.port, site.port) as proxy:
        settings = IdentitySettings(proxy=f"socks5://127.0.0.1:{proxy.port}", user_agent="It's/1 $x", locale="de-DE")
        command = curl_command("http://site.example/", "sid=1", settings)
        run_in_shell(command, tmp_path)
        (asked,) = proxy.asked
        assert (asked.kind, asked.target, asked.is_name) == ("SOCKS", "site.example:80", True)
    with recording_server() as (address, received):
        direct = IdentitySettings(proxy="direct", user_agent="It's/1 $x", locale="de-DE")
        run_in_shell(f"export http_proxy=http://127.0.0.1:1\n{curl_command(address, 'sid=1', direct)}", tmp_path)
        ((_, headers),) = received
        assert (headers["user-agent"], headers["accept-language"]) == ("It's/1 $x", "de-DE,de;q=0.9")


@pytest.mark.parametrize("url", ["-o/tmp/x", "file:///etc/passwd", "https://site.example/\n", "https://é.example/"])
def test_a_command_is_only_for_urls_of_the_web(url: str) -> None:
    with pytest.raises(ApiError, match="URL must start with"):
        curl_command(url, "sid=1")


def test_cookies_that_no_argument_can_contain_are_refused_with_another_possibility() -> None:
    with pytest.raises(ApiError, match=r"too long for a command.*cookies\.txt"):
        curl_command("https://site.example/", "a=" + "x" * 100_000)
    with pytest.raises(ApiError, match="no NUL, CR or LF"):
        curl_command("https://site.example/", "a=1\r\nX: 1")
