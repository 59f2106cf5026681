"""The commands backup and restore. A passphrase is never an argument: `ps` shows those."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.cli.terminal.progress_bar import progress_bar
from hatbox.cli.terminal.sizes import size_text
from hatbox.cli.terminal.terminal_text import visible
from hatbox.errors import AmbiguousIdentity
from hatbox.plurals import number_of

if TYPE_CHECKING:
    from hatbox.archive.backup import BackupReport
    from hatbox.archive.restore_report import RestoreReport
    from hatbox.profile import Profile

__all__ = ["backup", "restore"]

_PASSPHRASE: Final = "HATBOX_PASSPHRASE"  # noqa: S105 - the name of a variable
_DEFAULT: Final = "default store"

QuietOption = Annotated[bool, Option("--quiet", "-q", help="Print only errors.")]


def backup(
    path: Annotated[str, Argument(metavar="FILE", help="New file for the backup, readable only by you.")],
    identity: Annotated[
        list[str] | None,
        Option(
            metavar="NAME-OR-ID", help="Identity to back up: its name or its cookieStoreId. Repeatable. Default: all."
        ),
    ] = None,
    encrypt: Annotated[
        bool,
        Option("--encrypt", "-e", help=f"Encrypt the file with a passphrase. Default: asked, or ${_PASSPHRASE}."),
    ] = False,
    plain: Annotated[bool, Option("--plain", help="Store as plain text what is encrypted in the profile.")] = False,
    force: Annotated[bool, Option("--force", "-f", help="Replace a file that exists.")] = False,
    quiet: QuietOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write everything into one file, or only some identities. Other programs may use the profile meanwhile.

    The backup is the state at one commit: identities with their ids and order, settings, rules, cookies, tabs with
    history, site data, and the extensions with what they store. It can be restored into any kind of store.

    It contains logins. An encrypted file has the age format; only its passphrase opens it.
    """
    _check_file(path)
    if encrypt and plain:
        raise bad_parameter("specify either --encrypt or --plain", param_hint="--plain")
    passphrase = _new_passphrase() if encrypt else None
    with progress_bar("Backing up", is_shown=not (quiet or as_json)) as progress:
        done = run_with_profile(
            profile,
            lambda opened: opened.backup(
                path, identity or None, passphrase=passphrase, plain=plain, overwrite=force, progress=progress
            ),
        )
    if as_json:
        print_json(done, sys.stdout)
    elif not quiet:
        print_line(_summary(done), sys.stdout)


