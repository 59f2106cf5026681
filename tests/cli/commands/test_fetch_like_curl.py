"""`hatbox fetch` sends what curl sends for the same options."""

from __future__ import annotations

import email
import email.policy
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli.arguments.form_fields import parse_form_field
from hatbox.cli.terminal.request_trace import masked_header
from tests.cli.commands.test_fetch import site
from tests.cli.conftest import Cli
from tests.clients.server import Site
from tests.loopback_proxy import LoopbackProxy

__all__ = ["site"]


def curl(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("curl")
    if program is None:
        pytest.skip("curl is not installed")
    return subprocess.run([program, "-q", *arguments], capture_output=True, text=True, timeout=60, check=False)


def parts_of(content_type: str, body: bytes) -> list[tuple[Any, ...]]:
    """The parts of a multipart body: name, file name, type and content."""
    message = email.message_from_bytes(
        b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body, policy=email.policy.HTTP
    )
    return [
        (
            part.get_param("name", header="Content-Disposition"),
            part.get_filename(),
            part.get("Content-Type"),
            part.get_payload(decode=True),
        )
        for part in message.iter_parts()
    ]


@pytest.mark.process
@pytest.mark.parametrize(
    "fields",
    [
        ["a=1", "b=two words"],
        ["file=@{}/note.txt"],
        ["file=@{}/picture.png;type=image/x-mine", "a=<{}/note.txt"],
        ['file=@{}/note.txt;filename="other name.txt";type=text/html', "empty="],
        ["file=@{}/data"],
    ],
)
def test_a_form_has_the_parts_that_curl_sends(cli: Cli, site: Site, tmp_path: Path, fields: list[str]) -> None:
    (tmp_path / "note.txt").write_text("a note\r\nwith lines\n")
    (tmp_path / "picture.png").write_bytes(bytes(range(256)))
    (tmp_path / "data").write_bytes(b"\0\1")
    options = [word for each in fields for word in ("-F", each.format(tmp_path))]
    assert curl("-s", *options, site.url()).returncode == 0
    assert cli("fetch", "Work", site.url(), *options).status == 0
    theirs, ours = (
        (seen.method, parts_of(headers["Content-Type"], seen.body))
        for seen, headers in zip(site.seen, site.headers, strict=True)
    )
    assert ours == theirs


@pytest.mark.process
@pytest.mark.parametrize("options", [["-A", "me/1"], ["-A", ""], ["-X", "PUT", "-d", "a=1"], ["-I"], ["-H", "X-A: 1"]])
def test_a_request_has_the_headers_that_curl_sends(cli: Cli, site: Site, options: list[str]) -> None:
    curl("-s", *options, site.url())
    cli("fetch", "Work", *options, site.url())
    theirs, ours = site.seen
    assert (ours.method, ours.body) == (theirs.method, theirs.body)
    for name in ("User-Agent", "Content-Type", "X-A"):
        if name != "User-Agent" or "-A" in options:
            assert site.headers[1].get_all(name) == site.headers[0].get_all(name)


@pytest.mark.process
def test_verbose_prints_headers_without_secrets_to_standard_error(cli: Cli, site: Site) -> None:
    cli("fetch", "Work", site.url(set="sid=cookie-secret; Path=/"))
    result = cli("fetch", "-v", "Work", "-u", "me:password-secret", site.url("/x", set="b=other-value; HttpOnly"))
    assert result.out == "sid=cookie-secret"
    assert "secret" not in result.err
    lines = result.err.splitlines()
    assert re.fullmatch(r"> GET /x\?set=\S+ HTTP/1.1", lines[1])
    assert "> Cookie: sid=…" in lines
    assert "> Authorization: Basic …" in lines
    assert "< HTTP/1.1 200 OK" in lines
    assert "< Set-Cookie: b=…; HttpOnly" in lines
    theirs = {line[:2] for line in curl("-s", "-v", "-o", "/dev/null", site.url()).stderr.splitlines()}
    assert {line[:2].ljust(2) for line in lines} <= {each.ljust(2) for each in theirs} | {"> ", "< ", "* "}


@pytest.mark.process
def test_silent_prints_nothing_and_fails_as_before(cli: Cli) -> None:
    url = "http://127.0.0.1:1/"
    assert cli("fetch", "-s", "Work", url) == (1, "", "")
    assert curl("-s", url).stderr == ""
    assert "Connection refused" in cli("fetch", "-sS", "Work", url).err
    assert "not found" in cli("fetch", "-s", "Wrok", url).err  # nothing of the request: it was not sent


def test_a_request_goes_through_the_proxy_that_is_named(cli: Cli, site: Site) -> None:
    with LoopbackProxy() as proxy:
        info = proxy.info()
        address = f"{info['host']}:{info['port']}"
        assert "Through the proxy" in cli("fetch", "-x", address, "Work", site.url("/a")).out
        assert "Through the proxy" in cli("fetch", "-x", f"http://{address}", "Work", site.url("/b")).out
        assert [each.target.rpartition("/")[2] for each in proxy.asked] == ["a", "b"]
        assert site.seen == []


def test_direct_uses_no_proxy_of_the_environment(cli: Cli, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert cli("fetch", "Work", site.url()).status == 1
    assert cli("fetch", "-x", "direct", "Work", site.url()).status == 0
    assert cli("fetch", "-x", "", "Work", site.url()).status == 0


@pytest.mark.parametrize(
    "proxy", ["ftp://host:1", "http://", "http://host:99999", "http://host:1/path", "http://u:secret@:1"]
)
def test_a_proxy_that_is_none_is_wrong_usage(cli: Cli, proxy: str) -> None:
    result = cli("fetch", "-x", proxy, "Work", "http://127.0.0.1:1/")
    assert result.status == 2
    assert "--proxy" in result.err
    assert "secret" not in result.err


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["-F", "a"], "Use NAME=VALUE"),
        (["-F", "=1"], "Use NAME=VALUE"),
        (["-F", "a=1", "-d", "b=2"], "a request has one body"),
        (["-I", "-F", "a=1"], "a HEAD request has no body"),
        (["-A", "a\nb"], "invalid header"),
    ],
)
def test_wrong_options_are_wrong_usage(cli: Cli, options: list[str], hint: str) -> None:
    result = cli("fetch", "Work", "http://127.0.0.1:1/", *options)
    assert result.status == 2
    assert hint in result.err


