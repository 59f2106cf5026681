"""One agent: the identity that it uses, its grant, and its pages. Each call of a tool is checked and recorded here."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import msgspec

from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.errors import GrantError, GrantRefused, HatboxError, ProfileError
from hatbox.grants.grant import Grant
from hatbox.identity.model import ContextualIdentity
from hatbox.mcp.person_requests import PersonRequests
from hatbox.mcp.tool_output import ToolFailed, ToolRefused
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.mcp.agent_browser import AgentBrowser
    from hatbox.mcp.agent_pages import AgentPages

__all__ = ["AgentOptions", "AgentSession"]

_DURATION: Final = 7 * 86_400.0  # seconds; a server that is killed cannot revoke its grant
_ACTIONS: Final = frozenset({"fetch", "pages", "tabs"})
_MODULES: Final = (
    "hatbox.engines.chromium.attaching_runner",
    "hatbox.engines.chromium.registration",
    "hatbox.engines.endpoint_grants",
    "hatbox.engines.registry",
    "hatbox.extensions.action_buttons",
    "hatbox.extensions.content_scripts.chromium_content_scripts",
    "hatbox.extensions.service",
)
"""What Profile.chromium() imports: they take longer than the browser."""


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the user allows an agent, beside the grant."""

    read_only: bool = False
    headless: bool = True
    uploads: Path | None = None
    """The folder below which files may be uploaded; None for no uploads."""
    downloads: Path | None = None
    """The folder for downloads; None for one that is deleted with the browser."""
    browser: str | None = None
    """The path of Chromium; None for the default."""


class AgentSession:
    """The session of one agent, for `async with`. Its own grant is revoked at the end, one that was given is not."""

    def __init__(
        self,
        profile: Profile,
        identity: ContextualIdentity,
        options: AgentOptions,
        *,
        hosts: Sequence[str] | None = None,
        token: str | None = None,
    ) -> None:
        self.profile = profile
        self.identity = identity
        self.options = options
        self._hosts = hosts
        self._given_token = token
        self._parent: AgentSession | None = None
        self._grant_id = ""
        self._browser: AgentBrowser | None = None
        self._pages: AgentPages | None = None
        self.person = PersonRequests(self)
        """What the agent requests of a person."""
        self.token = token or ""
        """The token of the grant."""
        self.ended: asyncio.Future[None]
        """Done when the grant was revoked or has expired."""

    async def __aenter__(self) -> Self:
        grants = self.profile.grants
        if self._parent is not None:
            self.ended = grants.ended(self._grant_id)
            return self
        if self._given_token is None:
            grant, self.token = await grants.create(
                f"hatbox mcp for {self.identity.name[:100]!a}, process {os.getpid()}",
                identities=self.identity,
                hosts=self._hosts,
                actions=_ACTIONS,
                duration=_DURATION,
                for_process=True,
            )
        else:
            grant = await grants.verify(self._given_token)
            if not grant.allows_identity(self.identity.cookie_store_id):
                raise GrantRefused(f'the grant {grant.id} does not include the identity "{self.identity.name}"')
        self._grant_id = grant.id
        self.ended = grants.ended(grant.id)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def sibling(self) -> AgentSession:
        """A session for another agent with the same grant, to be entered. It has its own pages, in the same browser."""
        other = AgentSession(self.profile, self.identity, self.options)
        other._parent, other._grant_id = self, self._grant_id
        return other

    async def close(self) -> None:
        """Close the pages of the agent, and revoke the grant of this session. May be called twice."""
        self.ended.cancel()
        self.person.answer("ended")
        try:
            if self._pages is not None:
                self._pages.end()
                await self._pages.close()
            if self._browser is not None:
                await self._browser.close()
        finally:
            if self._given_token is None and self._parent is None:
                with contextlib.suppress(GrantError, ProfileError):  # removed, or the profile cannot be reached
                    await self.profile.grants.revoke(self._grant_id)

    @property
    def grant_id(self) -> str:
        """The id of the grant."""
        return self._grant_id

    def grant(self, action: str | None = None) -> Grant:
        """The grant, as it is now. Raises ToolRefused if it has ended, or does not allow the action."""
        try:
            grant = self.profile.grants.check(self._grant_id)
        except GrantRefused as error:
            raise ToolRefused(f"{error} The user has ended the access of this agent. Stop, and say so.") from error
        if not grant.allows_identity(self.identity.cookie_store_id):
            raise ToolRefused("the identity was removed from the grant of this agent. Stop, and say so.")
        if action is not None and not grant.allows(action):
            allowed = ", ".join(sorted(grant.actions))
            raise ToolRefused(f"the grant of this agent does not allow the action {action}. Allowed: {allowed}.")
        return grant

    @property
    def browser(self) -> AgentBrowser:
        """The browser of this agent and of its siblings."""
        if self._parent is not None:
            return self._parent.browser
        if self._browser is None:
            from hatbox.mcp.agent_browser import AgentBrowser  # imports Playwright

            self._browser = AgentBrowser(self)
        return self._browser

    async def prepare_pages(self) -> None:
        """Import and start what the first page needs, while the client waits for nothing."""
        if self._browser is None and self._parent is None and self.grant().allows("pages"):
            await asyncio.to_thread(importlib.import_module, "hatbox.mcp.agent_pages")
            self.browser.prepare()
            for each in _MODULES:
                await asyncio.to_thread(importlib.import_module, each)
            await asyncio.to_thread(default_public_suffixes)

    def check_person(self) -> None:
        """Raise ToolFailed while a person uses the identity at the request of this agent or of a sibling.

        Also until the tabs of this agent are open again afterwards.
        """
        self.person.check()
        owner = self._parent or self
        if owner._browser is not None:
            owner._browser.check_person()
        if self._pages is not None:
            self._pages.check_restored()

    @property
    def pages(self) -> AgentPages:
        """The pages of the agent. The browser is started when the first one is opened."""
        if self._pages is None:
            from hatbox.mcp.agent_pages import AgentPages  # imports Playwright

            self._pages = AgentPages(self)
        return self._pages

    @property
    def current_url(self) -> str:
        """The URL of the current page; empty without one. Starts no browser."""
        return "" if self._pages is None else self._pages.current_url

    @property
    def known_passwords(self) -> Collection[str]:
        """The values of password fields in the pages of the agent, which a site may repeat. Starts no browser."""
        return () if self._pages is None else self._pages.known_passwords

    @contextlib.contextmanager
    def recorded(self, action: str, url: str = "") -> Iterator[None]:
        """Record an action in the activity log, with its outcome. Errors of Hatbox become ToolFailed."""
        outcome = "failed"
        try:
            yield
            outcome = "ok"
        except ToolFailed as error:
            outcome = "refused" if isinstance(error, ToolRefused) else "failed"
            raise
        except HatboxError as error:
            raise ToolFailed(str(error)) from error
        except asyncio.CancelledError:  # by the client, or because the access has ended
            outcome = "cancelled"
            raise
        finally:
            with contextlib.suppress(ProfileError):
                self.record(action, url or self.current_url, outcome)

    def record(self, action: str, url: str, outcome: str) -> None:
        """Record an action on the host of a URL."""
        self.profile.activity_log.record(
            self.identity.cookie_store_id, action, host=url, outcome=outcome, grant=self._grant_id
        )
