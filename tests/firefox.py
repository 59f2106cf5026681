"""A real Firefox to compare with: runs JavaScript as the background script of an extension, headless.

The browser is controlled over Marionette, its own remote protocol; the scripts answer over HTTP on the loopback
interface. Every Firefox has a profile of its own that is deleted with it, and reaches nothing but this machine. This
module knows nothing of Hatbox.

    with Firefox() as firefox:
        firefox.run("return await browser.contextualIdentities.query({})", permissions=["contextualIdentities"])
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

START_SECONDS = 60
DEAD_PORT = 9

# On top of those that Marionette itself sets to keep a browser under test quiet.
PREFS: dict[str, bool | int | str] = {
    "marionette.port": 0,
    "privacy.userContext.enabled": True,
    "extensions.background.idle.timeout": 600_000,
    # Everything but the loopback interface goes to a proxy that is not there.
    "network.proxy.type": 1,
    "network.proxy.socks": "127.0.0.1",
    "network.proxy.socks_port": DEAD_PORT,
    "network.proxy.socks_remote_dns": True,
    "network.proxy.failover_direct": False,
    "network.trr.mode": 5,
}

# Turning containers off makes Firefox forget them, but not at once: the marker tells when it has.
RESET_CONTAINERS = """
const path = "resource://gre/modules/ContextualIdentityService.sys.mjs";
const {ContextualIdentityService: service} = ChromeUtils.importESModule(path);
service._lastUserContextId = -1;
Services.prefs.setBoolPref("privacy.userContext.enabled", false);
while (service._lastUserContextId === -1) await new Promise(resolve => setTimeout(resolve, 1));
Services.prefs.setBoolPref("privacy.userContext.enabled", true);
return [service.getPublicUserContextIds(), service._lastUserContextId + 1];
"""

COUNT_TABS = '[...Services.wm.getEnumerator("navigator:browser")].map(win => win.gBrowser.tabs.length)'

# A new tab, and all others closed: of a tab that was used, something always remains.
RESET_WINDOWS = """
const [keep, ...others] = [...Services.wm.getEnumerator("navigator:browser")].filter(win => win.toolbar.visible);
for (const other of Services.wm.getEnumerator("navigator:browser")) if (other !== keep) other.close();
const until = async is => { while (!is()) await new Promise(resolve => setTimeout(resolve, 1)); };
if (keep.windowState !== keep.STATE_NORMAL) {
  if (keep.fullScreen) keep.fullScreen = false;
  keep.restore();
  await until(() => keep.windowState === keep.STATE_NORMAL);
}
const {gBrowser} = keep;
const blank = await new Promise(resolve => {
  const listener = {
    onStateChange(browser, progress, request, flags) {
      if (browser !== tab.linkedBrowser || !(flags & Ci.nsIWebProgressListener.STATE_STOP)) return;
      gBrowser.removeTabsProgressListener(listener);
      resolve(tab);
    },
  };
  gBrowser.addTabsProgressListener(listener);
  const tab = gBrowser.addTrustedTab("about:blank", {skipAnimation: true});
  gBrowser.selectedTab = tab;
});
for (const tab of [...gBrowser.tabs]) if (tab !== blank) gBrowser.removeTab(tab, {animate: false});
keep.document.documentElement.removeAttribute("titlepreface");
keep.focus();
await until(() => Services.focus.activeWindow === keep && Services.wm.getMostRecentWindow(null) === keep);
return @COUNT@;
""".replace("@COUNT@", COUNT_TABS)

CONSOLE_ERRORS = """
return Services.console.getMessageArray()
  .filter(each => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag))
  .filter(each => each.sourceName.startsWith("http") || /^(CSP|Trusted|content javascript)/i.test(each.category))
  .map(each => `${each.category}: ${each.errorMessage} (${each.sourceName}:${each.lineNumber})`);
