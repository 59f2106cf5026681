"""The commands on tabs: open, tabs, close."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, NamedTuple

from hatbox.cli.arguments.engine_options import (
    BrowserOption,
    EngineOption,
    HeadlessOption,
    NoIndicatorOption,
    select_engine,
)
from hatbox.cli.arguments.identity_arguments import find_store
from hatbox.cli.arguments.open_targets import OpenTarget, find_targets, name_of
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.arguments.tab_arguments import TabAndIdentity, existing_tabs, with_identities
from hatbox.cli.arguments.url_argument import parse_url_argument
from hatbox.cli.desktop.container_link import InvalidLink, is_container_link, parse_container_link
from hatbox.cli.program_end import stop_on_signals
from hatbox.cli.terminal.command_errors import CommandError, Interrupted, engine_details
from hatbox.cli.terminal.engine_notice import find_running_engines
from hatbox.cli.terminal.output import print_json, print_line, print_tab, print_tabs, tab_document
from hatbox.cli.terminal.spinner import spinner
from hatbox.cli.terminal.terminal_text import visible
from hatbox.engines.background.background_engine import BackgroundEngineError
from hatbox.engines.background.opened_tabs import OpenedTabs
from hatbox.engines.running_engines import RunningEngine
from hatbox.engines.selection import DEFAULT_ENGINE, EngineSelection
from hatbox.errors import EngineAlreadyRunning
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.tabs import Tab
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.tab_model import BLANK

__all__ = ["close", "open_", "tabs"]

_MAX_TIME: Final = 60.0
_REMEDY: Final = "For a window, stop it first: hatbox stop"
_BROWSER_REMEDY: Final = "For a browser, stop it first: hatbox stop"
_CREDENTIALS_DROPPED: Final = "The user name and password in the URL are not stored, and the page opens without them."
_EXTENSION_LINK: Final = re.compile(r"(ext|web)\+[a-z0-9.+-]+:", re.IGNORECASE)
_MAX_SHOWN: Final = 80


def open_(
    identity: Annotated[
        str | None,
        Argument(
            metavar="[NAME-OR-ID]",
            help=f"Identity: its name or its cookieStoreId; {DEFAULT_COOKIE_STORE_ID} is the default store. If "
            "omitted, the rules decide: see hatbox rules.",
        ),
    ] = None,
    urls: Annotated[
        list[str] | None,
        Argument(metavar="[URL]...", help="URLs to open; https:// may be omitted. Default: an empty tab."),
    ] = None,
    temporary: Annotated[
        bool,
        Option("--temporary", help="Open the URLs in a new identity, which is removed for ever with its last tab."),
    ] = False,
    engine: EngineOption = None,
    browser: BrowserOption = None,
    headless: HeadlessOption = False,
    no_indicator: NoIndicatorOption = False,
    max_time: Annotated[
        float,
        Option("--max-time", "-m", metavar="SECONDS", min=0.0, help="Maximum time to wait for pages. Default: 60."),
    ] = _MAX_TIME,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open tabs in an identity, and wait until their pages are loaded.

    Without an identity, each URL opens in the identity that the rules assign to it. A rule that asks needs a terminal.
    A link of the form ext+container:name=NAME&url=URL may be given in place of both. Never creates an identity, except
    with --temporary. A running extension that handles links of a scheme (protocol_handlers), such as ext+container,
    opens them with its own page.

    Uses the running engine. If none is running, starts one in the background, which exits after the last tab is closed;
    --browser, --headless and --no-indicator apply to it. Shows a hidden identity. The exit status is 1 if a page cannot
    be loaded, or is in a browser without windows of another program and --headless is missing. Its tab stays open. If
    the running engine has no windows, nothing is opened with --browser; without --headless, the output is "Loaded", not
    "Opened", and names the engine. Options that have no effect on the running engine are named.
    """
    is_link = identity is not None and is_container_link(identity)
    if temporary:  # all arguments are URLs
        urls, identity = [*([] if identity is None else [identity]), *(urls or [])], None
    elif identity is None:
        raise bad_parameter("specify an identity or a URL, or --temporary", param_hint="NAME-OR-ID")
    pages = _handler_pages(profile, [*([] if identity is None else [identity]), *(urls or [])])
    if identity in pages:
        identity, urls = DEFAULT_COOKIE_STORE_ID, [identity, *(urls or [])]
    elif identity is not None:
        identity, urls = _expand_container_link(identity, urls)
    to_open = [pages.get(url) or parse_url_argument(url) for url in urls or []]
    selection = select_engine(engine, browser, headless=headless, no_indicator=no_indicator)

    async def open_all(opened: Profile) -> list[_Opened]:
        if identity is None:
            targets = [OpenTarget(await opened.create_temporary(), to_open or [BLANK])]
        else:
            targets = await find_targets(opened, identity, to_open, is_named=is_link, as_json=as_json)
        if any(without_credentials(url) != url for target in targets for url in target.urls):
            print_line(_CREDENTIALS_DROPPED, sys.stderr)
        await find_running_engines(opened, as_json=as_json)
        for target in targets:
            await _check_options(opened, target, selection)
        results = []
        for target in targets:
            result = await _open(opened, target.identity, target.urls, selection, max_time)
            engine = await opened.running_engine(target.identity or DEFAULT_COOKIE_STORE_ID)
            other = engine if engine is not None and _differs(engine, selection) else None
            tabs = await with_identities(opened, result.open)
            results.append(_Opened(name_of(target.identity), tabs, result, other))
        return results

    async def open_until_signal(opened: Profile) -> list[_Opened]:
        with stop_on_signals(as_json=as_json) as end:
            end.save_with(opened.save)
            return await open_all(opened)
        raise Interrupted(end.signal)

    results = run_with_profile(profile, open_until_signal)
    if as_json:
        _print_result("", [tab for each in results for tab in each.tabs], as_json=True)
    else:
        for each in results:
            loaded = [tab for tab in each.tabs if not tab[0].error]
            _print_result("Loaded" if each.other else "Opened", loaded, as_json=False)
            _print_replacements(each.requested, each.tabs, each.result.replaced)
    for each in results:
        _raise_without_pages(each.result)
    _report_other_engines(results, selection)


