"""The ASGI application of the manager page: links, static files and the WebSocket of the bridge. Nothing else.

Every request is checked before anything else is read. A client that is not the page gets status 403 and the same short
page, whatever it has requested.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from hatbox.ui.access_keys import COOKIE, AccessKeys
from hatbox.ui.page_sockets import PageSockets
from hatbox.ui.request_checks import ADDRESS, cookie_values, is_from_here, is_from_page, is_opened_by_user
from hatbox.ui.static_files import StaticFiles
from hatbox.urls.protected_pages import PROTECTED_PATH

__all__ = ["BRIDGE", "KEY_ITEM", "OPEN", "create_app"]

BRIDGE: Final = "bridge"
"""The last part of the path of the WebSocket."""
OPEN: Final = f"{PROTECTED_PATH}open/"
"""The path of links, followed by the token."""
KEY_ITEM: Final = "hatbox.key"
"""The item of sessionStorage with the key of the page."""

_OK: Final = 200
_REFUSED: Final = (
    "This page is not open any more, or its link was used before. A link works once, within ten minutes. "
    "Run <code>hatbox ui</code> again, with the same profile, and use the new link."
)


def create_app(
    keys: AccessKeys, files: StaticFiles, sockets: PageSockets, hosts: frozenset[str], *, is_fixed: bool = False
) -> ASGIApp:
    """The application. `hosts` are the values of Host of this server; `is_fixed` is whether its port was chosen."""
    routes = _Routes(keys, files, sockets, is_fixed=is_fixed)
    app = Starlette(
        routes=[
            Route(f"{OPEN}{{token}}", routes.open, methods=["GET"]),
            WebSocketRoute(f"/{keys.prefix}/{BRIDGE}", routes.bridge),
            Route(f"/{keys.prefix}/{{path:path}}", routes.file, methods=["GET"]),
            Route("/{path:path}", _refuse, methods=["GET"]),
        ]
    )
    return _Guard(app, hosts)


class _Guard:
    """Refuses requests that were not sent by a page of this server or the address bar, and adds headers."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        # The page has no service worker, and no path with an escape, which extensions could take for another page.
        is_other = "service-worker" in headers or b"%" in scope["raw_path"]
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if not is_other and is_from_here(headers, self._hosts, needs_origin=changes):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await _forbid_websocket(WebSocket(scope, receive, send))
        else:
            await Response(status_code=403, headers=_security_headers(ADDRESS, sandboxed=True))(scope, receive, send)


class _Routes:
    def __init__(self, keys: AccessKeys, files: StaticFiles, sockets: PageSockets, *, is_fixed: bool) -> None:
        self._is_fixed = is_fixed
        self._keys = keys
        self._files = files
        self._sockets = sockets

    async def open(self, request: Request) -> Response:
        """Exchange the token of a link for a cookie and the key of the page, and continue to the page.

        The page is opened by this document, and not by a redirect: a browser that was sent here by another program or
        site does not send SameSite=Strict cookies until a document of this server requests something.
        """
        is_opened = request.method == "GET" and is_opened_by_user(request.headers)  # previewers send HEAD
        value = self._keys.redeem(request.path_params["token"]) if is_opened else None
        if value is None:
            return await _refuse(request)
        self._sockets.note_use()
        path = f"/{self._keys.prefix}/"
        script = f"sessionStorage.setItem({json.dumps(KEY_ITEM)}, {json.dumps(self._keys.page_key)});"
        script += f"location.replace({json.dumps(path)});"
        response = _document(request, 200, "<p>Opening Hatbox.", script)
        if self._is_fixed:  # else a service worker of a program that used the port before could handle the page
            response.headers["Clear-Site-Data"] = '"cache", "storage"'
        response.set_cookie(COOKIE, value, path=path, httponly=True, samesite="strict")
        return response

    async def file(self, request: Request) -> Response:
        """A static file, for the page only."""
        if not (is_from_page(request.headers) and self._is_authenticated(request.headers)):
            return await _refuse(request)
        self._sockets.note_use()
        found = self._files.get(request.path_params["path"])
        headers = _security_headers(request.headers["host"])
        if found is None:
            return Response("Not found", 404, headers, "text/plain")
        # Stored by the browser, but revalidated on each use: another start may have another version.
        headers |= {"Cache-Control": "private, no-cache", "ETag": found.etag}
        if request.headers.get("if-none-match") == found.etag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, 200, {**headers, "Content-Type": found.content_type})

    async def bridge(self, websocket: WebSocket) -> None:
        """The WebSocket of a page."""
        if is_from_page(websocket.headers) and self._is_authenticated(websocket.headers):
            await self._sockets.serve(websocket, self._keys)
        else:
            await _forbid_websocket(websocket)

    def _is_authenticated(self, headers: Headers) -> bool:
        values = [value for header in headers.getlist("cookie") for value in cookie_values(header, COOKIE)]
        return any(map(self._keys.accepts, values[:8]))


async def _refuse(request: Request) -> Response:
    return _document(request, 403, f"<h1>Hatbox</h1><p>{_REFUSED}</p>")


async def _forbid_websocket(websocket: WebSocket) -> None:
    await websocket.close()  # before it was accepted: status 403


def _document(request: Request, status: int, body: str, script: str = "") -> HTMLResponse:
    content = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Hatbox</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        '<link rel="icon" href="data:,">'
        f"</head><body>{body}{f'<script>{script}</script>' if script else ''}</body></html>"
    )
    # A document with another path is no page of Hatbox to extensions (hatbox.urls.protected_pages): no origin for it.
    headers = _security_headers(request.headers["host"], sandboxed=status != _OK, script=script)
    return HTMLResponse(content, status, headers)


def _security_headers(host: str, *, sandboxed: bool = False, script: str = "") -> dict[str, str]:
    """The headers for a request with this Host, which was checked.

    A sandboxed document has an origin of its own. `script` is the only inline script that runs.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'" if script else "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": f"'self' ws://{host}",  # 'self' does not cover WebSockets in every browser
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
        **({"sandbox": ""} if sandboxed else {}),
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}".strip() for name, value in policy.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
