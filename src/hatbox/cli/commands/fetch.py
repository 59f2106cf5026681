"""The command fetch: one HTTP request with the cookies of an identity. The options are those of curl.

Standard output has only the response. httpx is imported when a request is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import ssl
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from hatbox import __version__
from hatbox.cli.arguments.form_fields import FormField, parse_form_field
from hatbox.cli.arguments.grant_token import take_token
from hatbox.cli.arguments.identity_arguments import find_store
from hatbox.cli.arguments.open_targets import find_targets, name_of
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile, refuse_profile
from hatbox.cli.arguments.proxy_argument import parse_proxy_argument
from hatbox.cli.terminal.command_errors import FAILED, CommandError
from hatbox.cli.terminal.output import print_line
from hatbox.cli.terminal.request_trace import trace_request
from hatbox.cli.terminal.response_output import STANDARD, ResponsePrinter
from hatbox.cli.terminal.terminal_text import visible, without_passwords
from hatbox.clients.identity_binding import require_extra
from hatbox.errors import PermissionDenied
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.identity.settings import IdentitySettings
from hatbox.profile import Profile
from hatbox.tabs.tab_model import BLANK
from hatbox.urls.typed_address import parse_typed_address

if TYPE_CHECKING:
    import httpx

__all__ = ["fetch"]

_CONNECT_SECONDS: Final = 60.0
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SILENT: Final = ("NetworkError", "HttpError")  # errors whose message --silent suppresses
_FORM: Final = (b"Content-Type", b"application/x-www-form-urlencoded")


def fetch(
    identity: Annotated[
        str | None,
        Argument(
            metavar="[NAME-OR-ID]",
            help=f"Identity: its name or its cookieStoreId; {DEFAULT_COOKIE_STORE_ID} is the default store. If "
            "omitted, the rules decide: see hatbox rules.",
        ),
    ] = None,
    url: Annotated[str | None, Argument(metavar="URL", help="URL of the request; https:// may be omitted.")] = None,
    include: Annotated[bool, Option("--include", "-i", help="Print the response headers too.")] = False,
    head: Annotated[bool, Option("--head", "-I", help="Send a HEAD request, and print the response headers.")] = False,
    location: Annotated[bool, Option("--location", "-L", help="Follow redirects.")] = False,
    output: Annotated[
        str | None,
        Option("--output", "-o", metavar="FILE", help="Output file; - is standard output. Default: standard output."),
    ] = None,
    data: Annotated[
        list[str] | None,
        Option(
            "--data",
            "-d",
            metavar="DATA",
            help="Form data, sent with POST. @FILE is the content of a file, @- is standard input. "
            "Repeatable: joined with &.",
        ),
    ] = None,
    form: Annotated[
        list[str] | None,
        Option(
            "--form",
            "-F",
            metavar="NAME=VALUE",
            help="Field of a multipart form, sent with POST. NAME=@FILE sends a file, NAME=<FILE its content as a "
            "value; ;type=TYPE and ;filename=NAME may follow. Repeatable.",
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        Option(
            "--header",
            "-H",
            metavar="'NAME: VALUE'",
            help="Request header; an empty value removes the header. Repeatable.",
        ),
    ] = None,
    request: Annotated[
        str | None,
        Option("--request", "-X", metavar="METHOD", help="Method. Default: GET, or POST with --data or --form."),
    ] = None,
    user_agent: Annotated[
        str | None,
        Option(
            "--user-agent",
            "-A",
            metavar="TEXT",
            help="User-Agent header of this request; an empty text sends none. Default: that of the identity's "
            "settings, or hatbox.",
        ),
    ] = None,
    user: Annotated[
        str | None,
        Option("--user", "-u", metavar="USER:PASSWORD", help="Credentials for HTTP basic authentication."),
    ] = None,
    max_time: Annotated[
        float | None,
        Option("--max-time", "-m", metavar="SECONDS", min=0.0, help="Timeout of the whole request. Default: none."),
    ] = None,
    insecure: Annotated[
        bool, Option("--insecure", "-k", help="Accept any certificate. The connection is then not private.")
    ] = False,
    proxy: Annotated[
        str | None,
        Option(
            "--proxy",
            "-x",
            metavar="PROXY",
            help="Proxy of this request: HOST:PORT, a URL (http, https or socks5), or direct. Refused if the identity "
            "has another proxy in its settings. Default: that of the identity, or of the environment.",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        Option(
            "--verbose",
            "-v",
            help="Print the headers of requests and responses to standard error, without the values of cookies and "
            "credentials.",
        ),
    ] = False,
    silent: Annotated[
        bool, Option("--silent", "-s", help="Print no message if the request fails; see --show-error.")
    ] = False,
    show_error: Annotated[
        bool, Option("--show-error", "-S", help="With --silent, print error messages. Others are never printed.")
    ] = False,
    fail: Annotated[
        bool, Option("--fail", "-f", help="Exit with status 1 if the response status is 400 or above.")
    ] = False,
    grant: Annotated[
        str | None,
        Option(
            "--grant",
            metavar="VARIABLE",
            help="Environment variable with the token of a grant, whose limits count. Default: no limits.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send one HTTP request with the cookies of an identity, and store the cookies of the response.

    Without an identity, the rules choose that of the URL, which is printed to standard error, and redirects stay in it.
    A rule that asks needs a terminal.

    The options are those of curl. There is no option for cookies: set them with `hatbox cookies set`. With --grant, the
    request and each redirect must be allowed by the grant, `hatbox activity` lists them, and Set-Cookie is not printed
    unless the grant includes cookieValues.
    """
    if grant is not None:
        _check_granted(insecure=insecure, proxy=proxy, verbose=verbose)
    token = None if grant is None else take_token(grant)
    if head and (data is not None or form):
        raise bad_parameter(
            "a HEAD request has no body. Specify one of them", param_hint=["--head", "--data" if data else "--form"]
        )
    if data is not None and form:
        raise bad_parameter("a request has one body. Specify one of them", param_hint=["--data", "--form"])
    if url is None:
        identity, url = None, identity
    if url is None or url == DEFAULT_COOKIE_STORE_ID:
        raise bad_parameter("specify a URL", param_hint="URL")
    if identity is None and grant is not None:
        raise bad_parameter("a grant needs it: the rules choose among all identities", param_hint="NAME-OR-ID")
    options = _FetchOptions(
        method=_method(request or "") or ("HEAD" if head else "POST" if form or data is not None else "GET"),
        url=_checked_url(url),
        headers=[_header(each) for each in header or []],
        body=None if data is None else b"&".join(map(_data, data)),
        form=[parse_form_field(each) for each in form or []],
        user_agent=_user_agent(user_agent),
        proxy=None if proxy is None else parse_proxy_argument(proxy),
        verbose=verbose,
        auth=None if user is None else _credentials(user),
        location=location,
        max_time=max_time or None,
        insecure=insecure,
    )
    printer = ResponsePrinter(include=include or head, output=output or "", fail=fail, as_json=as_json)
    with require_extra("httpx"):
        import httpx  # noqa: F401 - imported here, where a missing package is reported

        from hatbox.clients import httpx as _  # noqa: F401
    opened = open_profile(profile)
    if output and output != STANDARD:
        refuse_profile(output, profile, "--output")
    if insecure and not silent:
        print_line("Warning: the certificate of the server is not checked (--insecure).", sys.stderr)
    try:
        with _mapped_errors(options, max_time):
            asyncio.run(_fetch(opened, identity or _ByRules(url, is_silent=silent or as_json), options, printer, token))
    except CommandError as error:
        if silent and not show_error and error.kind in _SILENT:
            sys.exit(FAILED)
        raise


