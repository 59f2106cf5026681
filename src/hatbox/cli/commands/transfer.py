"""The commands import and export. What the formats are is told in hatbox.formats.

The standard output has nothing but what was asked for; what became of it is told on the standard error stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, NoReturn

import msgspec
import typer

from hatbox.cli.commands.identities import expect
from hatbox.cli.options import JsonOption, ProfileOption, path_of, refuse_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json, print_line
from hatbox.cli.terminal.terminal_text import visible
from hatbox.formats import FORMATS, Bundle, ImportReport
from hatbox.formats.adjacent_files import NEVER_CARRIED
from hatbox.formats.atomic_write import replace_file
from hatbox.formats.base import Tally
from hatbox.formats.firefox_folders import default_folder
from hatbox.formats.firefox_profile import LOSES, read_folder, write_folder
from hatbox.formats.firefox_profile import NAME as FIREFOX
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.profile import Profile

__all__ = ["export", "import_"]

_NAMES: Final = [FIREFOX, *FORMATS]
_WITHOUT_IDENTITIES: Final = [name for name, each in FORMATS.items() if not each.has_identities]
_STANDARD: Final = "-"
_LONG_WORK: Final = 2000  # cookies; below that it is done before a bar could be read


def import_(
    format_: Annotated[str, typer.Argument(metavar="FORMAT", help=f"What it is: {', '.join(_NAMES)}.")],
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="The file, or - for the standard input. For firefox: the profile's folder; without it, the profile "
            "that Firefox starts with.",
        ),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="NAME-OR-ID",
            help="The identity that gets the cookies: for cookies.txt and storage-state, which do not name one.",
        ),
    ] = None,
    container: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="For firefox: only the container with this name. May be repeated."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in identities and cookies from another program: all or nothing, and the second time nothing more.

    An identity is the one that has the same name, icon and color; where there is none it is made. Firefox may be
    running; the cookies that are in no container go to firefox-default, and session cookies are not in its files.

    As in a browser, a store holds 180 cookies of a site and 3300 in all, none for longer than 400 days. The newest are
    kept, and what is left out is counted.
    """
    _check_format(format_)
    if (into is not None) != (format_ in _WITHOUT_IDENTITIES):
        does_not = f"{format_} does not say whose the cookies are: name the identity that gets them"
        problem = f"{format_} itself says whose the cookies are: leave it out" if into is not None else does_not
        raise typer.BadParameter(problem, param_hint="--into")
    if container and format_ != FIREFOX:
        raise typer.BadParameter(f"{format_} has no containers to choose from", param_hint="--container")
    if path is None and format_ != FIREFOX:
        raise typer.BadParameter("name a file, or - for the standard input", param_hint="[FILE]")
    database = path_of(profile)
    if format_ == FIREFOX:
        bundle = _chosen(read_folder(Path(path) if path else default_folder()), container or [])
    else:
        bundle = FORMATS[format_].read(_input(path or _STANDARD), "standard input" if path == _STANDARD else str(path))

    async def imported() -> ImportReport:
        async with Profile(database) as opened:
            await expect(opened, [] if into is None else [into])
            with _progress("Importing", bundle.count) as progress:
                return await opened.import_bundle(bundle, into, progress)

    report = asyncio.run(imported())
    if as_json:
        print_json(report, sys.stdout)
        return
    print_line(
        f"Imported {_identities(report)} and {_number(report.cookies_new, 'new cookie')} "
        f"({report.cookies_changed} changed, {report.cookies_unchanged} as they were).",
        sys.stderr,
    )
    _tell_tallies(report.skipped, report.dropped)


