"""The identities whose site data is in a running browser, which saves it over what others store meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.engines.http.registration import DISPLAY_NAME as HTTP_ENGINE
from hatbox.engines.running_engines import RunningEngine

__all__ = ["SiteDataHolders"]


class SiteDataHolders:
    """Contains the cookieStoreIds that a running browser serves. The HTTP engine has no site data."""

    def __init__(self, engines: Sequence[RunningEngine]) -> None:
        self._engines = engines

    def __contains__(self, cookie_store_id: object) -> bool:
        own = [each for each in self._engines if each.identities is not None and cookie_store_id in each.identities]
        serving = own or [each for each in self._engines if each.identities is None]
        return any(each.engine != HTTP_ENGINE for each in serving)
