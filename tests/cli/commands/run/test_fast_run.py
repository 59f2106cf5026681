"""The shortest way to run extensions does what the parser of command lines would do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from hatbox.cli.commands.run import extension_runner, run_command
from hatbox.cli.commands.run.fast_run import fast_run
from hatbox.cli.program import program

Called = tuple[tuple[Any, ...], dict[str, Any]]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[Called]:
    """What run_extensions() is called with, in the place of running anything."""
    calls: list[Called] = []

    def note(*arguments: Any, **options: Any) -> None:
        calls.append((arguments, options))

    monkeypatch.setattr(extension_runner, "run_extensions", note)
    monkeypatch.setattr(run_command, "run_extensions", note)
    return calls


@pytest.mark.parametrize(
    "arguments",
    [
        ["{folder}"],
        ["{folder}", "--profile", "here.db"],
        ["--profile", "here.db", "{folder}"],
        ["--profile", "one.db", "{folder}", "--profile", "two.db"],
    ],
)
def test_it_does_what_the_parser_would_do(tmp_path: Path, called: list[Called], arguments: list[str]) -> None:
    line = ["run", *(each.format(folder=tmp_path) for each in arguments)]
    plain = fast_run(line)
    assert plain is not None
    plain()
    get_command(program()).main(line, prog_name="hatbox", standalone_mode=False)
    assert called[0] == called[1]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["run"],
        ["list"],
        ["run", ""],
        ["run", "script.py"],
        ["run", "script.py", "{folder}"],
        ["run", "{folder}", "other.xpi"],
        ["run", "nothing.XPI"],
        ["run", "{folder}", "--json"],
        ["run", "{folder}", "--inspect"],
        ["run", "{folder}", "--help"],
        ["run", "{folder}", "--profile"],
        ["run", "{folder}", "--profile", ""],
        ["run", "{folder}", "--profile", "--json"],
        ["run", "{folder}", "--profile=here.db"],
        ["run", "{folder}", "--"],
        ["run", "--", "{folder}"],
        ["--profile", "here.db", "run", "{folder}"],
    ],
)
def test_all_else_is_for_the_parser(tmp_path: Path, arguments: list[str]) -> None:
    assert fast_run([each.format(folder=tmp_path) for each in arguments]) is None


@pytest.mark.process
def test_it_imports_no_parser_and_no_client_for_the_web(tmp_path: Path) -> None:
    code = (
        "import sys; from hatbox.cli import fast_run; assert fast_run(['run', sys.argv[1]]);"
        "print([name for name in sys.modules if name in ('typer', 'pydantic', 'rich', 'httpx', 'zipfile')])"
    )
    output = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert output.stdout == "[]\n"