def export(
    identities: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME-OR-ID]...",
            help="The identities, each by its name or its id; firefox-default is the store of none. cookies.txt and "
            "storage-state hold one.",
        ),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", "-f", metavar="FORMAT", help=f"One of {', '.join(_NAMES)}.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All identities, and what belongs to none.")] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write to; without it, the standard output. For firefox: the folder of a profile that "
            "Firefox does not have open, or of a new one.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write identities and cookies for another program, and say what its format cannot carry.

    A file with cookies can be read by you alone, and is never there half written. A Firefox profile is one for
    Firefox 153 or later; an identity that looks like a container of an existing profile is that container.
    """
    if format_ is None:
        raise typer.BadParameter(f"say which: {', '.join(_NAMES)}", param_hint="--format")
    _check_format(format_)
    wanted = list(dict.fromkeys(identities or []))
    if bool(wanted) == everything:
        raise typer.BadParameter("name identities, or say --all", param_hint="[NAME-OR-ID]...")
    if format_ in _WITHOUT_IDENTITIES and len(wanted) != 1:
        raise typer.BadParameter(f"{format_} holds the cookies of one identity", param_hint="[NAME-OR-ID]...")
    to_standard = output is None or output == _STANDARD
    if format_ == FIREFOX and to_standard:
        raise typer.BadParameter("a Firefox profile is a folder: name it", param_hint="--output")
    database = path_of(profile)
    if output is not None and not to_standard:
        refuse_profile(output, database, "--output")

    async def taken() -> Bundle:
        async with Profile(database) as opened:
            await expect(opened, wanted)
            return await opened.export_bundle(None if everything else wanted)

    bundle = asyncio.run(taken())
    count, lost = _write(bundle, format_, None if to_standard else Path(output or ""))
    named = sum(holding.label is not None for holding in bundle.entries)
    if as_json:
        document = {"identities": named, "cookies": count, "lost": lost}
        print_json(document, sys.stderr if to_standard else sys.stdout)
        return
    if not to_standard:
        told = f"Exported {_number(named, 'identity', 'identities')} and {_number(count, 'cookie')} to {output}."
        print_line(told, sys.stderr)
    _tell_tallies({}, lost)


# Each format says what it loses; the help and the reference say it after them.
_LOSSES: Final = {FIREFOX: LOSES} | {name: each.unsupported for name, each in FORMATS.items() if each.unsupported}
export.__doc__ = (export.__doc__ or "") + "".join(
    f"\n    Not carried by {name}: {'; '.join(losses)}.\n"
    for name, losses in (*_LOSSES.items(), ("any format", NEVER_CARRIED))
)


def _check_format(name: str) -> None:
    if name not in _NAMES:
        close = difflib.get_close_matches(name, _NAMES, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        problem = f"there is no format {visible(name)}.{hint} There are: {', '.join(_NAMES)}"
        raise typer.BadParameter(problem, param_hint="FORMAT")


def _input(path: str) -> bytes:
    if path == _STANDARD:
        stream = getattr(sys.stdin, "buffer", None)
        return stream.read() if stream else sys.stdin.read().encode() if sys.stdin else b""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        _refused(path, error)


def _write(bundle: Bundle, format_: str, target: Path | None) -> tuple[int, Tally]:
    if format_ == FIREFOX and target is not None:
        try:
            return write_folder(bundle, target)
        except OSError as error:
            _refused(str(target), error)
    written = FORMATS[format_].write(bundle)
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(written.data)
        sys.stdout.buffer.flush()
        return written.cookies, written.dropped
    try:
        replace_file(target, written.data)
    except OSError as error:
        _refused(str(target), error)
    return written.cookies, written.dropped


def _refused(path: str, error: OSError) -> NoReturn:
    raise CommandError(type(error).__name__, f"{path}: {error.strerror or error}") from error


def _chosen(bundle: Bundle, containers: Sequence[str]) -> Bundle:
    """The holdings of these containers only; of all, where none is named."""
    if not containers:
        return bundle
    names = [holding.label.name if holding.label else DEFAULT_STORE for holding in bundle.entries]
    for wanted in containers:
        if wanted not in names:
            close = difflib.get_close_matches(wanted, names, n=3)
            quoted = " or ".join(f'"{each}"' for each in close)
            hint = f" Did you mean {quoted}?" if close else ""
            raise CommandError(
                "NoSuchContainer",
                f'no container is called "{wanted}".{hint}',
                lines=[f"There are: {', '.join(names)}."],
                details={"nearest": close, "allowed": names},
            )
    chosen = [each for each, name in zip(bundle.entries, names, strict=True) if name in containers]
    return msgspec.structs.replace(bundle, holdings=chosen)


@contextlib.contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """A bar for long work, where a person is looking."""
    if total < _LONG_WORK or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


def _identities(report: ImportReport) -> str:
    known = f" ({report.identities_matched} known)" if report.identities_matched else ""
    return _number(report.identities_new, "new identity", "new identities") + known


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _tell_tallies(skipped: dict[str, int], lost: dict[str, int]) -> None:
    for what, tally in (("Skipped", skipped), ("Not carried", lost)):
        for thing, count in tally.items():
            print_line(f"{what}: {thing} ({count})" if count else f"{what}: {thing}", sys.stderr)
