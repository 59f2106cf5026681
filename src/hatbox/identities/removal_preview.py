"""What removing an identity would remove, and whether it can be restored. For prompts; a transaction function."""

from __future__ import annotations

from typing import Literal

import msgspec

from hatbox.archive.identity_archive import encode_identity, read_identity
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.identity.ids import container_user_context_id
from hatbox.identity.model import get
from hatbox.store.base import Transaction
from hatbox.store.profile_settings import read_profile_settings
from hatbox.tabs.identity_removal import temporary_key
from hatbox.tabs.program_records import get_record

__all__ = ["RemovalPreview", "preview_removal"]


class RemovalPreview(msgspec.Struct, frozen=True):
    """What an identity contains, and where it goes when it is removed."""

    name: str
    cookie_store_id: str
    cookies: int
    """Without expired ones."""
    sites: int
    """The sites of these cookies."""
    tabs: int
    size: int
    """The bytes that it would use in the trash."""
    destination: Literal["trash", "too large", "no trash", "temporary"]
    """All except `trash` are removed for ever."""
    trash_days: int
    trash_bytes: int


def preview_removal(transaction: Transaction, cookie_store_id: str) -> RemovalPreview:
    """Preview the removal of an identity."""
    identity = get(transaction, cookie_store_id)
    user_context_id = container_user_context_id(cookie_store_id) or 0
    settings = read_profile_settings(transaction)
    size = transaction.site_data.total_bytes(user_context_id)  # it may not fit into the memory
    archived = read_identity(transaction, user_context_id, for_trash=True) if size <= settings.trash_bytes else None
    rows = archived.cookies if archived else transaction.cookies.load(user_context_id)
    now = transaction.time()
    domains = [row[0] for row in rows if row[9] is None or row[9] > now]
    suffixes = default_public_suffixes()
    size = max(size, len(encode_identity(archived)) if archived else 0)
    destination: Literal["trash", "too large", "no trash", "temporary"] = "trash"
    if get_record(transaction, temporary_key(user_context_id)) is not None:
        destination = "temporary"
    elif not settings.has_trash:
        destination = "no trash"
    elif size > settings.trash_bytes:
        destination = "too large"
    return RemovalPreview(
        name=identity.name,
        cookie_store_id=cookie_store_id,
        cookies=len(domains),
        sites=len({suffixes.site(domain) for domain in domains}),
        tabs=len(archived.tabs if archived else transaction.tabs.find(store=user_context_id)),
        size=size,
        destination=destination,
        trash_days=settings.trash_days,
        trash_bytes=settings.trash_bytes,
    )
