"""What the README shows works as it is printed, for a newcomer: only Hatbox is installed, and the home is empty."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hatbox.schema import load
from tests.cli import engines
from tests.formats.firefox_files import insert, make_database

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
PROGRAMS = [each for each in SNIPPETS if "def test_" not in each]
DEMO = "python examples/demo_site.py &"
EXTRAS = {"aiohttp", "playwright", "requests"}


def commands(section: str) -> list[str]:
    """The command lines below a heading, as they are printed."""
    text = re.findall(rf"^## {section}\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)[0]
    return re.findall(r"^    ((?:hatbox|python) .*)$", text, re.MULTILINE)


def is_until_stopped(command: str) -> bool:
    return bool(re.match(r"hatbox (run (\S+/|\".*\")( |$)|browse)", command))


EXTENSIONS = commands("Extensions")
UNTIL_STOPPED = [command for command in EXTENSIONS if is_until_stopped(command)]
TRIGGERS = [command for command in EXTENSIONS if command.startswith("hatbox extensions trigger")]

# Where Hatbox is not installed, pytest does not find its plugin.
PLUGIN = (
    ()
    if any(each.value == "hatbox.testing.plugin" for each in entry_points(group="pytest11"))
    else ("-p", "hatbox.testing.plugin")
)


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
        }
        for name in EXTRAS:
            (self._hidden / f"{name}.py").write_text(f"raise ModuleNotFoundError(name, name={name!r})", "utf-8")
        self.profile = Path(self.output("python -c 'import hatbox.profile as p; print(p.default_address())'").strip())
        assert self.profile.is_relative_to(self.home)

    def install(self, package: str) -> None:
        (self._hidden / f"{package}.py").unlink()

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


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    newcomer = Newcomer(tmp_path)
    yield newcomer
    engines.end(newcomer.profile)


@pytest.fixture
def demo(newcomer: Newcomer) -> Iterator[str]:
    """The demo site, on a port that is free; its own may be in use on this machine."""
    assert DEMO.removesuffix(" &") == "python examples/demo_site.py"
    with newcomer.start("exec python examples/demo_site.py 0") as process:
        assert process.stdout is not None
        (address,) = re.findall(r"http://localhost:\d+", process.stdout.readline())
        yield address
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0


def here(command: str, demo: str) -> str:
    return command.replace("http://localhost:8000", demo)


@pytest.mark.parametrize("snippet", PROGRAMS)
def test_a_program_runs_as_it_is_printed_and_prints_what_it_says(newcomer: Newcomer, snippet: str) -> None:
    if "chromium" in snippet:
        if not engines.has_chromium():
            pytest.skip("needs Playwright and a Chromium: pip install 'hatbox[chromium]'")
        newcomer.install("playwright")
    (newcomer.folder / "program.py").write_text(snippet, "utf-8")
    for _ in range(2):  # also in a profile that is not new any more
        printed = newcomer.output("python program.py")
        assert printed
        for promised in re.findall(r"print\(.*\)  # ([\[{].*[\]}])", snippet):
            assert promised in printed.splitlines()


def test_the_commands_work_one_after_the_other(newcomer: Newcomer, demo: str) -> None:
    firefox = newcomer.home / ".mozilla" / "firefox"
    make_firefox(firefox / "abc.default")
    (firefox / "profiles.ini").write_text("[Profile0]\nName=default\nIsRelative=1\nPath=abc.default\nDefault=1\n")
    lines = commands("From the command line")
    assert DEMO in [line.partition("  ")[0] for line in lines]
    printed = {
        command: newcomer.output(here(command, demo), "y\n")
        for command in lines
        if not command.startswith(DEMO) and (sys.platform == "linux" or not command.startswith("hatbox import firefox"))
    }
    for command, out in printed.items():
        if command.endswith("# not signed in"):
            assert "Not signed in" in out
        elif "# signed in as " in command:
            assert f"Signed in as {command.rpartition('# signed in as ')[2].lower()}" in out
    assert len(printed) > 12


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


def test_the_commands_of_real_browsers_work_one_after_the_other(newcomer: Newcomer, display: None, demo: str) -> None:
    newcomer.install("playwright")
    lines = [line for line in commands("Tabs and real browsers") if not line.startswith(DEMO)]
    printed: list[str] = []
    for command in lines:
        if is_until_stopped(command):
            engines.until(lambda: engines.holder(newcomer.profile) is None, "the end of the engine in the background")
            process = newcomer.start(command)
            assert process.stdout is not None
            printed.append(process.stdout.readline())
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            assert process.returncode == 0
        else:
            printed.append(newcomer.output(here(command, demo)))
    shown = "".join(printed)
    for expected in ("(Signed in as alice)", "(Signed in as bob)", "Hidden Work", "Shown Work", "Chromium is running"):
        assert expected in shown


def test_the_commands_of_extensions_work_one_after_the_other(newcomer: Newcomer) -> None:
    for command in EXTENSIONS:
        if command not in (*UNTIL_STOPPED, *TRIGGERS):
            newcomer.output(command, "await browser.tabs.query({})\n" if "console" in command else "y\n")


@contextmanager
def running(newcomer: Newcomer, command: str) -> Iterator[list[str]]:
    """Run extensions until Ctrl-C, which ends them well; gives what they have printed when all are running."""
    words = command.partition("  #")[0].split()
    if not any(word.endswith("/") for word in words):  # by its name: it is installed
        [install] = [each for each in EXTENSIONS if each.startswith("hatbox extensions install")]
        newcomer.output(install)
    with newcomer.start(command) as started:
        assert started.stdout is not None
        lines: list[str] = []
        try:
            expected = len([word for word in words if word.endswith("/")]) or 1
            while len([line for line in lines if line.endswith(" is running\n")]) < expected:
                lines.append(started.stdout.readline())
                assert lines[-1], f"{command} has ended: {lines}"
            yield lines
        finally:
            started.send_signal(signal.SIGINT)
            started.communicate(timeout=60)
    assert started.returncode == 0


@pytest.mark.parametrize("command", UNTIL_STOPPED)
def test_extensions_run_until_they_are_stopped(newcomer: Newcomer, command: str) -> None:
    with running(newcomer, command) as lines:
        assert lines


@pytest.mark.parametrize("command", TRIGGERS)
def test_a_user_is_replaced_from_another_terminal(newcomer: Newcomer, command: str) -> None:
    [together] = [each for each in UNTIL_STOPPED if re.match(r"hatbox run \S+/ \S+/$", each)]
    with running(newcomer, together):
        assert newcomer.output(command).startswith("Triggered ")


@pytest.mark.parametrize("snippet", [each for each in SNIPPETS if "def test_" in each])
def test_the_tests_of_an_extension_pass(newcomer: Newcomer, snippet: str) -> None:
    (newcomer.folder / "test_it.py").write_text(snippet, "utf-8")
    options = " ".join(PLUGIN)
    assert "2 passed" in newcomer.output(f"python -m pytest -q {options} -p no:cacheprovider test_it.py")


def test_the_first_lines_of_the_readme_work(newcomer: Newcomer) -> None:
    first = re.findall(r"^    (.*)$", README, re.MULTILINE)[:2]
    assert first[0] == "pip install ."
    assert "Top hat is purple" in newcomer.output(first[1])


def test_no_sample_needs_a_site_that_does_not_exist() -> None:
    samples = [*SNIPPETS, *re.findall(r"^    (\S.*)$", README, re.MULTILINE)]
    assert [each for each in samples if re.search(r"\.(example|test|invalid)\b", each)] == []


def test_the_namespaces_are_those_that_there_are() -> None:
    [listed] = re.findall(r"^There are (action.*?);", README, re.MULTILINE | re.DOTALL)
    there = {each.namespace for each in load() if not each.hidden and "." not in each.namespace}
    assert re.split(r",\s+|\s+and\s+", listed) == sorted(there - {"contextualidentities"}, key=str.lower)


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    assert "    python -m pytest -n 2\n" in README
    assert "\npython -m pytest -n 2\n" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_table_has_a_head() -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for table in re.findall(r"(?:^\|.*\n)+", document.read_text("utf-8"), re.MULTILINE):
            assert re.match(r"\|.*\n\|[-|: ]+\|\n", table), f"{document.name} has rows without a head: {table}"


def test_every_file_that_is_linked_to_is_there() -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
