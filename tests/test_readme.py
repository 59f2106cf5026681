"""The README and the tutorials work as printed, for a new user: only Hatbox is installed, and the home is empty."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import pytest

from hatbox.schema import load
from hatbox.store.sqlite.lock_holders import processes_with_open
from tests.cli import engines
from tests.examples import examples
from tests.formats.firefox_files import insert, make_database
from tests.marks import starts
from tests.waiting import block_until

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob("docs/tutorials/*.md")), *sorted(ROOT.glob("docs/concepts/*.md"))]
BROWSER = "pip install '.[chromium]'\n"
EXTRAS = {"aiohttp", "playwright", "requests"}
DEMO = "http://localhost:8000"

# Where Hatbox is not installed, pytest does not find its plugin.
PLUGIN = (
    ""
    if any(each.value == "hatbox.testing.plugin" for each in entry_points(group="pytest11"))
    else "-p hatbox.testing.plugin"
)


class Step(NamedTuple):
    """A file to write, a Python program, or a command line of a page."""

    text: str
    file: str = ""
    is_program: bool = False


STEP = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```$|^    (?P<command>\S[^\n]*)$',
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^    (\S.*)$", re.MULTILINE)


def sections(page: Path) -> list[str]:
    return re.split(r"^(?=## )", page.read_text("utf-8"), flags=re.MULTILINE)


def needs_browser(section: str) -> bool:
    return BROWSER in section


def steps(page: Path, *, with_browser: bool) -> list[Step]:
    """What a reader does, in order. A page that installs a browser is read to its end with it, or without that part."""
    found: list[Step] = []
    for section in sections(page):
        if needs_browser(section) and not with_browser:
            if page != README:
                break
            continue
        found += [to_step(match) for match in STEP.finditer(section)]
    return found


def to_step(match: re.Match[str]) -> Step:
    if command := match["command"]:
        return Step(command)
    return Step(match["text"], match["file"] or "", is_program=match["language"] == "python" and not match["file"])


class Newcomer:
    """A user who has just run `pip install .` in a checkout, and maybe installed some extras."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.home = folder / "home"
        self._hidden = folder / "hidden"
        programs = folder / "bin"
        for each in (self.folder, self.home, self._hidden, programs):
            each.mkdir()
        for name in ("examples", "pyproject.toml"):
            (self.folder / name).symlink_to(ROOT / name)
        self._program(programs / "hatbox", f'exec "{sys.executable}" -m hatbox "$@"')
        self._program(programs / "python", f'exec "{sys.executable}" "$@"')
        theirs = ("HATBOX_", "XDG_", "PYTEST_", "FORCE_COLOR", "NO_COLOR", "COLUMNS")
        proxies = ("http_proxy", "https_proxy", "all_proxy")
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(theirs) and name.lower() not in proxies
            },
            "HOME": str(self.home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": str(self._hidden),
            "BROWSER": "true",  # `hatbox ui` opens none
        }
        for name in EXTRAS:
            (self._hidden / f"{name}.py").write_text(f"raise ModuleNotFoundError({name!r}, name={name!r})", "utf-8")
        where = "import platformdirs; print(platformdirs.user_data_dir('hatbox', appauthor=False))"
        self.profile = Path(self.output(f'python -c "{where}"').strip()) / "profile.db"
        assert self.profile.is_relative_to(self.home)

    def install(self, package: str) -> None:
        (self._hidden / f"{package}.py").unlink(missing_ok=True)

    def start(self, command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", command.replace("hatbox ", "exec hatbox ", 1) if command.startswith("hatbox ") else command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def output(self, command: str, answer: str = "") -> str:
        """What a command prints, which must succeed."""
        process = self.start(command)
        out, err = process.communicate(answer, timeout=120)
        assert process.returncode == 0, f"{command}: {out}{err}"
        return out

    @staticmethod
    def _program(path: Path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        path.chmod(0o755)


class Reader:
    """Follows the steps of a page."""

    def __init__(self, newcomer: Newcomer) -> None:
        self.newcomer = newcomer
        self._demo = DEMO
        self._background: list[subprocess.Popen[str]] = []
        self._has_endpoints = False
        """Whether some run in the background."""

    def follow(self, step: Step) -> None:
        text = step.text.replace(DEMO, self._demo)
        if step.file:
            path = self.newcomer.folder / step.file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        elif step.is_program:
            self._run_program(text)
        else:
            self._run_command(text)

    def _run_program(self, text: str) -> None:
        if "chromium" in text:
            self._wait_for_engine_end()
        (self.newcomer.folder / "program.py").write_text(text, "utf-8")
        starts_browser = "chromium" in text or "mcp" in text
        # Also in a profile that is not new any more.
        for _ in range(examples(2) if starts_browser and self.newcomer.profile.exists() else 2):
            printed = self.newcomer.output("python program.py")
            assert printed
            for promised in re.findall(r"print\(.*\)  # ([\[{].*[\]}]|True|False)$", text, re.MULTILINE):
                assert promised in printed.splitlines()

    def _run_command(self, line: str) -> None:
        command, _, comment = (part.strip() for part in line.partition("  #"))
        if command.startswith("pip install . && "):
            command = command.removeprefix("pip install . && ")
        if command == BROWSER.strip():
            self.newcomer.install("playwright")
        elif command.startswith(("pip ", "sudo ", "python3 -m venv ")):
            pass  # installed where these tests run
        elif found := re.fullmatch(r"export (\w+)=(.*)", command):
            self.newcomer.environment[found[1]] = self.newcomer.output(f"printf %s {found[2]}")
        elif command.endswith(" &"):
            self._run_in_background(command.removesuffix(" &"))
        elif is_until_stopped(command):
            if command.startswith("hatbox browse"):
                self._wait_for_engine_end()
            self.stop(self._start(command))
        elif command.startswith("hatbox import firefox") and sys.platform != "linux":
            pass
        elif not command.startswith("curl ") or shutil.which("curl"):
            self._has_endpoints |= command.startswith("hatbox endpoint")
            printed = self.newcomer.output(with_plugin(command), answer_to(command))
            if command.startswith("hatbox fetch") and comment:
                assert printed.strip() == comment, command

    def _run_in_background(self, command: str) -> None:
        if command == "hatbox demo --serve":  # on a free port: 8000 may be used on this machine
            started = self.newcomer.start(f"{command} --port 0")
            assert started.stdout is not None
            [self._demo] = re.findall(r"http://localhost:\d+", started.stdout.readline())
        elif found := re.search(r" > (\S+)$", command):
            started = self.newcomer.start(command)
            written = self.newcomer.folder / found[1]
            block_until(lambda: (written.exists() and written.read_text()) or started.poll() is not None, command)
            assert started.poll() is None, started.communicate()
        else:
            started = self._start(command)
        self._background.append(started)

    def _start(self, command: str) -> subprocess.Popen[str]:
        """Start a command that runs until it is stopped, and wait until it has printed that it is running."""
        started = self.newcomer.start(command)
        assert started.stdout is not None
        lines: list[str] = []
        expected = len(re.findall(r"\S+/(?= |$)", command)) or 1
        while sum(" is running" in line or "manager page" in line for line in lines) < expected:
            lines.append(started.stdout.readline())
            assert lines[-1], f"{command} has ended: {lines} {started.communicate()}"
        return started

    def _wait_for_engine_end(self) -> None:
        block_until(lambda: engines.holder(self.newcomer.profile) is None, "the end of the engine in the background")

    def close(self) -> None:
        for each in self._background:
            self.stop(each)
        if self._has_endpoints:
            for grant in json.loads(self.newcomer.output("hatbox grant list --json")):
                self.newcomer.output(f"hatbox grant revoke {grant['id']}")
            block_until(lambda: not processes_with_open(self.newcomer.profile), "the end of the endpoints")

    @staticmethod
    def stop(process: subprocess.Popen[str]) -> None:
        """Ctrl-C is the normal end of these commands."""
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err


def is_until_stopped(command: str) -> bool:
    return bool(re.match(r"hatbox (run (\S+/|\".*\")( |$)|browse|ui)", command))


def answer_to(command: str) -> str:
    """The standard input of a command."""
    return "await browser.tabs.query({})\n" if command.startswith("hatbox console") else "y\n"


def with_plugin(command: str) -> str:
    # The newcomer has no pytest-xdist: its options in pyproject.toml would be an error.
    return command.replace("python -m pytest", f"python -m pytest -q {PLUGIN} -p no:cacheprovider -p no:xdist")


@pytest.fixture
@starts("process")
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    newcomer = Newcomer(tmp_path)
    firefox = newcomer.home / ".mozilla" / "firefox"
    make_firefox(firefox / "abc.default")
    (firefox / "profiles.ini").write_text("[Profile0]\nName=default\nIsRelative=1\nPath=abc.default\nDefault=1\n")
    yield newcomer
    engines.end(newcomer.profile)


@pytest.fixture
def reader(newcomer: Newcomer) -> Iterator[Reader]:
    with contextlib.closing(Reader(newcomer)) as reader:
        yield reader


def make_firefox(folder: Path) -> None:
    folder.mkdir(parents=True)
    gifts = {"userContextId": 6, "public": True, "icon": "gift", "color": "red", "name": "Gifts"}
    (folder / "containers.json").write_text(json.dumps({"version": 6, "lastUserContextId": 6, "identities": [gifts]}))
    connection = make_database(folder / "cookies.sqlite")
    insert(connection, value="v", originAttributes="^userContextId=6")
    connection.commit()
    connection.close()


@pytest.fixture
def display(newcomer: Newcomer) -> Iterator[None]:
    """A display that no one sees."""
    if not engines.has_chromium() or shutil.which("Xvfb") is None:
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            raise FileNotFoundError("chromium or Xvfb")
        pytest.skip("needs Playwright, a Chromium and Xvfb")
    read, write = os.pipe()
    screen = ["-screen", "0", "1200x800x24", "-nolisten", "tcp"]
    with subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), *screen], pass_fds=[write], stderr=subprocess.DEVNULL
    ) as server:
        os.close(write)
        with os.fdopen(read) as number:
            newcomer.environment["DISPLAY"] = f":{number.readline().strip()}"
        newcomer.environment.pop("WAYLAND_DISPLAY", None)
        yield
        engines.end(newcomer.profile)
        server.terminate()


