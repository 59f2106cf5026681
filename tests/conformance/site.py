"""The pages that cases load: a few plain ones, on the loopback interface. Knows nothing of Firefox or Hatbox."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

TITLES = {
    "/page": "Page",
    "/other": "Other",
    "/third": "Third",
    "/spaces": "  Two \n words  ",
    "/signs": "Ünï &amp; &lt;b&gt; «x»",
    "/empty": "",
}
REDIRECTS = {"/redirect": "/page", "/twice": "/redirect", "/lost": "/missing"}


class Site:
    """A running server; `origin` is where its pages are.

    Beside the pages of TITLES and REDIRECTS: `/untitled` has no title, `/missing` is a 404, `/never` does not answer,
    `/set` sets the cookie that its query says, and the title of `/cookies` is the cookies that came with the request.
    """

    def __enter__(self) -> Self:
        stopped = self._stopped = threading.Event()
        handler = type("Handler", (_Handler,), {"stopped": stopped})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        # Not by its address: Firefox's extension has that host's permission in any case.
        self.origin = f"http://localhost:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopped.set()
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    stopped: threading.Event

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        match url.path:
            case path if path in TITLES:
                self._answer(200, f"<title>{TITLES[path]}</title>")
            case path if path in REDIRECTS:
                self._answer(302, "", ("Location", REDIRECTS[path]))
            case "/untitled":
                self._answer(200, "<p>nothing more")
            case "/set":
                self._answer(200, "<title>Set</title>", ("Set-Cookie", url.query))
            case "/cookies":
                self._answer(200, f"<title>Cookies: {self.headers.get('Cookie', 'none')}</title>")
            case "/never":
                self.stopped.wait()
            case _:
                self._answer(404, "<title>Not here</title>")

    def log_message(self, *_: Any, **__: Any) -> None:
        pass

    def _answer(self, status: int, content: str, *headers: tuple[str, str]) -> None:
        body = f"<!doctype html>{content}".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        for name, value in headers:
            self.send_header(name, value)
        # A tab that is closed while its page loads does not wait for it.
        with contextlib.suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(body)
