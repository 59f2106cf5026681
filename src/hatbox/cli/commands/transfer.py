"""The commands import and export. The formats are in hatbox.formats.

Standard output has only the exported data; reports go to standard error.
"""

from __future__ import annotations

import asyncio
import difflib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, NoReturn

import msgspec

from hatbox.cli.arguments.identity_arguments import check_identities
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile, refuse_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json
from hatbox.cli.terminal.progress_bar import progress_bar
from hatbox.cli.terminal.terminal_text import visible
from hatbox.cli.terminal.transfer_reports import export_document, print_export, print_import
from hatbox.errors import AmbiguousImport
from hatbox.formats import FORMATS, Bundle, ExportResult, ImportReport
from hatbox.formats.adjacent_files import NEVER_CARRIED
from hatbox.formats.base import name_sources
from hatbox.formats.firefox_profile import LOSES, write_folder
from hatbox.formats.firefox_profile import NAME as FIREFOX
from hatbox.formats.folder_formats import FOLDER_FORMATS
from hatbox.formats.input_files import read_input_file, read_stream
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.new_files import replace_file
from hatbox.profile import Profile

__all__ = ["export", "import_"]

_IMPORTED: Final = [*FOLDER_FORMATS, *FORMATS]
_EXPORTED: Final = [FIREFOX, *FORMATS]
_WITHOUT_IDENTITIES: Final = [name for name, each in FORMATS.items() if not each.has_identities]
_STANDARD: Final = "-"
_WITHOUT_COOKIES: Final = ("containers.json",)
_STANDARD_NAME: Final = "standard input"


