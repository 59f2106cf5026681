"""The command ui: serves the manager page, and opens it in the default browser."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from hatbox import child_processes
from hatbox.cli.arguments.parameters import Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.program_end import stop_on_signals
from hatbox.cli.terminal.command_errors import CommandError, port_error
from hatbox.cli.terminal.foreground import log_to_stderr
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.errors import MissingExtra
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.ui.served_profile import ServerRecord
    from hatbox.ui.server import ManagerServer

__all__ = ["open_in_browser", "ui"]

_GRACE_SECONDS: Final = 5.0  # a page that is reloaded is back by then
_OPEN_IN_BROWSER: Final = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def ui(
    no_open: Annotated[bool, Option("--no-open", help="Print the link, and open no browser.")] = False,
    port: Annotated[
        int | None,
        Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Port of the server; 0 is a new one. Default: that of the last server of the profile, if Ctrl-C or a "
            "crash has ended it and the port is free; else a new one.",
        ),
    ] = None,
    stay: Annotated[bool, Option("--stay", help="Run until Ctrl-C, also when no page is open.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the manager page: see and change identities, tabs, cookies, rules and extensions in your browser.

    The server accepts connections from this machine only, and on Linux from this user only. The link works once, within
    ten minutes: it gives the browser that opens it a cookie. Run `hatbox ui` again for another link, also while it is
    running. It ends with Ctrl-C, or when its last page was closed. After Ctrl-C, open pages continue when it is started
    again.
    """
    opened = open_profile(profile)

    async def run() -> None:
        with stop_on_signals(as_json=as_json) as end:
            end.save_with(opened.save)
            async with opened:
                await _serve(opened, port, should_open=not no_open, stay=stay, as_json=as_json)

    with log_to_stderr(as_json=as_json):
        asyncio.run(run())


async def _serve(opened: Profile, port: int | None, *, should_open: bool, stay: bool, as_json: bool) -> None:
    try:
        from hatbox.ui.served_profile import ServedProfile
        from hatbox.ui.server import ManagerServer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingExtra("ui", error.name.partition(".")[0]) from error
    served = ServedProfile(opened.store)
    while running := await served.take(_note_wait):
        if port and port != running.port:
            raise _other_port_error(port, running)
        if link := served.create_link(running):
            await _show_link(link, running, should_open=should_open, as_json=as_json)
            _explain(running, stay=stay)
            return
    try:
        create = partial(ManagerServer, opened, served=served, stays=stay, survives=port != 0)
        server = await _start(create, port, served.keys.last_port)
        try:
            await _show_link(server.create_link(), server.record, should_open=should_open, as_json=as_json)
            if stay:
                await asyncio.Event().wait()
            await server.wait_until_unused(_GRACE_SECONDS)
        finally:
            await server.stop()
    finally:
        # The next server runs calls again of which it finds no record, so queued writes have to be committed first.
        await opened.close()
        await served.release()


async def _start(create: Callable[..., ManagerServer], port: int | None, last_port: int) -> ManagerServer:
    """Start a server on this port; without one on that of the last server, whose pages then continue, or on any."""
    server = create(port=last_port if port is None else port)
    try:
        await server.start()
    except OSError as error:
        if port is not None:
            raise port_error(port, error) from error
        server = create(port=0)
        await server.start()
    return server


async def _show_link(link: str, server: ServerRecord, *, should_open: bool, as_json: bool) -> None:
    if as_json:
        print_json_line({"event": "ready", "link": link, "port": server.port, "process": server.process}, sys.stdout)
    else:
        print_line(f"The manager page (the link works once): {link}", sys.stdout)
        if sys.stdout.isatty() and server.process == os.getpid():
            print_line("Press Ctrl-C to stop.", sys.stdout)
    sys.stdout.flush()
    if should_open and not await asyncio.to_thread(open_in_browser, link):
        print_line("No browser was found. Open the link yourself.", sys.stderr)


def _note_wait(process: str) -> None:
    notice = f"Waiting for {process}, which starts or ends the manager page. Press Ctrl-C to stop waiting."
    print_line(notice, sys.stderr)


def _explain(running: ServerRecord, *, stay: bool) -> None:
    """Say why the command ends although the page is open."""
    print_line(f"Process {running.process} serves it already, on port {running.port}.", sys.stderr)
    if stay and not running.stays:
        print_line(
            "It ends when its last page was closed. To keep it, end that process, and run `hatbox ui --stay`.",
            sys.stderr,
        )


def _other_port_error(port: int, running: ServerRecord) -> CommandError:
    return CommandError(
        "AlreadyServed",
        f"port {port} cannot be used: process {running.process} serves the manager page of this profile on port "
        f"{running.port}. Run `hatbox ui` without --port for a link to it, or end that process first.",
    )


def open_in_browser(url: str) -> bool:
    """Whether a browser was found. In a process of its own: the browser must not have the key of the profile."""
    environment = child_processes.foreign_environment()
    command = [sys.executable, "-I", "-c", _OPEN_IN_BROWSER, url]
    return subprocess.run(command, check=False, env=environment).returncode == 0  # noqa: S603 - this Python
