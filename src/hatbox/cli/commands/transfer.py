"""The commands import and export. The formats are in hatbox.formats.

Standard output has only the exported data; reports go to standard error.
"""

from __future__ import annotations

import asyncio
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, NoReturn

import msgspec
import typer

from hatbox.cli.arguments.identity_arguments import check_identities
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile, refuse_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json, print_line
from hatbox.cli.terminal.progress_bar import progress_bar
from hatbox.cli.terminal.terminal_text import visible
from hatbox.formats import FORMATS, Bundle, ImportReport
from hatbox.formats.adjacent_files import NEVER_CARRIED
from hatbox.formats.atomic_write import replace_file
from hatbox.formats.base import Tally
from hatbox.formats.firefox_folders import default_folder
from hatbox.formats.firefox_profile import LOSES, read_folder, write_folder
from hatbox.formats.firefox_profile import NAME as FIREFOX
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID

__all__ = ["export", "import_"]

_NAMES: Final = [FIREFOX, *FORMATS]
_WITHOUT_IDENTITIES: Final = [name for name, each in FORMATS.items() if not each.has_identities]
_STANDARD: Final = "-"
_WITHOUT_COOKIES: Final = ("containers.json",)


def import_(
    format_: Annotated[str, typer.Argument(metavar="FORMAT", help=f"Format: {', '.join(_NAMES)}.")],
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="File, or - for standard input. For firefox: the profile folder. Default for firefox: the profile "
            "that Firefox starts with.",
        ),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="NAME-OR-ID",
            help="Identity that gets the cookies. Required for cookies.txt and storage-state, which name no identity.",
        ),
    ] = None,
    container: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="For firefox: name of a container to import. Repeatable. Default: all."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import identities and cookies from another program. Atomic; importing the same file again changes nothing.

    An imported identity matches an existing one with the same name, icon and color; otherwise it is created. Firefox
    may be running. Cookies outside containers go to firefox-default. Firefox's files have no session cookies.

    As in a browser, a cookie store has at most 180 cookies of a site and 3300 in total, which expire within 400 days.
    The newest are imported, and the others counted as skipped.
    """
    _check_format(format_)
    if (into is not None) != (format_ in _WITHOUT_IDENTITIES):
        required = f"{format_} names no identity. Specify the identity that gets the cookies"
        problem = f"{format_} names the identities itself. Omit this option" if into is not None else required
        raise typer.BadParameter(problem, param_hint="--into")
    if container and format_ != FIREFOX:
        raise typer.BadParameter(f"{format_} has no containers. Omit this option", param_hint="--container")
    if path is None and format_ != FIREFOX:
        raise typer.BadParameter("specify a file, or - for standard input", param_hint="[FILE]")
    named = open_profile(profile)
    if format_ == FIREFOX:
        bundle = _select_containers(read_folder(Path(path) if path else default_folder()), container or [])
    else:
        bundle = FORMATS[format_].read(_input(path or _STANDARD), "standard input" if path == _STANDARD else str(path))

    async def import_all() -> ImportReport:
        async with named as opened:
            await check_identities(opened, [] if into is None else [into])
            with progress_bar("Importing") as show:
                done = 0

                def advance(cookies: int) -> None:
                    nonlocal done
                    done += cookies
                    show(done, bundle.count)

                return await opened.import_bundle(bundle, into, advance)

    report = asyncio.run(import_all())
    if as_json:
        print_json(report, sys.stdout)
        return
    print_line(
        f"Imported {_identities(report)} and {_number(report.cookies_new, 'new cookie')} "
        f"({report.cookies_changed} changed, {report.cookies_unchanged} unchanged).",
        sys.stderr,
    )
    _print_tallies(report.skipped, report.dropped)


def export(
    identities: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME-OR-ID]...",
            help="Identities: their names or cookieStoreIds; firefox-default is the default store. cookies.txt and "
            "storage-state take one.",
        ),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", "-f", metavar="FORMAT", help=f"Format: {', '.join(_NAMES)}.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Export all identities, and the default store.")] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file. For firefox: the folder of a profile, new or not open in Firefox. "
            "Default: standard output.",
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Export the cookies of an encrypted profile: the output is plain text.")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export identities and cookies for another program, and report what the format does not support.

    An exported file is readable only by you, and is written atomically. A Firefox profile is for Firefox 153 or later.
    An identity matches a container of an existing profile with the same name, icon and color.
    """
    if format_ is None:
        raise typer.BadParameter(f"required. Allowed values: {', '.join(_NAMES)}", param_hint="--format")
    _check_format(format_)
    wanted = list(dict.fromkeys(identities or []))
    if bool(wanted) == everything:
        raise typer.BadParameter("specify either identities or --all", param_hint="[NAME-OR-ID]...")
    if format_ in _WITHOUT_IDENTITIES and len(wanted) != 1:
        raise typer.BadParameter(
            f"{format_} stores the cookies of one identity. Specify one", param_hint="[NAME-OR-ID]..."
        )
    to_standard = output is None or output == _STANDARD
    if format_ == FIREFOX and to_standard:
        raise typer.BadParameter("a Firefox profile is a folder. Specify its path", param_hint="--output")
    named = open_profile(profile)
    if output is not None and not to_standard:
        refuse_profile(output, profile, "--output")

    async def export_all() -> Bundle:
        async with named as opened:
            await check_identities(opened, wanted)
            if opened.store.is_encrypted and not plain and format_ not in _WITHOUT_COOKIES:
                raise CommandError(
                    "PlainTextRefused",
                    f"{opened.label}: this profile is encrypted, and {format_} would be plain text. Nothing was "
                    "exported. To export it anyway, pass --plain.",
                )
            return await opened.export_bundle(None if everything else wanted)

    bundle = asyncio.run(export_all())
    count, dropped = _write(bundle, format_, None if to_standard else Path(output or ""))
    named = sum(entry.label is not None for entry in bundle.entries)
    if as_json:
        document = {"identities": named, "cookies": count, "dropped": dropped}
        print_json(document, sys.stderr if to_standard else sys.stdout)
        return
    if not to_standard:
        identity_count, cookie_count = _number(named, "identity", "identities"), _number(count, "cookie")
        print_line(f"Exported {identity_count} and {cookie_count} to {output}.", sys.stderr)
    _print_tallies({}, dropped)


