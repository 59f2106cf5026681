"""A small site with a login, on loopback, for `hatbox demo` and the tutorials. Knows nothing of Hatbox.

`/login?user=NAME` signs in with a session cookie, `/me` shows the user, `/logout` signs out. Browsers get HTML, other
clients one line of text.
"""

from __future__ import annotations

import html
import threading
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

__all__ = ["DemoSite"]

_COOKIE: Final = "session"
_SIGNED_OUT: Final = "not signed in"
_PAGE: Final = """\
<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 18px/1.5 system-ui, sans-serif; margin: 0; background: #f4f5f7; color: #20242c; text-align: center }}
main {{ max-width: 22rem; margin: 2.5rem auto; padding: 2rem; background: #fff; border-radius: 12px;
  box-shadow: 0 1px 6px #0002 }}
.picture {{ width: 5rem; height: 5rem; margin: 0 auto; border-radius: 50%; font-size: 2.5rem; line-height: 5rem;
  color: #fff; background: hsl({hue} 60% 45%) }}
</style>
<main><div class="picture">{initial}</div><p>{sentence}</p><h1 id="user">{user}</h1>
<p><a href="/login?user=alice">Alice</a> · <a href="/login?user=bob">Bob</a> · <a href="/logout">Sign out</a></p></main>
"""


class DemoSite:
    """Serves the site on `localhost`, in a thread, while it is entered. Port 0 chooses a free port."""

    def __init__(self, port: int = 0) -> None:
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True)
        self.url = f"http://localhost:{self._server.server_port}"

    def __enter__(self) -> DemoSite:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignore connections that the client has reset."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Serve every path of the site."""
        url = urlsplit(self.path)
        if url.path == "/login":
            user = parse_qs(url.query).get("user", [""])[0]
            self._respond(user, f"{_COOKIE}={quote(user, safe='')}; Path=/; HttpOnly; SameSite=Lax")
        elif url.path == "/logout":
            self._respond("", f"{_COOKIE}=; Path=/; Max-Age=0")
        elif url.path in ("/", "/me"):
            self._respond(self._user())
        else:
            self.send_error(404)

    def _user(self) -> str:
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(_COOKIE)
        return unquote(cookie.value) if cookie else ""

    def _respond(self, user: str, set_cookie: str = "") -> None:
        as_html = "text/html" in self.headers.get("Accept", "")
        body = (_page(user) if as_html else f"{user or _SIGNED_OUT}\n").encode()
        self.send_response(200)
        self.send_header("Content-Type", f"text/{'html' if as_html else 'plain'}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if set_cookie:
            self.send_header("Set-Cookie", set_cookie)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing: the site may run in the background of a terminal."""


def _page(user: str) -> str:
    return _PAGE.format(
        title=html.escape(f"Signed in as {user}" if user else "Not signed in"),
        sentence="You are signed in as" if user else "You are",
        user=html.escape(user or _SIGNED_OUT),
        initial=html.escape(user[:1].upper() or "?"),
        hue=sum(user.encode()) * 47 % 360,
    )
