"""Records what a real Firefox answers to the cases of each suite: `python -m tests.conformance.record [--check]`.

A suite is a file of cases, `<name>.json`, and its recording, `<name>.firefox.json`. A case is `{"name", "steps"}`, and
where needed `"permissions"` (of the caller; without it, those of the suite). `"firefox": false` marks what Firefox does
not have: its `"expect"` is the whole truth. `"differs"` marks where Hatbox differs on purpose: its `"expect"` is
Hatbox's answer, and its value names a heading of docs/differences.md. For all others the recording is what is expected.
Each case starts with the identities and the ids of a new profile, without cookies, with nothing in storage, without
alarms, and with one window that has one tab, about:blank. The steps:

    {"call": "contextualIdentities.get", "args": […]}   calls, and waits; logs "threw", "rejected", "resolved" or,
                                                        when it was no promise, "returned". With "save": name, what it
                                                        resolved to can be referred to
    {"all": [step, …]}                                  starts all, then waits for all; logs the same with "call":
                                                        index, in the order in which they settle
    {"listen": event, "as": name, "throws": bool}       adds the listener of this name, which logs "event": name,
                                                        "args". If it has "args", they follow the listener; logs
                                                        "threw", if it did. "answers" is what the listener returns
    {"unlisten": name}                                  removes it
    {"hasListener": name}, {"has": path}, {"value": …}  log "returned"
    {"keys": path}                                      logs "returned", sorted
    {"until": "tabs.get", "args": […], "is": {…}}       calls until the answer has these properties; logs nothing but,
                                                        when it takes over ten seconds, "never"
    {"heard": name, "times": n}                         waits until the listener or callback of this name has been
                                                        called n times in all, or once; logs as "until" does
    {"fetch": url, "init": {…}, "quiet": bool}          fetches in the background of an extension, and lets all settle;
                                                        logs "fetched": status, url, redirected and text, or "failed"
    {"settle": true}                                    waits for what is on its way, as does the end of each case

With "show": […], a call or a listener logs only these properties of tabs, windows and requests.

In arguments, `{"$number": "NaN"}`, `{"$function": true}`, `{"$repeat": [text, times]}`, `{"$inDays": n}`, a time in
seconds since 1970, `{"$undefined": true}`, and `{"$callback": name}`, which logs "callback": name, "args", stand for
what they say.
`{"$ref": "name.id"}` is a part of what was saved, by its path; "tab" and "window" are the first ones from the start.
`{"$site": "/page"}` is the URL of a page of site.py.

In logs, `{"$length": n}` stands for a string of over 200 characters, or a message of over 700, `{"$inDays": n}` for an
expirationDate, rounded to hundredths of a day, and null for undefined. `{"$tab": n}`, `{"$window": n}` and `{"$group":
n}` stand for ids, numbered in the order in which the log shows them, the first ones from the start; "$site" and "$host"
in a string for the origin of the site, and its host and port; "$guid" for ids of bookmarks and visited pages, "$number"
for times and sizes that no two browsers share; "$self" for the caller's id, and "$own" for where its pages are.
isArticle is always null, and an event that reports nothing else is not logged: Firefox determines it at an
unpredictable time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.site import Site
from tests.firefox import Firefox, firefox_version

HERE = Path(__file__).parent
RUNNER = HERE / "runner.js"

Case = dict[str, Any]
Log = list[Any]


class Suite(NamedTuple):
    """A file of cases, and the permissions of its callers where a case does not say."""

    name: str
    permissions: tuple[str, ...]
    has_id: bool = True
    """Whether the manifest of the extension has an id."""
    uses_tabs: bool = True
    """Whether cases can change tabs or windows, which then takes a new tab for each case."""

    @property
    def recording(self) -> Path:
        return HERE / f"{self.name}.firefox.json"

    def cases(self) -> list[Case]:
        """The cases, each with its permissions."""
        cases: list[Case] = json.loads((HERE / f"{self.name}.json").read_text("utf-8"))
        return [{"permissions": list(self.permissions), **case} for case in cases]

    def recorded(self) -> dict[str, Any]:
        recorded: dict[str, Any] = json.loads(self.recording.read_text("ascii"))
        return recorded


TABS_PERMISSIONS = ("tabs", "tabHide", "cookies", "contextualIdentities")

SUITES = (
    Suite("identities", ("contextualIdentities",), uses_tabs=False),
    Suite("cookies", ("cookies", "contextualIdentities", "<all_urls>")),
    Suite("tabs", TABS_PERMISSIONS),
    Suite("windows", TABS_PERMISSIONS),
    Suite("tab_strip", (*TABS_PERMISSIONS, "tabGroups")),
    Suite("web_request", ("webRequest", "webRequestBlocking", "proxy", "tabs", "cookies", "<all_urls>")),
    Suite("web_navigation", ("webNavigation", "tabs")),
    Suite("browsing_data", ("browsingData", "cookies", "contextualIdentities", "<all_urls>")),
)

# What only extensions see: replayed in JavaScript (test_extensions.py).
EXTENSION_SUITES = (
    Suite("storage", ("storage",)),
    Suite("alarms", ("alarms",)),
    Suite("sessions", ("sessions", "tabs")),
    Suite("history", ("history", "tabs")),
    Suite("bookmarks", ("bookmarks",)),
    Suite("settings", ("privacy", "browserSettings")),
    Suite("permissions", ("storage", "tabs")),
    Suite("storage_without_id", ("storage",), has_id=False),
    Suite("fetch", ("webRequest", "webRequestBlocking", "proxy", "tabs", "<all_urls>")),
    Suite("namespaces", ("webNavigation", "webRequest", "webRequestBlocking", "tabs", "<all_urls>")),
)

RUN_ALL = """
const cases = JSON.parse(@CASES@);
const logs = [];
for (const testCase of cases) {
  await host("reset");
  logs.push(await runCase(browser, testCase, @SITE@));
}
return logs;
"""


def main() -> str | None:
    parser = argparse.ArgumentParser(description="Record what a real Firefox answers to the cases.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a recording would change")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="which suites to ask; all, if none is named")
    arguments = parser.parse_args()
    every = (*SUITES, *EXTENSION_SUITES)
    suites = [suite for suite in every if suite.name in (arguments.suites or [each.name for each in every])]
    recordings = record(suites)
    if not arguments.check:
        for suite in suites:
            suite.recording.write_text(recordings[suite], "ascii")
        return None
    changed = [name for suite in suites for name in changed_answers(suite, recordings[suite])]
    return "\n".join(f"Firefox now answers otherwise: {name}" for name in changed) or None


def changed_answers(suite: Suite, recording: str) -> list[str]:
    """The cases whose answers are not those that were recorded; a new version of Firefox alone is no change."""
    before, after = suite.recorded()["answers"], json.loads(recording)["answers"]
    # As text, because the order of the keys counts.
    return [name for name in before | after if json.dumps(before.get(name)) != json.dumps(after.get(name))]


def record(suites: Sequence[Suite]) -> dict[Suite, str]:
    """The recordings of these suites, made in one browser."""
    with Firefox() as firefox, Site() as site:
        return {suite: _record(firefox, site, suite) for suite in suites}


def _record(firefox: Firefox, site: Site, suite: Suite) -> str:
    def reset(_: Any) -> None:
        if suite.uses_tabs:
            firefox.reset_windows()
        else:
            firefox.check_windows()
        firefox.reset_containers()
        firefox.remove_cookies()

    recordable = [case for case in suite.cases() if case.get("firefox", True)]
    answers: dict[str, Log] = {}
    firefox.reset_windows()
    for permissions, group in _by_permissions(recordable).items():
        run_all = RUN_ALL.replace("@CASES@", json.dumps(json.dumps(group))).replace("@SITE@", json.dumps(site.origin))
        logs = firefox.run(
            RUNNER.read_text("utf-8") + run_all,
            permissions=permissions,
            manifest={} if suite.has_id else {"browser_specific_settings": {"gecko": {}}},
            timeout=600,
            host={"reset": reset},
        )
        answers |= {case["name"]: log for case, log in zip(group, logs, strict=True)}
    return _format(firefox_version(firefox.binary), {case["name"]: answers[case["name"]] for case in recordable})


def _by_permissions(cases: list[Case]) -> dict[tuple[str, ...], list[Case]]:
    """The cases that can share an extension."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(tuple(case["permissions"]), []).append(case)
    return groups


def _format(version: str, answers: dict[str, Log]) -> str:
    """JSON with one log entry on each line, so that a change of one answer is a change of one line."""
    blocks = ",\n".join(f"  {json.dumps(name)}: [{_lines(log)}]" for name, log in answers.items())
    return f'{{\n "firefox": {json.dumps(version)},\n "answers": {{\n{blocks}\n }}\n}}\n'


def _lines(log: Log) -> str:
    return ",".join(f"\n   {json.dumps(entry)}" for entry in log)


if __name__ == "__main__":
    sys.exit(main())
