from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from hatbox import __version__
from hatbox.cli import COMMANDS, GROUPS
from hatbox.cli.commands.run.script_runner import execute
from hatbox.cli.table import command_table
from hatbox.maintenance import create_profile
from hatbox.profile import Profile
from tests.cli.conftest import Cli, Start

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version") == (0, f"hatbox {__version__}\n", "")


@pytest.mark.parametrize("command", command_table())
def test_every_command_has_help(cli: Cli, command: str) -> None:
    result = cli(*command.split(), "--help")
    assert (result.status, result.err) == (0, "")
    for parameter in command_table()[command]["parameters"]:
        for option in parameter["options"]:
            assert option in result.out
    assert not re.search(r"<[a-z]+[>\[]", result.out)
    assert cli(*command.split(), "-h").out == result.out


def test_only_commands_that_can_use_a_new_profile_can_create_it(cli: Cli) -> None:
    for command in (["list"], ["open"], ["fetch"], ["rules", "add"]):
        assert "--create" in cli(*command, "--help").out
    for command in (["status"], ["trash", "list"], ["close"], ["grant", "revoke"], ["export"], ["cookies", "get"]):
        assert "--create" not in cli(*command, "--help").out


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("command", [[], *([verb] for verb in COMMANDS), ["cookies", "set"], ["extensions", "trigger"]])
def test_help_cuts_no_word_in_any_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: list[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = cli(*command, "--help").out
    monkeypatch.setenv("COLUMNS", "1000")
    names = set(re.findall(r"(?<=[ │])--[a-z-]+", cli(*command, "--help").out))
    assert {"--profile", "--json", "--help"} <= names
    assert [name for name in names if not re.search(rf"{name}\b", shown)] == []
    assert "…" not in shown
    assert not re.search(r"[a-z]\.\.\.$", shown, re.MULTILINE)  # a summary that was cut
    # An option takes up to 30 columns, and its help 10 at least.
    assert max(map(cell_len, shown.splitlines())) <= max(width, 42)


def test_usage_shows_which_arguments_may_be_left_out(cli: Cli) -> None:
    assert "Usage: hatbox open [OPTIONS] [NAME-OR-ID] [URL]...\n" in re.sub(" +\n", "\n", cli("open", "--help").out)
    assert "Usage: hatbox cookies set [OPTIONS] NAME-OR-ID URL NAME VALUE\n" in re.sub(
        " +\n", "\n", cli("cookies", "set", "--help").out
    )


def test_paragraphs_of_help_fill_the_lines_of_the_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.strip() for line in cli("open", "--help").out.splitlines()]
    at = next(number for number, line in enumerate(lines) if line.startswith("Uses the running engine"))
    paragraph = lines[at : lines.index("", at)]
    assert min(map(len, paragraph[:-1])) > 60


