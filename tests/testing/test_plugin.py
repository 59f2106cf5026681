"""The pytest plugin, as somebody who tests an extension uses it: pytest runs in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MANIFEST = {
    "manifest_version": 2,
    "name": "Under test",
    "version": "1",
    "browser_specific_settings": {"gecko": {"id": "under-test@site.example"}},
    "permissions": ["contextualIdentities", "cookies", "tabs", "alarms", "<all_urls>"],
    "background": {"scripts": ["background.js"]},
}
BACKGROUND = """
const seen = [];
browser.tabs.onUpdated.addListener((id, change) => { if (change.title) seen.push(change.title); });
browser.alarms.create("soon", {delayInMinutes: 5});
browser.alarms.onAlarm.addListener(alarm => seen.push(alarm.name));
"""


def run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    extension = folder / "my-extension"
    extension.mkdir()
    (extension / "manifest.json").write_text(json.dumps(MANIFEST))
    (extension / "background.js").write_text(BACKGROUND)
    (folder / "test_it.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "test_it.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_an_extension_is_tested_without_any_configuration(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
async def test_the_readme(extension):
    ext = await extension("my-extension")
    await ext.browser.tabs.create({"url": "about:blank"})
    assert (await ext.evaluate("browser.contextualIdentities.query({})"))[0]["name"] == "Personal"
    assert ext.errors == []

async def test_pages_are_loaded_from_a_site_in_an_identity(extension, site):
    site.page("/hats", title="Hats", headers=[("Set-Cookie", "hat=bowler")])
    ext = await extension("my-extension")
    tab = await ext.open(site.url("/hats"), "Work")
    assert (tab.title, tab.cookie_store_id) == ("Hats", "firefox-container-2")
    await ext.until("seen.includes('Hats')")
    await ext.open(site.url("/again"), "Work")
    await ext.open(site.url("/again"), "Personal")
    assert [request.cookies for request in site.requests] == [{}, {"hat": "bowler"}, {}]

async def test_time_can_be_moved(extension, clock):
    ext = await extension("my-extension")
    await clock.move(4 * 60)
    assert await ext.evaluate("seen") == []
    await clock.move(61)
    await ext.until("seen.includes('soon')")

def test_one_that_needs_no_loop(site):
    assert site.url("/").startswith("http://localhost:")
""",
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_each_test_has_a_profile_of_its_own(tmp_path: Path) -> None:
    test = """
async def test_{}(profile):
    assert len(await profile.identities.query()) == 4
    await profile.identities.create("More", color="red", icon="pet")
"""
    done = run(tmp_path, test.format("one") + test.format("two"))
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_failing_test_fails_with_its_own_assertion(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
async def test_it(extension):
    ext = await extension("my-extension")
    assert await ext.evaluate("1 + 1") == 3
""",
    )
    assert done.returncode == 1
    assert "assert 2 == 3" in done.stdout


def test_coroutine_tests_of_others_are_left_to_them(tmp_path: Path) -> None:
    done = run(tmp_path, "async def test_it():\n    assert False\n")
    assert "assert False" not in done.stdout  # pytest says that it cannot run it
    assert "1 passed" not in done.stdout
