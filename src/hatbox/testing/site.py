"""A web server on loopback that serves the pages of a test and records requests.

With `add_hosts()` it also serves other host names, with http and https.
"""

from __future__ import annotations

import html
import mimetypes
import os
import re
import ssl
import threading
from collections.abc import Callable, Iterable
from functools import cache
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hatbox.testing.host_names import HostNames

__all__ = ["LoopbackSite", "Request"]


class Request(NamedTuple):
    """A request that the site received."""

    method: str
    host: str
    path: str
    headers: dict[str, str]
    """Keys are lower case."""
    cookies: dict[str, str]
    body: bytes
    scheme: str = "http"


class _StaticResponse(NamedTuple):
    body: bytes
    status: int
    headers: tuple[tuple[str, str], ...]


class LoopbackSite:
    """A web server for `localhost` and `127.0.0.1`, and the names of add_hosts().

    An undefined path is an empty page with the path as its title.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        """The received requests, in order."""
        self._pages: dict[str, _StaticResponse] = {}
        self._server = _Server(("127.0.0.1", 0), _handler(self, "http"))
        self._secure_server: _SecureServer | None = None
        self._hosts: HostNames | None = None

    def page(
        self,
        path: str,
        body: str = "",
        *,
        title: str | None = None,
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
    ) -> str:
        """Define the response for a path: HTML, or a redirect with `status` and a Location header. Returns the URL."""
        text = f"<!doctype html><title>{html.escape(path if title is None else title)}</title>{body}"
        self._pages[path] = _StaticResponse(text.encode(), status, tuple(headers))
        return self.url(path)

    def file(
        self,
        path: str,
        content: str | bytes,
        *,
        content_type: str | None = None,
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
    ) -> str:
        """Define the response for a path, without changes to its content. Returns the URL.

        The default type is that of the file name, and HTML for a name without extension.
        """
        kind = content_type or mimetypes.guess_type(path)[0] or "text/html"
        if kind.startswith("text/") and "charset" not in kind:
            kind += "; charset=utf-8"
        body = content.encode() if isinstance(content, str) else content
        self._pages[path] = _StaticResponse(body, status, (("Content-Type", kind), *headers))
        return self.url(path)

    def folder(self, path: str, folder: str | os.PathLike[str]) -> None:
        """Serve the current files of a folder below a path, such as `/data/`."""
        for each in sorted(Path(folder).rglob("*")):
            if each.is_file():
                self.file(f"{path.rstrip('/')}/{each.relative_to(folder).as_posix()}", each.read_bytes())

    def add_hosts(self, *names: str) -> None:
        """Serve these host names too, on the default ports: `http://example.com/` and `https://example.com/`.

        Call it before the first request of the test, and before Chromium is started: clients that have sent one may
        not trust the certificates. Only this process and its browsers resolve the names so. Certificates need the
        package `cryptography`: `pip install 'hatbox[encryption]'`.
        """
        if self._hosts is None:
            from hatbox.testing.certificates import test_authority
            from hatbox.testing.host_names import HostNames

            self._secure_server = _SecureServer(_handler(self, "https"), test_authority().server_context)
            self._secure_server.start()
            ports = {80: self._server.server_port, 443: self._secure_server.server_port}
            self._hosts = HostNames(ports).__enter__()
        self._hosts.add(names)

    def url(self, path: str = "/", host: str = "localhost", scheme: str = "http") -> str:
        """The URL of a path. `localhost`, `127.0.0.1` and the names of add_hosts() are different sites.

        Only the names of add_hosts() have https.
        """
        if self._hosts is not None and host in self._hosts:
            return f"{scheme}://{host}{path}"
        if scheme != "http":
            raise ValueError(f"{host} has no https: call site.add_hosts({host!r}) first")
        return f"http://{host}:{self._server.server_port}{path}"

    def __enter__(self) -> LoopbackSite:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._hosts is not None:
            self._hosts.__exit__(kind, error, trace)
        if self._secure_server is not None:
            self._secure_server.stop()
        self._server.stop()

    def _respond(self, request: Request) -> _StaticResponse:
        self.requests.append(request)
        path = request.path.partition("?")[0]
        if path not in self._pages:
            self.page(path)
        return self._pages[path]


class _Server(ThreadingHTTPServer):
    """A server in a thread."""

    daemon_threads = True

    def start(self) -> None:
        self._thread = threading.Thread(target=self.serve_forever, args=[0.05], daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Ignore connections that the client has closed, or whose certificate it rejects."""


class _SecureServer(_Server):
    """A server with a certificate for each host name."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], context_for: Callable[[str], ssl.SSLContext]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self._context_for = cache(context_for)
        self._default = self._context_for("localhost")
        self._default.sni_callback = self._choose

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection, in its thread: the handshake must not block others."""
        with self._default.wrap_socket(request, server_side=True) as secure:
            super().finish_request(secure, client_address)

    def _choose(self, secure: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name is not None:
            secure.context = self._context_for(name)


def _handler(site: LoopbackSite, scheme: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            cookies = {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
            host = re.sub(r":[0-9]+$", "", headers.get("host", ""))
            page = site._respond(Request(self.command, host, self.path, headers, cookies, body, scheme))
            self.send_response(page.status)
            if "content-type" not in {name.lower() for name, _ in page.headers}:
                self.send_header("Content-Type", "text/html; charset=utf-8")
            for name, value in page.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(page.body)

        do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_GET  # noqa: N815 - named after HTTP methods

        def log_message(self, *_: object) -> None:
            """Log nothing: tests read `requests`."""

    return Handler
