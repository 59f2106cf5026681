from __future__ import annotations

import builtins
import gzip
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Start
from tests.clients.server import Site
from tests.coded_site import CodedSite, gzip_bomb


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    site = Site()
    yield site
    site.stop()


@pytest.mark.slow
def test_it_wears_the_identity(cli: Cli, site: Site) -> None:
    assert cli("fetch", "Work", site.url("/login", set="sid=work; Path=/")) == (0, "", "")
    assert cli("fetch", "Work", site.url("/me")) == (0, "sid=work", "")
    assert cli("fetch", "firefox-container-2", site.url("/me")).out == "sid=work"
    assert cli("fetch", "Personal", site.url("/me")) == (0, "", "")
    assert cli("fetch", "firefox-default", site.url("/me")) == (0, "", "")


def test_the_scheme_may_be_omitted_as_for_open(cli: Cli, site: Site) -> None:
    assert cli("fetch", "Work", site.url("/me").removeprefix("http://")).status == 0


def test_without_an_identity_the_rule_of_the_url_decides(cli: Cli, site: Site) -> None:
    url = site.url("/me")
    here = url.removeprefix("http://")
    cli("fetch", "Work", site.url("/login", set="sid=work; Path=/"))
    refused = cli("fetch", here)
    assert (refused.status, "no rule decides the identity of http://127.0.0.1" in refused.err) == (1, True)
    cli("rules", "add", "127.0.0.1", "Work")
    assert cli("fetch", here) == (0, "sid=work", "As Work, as the rules decide.\n")
    assert cli("fetch", "--silent", url) == (0, "sid=work", "")
    assert cli("fetch", "Personal", url) == (0, "", "")
    cli("rules", "add", "127.0.0.1", "Work", "Personal", "--ask", "--replace")
    sent = len(site.seen)
    assert "Name one of them: hatbox fetch 'Work' URL" in cli("fetch", url).err
    for arguments in ([], ["Work"], ["firefox-default"], ["--grant", "HOME", url]):
        assert cli("fetch", *arguments).status in (1, 2), arguments
    assert "Did you mean" in cli("fetch", "Wrok").err
    assert len(site.seen) == sent


