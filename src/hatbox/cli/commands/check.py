"""The command check: lists the damage of a profile, and saves the undamaged rows into a new profile."""

from __future__ import annotations

import sys
from typing import Annotated

from hatbox.cli.arguments.parameters import Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, profile_address
from hatbox.cli.terminal.command_errors import FAILED
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.maintenance import Repair, Report, check_profile, repair_profile
from hatbox.plurals import number_of
from hatbox.profile import default_address

__all__ = ["check"]


def check(
    into: Annotated[
        str | None,
        Option(
            "--repair",
            metavar="NEW-FILE",
            help="New profile for every undamaged row. The damaged profile is not changed, and an existing file is "
            "never overwritten. No program may have the profile open.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the profile for damage: lost rows, changed values, a damaged write-ahead log. Changes nothing.

    The exit status is 1 if damage was found.
    """
    address = profile_address(profile) or default_address()
    report = check_profile(address, any_file=into is not None)
    repaired = None if into is None else repair_profile(address, into)
    if as_json:
        print_json(_document(report, repaired), sys.stdout)
    else:
        _print_report(report, is_repaired=repaired is not None)
        if repaired:
            _print_repair(repaired)
    if not report.is_sound:
        sys.exit(FAILED)


def _document(report: Report, repaired: Repair | None) -> dict[str, object]:
    """The report as JSON. Programs rely on these names."""
    document: dict[str, object] = {
        "path": report.label,
        "damaged": not report.is_sound,
        "rows": report.rows,
        "problems": [{"place": place, "problem": problem} for place, problem in report.problems],
        "notes": list(report.notes),
    }
    if repaired:
        document["repaired"] = {
            "path": repaired.into,
            "saved": repaired.saved,
            "lost": repaired.lost,
            "unreadable": repaired.unreadable,
            "replaced": repaired.replaced,
            "undecryptable": repaired.undecryptable,
            "without_settings": repaired.without_settings,
        }
    return document


def _print_report(report: Report, *, is_repaired: bool) -> None:
    found = f"{number_of(len(report.problems), 'problem')} found"
    print_line(f"{report.label}: {'no damage found' if report.is_sound else found}", sys.stdout)
    for place, problem in report.problems:
        print_line(f"  {place}: {problem}", sys.stdout)
    for note in report.notes:
        print_line(note, sys.stdout)
    if not report.is_sound and not is_repaired:
        remedy = "The profile was not changed. Restore it from a backup, or save the undamaged rows: "
        print_line(f"{remedy}hatbox check --profile '{report.label}' --repair NEW-FILE", sys.stdout)


def _print_repair(repaired: Repair) -> None:
    print_line(f"Saved into {repaired.into}:", sys.stdout)
    rows = [(name, str(saved), str(repaired.lost[name])) for name, saved in repaired.saved.items()]
    print_rows(("Table", "Saved", "Lost"), rows, sys.stdout, unwrapped="Table")
    if repaired.unreadable:
        print_line(f"{repaired.unreadable} pieces could not be read: rows of any table may be lost too.", sys.stdout)
    if repaired.undecryptable:
        tables = ", ".join(f"{count} of {name}" for name, count in repaired.undecryptable.items())
        reason = "they were changed or moved by another program, or the id of the profile is lost"
        print_line(f"Not saved, because they cannot be decrypted ({reason}): {tables}.", sys.stdout)
    for name, count in repaired.replaced.items():
        if count:
            print_line(f"{count} lost {name} had cookies, site data or tabs: new ones replace them.", sys.stdout)
    if repaired.without_settings:
        lost = f"The settings of {repaired.without_settings} identities may be lost, and with them a proxy"
        remedy = "hatbox settings IDENTITY --proxy URL, or --unset proxy"
        print_line(f"{lost}. Their requests are refused until you decide: {remedy}.", sys.stdout)
