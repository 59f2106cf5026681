"""Scripts that try to reach the profile, to stop the command, or to outlive it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.extensions.runtime.sandbox import available_layers
from hatbox.extensions.runtime.sandbox.kernel import prctl
from hatbox.maintenance import create_profile
from tests.cli.commands.run.permitted.conftest import Permitted
from tests.cli.conftest import Cli
from tests.postgres import sqlite_file
from tests.waiting import block_until

pytestmark = pytest.mark.process

with_landlock = pytest.mark.skipif(not available_layers().landlock, reason="the kernel has no Landlock")

# `attempt` prints what has not been refused: nothing, if the border holds.
PRELUDE = """
import contextlib, gc, os, pathlib, subprocess, sys
PROFILE, PARENT = sys.argv[1], f"/proc/{os.getppid()}"

def attempt(what, action):
    try:
        print(what, action())
    except (OSError, ValueError, subprocess.CalledProcessError):
        pass

def content(path):
    return open(path, "rb").read(10)
"""

NO_PROFILE = """
assert not [name for name in sys.modules if name.startswith(("hatbox.profile", "hatbox.store.", "sqlite3"))]
for each in gc.get_objects():
    assert not type(each).__module__.startswith(("hatbox.profile", "hatbox.store", "sqlite3", "hatbox.identities"))
assert PROFILE not in "".join([*os.environ, *os.environ.values(), *sys.orig_argv, *sys.path])
assert not [name for name in os.environ if name.startswith(("HATBOX_PROFILE", "HATBOX_KEY", "HATBOX_PASSPHRASE"))]
opened = [os.readlink(path) for path in pathlib.Path("/proc/self/fd").iterdir() if os.path.lexists(path)]
assert not [path for path in opened if PROFILE in path or ".db" in path], opened
"""

FILES = """
folder = os.path.dirname(PROFILE)
for path in (PROFILE, f"{PROFILE}-wal", f"{PROFILE}-shm", f"{PROFILE}-lock", *sys.argv[2:]):
    assert os.path.exists(path), path
    attempt(path, lambda: content(path))
    attempt("write " + path, lambda: os.open(path, os.O_WRONLY))
    attempt("truncate " + path, lambda: os.truncate(path, 0))
    attempt("remove " + path, lambda: os.remove(path))
    attempt("rename " + path, lambda: os.rename(path, "stolen"))
    attempt("hard link " + path, lambda: os.link(path, "stolen"))
os.symlink(PROFILE, "link")
os.symlink(folder, "folder")
name = os.path.basename(PROFILE)
for path in ("link", f"folder/{name}", f"../{name}", f"/proc/self/root{PROFILE}", f"/proc/self/cwd/../{name}",
             f"{PARENT}/root{PROFILE}", f"{PARENT}/cwd/../{name}", f"{PARENT}/mem", f"{PARENT}/maps",
             f"{PARENT}/environ", f"{PARENT}/auxv", *(f"{PARENT}/fd/{number}" for number in range(64))):
    attempt(path, lambda: content(path))
for number in range(64):
    attempt(number, lambda: os.readlink(f"{PARENT}/fd/{number}"))
attempt("cat", lambda: subprocess.run(["cat", PROFILE], check=True, capture_output=True))
attempt("rename folder", lambda: os.rename(folder, folder + "2"))
attempt("mount", lambda: subprocess.run(["unshare", "-Urm", "cat", PROFILE], check=True, capture_output=True))
"""

# The next command would run what is written here. If it succeeds, nothing stays.
INSTALLED = """
import hatbox, sysconfig
for folder in (os.path.dirname(hatbox.__file__), sysconfig.get_path("purelib"), sysconfig.get_path("scripts")):
    name = f"{folder}/written-by-a-test"
    attempt("create in " + folder, lambda: (open(name, "x").close(), os.remove(name)))
    attempt("folder in " + folder, lambda: (os.mkdir(name), os.rmdir(name)))
    attempt("link in " + folder, lambda: (os.symlink("x", name), os.remove(name)))
    attempt("rename " + folder, lambda: (os.rename(folder, folder + "2"), os.rename(folder + "2", folder)))
