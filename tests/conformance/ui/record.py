"""Records what a real Firefox does with menus, buttons, commands and notifications: the scripts beside this file.

`python -m tests.conformance.ui.record [--check]`. Each script runs as the background of an extension, here and there,
and reports what it sees. What a user would do is asked of the host: Firefox is clicked through its own interface,
Hatbox through its triggers.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.site import Site
from tests.firefox import Firefox, firefox_version

HERE = Path(__file__).parent
RECORDING = HERE / "recorded.firefox.json"
NAME = "$name"

_COMMANDS: dict[str, Any] = {
    "one": {"suggested_key": {"default": "Ctrl+Shift+Y"}, "description": "One"},
    "two": {},
    "three": {"suggested_key": {"linux": "Alt+1", "default": "Alt+2"}},
}
_PAGE_KEY = {"commands": {"_execute_page_action": {"suggested_key": {"default": "Alt+Shift+P"}}}}
_KEY = {"suggested_key": {"default": "Alt+Shift+B"}}
_BUTTON = {"default_title": "Default", "default_popup": "popup.html", "default_area": "navbar"}
_SIDEBAR = {"default_panel": "popup.html", "open_at_install": False}
_SIDEBAR_KEYS = {"one": _COMMANDS["one"], "_execute_sidebar_action": _KEY}
_EVENT_PAGE = {"background": {"persistent": False}}
_MENUS = ("menus", "contextMenus", "activeTab")


class Case(NamedTuple):
    """A script, and the manifest of the extension that it is the background of."""

    name: str
    script: str
    version: int
    permissions: tuple[str, ...]
    manifest: Mapping[str, Any] = {}

    def body(self) -> str:
        """The body of an async function that runs it."""
        frame, script = ((HERE / f"{name}.js").read_text("utf-8") for name in ("frame", self.script))
        return f"{frame}\n{script}\nreturn out;\n"


CASES = (
    Case("menus", "menus", 2, _MENUS),
    Case("menus, event page", "menus", 2, _MENUS, _EVENT_PAGE),
    Case("menus, version 3", "menus", 3, _MENUS),
    Case("clicks", "clicks", 2, _MENUS, {"browser_action": {"default_area": "navbar"}}),
    Case("clicks, version 3", "clicks", 3, _MENUS, {"action": {"default_area": "navbar"}}),
    Case("browserAction", "actions", 2, ("tabs",), {"browser_action": _BUTTON}),
    Case("action", "actions", 3, ("tabs",), {"action": _BUTTON}),
    Case("browserAction by name only", "actions", 2, ("activeTab",), {"browser_action": {}}),
    Case("pageAction", "page_action", 2, ("tabs",), {"page_action": {"default_title": "PD"}, **_PAGE_KEY}),
    Case(
        "pageAction, version 3",
        "page_action",
        3,
        ("tabs",),
        {"page_action": {"default_popup": "popup.html"}, **_PAGE_KEY},
    ),
    Case(
        "pageAction on pages",
        "page_action",
        2,
        ("tabs",),
        {"page_action": {"show_matches": ["http://*/*"]}, **_PAGE_KEY},
    ),
    Case(
        "commands",
        "commands",
        2,
        ("activeTab",),
        {"browser_action": {}, "commands": {**_COMMANDS, "_execute_browser_action": _KEY}},
    ),
    Case(
        "commands, version 3",
        "commands",
        3,
        ("tabs",),
        {"action": {}, "commands": {**_COMMANDS, "_execute_action": _KEY}},
    ),
    Case("sidebarAction", "sidebar_action", 2, ("tabs",), {"sidebar_action": _SIDEBAR, "commands": _SIDEBAR_KEYS}),
    Case("sidebarAction, version 3", "sidebar_action", 3, (), {"sidebar_action": _SIDEBAR, "commands": _SIDEBAR_KEYS}),
    Case("notifications", "notifications", 2, ("notifications",)),
)

_WINDOW = """
const win = Services.wm.getMostRecentWindow("navigator:browser"), {document, gBrowser} = win;
const within = (promise, ms = 3000) => Promise.race([promise, new Promise(resolve => win.setTimeout(resolve, ms))]);
const once = (target, event) => new Promise(resolve => target.addEventListener(event, resolve, {once: true}));
"""
_MENU = """
const menu = document.getElementById("tabContextMenu");
const shown = once(menu, "popupshown");
menu.openPopup(gBrowser.selectedTab, "after_start", 0, 0, true, false, null);
await within(shown);
const item = [...menu.querySelectorAll("menuitem")].find(each => each.getAttribute("label") === arguments[0]);
const popup = item.parentNode;
if (popup !== menu) {
  const below = once(popup, "popupshown");
  popup.parentNode.openMenu(true);
  await within(below);
}
const hidden = once(menu, "popuphidden");
popup.activateItem(item);
await within(hidden);
"""
_ACTION = "[...document.querySelectorAll('[id$=-BAP]')].find(each => each.id.startsWith('extension-')).doCommand();"
_COMMAND = """
const keys = [...document.querySelectorAll("keyset[id^=ext-keyset-id-] key")];
keys[arguments[0] === "one" ? 0 : keys.length - 1].doCommand();
"""
_NOTIFICATION = "[...Services.wm.getEnumerator('alert:alert')].at(-1).onAlertClick();"
_NAVIGATE = """
const browser = gBrowser.selectedBrowser;
const {promise, resolve} = Promise.withResolvers();
const listener = {
  onStateChange(_, __, flags) { if (flags & Ci.nsIWebProgressListener.STATE_STOP) resolve(); },
  onLocationChange() { if (arguments[3] & Ci.nsIWebProgressListener.LOCATION_CHANGE_SAME_DOCUMENT) resolve(); },
  QueryInterface: ChromeUtils.generateQI(["nsIWebProgressListener", "nsISupportsWeakReference"]),
};
browser.addProgressListener(listener, Ci.nsIWebProgress.NOTIFY_ALL);
if (arguments[0] === null) browser.reload();
else {
  const triggeringPrincipal = Services.scriptSecurityManager.getSystemPrincipal();
  browser.fixupAndLoadURIString(arguments[0], {triggeringPrincipal});
}
await within(promise, 5000);
browser.removeProgressListener(listener);
"""


def record() -> str:
    """The recording of all cases."""
    answers: dict[str, Any] = {}
    with Firefox(prefs={"alerts.useSystemBackend": False}) as firefox, Site() as site:
        for case in CASES:
            firefox.reset_windows()
            answer = firefox.run(
                case.body(),
                permissions=case.permissions,
                manifest_version=case.version,
                manifest=case.manifest,
                timeout=120,
                host=_hands(firefox, site),
            )
            answers[case.name] = shown(answer, site.origin, r"extension-\d+")
        version = firefox_version(firefox.binary)
    return format_recording(version, answers)


CLICK_ACTION = _WINDOW + _ACTION
"""Clicks the button of the extension. Runs with the rights of the browser."""


def _hands(firefox: Firefox, site: Site) -> dict[str, Callable[[Any], None]]:
    def act(script: str, *arguments: Any) -> None:
        firefox.chrome(_WINDOW + script, *arguments)

    return {
        "menu": lambda item: act(_MENU, item["title"]),
        "action": lambda _: act(_ACTION),
        "pageAction": lambda _: act(_COMMAND, "the only one"),
        "command": lambda name: act(_COMMAND, name),
        "notification": lambda _: act(_NOTIFICATION),
        "navigate": lambda to: act(_NAVIGATE, site.origin + to["url"] if to["url"] else None),
    }


def shown(answers: Any, origin: str, name: str) -> Any:
    """Answers without what no two runs share: the address of the site, and the name of the extension, a pattern."""
    return json.loads(re.sub(name, lambda _: NAME, json.dumps(answers).replace(origin, "$site")))


def format_recording(version: str, answers: Mapping[str, Any]) -> str:
    """JSON with one answer on each line, so that a change of one answer is a change of one line."""
    blocks = ",\n".join(f"  {json.dumps(name)}: {{{_lines(case)}}}" for name, case in answers.items())
    return f'{{\n "firefox": {json.dumps(version)},\n "answers": {{\n{blocks}\n }}\n}}\n'


def _lines(answers: Mapping[str, Any]) -> str:
    return ",".join(f"\n   {json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items())


def main() -> str | None:
    """Write the recording, or say what has changed."""
    recording = record()
    if "--check" not in sys.argv:
        RECORDING.write_text(recording, "ascii")
        return None
    before, after = json.loads(RECORDING.read_text("ascii"))["answers"], json.loads(recording)["answers"]
    changed = [name for name in before | after if before.get(name) != after.get(name)]
    return "\n".join(f"Firefox now answers otherwise: {name}" for name in changed) or None


if __name__ == "__main__":
    sys.exit(main())
