from __future__ import annotations

import asyncio
import socket
import ssl

import httpx
import pytest

from hatbox.clients.proxy_errors import ProxyUnreachable, ProxyUnusable
from hatbox.engines.load_errors import firefox_error_name, load_error_message

URL = "https://site.example/"


def caused_by(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (RuntimeError("surprise"), "NS_ERROR_FAILURE"),
        (asyncio.CancelledError(), "NS_BINDING_ABORTED"),
        (TimeoutError(), "NS_ERROR_NET_TIMEOUT"),
        (httpx.ReadTimeout("slow"), "NS_ERROR_NET_TIMEOUT"),
        (httpx.RemoteProtocolError("gone"), "NS_ERROR_NET_RESET"),
        (httpx.DecodingError("gzip"), "NS_ERROR_INVALID_CONTENT_ENCODING"),
        (httpx.InvalidURL("no"), "NS_ERROR_MALFORMED_URI"),
        (ProxyUnreachable("no"), "NS_ERROR_PROXY_CONNECTION_REFUSED"),
        (caused_by(httpx.ConnectError("no"), ConnectionRefusedError()), "NS_ERROR_CONNECTION_REFUSED"),
        (caused_by(httpx.ConnectError("no"), socket.gaierror()), "NS_ERROR_UNKNOWN_HOST"),
        (caused_by(httpx.ReadError("no"), ConnectionResetError()), "NS_ERROR_NET_RESET"),
    ],
)
def test_errors_have_the_names_that_firefox_gives_them(error: BaseException, name: str) -> None:
    assert firefox_error_name(error, URL) == name


def test_what_is_wrong_with_a_secure_connection_is_a_sentence() -> None:
    with pytest.raises(ssl.SSLError) as caught:
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="x").do_handshake()
    error = caused_by(httpx.ConnectError("no"), caught.value)
    assert firefox_error_name(error, URL).startswith("no secure connection to site.example: ")


def test_what_is_wrong_with_a_proxy_is_told_of_the_proxy() -> None:
    refused = caused_by(ProxyUnusable("proxy unreachable: a:1"), ConnectionRefusedError())
    assert load_error_message(refused, URL) == "proxy unreachable: a:1"