def name_of(page: Path) -> str:
    return page.stem


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if steps(page, with_browser=False)], ids=name_of)
def test_a_page_works_as_it_is_printed(page: Path, reader: Reader) -> None:
    for step in steps(page, with_browser=False):
        reader.follow(step)


@pytest.mark.parametrize("page", [page for page in PAGES if BROWSER in page.read_text("utf-8")], ids=name_of)
def test_a_page_about_browsers_works_as_it_is_printed(page: Path, display: None, reader: Reader) -> None:
    parts = sections(page)
    if page == README:  # the test above follows the others
        parts = [part for part in parts if needs_browser(part) or "hatbox demo --serve" in part]
    for part in parts:
        for match in STEP.finditer(part):
            reader.follow(to_step(match))


def test_the_readme_starts_with_commands_that_can_be_pasted_and_that_every_python_accepts() -> None:
    commands = [match[1] for match in COMMAND.finditer(README.read_text("utf-8"))]
    assert commands[:2] == ["python3 -m venv .venv && . .venv/bin/activate", "pip install . && hatbox demo"]
    assert commands[-1] == "pip install -e '.[dev]' && python -m pytest"


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert re.search(r"^tests\(\) \{(\n    .*)*\n    python -m pytest ", script, re.MULTILINE)
    assert re.search(r"^HATBOX_TESTS=all .* tests$", script, re.MULTILINE)


def test_most_pages_have_something_to_run() -> None:
    counts = {page.name: len(steps(page, with_browser=True)) for page in PAGES}
    assert min(counts.values()) > 1, counts
    assert sum(counts.values()) > 90, counts


def test_no_sample_needs_a_site_that_does_not_exist() -> None:
    samples = [step.text for page in PAGES for step in steps(page, with_browser=True) if not step.file]
    samples = [each for each in samples if not each.startswith(("hatbox rules ", "echo "))]  # a rule needs no site
    assert [each for each in samples if re.search(r"\.(example|test|invalid)\b", each)] == []


def test_the_namespaces_are_those_that_exist() -> None:
    text = (ROOT / "docs" / "concepts" / "extensions.md").read_text("utf-8")
    [listed] = re.findall(r"^- These namespaces: (.*?)\.$", text, re.MULTILINE)
    shown = [each for each in load() if not each.hidden and not each.for_manager]
    existing = {each.namespace for each in shown if "." not in each.namespace}
    assert re.split(r",\s+|\s+and\s+", listed) == sorted(existing - {"contextualidentities"}, key=str.lower)
