"""The pytest plugin, as the author of an extension uses it: pytest runs in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

MANIFEST = {
    "manifest_version": 2,
    "name": "Under test",
    "version": "1",
    "browser_specific_settings": {"gecko": {"id": "under-test@site.example"}},
    "permissions": ["contextualIdentities", "cookies", "tabs", "alarms", "menus", "notifications", "<all_urls>"],
    "browser_action": {},
    "page_action": {"show_matches": ["<all_urls>"]},
    "commands": {"jump": {}},
    "background": {"scripts": ["background.js"]},
}
BACKGROUND = """
const seen = [];
browser.tabs.onUpdated.addListener((id, change) => { if (change.title) seen.push(change.title); });
browser.alarms.create("soon", {delayInMinutes: 5});
browser.alarms.onAlarm.addListener(alarm => seen.push(alarm.name));
browser.menus.create({id: "item", title: "Item", contexts: ["page", "link"]});
browser.menus.onClicked.addListener((info, tab) => seen.push(`menu ${info.menuItemId} ${info.linkUrl} ${tab.id}`));
browser.commands.onCommand.addListener(name => seen.push(`command ${name}`));
browser.browserAction.onClicked.addListener(tab => seen.push(`action ${tab.id}`));
browser.pageAction.onClicked.addListener(tab => seen.push(`page action ${tab.id}`));
browser.notifications.onClicked.addListener(id => seen.push(`clicked ${id}`));
browser.notifications.onClosed.addListener(id => seen.push(`closed ${id}`));
browser.runtime.onMessage.addListener((message, sender) => Promise.resolve([message, sender.url.split("/").pop()]));
"""

# Where Hatbox is not installed, pytest does not load its plugin.
TOLD = (
    ()
    if any(each.value == "hatbox.testing.plugin" for each in entry_points(group="pytest11"))
    else ("-p", "hatbox.testing.plugin")
)


def run(folder: Path, source: str, background: str = BACKGROUND) -> subprocess.CompletedProcess[str]:
    extension = folder / "my-extension"
    extension.mkdir()
    (extension / "manifest.json").write_text(json.dumps(MANIFEST))
    (extension / "background.js").write_text(background)
    (folder / "test_it.py").write_text(source)
    return again(folder)


def again(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", *TOLD, "-p", "no:cacheprovider", "-W", "error", "test_it.py"]
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
    await ext.wait_for("seen.includes('Hats')")
    await ext.open(site.url("/again"), "Work")
    await ext.open(site.url("/again"), "Personal")
    assert [request.cookies for request in site.requests] == [{}, {"hat": "bowler"}, {}]

async def test_time_can_be_moved(extension, clock):
    ext = await extension("my-extension")
    await clock.advance(4 * 60)
    assert await ext.evaluate("seen") == []
    await clock.advance(61)
    await ext.wait_for("seen.includes('soon')")

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


def test_what_a_user_does_reaches_the_extension(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
async def test_clicks(extension, site):
    ext = await extension("my-extension")
    tab = await ext.open(site.url("/"))
    await ext.wait_for_ui(lambda ui: [item.title for item in ui.menus] == ["Item"])
    await ext.evaluate("seen.length = 0")
    await ext.click_menu("item", link_url="https://site.example/")
    await ext.run_command("jump")
    await ext.click_action(tab_id=tab.id)
    await ext.click_page_action()
    assert await ext.wait_for("seen.length === 4 && seen") == [
        f"menu item https://site.example/ {tab.id}", "command jump", f"action {tab.id}", f"page action {tab.id}",
    ]

async def test_notifications(extension):
    ext = await extension("my-extension")
    for name in ("one", "two"):
        await ext.browser.notifications.create(name, {"type": "basic", "title": "T", "message": "M"})
    await ext.click_notification("one")
    await ext.wait_for("seen.includes('clicked one')")
    await ext.close_notification("two")
    await ext.wait_for("seen.includes('closed two')")

async def test_a_page_sends_messages(extension):
    ext = await extension("my-extension")
    with ext.page("popup.html", kind="POPUP") as popup:
        assert await popup.send_message("hello") == ["hello", "popup.html"]

async def test_only_a_site(site):
    assert site.url("/").startswith("http://localhost:")
""",
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_what_never_comes_is_named_with_what_came_instead(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
async def test_background(extension):
    ext = await extension("my-extension")
    await ext.wait_for("seen[7]", timeout=0.01)

async def test_tabs(extension):
    ext = await extension("my-extension")
    await ext.open("about:blank")
    await ext.wait_for_tabs(lambda tabs: len(tabs) == 2, timeout=0.01)
""",
    )
    assert "TimeoutError: timed out after 0.01 s: seen[7]. Last value: None" in done.stdout
    assert "Last value: [TabInTest(id=2" in done.stdout  # the first one is that of the window of every run


def test_an_extension_that_cannot_be_read_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
async def test_it(extension):
    await extension("not-there")
""",
    )
    assert "The extension not-there cannot be run: " in done.stdout
    assert "Traceback" not in done.stdout


