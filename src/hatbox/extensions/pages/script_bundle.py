"""Builds one classic script from the modules in runtime/js, for documents of Chromium.

The script is injected before any other script of a document (Page.addScriptToEvaluateOnNewDocument), so it must be
one text that runs synchronously.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from hatbox.extensions.runtime import boot as runtime_boot
from hatbox.extensions.runtime.boot import Boot
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.module_bundle import MODULE_FOLDER, modules_text, without_comments
from hatbox.javascript.wire_codec import encode

__all__ = ["bundle_function", "exports_of", "page_script", "page_settings", "settings_text"]

_ENTRY: Final = "page_main"
_SOURCE_URL: Final = "hatbox:page.js"
_USED_SETTINGS: Final = ("description", "maxBytes", "maxValues", "listeners")


def page_settings(
    boot: Boot,
    limits: RuntimeLimits,
    *,
    context: str | None,
    origin: str | None = None,
    host_fetch: bool = False,
    host_sockets: bool = False,
    gated: bool = False,
) -> dict[str, Any]:
    """The settings that document_main.js reads.

    `context` is `page` or `content`, or None for the background. `origin`, with a slash at its end, is where Chromium
    loads the files of the package from; errors show it as moz-extension://. With `host_fetch` and `host_sockets`,
    fetch() and WebSocket use the network of the host instead of Chromium's. With `gated`, the scripts send
    READY, and nothing more until the host has called the receive function (CdpConnection, `is_gated`); then they send
    console messages and uncaught errors too.
    """
    every = runtime_boot.settings(boot, limits)
    data = {**every["data"], **({} if context is None else {"context": context})}
    network = {"fetch": host_fetch, "webSocket": host_sockets} if host_fetch or host_sockets else None
    used = {name: every[name] for name in _USED_SETTINGS}
    return {**used, "data": data, "origin": origin, "network": network, "gated": gated}


def page_script(
    settings: Mapping[str, Any], *, binding: str, receiver: str, own_origin: str, is_background: bool = False
) -> str:
    """The script for documents of an extension, to be evaluated in their main world.

    `binding` is the name of the CDP binding. `receiver` is the secret name of a global from which the host takes the
    receive function (cdp_connection.take_receiver). Both are removed from the document. Frames of an origin other than
    `own_origin` (without a slash at its end) get no `browser`, and no binding. In a background no frame
    does, and workers do not exist: their memory could not be limited.
    """
    names = f"const [binding, receiver, origin] = {json.dumps([binding, receiver, own_origin])};\n"
    start = f"const receive = {bundle_function()}(post, {settings_text(settings)});\n"
    remove = _REMOVE_THREADS if is_background else ""
    leave = "if (window !== top) return;\n" if is_background else ""
    body = f"{names}{remove}{_CLOSE_NETWORK}{leave}{start}{_OFFER_RECEIVER}"
    return f"(() => {{\n{body}}})();\n//# sourceURL={_SOURCE_URL}\n"


# In all frames: the network stays closed in those of other origins too.
_CLOSE_NETWORK: Final = """const post = globalThis[binding];
delete globalThis[binding];
for (const name of Reflect.ownKeys(globalThis)) {
  if (typeof name === "string" && /^(webkit)?RTC|^WebTransport|^WebSocketStream$/.test(name)) delete globalThis[name];
}
if (self.origin !== origin || typeof post !== "function") return;
"""

_REMOVE_THREADS: Final = """for (const name of ["Worker", "SharedWorker", "sharedStorage"]) delete globalThis[name];
delete globalThis.CSS?.paintWorklet;
delete globalThis.BaseAudioContext?.prototype.audioWorklet;
delete Navigator.prototype.serviceWorker;
"""

_OFFER_RECEIVER: Final = "Object.defineProperty(globalThis, receiver, {value: receive, configurable: true});\n"


def settings_text(settings: Mapping[str, Any]) -> str:
    """A JavaScript string literal with the settings, the second argument of bundle_function()."""
    return json.dumps(encode(settings).decode())


@cache
def bundle_function(entry: str = _ENTRY, namespaces: Sequence[str] | None = None) -> str:
    """A JavaScript function expression: `(post, settingsText) => receive`.

    It defines `browser` and `chrome` in the global object of its world, and returns the function that the host calls
    with texts (cdp_connection.CdpConnection). `post` is the native function of the CDP binding. With another `entry`,
    that module's `start` is called, and decides what is returned. `namespaces` are those of members/ that it contains;
    None for all.
    """
    return (
        f'((post, settings) => {{\n"use strict";\n{modules_text(entry)}'
        f"return ${entry}.start(post, settings, {_members(namespaces)});\n}})"
    )


@cache
def exports_of(entry: str) -> str:
    """A JavaScript expression: the object with the exports of a module."""
    return f'(() => {{\n"use strict";\n{modules_text(entry)}return ${entry};\n}})()'


def _members(namespaces: Sequence[str] | None) -> str:
    """An object with the functions of members/ by namespace."""
    found = sorted((MODULE_FOLDER / "members").glob("*.js"))
    files = [file for file in found if namespaces is None or file.stem in namespaces]
    entries = (f"{file.stem}: (\n{without_comments(file.read_text('utf-8')).strip()}\n)" for file in files)
    return f"{{__proto__: null, {', '.join(entries)}}}"