attempt("write " + hatbox.__file__, lambda: os.open(hatbox.__file__, os.O_WRONLY))
assert content(hatbox.__file__)
"""

USUAL = """
import tempfile
pathlib.Path("new").write_text("new")
assert pathlib.Path("new").read_text() == "new"
os.rename("new", "renamed"), os.remove("renamed"), os.mkdir("subfolder")
pathlib.Path("../beside").write_text(pathlib.Path("../beside").read_text() + " and written")
assert tempfile.TemporaryFile("w").write("x") == 1
assert tempfile.mkdtemp() and subprocess.run(["true"]).returncode == 0
assert "x.py" in os.listdir() and os.path.basename(PROFILE) in os.listdir("..")
print("usual")
"""


def _drop_capabilities() -> None:
    """As for a user. Of root's capabilities, CAP_PERFMON reads the memory of all processes, and no sandbox takes it."""
    if os.geteuid() == 0:
        for number in range(64):
            with contextlib.suppress(OSError):
                prctl(24, number)  # PR_CAPBSET_DROP: has an effect when Python is executed


@with_landlock
def test_a_script_reaches_neither_the_profile_nor_its_files(
    permitted: Permitted, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    data, key, state = tmp_path / "share" / "hatbox", tmp_path / "keys" / "key", tmp_path / "state" / "hatbox"
    backup = tmp_path / "backups" / "all.hatbox"
    for path in (data, key.parent, state, backup.parent):
        path.mkdir(parents=True)
    backup.write_text("secret")
    create_profile(str(data / "profile.db"))
    (tmp_path / "beside").write_text("read")
    key.write_text("secret")
    key.chmod(0o600)
    (state / "ui-token").write_text("secret")
    monkeypatch.setenv("XDG_DATA_HOME", str(data.parent))
    monkeypatch.setenv("HATBOX_NEW_KEY_FILE", str(key))
    monkeypatch.setenv("HATBOX_PASSPHRASE", "secret")
    before = cli("list").out
    text = PRELUDE + NO_PROFILE + FILES + INSTALLED + USUAL
    files = (str(data / "profile.db"), str(key), str(state / "ui-token"), str(backup))
    result = permitted(text, str(sqlite_file(profile)), *files, permission="tabs", preexec_fn=_drop_capabilities)
    assert result == (0, "usual\n", "")
    assert (tmp_path / "beside").read_text() == "read and written"
    assert cli("list").out == before


FOLDERS = """
for folder in sys.argv[2:]:
    attempt("create " + folder, lambda: os.makedirs(folder, exist_ok=True))
    attempt("create in " + folder, lambda: open(folder + "/new", "x"))
pathlib.Path("new").write_text("usual")
print(pathlib.Path("new").read_text())
"""


@with_landlock
@pytest.mark.parametrize("has_parents", [False, True])
def test_a_script_creates_no_folder_of_hatbox_that_does_not_exist_yet(
    permitted: Permitted, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_parents: bool
) -> None:
    """In a new home folder: the next command would use what is in them."""
    home = tmp_path / "home"
    folders = {name: home / name.lower() for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(folder))
        if has_parents:
            folder.mkdir(parents=True)
    monkeypatch.setenv("HATBOX_CACHE", str(home / "packages"))
    paths = [*(str(folder / "hatbox") for folder in folders.values()), os.environ["HATBOX_CACHE"]]
    result = permitted(PRELUDE + FOLDERS, str(sqlite_file(profile)), *paths, permission="tabs")
    assert result.out == "usual\n"
    assert not [each for each in paths if Path(each).exists()]


@with_landlock
def test_a_profile_is_not_opened_and_no_file_is_created_beside_it_and_the_errors_say_why(
    permitted: Permitted, profile: Path, tmp_path: Path
) -> None:
    result = permitted(
        "import hatbox\nasync with hatbox.open(__import__('sys').argv[1]):\n    print('open')\n", str(profile)
    )
    assert (result.status, result.out) == (1, "")
    assert "ProfileReadOnly" in result.err
    assert "hidden from scripts with --permission or --grant. Use `browser`" in result.err
    result = permitted("open('../new', 'w')\n")
    assert (result.status, result.out) == (1, "")
    assert f"{tmp_path} contains files of Hatbox. There, this script can only use what exists." in result.err


RAW = """
import os, struct, sys
connection = browser._dispatcher._connection
descriptor = connection._transport.get_extra_info("socket").fileno()
def send(data):
    os.set_blocking(descriptor, True)
    os.write(descriptor, struct.pack("<I", len(data)) + data)
"""
ENDED = "hatbox: x.py was ended, because it misused its browser: "


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("os.write(descriptor, b'\\xff' * 64)", "frame of 4294967295 bytes exceeds the limit of 8388608"),
        ("send(b'[' * 100_000)", "frame is not JSON"),
        ('send(b\'[["c", "1", 2, {}]]\')', "invalid message: ['c', '1', 2, {}]"),
    ],
)
def test_garbage_on_the_socket_ends_the_script_and_not_the_command(
    permitted: Permitted, cli: Cli, text: str, reason: str
) -> None:
    result = permitted(f"{RAW}{text}\nimport time\ntime.sleep(600)\n")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(ENDED + reason), result.err
    assert "Work" in cli("list").out


