"""The tools about the identity: which one it is, and whether it is signed in at a site. They start no browser."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.fetch_tool import send
from hatbox.mcp.response_secrets import has_password_field
from hatbox.mcp.tool_arguments import FetchArguments, NoArguments, SignedInArguments
from hatbox.mcp.tool_output import ToolOutput

__all__ = ["identity", "looks_signed_in", "signed_in"]

_SIGN_IN_PATH: Final = re.compile(
    r"(^|[/_.-])(log|sign)[_-]?(in|on)([/_.?-]|$)|(^|/)(auth|sso|session/new)(/|$)", re.IGNORECASE
)
_UNAUTHORIZED: Final = (401, 403, 407)
_OK: Final = 200
_ERROR: Final = 400


async def identity(session: AgentSession, _: NoArguments) -> ToolOutput:
    """Which identity the agent uses, and what it may do."""
    grant, options = session.grant(), session.options
    lines = [
        f'You use the identity "{session.identity.name}" ({session.identity.cookie_store_id}), and no other one.',
        f"Allowed hosts: {grant.hosts_text}.",
        f"Allowed actions: {', '.join(sorted(grant.actions))}.",
    ]
    if options.read_only:
        lines.append("Read-only: you can open and read pages, and not click, type or send anything but GET requests.")
    lines.append("Uploads: off." if options.uploads is None else "Uploads: files below the folder for uploads.")
    lines.append("Values of cookies and passwords are not shown. Never ask for them.")
    return ToolOutput("\n".join(lines))


async def signed_in(session: AgentSession, given: SignedInArguments) -> ToolOutput:
    """Send one request as the identity, and judge from the response whether it is signed in."""
    response = await send(session, FetchArguments(url=given.url))
    answer, reason = looks_signed_in(given.url, response.url, response.status, response.body, response.has_cookies)
    return ToolOutput(f"{answer}: {reason}. This is a guess from one request; a snapshot of the page says more.")


def looks_signed_in(url: str, final_url: str, status: int, body: str, has_cookies: bool) -> tuple[str, str]:
    """yes, no or unknown, with the reason."""
    if status in _UNAUTHORIZED:
        return "no", f"the site answered with status {status}"
    if final_url != url and _SIGN_IN_PATH.search(urlsplit(final_url).path):
        return "no", "the site redirected to a page for signing in"
    if not has_cookies:
        return "no", "the identity has no cookies for this URL"
    if has_password_field(body):
        return "no", "the page has a password field"
    if _OK <= status < _ERROR:
        return "yes", f"the site answered with status {status}, without a page for signing in"
    return "unknown", f"the site answered with status {status}"
