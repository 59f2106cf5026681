"""The command fetch: one request as an identity, with the options that people know from curl.

The standard output has the answer and nothing else. httpx is imported when a request is really made.
"""

from __future__ import annotations

import asyncio
import base64
import codecs
import contextlib
import os
import re
import socket
import ssl
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final
from urllib.parse import urlsplit

import msgspec
import typer

from hatbox import __version__
from hatbox.cli.commands.identities import One, find
from hatbox.cli.options import JsonOption, ProfileOption, path_of, refuse_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json
from hatbox.cli.terminal.terminal_text import visible
from hatbox.clients.identity_binding import extra
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.profile import Profile

if TYPE_CHECKING:
    import httpx

__all__ = ["fetch"]

_STANDARD: Final = "-"
_CONNECT_SECONDS: Final = 60.0
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SLOW_CHARSETS: Final = frozenset({"punycode", "idna"})  # of hosts: they take quadratic time, and no text is in them
_FORM: Final = (b"Content-Type", b"application/x-www-form-urlencoded")


def fetch(
    identity: One,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to: http:// or https://.")],
    include: Annotated[bool, typer.Option("--include", "-i", help="Print the headers of the answer as well.")] = False,
    head: Annotated[bool, typer.Option("--head", "-I", help="Ask for the headers only.")] = False,
    location: Annotated[bool, typer.Option("--location", "-L", help="Follow redirects.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file; - is the standard output.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            "-d",
            metavar="DATA",
            help="Send this as a form, with POST. @FILE is what is in a file, @- the standard input. "
            "Several are joined with &.",
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header",
            "-H",
            metavar="'NAME: VALUE'",
            help="Send this header; with an empty value: do not. May be repeated.",
        ),
    ] = None,
    request: Annotated[
        str | None, typer.Option("--request", "-X", metavar="METHOD", help="The method of the request.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER:PASSWORD", help="Log in, by HTTP itself.")
    ] = None,
    max_time: Annotated[
        float | None, typer.Option("--max-time", "-m", metavar="SECONDS", min=0.0, help="Give up after so long.")
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", "-k", help="Accept any certificate.")] = False,
    fail: Annotated[
        bool, typer.Option("--fail", "-f", help="Exit with 1 where the server reports an error (400 and above).")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make one request as an identity: with its cookies, and what the site sets is kept in it.

    There is no option for cookies: an identity sends its own.
    """
    if head and data is not None:
        raise typer.BadParameter("a request for headers only sends no data", param_hint=["--head", "--data"])
    asked = _FetchOptions(
        method=_method(request or "") or ("HEAD" if head else "GET" if data is None else "POST"),
        url=_checked_url(url),
        headers=[_header(each) for each in header or []],
        body=None if data is None else b"&".join(map(_data, data)),
        auth=None if user is None else _login(user),
        location=location,
        max_time=max_time or None,
        insecure=insecure,
    )
    printer = _Printer(include=include or head, output=output or "", fail=fail, as_json=as_json)
    with extra("httpx"):
        import httpx

        from hatbox.clients import httpx as _  # noqa: F401 - imported here, where a missing one is told of
    path = path_of(profile)
    if output and output != _STANDARD:
        refuse_profile(output, path, "--output")
    try:
        asyncio.run(_fetched(Profile(path), identity, asked, printer))
    except TimeoutError:
        raise CommandError("NetworkError", f"{asked.url}: no answer within {max_time or 0:g} seconds") from None
    except httpx.TimeoutException as error:
        raise CommandError("NetworkError", f"{_place(error, asked.url)}: no answer") from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OverflowError, ExceptionGroup) as error:
        # The last three are what the system makes of hosts and ports that cannot be, to which a site may redirect.
        raise CommandError("NetworkError", f"{_place(error, asked.url)}: {_words(error)}") from error


class _FetchOptions(msgspec.Struct, frozen=True):
    """The request that was asked for."""

    method: str
    url: str
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes | None
    auth: tuple[str, str] | None
    location: bool
    max_time: float | None
    insecure: bool


async def _fetched(profile: Profile, identity: str, asked: _FetchOptions, printer: _Printer) -> None:
    import httpx

    async with (
        profile,
        profile.httpx(
            identity if identity == DEFAULT_STORE else await find(profile, identity),
            follow_redirects=asked.location,
            verify=not asked.insecure,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            headers={"User-Agent": f"hatbox/{__version__}", "Accept-Encoding": "identity"},
        ) as client,
        asyncio.timeout(asked.max_time),
    ):
        response = await client.send(_request(client, asked), stream=True, auth=asked.auth)
        try:
            await printer.print(response)
        finally:
            await response.aclose()


def _request(client: httpx.AsyncClient, asked: _FetchOptions) -> httpx.Request:
    given = {name.lower() for name, _ in asked.headers}
    headers = [(name, value) for name, value in asked.headers if value]
    if asked.body is not None and b"content-type" not in given:
        headers.append(_FORM)
    request = client.build_request(asked.method, asked.url, content=asked.body, headers=headers)
    for name, value in asked.headers:
        if not value:
            request.headers.pop(name.decode("ascii"), None)
    return request


class _Printer:
    """Where the answer goes, and in which form."""

    def __init__(self, *, include: bool, output: str, fail: bool, as_json: bool) -> None:
        self._include = include
        self._output = output
        self._fail = fail
        self._as_json = as_json

    async def print(self, response: httpx.Response) -> None:
        if self._fail and response.is_error:
            message = f"{response.url} answered {response.status_code} {response.reason_phrase}".rstrip()
            raise CommandError("HttpError", message, details={"status": response.status_code})
        if self._as_json:
            await self._print_document(response)
            return
        with self._sink() as (sink, is_terminal):
            if self._include:
                for each in (*response.history, response):
                    sink.write(_head(each, is_terminal=is_terminal))
            await _copy(response, sink, is_terminal=is_terminal and self._output != _STANDARD)

    async def _print_document(self, response: httpx.Response) -> None:
        body = await response.aread()
        document: dict[str, Any] = {
            "status": response.status_code,
            "url": str(response.url),
            "headers": [[name.decode("latin-1"), _readable(value)] for name, value in response.headers.raw],
        }
        if self._output not in ("", _STANDARD):
            with self._sink() as (sink, _):
                sink.write(body)
            document["body"] = None
        else:
            document |= _body(body, response.charset_encoding or "utf-8")
        print_json(document, sys.stdout)

    @contextlib.contextmanager
    def _sink(self) -> Iterator[tuple[BinaryIO, bool]]:
        """What to write to, and whether that is a terminal."""
        if self._output in ("", _STANDARD):
            sys.stdout.flush()
            yield sys.stdout.buffer, sys.stdout.isatty()
            sys.stdout.buffer.flush()
            return
        try:
            sink = Path(self._output).open("wb")  # noqa: SIM115 - closed below, and errors of its use are not ours
        except OSError as error:
            raise CommandError("FileNotWritable", f"{self._output}: {error.strerror}") from error
        with sink:
            yield sink, False


async def _copy(response: httpx.Response, sink: BinaryIO, *, is_terminal: bool) -> None:
    """Bring the body to the sink as it comes, byte for byte."""
    async for chunk in response.aiter_raw():
        if is_terminal and b"\0" in chunk:
            sink.flush()
            raise CommandError(
                "BinaryOutput",
                "the answer is binary, which can mess up your terminal. Write it to a file with -o FILE, "
                "or print it all the same with -o -",
            )
        sink.write(chunk)


def _head(response: httpx.Response, *, is_terminal: bool) -> bytes:
    """The status line and the headers, as they came; harmless where they go to a terminal."""
    status = f"{response.http_version} {response.status_code} {response.reason_phrase}".rstrip()
    lines = [status.encode("latin-1", "replace"), *(name + b": " + value for name, value in response.headers.raw)]
    if not is_terminal:
        return b"".join(line + b"\r\n" for line in [*lines, b""])
    encoding = sys.stdout.encoding or "utf-8"
    return "".join(visible(_readable(line), encoding) + "\n" for line in [*lines, b""]).encode(encoding)


def _body(body: bytes, charset: str) -> dict[str, str]:
    try:
        if codecs.lookup(charset).name not in _SLOW_CHARSETS:
            return {"body": body.decode(charset)}
    except (UnicodeError, LookupError):
        pass
    return {"body": base64.b64encode(body).decode("ascii"), "encoding": "base64"}


def _readable(header: bytes) -> str:
    try:
        return header.decode()
    except UnicodeDecodeError:
        return header.decode("latin-1")


def _method(request: str) -> str:
    if request and not _TOKEN.fullmatch(request):
        raise typer.BadParameter(f"{visible(request)} is no method", param_hint="--request")
    return request


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return url
    except ValueError:  # no such port, no such address
        pass
    raise typer.BadParameter(f"{visible(url)} is no address that begins with http:// or https://", param_hint="URL")


def _header(given: str) -> tuple[bytes, bytes]:
    name, colon, value = given.partition(":")
    if not colon or not _TOKEN.fullmatch(name) or re.search(r"[\0\r\n]", value):
        raise typer.BadParameter(f"{visible(given)} does not look like 'Name: value'", param_hint="--header")
    return name.encode("ascii"), os.fsencode(value.strip())


def _data(given: str) -> bytes:
    if not given.startswith("@"):
        return os.fsencode(given)
    source = given.removeprefix("@")
    try:
        found = _standard_input() if source == _STANDARD else Path(source).read_bytes()
    except OSError as error:
        raise CommandError("FileNotReadable", f"{source}: {error.strerror}") from error
    return found.translate(None, b"\r\n\0")  # as curl does


def _standard_input() -> bytes:
    return sys.stdin.buffer.read() if sys.stdin else b""  # None where the shell has closed it


def _login(given: str) -> tuple[str, str]:
    user, colon, password = given.partition(":")
    if not colon:
        raise typer.BadParameter("give both, as USER:PASSWORD", param_hint="--user")
    return user, password


def _place(error: Exception, url: str) -> str:
    """The URL at which it went wrong: after redirects it may be another than the one that was asked for."""
    try:
        return str(error.request.url)  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):
        return url


def _words(error: BaseException) -> str:
    """The reason that the system gave, if there is one below what httpx says."""
    words, below = str(error) or type(error).__name__, _cause(error)
    while below is not None:
        if isinstance(below, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {below.verify_message}. Use -k if you trust it all the same."
        if isinstance(below, (socket.gaierror, ssl.SSLError)) and below.strerror:
            words = below.strerror
        elif isinstance(below, OSError) and below.errno:
            words = os.strerror(below.errno)
        elif isinstance(below, (UnicodeError, OverflowError)):
            words = str(below)
        below = _cause(below)
    return words


def _cause(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__ or error.__context__
