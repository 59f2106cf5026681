"""The server of the manager page: Starlette and uvicorn in this process, on loopback only.

The page is a client of the API, with the permissions below. The server has no other routes to the profile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from types import TracebackType
from typing import Final

import uvicorn

from hatbox.api.browser import dispatcher_and_caller
from hatbox.errors import ProfileError
from hatbox.extensions.runtime.api_host import ApiHost
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.loopback.http_protocol import protocol_class
from hatbox.loopback.in_process_server import InProcessServer, listen
from hatbox.loopback.peer_user import UserCheck, can_check_users
from hatbox.manager_api.program_labels import PAGE_PROGRAM
from hatbox.profile import Profile
from hatbox.store.recorded_calls import delete_records, expire_records, recorded_numbers
from hatbox.tasks import Tasks
from hatbox.ui.access_keys import AccessKeys
from hatbox.ui.lasting_calls import LastingCalls
from hatbox.ui.page_bridge import PageBridge
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.page_session import PageSession
from hatbox.ui.page_sockets import PageSockets
from hatbox.ui.protocols import WebSocketProtocol
from hatbox.ui.request_checks import ADDRESS, allowed_hosts
from hatbox.ui.served_profile import ServedProfile, ServerRecord
from hatbox.ui.static_files import StaticFiles
from hatbox.ui.web_app import OPEN, create_app

__all__ = ["CALLER", "PERMISSIONS", "ManagerServer"]

CALLER: Final = PAGE_PROGRAM
"""The caller in the API."""

PERMISSIONS: Final = ("contextualIdentities", "cookies", "hatbox")
"""What the page needs. contextualIdentities needs cookies, which gives no access to a site without host permissions."""

_LASTING: Final = ("hatbox.archives.backup", "hatbox.archives.restore")
"""The functions whose calls go on when their page is closed."""
_LINK_SECONDS: Final = 0.25  # between two looks for unused links

logger = logging.getLogger("hatbox.ui")


class ManagerServer:
    """Serves the manager page of an open profile, for `async with`. Port 0 is any free port.

    With `served`, other processes create links to this server. If it also `survives`, open pages survive a restart on
    the same port. Raises OSError if the port cannot be used.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        port: int = 0,
        limits: PageLimits | None = None,
        served: ServedProfile | None = None,
        stays: bool = False,
        survives: bool = True,
    ) -> None:
        self._profile = profile
        self._limits = limits or PageLimits()
        self._served = served
        self._stays = stays
        self._survives = survives
        self._wanted_port = port
        self.port = port
        """The port, once it is started."""
        self._tasks = Tasks()
        self._lasting = LastingCalls(_LASTING)
        self.keys = AccessKeys()
        """The tokens and cookies."""
        self.sockets = PageSockets(self._create_bridge, self._limits)
        """The connected pages."""

    @property
    def url(self) -> str:
        """The address of the page, for a browser that has the cookie."""
        return f"http://{ADDRESS}:{self.port}/{self.keys.prefix}/"

    @property
    def record(self) -> ServerRecord:
        """What other processes have to know of it."""
        return ServerRecord(self.port, os.getpid(), self._stays)

    def create_link(self) -> str:
        """A link that opens the page once."""
        return f"http://{ADDRESS}:{self.port}{OPEN}{self.keys.create_token()}"

    async def start(self) -> None:
        """Accept connections from now on."""
        await expire_records(self._profile.store)
        listener = listen(self._wanted_port)
        try:
            self.port = listener.getsockname()[1]
            checks_user = _can_check_users()
            if self._served is not None:
                self.keys = self._keys_of(self._served, can_restore=checks_user)
            hosts, is_fixed = allowed_hosts(self.port), self._wanted_port != 0
            app = create_app(self.keys, StaticFiles(), self.sockets, hosts, is_fixed=is_fixed)
            config = uvicorn.Config(
                app,
                http=protocol_class(
                    "manager page",
                    max_connections=self._limits.connections,
                    request_timeout=self._limits.request_timeout,
                    user_check=UserCheck() if checks_user else None,
                ),
                ws=WebSocketProtocol,
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="warning",  # paths contain tokens
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                h11_max_incomplete_event_size=self._limits.request,
                ws_max_size=self._limits.text,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=1,
            )
            self.sockets.accept()
            self._server = InProcessServer(config)
            await self._server.start(listener)
            self._announce()
        except BaseException:
            listener.close()
            raise

    async def stop(self) -> None:
        """End all sessions, and close all connections."""
        if self._served is not None:
            self._served.withdraw()
        await self.sockets.close()
        await self._lasting.stop()
        await self._tasks.wait()
        await self._server.stop()

    async def wait_until_unused(self, grace: float) -> None:
        """Wait until the last page was closed `grace` seconds ago. Reloaded pages and unused links count as open.

        A backup or a restore that a closed page has started is finished first.
        """
        await self._wait_until_idle(grace)
        if self._served is None:
            return
        while not self._is_withdrawn():
            await asyncio.sleep(_LINK_SECONDS)
            await self._wait_until_idle(grace)
        self._served.keys.delete()  # no page can need them

    async def _wait_until_idle(self, grace: float) -> None:
        await self.sockets.wait_until_unused(grace)
        while self._lasting:
            await self._lasting.wait()
            await self.sockets.wait_until_unused(grace)

    async def __aenter__(self) -> ManagerServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _keys_of(self, served: ServedProfile, *, can_restore: bool) -> AccessKeys:
        """The keys of the last server on this port, if the users of connections can be checked.

        Otherwise another user could take the port of a server that has ended, and get the cookie.
        """
        files, port = served.keys, self.port
        if not self._survives:
            files.delete()
        elif not can_restore:
            files.save(port, None)
        else:
            keys = AccessKeys(files.load(port), lambda stored: files.save(port, stored), take_grant=served.grants.take)
            keys.save()
            return keys
        return AccessKeys(take_grant=served.grants.take)

    def _is_withdrawn(self) -> bool:
        """Whether no other process has a link to this server, and none can create one any more."""
        if self._served is None:
            return True
        if not self._served.grants.pending:
            self._served.withdraw()
            if not self._served.grants.pending:  # created before that
                return True
            self._announce()
        return False

    def _announce(self) -> None:
        if self._served is not None:
            self._served.announce(self.record)

    async def _create_bridge(self, session: PageSession, may_repeat: bool) -> PageBridge:
        store = self._profile.store
        done = await store.read(lambda each: recorded_numbers(each, session.id)) if may_repeat else frozenset()
        host = ApiHost(*dispatcher_and_caller(self._profile.browser(PERMISSIONS, CALLER)), lambda _: None)
        bridge = PageBridge(host, session, CALLER, self._limits, self._lasting, done)
        session.exited.add_done_callback(lambda exited: self._on_exit(session.id, bridge, exited.result()))
        return bridge

    def _on_exit(self, session_id: str, bridge: PageBridge, reason: Exit) -> None:
        """Delete the records that a closed or lost page does not need. The others stay: it may come back."""
        records = bridge.take_records()
        if records and reason.reason == "exited":
            self._tasks.spawn(self._delete(session_id, records))

    async def _delete(self, session_id: str, records: list[int]) -> None:
        with contextlib.suppress(ProfileError):
            await self._profile.store.write(lambda each: delete_records(each, session_id, records))


def _can_check_users() -> bool:
    can_check = can_check_users()
    if not can_check and sys.platform == "linux":
        logger.warning("manager page: the tables of sockets in /proc are empty, so other users are not recognized")
    return can_check
