"""What the README shows works, as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hatbox.schema import load
from tests.cli.engines import has_chromium
from tests.site import Site

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
# These need the network, a Firefox of the user's own, or a Chromium with a screen; `browse` ends with Ctrl-C only.
# tests/cli has them.
ELSEWHERE = ("hatbox fetch", "hatbox import firefox", "hatbox open", "hatbox browse")
EVERY_COMMAND = [command.strip() for command in re.findall(r"^    (hatbox [^#\n]*)", README, re.MULTILINE)]
UNTIL_STOPPED = [command for command in EVERY_COMMAND if re.match(r"hatbox run (\S+/|\".*\")( |$)", command)]
TRIGGERS = [command for command in EVERY_COMMAND if command.startswith("hatbox extensions trigger")]
COMMANDS = [
    command
    for command in EVERY_COMMAND
    if not command.startswith(ELSEWHERE) and command not in (*UNTIL_STOPPED, *TRIGGERS)
]
# Where Hatbox is not installed, nobody tells pytest of its plugin.
TOLD = (
    ()
    if any(each.value == "hatbox.testing.plugin" for each in entry_points(group="pytest11"))
    else ("-p", "hatbox.testing.plugin")
)


def environment_of(folder: Path) -> dict[str, str]:
    return {**os.environ, "HATBOX_PROFILE": str(folder / "profile.db"), "PYTHONIOENCODING": "utf-8"}


def run(command: list[str], folder: Path, answer: str = "") -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment_of(folder),
        input=answer,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("snippet", [each for each in SNIPPETS if not re.search("chromium|def test_", each)])
def test_a_snippet_runs(snippet: str, tmp_path: Path) -> None:
    assert run([sys.executable, "-c", textwrap.dedent(snippet)], tmp_path)


@pytest.mark.skipif(not has_chromium(), reason="needs Playwright and a Chromium: pip install 'hatbox[chromium]'")
@pytest.mark.parametrize("snippet", [each for each in SNIPPETS if "chromium" in each])
def test_a_snippet_with_a_browser_runs(snippet: str, tmp_path: Path) -> None:
    with Site() as site:
        here = textwrap.dedent(snippet).replace("https://site.example", site.url(""))
        shown = run([sys.executable, "-c", here], tmp_path)
        assert site.users("/me") == ["me", "me"]
    assert shown.count("Signed in as me") == 2


def test_the_commands_work_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print(await browser.contextualIdentities.query({}))\n", "utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert len(COMMANDS) > 8
    for command in COMMANDS:
        answer = "await browser.tabs.query({})\n" if command.startswith("hatbox console") else "y\n"
        run([sys.executable, "-m", *shlex.split(command)], tmp_path, answer)


@contextmanager
def running(command: str, folder: Path) -> Iterator[list[str]]:
    """Run extensions until Ctrl-C, which ends them well; gives what they have printed when all are running."""
    (folder / "examples").symlink_to(ROOT / "examples")
    words = shlex.split(command)
    if not any(word.endswith("/") for word in words):  # by its name: it is installed
        [install] = [each for each in EVERY_COMMAND if each.startswith("hatbox extensions install")]
        run([sys.executable, "-m", *shlex.split(install)], folder)
    started = subprocess.Popen(
        [sys.executable, "-m", *words], cwd=folder, env=environment_of(folder), stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert started.stdout is not None
    with started:
        lines: list[str] = []
        try:
            expected = len([word for word in words if word.endswith("/")]) or 1
            while len([line for line in lines if line.endswith(" is running\n")]) < expected:
                lines.append(started.stdout.readline())
                assert lines[-1], f"{command} has ended: {lines}"
            yield lines
        finally:
            started.send_signal(signal.SIGINT)
    assert started.returncode == 0


@pytest.mark.parametrize("command", UNTIL_STOPPED)
def test_extensions_run_until_they_are_stopped(command: str, tmp_path: Path) -> None:
    with running(command, tmp_path) as lines:
        assert lines


@pytest.mark.parametrize("command", TRIGGERS)
def test_a_user_is_replaced_from_another_terminal(command: str, tmp_path: Path) -> None:
    [together] = [each for each in UNTIL_STOPPED if each.count("/ ") == 1 and "--" not in each]
    with running(together, tmp_path):
        assert run([sys.executable, "-m", *shlex.split(command)], tmp_path).startswith("Triggered ")


@pytest.mark.parametrize("snippet", [each for each in SNIPPETS if "def test_" in each])
def test_the_tests_of_an_extension_pass(snippet: str, tmp_path: Path) -> None:
    (tmp_path / "path" / "to").mkdir(parents=True)
    (tmp_path / "path" / "to" / "my-extension").symlink_to(ROOT / "examples" / "two-hats")
    (tmp_path / "test_it.py").write_text(snippet, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", *TOLD, "-p", "no:cacheprovider", "test_it.py"]
    assert "2 passed" in run(command, tmp_path)


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
