"""What a child is told before it runs anything of its extension."""

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

__all__ = ["Boot", "default_navigator", "settings"]

_MEMBERS: Final = Path(__file__).parent / "js" / "members"
_FIREFOX: Final = "153.0"
_OWN_LISTENERS: Final = 16  # room for those that no script has added
_PAGE: Final = "_generated_background_page.html"


class Boot(NamedTuple):
    """What a child is told before it runs anything of its extension."""

    uuid: str
    """The host of its moz-extension:// URLs."""
    extension_id: str
    manifest: Mapping[str, Any]
    description: Description
    """The namespaces that it sees (hatbox.extensions.runtime.api_description)."""
    data: Mapping[str, Any] = {}
    """For the files in members/, as `host.data`: `i18n` is what Locales.for_runtime() gives."""
    navigator: Mapping[str, Any] = {}
    """What `navigator` has beyond, or other than, default_navigator()."""
    page: str = _PAGE
    """The path of the page that `location` says."""
    local_storage: Sequence[tuple[str, str]] | None = None
    """What localStorage holds; None where there is none, because the scripts have no window."""
    worker: Literal["classic", "module"] | None = None
    """Of which kind the scripts are, where they were written for a service worker: which importScripts() they find."""
    polyfills: Sequence[tuple[str, str]] = ()
    """Scripts, by name and source, that run before those of the extension."""

    @property
    def base(self) -> str:
        """The root of its files."""
        return f"moz-extension://{self.uuid}/"

    @property
    def user_agent(self) -> str:
        """What `navigator.userAgent` says."""
        return str(self.navigator.get("userAgent") or default_navigator()["userAgent"])


def settings(boot: Boot, limits: RuntimeLimits) -> dict[str, Any]:
    """The message `boot`, as boot.mjs takes it."""
    return {
        "description": boot.description,
        "members": [
            {"namespace": name, "url": _ours(f"members/{name}.js"), "source": source} for name, source in _members()
        ],
        "navigator": {**default_navigator(), **boot.navigator},
        "localStorage": boot.local_storage,
        "worker": boot.worker,
        "polyfills": [{"url": _ours(name), "source": source} for name, source in boot.polyfills],
        "largest": limits.frame - (1 << 18),  # bytes of one message, beside what else is in a frame
        "parts": limits.max_values,
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
    """What `navigator` says: Firefox on this machine."""
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


def _ours(name: str) -> str:
    """The name of a script of ours in stack traces: not one that could be a file of the extension."""
    return f"hatbox:{name}"
