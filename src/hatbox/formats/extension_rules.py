"""Site rules in the data of extensions that are installed in the same profile: a transaction function."""

from __future__ import annotations

from hatbox.errors import ImportExportError
from hatbox.extension_data.storage.storage_areas import AREAS
from hatbox.extension_data.storage.storage_items import get
from hatbox.formats.containerise_rules import CONTAINERISE_EXTENSION, containerise_rules
from hatbox.formats.mac_assignments import MAC_EXTENSION, mac_rules
from hatbox.formats.rule_bundle import RuleBundle
from hatbox.store.base import Transaction

__all__ = ["RULE_PROGRAMS", "extension_rules"]

RULE_PROGRAMS = {"mac": MAC_EXTENSION, "containerise": CONTAINERISE_EXTENSION}
"""The programs whose rules can be imported, and the ids of their extensions."""


def extension_rules(transaction: Transaction, program: str) -> RuleBundle:
    """The rules of a program whose extension is installed in this profile."""
    if program not in RULE_PROGRAMS:
        raise ImportExportError(f"unknown program: {program}. Allowed values: {', '.join(RULE_PROGRAMS)}")
    extension = RULE_PROGRAMS[program]
    storage = get(transaction, extension, AREAS["local"], None)
    if not storage:
        raise ImportExportError(
            f"the extension {extension} has no data in this profile. To import rules from Firefox, specify a file."
        )
    if program == "mac":
        return mac_rules(storage, None, extension)
    return containerise_rules(storage, extension, same_profile=True)
