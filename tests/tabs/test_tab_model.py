"""The JSON of tabs in the change log (tabs/tab_model.py)."""

from __future__ import annotations

import msgspec

from hatbox.tabs.tab_model import Tab, TabUpdate, decoder

TAB = Tab(
    id=1,
    window_id=2,
    index=0,
    cookie_store_id="firefox-default",
    url="about:blank",
    pending_url="https://site.example/",
    title="",
    icon="",
    active=True,
    pinned=False,
    hidden=False,
    muted=False,
    muted_by="",
    discardable=True,
    opener_id=None,
    successor_id=None,
    last_accessed=1.0,
    navigation_id=3,
    loading=True,
    started=False,
    http_status=None,
    content_type="",
    error="",
)


def test_programs_of_the_previous_version_can_read_the_change_log() -> None:
    written = msgspec.json.encode(TabUpdate(TAB, ("url",), focused=True))
    tab = msgspec.json.decode(written)["tab"]
    assert (tab["target"], tab["navigation"], tab["begun"]) == ("https://site.example/", 3, False)
    assert not {"pending_url", "navigation_id", "started"} & set(tab)
    assert decoder(TabUpdate)(written).tab == TAB
