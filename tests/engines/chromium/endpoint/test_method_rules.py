from __future__ import annotations

import pytest

from hatbox.engines.chromium.endpoint.method_rules import SessionKind, action_of, reviewed_methods
from hatbox.engines.chromium.endpoint.page_commands import PAGE_COMMANDS
from hatbox.engines.chromium.endpoint.root_commands import ROOT_COMMANDS
from tests.engines.chromium.endpoint.protocol_description import description, methods

KINDS: tuple[SessionKind, ...] = ("root", "page", "worker", "tab", "devtools")


def test_a_method_that_is_not_listed_is_refused() -> None:
    assert all(action_of(kind, "Page.methodOfTheFuture") == "refuse" for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_that_is_checked_has_a_check_and_no_other_has(kind: SessionKind) -> None:
    commands = ROOT_COMMANDS if kind == "root" else PAGE_COMMANDS
    for method in reviewed_methods():
        if (action := action_of(kind, method)) in ("map", "check", "answer"):
            assert method in commands, f"{method} has no check"
        elif action == "pass":
            assert method not in commands, f"{method} has a check that is not used"


def test_methods_that_reach_all_script_worlds_or_all_identities_are_refused() -> None:
    domains = (
        "Debugger",
        "HeapProfiler",
        "Profiler",
        "Tracing",
        "SystemInfo",
        "Extensions",
        "Tethering",
        "DOMDebugger",
    )
    for method in reviewed_methods():
        if method.startswith(domains):
            assert {action_of(kind, method) for kind in KINDS if kind != "devtools"} == {"refuse"}
    assert action_of("devtools", "Debugger.evaluateOnCallFrame") == "refuse"


def test_every_method_of_chromium_was_reviewed_or_is_refused(browser: str) -> None:
    found = {name for name, _ in methods(description(browser))}
    unknown = sorted(found - reviewed_methods())
    if unknown:
        text = "Not reviewed yet, refused by endpoints. Add to methods.json:"
        print(f"\n{text}", *unknown, sep="\n  ")  # noqa: T201 - for the maintainer who reads the output
    for method in unknown:
        assert {action_of(kind, method) for kind in KINDS} == {"refuse"}
    allowed = {each for each in reviewed_methods() if any(action_of(kind, each) != "refuse" for kind in KINDS)}
    assert len(found & allowed) > 200  # the table and the protocol have the same spelling
