"""The commands on rules that assign URLs to identities: hatbox rules …"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from hatbox.cli.arguments.identity_arguments import find_store
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.arguments.url_argument import parse_url_argument
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.plurals import number_of
from hatbox.profile import Profile
from hatbox.site_rules.site_rule import SiteRule, UrlExplanation
from hatbox.tabs.tab_model import BLANK

if TYPE_CHECKING:
    from hatbox.formats.rule_bundle import RuleBundle, RuleImportReport

__all__ = ["add", "clear", "import_", "list_", "remove", "test"]

Names = Mapping[str, str]
"""The names of identities by cookieStoreId."""

_MAC, _CONTAINERISE = "mac", "containerise"
_STANDARD: Final = "-"
_MAX_SHOWN: Final = 20  # lines about rules that were not imported


def add(
    pattern: Annotated[
        str,
        Argument(
            metavar="PATTERN",
            help="host, *.host, host:port, host/path/* or https://host; or regex:EXPRESSION (RE2 syntax), searched in "
            "the URL.",
        ),
    ],
    identities: Annotated[
        list[str],
        Argument(
            metavar="NAME-OR-ID...",
            help=f"Identity that opens these URLs: its name or cookieStoreId; {DEFAULT_COOKIE_STORE_ID} is the default "
            "store. Several with --ask.",
        ),
    ],
    ask: Annotated[bool, Option("--ask", help="Ask which of several identities opens the URL.")] = False,
    limit: Annotated[
        bool,
        Option("--limit", help="In engines, the identity opens only pages of its rules. Others are blocked."),
    ] = False,
    replace: Annotated[bool, Option("--replace", help="Replace a rule with the same pattern.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a rule: URLs that match a pattern open in this identity.

    The most specific rule wins: an exact host before *.host, with a port before without, a longer path before a shorter
    one, and regular expressions last, in the order in which they were added. A path is compared with the whole path and
    query; * matches any text. See also: hatbox rules test URL.
    """

    async def add_rule(opened: Profile) -> tuple[SiteRule, SiteRule | None, Names]:
        found = [await find_store(opened, each) for each in identities]
        stores = [each.cookie_store_id if each else DEFAULT_COOKIE_STORE_ID for each in found]
        before = {each.id: each for each in await opened.rules.list()}
        added = await opened.rules.add(pattern, stores, ask=ask, limit=limit, replace=replace)
        return added, before.get(added.id), await _names(opened)

    rule, earlier, names = run_with_profile(profile, add_rule)
    if as_json:
        print_json(_document(rule, names), sys.stdout)
    else:
        what = "Added rule" if earlier is None else "Unchanged: rule" if earlier == rule else "Replaced rule"
        print_line(f"{what} {rule.id}: {_sentence(rule, names)}", sys.stdout)


