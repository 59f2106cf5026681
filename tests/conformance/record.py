"""Records what a real Firefox answers to the cases of identities.json: `python -m tests.conformance.record [--check]`.

A case is `{"name", "steps"}`, and where needed `"permissions"` (of the caller; without it, `contextualIdentities`).
`"firefox": false` marks what Firefox does not have: its `"expect"` is the whole truth. `"differs"` marks where Hatbox
differs on purpose: its `"expect"` is Hatbox's answer, and its value names a heading of docs/decisions.md. For all
others the recording is what is expected. Each case starts with the identities and the ids of a new profile. The steps:

    {"call": "contextualIdentities.get", "args": […]}   calls, and waits; logs "threw", "rejected", "resolved" or,
                                                        when it was no promise, "returned"
    {"all": [step, …]}                                  starts all, then waits for all; logs the same with "call":
                                                        index, in the order in which they settle
    {"listen": event, "as": name, "throws": bool}       adds the listener of this name, which logs "event": name, "args"
    {"unlisten": name}                                  removes it
    {"hasListener": name}, {"has": path}                log "returned"
    {"keys": path}                                      logs "returned", sorted
    {"settle": true}                                    waits for what is on its way, as does the end of each case

In arguments, `{"$number": "NaN"}`, `{"$function": true}`, `{"$repeat": [text, times]}` and `{"$callback": name}`, which
logs "callback": name, "args", stand for what they say. In logs, `{"$length": n}` stands for a string of over 200
characters, and null for undefined.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tests.firefox import Firefox, firefox_version

HERE = Path(__file__).parent
CASES = HERE / "identities.json"
RECORDING = HERE / "identities.firefox.json"
RUNNER = HERE / "runner.js"

Case = dict[str, Any]
Log = list[Any]

RUN_ALL = """
const cases = JSON.parse(@CASES@);
const logs = [];
for (const testCase of cases) {
  await host("reset");
  logs.push(await runCase(browser, testCase));
}
return logs;
"""


def main() -> str | None:
    parser = argparse.ArgumentParser(description="Record what a real Firefox answers to the cases.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the recording would change")
    check = parser.parse_args().check
    recording = record(json.loads(CASES.read_text("utf-8")))
    if not check:
        RECORDING.write_text(recording, "ascii")
        return None
    changed = changed_answers(RECORDING.read_text("ascii"), recording)
    return "\n".join(f"Firefox now answers otherwise: {name}" for name in changed) or None


def changed_answers(old: str, new: str) -> list[str]:
    """The cases whose answers are not the same in both recordings; a new version of Firefox alone is no change."""
    before, after = json.loads(old)["answers"], json.loads(new)["answers"]
    # As text, because the order of the keys counts.
    return [name for name in before | after if json.dumps(before.get(name)) != json.dumps(after.get(name))]


def record(cases: list[Case]) -> str:
    recordable = [case for case in cases if case.get("firefox", True)]
    answers: dict[str, Log] = {}
    with Firefox() as firefox:
        for permissions, group in _by_permissions(recordable).items():
            logs = firefox.run(
                RUNNER.read_text("utf-8") + RUN_ALL.replace("@CASES@", json.dumps(json.dumps(group))),
                permissions=permissions,
                timeout=120,
                host={"reset": lambda _: firefox.reset_containers()},
            )
            answers |= {case["name"]: log for case, log in zip(group, logs, strict=True)}
        version = firefox_version(firefox.binary)
    return _format(version, {case["name"]: answers[case["name"]] for case in recordable})


def _by_permissions(cases: list[Case]) -> dict[tuple[str, ...], list[Case]]:
    """The cases that can share an extension."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(tuple(case.get("permissions", ["contextualIdentities"])), []).append(case)
    return groups


def _format(version: str, answers: dict[str, Log]) -> str:
    """JSON with one log entry on each line, so that a change of one answer is a change of one line."""
    blocks = ",\n".join(f"  {json.dumps(name)}: [{_lines(log)}]" for name, log in answers.items())
    return f'{{\n "firefox": {json.dumps(version)},\n "answers": {{\n{blocks}\n }}\n}}\n'


def _lines(log: Log) -> str:
    return ",".join(f"\n   {json.dumps(entry)}" for entry in log)


if __name__ == "__main__":
    sys.exit(main())
