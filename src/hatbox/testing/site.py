"""A web server on loopback that serves the pages of a test and records requests. Independent of Hatbox."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterable
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple

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


class _StaticResponse(NamedTuple):
    body: bytes
    status: int
    headers: tuple[tuple[str, str], ...]


class LoopbackSite:
    """A web server for `localhost` and `127.0.0.1`. An undefined path is an empty page with the path as its title."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        """The received requests, in order."""
        self._pages: dict[str, _StaticResponse] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True)

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

    def url(self, path: str = "/", host: str = "localhost") -> str:
        """The URL of a path. `localhost` and `127.0.0.1` are different sites."""
        return f"http://{host}:{self._server.server_port}{path}"

    def __enter__(self) -> LoopbackSite:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _respond(self, request: Request) -> _StaticResponse:
        self.requests.append(request)
        path = request.path.partition("?")[0]
        if path not in self._pages:
            self.page(path)
        return self._pages[path]


def _handler(site: LoopbackSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            cookies = {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
            host = headers.get("host", "").rpartition(":")[0]
            page = site._respond(Request(self.command, host, self.path, headers, cookies, body))
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