@contextlib.contextmanager
def _mapped_errors(options: _FetchOptions, max_time: float | None) -> Iterator[None]:
    import httpx

    from hatbox.clients.proxy_errors import ProxyUnusable

    try:
        yield
    except ProxyUnusable as error:
        raise CommandError("NetworkError", f"{_failed_url(error, options.url)}: {error}") from error
    except TimeoutError:
        raise CommandError(
            "NetworkError", f"{options.url}: request timed out after {max_time or 0:g} seconds"
        ) from None
    except httpx.TimeoutException as error:
        raise CommandError("NetworkError", f"{_failed_url(error, options.url)}: connection timed out") from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OverflowError, ExceptionGroup) as error:
        # The last three are raised for invalid hosts and ports, to which a site may redirect.
        raise CommandError("NetworkError", f"{_failed_url(error, options.url)}: {_cause_message(error)}") from error


class _FetchOptions(msgspec.Struct, frozen=True):
    """The options of the request."""

    method: str
    url: str
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes | None
    auth: tuple[str, str] | None
    location: bool
    max_time: float | None
    insecure: bool
    form: Sequence[FormField]
    user_agent: str | None
    """None: that of the settings; empty: none."""
    proxy: str | None
    """A URL, or direct."""
    verbose: bool


class _ByRules(NamedTuple):
    """In place of an identity: the rules choose that of the URL."""

    url: str
    """As it was typed."""
    is_silent: bool

    async def choose(self, profile: Profile) -> ContextualIdentity | None:
        """The identity, which is printed; None for the default store."""
        (target,) = await find_targets(profile, self.url, (), is_named=False, as_json=self.is_silent, command="fetch")
        if target.urls == [BLANK]:
            raise bad_parameter(f"{visible(self.url)} is an identity. Specify a URL too", param_hint="URL")
        if not self.is_silent:
            print_line(f"As {name_of(target.identity)}, as the rules decide.", sys.stderr)
        return target.identity


