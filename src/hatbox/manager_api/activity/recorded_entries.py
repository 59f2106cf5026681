"""The entries of the activity log: what programs did with identities, for 30 days."""

from __future__ import annotations

from hatbox.activity_log.action_words import action_text
from hatbox.activity_log.activity_rows import OTHER_HOSTS
from hatbox.identity.ids import cookie_store_id_of
from hatbox.manager_api.activity.activity_entries import ActivityEntry, ShownIdentity
from hatbox.manager_api.activity.logged_activity import shown_identities
from hatbox.manager_api.page_sentences import sentence
from hatbox.manager_api.program_labels import program_label
from hatbox.store.base import Store
from hatbox.store.grant_tables import ActivityRow

__all__ = ["recorded_entries"]


async def recorded_entries(store: Store, limit: int, before: int | None) -> list[ActivityEntry]:
    """At most `limit` entries, the newest first. `before` is the `first_sequence` of an entry."""
    rows = await store.read(lambda transaction: transaction.activity.earlier(limit, before))
    identities = await shown_identities(store, {cookie_store_id_of(row.store) for row in rows if row.store})
    return [_entry(row, identities.get(cookie_store_id_of(row.store or 0))) for row in rows]


def _entry(row: ActivityRow, identity: ShownIdentity | None) -> ActivityEntry:
    program = program_label(row.program)
    return ActivityEntry(
        id=f"recorded {row.id}",
        sequence=row.id,
        first_sequence=row.id,
        time=int(row.at * 1000),
        program=", ".join(each for each in (program, row.grant_id and f"grant {row.grant_id}") if each),
        machine=row.machine,
        text=_text(row),
        cookie_store_id=None if row.store is None else cookie_store_id_of(row.store),
        identity=identity,
    )


def _text(row: ActivityRow) -> str:
    place = f" on {row.host}" if row.host and row.host != OTHER_HOSTS else ""
    outcome = f": {row.outcome}" if row.outcome in ("refused", "failed", "cancelled") else ""
    return sentence(f"{action_text(row.action, row.host, row.times)}{place}{outcome}")
