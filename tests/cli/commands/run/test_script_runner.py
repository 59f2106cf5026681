from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hatbox.cli.commands.run.script_runner import _woken_by_signals
from tests.cli.conftest import Cli, Result
from tests.store.in_loop import in_loop

Run = Callable[..., Result]


@pytest.fixture
def run(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the text of a script, which is called x.py and is in the current folder."""
    monkeypatch.chdir(tmp_path)

    def run_text(text: str | bytes, *arguments: str) -> Result:
        content = text.encode() if isinstance(text, str) else text
        (tmp_path / "x.py").write_bytes(content)
        return cli("run", "x.py", *arguments)

    return run_text


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_a_missing_script_is_named(cli: Cli) -> None:
    assert cli("run", "nope.py") == (1, "", "hatbox: nope.py: No such file or directory\n")


def test_a_syntax_error_shows_the_line_and_the_spot(run: Run) -> None:
    result = run("x = 1\nif x:\n    y = = 2\n")
    assert result == (1, "", "hatbox: x.py, line 3: SyntaxError: invalid syntax\n    y = = 2\n        ^\n")


@pytest.mark.parametrize("text", [b"x = '\xff'\n", b"x = '\0'\n", b"# coding: nope\n", b"(" * 1000])
def test_a_file_that_python_cannot_read_is_no_traceback(run: Run, text: bytes) -> None:
    result = run(text)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("hatbox: x.py")
    assert "Traceback" not in result.err


def test_an_error_names_the_line_and_the_way_there(run: Run) -> None:
    result = run(
        "async def main():\n"
        "    await browser.contextualIdentities.get('firefox-container-99')\n"
        "print('before')\n"
        "await main()\n"
        "print('after')\n"
    )
    assert result == (
        1,
        "before\n",
        "hatbox: x.py, line 2: InvalidIdentity: Invalid contextual identity: firefox-container-99\n"
        "    at x.py:2 in main\n"
        "    at x.py:4\n",
    )


def test_an_error_of_a_script_is_json_for_programs(run: Run) -> None:
    error = run("x = 1\n1/0", "--json").error
    assert error == {
        "type": "ZeroDivisionError",
        "message": "x.py, line 2: ZeroDivisionError: division by zero",
        "file": "x.py",
        "line": 2,
        "frames": [{"file": "x.py", "line": 2, "function": "<module>"}],
    }


def test_a_rejected_unawaited_call_is_reported(run: Run) -> None:
    result = run(
        "lost = browser.contextualIdentities.create({'name': 'a', 'color': 'mauve', 'icon': 'pet'})\n"
        "more = [browser.contextualIdentities.get('nobody')]\n"
        "print('done')\n"
    )
    assert (result.status, result.out) == (1, "done\n")
    expected = "hatbox: x.py: an unawaited call failed: "
    assert sorted(result.err.splitlines()) == [
        f"{expected}InvalidColor: Invalid color name mauve for container",
        f"{expected}InvalidIdentity: Invalid contextual identity: nobody",
    ]


def test_an_unawaited_task_that_fails_is_reported(run: Run) -> None:
    result = run(
        "import asyncio\n"
        "async def fail():\n"
        "    raise ValueError('oh')\n"
        "task = asyncio.create_task(fail())\n"
        "await asyncio.sleep(0)\n"
    )
    assert result == (1, "", "hatbox: x.py, line 3: an unawaited task failed: ValueError: oh\n")


def test_a_listener_that_fails_is_reported_and_the_script_goes_on(run: Run) -> None:
    result = run(
        "def listener(change):\n"
        "    raise ValueError('oh')\n"
        "browser.contextualIdentities.onUpdated.addListener(listener)\n"
        "await browser.contextualIdentities.update('firefox-container-1', {'color': 'red'})\n"
        "print('after')\n"
    )
    assert (result.status, result.out) == (1, "after\n")
    assert result.err == "hatbox: x.py, line 2: a listener of identities.on_updated raised: ValueError: oh\n"


def test_a_thread_that_fails_is_reported(run: Run) -> None:
    result = run(
        "import threading\n"
        "thread = threading.Thread(target=lambda: 1 / 0, name='mine')\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    assert result == (1, "", "hatbox: x.py, line 2: thread mine failed: ZeroDivisionError: division by zero\n")


def test_asyncio_run_in_a_script_gets_advice(run: Run) -> None:
    with pytest.warns(RuntimeWarning, match="never awaited"):
        result = run("import asyncio\nasync def main(): pass\nasyncio.run(main())\n")
    assert result.status == 1
    assert "await at the top level" in result.err


# ------------------------------------------------------------------------------------------------------ what works


@pytest.mark.parametrize(
    ("text", "status", "err"),
    [
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('no hats')", 1, "no hats\n"),
        ("raise SystemExit(3)\nawait something", 3, ""),
        ("import asyncio\nasync def f(): raise SystemExit(4)\nawait asyncio.create_task(f())", 4, ""),
    ],
)
def test_a_script_chooses_its_exit_status(run: Run, text: str, status: int, err: str) -> None:
    assert run(text) == (status, "", err)


def test_a_plain_script_without_await_runs(run: Run) -> None:
    assert run("print(__name__, __file__)\n") == (0, "__main__ x.py\n", "")


def test_a_script_sees_its_arguments_and_its_own_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("word = 'hello'")
    arguments, path, modules = sys.argv, sys.path, sys.modules["__main__"]
    result = run("import sys, neighbour\nprint(sys.argv, neighbour.word)\n", "a", "--", "--b", "-c")
    del sys.modules["neighbour"]
    assert result == (0, "['x.py', 'a', '--b', '-c'] hello\n", "")
    assert sys.argv is arguments
    assert sys.path is path
    assert sys.modules["__main__"] is modules


def test_a_script_is_the_main_module(run: Run) -> None:
    assert run("import sys\nprint(sys.modules['__main__'].browser is browser)\n").out == "True\n"


def test_calls_that_nobody_awaits_are_on_disk_when_the_script_has_ended(run: Run, cli: Cli) -> None:
    assert run("browser.contextualIdentities.create({'name': 'New', 'color': 'red', 'icon': 'pet'})\n").status == 0
    assert "New" in cli("list").out


def test_tasks_that_are_left_are_cancelled_while_the_profile_is_still_open(run: Run) -> None:
    result = run(
        "import asyncio\n"
        "async def forever():\n"
        "    try:\n"
        "        await asyncio.Event().wait()\n"
        "    finally:\n"
        "        print(len(await browser.contextualIdentities.query({})))\n"
        "task = asyncio.create_task(forever())\n"
        "await asyncio.sleep(0)\n"
    )
    assert result == (0, "4\n", "")


def test_the_future_imports_of_hatbox_do_not_leak_into_a_script(run: Run) -> None:
    assert run("def f(x: 1 + 1): pass\nprint(f.__annotations__)\n").out == "{'x': 2}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="loops have no handlers for signals there")
@in_loop
async def test_handlers_of_the_script_hear_of_signals_until_the_loop_ends() -> None:
    """While its profile is closed, too."""
    loop, heard = asyncio.get_running_loop(), asyncio.Event()
    with _woken_by_signals(loop):
        loop.add_signal_handler(signal.SIGUSR1, heard.set)
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.wait_for(heard.wait(), 5)
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