async def _fetch(
    profile: Profile, identity: str | _ByRules, options: _FetchOptions, printer: ResponsePrinter, token: str | None
) -> None:
    async with profile:
        if token is not None and isinstance(identity, str):
            client = await _granted_client(profile, identity, options, token)
        else:
            client = await _client(profile, identity, options)
        async with client, asyncio.timeout(options.max_time):
            await _send(client, options, printer)


async def _client(profile: Profile, identity: str | _ByRules, options: _FetchOptions) -> httpx.AsyncClient:
    found = await (find_store(profile, identity) if isinstance(identity, str) else identity.choose(profile))
    settings = await _settings_of(profile, found)
    _check_proxy(found, settings, options.proxy)
    try:
        return profile.httpx(
            found or DEFAULT_COOKIE_STORE_ID,
            verify=not options.insecure,
            **_client_options(settings, options),
            **_route(options.proxy),
        )
    except ImportError as error:  # of socksio
        message = "a SOCKS proxy needs the package socksio. Install it with: pip install 'httpx[socks]'"
        raise CommandError("MissingExtra", message) from error


async def _granted_client(profile: Profile, identity: str, options: _FetchOptions, token: str) -> httpx.AsyncClient:
    """Only identities of the grant are searched: the others do not exist for its program."""
    from hatbox.grants.recorded_verification import verify_recorded

    grant = await verify_recorded(profile.grants, profile.activity_log, token)
    granted = [await profile.identities.get(each) for each in grant.identities]
    found = [each for each in granted if identity in (each.name, each.cookie_store_id)]
    if len(found) != 1:
        allowed = ", ".join(f"{each.name} ({each.cookie_store_id})" for each in granted)
        why = "includes several of that name" if found else "does not include it"
        profile.activity_log.record(None, "fetch", outcome="refused", grant=grant.id)
        raise PermissionDenied(f"identity {ascii(identity)[:200]}: the grant {grant.id} {why}. Allowed: {allowed}")
    settings = await _settings_of(profile, found[0])
    return await profile.granted_httpx(token, found[0].cookie_store_id, **_client_options(settings, options))


def _client_options(settings: IdentitySettings | None, options: _FetchOptions) -> dict[str, Any]:
    import httpx

    return {
        "follow_redirects": options.location,
        "timeout": httpx.Timeout(None, connect=_CONNECT_SECONDS),
        "headers": _headers(settings, options),
    }


def _check_granted(*, insecure: bool, proxy: str | None, verbose: bool) -> None:
    """Refuse options by which the program of a grant would see or redirect the cookies."""
    given = {"--insecure": insecure, "--proxy": proxy is not None, "--verbose": verbose}
    for name in (name for name, is_given in given.items() if is_given):
        raise bad_parameter("a grant does not allow it. Omit one of them", param_hint=["--grant", name])


async def _send(client: httpx.AsyncClient, options: _FetchOptions, printer: ResponsePrinter) -> None:
    response = await client.send(_request(client, options), stream=True, auth=options.auth)
    try:
        await printer.print(response)
    finally:
        await response.aclose()


async def _settings_of(profile: Profile, identity: ContextualIdentity | None) -> IdentitySettings | None:
    """The settings of the identity; None for the default store."""
    return None if identity is None else await profile.identities.settings(identity)


