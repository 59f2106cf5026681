"""What the functions of the namespace runtime do, beyond messages. The words are Firefox's."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from hatbox.errors import ApiError
from hatbox.extension_data.installed_extensions import store_uninstall_url
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.javascript.text import stringify
from hatbox.store.base import Transaction
from hatbox.tabs.opening import open_tab
from hatbox.tabs.visibility import show_and_activate
from hatbox.urls.url import parse_url

__all__ = ["BROWSER", "copy_of", "nothing", "open_options_page", "platform", "set_uninstall_url", "url_of"]

BROWSER: Final = {"name": "Firefox", "vendor": "Mozilla", "version": "153.0", "buildID": "20181001000000"}
"""Whose API this is: extensions ask in order to know what they can use. The build is the one that pages are told."""

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


def nothing(*_: Any) -> None:
    """What nobody is told."""


def url_of(uuid: str, path: str) -> str:
    """The address of a file of an extension: only put together, as Firefox does, and not resolved."""
    return f"moz-extension://{uuid}/{path.removeprefix('/')}"


def copy_of(value: Any) -> Any:
    """The same, for whoever may change it."""
    if isinstance(value, Mapping):
        return {key: copy_of(each) for key, each in value.items()}
    return [copy_of(each) for each in value] if isinstance(value, (list, tuple)) else value


def platform() -> dict[str, str]:
    """The system and the machine that this runs on."""
    system = _SYSTEMS.get(sys.platform, "openbsd" if sys.platform.startswith("openbsd") else "linux")
    import platform  # it takes long to import, and hardly anybody asks

    name = platform.machine().lower()
    return {"os": system, "arch": _MACHINES.get(name, "arm" if name.startswith("arm") else "noarch")}


def open_options_page(transaction: Transaction, manifest: Mapping[str, Any]) -> None:
    """Show the options page: in the tab that has it open, or else in a new one."""
    url = (manifest.get("options_ui") or {}).get("page") or manifest.get("options_page")
    if not url:
        raise ApiError("No `options_ui` declared")
    for tab in transaction.tabs.find():
        if url in (tab.url, tab.target):
            show_and_activate(transaction, tab)
            return
    open_tab(transaction, url, cookie_store_id=DEFAULT_STORE)


def set_uninstall_url(transaction: Transaction, extension_id: str, url: str | None) -> None:
    """Note the page to open when the extension is removed."""
    if url:
        parsed = parse_url(url)
        if parsed is None:
            raise ApiError(f"Invalid URL: {stringify(url)}")
        if parsed.scheme not in ("http", "https"):
            raise ApiError("url must have the scheme http or https")
    store_uninstall_url(transaction, extension_id, url)
