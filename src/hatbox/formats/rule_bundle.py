"""Site rules that were read from another program: what an import takes in, and its report. Knows no profile."""

from __future__ import annotations

import msgspec

__all__ = ["ContainerReference", "ImportedRule", "RuleBundle", "RuleImportReport", "SkippedRule"]


class ContainerReference(msgspec.Struct, frozen=True):
    """The identity that an imported rule names: by its looks, or by an id of this profile."""

    name: str = ""
    icon: str = ""
    color: str = ""
    cookie_store_id: str = ""
    """Of this profile; empty if the rules come from another one, whose ids mean nothing here."""

    def __str__(self) -> str:
        return self.name or self.cookie_store_id


class ImportedRule(msgspec.Struct, frozen=True):
    """A rule to import. `source` is its text in the file, for messages."""

    source: str
    pattern: str
    container: ContainerReference
    limit: bool = False


class SkippedRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rule, or a property of rules, that was not imported."""

    source: str
    reason: str
    missing: str = ""
    """The name of its identity, if that does not exist and can be created."""
    exists: bool = False
    """Whether another rule has the same pattern."""


class RuleBundle(msgspec.Struct, frozen=True):
    """The rules of a file, and those that cannot be translated."""

    rules: tuple[ImportedRule, ...] = ()
    skipped: tuple[SkippedRule, ...] = ()


class RuleImportReport(msgspec.Struct, rename="camel"):
    """The result of an import of rules."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    identities_new: list[str] = []
    skipped: list[SkippedRule] = []
