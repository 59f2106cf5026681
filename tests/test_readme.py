"""What the README shows works, as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.cli.engines import has_chromium
from tests.site import Site

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
# These need the network, a Firefox of the user's own, or a Chromium with a screen; `browse` ends with Ctrl-C only.
# tests/cli has them.
ELSEWHERE = ("hatbox fetch", "hatbox import firefox", "hatbox open", "hatbox browse")
COMMANDS = [
    command
    for command in re.findall(r"^    (hatbox [^#\n]*)", README, re.MULTILINE)
    if not command.startswith(ELSEWHERE)
]


def run(command: list[str], folder: Path, answer: str = "") -> str:
    environment = {**os.environ, "HATBOX_PROFILE": str(folder / "profile.db"), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=answer,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("snippet", [each for each in SNIPPETS if "chromium" not in each])
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
        run([sys.executable, "-m", *shlex.split(command)], tmp_path, answer="y\n")


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    assert "    python -m pytest\n" in README
    assert "\npython -m pytest\n" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_table_has_a_head() -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for table in re.findall(r"(?:^\|.*\n)+", document.read_text("utf-8"), re.MULTILINE):
            assert re.match(r"\|.*\n\|[-|: ]+\|\n", table), f"{document.name} has rows without a head: {table}"


def test_every_file_that_is_linked_to_is_there() -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