def test_a_background_that_fails_fails_the_test_with_file_and_line(tmp_path: Path) -> None:
    test = """
async def test_it(extension):
    ext = await extension("my-extension"{})
    assert len(ext.errors) == 1
"""
    done = run(tmp_path, test.format(""), "\nnoSuchThing();\n")
    assert "The background of my-extension failed:\n" in done.stdout
    assert "noSuchThing is not defined" in done.stdout
    assert "background.js:2:1" in done.stdout
    (tmp_path / "test_it.py").write_text(test.format(", errors_allowed=True"))
    assert "1 passed" in again(tmp_path).stdout


def test_what_the_scripts_said_is_shown_when_a_test_fails(tmp_path: Path) -> None:
    test = """
async def test_it(extension):
    ext = await extension("my-extension")
    await ext.evaluate("console.warn('a hat is missing')")
    assert {}
"""
    done = run(tmp_path, test.format("False"))
    assert "extension my-extension" in done.stdout
    assert "warn: a hat is missing" in done.stdout
    (tmp_path / "test_it.py").write_text(test.format("True"))
    assert "a hat is missing" not in again(tmp_path).stdout


def test_coroutine_tests_of_others_are_left_to_them(tmp_path: Path) -> None:
    done = run(tmp_path, "async def test_it():\n    assert False\n")
    assert "assert False" not in done.stdout  # pytest says that it cannot run it
    assert "1 passed" not in done.stdout


def test_other_plugins_that_run_coroutine_tests_leave_ours_alone(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("""
import asyncio, functools, inspect, pytest

class Other(pytest.Function):  # as pytest-asyncio does it
    def runtest(self):
        found = self.obj
        self.obj = functools.wraps(found)(lambda **given: asyncio.run(found(**given)))
        super().runtest()

@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector, name, obj):
    made = yield
    return made if not isinstance(made, list) else [
        Other.from_parent(each.parent, name=each.name, callspec=getattr(each, "callspec", None), callobj=each.obj,
                          fixtureinfo=each._fixtureinfo, keywords=each.keywords, originalname=each.originalname)
        if isinstance(each, pytest.Function) and inspect.iscoroutinefunction(each.obj) else each
        for each in made
    ]
""")
    done = run(
        tmp_path,
        """
import asyncio, pytest

async def test_ours(extension):
    assert await (await extension("my-extension")).evaluate("6 * 7") == 42

class TestTogether:
    @pytest.fixture(autouse=True)
    def before(self):
        self.wanted = 42

    @pytest.mark.parametrize("factor", [6, 7])
    async def test_ours(self, extension, factor):
        assert await (await extension("my-extension")).evaluate(f"{factor} * 42 / {factor}") == self.wanted

@pytest.mark.anyio
async def test_of_ours_that_is_marked(extension, anyio_backend):
    assert await (await extension("my-extension")).evaluate("6 * 7") == 42

async def test_theirs():
    await asyncio.sleep(0)

@pytest.fixture
def anyio_backend():
    return "asyncio"
""",
    )
    assert "5 passed" in done.stdout, done.stdout + done.stderr
