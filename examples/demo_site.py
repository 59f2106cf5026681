"""A site with logins, on http://localhost:8000, to try identities on. Run it with:  python examples/demo_site.py

/login/NAME signs NAME in with a cookie, /me shows the user, /logout signs out. To use another port, pass its number.
"""

import contextlib
import html
import sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote, urlsplit


class Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    def do_GET(self) -> None:
        """Serve every page of the site."""
        path = urlsplit(self.path).path
        if path.startswith("/login/"):
            self.redirect(f"user={quote(path.removeprefix('/login/'))}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400")
        elif path == "/logout":
            self.redirect("user=; Path=/; Max-Age=0")
        else:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get("user")
            self.page(f"Signed in as {unquote(cookie.value)}" if cookie else "Not signed in")

    def redirect(self, cookie: str) -> None:
        """Set a cookie, and redirect to the page that shows the user."""
        self.send_response(303)
        self.send_header("Location", "/me")
        self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def page(self, title: str) -> None:
        """Send a page with this title and links."""
        text = (
            f"<!doctype html><title>{html.escape(title)}</title>\n<h1>{html.escape(title)}</h1>\n"
            '<p><a href="/login/alice">Alice</a> <a href="/login/bob">Bob</a> <a href="/logout">Sign out</a>\n'
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Print nothing: the server may run in the background of your terminal."""


try:
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Handler)
except (OSError, ValueError) as error:
    sys.exit(f"The port cannot be used ({error}). Choose another one: python examples/demo_site.py 8001")
print(f"http://localhost:{server.server_port} is up, until Ctrl-C.", flush=True)
with contextlib.suppress(KeyboardInterrupt):
    server.serve_forever()
