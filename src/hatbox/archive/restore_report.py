"""What a restore has changed, or would change."""

from __future__ import annotations

import msgspec

from hatbox.archive.archive_contents import ArchivedExtension
from hatbox.archive.identity_restore import RestoredIdentity

__all__ = ["RestoreReport"]


class RestoreReport(msgspec.Struct, rename="camel", kw_only=True):
    """What a restore has changed, or with `dry_run` would change."""

    dry_run: bool = False
    filled: bool = False
    """Whether the profile was new, and is now equal to the archive in everything, also in ids."""
    created: float = 0.0
    """When the archive was made, in seconds since 1970."""
    identities: list[RestoredIdentity] = []
    """The restored identities, in the user's order."""
    default_store: RestoredIdentity | None = None
    """The cookies, site data and tabs that belong to no identity; None if they were not restored."""
    order_changed: bool = False
    """Whether identities that exist were moved to the places that they have in the archive."""
    settings_changed: bool = False
    """Whether settings of the profile were changed."""
    rules: int = 0
    """The site rules that were added or changed."""
    extensions: list[str] = []
    """The extensions whose data was replaced."""
    installed: list[ArchivedExtension] = []
    """Those of them that are installed in the archive, with their permissions."""
    packages: int = 0
    """The packages of extensions that were added."""
    bookmarks: int = 0
    """The bookmarks and folders that were added or changed."""
    rows: dict[str, int] = {}
    """The number of rows in the archive, by table."""

    @property
    def changed(self) -> bool:
        """Whether anything was changed."""
        parts = [*self.identities, *([] if self.default_store is None else [self.default_store])]
        others = (self.filled, self.order_changed, self.settings_changed)
        counts = (self.rules, self.bookmarks, len(self.extensions), self.packages)
        return any(part.changed for part in parts) or any(others) or any(counts)