def list_(profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """List the rules, in the order in which they were added."""

    async def read(opened: Profile) -> tuple[list[SiteRule], Names]:
        return await opened.rules.list(), await _names(opened)

    rules, names = run_with_profile(profile, read)
    if as_json:
        print_json([_document(each, names) for each in rules], sys.stdout)
        return
    rows = [(str(each.id), each.pattern, _shown(each.identities, names), _flags(each)) for each in rules]
    print_rows(("Rule", "Pattern", "Identity", "Options"), rows, sys.stdout, unwrapped="Rule", empty="No rules.")


def remove(
    rules: Annotated[list[str], Argument(metavar="RULE...", help="Rules: their numbers or patterns.")],
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove rules."""

    async def remove_all(opened: Profile) -> tuple[list[SiteRule], Names]:
        names = await _names(opened)
        return await opened.rules.remove_many(rules), names

    removed, names = run_with_profile(profile, remove_all)
    _print_removed(removed, names, as_json=as_json)


def clear(
    identity: Annotated[
        str | None,
        Argument(metavar="[NAME-OR-ID]", help="Identity whose rules are removed. Default: the rules of all."),
    ] = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Skip the confirmation.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove all rules, or those of one identity. A rule of several identities loses only this one."""

    async def find(opened: Profile) -> tuple[str | None, int]:
        if identity is None:
            return None, len(await opened.rules.list())
        found = await find_store(opened, identity)
        store = found.cookie_store_id if found else DEFAULT_COOKIE_STORE_ID
        return store, sum(store in each.identities for each in await opened.rules.list())

    store, count = run_with_profile(profile, find)
    if count and not yes:
        confirm(f"Remove {number_of(count, 'rule')}? ")

    async def clear_rules(opened: Profile) -> tuple[list[SiteRule], Names]:
        return await opened.rules.clear(store), await _names(opened)

    removed, names = run_with_profile(profile, clear_rules)
    _print_removed(removed, names, as_json=as_json)


def test(
    url: Annotated[str, Argument(metavar="URL", help="URL; https:// may be omitted.")],
    identity: Annotated[
        str | None,
        Option("--in", metavar="NAME-OR-ID", help="Also say whether this identity may open the URL."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain which rule decides about a URL, and why the others lose. The exit status is 1 if no rule matches."""
    parsed = parse_url_argument(url)
    if parsed == BLANK:
        raise bad_parameter(f"{BLANK}: rules are for http and https URLs", param_hint="URL")

    async def explain(opened: Profile) -> tuple[UrlExplanation, Names]:
        found = await find_store(opened, identity) if identity is not None else None
        store = None if identity is None else found.cookie_store_id if found else DEFAULT_COOKIE_STORE_ID
        return await opened.rules.test(parsed, store), await _names(opened)

    explained, names = run_with_profile(profile, explain)
    if as_json:
        print_json(_explanation_document(explained, names, limited=identity is not None), sys.stdout)
    else:
        _print_explanation(explained, names, identity)
    if explained.decision.rule is None:
        sys.exit(1)


def import_(
    program: Annotated[str, Argument(metavar="mac|containerise", help="Program whose rules to import.")],
    path: Annotated[
        str | None,
        Argument(
            metavar="[FILE]",
            help="File, or - for standard input. For mac also: the folder of a Firefox profile. Default: the data of "
            "the extension in this profile.",
        ),
    ] = None,
    containers: Annotated[
        str | None,
        Option(
            metavar="FILE", help="For mac: containers.json of the same Firefox profile. A file of mac has no names."
        ),
    ] = None,
    create_identities: Annotated[
        bool, Option("--create-identities", help="Create identities that do not exist.")
    ] = False,
    replace: Annotated[bool, Option("--replace", help="Replace rules with the same pattern.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import the site assignments of Multi-Account Containers (mac) or the rules of Containerise (containerise).

    Atomic; importing the same file again changes nothing. Reports what could not be translated, and why. A container
    that mac limits to its sites gets rules with --limit. Existing rules stay unless you pass --replace.
    """
    if program not in (_MAC, _CONTAINERISE):
        raise bad_parameter(
            f"unknown program: {program}. Allowed values: {_MAC}, {_CONTAINERISE}", param_hint="mac|containerise"
        )
    if containers is not None and (program != _MAC or path is None):
        raise bad_parameter("only with a file of mac", param_hint="--containers")
    bundle = None if path is None else _read(program, path, containers)

    async def import_all(opened: Profile) -> RuleImportReport:
        found = bundle if bundle is not None else await opened.extension_rules(program)
        return await opened.import_rules(found, create=create_identities, replace=replace)

    report = run_with_profile(profile, import_all)
    if as_json:
        print_json(report, sys.stdout)
        return
    changed = f" ({report.replaced} replaced, {report.unchanged} unchanged)"
    print_line(f"Imported {number_of(report.added, 'new rule')}{changed}.", sys.stderr)
    if report.identities_new:
        print_line(f"Created: {', '.join(report.identities_new)}", sys.stderr)
    for skipped in report.skipped[:_MAX_SHOWN]:
        print_line(f"Not imported: {skipped.source}: {skipped.reason}", sys.stderr)
    if len(report.skipped) > _MAX_SHOWN:
        print_line(f"Not imported: {len(report.skipped) - _MAX_SHOWN} more. List all with --json.", sys.stderr)


def _read(program: str, path: str, containers: str | None) -> RuleBundle:
    from hatbox.formats.containerise_rules import read_containerise_file
    from hatbox.formats.input_files import read_input_file, read_stream
    from hatbox.formats.mac_assignments import read_mac_file, read_mac_folder

    try:
        if path == _STANDARD:
            stream = getattr(sys.stdin, "buffer", None)
            data, source = read_stream(stream, path) if stream else sys.stdin.read().encode(), path
        elif program == _MAC and Path(path).is_dir():
            return read_mac_folder(Path(path))
        else:
            data, source = read_input_file(path), path
        if program == _CONTAINERISE:
            return read_containerise_file(data, source)
        return read_mac_file(data, source, None if containers is None else read_input_file(containers))
    except OSError as error:
        raise CommandError(type(error).__name__, f"{error.filename or path}: {error.strerror or error}") from error


async def _names(opened: Profile) -> Names:
    return {each.cookie_store_id: each.name for each in await opened.identities.query()}


def _shown(identities: Sequence[str], names: Names) -> str:
    return ", ".join(names.get(each, each) for each in identities)


def _flags(rule: SiteRule) -> str:
    return ", ".join(name for name, is_set in (("ask", rule.ask), ("limit", rule.limit)) if is_set)


def _sentence(rule: SiteRule, names: Names) -> str:
    flags = _flags(rule)
    return f"{rule.pattern} opens in {_shown(rule.identities, names)}{f' ({flags})' if flags else ''}"


def _document(rule: SiteRule, names: Names) -> dict[str, object]:
    return {
        "id": rule.id,
        "pattern": rule.pattern,
        "identities": [{"name": names.get(each), "cookieStoreId": each} for each in rule.identities],
        "ask": rule.ask,
        "limit": rule.limit,
    }


def _print_removed(removed: Sequence[SiteRule], names: Names, *, as_json: bool) -> None:
    if as_json:
        print_json([_document(each, names) for each in removed], sys.stdout)
        return
    for each in removed:
        print_line(f"Removed rule {each.id}: {_sentence(each, names)}", sys.stdout)


def _explanation_document(explained: UrlExplanation, names: Names, *, limited: bool) -> dict[str, object]:
    document: dict[str, object] = {
        "url": explained.url,
        "identities": [{"name": names.get(each), "cookieStoreId": each} for each in explained.decision.identities],
        "ask": explained.decision.is_ask,
        "matches": [{**_document(each.rule, names), "reason": each.reason} for each in explained.matches],
        "notes": explained.notes,
    }
    if limited:
        limit = explained.decision.limited_by
        document["blocked"] = limit is not None
        document["limitedBy"] = _document(limit, names) if limit else None
    return document


def _print_explanation(explained: UrlExplanation, names: Names, identity: str | None) -> None:
    decision = explained.decision
    if decision.rule is None:
        print_line(f"{explained.url}: no rule matches. Add one with: hatbox rules add PATTERN NAME", sys.stdout)
    elif decision.is_ask:
        print_line(f"{explained.url} asks: {_shown(decision.identities, names)}", sys.stdout)
    else:
        print_line(f"{explained.url} opens in {_shown(decision.identities, names)}", sys.stdout)
    for note in explained.notes:
        print_line(note, sys.stdout)
    rows = [
        (
            "wins" if number == 0 else "loses",
            str(each.rule.id),
            each.rule.pattern,
            _shown(each.rule.identities, names),
            each.reason,
        )
        for number, each in enumerate(explained.matches)
    ]
    if rows:
        print_rows(("", "Rule", "Pattern", "Identity", "Reason"), rows, sys.stdout, unwrapped="Rule")
    if decision.limited_by is not None:
        print_line(f"Blocked in {identity}: rule {decision.limited_by.id} limits it to its rules.", sys.stdout)
    elif identity is not None:
        print_line(f"Not blocked in {identity}.", sys.stdout)
