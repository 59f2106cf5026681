"""The commands of the group profile: they describe, create and copy profiles, in any store."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated, Final

from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, profile_address
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.cli.terminal.progress_bar import progress_bar
from hatbox.cli.terminal.sizes import size_text
from hatbox.maintenance import CopyResult, LastChange, ProfileInfo, copy_profile, create_profile, profile_info
from hatbox.profile import default_address

__all__ = ["copy", "create", "info"]

_SOURCE_AND_TARGET: Final = 2
_EXISTS: Final = 3  # the exit status of create, to tell it from an error

AddressArgument = Annotated[
    str | None,
    Argument(metavar="[PATH-OR-URL]", help="Path or URL of the profile. Default: the profile given with --profile."),
]
QuietOption = Annotated[bool, Option("--quiet", "-q", help="Print only errors.")]


def info(address: AddressArgument = None, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Describe a profile: its store, format and id, how much it contains, and the last change. Changes nothing.

    The last change is that of the change log, which is empty after the last program has closed a SQLite profile.
    """
    found = profile_info(_address(address, profile))
    if as_json:
        print_json(_document(found), sys.stdout)
    else:
        print_rows(("Property", "Value"), _properties(found), sys.stdout, unwrapped="Property")


def create(
    address: AddressArgument = None,
    quiet: QuietOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a profile with four identities: Personal, Work, Banking and Shopping.

    The exit status is 3 if a profile exists there already. It is not changed.
    """
    chosen = _address(address, profile)
    is_new = create_profile(chosen)
    found = profile_info(chosen)
    if as_json:
        print_json({"created": is_new, **_document(found)}, sys.stdout)
    elif not is_new:
        print_line(f"{found.label}: this profile exists already. It was not changed.", sys.stderr)
    elif not quiet:
        contents = f"format {found.format}, with {len(found.rows)} tables and {found.rows['identities']} identities"
        print_line(f"Created {found.place}: a {found.store} profile of {contents}.", sys.stdout)
    if not is_new:
        sys.exit(_EXISTS)


def copy(
    addresses: Annotated[
        list[str],
        Argument(
            metavar="[SOURCE] TARGET",
            help="Paths or URLs of the profile to copy, and of the copy. Default of the first: the profile given with "
            "--profile.",
        ),
    ],
    plain: Annotated[bool, Option("--plain", help="Store as plain text what is encrypted in the source.")] = False,
    quiet: QuietOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a profile, also into another kind of store. All or nothing; the source is not changed.

    The target is created. It may exist if it was not changed since it was created, for example by `hatbox profile
    create`; any other is refused. The copy has ids, counters and the order too, but no
    grants, no activity log and no change log.

    Other programs may use the source: the copy is its state at one commit. Changes that they make later are not
    copied, so stop them first if you move to the copy. A SQLite profile of an earlier format is upgraded first.
    """
    if len(addresses) > _SOURCE_AND_TARGET:
        raise bad_parameter("specify one source and one target", param_hint="[SOURCE] TARGET")
    *sources, target = addresses
    if target == "":
        raise bad_parameter("must not be empty", param_hint="TARGET")
    source = _address(sources[0] if sources else None, profile)
    with progress_bar("Copying", is_shown=not (quiet or as_json)) as progress:
        copied = copy_profile(source, target, plain=plain, progress=progress)
    if as_json:
        result = {"source": copied.source, "target": copied.target, "created": copied.is_new, "rows": copied.rows}
        print_json(result, sys.stdout)
    elif not quiet:
        print_line(f"Copied {copied.source} to {copied.target}: {_contents(copied)}.", sys.stdout)


def _contents(copied: CopyResult) -> str:
    names = ("identities", "cookies", "tabs", "windows")
    return ", ".join(f"{copied.rows[name]} {name}" for name in names) + f", {sum(copied.rows.values())} rows in all"


def _address(argument: str | None, option: str | None) -> str:
    if argument == "":
        raise bad_parameter("must not be empty", param_hint="[PATH-OR-URL]")
    if argument is not None and option is not None:
        raise bad_parameter("specify the profile either as an argument or with --profile", param_hint="--profile")
    return argument or profile_address(option) or default_address()


def _document(found: ProfileInfo) -> dict[str, object]:
    """A profile as JSON. Programs rely on these names."""
    change = found.last_change
    return {
        "store": found.store,
        "label": found.label,
        "format": found.format,
        "uuid": found.uuid,
        "identities": found.rows.get("identities"),
        "cookies": found.rows.get("cookies"),
        "tabs": found.rows.get("tabs"),
        "windows": found.rows.get("windows"),
        "extensions": found.extensions if found.rows else None,
        "size": found.size,
        "encrypted": found.is_encrypted,
        "programs": found.programs,
        "lastChange": change and {**change._asdict(), "at": _time(change)},
    }


def _properties(found: ProfileInfo) -> list[tuple[str, str]]:
    document = _document(found)
    shown = [("Profile", found.label), ("Store", found.store), ("Format", str(found.format))]
    if not found.rows:
        shown[-1] = ("Format", f"{found.format}, which is upgraded when the profile is next opened")
    shown.append(("Id", found.uuid or "none in this format"))
    names = ("identities", "cookies", "tabs", "windows", "extensions")
    shown += [(name.capitalize(), str(document[name])) for name in names if document[name] is not None]
    shown.append(("Size", "not known" if found.size is None else size_text(found.size)))
    shown.append(("Encrypted", "yes" if found.is_encrypted else "no"))
    shown.append(("Open in", "not known" if found.programs is None else ", ".join(found.programs) or "no program"))
    if (change := found.last_change) is None:
        shown.append(("Last change", "not known: the change log is empty"))
    else:
        author = f"{change.program} (pid {change.process}) on {change.machine}"
        shown.append(("Last change", f"{_time(change)} by {author}"))
    return shown


def _time(change: LastChange) -> str:
    return datetime.fromtimestamp(change.at, UTC).isoformat(timespec="seconds")