def test_a_file_that_does_not_exist_is_named(cli: Cli, tmp_path: Path) -> None:
    result = cli("fetch", "Work", "http://127.0.0.1:1/", "-F", f"a=@{tmp_path / 'nosuch'}")
    assert (result.status, "nosuch: No such file" in result.err) == (1, True)


def test_an_unchecked_certificate_is_warned_of(cli: Cli, site: Site) -> None:
    assert "not checked" in cli("fetch", "-k", "Work", site.url()).err
    assert cli("fetch", "-ks", "Work", site.url()).err == ""


@given(st.text(max_size=30).filter(lambda text: not text.startswith(("@", "<"))))
def test_any_value_of_a_field_is_read_or_refused(value: str) -> None:
    try:
        found = parse_form_field(f"n={value}")
    except typer.BadParameter:
        assert "\n" in value or "\r" in value or "\0" in value
    else:
        assert found.name == "n"


@given(st.binary(max_size=40))
def test_a_secret_is_never_printed(value: bytes) -> None:
    secret = b"topsecret" + value.replace(b";", b"").replace(b"=", b"")
    for name in (b"Cookie", b"Set-Cookie"):
        assert "topsecret" not in masked_header(name, b"sid=" + secret)
    assert "topsecret" not in masked_header(b"authorization", b"Basic " + secret)


def test_a_proxy_that_contradicts_the_settings_is_refused_and_nothing_is_sent(cli: Cli, site: Site) -> None:
    with LoopbackProxy() as proxy:
        own = f"http://127.0.0.1:{proxy.port}"
        assert cli("settings", "Work", "--proxy", own).status == 0
        for other in ("127.0.0.1:1", "direct"):
            result = cli("fetch", "-x", other, "Work", site.url())
            assert result.status == 1
            assert own in result.err
        assert (proxy.asked, site.seen) == ([], [])
        assert "Through the proxy" in cli("fetch", "-x", own, "Work", site.url()).out
        assert site.seen == []
