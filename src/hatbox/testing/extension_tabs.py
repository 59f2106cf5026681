"""Tabs as tests see them: with the name of their identity."""

from __future__ import annotations

from hatbox.profile import Profile
from hatbox.tabs.tab_model import Tab

__all__ = ["TabInTest", "tabs_of"]


class TabInTest(Tab, frozen=True, kw_only=True):
    """A tab, with the name of its identity."""

    identity: str | None
    """The name of the identity; None for a tab of no identity."""


async def tabs_of(profile: Profile) -> list[TabInTest]:
    """All tabs of a profile, by window and position."""
    names = {each.cookie_store_id: each.name for each in await profile.identities.query()}
    return [_with_identity(tab, names.get(tab.cookie_store_id)) for tab in await profile.tabs.query()]


def _with_identity(tab: Tab, identity: str | None) -> TabInTest:
    fields = {name: getattr(tab, name) for name in tab.__struct_fields__}
    return TabInTest(**fields, identity=identity)