"""

HOST = """"use strict";
async function host(name, value = null) {
  const reply = await fetch("@URL@" + name, {method: "POST", body: JSON.stringify(value)});
  return reply.json();
}
onerror = message => { host("error", message); };
"""

BACKGROUND = """"use strict";
onerror = null;
(async () => {
@BODY@
})().then(value => host("done", value), error => host("error", String(error) + "\\n" + error.stack));
"""


class FirefoxError(Exception):
    """Firefox did not start, went away, or did not do what it was asked to."""


def find_firefox() -> str | None:
    """The path of $FIREFOX, or else of the Firefox that is installed."""
    wish = os.environ.get("FIREFOX")
    names = [wish] if wish else ["firefox-esr", "firefox"]
    return next((path for path in map(shutil.which, names) if path), None)


def firefox_version(binary: str) -> str:
    """What `--version` says, without the name of the browser: `153.7.0esr`."""
    shown = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True, timeout=START_SECONDS)
    return shown.stdout.strip().rpartition(" ")[2]


def save_log(path: Path, firefox: Firefox, log: Sequence[Any]) -> None:
    """Write what a probe has logged, one entry on a line, with the version of the browser."""
    lines = ",\n  ".join(json.dumps(entry) for entry in log)
    version = json.dumps(firefox_version(firefox.binary))
    path.write_text(f'{{\n "firefox": {version},\n "log": [\n  {lines}\n ]\n}}\n', "ascii")


class Firefox:
    """One running browser. `prefs` are set on top of those that keep it quiet and off the network.

    `profile` is the folder of a profile to use; it stays. Without it there is a new one, which is deleted.
    """

    def __init__(
        self,
        binary: str | None = None,
        prefs: Mapping[str, bool | int | str] | None = None,
        profile: Path | None = None,
    ) -> None:
        found = binary or find_firefox()
        if found is None:
            raise FirefoxError("no Firefox found: install one, or set FIREFOX to its path")
        self.binary = found
        self._prefs = PREFS | dict(prefs or {})
        self._given_profile = profile
        self._runs = itertools.count(1)

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="hatbox-firefox-"))
        self.profile = self._given_profile or self._folder / "profile"
        self._server = _Server()
        try:
            self._process = self._start()
            self._marionette = _Marionette(self._wait_for_port())
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._marionette.close()
        self._clean_up()

    def run(
        self,
        body: str,
        *,
        permissions: Sequence[str] = (),
        manifest_version: int = 2,
        manifest: Mapping[str, Any] | None = None,
        timeout: float = 60,
        host: Mapping[str, Callable[[Any], Any]] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> Any:
        """Run the body of an async function in the background of a new extension, and return what it returns.

        `manifest` are further keys of its manifest; what they say of the background is added to it. `files` are
        further files of the extension.

        The body sees `browser`, and may `await host(name, value)`: that calls the function of this name in `host`.
        """
        number = next(self._runs)
        folder = self._write_extension(number, body, permissions, manifest_version, manifest or {})
        for name, text in (files or {}).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        addon = self._marionette.send("Addon:Install", path=str(folder), temporary=True)["value"]
        try:
            return self._converse(f"/{number}/", host or {}, time.monotonic() + timeout)
        finally:
            if self._process.poll() is None:
                self._marionette.send("Addon:Uninstall", id=addon)

    def set_pref(self, name: str, value: bool | int | str) -> None:
        kind = {bool: "Bool", int: "Int", str: "String"}[type(value)]
        self._chrome(f"Services.prefs.set{kind}Pref(arguments[0], arguments[1])", name, value)

    def reset_containers(self) -> None:
        """Back to the identities of a new profile, and to its next id."""
        state = self._chrome(RESET_CONTAINERS)
        if state != [[1, 2, 3, 4], 6]:
            raise FirefoxError(f"the containers are not those of a new profile: {state}")

    def reset_windows(self) -> None:
        """Back to one window with one tab, about:blank, active."""
        # The window that commands go to may be among those that are gone.
        handle = self._marionette.send("WebDriver:GetWindowHandles")[0]
        self._marionette.send("WebDriver:SwitchToWindow", handle=handle, focus=False)
        _check_one_tab(self._chrome(RESET_WINDOWS))

    def check_windows(self) -> None:
        """Raise an error unless there is one window with one tab: quicker than a reset, if nothing can have changed."""
        _check_one_tab(self._chrome(f"return {COUNT_TABS}"))

    def remove_cookies(self) -> None:
        """Drop the cookies of all stores."""
        self._chrome("Services.cookies.removeAll()")

    def chrome(self, script: str, *args: Any) -> Any:
        """Run the body of an async function with the rights of the browser itself; `arguments` are what it is given."""
        return self._chrome(script, *args)

    def open_page(self, url: str) -> None:
        """Load a web page in the selected tab, and wait until it has loaded."""
        self._in_content("WebDriver:Navigate", url=url)

    def in_page(self, script: str, *args: Any) -> Any:
        """Run the body of a function in the web page; `arguments` are what it is given."""
        return self._in_content("WebDriver:ExecuteScript", script=script, args=args)["value"]

    def press_keys(self, keys: str) -> None:
        """Press keys in the web page, one after the other. "\ue007" is Enter, as in WebDriver."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._in_content("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": steps}])

    def console_errors(self) -> list[str]:
        """The errors that web pages, their policies included, have reported so far; no warnings."""
        found: list[str] = self._chrome(CONSOLE_ERRORS)
        return found

    def kill(self) -> None:
        """End the browser as a crash would: at once, nothing more is written."""
        group = self._process.pid
        deadline = time.monotonic() + 10
        while _signal_group(group) and time.monotonic() < deadline:
            self._process.poll()
            time.sleep(0.02)

    def _start(self) -> subprocess.Popen[bytes]:
        profile = self.profile
        profile.mkdir(exist_ok=True)
        (profile / "MarionetteActivePort").unlink(missing_ok=True)
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in self._prefs.items())
        (profile / "user.js").write_text("".join(lines))
        flags = ["--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", str(profile)]
        home = {"HOME": str(self._folder), "TMPDIR": str(self._folder), "MOZ_CRASHREPORTER_DISABLE": "1"}
        # A session of its own, so that its many processes can be ended together.
        return subprocess.Popen(
            [self.binary, *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | home,
        )

    def _wait_for_port(self) -> int:
        file = self.profile / "MarionetteActivePort"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            if file.exists() and (text := file.read_text()):
                return int(text)
            time.sleep(0.02)
        raise FirefoxError(f"{self.binary} did not start")

    def _clean_up(self) -> None:
        if hasattr(self, "_process"):
            self.kill()
        self._server.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _chrome(self, script: str, *args: Any) -> Any:
        wrapped = f"return (async function () {{ {script} }}).apply(null, arguments)"
        return self._marionette.send("WebDriver:ExecuteScript", script=wrapped, args=args)["value"]

    def _in_content(self, command: str, **parameters: Any) -> Any:
        self._marionette.send("Marionette:SetContext", value="content")
        try:
            return self._marionette.send(command, **parameters)
        finally:
            self._marionette.send("Marionette:SetContext", value="chrome")

    def _write_extension(
        self,
        number: int,
        body: str,
        permissions: Sequence[str],
        manifest_version: int,
        more: Mapping[str, Any],
    ) -> Path:
        folder = self._folder / f"extension-{number}"
        folder.mkdir()
        loopback = ["http://127.0.0.1/*"]
        hosts = {"host_permissions": loopback} if manifest_version > 2 else {}
        manifest = {
            "manifest_version": manifest_version,
            "name": folder.name,
            "version": "1",
            "browser_specific_settings": {"gecko": {"id": f"{folder.name}@hatbox.test"}},
            "permissions": [*permissions, *([] if hosts else loopback)],
            **hosts,
            **more,
            "background": {"scripts": ["host.js", "background.js"], **more.get("background", {})},
        }
        (folder / "manifest.json").write_text(json.dumps(manifest))
        # Two files, so that a body that cannot even be parsed is reported by the first.
        (folder / "host.js").write_text(HOST.replace("@URL@", f"{self._server.url}/{number}/"))
        (folder / "background.js").write_text(BACKGROUND.replace("@BODY@", body), "utf-8")
        return folder

    def _converse(self, prefix: str, host: Mapping[str, Callable[[Any], Any]], deadline: float) -> Any:
        while True:
            path, value, answer = self._next_message(deadline)
            name = path.removeprefix(prefix)
            answer.put(host[name](value) if name in host else None)
            if name == "done":
                return value
            if name == "error":
                raise FirefoxError(value)

    def _next_message(self, deadline: float) -> _Message:
        while (left := deadline - time.monotonic()) > 0 and self._process.poll() is None:
            try:
                return self._server.messages.get(timeout=min(left, 0.5))
            except queue.Empty:
                continue
        raise FirefoxError("the script did not finish in time" if left <= 0 else "Firefox is gone")


def _check_one_tab(tabs: Any) -> None:
    """Raise an error if these are not the tabs, by window, of one window with one tab."""
    if tabs != [1]:
        raise FirefoxError(f"there is more than one window with one tab: {tabs}")


def _signal_group(group: int) -> bool:
    """Kill every process of the group; False when none is left."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class _Marionette:
    """A client of Firefox's Marionette protocol: JSON arrays, each after its length and a colon."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS)
        self._stream = self._socket.makefile("rb")
        self._ids = itertools.count(1)
        self._receive()  # the greeting
        self.send("WebDriver:NewSession")
        self.send("Marionette:SetContext", value="chrome")

    def send(self, command: str, **parameters: Any) -> Any:
        message = json.dumps([0, next(self._ids), command, parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self._receive()
        if error:
            raise FirefoxError(f"{command}: {error['message']}")
        return result

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def _receive(self) -> Any:
        length = b""
        while (byte := self._stream.read(1)) != b":":
            if not byte:
                raise FirefoxError("Firefox closed the connection")
            length += byte
        return json.loads(self._stream.read(int(length)))


class _Message(NamedTuple):
    """What a script said, and where its answer goes."""

    path: str
    value: Any
    answer: queue.Queue[Any]


class _Server:
    """Takes what the scripts say, each in a thread; the thread that drives the browser answers."""

    def __init__(self) -> None:
        self.messages: queue.Queue[_Message] = queue.Queue()
        handler = type("Handler", (_Handler,), {"messages": self.messages})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    messages: queue.Queue[_Message]

    def do_POST(self) -> None:
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = _Message(self.path, value, queue.Queue())
        self.messages.put(message)
        reply = json.dumps(message.answer.get()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        # An extension that is done may be gone before it has read this.
        with contextlib.suppress(ConnectionError):
            self.end_headers()
            self.wfile.write(reply)

    def log_message(self, *_: Any, **__: Any) -> None:
        pass
