from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hatbox.extensions.runtime.sandbox import Layers, required
from tests.cli.conftest import Cli
from tests.engines.chromium.conftest import browser as browser
from tests.engines.chromium.conftest import display as display
from tests.site import Site

MANIFEST = {"manifest_version": 2, "name": "Hats", "version": "1.2", "background": {"scripts": ["background.js"]}}


def extension_in(folder: Path, background: str, /, **manifest: object) -> Path:
    folder.mkdir()
    gecko = {"gecko": {"id": f"{folder.name}@site.example"}}
    (folder / "manifest.json").write_text(
        json.dumps({**MANIFEST, "browser_specific_settings": gecko, "name": folder.name, **manifest})
    )
    (folder / "background.js").write_text(background)
    return folder


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`hatbox run` in a process of its own, which is ended by Ctrl-C."""
    command = [sys.executable, "-m", "hatbox", "run", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def lines_until(process: subprocess.Popen[str], last: str) -> list[str]:
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if last in line:
            return lines
    raise AssertionError(f"{last!r} was never output: {lines}, {process.stderr.read() if process.stderr else ''}")


@pytest.mark.process
def test_several_extensions_run_at_once_and_speak_with_each_other(tmp_path: Path) -> None:
    one = extension_in(
        tmp_path / "one",
        "browser.runtime.onMessageExternal.addListener(async (message, sender) => {"
        "  console.log(message, sender.id); return 'pong'; });",
    )
    two = tmp_path / "two.xpi"
    folder = extension_in(
        tmp_path / "two", "browser.runtime.sendMessage('one@site.example', 'ping').then(a => console.log('got', a));"
    )
    with zipfile.ZipFile(two, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    with running(str(one), str(two)) as process:
        lines = lines_until(process, "got pong")
    assert any(line.startswith("one: ping two@site.example") for line in lines)
    assert "one: 1.2 (one@site.example) is running" in lines
    assert process.returncode == 0


@pytest.mark.process
def test_an_error_of_a_script_is_reported_with_file_and_line(tmp_path: Path) -> None:
    place = extension_in(tmp_path / "broken", "\n\nnobody.home();\n")
    with running(str(place)) as process:
        lines_until(process, "is running")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        output = process.stderr.read()
    assert "nobody is not defined" in output
    assert "background.js:3:" in output


@pytest.mark.process
def test_a_script_may_wait_for_a_tab_before_it_goes_on(tmp_path: Path) -> None:
    with Site() as site:
        place = extension_in(
            tmp_path / "waiting",
            "const loaded = new Promise(done => browser.tabs.onUpdated.addListener((_, changed) => {"
            "  if (changed.status === 'complete') done(); }));"
            f"await browser.tabs.create({{url: '{site.url('/page/1')}'}}); await loaded; console.log('loaded');",
            background={"scripts": ["background.js"], "type": "module"},
        )
        with running(str(place), "--profile", str(tmp_path / "profile.db")) as process:
            lines_until(process, "loaded")


@pytest.mark.deno
def test_a_profile_that_cannot_be_opened_leaves_no_process_behind(cli: Cli, tmp_path: Path) -> None:
    place = extension_in(tmp_path / "early", "")
    (tmp_path / "profile.db").write_text("no profile")
    result = cli("run", str(place), "--profile", str(tmp_path / "profile.db"))
    assert (result.status, result.out) == (1, "")
    assert "profile.db" in result.err
    children = Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children")
    if children.exists():
        assert children.read_text() == ""


@pytest.mark.process
def test_with_inspect_devtools_can_attach(tmp_path: Path) -> None:
    place = extension_in(tmp_path / "inspected", "")
    with running(str(place), "--inspect") as process:
        *_, address, warning = lines_until(process, "sockets")
    found = re.search(r"attach to ws://(127\.0\.0\.1:\d+/\S{43}): open devtools://\S+&ws=(\S+) in Chrome", address)
    assert found is not None
    assert found[1] == found[2]
    assert "secret" in warning


def test_where_the_whole_sandbox_is_required_and_missing_nothing_runs(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = extension_in(tmp_path / "walled", "console.log('it runs')")
    missing = Layers(no_new_privs=True, seccomp=True, missing=("Landlock (Function not implemented)",))
    monkeypatch.setattr(required, "available_layers", lambda: missing)
    result = cli("run", str(place), "--require-sandbox")
    assert (result.status, result.out) == (1, "")
    assert "the sandbox is required, and not complete: no new privileges, seccomp; no Landlock" in result.err
    (tmp_path / "script.py").write_text("")
    assert cli("run", str(tmp_path / "script.py"), "--require-sandbox").status == 2


def test_bad_extensions_are_reported_before_anything_runs(cli: Cli, tmp_path: Path) -> None:
    result = cli("run", str(tmp_path))
    assert (result.status, result.out) == (1, "")
    assert "no manifest.json" in result.err
    place = extension_in(tmp_path / "bad", "", background={"service_worker": "gone.js"})
    result = cli("run", str(place))
    assert result.status == 1
    assert "gone.js" in result.err


@pytest.mark.process
def test_a_missing_background_script_is_a_warning(tmp_path: Path) -> None:
    place = extension_in(
        tmp_path / "lacking", "console.log('ran')", background={"scripts": ["gone.js", "background.js"]}
    )
    with running(str(place)) as process:
        lines_until(process, "ran")
        assert process.stderr is not None
        assert '"gone.js" is not in the extension' in process.stderr.readline()


@pytest.mark.parametrize("option", [["--permission", "cookies"]])
def test_an_extension_is_given_no_other_permissions(cli: Cli, tmp_path: Path, option: list[str]) -> None:
    place = extension_in(tmp_path / "asking", "")
    result = cli("run", str(place), *option)
    assert result.status == 2
    assert "has the permissions of its manifest" in result.err


def test_a_script_cannot_be_inspected(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("")
    assert cli("run", str(script), "--inspect").status == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--background", "chromium"], "chromium needs --engine chromium too"),
        (["--background", "firefox"], "unknown place: firefox. Allowed values: deno, chromium"),
    ],
)
def test_a_background_runs_only_where_it_can(cli: Cli, tmp_path: Path, options: list[str], message: str) -> None:
    result = cli("run", str(extension_in(tmp_path / "page", "")), *options)
    assert result.status == 2
    assert message in result.err


def test_a_script_has_no_background(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("")
    assert cli("run", str(script), "--background", "deno").status == 2


@pytest.mark.browser
@pytest.mark.parametrize(("options", "output"), [([], "object: Page"), (["--background", "deno"], "undefined: ")])
def test_a_background_page_has_a_document_with_the_chromium_engine(
    display: None, tmp_path: Path, options: list[str], output: str
) -> None:
    script = "console.log(`${typeof document}: ${globalThis.document?.title ?? ''}`);"
    place = extension_in(tmp_path / "page", script, background={"page": "page.html"})
    (place / "page.html").write_text("<!doctype html><title>Page</title><script src=background.js></script>")
    with running(str(place), "--engine", "chromium", *options) as process:
        assert any(output in line for line in lines_until(process, "is running"))


@pytest.mark.process
def test_console_output_has_the_name_and_the_location_in_the_folder(tmp_path: Path) -> None:
    place = extension_in(tmp_path / "folder", "\nconsole.log(browser.runtime.getURL('x'));", name="A hat")
    with running(str(place)) as process:
        first, *_ = lines_until(process, "is running")
    assert re.fullmatch(r"A hat: moz-extension://[0-9a-f-]{36}/x \(background\.js:2:9\)", first)


@pytest.mark.process
def test_an_extension_that_is_installed_is_run_by_its_name_or_id(cli: Cli, tmp_path: Path) -> None:
    place = extension_in(tmp_path / "hat", "console.log('here');", name="A hat")
    assert cli("extensions", "install", str(place)).status == 0
    for name in ("A hat", "hat@site.example"):
        with running(name) as process:
            lines_until(process, "A hat: here")
    result = cli("run", "A hut")
    assert (result.status, result.err) == (1, 'hatbox: extension not found: "A hut". Did you mean "A hat"?\n')


@pytest.mark.parametrize("bad", ["nowhere/at/all", "nobody", "bad", "one"])
def test_of_several_none_runs_where_one_cannot(cli: Cli, tmp_path: Path, bad: str) -> None:
    one = extension_in(tmp_path / "one", "console.log('it ran');")
    broken = extension_in(tmp_path / "bad", "", version=None)
    problems = {
        "nowhere/at/all": "nowhere/at/all: no such folder or file",
        "nobody": 'extension not found: "nobody"',
        "bad": f"{broken}: manifest.json: version: ",
        "one": f"{one} and {one} are the same extension, one@site.example. Pass only one of them.",
    }
    result = cli("run", str(one), str(tmp_path / bad) if bad in ("bad", "one") else bad)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"hatbox: {problems[bad]}")


@pytest.mark.process
def test_what_is_run_by_its_name_is_what_was_installed(cli: Cli, tmp_path: Path) -> None:
    folder = extension_in(tmp_path / "hats", "console.log('installed');")
    assert cli("extensions", "install", str(folder)).status == 0
    (folder / "background.js").write_text("console.log('edited');")
    with running("hats") as process:
        assert lines_until(process, "is running")[0].startswith("hats: installed ")
    with running(str(folder)) as process:
        assert lines_until(process, "is running")[0].startswith("hats: edited ")


@pytest.mark.process
def test_a_folder_with_the_id_of_an_installed_extension_runs_with_a_warning(cli: Cli, tmp_path: Path) -> None:
    folder = extension_in(tmp_path / "hats", "localStorage.password = 'secret';")
    assert cli("extensions", "install", str(folder)).status == 0
    gecko = {"gecko": {"id": "hats@site.example"}}
    impostor = extension_in(tmp_path / "impostor", "console.log({...localStorage});", browser_specific_settings=gecko)
    with running("hats") as process:
        lines_until(process, "is running")
    with running(str(impostor)) as process:
        assert lines_until(process, "is running")[0].startswith("impostor: {}")
        assert process.stderr is not None
        assert process.stderr.readline() == (
            f"impostor: hats is installed with this id, from {folder}; this one runs with separate data\n"
        )


@pytest.mark.process
def test_it_ends_when_what_runs_is_removed_from_another_terminal(cli: Cli, tmp_path: Path) -> None:
    place = extension_in(tmp_path / "hat", "")
    command = [sys.executable, "-m", "hatbox", "run", str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines_until(process, "is running")
            assert cli("extensions", "remove", "hat", "--yes").status == 0
            _, output = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, output) == (0, "hat: stopped (it was removed); not restarting\n")


_ASKS = """
  browser.browserAction.onClicked.addListener(async () => {
    console.log("granted", await browser.permissions.request({permissions: ["bookmarks"]}));
  });
  console.log("ready");