class _Opened(NamedTuple):
    """What was opened in one identity."""

    requested: str
    """The name of the identity."""
    tabs: list[TabAndIdentity]
    result: OpenedTabs
    other: RunningEngine | None
    """Their engine, if it is not what the options ask for: it has no windows, or is no browser."""


def _handler_pages(profile: str | None, arguments: list[str]) -> dict[str, str]:
    """The pages of running extensions for the links among the arguments."""
    if not any(map(_is_extension_link, arguments)):
        return {}
    return run_with_profile(profile, lambda opened: _find_handlers(opened, arguments))


def tabs(
    identity: Annotated[
        str | None,
        Argument(
            metavar="[NAME-OR-ID]", help="Identity: its name or its cookieStoreId. Default: tabs of all identities."
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List tabs with their identity and state: active, pinned, hidden, loading or error."""

    async def query(opened: Profile) -> tuple[list[TabAndIdentity], bool]:
        found = await opened.tabs.query() if identity is None else await _tabs_of(opened, identity)
        return await with_identities(opened, found), bool(await find_running_engines(opened, as_json=as_json))

    found, running = run_with_profile(profile, query)
    if as_json:
        print_json([tab_document(*each) for each in found], sys.stdout)
        return
    print_tabs(found, sys.stdout)
    if found and not running and sys.stdout.isatty():
        print_line("No browser is running. Open these tabs with: hatbox browse", sys.stderr)


def close(
    tab_ids: Annotated[
        list[int] | None, Argument(metavar="[TAB]...", help="Ids of tabs, as listed by `hatbox tabs`.")
    ] = None,
    identity: Annotated[
        str | None,
        Option("--identity", metavar="NAME-OR-ID", help="Identity whose tabs to close: its name or its cookieStoreId."),
    ] = None,
    every: Annotated[bool, Option("--all", help="Close the tabs of all identities.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close tabs, including hidden ones. Cookies and site data of the identity stay."""
    if bool(tab_ids) + (identity is not None) + every != 1:
        raise bad_parameter("specify tabs, an identity or --all", param_hint=["[TAB]...", "--identity", "--all"])

    async def close_all(opened: Profile) -> list[TabAndIdentity]:
        if every:
            found = await opened.tabs.query()
        elif identity is not None:
            found = await _tabs_of(opened, identity)
        else:
            found = await existing_tabs(opened, list(dict.fromkeys(tab_ids or [])))
        closed = await with_identities(opened, found)
        await opened.tabs.close([tab.id for tab in found], missing_ok=True)
        return closed

    _print_result("Closed", run_with_profile(profile, close_all), as_json=as_json)


async def _open(
    opened: Profile,
    identity: ContextualIdentity | None,
    urls: Sequence[str],
    selection: EngineSelection,
    max_time: float,
) -> OpenedTabs:
    loading = f"Loading {urls[0] if len(urls) == 1 else f'{len(urls)} pages'}"
    starting = f"Starting {selection.display_name}"
    try:
        with spinner(loading) as update:
            return await opened.open_tabs(
                identity or DEFAULT_COOKIE_STORE_ID,
                urls,
                engine=selection,
                max_time=max_time,
                on_progress=lambda ready: update(loading if ready else starting),
            )
    except BackgroundEngineError as error:
        lines = [f"Its log is {error.log}"] if error.log else []
        raise CommandError(error.kind, str(error), lines=lines, details=error.details) from error
    except EngineAlreadyRunning as error:
        message = (
            f"this profile is already open in the {error.engine} engine{error.where}. "
            "Omit --engine to use it, or stop it first."
        )
        raise CommandError(type(error).__name__, message, details=engine_details(error)) from error
    except TimeoutError as error:
        raise CommandError("TimeoutError", str(error)) from error


def _differs(engine: RunningEngine, selection: EngineSelection) -> bool:
    """Whether an engine has no windows, or is no browser, and the options ask for it."""
    is_seen = engine.has_windows is not False or not selection.is_headed
    return not is_seen or (selection.name == DEFAULT_ENGINE and not _is_browser(engine))


async def _check_options(opened: Profile, target: OpenTarget, selection: EngineSelection) -> None:
    """Name the options that have no effect on a running engine. Raises CommandError if --browser asks for a window."""
    engine = await opened.running_engine(target.identity or DEFAULT_COOKIE_STORE_ID)
    if engine is None or not (ignored := _ignored(engine, selection)):
        return
    has = "has" if len(ignored) == 1 else "have"
    where = f"{name_of(target.identity)} is in {_description(engine)}"
    problem = f"{' and '.join(ignored)} {has} no effect: {where}"
    if "--browser" in ignored and selection.is_headed and engine.has_windows is False:
        raise CommandError("NoWindow", f"nothing was opened. {problem}. {_REMEDY}")
    print_line(f"{problem}.", sys.stderr)


def _ignored(engine: RunningEngine, selection: EngineSelection) -> list[str]:
    shows_indicator = engine.options is not None and engine.options.indicator
    ignored = {
        "--browser": selection.browser is not None and not (_is_browser(engine) and _runs(engine, selection)),
        "--headless": selection.headless and engine.has_windows is True,
        "--no-indicator": not selection.indicator and shows_indicator,
    }
    return [name for name, is_ignored in ignored.items() if is_ignored]


def _report_other_engines(results: Sequence[_Opened], selection: EngineSelection) -> None:
    """Name the engines that are not what the options ask for.

    Raises CommandError for a browser, unless `hatbox open --headless` started it: scripts may omit the option later.
    """
    for each in results:
        engine = each.other
        if engine is None:
            continue
        where = f"{each.requested} is in {_description(engine)}"
        if engine.background or not _is_browser(engine):
            print_line(f"{where}. {_REMEDY if selection.is_headed else _BROWSER_REMEDY}", sys.stderr)
            continue
        raise CommandError(
            "NoWindow",
            f"the page is open, but not visible: {where}, of {engine.program} ({engine.process}). Stop that program "
            "first, or open pages there with --headless.",
        )


def _description(engine: RunningEngine) -> str:
    if not _is_browser(engine):
        return f"the {engine.engine} engine, which has no windows and runs no scripts"
    if engine.has_windows is not False:
        return f"a browser that is running already ({engine.process})"
    return f"a browser without windows{', which hatbox open --headless has started' if engine.background else ''}"


def _runs(engine: RunningEngine, selection: EngineSelection) -> bool:
    """Whether the engine is what the selection would start."""
    from hatbox.engines.chromium.launch import find_browser  # not for command lines without --browser

    is_shown = engine.has_windows is not False or not selection.is_headed
    path = os.path.realpath(find_browser(selection.browser))
    return is_shown and engine.options is not None and engine.options.browser == path


def _is_browser(engine: RunningEngine) -> bool:
    return engine.engine.casefold() == DEFAULT_ENGINE


def _print_replacements(requested: str, opened: Sequence[TabAndIdentity], replaced: Mapping[int, int]) -> None:
    for tab, identity in opened:
        if tab.id in replaced:
            name = identity.name if identity else DEFAULT_COOKIE_STORE_ID
            where = f"in {name}, not in {requested}" if name != requested else f"in another tab of {name}"
            cause = f"an extension replaced tab {replaced[tab.id]} with tab {tab.id}"
            print_line(f"The page is {where}: {cause}.", sys.stderr)


def _raise_without_pages(result: OpenedTabs) -> None:
    closed = [
        f"tab {tab.id} was closed before its page was loaded, by an extension or by the user" for tab in result.closed
    ]
    failed = [f"tab {tab.id} is open, but has no page: {tab.url}: {tab.error}" for tab in result.open if tab.error]
    if failed or closed:
        first, *rest = failed + closed
        raise CommandError("PageError" if failed else "TabClosed", first, lines=rest)


async def _tabs_of(opened: Profile, name_or_id: str) -> list[Tab]:
    return await opened.tabs.query(await find_store(opened, name_or_id) or DEFAULT_COOKIE_STORE_ID)


def _print_result(what: str, tabs: Sequence[TabAndIdentity], *, as_json: bool) -> None:
    if as_json:
        print_json([tab_document(*each) for each in tabs], sys.stdout)
        return
    for tab, identity in tabs:
        print_tab(what, tab, identity, sys.stdout)


def _expand_container_link(identity: str, urls: list[str] | None) -> tuple[str, list[str] | None]:
    """The identity and the URL of a link that is given as the identity; else both as they are.

    Raises BadParameter.
    """
    if not is_container_link(identity):
        return identity, urls
    if urls:
        raise bad_parameter("a link names its URL. Specify the link alone", param_hint="URL")
    try:
        link = parse_container_link(identity)
    except InvalidLink as error:
        raise bad_parameter(str(error), param_hint="NAME-OR-ID") from None
    if link.ignored:
        print_line(f"These parts of the link have no effect: {', '.join(link.ignored)}.", sys.stderr)
    return link.identity, [link.url]


def _is_extension_link(text: str) -> bool:
    """Whether the text is a link with a scheme of extensions: ext+name or web+name."""
    return _EXTENSION_LINK.match(text) is not None


async def _find_handlers(profile: Profile, arguments: Iterable[str]) -> dict[str, str]:
    """The page of a running extension for each link among the arguments.

    A link to a container is left out if no extension handles it: Hatbox opens it. Raises BadParameter for others.
    """
    found: dict[str, str] = {}
    for link in filter(_is_extension_link, arguments):
        page = await profile.extensions.handler_page(link)
        if page is not None:
            found[link] = page
        elif not is_container_link(link):
            scheme = link.partition(":")[0].lower()
            raise bad_parameter(
                f'"{visible(link[:_MAX_SHOWN])}": no running extension opens {scheme} links. '
                "Run one that does: hatbox run EXTENSION --engine chromium",
                param_hint="URL",
            )
    return found
