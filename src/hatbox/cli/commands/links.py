"""The commands open-link and install-links: links that other programs open."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

from hatbox.cli.arguments.identity_arguments import find_identity
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, profile_address, run_with_profile
from hatbox.cli.commands.tabs import open_
from hatbox.cli.desktop.container_link import (
    InvalidLink,
    checked_web_url,
    is_container_link,
    parse_container_link,
)
from hatbox.cli.desktop.link_registration import LinkRegistration
from hatbox.cli.desktop.questions import ask_user, notify_user
from hatbox.cli.terminal.command_errors import CommandError, message_of
from hatbox.cli.terminal.output import print_json, print_line
from hatbox.cli.terminal.terminal_text import visible, without_passwords
from hatbox.errors import IdentityNotChosen
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.shell_words import shell_word
from hatbox.urls.url import parse_url

__all__ = ["install_links", "open_link"]

_MAX_SHOWN = 300
_MAX_NOTIFICATION = 1500


def open_link(
    link: Annotated[
        str, Argument(metavar="LINK", help="ext+container:name=NAME&url=URL, or an http:// or https:// URL.")
    ],
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a link that another program passes, after the user has agreed. For the desktop: see install-links.

    Any web page can contain a link that names an identity, so the user is asked, in a dialog of the desktop or in the
    terminal. Without either, nothing is opened. No identity is ever created. A plain URL opens without a question, in
    the identity of the rules, or in the default store. An error is also shown as a notification of the desktop.
    """
    try:
        identity, url = _identity_and_url(link, profile)
        open_(identity, [url], profile=profile, as_json=as_json)
    except Exception as error:
        if not (isinstance(error, CommandError) and error.kind == "Declined"):  # the user knows
            notify_user(_shortened(f"A link could not be opened: {message_of(error)}", _MAX_NOTIFICATION))
        raise


def install_links(
    browser: Annotated[
        bool, Option("--browser", help="Register Hatbox as the web browser of the desktop too.")
    ] = False,
    remove: Annotated[
        bool, Option("--remove", help="Remove the registration, and restore the earlier programs.")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Register Hatbox on a Linux desktop for links of the form ext+container:name=NAME&url=URL.

    Writes hatbox-links.desktop in the applications folder of the user, and sets the default application in
    mimeapps.list. With --profile or $HATBOX_PROFILE, links open in that profile, which must exist. Installing again
    replaces the registration.
    """
    if not sys.platform.startswith("linux"):
        raise CommandError("NotSupported", "links can be registered on Linux desktops only. Nothing was changed.")
    if remove and browser:
        raise bad_parameter("specify one of them", param_hint=["--remove", "--browser"])
    registration = LinkRegistration.of_user()
    if remove:
        _print_removed(registration, was_installed=registration.remove(), as_json=as_json)
        return
    address = profile_address(profile) or os.environ.get("HATBOX_PROFILE") or None
    if address is not None and without_passwords(address) != address:
        problem = "the address has a password, which the .desktop file would contain. Use a password file of PostgreSQL"
        raise bad_parameter(problem, param_hint="--profile")
    if address is not None and not (address.isprintable()):
        raise bad_parameter("must be one line", param_hint="--profile")
    if address is not None:
        run_with_profile(address, _check_profile)  # raises ProfileNotFound for a mistyped address
    types = registration.install(browser=browser, profile=_absolute(address))
    if as_json:
        print_json({"installed": True, "file": str(registration.entry), "types": types}, sys.stdout)
        return
    print_line(f"Installed {registration.entry}: Hatbox opens {', '.join(types)}.", sys.stdout)
    print_line("Undo it with: hatbox install-links --remove", sys.stderr)


async def _check_profile(opened: Profile) -> None:
    await opened.identities.query()


def _absolute(address: str | None) -> str | None:
    """The address for a program that is started in another folder."""
    return None if address is None else Profile(address, create=False).address


def _print_removed(registration: LinkRegistration, *, was_installed: bool, as_json: bool) -> None:
    if as_json:
        print_json({"installed": False, "removed": was_installed}, sys.stdout)
    elif was_installed:
        print_line(f"Removed {registration.entry}.", sys.stdout)
    else:
        print_line("Links are not registered. Nothing was changed.", sys.stderr)


def _identity_and_url(link: str, profile: str | None) -> tuple[str, str]:
    """The cookieStoreId and the URL of a link. Raises CommandError."""
    try:
        if is_container_link(link):
            parsed = parse_container_link(link)
            return _confirmed(parsed.identity, parsed.url, profile), parsed.url
        url = checked_web_url(link)
    except InvalidLink as error:
        raise CommandError("InvalidLink", f"{error}. Nothing was opened.") from None
    try:
        return run_with_profile(profile, lambda opened: _identity_for(opened, url)), url
    except IdentityNotChosen as error:
        words = [shell_word(error.identities[0]), shell_word(url) if len(url) <= _MAX_SHOWN else "URL"]
        words += ["--profile", shell_word(profile)] if profile else []
        raise CommandError(type(error).__name__, f"{error} Type: hatbox open {' '.join(words)}") from None


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _confirmed(name: str, url: str, profile: str | None) -> str:
    """The cookieStoreId of the identity, after the user has agreed. Raises CommandError otherwise."""
    found: ContextualIdentity = _run(profile, lambda opened: find_identity(opened, name))
    parsed = parse_url(url)
    host = parsed.host if parsed else ""
    shown = visible(_shortened(url, _MAX_SHOWN))
    question = f'Another program wants to open a page of {visible(host)} in the identity "{visible(found.name)}":'
    answer = ask_user(f"{question}\n\n{shown}", "Open")
    if answer is None:
        needed = "neither a terminal nor a desktop with a dialog program (zenity, kdialog or xmessage) was found"
        raise CommandError("Unconfirmed", f"{host}: Hatbox has to ask first, and {needed}. Nothing was opened.")
    if not answer:
        raise CommandError("Declined", "not opened")
    return found.cookie_store_id


async def _identity_for(opened: Profile, url: str) -> str:
    """The identity that the rules assign to a URL, or the default store."""
    found = await opened.identity_for(url)
    return DEFAULT_COOKIE_STORE_ID if found is None else found.cookie_store_id


def _run(option: str | None, work: Any) -> Any:
    """Run with the profile, which a link that names an identity never creates."""
    import asyncio

    async def run() -> Any:
        async with Profile(profile_address(option), create=False) as opened:
            return await work(opened)

    return asyncio.run(run())
