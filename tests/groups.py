"""Which tests need a browser, and which take longer than a quick run allows. The others are the quick run."""

from __future__ import annotations

from typing import Final

import pytest

__all__ = ["mark", "slow_first"]

_BROWSER_FIXTURES: Final = {"browser", "desktop", "display", "firefox"}
_BROWSER_FILES: Final = (
    "tests/cli/test_chromium.py",
    "tests/conformance/test_recording.py",
    "tests/engines/chromium/test_launch.py",
    "tests/mcp/test_agent_pages.py",
)
_BROWSER_TESTS: Final = ("test_firefox_", "test_revoking_ends_an_endpoint_")

# Files and tests that take longest, by: HATBOX_TESTS=all python -m pytest --durations=50
_SLOW: Final = (
    "tests/archive/test_archive_processes.py",
    "tests/cli/commands/run/test_extension_runner.py",
    "tests/cli/commands/test_browse.py",
    "tests/cli/test_demo.py",
    "tests/cli/commands/test_engine_log.py",
    "tests/cli/commands/test_fetch.py",
    "tests/cli/commands/test_replaced_tabs.py",
    "tests/cli/commands/test_tabs.py",
    "tests/cli/test_cli.py",
    "tests/clients/test_every_client.py",
    "tests/clients/test_processes.py",
    "tests/conformance/test_extensions.py",
    "tests/conformance/test_ui.py",
    "tests/engines/background/",
    "tests/engines/test_processes.py",
    "tests/extensions/runtime/sandbox/",
    "tests/extensions/runtime/test_conformance.py",
    "tests/extensions/runtime/test_hostile.py",
    "tests/extensions/test_import_scripts.py",
    "tests/manager_api/test_managed_engines.py",
    "tests/identities/test_service.py::test_the_service_does_what_a_dictionary_would_do",
    "tests/mcp/test_stdio.py",
    "tests/store/postgres/test_faults.py",
    "tests/store/postgres/test_pooler.py",
    "tests/store/test_background_check.py",
    "tests/store/test_copy.py::test_a_copy_that_is_killed",
    "tests/store/test_copy_postgres.py",
    "tests/store/test_crash.py",
    "tests/store/test_damage.py",
    "tests/store/test_handles.py",
    "tests/store/test_processes.py",
    "tests/store/test_repair.py",
    "tests/store/test_scrubbing.py",
    "tests/store/test_wal.py",
    "tests/test_many_machines.py",
    "tests/test_readme.py",
    "tests/test_time_limit.py",
    "tests/testing/",
    "tests/ui/test_restart.py",
)


# Files whose tests share results that take long to compute, and are in no module-scoped fixture.
_SHARED_RESULTS: Final = ("tests/conformance/test_extensions.py",)


def mark(item: pytest.Item) -> None:
    """Mark a test `browser` or `slow`, if it is. Tests that share a fixture or a browser run in one worker."""
    path = item.nodeid.partition("::")[0]
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    needs_browser = _BROWSER_FIXTURES & set(getattr(item, "fixturenames", ()))
    is_browser_test = path in _BROWSER_FILES or item.name.startswith(_BROWSER_TESTS)
    if needs_browser or is_browser_test or parameters.get("engine") == "chromium":
        item.add_marker("browser")
    elif item.nodeid.startswith(_SLOW):
        item.add_marker("slow")
    if item.get_closest_marker("browser") or path in _SHARED_RESULTS or _has_module_fixture(item):
        item.add_marker(pytest.mark.xdist_group(path))


def slow_first(items: list[pytest.Item]) -> None:
    """Move slow tests and those with browsers to the front: at the end of a run, no worker is alone with one."""
    items.sort(key=lambda item: not any(item.iter_markers("slow")) and not any(item.iter_markers("browser")))


def _has_module_fixture(item: pytest.Item) -> bool:
    """Whether a test uses a fixture of its module. Each worker that runs one of these tests sets it up again."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = info.name2fixturedefs.values() if info else ()
    return any(each.scope == "module" for several in definitions for each in several)
