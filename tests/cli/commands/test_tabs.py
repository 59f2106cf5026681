"""open, tabs, close, hide and show, with the real HTTP engine in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.engines.background.opened_tabs import OpenedTabs
from hatbox.engines.base import EngineOptions
from hatbox.engines.running_engines import RunningEngine
from hatbox.profile import Profile
from tests.cli import engines
from tests.cli.conftest import Cli, Start
from tests.site import Site
from tests.waiting import block_until


@pytest.fixture(autouse=True)
def no_engine_is_left(profile: Path, surroundings: None) -> Iterator[None]:
    yield
    engines.end(profile)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Site() as site:
        yield site


def urls(cli: Cli, *arguments: str) -> list[str]:
    return [tab["url"] for tab in cli("tabs", *arguments, "--json").json]


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "arguments",
    [
        ["open"],
        ["open", "Work", "javascript:alert(1)"],
        ["open", "Work", "file:///etc/passwd"],
        ["open", "Work", "https://site.example", "two words"],
        ["open", "Work", "--engine", "firefox"],
        ["open", "Work", "--engine", "http", "--browser", "/usr/bin/chromium"],
        ["open", "Work", "--browser", ""],
        ["open", "Work", "--max-time", "soon"],
        ["close"],
        ["close", "one"],
        ["close", "1.5"],
        ["close", "1", "--identity", "Work"],
        ["tabs", "Work", "Personal"],
        ["browse", "--engine", "firefox"],
        ["browse", "--engine", "http", "--browser", "chromium"],
    ],
)
def test_wrong_usage_is_reported_before_anything_happens(
    cli: Cli, profile: Path, arguments: list[str], no_profile: None
) -> None:
    result = cli(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("hatbox: ")
    assert f"Try 'hatbox {arguments[0]} --help'." in result.err
    assert not profile.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["open", "Wrok", "https://site.example"],
        ["tabs", "Wrok"],
        ["close", "--identity", "Wrok"],
        ["browse", "Wrok", "--engine", "http"],
    ],
)
def test_a_name_that_nothing_has_brings_up_the_nearest(cli: Cli, profile: Path, arguments: list[str]) -> None:
    assert cli(*arguments) == (
        1,
        "",
        'hatbox: identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox list\n',
    )
    assert cli(*arguments, "--json").error["nearest"] == ["Work"]
    assert urls(cli) == []
    assert engines.holder(profile) is None


@pytest.mark.parametrize("verb", [["open"], ["tabs"], ["close", "--identity"], ["browse"]])
def test_a_name_that_several_have_brings_up_all_of_them(cli: Cli, verb: list[str]) -> None:
    cli("create", "Work")
    result = cli(*verb, "Work")
    assert result.status == 1
    assert result.err.splitlines()[0] == 'hatbox: 2 identities are named "Work". Pass the cookieStoreId instead.'
    assert [line.split()[-1] for line in result.err.splitlines()[1:]] == ["firefox-container-2", "firefox-container-6"]


@pytest.mark.process
def test_missing_tabs_are_listed_and_no_other_is_closed(cli: Cli, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    (tab,) = cli("tabs", "--json").json
    refused = cli("close", str(tab["id"]), "77")
    assert refused == (1, "", "hatbox: tab not found: 77. List tabs with: hatbox tabs\n")
    assert "tabs not found: 77, 78. " in cli("close", "77", "78").err
    assert cli("close", "77", "--json").error["missing"] == [77]
    assert cli("close", "99999999999999999999").status == 1
    assert urls(cli) == [site.url("/page/1")]


# ------------------------------------------------------------------------------------------------------------- opening


@pytest.mark.process
def test_open_starts_an_engine_that_goes_on_and_opens_the_next_one_too(cli: Cli, profile: Path, site: Site) -> None:
    first = cli("open", "Work", site.url("/login", user="Work"), "--engine", "http")
    assert first == (0, f"Opened tab 1 in Work: {site.url('/me')} (Signed in as Work)\n", "")
    engine = engines.holder(profile)
    assert engine is not None
    assert engine.engine.casefold() == "http"
    assert engine.process != os.getpid()
    second = cli("open", "Work", site.url("/me", as_="Work"), site.url("/page/7"), "--engine", "http")
    assert second.status == 0
    assert re.findall(r"tab (\d) in Work: .* \((.*)\)", second.out) == [("2", "Signed in as Work"), ("3", "Page 7")]
    assert engines.holder(profile) == engine
    assert not site.mixed


def test_close_all_closes_the_tabs_of_all_identities(cli: Cli, profile: Path) -> None:
    with hatbox.open_sync(str(profile)) as opened:
        for identity in ("Work", "Personal"):
            opened.tabs.open(identity, "https://site.example/")
        opened.identities.hide("Work")
    assert cli("close", "--all", "--identity", "Work").status == 2
    closed = cli("close", "--all")
    assert (closed.status, closed.out.count("Closed tab")) == (0, 2)
    assert urls(cli) == []


CHROMIUM = EngineOptions(browser=os.path.realpath("/bin/sh"), indicator=True)
RUNNING = {
    "none": None,
    "http": RunningEngine("HTTP", None, None, 1.0, background=True, has_windows=False),
    "windows": RunningEngine("Chromium", None, None, 1.0, has_windows=True, options=CHROMIUM),
    "headless": RunningEngine("Chromium", None, None, 1.0, background=True, has_windows=False, options=CHROMIUM),
    "headless of a program": RunningEngine(
        "Chromium", None, None, 1.0, has_windows=False, options=CHROMIUM, program="robot"
    ),
}
HTTP = "Work is in the HTTP engine, which has no windows and runs no scripts"
HEADLESS = "Work is in a browser without windows, which hatbox open --headless has started"
WINDOWS = "Work is in a browser that is running already (None)"
WINDOW, BROWSER = "For a window, stop it first: hatbox stop", "For a browser, stop it first: hatbox stop"


@pytest.mark.parametrize(
    ("running", "options", "status", "said", "err"),
    [
        ("none", "", 0, "Opened", ""),
        ("none", "--engine http", 0, "Opened", ""),
        ("none", "--headless", 0, "Opened", ""),
        ("http", "", 0, "Loaded", f"{HTTP}. {WINDOW}\n"),
        ("http", "--engine http", 0, "Opened", ""),
        ("http", "--headless", 0, "Loaded", f"{HTTP}. {BROWSER}\n"),
        ("http", "--browser sh", 1, "", f"hatbox: nothing was opened. --browser has no effect: {HTTP}. {WINDOW}\n"),
        ("windows", "", 0, "Opened", ""),
        ("windows", "--browser sh", 0, "Opened", ""),
        ("windows", "--browser true", 0, "Opened", f"--browser has no effect: {WINDOWS}.\n"),
        (
            "windows",
            "--headless --no-indicator",
            0,
            "Opened",
            f"--headless and --no-indicator have no effect: {WINDOWS}.\n",
        ),
        ("headless", "", 0, "Loaded", f"{HEADLESS}. {WINDOW}\n"),
        ("headless", "--engine chromium", 0, "Loaded", f"{HEADLESS}. {WINDOW}\n"),
        ("headless", "--headless", 0, "Opened", ""),
        (
            "headless",
            "--browser sh",
            1,
            "",
            f"hatbox: nothing was opened. --browser has no effect: {HEADLESS}. {WINDOW}\n",
        ),
        ("headless of a program", "", 1, "Loaded", "hatbox: the page is open, but not visible: "),
        ("headless of a program", "--headless", 0, "Opened", ""),
    ],
)
def test_open_says_where_a_page_is_that_no_window_shows(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, running: str, options: str, status: int, said: str, err: str
) -> None:
    async def running_engine(*_: object) -> RunningEngine | None:
        return RUNNING[running]

    async def open_tabs(profile: Profile, identity: str, urls: Sequence[str], **_: object) -> OpenedTabs:
        return OpenedTabs([await profile.tabs.open(identity, url) for url in urls])

    monkeypatch.setattr(Profile, "running_engine", running_engine)
    monkeypatch.setattr(Profile, "open_tabs", open_tabs)
    given = [f"/bin/{word}" if word in ("sh", "true") else word for word in options.split()]
    result = cli("open", "Work", "https://site.example", *given)
    assert (result.status, result.out.partition(" ")[0]) == (status, said), result
    assert result.err.startswith(err) if running.endswith("program") else result.err == err
    assert len(urls(cli)) == bool(said)


@pytest.mark.process
def test_without_a_display_nothing_is_opened(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    refused = cli("open", "Work", "https://site.example", "--browser", "/bin/sh")
    assert (refused.status, refused.out, urls(cli)) == (1, "", [])
    assert refused.err == "hatbox: no display found. Run in a desktop session, or use --headless.\n"


@pytest.mark.process
def test_each_identity_is_signed_in_separately(cli: Cli, site: Site) -> None:
    for name in ("Work", "Personal"):
        cli("open", name, site.url("/login", user=name), "--engine", "http")
    cli("open", "firefox-default", site.url("/me"))
    assert {tab["identity"]: tab["title"] for tab in cli("tabs", "--json").json} == {
        "Work": "Signed in as Work",
        "Personal": "Signed in as Personal",
        None: "Nobody is signed in",
    }
    assert site.users("/me") == ["Work", "Personal", ""]
    assert cli("fetch", "Work", site.url("/me", as_="Work")).status == 0
    assert not site.mixed


@pytest.mark.process
def test_a_tab_as_json_has_these_members_in_this_order(cli: Cli, site: Site) -> None:
    (tab,) = cli("open", "Work", site.url("/status/404"), "--engine", "http", "--json").json
    assert tab == {
        "id": 1,
        "identity": "Work",
        "cookieStoreId": "firefox-container-2",
        "windowId": tab["windowId"],
        "index": 0,
        "url": site.url("/status/404"),
        "title": "404 Not Found",
        "status": "complete",
        "active": True,
        "pinned": False,
        "hidden": False,
        "httpStatus": 404,
        "contentType": tab["contentType"],
        "error": "",
    }
    assert list(tab)[:5] == ["id", "identity", "cookieStoreId", "windowId", "index"]
    assert cli("tabs", "--json").json == [tab]
    (other,) = cli("open", "firefox-default", "--json").json
    assert (other["identity"], other["cookieStoreId"], other["url"]) == (None, "firefox-default", "about:blank")
    assert cli("tabs", "firefox-default", "--json").json == [other]


@pytest.mark.process
def test_a_page_that_cannot_be_had_is_an_error_and_its_tab_stays(cli: Cli, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    result = cli("open", "Work", "127.0.0.1:1", site.url("/page/2"))
    assert (result.status, result.out) == (1, f"Loaded tab 3 in Work: {site.url('/page/2')} (Page 2)\n")
    assert result.err.startswith("hatbox: tab 2 is open, but has no page: http://127.0.0.1:1")
    assert len(result.err.splitlines()) == 1
    states = [(tab["id"], bool(tab["error"])) for tab in cli("tabs", "--json").json]
    assert states == [(1, False), (2, True), (3, False)]
    assert cli("tabs").out.splitlines()[1].endswith("  error")


@pytest.mark.process
def test_a_page_that_takes_too_long_is_left_to_load(cli: Cli, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    result = cli("open", "Work", site.url("/slow"), "--max-time", "0.3")
    assert result == (1, "", "hatbox: tab 2: still loading after 0.3 seconds, and left open\n")
    assert cli("tabs", "--json").json[1]["status"] == "loading"
    assert cli("tabs").out.splitlines()[1].endswith("loading")
    site.released.set()
    block_until(lambda: cli("tabs", "--json").json[1]["title"] == "At last", "the slow page")


@pytest.mark.process
def test_an_engine_that_does_not_start_in_time_opens_nothing(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Personal", site.url("/page/1"), site.url("/page/2"), site.url("/page/3"), "--engine", "http")
    cli("hide", "Work")
    engines.end(profile)
    script = profile.with_name("activate.py")
    script.write_text("await profile.tabs.activate(1)")
    cli("run", str(script))
    before = cli("tabs", "--json").json
    result = cli("open", "Work", "https://site.example", "--engine", "http", "--max-time", "0")
    assert (result.status, result.out) == (1, "")
    assert "did not start within 0 seconds. No tab was opened." in result.err
    assert cli("tabs", "--json").json == before
    assert before[0]["active"]
    assert cli("get", "Work", "--json").json["hidden"]
    assert engines.holder(profile) is None


@pytest.mark.process
def test_another_engine_than_the_one_that_runs_is_refused(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engine = engines.holder(profile)
    assert engine is not None
    result = cli("open", "Work", site.url("/page/2"), "--engine", "chromium", "--json")
    assert result.status == 1
    assert result.error["type"] == "EngineAlreadyRunning"
    assert result.error["pid"] == engine.process
    assert urls(cli) == [site.url("/page/1")]


def test_two_who_open_at_once_share_one_engine(program: Start, cli: Cli, profile: Path, site: Site) -> None:
    cli("list")
    started = [program("open", "Work", site.url(f"/page/{number}"), "--engine", "http") for number in range(3)]
    for process in started:
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
    assert sorted(urls(cli)) == [site.url(f"/page/{number}") for number in range(3)]
    assert engines.holder(profile) is not None


@pytest.mark.process
def test_open_shows_a_hidden_identity(cli: Cli, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    assert cli("hide", "Work").out == "Hidden Work (firefox-container-2): 1 tab\n"
    cli("open", "Work", site.url("/page/2"))
    assert not cli("get", "Work", "--json").json["hidden"]
    assert [tab["hidden"] for tab in cli("tabs", "--json").json] == [False, False]


def test_what_lies_in_the_current_folder_is_no_part_of_the_engine(
    program: Start, cli: Cli, profile: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "httpx.py").write_text("raise SystemExit('trapped')")
    (trap / "hatbox.py").write_text("raise SystemExit('trapped')")
    monkeypatch.chdir(trap)
    assert cli("open", "Work", site.url("/page/1"), "--engine", "http").status == 0


# -------------------------------------------------------------------------------------------------- the engine's life


@pytest.mark.process
def test_the_engine_ends_by_itself_after_the_last_tab(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    cli("open", "Personal", site.url("/page/2"))
    engine = engines.holder(profile)
    assert engine is not None
    assert cli("close", "1").out == f"Closed tab 1 in Work: {site.url('/page/1')} (Page 1)\n"
    cli("hide", "Personal")
    assert engines.holder(profile) == engine
    assert cli("close", "2", "--json").json[0]["hidden"]
    engines.wait_for_exit(engine.process, profile)


@pytest.mark.process
def test_what_it_prints_is_for_its_owner_alone_and_names_no_page(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    log = profile.with_name("profile.db-engine.log")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "page" not in log.read_text("utf-8")
    assert "127.0.0.1" not in log.read_text("utf-8")


@pytest.mark.process
def test_an_engine_that_was_killed_is_replaced_and_all_tabs_are_there(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/login", user="Work"), "--engine", "http")
    cli("hide", "Work")
    engines.end(profile, signal.SIGKILL)
    assert cli("open", "Personal", site.url("/page/2"), "--engine", "http").status == 0
    assert [(tab["identity"], tab["hidden"]) for tab in cli("tabs", "--json").json] == [
        ("Work", True),
        ("Personal", False),
    ]


# ---------------------------------------------------------------------------------------------- tabs, close, hide, show


@pytest.mark.process
def test_tabs_are_shown_in_plain_columns_for_a_pipe(cli: Cli, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    cli("open", "Personal")
    cli("hide", "Work")
    assert cli("tabs") == (
        0,
        f"1  Work      Page 1  {site.url('/page/1')}  hidden\n"
        f"2  Personal          about:blank{' ' * (len(site.url('/page/1')) - 11)}  active\n",
        "",
    )
    assert cli("tabs", "Personal").out.split() == ["2", "Personal", "about:blank", "active"]
    assert cli("tabs", "Banking") == (0, "", "No tabs.\n")
    assert cli("tabs", "Banking", "--json").json == []


@pytest.mark.process
def test_a_person_sees_whose_a_tab_is_and_no_line_is_too_long(
    cli: Cli, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cli("open", "Work", site.url("/page/1", long="x" * 300), "--engine", "http")
    lines = cli("tabs", tty=True).out.splitlines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert plain[0].split() == ["Tab", "Identity", "Title", "URL"]
    assert "\x1b[48;2;255;159;0m  \x1b[0m 💼 Work" in lines[2]
    assert len(plain) == 3
    assert all(len(line) <= 80 for line in plain)
    assert "Page 1" in plain[2]
    assert "…" in plain[2]
    assert plain[2].rstrip().endswith("active")
    assert site.url("/page/1", long="x" * 300) in cli("tabs").out


@pytest.mark.process
def test_a_title_cannot_steer_the_terminal(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engines.end(profile)
    script = profile.with_name("retitle.py")
    script.write_text(
        "from hatbox.tabs.strip import change, row_of\n"
        "await profile.tabs.write(lambda each: change(each, row_of(each, 1), title='\\x1b[2J[bold]\\u202e'))\n"
    )
    assert cli("run", str(script)).status == 0
    for tty in (False, True):
        shown = cli("tabs", tty=tty).out
        assert r"\x1b[2J[bold]\u202e" in shown
    assert r"\x1b[2J[bold]\u202e" in cli("close", "1", tty=True).out


@pytest.mark.process
def test_close_of_an_identity_closes_all_of_it_and_nothing_else(cli: Cli, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), site.url("/page/2"), "--engine", "http")
    cli("open", "Personal", site.url("/page/3"))
    assert [tab["url"] for tab in cli("close", "--identity", "Work", "--json").json] == [
        site.url("/page/1"),
        site.url("/page/2"),
    ]
    assert urls(cli) == [site.url("/page/3")]
    assert cli("close", "--identity", "Work") == (0, "", "")


@pytest.mark.process
def test_hide_and_show_say_how_many_tabs_and_what_opens_them(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), site.url("/page/2"), "--engine", "http")
    assert cli("hide", "Work") == (0, "Hidden Work (firefox-container-2): 2 tabs\n", "")
    assert cli("show", "Work", "Personal") == (
        0,
        "Shown Work (firefox-container-2): 2 tabs\nShown Personal (firefox-container-1)\n",
        "",
    )
    engines.end(profile)
    hint = "No browser is running. Open the tabs with: hatbox browse\n"
    assert cli("show", "Work") == (0, "Shown Work (firefox-container-2): 2 tabs\n", hint)
    assert cli("show", "Personal").err == ""
    shown = cli("show", "Work", "--json")
    assert (next(iter(shown.json[0])), shown.err) == ("name", "")
    assert "Open these tabs with: hatbox browse" in cli("tabs", tty=True).err


@pytest.mark.process
def test_removing_an_identity_closes_its_tabs(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engine: Any = engines.holder(profile)
    cli("remove", "Work", "--yes")
    assert urls(cli) == []
    engines.wait_for_exit(engine.process, profile)


# ----------------------------------------------------------------------------------------------------------- temporary


@pytest.mark.process
def test_a_temporary_identity_is_gone_with_its_last_tab(cli: Cli, site: Site) -> None:
    names = [each["name"] for each in cli("list", "--json").json]
    opened = cli("open", "--temporary", site.url("/page/1"), site.url("/page/2"), "--engine", "http", "--json").json
    (identity,) = {tab["cookieStoreId"] for tab in opened}
    assert identity not in ("firefox-default", "firefox-container-2")
    assert [each["name"] for each in cli("list", "--json").json][:-1] == names
    cli("close", str(opened[0]["id"]))
    assert len(cli("list", "--json").json) == len(names) + 1
    cli("close", str(opened[1]["id"]))
    assert [each["name"] for each in cli("list", "--json").json] == names


@pytest.mark.process
def test_a_temporary_identity_is_not_left_behind_if_no_engine_starts(cli: Cli) -> None:
    before = cli("list", "--json").json
    refused = cli("open", "--temporary", "https://site.example", "--browser", "/no/such/browser")
    assert refused.status == 1
    assert cli("list", "--json").json == before
