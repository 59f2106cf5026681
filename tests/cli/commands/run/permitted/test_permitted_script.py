"""A script with permissions behaves as one in the process of the command."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from tests.cli.commands.run.permitted.conftest import Permitted
from tests.cli.conftest import Cli, Start, run_process

pytestmark = pytest.mark.process

CALLS = """
import sys
api = browser.contextualIdentities
heard = []
api.onCreated.addListener(heard.append)
made = await api.create({"name": "Clients", "color": "red", "icon": "pet"})
assert heard == [{"contextualIdentity": made}], heard
assert made["name"] == "Clients" and type(made) is dict
assert (await api.get(cookieStoreId=made["cookieStoreId"])) == made
print(api.get.__qualname__, api.onCreated.hasListener(print))
for call in (
    lambda: api.get("firefox-container-99"), lambda: api.get(1),
    lambda: api.update(made["cookieStoreId"], {"color": "x"}), lambda: api.nothing(),
    lambda: browser.nothing, lambda: api.onCreated.addListener(1),
):
    try:
        await call()
    except Exception as error:
        print(type(error).__module__, type(error).__name__, error, sorted(vars(error)))
async def slow(identity):
    heard.append("slow")
api.onRemoved.addListener(slow)
await api.remove(made["cookieStoreId"])
api.onRemoved.removeListener(slow)
print(heard[1:], __name__, __file__, sys.argv, sys.stdin.read())
sys.stderr.write("to stderr\\n")
api.create({"name": "Unawaited", "color": "red", "icon": "pet"})
sys.exit(7)
"""

ENDS = {
    "error": "def inner():\n    raise ValueError('no')\nprint('before')\ninner()\n",
    "message": "import sys\nsys.exit('bye')\n",
    "unawaited": "browser.contextualIdentities.get('firefox-container-99')\n",
    "listener": (
        "def fails(change):\n    raise KeyError('x')\n"
        "browser.contextualIdentities.onCreated.addListener(fails)\n"
        "await browser.contextualIdentities.create({'name': 'A', 'color': 'red', 'icon': 'pet'})\nprint('on')\n"
    ),
    "thread": (  # with a name: the number in the usual one is another in each process
        "import threading\nthread = threading.Thread(target=lambda: 1 / 0, name='worker')\n"
        "thread.start()\nthread.join()\n"
    ),
    "task": "import asyncio\nasync def fails():\n    raise OSError('x')\nt = asyncio.ensure_future(fails())\n"
    "await asyncio.sleep(0)\n",
}


@pytest.mark.smoke
def test_calls_events_errors_and_streams_are_those_of_a_script_in_this_process(permitted: Permitted, cli: Cli) -> None:
    """The same text, once with and once without permissions."""
    apart = permitted(CALLS, "one", "--", "--two", stdin="typed")
    assert apart.status == 7, apart
    assert cli("run", "x.py", "one", "--", "--two", stdin="typed") == apart
    assert apart.err == "to stderr\n"
    assert [each["name"] for each in cli("list", "--json").json].count("Unawaited") == 2


@pytest.mark.parametrize("text", ENDS.values(), ids=ENDS)
def test_a_script_that_fails_is_reported_as_in_this_process(permitted: Permitted, cli: Cli, text: str) -> None:
    options = ["--json"] if "inner" in text else []
    apart = permitted(text, *options)
    here = cli("run", "x.py", *options)
    # The events of services have other names, which scripts do not know.
    assert apart == here._replace(err=here.err.replace("identities.on_created", "contextualIdentities.onCreated"))
    assert apart.status == 1
    assert apart.err


def test_a_profile_that_cannot_be_opened_ends_the_script_before_it_starts(
    permitted: Permitted, profile: Path, no_profile: None
) -> None:
    result = permitted("print('started')", "--json")
    assert (result.status, result.out, result.error["type"]) == (1, "", "ProfileNotFound")
    assert not profile.exists()
    assert permitted("print(", "--json").error["type"] == "SyntaxError"


@pytest.mark.parametrize("waiting", ["await asyncio.sleep(600)", "time.sleep(600)"])
def test_an_interrupt_reaches_the_script_once_and_is_the_exit_status(
    program: Start, folder: Path, waiting: str
) -> None:
    (folder / "x.py").write_text(
        "import asyncio, time\n"
        f"try:\n    print('ready', flush=True)\n    {waiting}\nfinally:\n    time.sleep(0.3)\n    print('cleaned up')\n"
    )
    process = program("run", "x.py", "--permission", "tabs")
    assert process.stdout and process.stderr
    assert process.stdout.readline() == b"ready\n"
    os.kill(process.pid, signal.SIGINT)
    assert (process.wait(60), process.stdout.read(), process.stderr.read()) == (130, b"cleaned up\n", b"")


def test_a_script_that_was_killed_is_reported(permitted: Permitted) -> None:
    result = permitted("import os\nos.kill(os.getpid(), 9)\n")
    assert (result.status, result.err) == (1, "hatbox: x.py was ended by SIGKILL\n")


def test_a_script_ends_with_its_command(program: Start, folder: Path) -> None:
    (folder / "x.py").write_text("import os\nprint(os.getpid(), flush=True)\nwhile True: pass\n")
    process = program("run", "x.py", "--permission", "tabs")
    assert process.stdout
    script = int(process.stdout.readline())
    process.kill()
    process.wait()
    assert process.stdout.read() == b""  # the script has closed it: it has ended
    with pytest.raises(ProcessLookupError):
        while Path(f"/proc/{script}/stat").read_text().split(")")[1].split()[0] != "Z":
            os.kill(script, 0)
        raise ProcessLookupError  # a zombie, whose status is read by another process


def test_ctrl_c_in_a_terminal_reaches_the_script_once(folder: Path) -> None:
    (folder / "x.py").write_text(
        "import time\ntry:\n    print('ready', input(), flush=True)\n    time.sleep(600)\n"
        "finally:\n    print('cleaning', flush=True)\n    input()\n    time.sleep(0.5)\n    print('cleaned up')\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "hatbox", "run", "x.py", "--permission", "tabs"])
    with os.fdopen(terminal, "r+b", buffering=0) as stream:
        output = b""

        def read_until(text: bytes) -> None:
            nonlocal output
            while text not in output:
                data = stream.read(1024)
                if not data:
                    raise OSError
                output += data

        stream.write(b"typed\n")
        read_until(b"ready typed")
        os.kill(pid, signal.SIGSTOP)  # so that the command handles its own signal after the script
        stream.write(b"\x03")
        read_until(b"cleaning")
        os.kill(pid, signal.SIGCONT)
        stream.write(b"\n")
        with contextlib.suppress(OSError):  # the terminal is closed
            read_until(b"cleaned up\r\nnothing more")
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert output.endswith(b"cleaned up\r\n")
    assert b"hatbox:" not in output


def test_a_script_with_a_grant_has_what_the_grant_allows_and_never_its_token(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = cli("grant", "create", "--identity", "Work", "--action", "tabs", "--json", "--", "a report").json
    monkeypatch.setenv("REPORT_TOKEN", f" {created['token']}\r\n")  # as some programs read it from a file
    (folder / "x.py").write_text(
        "import os\nprint([each['name'] for each in await browser.contextualIdentities.query({})])\n"
        "print('REPORT_TOKEN' in os.environ, dir(browser))\n"
        "await browser.cookies.getAll({})\n"
    )
    result = run_process("run", "x.py", "--grant", "REPORT_TOKEN")
    assert result.out == "['Work']\nFalse ['contextualIdentities', 'cookies', 'tabs']\n"
    assert (result.status, result.err.splitlines()[0]) == (
        1,
        "hatbox: x.py, line 4: PermissionDenied: cookies.getAll needs a grant with cookieValues or cookies: "
        "hatbox grant create --action cookieValues",
    )
    cli("grant", "revoke", created["grant"]["id"])
    revoked = run_process("run", "x.py", "--grant", "REPORT_TOKEN", "--json")
    assert (revoked.status, revoked.out, revoked.error["type"]) == (1, "", "GrantRevoked")
    assert "NO_SUCH_VARIABLE has no token" in cli("run", "x.py", "--grant", "NO_SUCH_VARIABLE").err
    assert "one of" in cli("run", "x.py", "--grant", "REPORT_TOKEN", "--permission", "tabs").err


WAITING = """
import asyncio
browser.tabs.onCreated.addListener(print)
try:
    print("ready", flush=True)
    await asyncio.Event().wait()
finally:
    print("cleaned up")
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(("text", "last"), [(WAITING, b"cleaned up\n"), (STUBBORN, b"")], ids=["waiting", "stubborn"])
def test_a_script_ends_with_its_grant_and_the_command_says_so(
    cli: Cli, program: Start, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, last: bytes
) -> None:
    created = cli("grant", "create", "--identity", "Work", "--action", "tabs", "--json").json
    monkeypatch.setenv("TOKEN", created["token"])
    (folder / "x.py").write_text(text)
    process = program("run", "x.py", "--grant", "TOKEN", "--json")
    assert process.stdout and process.stderr
    assert process.stdout.readline() == b"ready\n"
    grant = created["grant"]["id"]
    assert cli("grant", "revoke", grant).status == 0
    assert (process.wait(120), process.stdout.read()) == (1, last)
    error = msgspec.json.decode(process.stderr.read())["error"]
    assert error["type"] == "GrantRevoked"
    assert error["message"].startswith(f"x.py was ended: the grant {grant} was revoked")