def test_a_proxy_that_cannot_be_reached_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = (1, "", "hatbox: http://site.example/: proxy unreachable: 127.0.0.1:1: Connection refused\n")
    assert cli("fetch", "Work", "http://site.example/", "--proxy", "127.0.0.1:1") == failed
    cli("settings", "Work", "--proxy", "http://127.0.0.1:1")
    assert cli("fetch", "Work", "http://site.example/") == failed
    cli("settings", "Work", "--unset", "proxy")
    monkeypatch.setenv("http_proxy", "http://me:hunter2@127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert cli("fetch", "Work", "http://site.example/") == failed


def test_an_ambiguous_name_lists_the_candidates_and_sends_nothing(cli: Cli, site: Site) -> None:
    cli("create", "Work", "--color", "cyan", "--icon", "pet")
    assert cli("fetch", "Work", site.url()) == (
        1,
        "",
        'hatbox: 2 identities are named "Work". Pass the cookieStoreId instead.\n'
        "orange  briefcase  Work  firefox-container-2\n"
        "cyan    pet        Work  firefox-container-6\n",
    )
    assert site.seen == []


def test_the_bytes_of_the_answer_come_out_as_they_are(program: Start, cli: Cli, site: Site) -> None:
    cli("fetch", "Work", site.url(set="a=\xe9\xff\x80"))
    process = program("fetch", "Work", site.url())
    out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == (b"a=\xe9\xff\x80", b"", 0)


def test_redirects_are_followed_when_asked_for(cli: Cli, site: Site) -> None:
    url = site.url("/", set="a=1", to=site.url("/end"))
    assert cli("fetch", "Work", url).out == ""
    assert cli("fetch", "-L", "Work", url).out == "a=1"
    assert [seen.path for seen in site.seen] == ["/", "/", "/end"]


def test_headers_are_printed_for_each_hop(cli: Cli, site: Site) -> None:
    out = cli("fetch", "-iL", "Work", site.url("/", set="a=1", to=site.url("/end"))).out
    first, second, body = out.replace("\r\n", "\n").split("\n\n")
    assert first.startswith("HTTP/1.1 302 Found\n")
    assert "Set-Cookie: a=1" in first.splitlines()
    assert second.startswith("HTTP/1.1 200 OK\n")
    assert body == "a=1"


def test_headers_only(cli: Cli, site: Site) -> None:
    out = cli("fetch", "-I", "Work", site.url()).out
    assert out.startswith("HTTP/1.1 200 OK")
    assert out.endswith("\r\n\r\n")
    assert site.seen[0].method == "HEAD"


def test_a_header_cannot_steer_the_terminal(cli: Cli, site: Site) -> None:
    out = cli("fetch", "-i", "Work", site.url(set="a=\x9b31m\xc2\x9b"), tty=True).out
    assert "\x9b" not in out
    assert "Set-Cookie: a=" in out


def test_data_is_posted_as_a_form(cli: Cli, site: Site, tmp_path: Path) -> None:
    (tmp_path / "more").write_bytes(b"c=3\r\n")
    assert cli("fetch", "Work", site.url(), "-d", "a=1", "-d", "b=2", "-d", f"@{tmp_path / 'more'}").status == 0
    assert (site.seen[0].method, site.seen[0].body) == ("POST", b"a=1&b=2&c=3")
    assert site.headers[0]["Content-Type"] == "application/x-www-form-urlencoded"
    cli("fetch", "Work", site.url(), "-X", "PUT", "-d", "{}", "-H", "Content-Type: application/json")
    assert (site.seen[1].method, site.seen[1].body) == ("PUT", b"{}")
    assert site.headers[1]["Content-Type"] == "application/json"


def test_data_can_come_from_the_standard_input(program: Start, site: Site) -> None:
    process = program("fetch", "Work", site.url(), "-d", "@-", stdin=subprocess.PIPE)
    assert process.communicate(b"a=1\n", timeout=30)[1] == b""
    assert site.seen[0].body == b"a=1"


def test_headers_are_sent_replaced_and_left_out(cli: Cli, site: Site) -> None:
    cli("fetch", "Work", site.url(), "-H", "X-One: 1", "-H", "User-Agent: me", "-H", "Accept:")
    assert site.headers[0]["X-One"] == "1"
    assert site.headers[0].get_all("User-Agent") == ["me"]
    assert "Accept" not in site.headers[0]


def test_a_user_logs_in_by_http(cli: Cli, site: Site) -> None:
    cli("fetch", "Work", site.url(), "-u", "me:secret")
    assert site.headers[0]["Authorization"] == "Basic bWU6c2VjcmV0"


def test_the_answer_can_go_to_a_file(cli: Cli, site: Site, tmp_path: Path) -> None:
    cli("fetch", "Work", site.url(set="a=1"))
    assert cli("fetch", "Work", site.url(), "-o", str(tmp_path / "out")) == (0, "", "")
    assert (tmp_path / "out").read_bytes() == b"a=1"
    refused = cli("fetch", "Work", site.url(), "-o", str(tmp_path / "none" / "out"))
    assert refused.status == 1
    assert "No such file or directory" in refused.err


def test_json_has_all_of_the_answer(cli: Cli, site: Site) -> None:
    url = site.url("/", set="a=1", status=404)
    answer = cli("fetch", "Work", url, "--json").json
    assert (answer["status"], answer["url"], answer["body"]) == (404, url, "")
    assert ["Set-Cookie", "a=1"] in answer["headers"]
    assert list(answer) == ["status", "url", "headers", "body"]


def test_json_has_a_body_that_is_no_text_in_base64(cli: Cli, site: Site, tmp_path: Path) -> None:
    cli("fetch", "Work", site.url(set="a=\xff"))
    answer = cli("fetch", "Work", site.url(), "--json").json
    assert (answer["body"], answer["encoding"]) == ("YT3/", "base64")
    answer = cli("fetch", "Work", site.url(), "--json", "-o", str(tmp_path / "out")).json
    assert answer["body"] is None
    assert (tmp_path / "out").read_bytes() == b"a=\xff"


def test_binary_is_kept_from_a_terminal(cli: Cli, site: Site) -> None:
    site.body = b"\x89PNG\0"
    refused = cli("fetch", "Work", site.url(), tty=True)
    assert (refused.status, refused.out) == (1, "")
    assert "-o FILE" in refused.err
    assert cli("fetch", "Work", site.url(), encoding="latin-1").out.encode("latin-1") == site.body
    forced = cli("fetch", "Work", site.url(), "-o", "-", tty=True, encoding="latin-1")
    assert forced.out.encode("latin-1") == site.body


def test_an_error_of_the_server_counts_when_asked_for(cli: Cli, site: Site) -> None:
    url = site.url("/", status=404)
    assert cli("fetch", "Work", url).status == 0
    failed = cli("fetch", "--fail", "Work", url)
    assert (failed.status, failed.out) == (1, "")
    assert failed.err == f"hatbox: {url}: 404 Not Found\n"
    assert cli("fetch", "-f", "Work", url, "--json").error["status"] == 404


def test_a_server_that_does_not_run_is_reported(cli: Cli) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        failed = cli("fetch", "Work", url)
    assert (failed.status, failed.out) == (1, "")
    assert failed.err == f"hatbox: {url}: Connection refused\n"


def test_it_gives_up_in_time(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        failed = cli("fetch", "Work", url, "--max-time", "0.2")
    assert failed.status == 1
    assert failed.err == f"hatbox: {url}: request timed out after 0.2 seconds\n"


def test_an_endless_redirect_is_reported(cli: Cli, site: Site) -> None:
    failed = cli("fetch", "-L", "Work", site.url("/", to="/?to=/"))
    assert failed.status == 0
    site.always_to = "/again"
    failed = cli("fetch", "-L", "Work", site.url())
    assert failed.status == 1
    assert "Exceeded maximum allowed redirects" in failed.err


@pytest.mark.parametrize(
    "to", ["http://127.0.0.1:99999/", "http://[::1/", "gopher://127.0.0.1/", f"http://{'a' * 64}/"]
)
def test_a_redirect_to_an_invalid_url_is_reported(cli: Cli, site: Site, to: str) -> None:
    failed = cli("fetch", "-L", "Work", site.url(to=to))
    assert (failed.status, failed.out) == (1, "")
    assert failed.err.startswith("hatbox: http") or failed.err.startswith("hatbox: gopher")
    assert failed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["ftp://site.example/"], "not a URL of http or https: ftp://site.example/"),
        (["http:///path"], "not a URL of http or https"),
        (["http://127.0.0.1:99999/"], "not a URL of http or https: http://127.0.0.1:99999/"),
        (["http://[::1/"], "not a URL of http or https: http://[::1/"),
        (["http://a..b/"], "a..b"),
        (["http://127.0.0.1/", "-H", "nonsense"], "'Name: value'"),
        (["http://127.0.0.1/", "-H", "a\nb: c"], "'Name: value'"),
        (["http://127.0.0.1/", "-X", "A B"], "invalid HTTP method: A B"),
        (["http://127.0.0.1/", "-u", "me"], "USER:PASSWORD"),
        (["http://127.0.0.1/", "-I", "-d", "a=1"], "has no body"),
        (["http://127.0.0.1/", "-m", "-1"], "max-time"),
    ],
)
def test_wrong_usage(cli: Cli, arguments: list[str], hint: str) -> None:
    result = cli("fetch", "Work", *arguments)
    assert (result.status, result.out) == (2, "")
    assert hint in result.err


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["Wrok", "http://127.0.0.1:1/"], 'Did you mean "Work"?'),
        (["Work", "http://127.0.0.1:1/", "-H", "Cookie: a=1"], "only the cookies of its identity"),
        (["Work", "http://127.0.0.1:1/", "-d", "@/no/such/file"], "No such file or directory"),
        (["Work", f"http://{'a' * 64}/"], "aaaa"),
    ],
)
def test_a_failed_request_is_reported_with_its_cause(cli: Cli, arguments: list[str], hint: str) -> None:
    result = cli("fetch", *arguments)
    assert (result.status, result.out) == (1, "")
    assert hint in result.err
    assert "internal error" not in result.err