def _check_proxy(identity: ContextualIdentity | None, settings: IdentitySettings | None, proxy: str | None) -> None:
    """Refuse a proxy that contradicts the settings: no request of the identity may go out another way."""
    own = None if settings is None else settings.proxy
    if identity is None or proxy is None or own is None or proxy == own:
        return
    message = (
        f"the proxy of {identity.name} is {without_passwords(own)}, so this request cannot use "
        f"{without_passwords(proxy)}. Omit --proxy, or change the setting with: hatbox settings NAME --proxy PROXY"
    )
    raise CommandError("ProxyRefused", message)


def _headers(settings: IdentitySettings | None, options: _FetchOptions) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}
    if options.user_agent is not None:
        headers["User-Agent"] = options.user_agent
    elif not (settings and settings.user_agent):
        headers["User-Agent"] = f"hatbox/{__version__}"
    return headers


def _route(proxy: str | None) -> dict[str, Any]:
    """The options of httpx for a proxy."""
    if proxy is None:
        return {}
    return {"trust_env": False} if proxy == "direct" else {"proxy": proxy}


def _request(client: httpx.AsyncClient, options: _FetchOptions) -> httpx.Request:
    names = {name.lower() for name, _ in options.headers}
    headers = [(name, value) for name, value in options.headers if value]
    if options.body is not None and b"content-type" not in names:
        headers.append(_FORM)
    files = [(each.name, (each.filename, each.content, each.type)) for each in options.form]
    extensions = {"trace": trace_request} if options.verbose else None
    request = client.build_request(
        options.method, options.url, content=options.body, files=files or None, headers=headers, extensions=extensions
    )
    if options.user_agent == "":
        request.headers.pop("User-Agent", None)
    for name, value in options.headers:
        if not value:
            request.headers.pop(name.decode("ascii"), None)
    return request


def _user_agent(given: str | None) -> str | None:
    if given is not None and re.search(r"[\0\r\n]", given):
        raise bad_parameter(f"invalid header: {visible(given)}", param_hint="--user-agent")
    return given


def _method(request: str) -> str:
    if request and not _TOKEN.fullmatch(request):
        raise bad_parameter(f"invalid HTTP method: {visible(request)}", param_hint="--request")
    return request


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(complete := parse_typed_address(url))
        if parts.hostname and parts.port != 0:
            return complete
    except ValueError:  # invalid port or IP address
        pass
    raise bad_parameter(f"not a URL of http or https: {visible(url)}", param_hint="URL")


def _header(given: str) -> tuple[bytes, bytes]:
    name, colon, value = given.partition(":")
    if not colon or not _TOKEN.fullmatch(name) or re.search(r"[\0\r\n]", value):
        raise bad_parameter(f"invalid header: {visible(given)}. Use 'Name: value'", param_hint="--header")
    return name.encode("ascii"), os.fsencode(value.strip())


def _data(given: str) -> bytes:
    if not given.startswith("@"):
        return os.fsencode(given)
    source = given.removeprefix("@")
    try:
        found = _standard_input() if source == STANDARD else Path(source).read_bytes()
    except OSError as error:
        raise CommandError("FileNotReadable", f"{source}: {error.strerror}") from error
    return found.translate(None, b"\r\n\0")  # as curl does


def _standard_input() -> bytes:
    return sys.stdin.buffer.read() if sys.stdin else b""  # None if the shell has closed it


def _credentials(given: str) -> tuple[str, str]:
    user, colon, password = given.partition(":")
    if not colon:
        raise bad_parameter("must have the form USER:PASSWORD", param_hint="--user")
    return user, password


def _failed_url(error: Exception, url: str) -> str:
    """The URL of the failed request, which differs from `url` after a redirect."""
    try:
        return str(error.request.url)  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):
        return url


def _cause_message(error: BaseException) -> str:
    """The message of the operating system below the error of httpx, if there is one."""
    message, cause = str(error) or type(error).__name__, _cause(error)
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"certificate not trusted: {cause.verify_message}. Use -k to accept it."
        if isinstance(cause, (socket.gaierror, ssl.SSLError)) and cause.strerror:
            message = cause.strerror
        elif isinstance(cause, OSError) and cause.errno:
            message = os.strerror(cause.errno)
        elif isinstance(cause, (UnicodeError, OverflowError)):
            message = str(cause)
        cause = _cause(cause)
    return message


def _cause(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__ or error.__context__
