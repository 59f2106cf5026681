"""An HTTP server on loopback in threads of this process. The base of sites in tests that write their own answers."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

__all__ = ["PageHandler", "ThreadedSite"]


class PageHandler(BaseHTTPRequestHandler):
    """Answers a GET with `respond`, which sends a page, and logs nothing."""

    def do_GET(self) -> None:
        self.respond()

    def respond(self) -> None:
        raise NotImplementedError

    def send_page(self, html: str, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Respond with this page."""
        body = html.encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class ThreadedSite:
    """A site, running while it is entered, on 127.0.0.1 and localhost. Handlers find it as `self.server.site`."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.site = self  # type: ignore[attr-defined]
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The URL of a page."""
        return f"http://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