@pytest.mark.process
def test_a_command_imports_nothing_that_it_can_do_without() -> None:
    code = (
        "import sys; from hatbox.cli.program import program; program('run');"
        "print([name for name in sys.modules if name.split('.')[0] in ('httpx', 'rich', 'zipfile')"
        " or name in ('hatbox.formats', 'hatbox.cli.commands.transfer', 'hatbox.api.namespaces.cookies',"
        " 'hatbox.sync')])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout == "[]\n"


@pytest.mark.process
def test_a_plain_command_line_imports_no_parser(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(3)", "utf-8")
    functions = [*COMMANDS.values(), *(path for paths in GROUPS.values() for path in paths.values())]
    modules = {f"hatbox.cli.commands.{path.rpartition('.')[0]}" for path in functions}
    assert "hatbox.cli.commands.ui" in modules
    code = (
        "import sys; from hatbox.cli import invoke; statuses = [invoke(['list']), invoke(['run', sys.argv[1]])];"
        f"import {', '.join(sorted(modules))};"
        "print(statuses, [name for name in sys.modules if name in ('typer', 'click')])"
    )
    environment = {**os.environ, "HATBOX_PROFILE": str(tmp_path / "profile.db")}
    create_profile(tmp_path / "profile.db")
    output = subprocess.run(
        [sys.executable, "-c", code, str(script)], env=environment, capture_output=True, text=True, check=True
    )
    assert output.stdout.splitlines()[-1] == "[0, 3] []"


def test_a_command_that_typer_parses_exits_with_the_status_of_its_script(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("hatbox.cli._direct_call", lambda _: None)
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(3)", "utf-8")
    assert cli("run", str(script)) == (3, "", "")


def test_without_a_command_there_is_help_and_status_2(cli: Cli) -> None:
    result = cli()
    assert (result.status, result.out) == (2, "")
    assert all(verb in result.err for verb in COMMANDS)


def test_a_process_works_and_exits_with_0(program: Start) -> None:
    process = program("list")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"Work" in out


def test_a_process_that_cannot_do_it_exits_with_1_and_no_traceback(program: Start) -> None:
    process = program("get", "Wrok")
    assert process.communicate(timeout=60) == (
        b"",
        b'hatbox: identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox list' + _newline(),
    )
    assert process.returncode == 1


def test_wrong_usage_of_a_process_exits_with_2(program: Start) -> None:
    process = program("get")
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")


@pytest.mark.smoke
@pytest.mark.process
def test_the_installed_command_is_the_same_program() -> None:
    command = Path(sys.executable).with_name("hatbox")
    if not command.exists():
        pytest.skip("hatbox is not installed beside this Python")
    result = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"hatbox {__version__}\n"


@posix
def test_a_reader_that_has_seen_enough_is_no_error_to_talk_about(program: Start) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = program("list", stdout=writer)
    os.close(writer)
    assert process.communicate(timeout=60)[1] == b""


@posix
def test_a_script_whose_reader_has_seen_enough_ends_quietly(program: Start, tmp_path: Path) -> None:
    script = tmp_path / "talk.py"
    script.write_text("while True:\n    print('hat' * 1000)\n")
    reader, writer = os.pipe()
    process = program("run", str(script), stdout=writer)
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_an_error(program: Start) -> None:
    with Path("/dev/full").open("wb") as full:
        process = program("list", stdout=full.fileno())
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, b"hatbox: operating system error: No space left on device\n")


@posix
def test_a_closed_output_is_no_error(program: Start) -> None:
    process = program("create", "Clients", stdout=None, preexec_fn=lambda: os.close(1))
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0


@posix
@pytest.mark.parametrize(
    "wait",
    [
        "import time; time.sleep(600)",
        "import asyncio; await asyncio.sleep(600)",
        "all(number == 0 for number in iter(int, 1))",
    ],
)
def test_an_interrupt_ends_a_script_at_once_and_quietly(program: Start, tmp_path: Path, wait: str) -> None:
    script = tmp_path / "wait.py"
    script.write_text(f"try:\n    print('ready', flush=True)\n    {wait}\nfinally:\n    print('tidy')\n")
    process = program("run", str(script))
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == (b"tidy\n", b"")
    assert process.returncode == 130


@posix
def test_an_interrupt_just_before_the_first_line_of_a_script_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, ran = tmp_path / "script.py", tmp_path / "ran"
    script.write_text(f"open({str(ran)!r}, 'w')")
    enter = Profile.__aenter__

    async def enter_interrupted(profile: Profile) -> Profile:
        opened = await enter(profile)
        signal.raise_signal(signal.SIGINT)
        return opened

    monkeypatch.setattr(Profile, "__aenter__", enter_interrupted)
    with pytest.raises(KeyboardInterrupt):
        execute(script, [], None, permissions=None, grant=None, as_json=False)
    assert not ran.exists()


@posix
@pytest.mark.process
def test_an_interrupt_while_the_program_starts_prints_no_traceback(cli: Cli) -> None:
    program = """
import builtins, signal, hatbox.__main__
imports = builtins.__import__

def interrupted(name, *arguments, **options):
    if name == "hatbox.cli":
        signal.raise_signal(signal.SIGINT)
    return imports(name, *arguments, **options)

builtins.__import__ = interrupted
hatbox.__main__.main()
"""
    ended = subprocess.run([sys.executable, "-c", program, "list"], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")


@posix
def test_an_interrupt_at_the_prompt_removes_nothing(program: Start, cli: Cli) -> None:
    process = program("remove", "Work", stdin=subprocess.PIPE)
    assert process.stderr is not None
    prompt = b"Work: no cookies, no tabs. Remove it? It stays in the trash for 30 days. [y/N] "
    assert process.stderr.read(len(prompt)) == prompt
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert process.returncode == 130
    assert "Work" in cli("list").out


@posix
@pytest.mark.process
def test_a_crash_of_a_command_or_its_browser_writes_no_core_dump_with_logins() -> None:
    program = """
import atexit, resource
from hatbox.cli import main

limits = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (limits[1], limits[1]))
atexit.register(lambda: print(resource.getrlimit(resource.RLIMIT_CORE) == (0, limits[1])))
main()
"""
    ended = subprocess.run([sys.executable, "-c", program, "list"], capture_output=True, text=True, check=False)
    assert ended.stdout.splitlines()[-1] == "True", ended.stderr


def _newline() -> bytes:
    return os.linesep.encode()
