"""Pages with frames of every kind, on the loopback interface under two host names. Knows nothing of extensions."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

__all__ = ["FrameSite"]

_PAGE: Final = "<!doctype html><title>Page</title><script>window.pageVariable = 1;</script><body><p>text"
_FRAMES: Final = """<!doctype html><title>Frames</title><body>
<iframe src="/inner"></iframe>
<iframe src="{other}/inner"></iframe>
<iframe srcdoc="<p>srcdoc"></iframe>
<iframe src="about:blank"></iframe>
<iframe src="data:text/html,data"></iframe>
"""


class FrameSite:
    """A running server: `origin` is the site of the cases, `other` another site with the same pages.

    `/frames` has frames of both, a srcdoc, an about:blank and a data: frame. `/policy` allows only inline scripts.
    Every other path is a page without frames.
    """

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": self}))
        port = self._http.server_port
        self.origin = f"http://localhost:{port}"
        self.other = f"http://other.localhost:{port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    site: FrameSite

    def do_GET(self) -> None:
        is_framed = urlsplit(self.path).path == "/frames"
        body = (_FRAMES.replace("{other}", self.site.other) if is_framed else _PAGE).encode()
        self.send_response(200)
        if urlsplit(self.path).path == "/policy":
            self.send_header("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'")
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        with contextlib.suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: Any, **__: Any) -> None:
        pass
