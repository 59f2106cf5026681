"""The settings of an identity as options of its browser context. Pure: starts no browser and opens no connection."""

from __future__ import annotations

from typing import Any, Final

from hatbox.engines.chromium.user_agent_hints import hint_headers
from hatbox.identity.proxy_url import ProxyUrl
from hatbox.identity.settings import IdentitySettings

__all__ = ["context_options", "init_scripts", "needs_relay", "uses_proxy"]

# Playwright 1.65 does not pass direct:// on. Port 9 (discard) is never used: the bypass rule matches every host.
_DIRECT: Final = {"server": "http://127.0.0.1:9", "bypass": "*"}

# WebRTC sends UDP packets and DNS queries past the proxy.
_REMOVE_WEBRTC: Final = """(() => {
  for (const name of Object.getOwnPropertyNames(globalThis)) if (/^(webkit)?RTC/.test(name)) delete globalThis[name];
})();"""
_REMOVE_SHARED_WORKERS: Final = "delete globalThis.SharedWorker;"


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
        # Chromium sends the real User-Agent for service workers, and in shared workers: see init_scripts().
        options |= {"user_agent": settings.user_agent, "service_workers": "block"}
        if headers := hint_headers(settings.user_agent):
            options["extra_http_headers"] = headers
    if settings.locale is not None:
        options["locale"] = settings.locale
    if settings.timezone is not None:
        options["timezone_id"] = settings.timezone
    return options


def init_scripts(settings: IdentitySettings) -> list[str]:
    """Scripts that run in every document before its first script."""
    scripts = [_REMOVE_WEBRTC] if uses_proxy(settings) else []
    return [*scripts, _REMOVE_SHARED_WORKERS] if settings.user_agent is not None else scripts
