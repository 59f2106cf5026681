"""The command endpoint: serves one identity to programs that speak the Chrome DevTools Protocol."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from hatbox.cli.arguments.agent_options import existing_folder
from hatbox.cli.arguments.engine_options import BrowserOption, HeadlessOption, select_engine
from hatbox.cli.arguments.identity_arguments import find_identity
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.arguments.time_arguments import parse_duration
from hatbox.cli.commands.endpoint_background import check_output, start_endpoint
from hatbox.cli.program_end import stop_on_signals
from hatbox.cli.terminal.command_errors import port_error
from hatbox.cli.terminal.foreground import log_to_stderr
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.cli.terminal.spinner import spinner
from hatbox.engines.endpoint_grants import ENDPOINT_ACTIONS, check_endpoint_grant
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.endpoint_requests import RequestedEndpoint, engine_ended, request_endpoint
from hatbox.engines.running_engines import RunningEngine, busy, has_lease, is_same_engine
from hatbox.engines.selection import EngineSelection
from hatbox.errors import EngineError, GrantError, ProfileError
from hatbox.grants.grant import DEFAULT_DURATION, Grant
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.tasks import wait_for_first
from hatbox.urls.match_patterns import ALL_URLS

__all__ = ["endpoint"]

_POLL_SECONDS: Final = 1.0  # between two checks whether the engine has ended


def endpoint(
    identity: Annotated[
        str, Argument(metavar="NAME-OR-ID", help="Identity that programs may use: its name or its cookieStoreId.")
    ],
    duration: Annotated[
        str | None, Option("--for", metavar="DURATION", help="How long, such as 30m, 8h or 7d. Default: 8h.")
    ] = None,
    grant: Annotated[
        str | None,
        Option(
            "--grant",
            metavar="VARIABLE",
            help="Environment variable with the token of a grant for the identity, with the actions "
            f"{' and '.join(ENDPOINT_ACTIONS)} and the host <all_urls>. Default: a new grant, revoked at the end.",
        ),
    ] = None,
    uploads: Annotated[
        str | None,
        Option("--uploads", metavar="FOLDER", help="Programs may upload files below this folder. Default: none."),
    ] = None,
    downloads: Annotated[
        str | None,
        Option(
            "--downloads",
            metavar="FOLDER",
            help="Folder for downloads. Default: your downloads folder; with --headless, they are cancelled.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        Option(
            "--port",
            metavar="NUMBER",
            min=1,
            max=65535,
            help="Port on 127.0.0.1 where all programs of your user need no token: for programs that take only a host "
            "and a port. Only on Linux.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        Option(
            "--output",
            metavar="FILE",
            help="Serve in the background: write the address to this file, which only you can read, and return.",
        ),
    ] = None,
    headless: HeadlessOption = False,
    browser: BrowserOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let programs control one identity, and no other one: Playwright, Puppeteer, DevTools, playwright-mcp.

    Prints the address of an endpoint of the Chrome DevTools Protocol, and serves it until Ctrl-C. Programs see one
    browser with one context. The address contains the token of a grant, so it is a secret: who has it can use the
    pages and cookies of the identity. `hatbox grant revoke` ends all connections within a second, and `hatbox activity`
    lists what programs did. If a Chromium engine is running for the identity, it serves the endpoint, unless
    --browser or the wish for windows differ.

    With --output it returns when programs can connect. With --port, it prints HOST:PORT instead of the address.
    """
    if grant is not None and duration is not None:
        raise bad_parameter("a grant has a time of its own. Specify one of them", param_hint=["--grant", "--for"])
    seconds = DEFAULT_DURATION if duration is None else parse_duration(duration, "--for")
    token = None if grant is None else os.environ.get(grant, "")
    if token == "":
        raise bad_parameter(f"the environment variable {grant} has no token", param_hint="--grant")
    selection = select_engine("chromium", browser, headless=headless, no_indicator=False)
    options = EndpointOptions(
        str(existing_folder(uploads, "--uploads") or ""),
        str(existing_folder(downloads, "--downloads") or ""),
        port or 0,
    )
    file = None if output is None else check_output(output)
    opened = open_profile(profile)
    if file is not None:
        given = {
            "--for": duration,
            "--grant": grant,
            "--browser": browser,
            "--uploads": options.uploads,
            "--downloads": options.downloads,
            "--port": port,
        }
        arguments = [f"{name}={each}" for name, each in given.items() if each]
        arguments += [*(["--headless"] if headless else []), "--", identity]
        with spinner("Starting Chromium"):
            document = start_endpoint(opened, arguments, file, as_json=as_json)
        _print_background(document, file, as_json=as_json)
        return
    if grant is not None:
        del os.environ[grant]  # other programs that this one starts must not have it

    async def run() -> None:
        with stop_on_signals(as_json=as_json) as end:
            end.save_with(opened.save)
            async with opened:
                found = await find_identity(opened, identity)
                async with _granted(opened, found, token, seconds) as (allowed, secret):
                    # Clients with another grant must not use the folders of this program.
                    limited = options if options == NO_OPTIONS else msgspec.structs.replace(options, grant=allowed.id)
                    await _serve(opened, found, selection, _AddressPrinter(allowed, secret, as_json), limited)

    with log_to_stderr(as_json=as_json):
        asyncio.run(run())