"""


@pytest.mark.process
def test_a_request_for_permissions_without_a_terminal_is_denied_with_the_command_that_grants_it(
    cli: Cli, tmp_path: Path
) -> None:
    asks = extension_in(tmp_path / "asks", _ASKS, optional_permissions=["bookmarks"], browser_action={})
    with running(str(asks)) as process:
        lines_until(process, "ready")
        assert cli("extensions", "trigger", "asks", "action").status == 0
        lines_until(process, "granted false")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    command = "hatbox extensions permissions 'asks' --grant 'bookmarks'"
    assert f"asks: denied the request for bookmarks. To grant it: {command}\n" in said


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
@pytest.mark.parametrize(("answer", "granted"), [(b"y\n", "true"), (b"\n", "false")])
def test_in_a_terminal_the_user_is_asked_for_permissions(answer: bytes, granted: str, cli: Cli, tmp_path: Path) -> None:
    asks = extension_in(tmp_path / "asks", _ASKS, optional_permissions=["bookmarks"], browser_action={})
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "hatbox", "run", str(asks)]
    try:
        with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
            read_until(ours, "ready")
            assert cli("extensions", "trigger", "asks", "action").status == 0
            asked = read_until(ours, "[y/N] ")
            os.write(ours, answer)
            assert f"granted {granted}" in read_until(ours, f"granted {granted}")
            process.send_signal(signal.SIGINT)
            process.wait(60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert "asks requests: bookmarks" in asked


def read_until(terminal: int, last: str) -> str:
    """What a terminal shows, up to this text."""
    shown = ""
    while last not in shown:
        shown += os.read(terminal, 10_000).decode()
    return shown