# The help and the reference list what each format does not support.
_UNSUPPORTED: Final = {FIREFOX: LOSES} | {name: each.unsupported for name, each in FORMATS.items() if each.unsupported}
export.__doc__ = (export.__doc__ or "") + "".join(
    f"\n    Not supported by {name}: {'; '.join(unsupported)}.\n"
    for name, unsupported in (*_UNSUPPORTED.items(), ("any format", NEVER_CARRIED))
)


def _check_format(name: str) -> None:
    if name not in _NAMES:
        close = difflib.get_close_matches(name, _NAMES, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        problem = f"unknown format: {visible(name)}.{hint} Allowed values: {', '.join(_NAMES)}"
        raise typer.BadParameter(problem, param_hint="FORMAT")


def _input(path: str) -> bytes:
    if path == _STANDARD:
        stream = getattr(sys.stdin, "buffer", None)
        return stream.read() if stream else sys.stdin.read().encode() if sys.stdin else b""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        _raise_os_error(path, error)


def _write(bundle: Bundle, format_: str, target: Path | None) -> tuple[int, Tally]:
    if format_ == FIREFOX and target is not None:
        try:
            return write_folder(bundle, target)
        except OSError as error:
            _raise_os_error(str(target), error)
    written = FORMATS[format_].write(bundle)
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(written.data)
        sys.stdout.buffer.flush()
        return written.cookies, written.dropped
    try:
        replace_file(target, written.data)
    except OSError as error:
        _raise_os_error(str(target), error)
    return written.cookies, written.dropped


def _raise_os_error(path: str, error: OSError) -> NoReturn:
    raise CommandError(type(error).__name__, f"{path}: {error.strerror or error}") from error


def _select_containers(bundle: Bundle, containers: Sequence[str]) -> Bundle:
    """The entries of these containers, or of all."""
    if not containers:
        return bundle
    names = [entry.label.name if entry.label else DEFAULT_COOKIE_STORE_ID for entry in bundle.entries]
    for wanted in containers:
        if wanted not in names:
            close = difflib.get_close_matches(wanted, names, n=3)
            quoted = " or ".join(f'"{each}"' for each in close)
            hint = f" Did you mean {quoted}?" if close else ""
            raise CommandError(
                "ContainerNotFound",
                f'container not found: "{wanted}".{hint}',
                lines=[f"Containers: {', '.join(names)}."],
                details={"nearest": close, "allowed": names},
            )
    selected = [each for each, name in zip(bundle.entries, names, strict=True) if name in containers]
    return msgspec.structs.replace(bundle, entries=selected)


def _identities(report: ImportReport) -> str:
    matched = f" ({report.identities_matched} existing)" if report.identities_matched else ""
    return _number(report.identities_new, "new identity", "new identities") + matched


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _print_tallies(skipped: dict[str, int], dropped: dict[str, int]) -> None:
    for what, tally in (("Skipped", skipped), ("Not supported", dropped)):
        for description, count in tally.items():
            print_line(f"{what}: {description} ({count})" if count else f"{what}: {description}", sys.stderr)
