"""The settings of an identity as options of its browser context. Pure: starts no browser and opens no connection."""

from __future__ import annotations

from typing import Any, Final

from hatbox.identities.proxy_url import ProxyUrl
from hatbox.identities.settings import IdentitySettings

__all__ = ["REMOVE_WEBRTC", "context_options", "needs_relay", "uses_proxy"]

# Playwright 1.65 does not pass direct:// on. Port 9 (discard) is never used: the bypass rule matches every host.
_DIRECT: Final = {"server": "http://127.0.0.1:9", "bypass": "*"}

REMOVE_WEBRTC: Final = """(() => {
  for (const name of Object.getOwnPropertyNames(globalThis)) if (/^(webkit)?RTC/.test(name)) delete globalThis[name];
})();"""
"""Runs in every document before its first script: WebRTC sends UDP packets and DNS queries past the proxy."""


def uses_proxy(settings: IdentitySettings) -> bool:
    """Whether every request must go through a proxy."""
    return settings.proxy is not None and not settings.is_direct


def needs_relay(proxy: ProxyUrl) -> bool:
    """Whether the proxy has credentials. Chromium has no authentication for SOCKS, and asks the user for HTTP."""
    return bool(proxy.username or proxy.password)


def context_options(settings: IdentitySettings, relay: str | None = None) -> dict[str, Any]:
    """The arguments of Playwright's `new_context`. `relay` is the proxy that adds the credentials, if they are needed.

    Playwright adds `<-loopback>` to the bypass list, so that requests to this machine use the proxy too.
    """
    options: dict[str, Any] = {}
    if settings.is_direct:
        options["proxy"] = dict(_DIRECT)
    elif (proxy := settings.proxy_url) is not None:
        options["proxy"] = {"server": relay or proxy.server}
    if settings.user_agent is not None:
        options["user_agent"] = settings.user_agent
    if settings.locale is not None:
        options["locale"] = settings.locale
    if settings.timezone is not None:
        options["timezone_id"] = settings.timezone
    return options
