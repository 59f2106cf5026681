"""Cases whose script is the background of an extension, in Firefox and in Hatbox with Chromium.

Each script returns what it saw as [name, how, value].
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conformance.content_scripts.site import FrameSite
from tests.firefox import Firefox, find_firefox, firefox_version

SHARED = Path(__file__).parent / "content_scripts" / "frame.js"
HOST = "http://localhost/*"
LOOPBACK = "http://127.0.0.1/*"  # tests/firefox.py gives it to every extension of version 2


class Case(NamedTuple):
    """A script, and the manifest of the extension that it is the background of."""

    name: str
    script: Path
    version: int
    permissions: tuple[str, ...]
    manifest: Mapping[str, Any] = {}

    def body(self, site: FrameSite) -> str:
        """The body of an async function that runs it."""
        origins = f"const SITE = {site.origin!r}, OTHER = {site.other!r}, EXPECTED_REPORTS = 15;\n"
        return f"{origins}{SHARED.read_text('utf-8')}\n{self.script.read_text('utf-8')}"

    def keys(self) -> dict[str, Any]:
        """The keys of the manifest beside the permissions."""
        hosts = {"host_permissions": [LOOPBACK, HOST]} if self.version > 2 else {}
        return {**hosts, **self.manifest}

    def keys_in_hatbox(self) -> dict[str, Any]:
        """All keys, as tests/firefox.py completes them."""
        return {**self.keys(), "permissions": [*self.permissions, *([LOOPBACK] if self.version == 2 else [])]}


class Recording(NamedTuple):
    """Cases with the files of their extensions, and what Firefox answered."""

    path: Path
    cases: Sequence[Case]
    files: Mapping[str, str]
    seconds: int
    """The timeout of one case."""
    host: Callable[[Firefox], Mapping[str, Callable[[Any], Any]]] = lambda _: {}
    """What scripts may ask the program that runs Firefox to do."""

    def load(self) -> dict[str, Any]:
        """What was recorded."""
        found: dict[str, Any] = json.loads(self.path.read_text("ascii"))
        return found

    def record(self) -> dict[str, Any]:
        """What Firefox answers now."""
        with Firefox() as firefox, FrameSite() as site:
            answers = {}
            for case in self.cases:
                firefox.reset_windows()
                answers[case.name] = firefox.run(
                    case.body(site),
                    permissions=case.permissions,
                    manifest_version=case.version,
                    manifest=case.keys(),
                    files=dict(self.files),
                    timeout=self.seconds,
                    host=dict(self.host(firefox)),
                )
            return {"firefox": firefox_version(firefox.binary), "answers": answers}

    def main(self) -> str | None:
        """Write the recording, or with --check compare with it."""
        found = self.record()
        if "--check" in sys.argv:
            return self.changes(found)
        self.path.write_text(_format(found), "ascii")
        return None

    def changes(self, found: dict[str, Any]) -> str | None:
        """The names of the cases with other answers, in words; None without any."""
        before, after = self.load()["answers"], found["answers"]
        changed = [name for name, log in after.items() if json.dumps(log) != json.dumps(before.get(name))]
        return "\n".join(f"Firefox answers otherwise: {name}" for name in changed) or None

    def check_firefox(self) -> None:
        """Fail if Firefox answers otherwise now; skip if the recorded one is not installed."""
        version = self.load()["firefox"]
        binary = find_firefox()
        if binary is None or firefox_version(binary) != version:
            pytest.skip(f"the Firefox that was recorded, {version}, is not installed")
        assert self.changes(self.record()) is None


def by_name(log: Sequence[Any]) -> dict[str, list[Any]]:
    """The answers of a log by the name of the probe."""
    return {name: [how, value] for name, how, value in log}


def check_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Fail if the answers differ, or their order."""
    assert list(found) == list(expected)
    different = [
        f"{name}\n  hatbox:  {json.dumps(found[name])}\n  firefox: {json.dumps(theirs)}"
        for name, theirs in expected.items()
        if found[name] != theirs
    ]
    assert not different, "\n".join(different)


def _format(found: dict[str, Any]) -> str:
    """JSON with one answer on each line."""
    blocks = ",\n".join(
        f"  {json.dumps(name)}: [" + ",".join(f"\n   {json.dumps(entry)}" for entry in log) + "\n  ]"
        for name, log in found["answers"].items()
    )
    return f'{{\n "firefox": {json.dumps(found["firefox"])},\n "answers": {{\n{blocks}\n }}\n}}\n'