def restore(
    path: Annotated[str, Argument(metavar="FILE", help="File that `hatbox backup` has written.")],
    identities: Annotated[
        list[str] | None,
        Argument(
            metavar="[NAME-OR-ID...]",
            help="Identities to restore: their names or cookieStoreIds in the backup. Default: everything.",
        ),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", "-n", help="Show what would change. Changes nothing.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Skip the confirmation.")] = False,
    plain: Annotated[
        bool, Option("--plain", help="Store as plain text what was encrypted in the profile of the backup.")
    ] = False,
    quiet: QuietOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Restore a backup, or some of its identities. Shows what changes, and asks first. All or nothing.

    Each restored identity is as it was: name, place, settings, cookies, tabs and site data. It has its id, unless that
    was given to another identity here. If another identity has its name, it gets a number, as in "Work (2)". What was
    added to it since is removed. All other identities stay as they are.

    A new profile becomes equal to the backup in everything. In any other, `hatbox restore FILE` restores all identities
    of the backup, the default store, and extensions with what they store. Restoring twice changes nothing more.
    """
    _check_file(path)
    passphrase = _cached_passphrase()

    def run(*, dry: bool) -> RestoreReport:
        with progress_bar("Checking" if dry else "Restoring", is_shown=not (quiet or as_json)) as progress:
            work: Callable[[Profile], Any] = lambda opened: opened.restore(  # noqa: E731
                path, identities or None, passphrase=passphrase, plain=plain, dry_run=dry, progress=progress
            )
            try:
                return run_with_profile(profile, work)  # type: ignore[no-any-return]
            except AmbiguousIdentity as error:
                raise CommandError(type(error).__name__, str(error)) from error

    if dry_run or not yes:
        planned = run(dry=True)
        if dry_run and as_json:
            print_json(_document(planned), sys.stdout)
            return
        if not as_json and not (quiet and dry_run):
            _print_plan(planned)
        if dry_run:
            return
        if planned.changed:
            confirm("Restore it? ", "not restored")
    done = run(dry=False)
    if as_json:
        print_json(_document(done), sys.stdout)
    elif not quiet:
        print_line(_result(done), sys.stdout)


def _check_file(path: str) -> None:
    if not path:
        raise bad_parameter("must not be empty", param_hint="FILE")


# --------------------------------------------------------------------------------------------------------- passphrases


def _new_passphrase() -> str:
    if given := _passphrase_of_environment():
        return given
    first = _ask("Passphrase: ")
    if not first:
        raise CommandError("EmptyPassphrase", "the passphrase is empty. Nothing was written.")
    if _ask("The same passphrase again: ") != first:
        raise CommandError("DifferentPassphrases", "the passphrases differ. Nothing was written.")
    return first


def _cached_passphrase() -> Callable[[], str]:
    """Asks for the passphrase once, if the file is encrypted."""
    return cache(lambda: _passphrase_of_environment() or _ask("Passphrase: "))


def _passphrase_of_environment() -> str | None:
    given = os.environ.get(_PASSPHRASE)
    if given == "":
        raise CommandError("EmptyPassphrase", f"${_PASSPHRASE} is empty. Set it to the passphrase, or unset it.")
    return given


def _ask(prompt: str) -> str:
    if not sys.stdin or not sys.stdin.isatty():
        raise CommandError(
            "NoPassphrase", f"no terminal to ask for the passphrase. Set ${_PASSPHRASE}, or use a terminal."
        )
    from getpass import getpass

    return getpass(prompt, sys.stderr)


# -------------------------------------------------------------------------------------------------------------- output


def _summary(done: BackupReport) -> str:
    names = {"identities": "identity", "cookies": "cookie", "tabs": "tab"}
    contents = ", ".join(number_of(done.rows[several], one, several) for several, one in names.items())
    sealed = ", encrypted" if done.is_encrypted else ""
    return f"Backed up {contents} to {visible(done.path)} ({size_text(done.size)}{sealed})."


def _document(report: RestoreReport) -> dict[str, Any]:
    """A report as JSON. Programs rely on these names."""
    document: dict[str, Any] = msgspec.to_builtins(report)
    parts = zip(document["identities"], report.identities, strict=True)
    document["identities"] = [{**each, "changed": done.changed, "hasNewId": done.has_new_id} for each, done in parts]
    return {**document, "changed": report.changed}


def _print_plan(report: RestoreReport) -> None:
    from hatbox.archive.change_words import brought, identity_changes, other_changes

    made = datetime.fromtimestamp(report.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
    print_line(f"Backup of {made}.", sys.stdout)
    if report.filled:
        names = {"identities": "identity", "cookies": "cookie", "tabs": "tab", "rules": "rule"}
        contents = ", ".join(number_of(report.rows.get(several, 0), one, several) for several, one in names.items())
        print_line(f"The profile is new. It becomes equal to the backup: {contents}.", sys.stdout)
    parts = [*report.identities, *([report.default_store] if report.default_store else [])]
    rows = [
        (
            visible(each.name or _DEFAULT),
            each.cookie_store_id,
            visible(", ".join(identity_changes(each)) or "no change"),
        )
        for each in ([] if report.filled else parts)
    ]
    print_rows(("Identity", "Id", "Change"), rows, sys.stdout, unwrapped="Id")
    for line in [*other_changes(report, visible), *brought(report, visible)]:
        print_line(line, sys.stdout)


def _result(done: RestoreReport) -> str:
    if not done.changed:
        return "Nothing had to be changed: everything is as in the backup."
    count = len(done.identities) if done.filled else sum(each.changed for each in done.identities)
    new_ids = [each for each in done.identities if each.created and each.has_new_id]
    noted = "".join(f' "{visible(each.name)}" is now {each.cookie_store_id}.' for each in new_ids)
    order = " Their order is as in the backup." if done.order_changed else ""
    return f"Restored {number_of(count, 'identity', 'identities')}.{order}{noted}"