@contextlib.asynccontextmanager
async def _granted(
    opened: Profile, identity: ContextualIdentity, token: str | None, seconds: float
) -> AsyncIterator[tuple[Grant, str]]:
    """The grant of the endpoint with its token. One that was created here is revoked at the end."""
    if token is not None:
        grant = await opened.grants.verify(token)
        check_endpoint_grant(grant, identity.cookie_store_id)
        yield grant, token
        return
    purpose = f"hatbox endpoint for {identity.name[:100]}, process {os.getpid()}"
    printable = "".join(each if each.isprintable() else " " for each in purpose)
    grant, token = await opened.grants.create(
        printable,
        identities=identity,
        hosts=[ALL_URLS],
        actions=ENDPOINT_ACTIONS,
        duration=seconds,
        for_process=True,
    )
    try:
        yield grant, token
    finally:
        with contextlib.suppress(GrantError, ProfileError):  # removed, or the profile cannot be reached
            await opened.grants.revoke(grant.id)


async def _serve(
    opened: Profile,
    identity: ContextualIdentity,
    selection: EngineSelection,
    printer: _AddressPrinter,
    options: EndpointOptions,
) -> None:
    """Serve the endpoint until the grant or the engine ends."""
    async with contextlib.AsyncExitStack() as serving:
        with spinner("Starting Chromium"):
            running = await _usable_engine(opened, identity, selection)
            if running is not None:  # a second browser would close the windows of the identity
                requested = await request_endpoint(opened.store, running, identity.cookie_store_id, options=options)
                serving.push_async_callback(requested.close)
                port, ended = requested.port, _wait_for_engine(opened, identity, requested)
            else:
                runner = await serving.enter_async_context(
                    opened.chromium(
                        headless=selection.headless,
                        browser=selection.browser,
                        identities=identity,
                        downloads=options.downloads or None,
                    )
                )
                try:
                    port = (await runner.open_endpoint(identity, options=options)).port
                except OSError as error:
                    raise port_error(options.port, error) from error
                ended = runner.wait_until_stopped()
        if running is not None:
            print_line(f"The endpoint is in the browser of {running.program} ({running.process}).", sys.stderr)
        printer.print(port, identity, needs_token=not options.port)
        await wait_for_first(opened.grants.ended(printer.grant.id), ended)
    opened.grants.check(printer.grant.id)  # raises, and so says why it has ended


async def _usable_engine(
    opened: Profile, identity: ContextualIdentity, selection: EngineSelection
) -> RunningEngine | None:
    """The engine that has the identity; None if one has to be started. Raises EngineBusy if its options differ."""
    if await opened.running_engine(identity) is None:
        return None
    from hatbox.engines.chromium.attachable_engine import WantedOptions, find_serving_engine, why_not_attachable

    found = await find_serving_engine(opened.store, [identity.cookie_store_id])
    if found is None:
        return None
    reason = why_not_attachable(found.engine, WantedOptions(selection.headless, selection.browser))
    if not reason:
        return found.engine
    if found.releases:
        return None
    raise busy(found.engine, reason, identity=identity.cookie_store_id, identity_name=identity.name)


async def _wait_for_engine(opened: Profile, identity: ContextualIdentity, requested: RequestedEndpoint) -> None:
    """Wait until the engine that has opened the endpoint has ended, or does not serve the identity any more."""
    engine = requested.engine
    while (running := await opened.running_engine(identity)) and is_same_engine(running, engine):  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
    if running is not None and await has_lease(opened.store, engine):
        of = f" of {running.program}" if running.program else ""
        where = f"the {running.engine} engine{of} ({running.process})"
        raise EngineError(f'the identity "{identity.name}" is in {where} now. Start this program again.')
    raise engine_ended(engine)


class _AddressPrinter(NamedTuple):
    grant: Grant
    token: str
    as_json: bool

    def print(self, port: int, identity: ContextualIdentity, *, needs_token: bool) -> None:
        """Print the address for clients."""
        url, expires = f"ws://127.0.0.1:{port}/{self.token}", self.grant.expires
        end = None if expires is None else datetime.fromtimestamp(expires, UTC)
        if self.as_json:
            document = {
                "url": url,
                "identity": {"name": identity.name, "cookieStoreId": identity.cookie_store_id},
                "grant": self.grant.id,
                "expires": None if end is None else end.isoformat("T", "seconds"),
            }
            print_json_line(document if needs_token else document | {"address": f"127.0.0.1:{port}"}, sys.stdout)
        else:
            until = "Ctrl-C" if end is None else f"{end.astimezone().strftime('%Y-%m-%d %H:%M')} or Ctrl-C"
            secret = "Treat it as a password." if needs_token else "All programs of your user can: it needs no token."
            print_line(f"Programs can use {identity.name} at this address until {until}. {secret}", sys.stderr)
            print_line(f"To end their connections: hatbox grant revoke {self.grant.id}", sys.stderr)
            print_line(url if needs_token else f"127.0.0.1:{port}", sys.stdout)
        sys.stdout.flush()


def _print_background(document: dict[str, Any], file: Path, *, as_json: bool) -> None:
    """Print what runs in the background, without the secret."""
    if as_json:
        print_json_line(
            {name: each for name, each in document.items() if name != "url"} | {"file": str(file)}, sys.stdout
        )
    else:
        print_line(f"Programs can use {document['identity']['name']} at the address in {file}.", sys.stdout)
        print_line(f"To end it: hatbox grant revoke {document['grant']}", sys.stdout)
