"""Imports site rules into a profile: a transaction function, all or nothing. Knows no format."""

from __future__ import annotations

from hatbox.errors import InvalidColor, InvalidIcon, InvalidSiteRule, SiteRuleExists
from hatbox.formats.rule_bundle import ContainerReference, RuleBundle, RuleImportReport, SkippedRule
from hatbox.identities import changes
from hatbox.identity import model, palette
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.javascript.text import is_blank
from hatbox.site_rules.rule_rows import RuleSet
from hatbox.store.base import Transaction

__all__ = ["import_rules"]


def import_rules(
    transaction: Transaction, bundle: RuleBundle, *, create: bool = False, replace: bool = False
) -> RuleImportReport:
    """Import rules. With `create`, identities that do not exist are created.

    An existing rule with the same pattern stays, and is reported, unless `replace` is set. Importing the same rules
    again changes nothing.
    """
    report = RuleImportReport(skipped=list(bundle.skipped))
    rules = RuleSet(transaction)
    identities = _Identities(transaction, report, create=create)
    for each in bundle.rules:
        try:
            store = identities.find(each.container)
            change = rules.add(each.pattern, (store,), limit=each.limit, replace=replace)
        except _UnknownIdentity as error:
            report.skipped.append(SkippedRule(each.source, str(error), missing=error.name))
        except InvalidSiteRule as error:
            report.skipped.append(SkippedRule(each.source, error.problem))
        except SiteRuleExists as error:
            report.skipped.append(SkippedRule(each.source, str(error), exists=True))
        else:
            setattr(report, change.kind, getattr(report, change.kind) + 1)
    rules.record_change()
    return report


class _UnknownIdentity(Exception):
    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class _Identities:
    """The identities of the profile that containers of a file are."""

    def __init__(self, transaction: Transaction, report: RuleImportReport, *, create: bool) -> None:
        self._transaction = transaction
        self._report = report
        self._create = create
        self._known = model.query(transaction)
        self._ids = {DEFAULT_COOKIE_STORE_ID, *(each.cookie_store_id for each in self._known)}

    def find(self, container: ContainerReference) -> str:
        if container.cookie_store_id in self._ids:
            return container.cookie_store_id
        if container.cookie_store_id and not container.name:
            raise _UnknownIdentity(f"identity not found: {container.cookie_store_id}")
        matches = self._matches(container)
        if len(matches) == 1:
            return matches[0].cookie_store_id
        if matches:
            ids = ", ".join(each.cookie_store_id for each in matches)
            raise _UnknownIdentity(f'{len(matches)} identities are named "{container.name}": {ids}')
        if not self._create or is_blank(container.name):
            raise _UnknownIdentity(
                f'identity not found: "{container.name}". Create it with --create-identities',
                "" if is_blank(container.name) else container.name,
            )
        return self._add(container)

    def _matches(self, container: ContainerReference) -> list[ContextualIdentity]:
        """The identities with the same looks; else with the same name; else with the same name in another case."""
        same_name = [each for each in self._known if each.name == container.name]
        same_looks = [each for each in same_name if (each.icon, each.color) == (container.icon, container.color)]
        folded = container.name.casefold()
        return same_looks or same_name or [each for each in self._known if each.name.casefold() == folded]

    def _add(self, container: ContainerReference) -> str:
        try:
            color = palette.accepted_color(container.color)
        except InvalidColor:
            color = "blue"
        try:
            icon = palette.accepted_icon(container.icon)
        except InvalidIcon:
            icon = "circle"
        created = changes.create(self._transaction, container.name, color, icon)
        self._known.append(created)
        self._ids.add(created.cookie_store_id)
        self._report.identities_new.append(created.name)
        return created.cookie_store_id