def test_floods_and_large_messages_are_bounded(permitted: Permitted) -> None:
    """Calls wait for their turns; a message that is too large is an error of the script, before it is sent."""
    text = """
import asyncio
api = browser.contextualIdentities
found = await asyncio.gather(*(api.query({}) for _ in range(3000)))
print(len(found), {len(each) for each in found})
try:
    await api.query({"name": "x" * (9 << 20)})
except Exception as error:
    print(type(error).__name__, error, flush=True)
listeners = [lambda _: None for _ in range(2100)]
for each in listeners:
    api.onCreated.addListener(each)
await api.query({})
"""
    result = permitted(text)
    assert result.out.splitlines()[0] == "3000 {4}"
    assert result.out.splitlines()[1].startswith("ArgumentError the arguments have 94")
    assert (result.status, result.err) == (1, f"{ENDED}too many listeners, or a listener id in use\n")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only on Linux")
def test_processes_that_a_script_leaves_behind_end_with_it(permitted: Permitted, folder: Path) -> None:
    text = """
import os, subprocess, sys
started = [subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
apart = subprocess.Popen(
    ["sh", "-c", "sleep 600 & echo $!"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
)
print(*(each.pid for each in started), int(apart.stdout.readline()))
sys.stdout.flush()
os._exit(3)
"""
    result = permitted(text)
    assert result.status == 3
    for pid in map(int, result.out.split()):
        block_until(lambda pid=pid: not _is_running(pid), str(pid))  # type: ignore[misc]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only on Linux")
@pytest.mark.parametrize("has_sandbox", [False, True], ids=["", "in-a-sandbox"])
def test_jobs_of_the_shell_that_has_become_the_command_go_on(folder: Path, has_sandbox: bool) -> None:
    """A shell executes its last command in place of itself, so its jobs are children of the command."""
    (folder / "x.py").write_text(
        "import os, subprocess\n"
        "left = subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(left.pid, flush=True)\n"
        "open('end').read()\n"  # waits for the test
    )
    os.mkfifo(folder / "end")
    os.mkfifo(folder / "orphan")
    os.mkfifo(folder / "both")
    # The second job becomes an orphan, and so a child of the command, while the script runs.
    jobs = "sleep 600 & echo $!; sh -c 'sleep 600 & echo $!; echo > both; cat orphan' & cat both >&2;"
    command = f"exec {sys.executable} -m hatbox run --permission tabs x.py"
    shell = subprocess.Popen(
        ["sh", "-c", f"{jobs} {command}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=_set_no_new_privileges if has_sandbox else None,
    )
    assert shell.stdout
    started = [int(shell.stdout.readline()) for _ in range(2)]
    left = int(shell.stdout.readline())
    try:
        children = Path(f"/proc/{shell.pid}/task/{shell.pid}/children")
        with (folder / "end").open("w"):  # the script runs
            (folder / "orphan").write_text("")
            block_until(lambda: {*map(str, started)} <= {*children.read_text().split()}, "the orphan is adopted")
        assert shell.wait(60) == 0
        assert [_is_running(pid) for pid in (*started, left)] == [True, True, False]
    finally:
        shell.kill()
        shell.wait()
        shell.stdout.close()
        for pid in (*started, left):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _set_no_new_privileges() -> None:
    prctl(38, 1)  # PR_SET_NO_NEW_PRIVS


def _is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except OSError:
        return False