def test_without_httpx_it_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(module: str, *arguments: Any, **options: Any) -> Any:
        if module.split(".")[0] == "httpx":
            raise ModuleNotFoundError("No module named 'httpx'", name="httpx")
        return original(module, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "hatbox.clients.httpx", raising=False)
    result = cli("fetch", "Work", "http://127.0.0.1:1/")
    assert (result.status, result.err) == (
        1,
        "hatbox: httpx is not installed. Install it with: pip install 'hatbox[httpx]'\n",
    )


@pytest.mark.slow
def test_a_body_that_expands_without_measure_is_an_error(cli: Cli) -> None:
    with CodedSite() as coded:
        assert cli("fetch", "Work", coded.url("gzip", gzip.compress(b"text")), "--json").json["body"] == "text"
        for times in (2, 3):
            answer = cli("fetch", "Work", coded.url(", ".join(["gzip"] * times), gzip_bomb(times)), "--json")
            assert answer.status == 1
            assert "NetworkError" in answer.err + answer.out


@pytest.mark.parametrize("charset", ["punycode", "idna"])
def test_a_charset_that_takes_forever_to_decode_is_shown_as_bytes(cli: Cli, charset: str) -> None:
    body = b"a" * 300_000 + b"-" + b"b" * 300_000
    with CodedSite() as coded:
        answer = cli("fetch", "Work", coded.url("", body, f"text/plain; charset={charset}"), "--json")
    assert answer.json["encoding"] == "base64"
