"""Functions of the namespace runtime, except messages. Error messages match Firefox."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from hatbox.errors import ApiError
from hatbox.extension_data.installed_extensions import store_uninstall_url
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.javascript.text import stringify
from hatbox.store.base import Transaction
from hatbox.tabs.opening import open_tab
from hatbox.tabs.visibility import show_and_activate
from hatbox.urls.url import parse_url

__all__ = ["BROWSER", "copy_of", "open_options_page", "platform", "set_uninstall_url", "url_of"]

BROWSER: Final = {"name": "Firefox", "vendor": "Mozilla", "version": "153.0", "buildID": "20181001000000"}
"""The Firefox version whose API this is, for feature detection. The build id is the one that Firefox shows to pages."""

_SYSTEMS: Final = {"darwin": "mac", "win32": "win", "cygwin": "win"}
_MACHINES: Final = {
    "amd64": "x86-64",
    "x86_64": "x86-64",
    "arm64": "aarch64",
    "aarch64": "aarch64",
    "i386": "x86-32",
    "i686": "x86-32",
    "ppc64le": "ppc64",
    "ppc64": "ppc64",
    "riscv64": "riscv64",
    "s390x": "s390x",
}


def url_of(uuid: str, path: str) -> str:
    """The URL of an extension's file: concatenated, as in Firefox, not resolved."""
    return f"moz-extension://{uuid}/{path.removeprefix('/')}"


def copy_of(value: Any) -> Any:
    """A deep copy that the caller may change."""
    if isinstance(value, Mapping):
        return {key: copy_of(each) for key, each in value.items()}
    return [copy_of(each) for each in value] if isinstance(value, (list, tuple)) else value


def platform() -> dict[str, str]:
    """runtime.PlatformInfo of this machine."""
    system = _SYSTEMS.get(sys.platform, "openbsd" if sys.platform.startswith("openbsd") else "linux")
    import platform  # slow to import, and rarely needed

    name = platform.machine().lower()
    return {"os": system, "arch": _MACHINES.get(name, "arm" if name.startswith("arm") else "noarch")}


def open_options_page(transaction: Transaction, manifest: Mapping[str, Any]) -> None:
    """Show the options page in its open tab, or in a new tab."""
    url = (manifest.get("options_ui") or {}).get("page") or manifest.get("options_page")
    if not url:
        raise ApiError("No `options_ui` declared")
    for tab in transaction.tabs.find():
        if url in (tab.url, tab.target):
            show_and_activate(transaction, tab)
            return
    open_tab(transaction, url, cookie_store_id=DEFAULT_COOKIE_STORE_ID)


def set_uninstall_url(transaction: Transaction, extension_id: str, url: str | None) -> None:
    """Store the URL to open when the extension is removed."""
    if url:
        parsed = parse_url(url)
        if parsed is None:
            raise ApiError(f"Invalid URL: {stringify(url)}")
        if parsed.scheme not in ("http", "https"):
            raise ApiError("url must have the scheme http or https")
    store_uninstall_url(transaction, extension_id, url)
