"""The settings that an extension process receives before it runs any script of the extension."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from hatbox.extensions.package.user_languages import user_languages
from hatbox.extensions.runtime.api_description import Description
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.module_bundle import indexed_db_source

__all__ = ["Boot", "default_navigator", "settings"]

_MEMBERS: Final = Path(__file__).parent / "js" / "members"
_FIREFOX: Final = "153.0"
_OWN_LISTENERS: Final = 16  # reserved for listeners of Hatbox's own scripts
_BACKGROUND_PAGE: Final = "_generated_background_page.html"


class Boot(NamedTuple):
    """The settings of an extension process."""

    uuid: str
    """The host in its moz-extension:// URLs."""
    extension_id: str
    manifest: Mapping[str, Any]
    description: Description
    """The visible namespaces (hatbox.extensions.runtime.api_description)."""
    data: Mapping[str, Any] = {}
    """`host.data` of the files in members/: `i18n` is the result of Locales.for_runtime()."""
    navigator: Mapping[str, Any] = {}
    """Properties of `navigator` that are added to, or replace, those of default_navigator()."""
    page: str = _BACKGROUND_PAGE
    """The path of the page, for `location`."""
    local_storage: Sequence[tuple[str, str]] | None = None
    """The entries of localStorage; None if the scripts have no window, and so no localStorage."""
    worker: Literal["classic", "module"] | None = None
    """The kind of a service worker, which determines its importScripts()."""
    polyfills: Sequence[tuple[str, str]] = ()
    """Name and source of scripts that run before those of the extension."""

    @property
    def base(self) -> str:
        """The base URL of its files."""
        return f"moz-extension://{self.uuid}/"

    @property
    def user_agent(self) -> str:
        """The value of `navigator.userAgent`."""
        return str(self.navigator.get("userAgent") or default_navigator()["userAgent"])


def settings(boot: Boot, limits: RuntimeLimits) -> dict[str, Any]:
    """The settings as boot.mjs reads them."""
    return {
        "description": boot.description,
        "members": [
            {"namespace": name, "url": _script_url(f"members/{name}.js"), "source": source}
            for name, source in _members()
        ],
        "indexedDb": {"url": _script_url("indexed_db.js"), "source": indexed_db_source()},
        "navigator": {**default_navigator(), **boot.navigator},
        "localStorage": boot.local_storage,
        "worker": boot.worker,
        "polyfills": [{"url": _script_url(name), "source": source} for name, source in boot.polyfills],
        "maxBytes": limits.frame - (1 << 18),  # of one message; the rest of the frame is for other messages
        "maxValues": limits.max_values,
        "jobs": limits.jobs,
        "listeners": limits.listeners - _OWN_LISTENERS,
        "data": {
            **boot.data,
            "id": boot.extension_id,
            "manifest": boot.manifest,
            "base": boot.base,
            "page": boot.base + boot.page,
        },
    }


def default_navigator() -> dict[str, Any]:
    """The properties of `navigator`: Firefox on this machine."""
    system, platform = _SYSTEMS.get(sys.platform, _SYSTEMS["linux"])
    languages = user_languages()
    return {
        "userAgent": f"Mozilla/5.0 ({system}; rv:{_FIREFOX}) Gecko/20100101 Firefox/{_FIREFOX}",
        "appCodeName": "Mozilla",
        "appName": "Netscape",
        "appVersion": "5.0",
        "platform": platform,
        "product": "Gecko",
        "productSub": "20100101",
        "vendor": "",
        "language": languages[0],
        "languages": list(languages),
        "onLine": True,
        "cookieEnabled": True,
        "hardwareConcurrency": os.cpu_count() or 1,
    }


_SYSTEMS: Final = {
    "linux": ("X11; Linux x86_64", "Linux x86_64"),
    "darwin": ("Macintosh; Intel Mac OS X 10.15", "MacIntel"),
    "win32": ("Windows NT 10.0; Win64; x64", "Win32"),
}


@cache
def _members() -> list[tuple[str, str]]:
    """The files in members/: namespace and source."""
    return [(file.stem, file.read_text("utf-8")) for file in sorted(_MEMBERS.glob("*.js"))]


def _script_url(name: str) -> str:
    """The URL of one of Hatbox's scripts in stack traces. It cannot be a file of the extension."""
    return f"hatbox:{name}"
