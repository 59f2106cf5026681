"""Creates browser contexts with the settings of an identity."""

from __future__ import annotations

from typing import Any

from playwright.async_api import BrowserContext

from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.context_settings import context_options, init_scripts
from hatbox.engines.chromium.launch import Launched
from hatbox.engines.chromium.proxy_relay import ProxyRelay
from hatbox.engines.chromium.sessions import within
from hatbox.identity.settings import IdentitySettings

__all__ = ["create_context", "new_browser_context"]


async def new_browser_context(
    env: BrowserEnvironment, settings: IdentitySettings, relay: ProxyRelay | None
) -> tuple[BrowserContext, str]:
    """A new context and its id. Playwright does not expose the id, so compare the ids before and after."""
    launched = env.launched
    options: dict[str, Any] = {"user_agent": launched.user_agent} if env.options.headless else {"no_viewport": True}
    options |= context_options(settings, relay.url if relay else None)
    context, context_id = await create_context(launched, options)
    for script in init_scripts(settings):
        await within(context.add_init_script(script), "context.add_init_script()")
    return context, context_id


async def create_context(launched: Launched, options: dict[str, Any]) -> tuple[BrowserContext, str]:
    """A new context with these options of Playwright, and its id."""
    while True:
        before = await _context_ids(launched)
        context = await within(launched.browser.new_context(**options), "Target.createBrowserContext")
        created = await _context_ids(launched) - before
        if len(created) == 1:
            return context, created.pop()
        await within(context.close(), "context.close()")  # a concurrent call has created one


async def _context_ids(launched: Launched) -> set[str]:
    return set((await launched.session.send("Target.getBrowserContexts"))["browserContextIds"])
