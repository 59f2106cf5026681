"""The command ui: serves the manager page, and opens it in the default browser."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import sys
from typing import Annotated, Final

import typer

from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.foreground import log_to_stderr, stop_on_signals
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.errors import MissingExtra
from hatbox.profile import Profile

__all__ = ["ui"]

_GRACE_SECONDS: Final = 5.0  # a page that is reloaded is back by then


def ui(
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link, and open no browser.")] = False,
    port: Annotated[
        int,
        typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port of the server. Default: any free port."),
    ] = 0,
    stay: Annotated[bool, typer.Option("--stay", help="Run until Ctrl-C, also when no page is open.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the manager page: see and change identities, tabs, cookies, rules and extensions in your browser.

    The server accepts connections from this machine only, and on Linux from this user only. The link works once, within
    ten minutes: it gives the browser that opens it a cookie. Run `hatbox ui` again for another link. It ends with
    Ctrl-C, or when its last page was closed.
    With a fixed --port, open pages continue when it is started again.
    """
    opened = open_profile(profile)

    async def run() -> None:
        with stop_on_signals():
            async with opened:
                await _serve(opened, port, should_open=not no_open, stay=stay, as_json=as_json)

    with log_to_stderr(as_json=as_json):
        asyncio.run(run())


async def _serve(opened: Profile, port: int, *, should_open: bool, stay: bool, as_json: bool) -> None:
    try:
        from hatbox.ui.server import ManagerServer
        from hatbox.ui.stored_keys import KeyFile, keys_path
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingExtra("ui", error.name.partition(".")[0]) from error
    server = ManagerServer(opened, port=port, key_file=KeyFile(keys_path(opened.store, port)) if port else None)
    try:
        await server.start()
    except OSError as error:
        raise _port_error(port, error) from error
    try:
        link = server.create_link()
        _print_link(link, server.port, as_json=as_json)
        if should_open and not await asyncio.to_thread(_open_browser, link):
            print_line("No browser was found. Open the link yourself.", sys.stderr)
        if stay:
            await asyncio.Event().wait()
        await server.wait_until_unused(_GRACE_SECONDS)
    finally:
        await server.stop()


def _print_link(link: str, port: int, *, as_json: bool) -> None:
    if as_json:
        print_json_line({"event": "ready", "link": link, "port": port}, sys.stdout)
    else:
        print_line(f"The manager page, once: {link}", sys.stdout)
        if sys.stdout.isatty():
            print_line("Press Ctrl-C to stop.", sys.stdout)
    sys.stdout.flush()


def _open_browser(link: str) -> bool:
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        return webbrowser.open(link)
    return False


def _port_error(port: int, error: OSError) -> CommandError:
    if error.errno == errno.EADDRINUSE:
        reason = "another program uses it"
    elif error.errno == errno.EACCES:
        reason = "only root may use it"
    else:
        reason = error.strerror or str(error)
    return CommandError(
        "PortUnavailable", f"port {port} cannot be used: {reason}. Choose another --port, or none for any free port."
    )
