"""The command demo: one site, two identities, several clients. Uses a temporary profile."""

from __future__ import annotations

import asyncio
import errno
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from hatbox.cli.arguments.parameters import Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption
from hatbox.cli.program_end import stop_on_signals
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json, print_json_line, print_line
from hatbox.cli.terminal.spinner import spinner
from hatbox.cli.terminal.table import Cell, print_table
from hatbox.errors import EngineError, MissingExtra
from hatbox.maintenance import create_profile
from hatbox.profile import Profile
from hatbox.testing.demo_site import DemoSite

__all__ = ["demo"]

_PORT: Final = 8000
_USERS: Final = {"Work": "alice", "Personal": "bob"}
_BROWSER: Final = "Chromium"


def demo(
    serve: Annotated[bool, Option("--serve", help="Only run the demo site, until Ctrl-C.")] = False,
    port: Annotated[
        int | None,
        Option(
            "--port",
            metavar="NUMBER",
            min=0,
            max=65535,
            help=f"Port of the site; 0 chooses a free one. Default: {_PORT} with --serve, else a free one.",
        ),
    ] = None,
    profile: ProfileOption = None,  # noqa: ARG001 - as every command
    as_json: JsonOption = False,
) -> None:
    """Sign in to a demo site as two people at once, with several clients, and print who each of them is.

    The site runs on loopback, and the profile is temporary: your own profile is not used. With --serve, the site runs
    until Ctrl-C, for your own commands: /login?user=NAME signs in with a session cookie, /me shows the user.
    """
    with _site(port if port is not None else _PORT if serve else 0) as site:
        if serve:
            asyncio.run(_serve(site, as_json=as_json))
        else:
            with spinner("Signing in"):
                users, skipped = asyncio.run(_sign_in(site))
            _print_result(site, users, skipped, as_json=as_json)


def _site(port: int) -> DemoSite:
    try:
        return DemoSite(port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            cause, remedy = "is used by another program", "Stop that program, or choose another port"
        else:
            cause, remedy = f"cannot be used: {error.strerror}", "Choose another port"
        message = f"port {port} {cause}. {remedy}: hatbox demo --serve --port {port + 1 if port < 65535 else _PORT}"
        raise CommandError("PortNotAvailable", message, details={"port": port}) from error


async def _serve(site: DemoSite, *, as_json: bool) -> None:
    with stop_on_signals():
        if as_json:
            print_json_line({"event": "ready", "url": site.url}, sys.stdout)
        else:
            print_line(f"The demo site is running at {site.url}, until Ctrl-C.", sys.stdout)
            sys.stdout.flush()
        await asyncio.Event().wait()


async def _sign_in(site: DemoSite) -> tuple[dict[str, dict[str, str]], str]:
    """Sign in with `hatbox fetch`. Returns the users that each client sees, and why Chromium was skipped."""
    with tempfile.TemporaryDirectory(prefix="hatbox-demo-") as folder:
        path = Path(folder) / "profile.db"
        create_profile(path)
        await asyncio.gather(*(_fetch(path, name, f"{site.url}/login?user={_USERS[name]}") for name in _USERS))
        fetched = await asyncio.gather(*(_fetch(path, name, f"{site.url}/me") for name in _USERS))
        users = {"hatbox fetch": dict(zip(_USERS, fetched, strict=True))}
        async with Profile(path) as profile:
            users["httpx"] = {name: await _user_of_httpx(profile, name, site) for name in _USERS}
            try:
                users[_BROWSER] = await _users_of_chromium(profile, site)
            except (MissingExtra, EngineError) as error:
                return users, str(error)
        return users, ""


async def _fetch(profile: Path, identity: str, url: str) -> str:
    """The output of `hatbox fetch`, as a program of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hatbox", "fetch", "--profile", str(profile), identity, url),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    if process.returncode:
        raise CommandError("DemoError", f"hatbox fetch {identity} {url} failed: {err.decode(errors='replace').strip()}")
    return out.decode().strip()


async def _user_of_httpx(profile: Profile, identity: str, site: DemoSite) -> str:
    async with profile.httpx(identity) as client:
        return (await client.get(f"{site.url}/me")).text.strip()


async def _users_of_chromium(profile: Profile, site: DemoSite) -> dict[str, str]:
    users: dict[str, str] = {}
    async with profile.chromium(headless=True) as engine:
        from hatbox.engines.chromium.sessions import within  # imports Playwright, which may be missing until here

        for name in _USERS:
            page = await engine.new_page(name, f"{site.url}/me")
            users[name] = await within(page.inner_text("#user"))
    return users


def _print_result(site: DemoSite, users: Mapping[str, Mapping[str, str]], skipped: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": site.url, "users": users, "skipped": {_BROWSER: skipped} if skipped else {}}, sys.stdout)
    else:
        rows = [(Cell(client), Cell(name), Cell(user)) for client, seen in users.items() for name, user in seen.items()]
        print_table(("Client", "Identity", "Signed in as"), rows, sys.stdout)
        lines = [f"{_BROWSER} was skipped: {skipped}"] if skipped else []
        for line in ("", *lines, "Next, a site for your own commands: hatbox demo --serve"):
            print_line(line, sys.stdout)
    if any(seen != _USERS for seen in users.values()):
        raise CommandError("DemoError", f"expected {_USERS} from every client", details={"users": users})
