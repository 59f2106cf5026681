"""The commands on tabs: open, tabs, close. How an engine comes to open them is told in hatbox.cli.opening."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import typer

from hatbox.cli.commands.identities import run_with_profile
from hatbox.cli.engine_log import engine_of
from hatbox.cli.engine_options import BrowserOption, EngineOption, HeadlessOption, MarksOption, chosen
from hatbox.cli.identity_arguments import IDENTITY_HELP, TabAndIdentity, find_identity, with_identities
from hatbox.cli.options import JsonOption, ProfileOption
from hatbox.cli.replacement import Followed
from hatbox.cli.tab_opener import WAIT_SECONDS, TabOpener
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json, print_line, print_tabs, say_tab, tab_document
from hatbox.cli.url_argument import parse_url_argument
from hatbox.errors import InvalidTab
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.profile import Profile
from hatbox.store.base import Transaction
from hatbox.tabs import Tab
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.strip import close_rows
from hatbox.tabs.tab_model import BLANK, tab_of

__all__ = ["close", "existing_tabs", "open_", "tabs"]

_NOT_STORED: Final = "The user name and password in the URL are not stored, and the page opens without them."


def open_(
    identity: Annotated[str, typer.Argument(metavar="NAME-OR-ID", help=IDENTITY_HELP)],
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[URL]...", help="What to open; without a scheme it is https://. Without any: an empty tab."
        ),
    ] = None,
    engine: EngineOption = None,
    browser: BrowserOption = None,
    headless: HeadlessOption = False,
    no_marks: MarksOption = False,
    max_time: Annotated[
        float,
        typer.Option(
            "--max-time", "-m", metavar="SECONDS", min=0.0, help="Wait for pages no longer than this; else for 60."
        ),
    ] = WAIT_SECONDS,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open tabs in an identity: pages of a real browser, signed in as that identity.

    Where an engine runs for the profile, it opens them. Else one is started, and goes on in the background until the
    last tab is closed; --browser, --headless and --no-marks are for that. A hidden identity is shown. What cannot be
    loaded is an error, and its tab stays open, as in every browser.
    """
    addresses = [parse_url_argument(url) for url in urls or [BLANK]]
    choice = chosen(engine, browser, headless=headless, no_marks=no_marks)
    if any(without_credentials(url) != url for url in addresses):
        print_line(_NOT_STORED, sys.stderr)

    async def opened(at: Profile) -> tuple[str, list[TabAndIdentity], Followed]:
        found = await find_identity(at, identity)
        await engine_of(at.store, as_json=as_json)
        outcome = await TabOpener(at, found, choice).open(addresses, max_time)
        return found.name if found else DEFAULT_STORE, await with_identities(at, outcome.open), outcome

    asked, made, outcome = run_with_profile(profile, opened)
    _tell("Opened", made if as_json else [each for each in made if not each[0].error], as_json=as_json)
    if not as_json:
        _explain_replacements(asked, made, outcome.replaced)
    _fail_without_pages(outcome)


def tabs(
    identity: Annotated[
        str | None, typer.Argument(metavar="[NAME-OR-ID]", help="Only those of this identity, by its name or its id.")
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the tabs: in which identity each is, and whether it is active, pinned, hidden, loading or an error."""

    async def listed(at: Profile) -> tuple[list[TabAndIdentity], bool]:
        found = await at.tabs.query() if identity is None else await _tabs_of(at, identity)
        return await with_identities(at, found), await engine_of(at.store, as_json=as_json) is not None

    found, running = run_with_profile(profile, listed)
    if as_json:
        print_json([tab_document(*each) for each in found], sys.stdout)
        return
    print_tabs(found, sys.stdout)
    if found and not running and sys.stdout.isatty():
        print_line("No browser is running. `hatbox browse` opens these tabs.", sys.stderr)


def close(
    tab_ids: Annotated[
        list[int] | None, typer.Argument(metavar="[TAB]...", help="The tabs, by their numbers in `hatbox tabs`.")
    ] = None,
    identity: Annotated[
        str | None,
        typer.Option("--identity", metavar="NAME-OR-ID", help="All tabs of this identity, by its name or its id."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close tabs, hidden ones too. What the identity has is kept: its cookies, its storage."""
    if bool(tab_ids) == (identity is not None):
        raise typer.BadParameter("name tabs, or an identity", param_hint=["[TAB]...", "--identity"])

    async def closed(at: Profile) -> list[TabAndIdentity]:
        if identity is not None:
            wanted = [tab.id for tab in await _tabs_of(at, identity)]
        else:
            wanted = list(dict.fromkeys(tab_ids or []))
        owned = await with_identities(at, await existing_tabs(at, wanted, complain=identity is None))
        await at.tabs.write(lambda each: _close(each, [tab.id for tab, _ in owned]))
        return owned

    _tell("Closed", run_with_profile(profile, closed), as_json=as_json)


def _explain_replacements(asked: str, made: Sequence[TabAndIdentity], replaced: Mapping[int, int]) -> None:
    for tab, owner in made:
        if tab.id in replaced:
            name = owner.name if owner else DEFAULT_STORE
            where = f"in {name}, not in {asked}" if name != asked else f"in another tab of {name}"
            who = f"an extension has opened tab {tab.id} in place of tab {replaced[tab.id]}"
            print_line(f"The page is {where}: {who}.", sys.stderr)


def _fail_without_pages(outcome: Followed) -> None:
    closed = [
        f"tab {tab.id} was closed before its page was loaded, by an extension or by the user" for tab in outcome.closed
    ]
    failed = [f"tab {tab.id} is open, without a page: {tab.url}: {tab.error}" for tab in outcome.open if tab.error]
    if failed or closed:
        first, *rest = failed + closed
        raise CommandError("PageError" if failed else "TabClosed", first, lines=rest)


async def _tabs_of(opened: Profile, name_or_id: str) -> list[Tab]:
    return await opened.tabs.query(await find_identity(opened, name_or_id) or DEFAULT_STORE)


async def existing_tabs(opened: Profile, tab_ids: Sequence[int], *, complain: bool = True) -> list[Tab]:
    """The tabs with these ids; unless nobody complains, a failure that names those that there are not."""
    rows = await opened.tabs.read(lambda each: [each.tabs.get(tab_id) for tab_id in tab_ids])
    missing = [tab_id for tab_id, row in zip(tab_ids, rows, strict=True) if row is None]
    if missing and complain:
        listed = ", ".join(map(str, missing))
        which = f"there is no tab {listed}" if len(missing) == 1 else f"there are no tabs {listed}"
        hint = "`hatbox tabs` shows those that there are."
        raise CommandError(InvalidTab.__name__, f"{which}. {hint}", details={"missing": missing})
    return [tab_of(row) for row in rows if row is not None]


def _close(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    rows = [transaction.tabs.get(tab_id) for tab_id in tab_ids]
    close_rows(transaction, [row for row in rows if row is not None])


def _tell(what: str, owned: Sequence[TabAndIdentity], *, as_json: bool) -> None:
    if as_json:
        print_json([tab_document(*each) for each in owned], sys.stdout)
        return
    for tab, identity in owned:
        say_tab(what, tab, identity, sys.stdout)
