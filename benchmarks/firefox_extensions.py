"""What benchmarks/extensions.py measures, in a real Firefox: the same JavaScript, its start, its memory."""

from __future__ import annotations

import json
import os
import threading
import time
import zipfile
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from benchmarks.firefox_identities import JOB, SHIPPED
from benchmarks.memory import memory_of
from tests.firefox import Firefox

__all__ = ["firefox", "firefox_run", "firefox_start", "set_job"]

# So that an extension that lies in the profile is taken as it is, and needs no signature.
INSTALLED = {"extensions.autoDisableScopes": 0, "xpinstall.signatures.required": False}
START_SECONDS = 60


def firefox() -> Firefox:
    """A Firefox whose recommendation job is off, and all else as a user has it."""
    return Firefox(prefs={**SHIPPED, JOB: False})


def set_job(browser: Firefox, on: bool) -> None:
    """Let the recommendation job run as it does in a Firefox as it ships, or not."""
    browser.set_pref(JOB, on)


def firefox_run(browser: Firefox, body: str) -> Any:
    """What the body of an async function returns in the background of an extension."""
    return browser.run(body, permissions=["contextualIdentities"], timeout=600)


def firefox_start(folder: Path, manifest: Mapping[str, Any], settle: float) -> tuple[float, int]:
    """Seconds from the start of Firefox to the first line of an installed extension, and its memory when it rests.

    The first start in `folder`, which makes the profile, is not measured by anybody.
    """
    signal = _Signal()
    profile = folder / "profile"
    (profile / "extensions").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(profile / "extensions" / f"{_id(manifest)}.xpi", "w") as package:
        package.writestr("manifest.json", json.dumps({**manifest, "permissions": ["http://127.0.0.1/*"]}))
        package.writestr("background.js", f"fetch('{signal.url}' + (performance.timeOrigin + performance.now()));")
    try:
        begun = time.time()
        with Firefox(prefs={**SHIPPED, **INSTALLED}, profile=profile) as browser:
            taken = signal.wait() - begun
            time.sleep(settle)
            group = browser.chrome("return Services.appinfo.processID")
            return taken, memory_of(_members_of(group)) if settle else 0
    finally:
        signal.close()


def _members_of(group: int) -> list[int]:
    """The processes of a group: those of one Firefox."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if _group(pid) == group]


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _id(manifest: Mapping[str, Any]) -> str:
    return str(manifest["browser_specific_settings"]["gecko"]["id"])


class _Signal:
    """Waits for a script to say when its first line ran."""

    def __init__(self) -> None:
        self._at = 0.0
        self._said = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._at = float(self.path[1:]) / 1000
                outer._said.set()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait(self) -> float:
        if not self._said.wait(START_SECONDS):
            raise TimeoutError("the extension in Firefox has not started")
        return self._at

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