def import_(
    format_: Annotated[str, Argument(metavar="FORMAT", help=f"Format: {', '.join(_IMPORTED)}.")],
    path: Annotated[
        str | None,
        Argument(
            metavar="[FILE]",
            help="File, or - for standard input. For firefox and chromium: a folder. Default: the profile that Firefox "
            "starts with, or all profiles of Chromium.",
        ),
    ] = None,
    into: Annotated[
        str | None,
        Option(
            metavar="NAME-OR-ID",
            help="Identity that gets the data. Required for cookies.txt and storage-state, which name no identity. For "
            "others, select one identity with --container.",
        ),
    ] = None,
    container: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Name of a container, identity or Chromium profile to import. Repeatable. Default: all.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import identities, cookies and site data from other programs. Atomic; importing a file again changes nothing.

    An identity that was imported from the same place before is found again, also if you have renamed or recolored it.
    Otherwise it is the one with the same name, icon and color, or the only one with its name, or a new one.

    Firefox and Chromium may be running. Cookies outside containers go to firefox-default. Firefox's files have no
    session cookies. Each Chromium profile becomes an identity, and each
    container of Brave. Cookies that the system's keyring encrypts are counted.

    As in a browser, a cookie store has at most 180 cookies of a site and 3300 in total, which expire within 400 days.
    The newest are imported, and the others counted as skipped.
    """
    _check_format(format_, _IMPORTED)
    if into is None and format_ in _WITHOUT_IDENTITIES:
        required = f"{format_} names no identity. Specify the identity that gets the cookies"
        raise bad_parameter(required, param_hint="--into")
    if container and format_ in _WITHOUT_IDENTITIES:
        raise bad_parameter(f"{format_} has no containers. Omit this option", param_hint="--container")
    if path is None and format_ not in FOLDER_FORMATS:
        raise bad_parameter("specify a file, or - for standard input", param_hint="[FILE]")
    named = open_profile(profile)
    bundle = _select(_read(format_, path), container or [])
    if into is not None:
        _check_single(bundle, format_)

    async def import_all() -> ImportReport:
        async with named as opened:
            await check_identities(opened, [] if into is None else [into])
            with progress_bar("Importing") as show:
                done = 0

                def advance(cookies: int) -> None:
                    nonlocal done
                    done += cookies
                    show(done, bundle.count)

                try:
                    return await opened.import_bundle(bundle, into, advance)
                except AmbiguousImport as error:
                    raise await _choice(opened, error) from error

    report = asyncio.run(import_all())
    if as_json:
        print_json(report, sys.stdout)
    else:
        print_import(report)


def export(
    identities: Annotated[
        list[str] | None,
        Argument(
            metavar="[NAME-OR-ID]...",
            help="Identities: their names or cookieStoreIds; firefox-default is the default store. cookies.txt and "
            "storage-state take one.",
        ),
    ] = None,
    format_: Annotated[
        str | None, Option("--format", "-f", metavar="FORMAT", help=f"Format: {', '.join(_EXPORTED)}.")
    ] = None,
    everything: Annotated[bool, Option("--all", help="Export all identities, and the default store.")] = False,
    output: Annotated[
        str | None,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file. For firefox: the folder of a profile, new or not open in Firefox. "
            "Default: standard output.",
        ),
    ] = None,
    plain: Annotated[
        bool, Option("--plain", help="Export the cookies of an encrypted profile: the output is plain text.")
    ] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print only errors.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export identities, cookies and site data for other programs, and report what the format does not support.

    An exported file is readable only by you, and is written atomically. A cookie that the readers of a format cannot
    read is left out, and named. For a complete copy of identities use hatbox backup.

    A Firefox profile is for Firefox 153 or later. An identity becomes the container of an existing profile with the
    same name, icon and color, or the only one with its name.
    """
    if format_ is None:
        raise bad_parameter(f"required. Allowed values: {', '.join(_EXPORTED)}", param_hint="--format")
    _check_format(format_, _EXPORTED)
    wanted = list(dict.fromkeys(identities or []))
    if bool(wanted) == everything:
        raise bad_parameter("specify either identities or --all", param_hint="[NAME-OR-ID]...")
    if format_ in _WITHOUT_IDENTITIES and len(wanted) != 1:
        raise bad_parameter(f"{format_} stores the cookies of one identity. Specify one", param_hint="[NAME-OR-ID]...")
    to_standard = output is None or output == _STANDARD
    if format_ == FIREFOX and to_standard:
        raise bad_parameter("a Firefox profile is a folder. Specify its path", param_hint="--output")
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
    written = _write(bundle, format_, None if to_standard else Path(output or ""))
    count = sum(entry.label is not None for entry in bundle.entries)
    if as_json:
        print_json(export_document(count, written), sys.stderr if to_standard else sys.stdout)
    elif not quiet:
        print_export(count, written, None if to_standard else str(output))


# The help and the reference list what each format does not support.
_UNSUPPORTED: Final = {FIREFOX: LOSES} | {name: each.unsupported for name, each in FORMATS.items() if each.unsupported}
export.__doc__ = (export.__doc__ or "") + "".join(
    f"\n    Not supported by {name}: {'; '.join(unsupported)}.\n"
    for name, unsupported in (*_UNSUPPORTED.items(), ("any format", NEVER_CARRIED))
)


def _check_format(name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        close = difflib.get_close_matches(name, allowed, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        if name in FOLDER_FORMATS:
            hint = " Hatbox only reads it."
        problem = f"unknown format: {visible(name)}.{hint} Allowed values: {', '.join(allowed)}"
        raise bad_parameter(problem, param_hint="FORMAT")


def _read(format_: str, path: str | None) -> Bundle:
    if folder_format := FOLDER_FORMATS.get(format_):
        return folder_format.read(Path(path) if path else folder_format.default_folder())
    if path is None or path == _STANDARD:
        return FORMATS[format_].read(_standard_input(), _STANDARD_NAME)
    try:
        data = read_input_file(path)
    except OSError as error:
        _raise_os_error(path, error)
    return name_sources(FORMATS[format_].read(data, path), format_, Path(path))


def _standard_input() -> bytes:
    stream = getattr(sys.stdin, "buffer", None)
    return read_stream(stream, _STANDARD_NAME) if stream else sys.stdin.read().encode() if sys.stdin else b""


def _check_single(bundle: Bundle, format_: str) -> None:
    """Cookies of several identities must not get into one."""
    names = [entry.label.name for entry in bundle.entries if entry.label is not None]
    if format_ not in _WITHOUT_IDENTITIES and len(bundle.entries) != 1:
        listed = ", ".join(map(visible, names))
        problem = f"one identity cannot get the cookies of several: {listed}. Select one with --container"
        raise bad_parameter(problem, param_hint="--into")


async def _choice(profile: Profile, error: AmbiguousImport) -> CommandError:
    """Lists the identities with the name of an imported one, and the options that choose one."""
    candidates = await asyncio.gather(*map(profile.identities.get, error.candidates))
    options = f"--container {shlex.quote(visible(error.name))} --into {error.candidates[0]}"
    message = (
        f'{len(candidates)} identities are named "{visible(error.name)}", and none has the icon and color of the '
        f"imported one. Nothing was imported. Choose one of them, for example: {options}"
    )
    return CommandError(type(error).__name__, message, candidates=candidates)


def _write(bundle: Bundle, format_: str, target: Path | None) -> ExportResult:
    if format_ == FIREFOX and target is not None:
        try:
            return ExportResult(b"", *write_folder(bundle, target))
        except OSError as error:
            _raise_os_error(str(target), error)
    written = FORMATS[format_].write(bundle)
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(written.data)
        sys.stdout.buffer.flush()
        return written
    try:
        replace_file(target, written.data)
    except OSError as error:
        _raise_os_error(str(target), error)
    return written


def _raise_os_error(path: str, error: OSError) -> NoReturn:
    raise CommandError(type(error).__name__, f"{path}: {error.strerror or error}") from error


def _select(bundle: Bundle, containers: Sequence[str]) -> Bundle:
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
