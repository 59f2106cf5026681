"""Completion in the real shells, with the scripts that `hatbox --show-completion` prints."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.cli.completion.shells import split_words
from tests.cli.conftest import Cli
from tests.postgres import sqlite_file

NAMES = ["Client A", "it's $HOME", "x*y", "日本語", "a:b"]


def script_for(shell: str) -> str:
    code = (
        "from typer.completion import get_completion_script as script;"
        f"print(script(prog_name='hatbox', complete_var='_HATBOX_COMPLETE', shell={shell!r}))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def home(tmp_path: Path, profile: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    """A home with `hatbox` on PATH, and a profile with names that shells have to quote."""
    sqlite_file(profile)  # names on a server may take longer than a shell waits, on a busy machine
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "hatbox"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hatbox "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ZDOTDIR", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in NAMES:
        assert cli("create", "--", name).status == 0
    return home


def run_shell(shell: str, code: str, folder: Path) -> list[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    options = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *options, "-c", code], capture_output=True, text=True, timeout=120, cwd=folder, check=False
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def in_bash(home: Path, *words: str) -> list[str]:
    """The lines that bash would insert. COMP_WORDS has the words as they are typed."""
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in ("hatbox", *words))
    code = f"""{script_for("bash")}
COMP_WORDS=({quoted}); COMP_CWORD={len(words)}
_hatbox_completion hatbox
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return run_shell("bash", code, home)


@pytest.mark.process
def test_bash_completes_commands_options_and_names(home: Path) -> None:
    assert in_bash(home, "cre") == ["create"]
    assert in_bash(home, "cookies", "s") == ["set"]
    assert in_bash(home, "create", "New", "--col") == ["--color"]
    assert in_bash(home, "create", "New", "--color", "pur") == ["purple"]
    assert in_bash(home, "create", "New", "--color", "=", "pur") == ["purple"]
    assert in_bash(home, "get", "W") == ["Work"]


@pytest.mark.process
def test_bash_gets_names_that_it_reads_back_as_they_are(home: Path) -> None:
    offered = in_bash(home, "get", "")
    code = "".join(f"printf '%s\\n' {each}\n" for each in offered)
    assert run_shell("bash", code, home) == ["Personal", "Work", "Banking", "Shopping", *NAMES]
    assert in_bash(home, "get", '"Cli') == ["Client A"]
    assert in_bash(home, "get", "Client\\ ") == ["Client\\ A"]


@pytest.mark.process
def test_fish_completes_commands_options_and_names(home: Path) -> None:
    def in_fish(line: str) -> list[str]:
        code = f"{script_for('fish')}\ncomplete -C '{line}'"
        return [each.split("\t")[0] for each in run_shell("fish", code, home)]

    assert in_fish("hatbox cre") == ["create"]
    assert in_fish("hatbox create New --color pur") == ["purple"]
    assert set(in_fish("hatbox get Cli")) & {"Client A", "Client\\ A"}
    assert in_fish("hatbox get W") == ["Work"]


class ZshPrompt:
    """Zsh at a prompt in a terminal: it completes nowhere else."""

    def __init__(self, script: Path) -> None:
        program = shutil.which("zsh")
        if program is None:
            pytest.skip("zsh is not installed")
        self._terminal, inside = os.openpty()
        self._process = subprocess.Popen(
            [program, "-f", "-i"], stdin=inside, stdout=inside, stderr=inside, start_new_session=True
        )
        os.close(inside)
        self._send("PROMPT=; unsetopt prompt_sp; autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word\n")
        self._send('show() { print -r -- "<<${BUFFER}>>"; BUFFER= }; zle -N show; bindkey "^X" show\n')
        self._send(f"source {script}; print rea''dy\n")
        self._read_until("ready")

    def complete(self, line: str) -> str:
        """The line after the Tab key."""
        self._send(f"{line}\t\x18")
        return self._read_until(">>").rpartition("<<")[2].partition(">>")[0]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)

    def _send(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def _read_until(self, mark: str) -> str:
        seen = ""
        while mark not in seen:
            ready, _, _ = select.select([self._terminal], [], [], 60)
            assert ready, f"zsh is silent after: {seen}"
            seen += os.read(self._terminal, 1000).decode(errors="replace")
        return seen


@pytest.mark.process
def test_zsh_completes_commands_options_and_names(home: Path) -> None:
    script = home / "completion.zsh"
    script.write_text(script_for("zsh"))
    with contextlib.closing(ZshPrompt(script)) as zsh:
        assert zsh.complete("hatbox crea") == "hatbox create "
        assert zsh.complete("hatbox create New --color pur") == "hatbox create New --color purple "
        assert zsh.complete("hatbox get W") == "hatbox get Work "
        assert zsh.complete("hatbox get Cl") == "hatbox get Client\\ A "
        assert zsh.complete("hatbox get a") == "hatbox get a:b "
        assert zsh.complete("hatbox get 日") == "hatbox get 日本語 "
        assert zsh.complete("hatbox get it") == "hatbox get it\\'s\\ \\$HOME "


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", [("", "")]),
        ("hatbox get ", [("hatbox", ""), ("get", ""), ("", "")]),
        ("a 'b c' \"d", [("a", ""), ("b c", ""), ("d", '"')]),
        ("a\\ b 'it", [("a b", ""), ("it", "'")]),
        ("a '' b", [("a", ""), ("", ""), ("b", "")]),
        ('"a\\"b" c\\', [('a"b', ""), ("c", "")]),
    ],
)
def test_a_line_is_split_as_a_shell_splits_it(line: str, expected: list[tuple[str, str]]) -> None:
    assert split_words(line) == expected
