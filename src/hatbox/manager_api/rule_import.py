"""Imports rules of other programs from text that a user drops or pastes, with a report. Nothing is imported in part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from hatbox.errors import ApiError, ImportExportError, InvalidInputFile, NoContainerNames
from hatbox.formats.containerise_rules import read_containerise_file
from hatbox.formats.extension_rules import RULE_PROGRAMS, extension_rules
from hatbox.formats.mac_assignments import read_mac_file
from hatbox.formats.rule_bundle import RuleBundle
from hatbox.formats.rule_transfer import import_rules
from hatbox.identity.model import query
from hatbox.site_rules.rule_rows import find_rules
from hatbox.store.base import Transaction

__all__ = ["MAX_IMPORT_CHARACTERS", "ImportedRules", "LeftOutRule", "import_text", "programs_with_data"]

MAX_IMPORT_CHARACTERS: Final = 4 * 2**20
"""Characters of a text to import."""

_TITLES: Final = {"mac": "Multi-Account Containers", "containerise": "Containerise"}


class LeftOutRule(msgspec.Struct, frozen=True):
    """A rule that was not imported."""

    source: str
    reason: str


class ImportedRules(msgspec.Struct, frozen=True):
    """The result of an import."""

    added: tuple[int, ...]
    """The ids of the new rules."""
    replaced: int
    unchanged: int
    existing: tuple[str, ...]
    """The patterns that other rules have already. They were not changed."""
    missing: tuple[str, ...]
    """The names of identities that do not exist. Their rules were not imported."""
    created: tuple[str, ...]
    """The cookieStoreIds of the identities that were created."""
    left_out: tuple[LeftOutRule, ...]


def import_text(
    program: str, text: str | None, containers: str | None, *, create: bool, replace: bool
) -> Callable[[Transaction], ImportedRules]:
    """A transaction function that imports a text, or with None the data of the extension in the profile.

    Raises ApiError, here or there.
    """
    bundle = None if text is None else _read(program, text, containers)

    def run(transaction: Transaction) -> ImportedRules:
        found = _of_extension(transaction, program) if bundle is None else bundle
        return _import(transaction, found, create=create, replace=replace)

    return run


def programs_with_data(transaction: Transaction) -> list[str]:
    """The programs whose extensions have rules in this profile."""
    found = []
    for program in RULE_PROGRAMS:
        try:
            if extension_rules(transaction, program).rules:
                found.append(program)
        except ImportExportError:
            continue
    return found


def _of_extension(transaction: Transaction, program: str) -> RuleBundle:
    try:
        return extension_rules(transaction, program)
    except ImportExportError:
        title = _TITLES[program]
        raise ApiError(f"{title} has no data in this profile. Drop a file here, or paste its text.") from None


def _read(program: str, text: str, containers: str | None) -> RuleBundle:
    title = _TITLES[program]
    for each in (text, containers or ""):
        if len(each) > MAX_IMPORT_CHARACTERS:
            limit = MAX_IMPORT_CHARACTERS // 2**20
            raise ApiError(f"This file is too large: {len(each):,} characters. At most {limit} MB are read.")
    if not text.strip():
        raise ApiError("The text is empty. Drop a file here, or paste its text.")
    try:
        if program == "containerise":
            return read_containerise_file(text.encode("utf-8", "replace"), "line")
        names = None if containers is None else containers.encode("utf-8", "replace")
        return read_mac_file(text.encode("utf-8", "replace"), "file", names)
    except NoContainerNames:
        raise
    except InvalidInputFile as error:
        place = f", line {error.line}" if error.line else ""
        raise ApiError(f"This is not a file of {title}{place}: {error.problem}. Nothing was imported.") from None


def _import(transaction: Transaction, bundle: RuleBundle, *, create: bool, replace: bool) -> ImportedRules:
    rules_before = {each.id for each in find_rules(transaction)}
    identities_before = {each.cookie_store_id for each in query(transaction)}
    report = import_rules(transaction, bundle, create=create, replace=replace)
    skipped = report.skipped
    return ImportedRules(
        added=tuple(each.id for each in find_rules(transaction) if each.id not in rules_before),
        replaced=report.replaced,
        unchanged=report.unchanged,
        existing=tuple(each.source for each in skipped if each.exists),
        missing=tuple(dict.fromkeys(each.missing for each in skipped if each.missing)),
        created=tuple(
            each.cookie_store_id for each in query(transaction) if each.cookie_store_id not in identities_before
        ),
        left_out=tuple(LeftOutRule(each.source, each.reason) for each in skipped if not (each.exists or each.missing)),
    )
